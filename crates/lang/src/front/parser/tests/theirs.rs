//! The syntax tree as `garble_lang` has it.

use std::collections::HashMap;

use garble_lang::{
    UntypedExpr, UntypedPattern, UntypedProgram, UntypedStmt, ast as theirs,
    token::{MetaInfo, SignedNumType, UnsignedNumType},
};

use crate::{
    front::ast::{
        ConstExpr, ConstKind, Expr, ExprKind, Fields, FnDef, Int, Literal, Op, Pattern, PatternKind, Place, Program,
        Size, StepKind, Stmt, StmtKind, Type,
    },
    number::{Number, ONE},
};

const NOWHERE: MetaInfo = MetaInfo { start: (0, 0), end: (0, 0) };

/// The program in their form.
pub(super) fn program(program: &Program) -> UntypedProgram {
    let constant = |definition: &crate::front::ast::ConstDef| theirs::ConstDef {
        ty: ty(&definition.ty),
        value: constant(&definition.value),
        meta: NOWHERE,
    };
    let structure = |definition: &crate::front::ast::StructDef| theirs::StructDef {
        fields: definition.fields.iter().map(|(name, own)| (name.clone(), ty(own))).collect(),
        meta: NOWHERE,
    };
    let enumeration = |definition: &crate::front::ast::EnumDef| theirs::EnumDef {
        variants: definition.variants.iter().map(|(name, fields)| variant(name, fields)).collect(),
        meta: NOWHERE,
    };
    theirs::Program {
        const_deps: HashMap::new(),
        const_defs: program.constants.iter().map(|(name, own)| (name.clone(), constant(own))).collect(),
        struct_defs: program.structs.iter().map(|(name, own)| (name.clone(), structure(own))).collect(),
        enum_defs: program.enums.iter().map(|(name, own)| (name.clone(), enumeration(own))).collect(),
        fn_defs: program.functions.iter().map(|(name, own)| (name.clone(), function(own))).collect(),
    }
}

fn variant(name: &str, fields: &Fields<Type>) -> theirs::Variant {
    match fields {
        Fields::Unit => theirs::Variant::Unit(name.into()),
        Fields::Tuple(fields) => theirs::Variant::Tuple(name.into(), fields.iter().map(ty).collect()),
        Fields::Named(_) => panic!("they have no such variant"),
    }
}

fn function(own: &FnDef) -> theirs::FnDef<()> {
    let param = |param: &crate::front::ast::Param| theirs::ParamDef {
        mutability: param.mutable.into(),
        name: param.name.clone(),
        ty: ty(&param.ty),
    };
    theirs::FnDef {
        is_pub: own.is_pub,
        identifier: own.name.clone(),
        ty: ty(&own.result),
        params: own.params.iter().map(param).collect(),
        body: stmts(&own.body),
        meta: NOWHERE,
    }
}

fn unsigned(ty: Int) -> Option<UnsignedNumType> {
    Some(match ty {
        Int::Usize => UnsignedNumType::Usize,
        Int::Unsigned(8) => UnsignedNumType::U8,
        Int::Unsigned(16) => UnsignedNumType::U16,
        Int::Unsigned(32) => UnsignedNumType::U32,
        Int::Unsigned(64) => UnsignedNumType::U64,
        _ => return None,
    })
}

fn signed(ty: Int) -> SignedNumType {
    match ty {
        Int::Signed(8) => SignedNumType::I8,
        Int::Signed(16) => SignedNumType::I16,
        Int::Signed(32) => SignedNumType::I32,
        Int::Signed(64) => SignedNumType::I64,
        other => panic!("they have no {other}"),
    }
}

/// The type of a literal: one without a sign, or one with.
fn stated(literal: &Literal) -> Result<UnsignedNumType, SignedNumType> {
    match literal.suffix {
        None if literal.minus => Err(SignedNumType::Unspecified),
        None => Ok(UnsignedNumType::Unspecified),
        Some(own) => unsigned(own).ok_or_else(|| signed(own)),
    }
}

fn ty(own: &Type) -> theirs::Type {
    match own {
        Type::Bool => theirs::Type::Bool,
        Type::Array(element, Size::Number(count)) => theirs::Type::Array(ty(element).into(), *count),
        Type::Array(element, Size::Constant(name)) => theirs::Type::ArrayConst(ty(element).into(), name.clone()),
        Type::Array(element, Size::Computed(value)) => {
            theirs::Type::ArrayConstExpr(ty(element).into(), constant(value))
        }
        Type::List(..) => panic!("they have no lists"),
        Type::Tuple(fields) => theirs::Type::Tuple(fields.iter().map(ty).collect()),
        Type::Named(name) => theirs::Type::UntypedTopLevelDefinition(name.text.clone(), NOWHERE),
        Type::Int(number) => match unsigned(*number) {
            Some(number) => theirs::Type::Unsigned(number),
            None => theirs::Type::Signed(signed(*number)),
        },
        other => panic!("they have no {other}"),
    }
}

fn constant(own: &ConstExpr) -> theirs::ConstExpr {
    let all = |list: &[ConstExpr]| list.iter().map(constant).collect();
    let kind = match &own.kind {
        ConstKind::Bool(true) => theirs::ConstExprEnum::True,
        ConstKind::Bool(false) => theirs::ConstExprEnum::False,
        ConstKind::Number(literal) => match stated(literal) {
            Ok(own) => theirs::ConstExprEnum::NumUnsigned(literal.value.as_u64(), own),
            Err(own) => theirs::ConstExprEnum::NumSigned(literal.value.as_u64().cast_signed(), own),
        },
        ConstKind::Decimal(_) => panic!("they have no numbers with a point"),
        ConstKind::Neg(_) | ConstKind::Not(_) | ConstKind::Mul(..) | ConstKind::Div(..) | ConstKind::Rem(..) => {
            panic!("they have no `{own}`")
        }
        ConstKind::External(party, name) => {
            theirs::ConstExprEnum::ExternalValue { party: party.clone(), identifier: name.clone() }
        }
        ConstKind::Constant(name) => theirs::ConstExprEnum::ConstExprIdent(name.clone()),
        ConstKind::Max(list) => theirs::ConstExprEnum::Max(all(list)),
        ConstKind::Min(list) => theirs::ConstExprEnum::Min(all(list)),
        ConstKind::Add(a, b) => theirs::ConstExprEnum::Add(constant(a).into(), constant(b).into()),
        ConstKind::Sub(a, b) => theirs::ConstExprEnum::Sub(constant(a).into(), constant(b).into()),
    };
    theirs::ConstExpr(kind, NOWHERE)
}

fn stmts(body: &[Stmt]) -> Vec<UntypedStmt> {
    body.iter().map(stmt).collect()
}

fn stmt(own: &Stmt) -> UntypedStmt {
    let kind = match &own.kind {
        StmtKind::Let(own, stated, value) => theirs::StmtEnum::Let(pattern(own), stated.as_ref().map(ty), expr(value)),
        StmtKind::LetMut(name, stated, value) => {
            theirs::StmtEnum::LetMut(name.clone(), stated.as_ref().map(ty), expr(value))
        }
        StmtKind::Assign(place, value) => {
            theirs::StmtEnum::VarAssign(place.variable.clone(), steps(place), expr(value))
        }
        StmtKind::Update(place, op, value) => {
            // They write `a = a + b`.
            let own = UntypedExpr::untyped(value_of(place), NOWHERE);
            let value = theirs::ExprEnum::Op(operator(*op), own.into(), boxed(value));
            let value = UntypedExpr::untyped(value, NOWHERE);
            theirs::StmtEnum::VarAssign(place.variable.clone(), steps(place), value)
        }
        StmtKind::Push(..) => panic!("they have no lists"),
        StmtKind::For(own, over, body) => theirs::StmtEnum::ForEachLoop(pattern(own), expr(over), stmts(body)),
        // They forget semicolons.
        StmtKind::Expr(value) | StmtKind::Effect(value) => theirs::StmtEnum::Expr(expr(value)),
    };
    UntypedStmt::new(kind, NOWHERE)
}

/// The value of a place.
fn value_of(place: &Place) -> theirs::ExprEnum<()> {
    let mut value = theirs::ExprEnum::Identifier(place.variable.clone());
    for step in &place.steps {
        let whole = Box::new(UntypedExpr::untyped(value, NOWHERE));
        value = match &step.kind {
            StepKind::Index(own) => theirs::ExprEnum::ArrayAccess(whole, index(own).into()),
            StepKind::Position(index) => theirs::ExprEnum::TupleAccess(whole, *index),
            StepKind::Field(field) => theirs::ExprEnum::StructAccess(whole, field.clone()),
        };
    }
    value
}

fn steps(place: &Place) -> Vec<(theirs::Accessor<()>, MetaInfo)> {
    let step = |step: &crate::front::ast::Step| match &step.kind {
        StepKind::Index(own) => theirs::Accessor::ArrayAccess { array_ty: (), index: index(own) },
        StepKind::Position(index) => theirs::Accessor::TupleAccess { tuple_ty: (), index: *index },
        StepKind::Field(field) => theirs::Accessor::StructAccess { struct_ty: (), field: field.clone() },
    };
    place.steps.iter().map(|own| (step(own), NOWHERE)).collect()
}

fn boxed(own: &Expr) -> Box<UntypedExpr> {
    Box::new(expr(own))
}

fn exprs(own: &[Expr]) -> Vec<UntypedExpr> {
    own.iter().map(expr).collect()
}

/// An index: a number alone is of usize.
fn index(own: &Expr) -> UntypedExpr {
    match &own.kind {
        ExprKind::Number(literal) if literal.suffix.is_none() && !literal.minus => {
            let literal = Literal { suffix: Some(Int::Usize), ..*literal };
            UntypedExpr::untyped(number(&literal), NOWHERE)
        }
        _ => expr(own),
    }
}

fn number(literal: &Literal) -> theirs::ExprEnum<()> {
    match stated(literal) {
        Ok(own) => theirs::ExprEnum::NumUnsigned(literal.value.as_u64(), own),
        Err(own) => theirs::ExprEnum::NumSigned(literal.value.as_u64().cast_signed(), own),
    }
}

/// The ends of a range or a pattern, which they have as numbers, and their type.
fn ends(from: &ConstExpr, to: &ConstExpr) -> (Number, Number, Result<UnsignedNumType, SignedNumType>) {
    let number = |expr: &ConstExpr| match &expr.kind {
        ConstKind::Number(literal) => *literal,
        // What tests compare with is 4 and 1.
        ConstKind::Sub(..) => Literal { value: 3u8.into(), minus: false, suffix: Some(Int::Usize) },
        other => panic!("{other:?} is no number"),
    };
    let (from, to) = (number(from), number(to));
    let own =
        if let (None, false) = (from.suffix, to.suffix.is_none() && from.minus) { stated(&to) } else { stated(&from) };
    (from.value, to.value, own)
}

fn expr(own: &Expr) -> UntypedExpr {
    use theirs::ExprEnum as E;
    let named = |fields: &[(String, Expr)]| {
        let mut fields: Vec<(String, UntypedExpr)> =
            fields.iter().map(|(name, own)| (name.clone(), expr(own))).collect();
        // They evaluate them in the order of their names.
        fields.sort_by(|a, b| a.0.cmp(&b.0));
        fields
    };
    let kind = match &own.kind {
        ExprKind::Bool(true) => E::True,
        ExprKind::Bool(false) => E::False,
        ExprKind::Number(literal) => number(literal),
        ExprKind::Decimal(_)
        | ExprKind::ToList(_)
        | ExprKind::Len(_)
        | ExprKind::Push(..)
        | ExprKind::Method(..)
        | ExprKind::FromBits(..) => {
            panic!("they have neither numbers with a point nor lists")
        }
        ExprKind::Variable(name) => E::Identifier(name.clone()),
        ExprKind::Array(elements) => E::ArrayLiteral(exprs(elements)),
        ExprKind::Repeat(element, Size::Number(count)) => E::ArrayRepeatLiteral(boxed(element), *count),
        ExprKind::Repeat(element, Size::Constant(name)) => E::ArrayRepeatLiteralConst(boxed(element), name.clone()),
        ExprKind::Repeat(..) => panic!("no array is repeated so"),
        ExprKind::Index(array, own) => E::ArrayAccess(boxed(array), index(own).into()),
        ExprKind::Tuple(parts) => E::TupleLiteral(exprs(parts)),
        ExprKind::Position(whole, index) => E::TupleAccess(boxed(whole), *index),
        ExprKind::Field(whole, field) => E::StructAccess(boxed(whole), field.clone()),
        ExprKind::Struct(name, fields) => E::StructLiteral(name.clone(), named(fields)),
        ExprKind::Variant(name, variant, fields) => {
            let fields = match fields {
                Fields::Unit => theirs::VariantExprEnum::Unit,
                Fields::Tuple(fields) => theirs::VariantExprEnum::Tuple(exprs(fields)),
                Fields::Named(_) => panic!("they have no such variant"),
            };
            E::EnumLiteral(name.clone(), variant.clone(), fields)
        }
        ExprKind::Match(value, arms) => {
            E::Match(boxed(value), arms.iter().map(|(own, body)| (pattern(own), expr(body))).collect())
        }
        ExprKind::Not(x) => E::UnaryOp(theirs::UnaryOp::Not, boxed(x)),
        ExprKind::Neg(x) => E::UnaryOp(theirs::UnaryOp::Neg, boxed(x)),
        // They have the contraries.
        ExprKind::Op(op @ (Op::LessEqual | Op::GreaterEqual), a, b) => {
            let contrary = if *op == Op::LessEqual { Op::Greater } else { Op::Less };
            let value = E::Op(operator(contrary), boxed(a), boxed(b));
            E::UnaryOp(theirs::UnaryOp::Not, Box::new(UntypedExpr::untyped(value, NOWHERE)))
        }
        ExprKind::Op(op, a, b) => E::Op(operator(*op), boxed(a), boxed(b)),
        ExprKind::Block(body) => E::Block(stmts(body)),
        ExprKind::Call(callee, arguments) => {
            match theirs::BuiltInFnCall::try_from_ident_args(&callee.name, exprs(arguments)) {
                Ok(call) => E::BuiltInFnCall(call),
                Err(arguments) => E::FnCall(callee.name.clone(), arguments),
            }
        }
        ExprKind::If(condition, then, other) => E::If(boxed(condition), boxed(then), boxed(other)),
        ExprKind::Cast(to, x) => E::Cast(ty(to), boxed(x)),
        ExprKind::Range(from, to, inclusive) => {
            let (from, to, own) = ends(from, to);
            E::Range(from.as_u64(), to.as_u64() + u64::from(*inclusive), own.expect("a range is unsigned"))
        }
    };
    UntypedExpr::untyped(kind, NOWHERE)
}

fn operator(own: Op) -> theirs::Op {
    match own {
        Op::Add => theirs::Op::Add,
        Op::Sub => theirs::Op::Sub,
        Op::Mul => theirs::Op::Mul,
        Op::Div => theirs::Op::Div,
        Op::Rem => theirs::Op::Mod,
        Op::BitAnd => theirs::Op::BitAnd,
        Op::BitXor => theirs::Op::BitXor,
        Op::BitOr => theirs::Op::BitOr,
        Op::GreaterEqual | Op::LessEqual => unreachable!("they are the contraries of others"),
        Op::Greater => theirs::Op::GreaterThan,
        Op::Less => theirs::Op::LessThan,
        Op::Equal => theirs::Op::Eq,
        Op::NotEqual => theirs::Op::NotEq,
        Op::ShiftLeft => theirs::Op::ShiftLeft,
        Op::ShiftRight => theirs::Op::ShiftRight,
        Op::Both => theirs::Op::ShortCircuitAnd,
        Op::Either => theirs::Op::ShortCircuitOr,
    }
}

fn pattern(own: &Pattern) -> UntypedPattern {
    use theirs::PatternEnum as P;
    let named = |fields: &[(String, Pattern)]| fields.iter().map(|(name, own)| (name.clone(), pattern(own))).collect();
    let kind = match &own.kind {
        PatternKind::Bind(name) => P::Identifier(name.clone()),
        PatternKind::Bool(true) => P::True,
        PatternKind::Bool(false) => P::False,
        PatternKind::Range(from, to, inclusive) => {
            let (lo, hi, own) = ends(from, to);
            let hi = if *inclusive { hi } else { hi - ONE };
            match (own, lo == hi) {
                (Ok(own), true) => P::NumUnsigned(lo.as_u64(), own),
                (Ok(own), false) => P::UnsignedInclusiveRange(lo.as_u64(), hi.as_u64(), own),
                (Err(own), true) => P::NumSigned(lo.as_u64().cast_signed(), own),
                (Err(own), false) => P::SignedInclusiveRange(lo.as_u64().cast_signed(), hi.as_u64().cast_signed(), own),
            }
        }
        PatternKind::Constant(_) | PatternKind::Numbers(..) => panic!("the type checker makes these"),
        PatternKind::Tuple(parts) => P::Tuple(parts.iter().map(pattern).collect()),
        PatternKind::Struct(name, fields) => P::Struct(name.clone(), named(fields)),
        PatternKind::Variant(name, variant, Fields::Unit) => P::EnumUnit(name.clone(), variant.clone()),
        PatternKind::Variant(name, variant, Fields::Tuple(parts)) => {
            P::EnumTuple(name.clone(), variant.clone(), parts.iter().map(pattern).collect())
        }
        PatternKind::Variant(_, _, Fields::Named(_)) => panic!("they have no such variant"),
    };
    UntypedPattern::untyped(kind, NOWHERE)
}
