//! Statements and expressions, each with an estimate of its AND gates.

use std::collections::HashMap;

use super::{
    Context,
    ast::{self, Fields, Int, Op},
    built_in::BuiltIn,
    constants::of_scalar,
};
use crate::{
    number::{Number, ONE, ZERO},
    source_error::SourceError,
    tree::{
        Access, BinaryOp, Expr, ExprKind, Loop, Method, Over, Pattern, PatternKind, Scalar, Span, Stmt, StmtKind, Ty,
    },
};

/// The approximate cost of an operation on floating-point numbers, relative to that on integers.
const FLOAT_COST: u64 = 8;

/// An expression, and its approximate cost in AND gates.
type Costed<T> = Result<(T, u64), SourceError>;

impl Context<'_> {
    /// The statements of a block, in a scope of their own.
    pub(super) fn block(&mut self, body: &[ast::Stmt]) -> Costed<Vec<Stmt>> {
        self.scopes.push(HashMap::new());
        let mut stmts = Vec::with_capacity(body.len());
        let mut cost = 0u64;
        for stmt in body {
            let (stmt, own) = self.stmt(stmt)?;
            stmts.push(stmt);
            cost = cost.saturating_add(own);
        }
        self.scopes.pop();
        Ok((stmts, cost))
    }

    fn stmt(&mut self, stmt: &ast::Stmt) -> Costed<Stmt> {
        let at = stmt.span;
        let (kind, cost) = match &stmt.kind {
            ast::StmtKind::Let(pattern, _, value) => {
                let (value, cost) = self.expr(value)?;
                let pattern = self.certain(pattern, &value.ty)?;
                (StmtKind::Let(pattern, value), cost)
            }
            ast::StmtKind::LetMut(name, _, value) => {
                let (value, cost) = self.expr(value)?;
                let kind = PatternKind::Bind(self.declare(name));
                (StmtKind::Let(Pattern { kind }, value), cost)
            }
            ast::StmtKind::Assign(place, value) => {
                let (variable, steps, places) = self.place(place, at)?;
                let (value, cost) = self.expr(value)?;
                let writes = if places > 1 { places.saturating_mul(value.ty.width()) } else { 0 };
                (StmtKind::Assign(variable, steps, value), cost.saturating_add(writes))
            }
            ast::StmtKind::Update(place, op, value) => self.update(place, *op, value, at)?,
            ast::StmtKind::Push(place, value) => {
                let (variable, steps, places) = self.place(place, at)?;
                let (value, cost) = self.expr(value)?;
                let (_, most) = array(&self.ty(&place.of, at)?, at)?;
                let writes = places.saturating_mul(value.ty.width()).saturating_mul(most.into());
                (StmtKind::Push(variable, steps, most, value), cost.saturating_add(writes))
            }
            ast::StmtKind::For(pattern, over, body) => {
                let (over, once) = match &over.kind {
                    ast::ExprKind::Range(..) => {
                        let (from, to) = self.range(over)?;
                        let ty = over.ty.element().map_or(Ok(Ty::Scalar(Scalar::USIZE)), |ty| self.ty(ty, at))?;
                        (Over::Range(from, to, ty), 0)
                    }
                    ast::ExprKind::Call(callee, arguments) if self.is_join_iter(&callee.name) => {
                        let (a, b, cost) = self.two(arguments, at)?;
                        (Over::Join(a, b), cost)
                    }
                    _ => {
                        let (over, cost) = self.expr(over)?;
                        (Over::Array(over), cost)
                    }
                };
                self.repeat(pattern, over, body, once)?
            }
            ast::StmtKind::Expr(value) => {
                let (value, cost) = self.expr(value)?;
                (StmtKind::Expr(value), cost)
            }
            ast::StmtKind::Effect(value) => {
                let (value, cost) = self.expr(value)?;
                (StmtKind::Effect(value), cost)
            }
        };
        Ok((Stmt { kind, span: at }, cost))
    }

    /// `PLACE += VALUE` and the like.
    fn update(&mut self, place: &ast::Place, op: Op, value: &ast::Expr, at: Span) -> Costed<StmtKind> {
        let (variable, steps, places) = self.place(place, at)?;
        let (value, cost) = self.expr(value)?;
        let (Some(ty), Some(operator)) = (self.ty(&place.of, at)?.scalar(), binary(op)) else {
            return Err(SourceError::bug(at, "an operator before `=`"));
        };
        let known = matches!(value.kind, ExprKind::Constant(_));
        let own =
            if ty == Scalar::USIZE { 0 } else { op_cost(op, u64::from(ty.bits + ty.fraction.unwrap_or(0)), known) };
        let moves = if places > 1 { places.saturating_mul(2 * u64::from(ty.bits)) } else { 0 };
        Ok((StmtKind::Update(variable, steps, operator, ty, value), sum(&[cost, own, moves])))
    }

    /// The first number of a range, and the number after its last. They are equal if the range is empty.
    ///
    /// *Errors*: ends that are not numbers of its type.
    fn range(&self, range: &ast::Expr) -> Result<(Number, Number), SourceError> {
        let (ast::ExprKind::Range(from, to, inclusive), Some(ty)) = (&range.kind, range.ty.element()) else {
            return Err(SourceError::bug(range.span, "a value other than a range"));
        };
        let (from, to) = (self.constants.evaluate(from, ty)?, self.constants.evaluate(to, ty)?);
        let end = if *inclusive { to + ONE } else { to };
        Ok((from, end.max(from)))
    }

    /// Both arguments of a join, and their cost.
    fn two(&mut self, arguments: &[ast::Expr], at: Span) -> Result<(Expr, Expr, u64), SourceError> {
        let [a, b] = arguments else { return Err(SourceError::bug(at, "a call of `join_iter`")) };
        let ((a, cost_a), (b, cost_b)) = (self.expr(a)?, self.expr(b)?);
        Ok((a, b, cost_a.saturating_add(cost_b)))
    }

    /// The variable that an assignment changes, the steps into it, and the number of places that they may lead to.
    fn place(&mut self, place: &ast::Place, at: Span) -> Result<(u32, Vec<Access>, u64), SourceError> {
        let variable = self.variable_at(&place.variable, at)?;
        self.assignments += 1;
        let mut steps = Vec::new();
        let mut places = 1u64;
        for step in &place.steps {
            let of = self.ty(&step.of, step.span)?;
            steps.push(match &step.kind {
                ast::StepKind::Index(index) => {
                    let (element, count) = array(&of, step.span)?;
                    if index_is_secret(index) {
                        places = places.saturating_mul(count.into());
                    }
                    let (index, _) = self.expr(index)?;
                    let list = matches!(of, Ty::List(..));
                    Access::Index { index, count, words: element.words(), list }
                }
                ast::StepKind::Position(index) => Access::Field(words_before(&of, &index.to_string(), step.span)?),
                ast::StepKind::Field(field) => Access::Field(words_before(&of, field, step.span)?),
            });
        }
        Ok((variable, steps, places))
    }

    fn repeat(&mut self, pattern: &ast::Pattern, over: Over, body: &[ast::Stmt], once: u64) -> Costed<StmtKind> {
        self.scopes.push(HashMap::new());
        let (ty, iterations) = match &over {
            Over::Range(from, to, ty) => (ty.clone(), (*to - *from).as_u64()),
            Over::Array(array_expr) => {
                let (element, count) = array(&array_expr.ty, array_expr.span)?;
                (element, count.into())
            }
            Over::Join(a, b) => {
                let ((first, n), (second, m)) = (array(&a.ty, a.span)?, array(&b.ty, b.span)?);
                let pair: Vec<(String, Ty)> = vec![("0".into(), first), ("1".into(), second)];
                (Ty::Record(pair.into()), u64::from(n) + u64::from(m))
            }
        };
        let pattern = self.certain(pattern, &ty)?;
        let before = self.assignments;
        let (body, each) = self.block(body)?;
        self.scopes.pop();
        let merging = if let Over::Join(..) = over { ty.width().saturating_mul(8) } else { 0 };
        let cost = each.saturating_add(merging).saturating_mul(iterations).saturating_add(once);
        let assigns = self.assignments > before;
        Ok((StmtKind::For(Box::new(Loop { pattern, over, body, cost, assigns })), cost))
    }

    fn variable_at(&self, name: &str, at: Span) -> Result<u32, SourceError> {
        self.variable(name).ok_or_else(|| SourceError::bug(at, &format!("the name `{name}`")))
    }

    pub(super) fn expr(&mut self, expr: &ast::Expr) -> Costed<Expr> {
        let at = expr.span;
        let ty = self.ty(&expr.ty, at)?;
        let (kind, cost) = self.kind(expr, &ty, at)?;
        Ok((Expr { kind, ty, span: at }, cost))
    }

    fn boxed(&mut self, expr: &ast::Expr) -> Costed<Box<Expr>> {
        self.expr(expr).map(|(expr, cost)| (Box::new(expr), cost))
    }

    fn all<'e>(&mut self, exprs: impl IntoIterator<Item = &'e ast::Expr>) -> Costed<Vec<Expr>> {
        let mut list = Vec::new();
        let mut sum = 0u64;
        for expr in exprs {
            let (expr, cost) = self.expr(expr)?;
            list.push(expr);
            sum = sum.saturating_add(cost);
        }
        Ok((list, sum))
    }

    fn kind(&mut self, expr: &ast::Expr, ty: &Ty, at: Span) -> Costed<ExprKind> {
        Ok(match &expr.kind {
            ast::ExprKind::Bool(value) => (ExprKind::Constant(if *value { ONE } else { ZERO }), 0),
            ast::ExprKind::Number(literal) => (ExprKind::Constant(literal.value), 0),
            ast::ExprKind::Decimal(decimal) => {
                let value = ty.scalar().and_then(|ty| of_scalar(decimal, ty));
                let value = value.ok_or_else(|| SourceError::bug(at, &format!("the number `{decimal}`")))?;
                (ExprKind::Constant(value), 0)
            }
            ast::ExprKind::Variable(name) => match (self.variable(name), self.constants.get(name)) {
                (Some(variable), _) => (ExprKind::Var(variable), 0),
                (None, Some((_, value))) => (ExprKind::Constant(value), 0),
                (None, None) => return Err(SourceError::bug(at, &format!("the name `{name}`"))),
            },
            ast::ExprKind::Array(parts) | ast::ExprKind::Tuple(parts) => {
                let (parts, cost) = self.all(parts)?;
                (ExprKind::List(parts), cost)
            }
            ast::ExprKind::ToList(array) => self.list(array, ty, at)?,
            ast::ExprKind::Len(x) => {
                let (x, cost) = self.expr(x)?;
                match x.ty {
                    Ty::Array(_, count) if is_variable(&x) => (ExprKind::Constant(count.into()), 0),
                    Ty::Array(_, count) => {
                        // As in Rust, the array is evaluated: that may panic, or change variables.
                        let count = Expr { kind: ExprKind::Constant(count.into()), ty: ty.clone(), span: at };
                        let kinds = [StmtKind::Effect(x), StmtKind::Expr(count)];
                        (ExprKind::Block(kinds.map(|kind| Stmt { kind, span: at }).into()), cost)
                    }
                    _ => (ExprKind::Len(x.into()), cost),
                }
            }
            ast::ExprKind::Method(..) | ast::ExprKind::FromBits(..) => self.method(expr, at)?,
            ast::ExprKind::Push(..) => return Err(SourceError::bug(at, "`push` as a value")),
            ast::ExprKind::Repeat(element, _) => {
                let (_, count) = array(ty, at)?;
                let (element, cost) = self.boxed(element)?;
                (ExprKind::Repeat(element, count), cost)
            }
            ast::ExprKind::Range(..) => {
                let (from, to) = self.range(expr)?;
                (ExprKind::Range(from, to), 0)
            }
            ast::ExprKind::Struct(_, fields) => self.struct_literal(fields, ty, at)?,
            ast::ExprKind::Variant(_, variant, fields) => self.enum_literal(variant, fields, ty, at)?,
            ast::ExprKind::Index(..) | ast::ExprKind::Position(..) | ast::ExprKind::Field(..) => {
                self.part(expr, ty, at)?
            }
            ast::ExprKind::Not(_) | ast::ExprKind::Neg(_) | ast::ExprKind::Op(..) | ast::ExprKind::Cast(..) => {
                self.operation(expr)?
            }
            ast::ExprKind::Block(body) => {
                let (body, cost) = self.block(body)?;
                (ExprKind::Block(body), cost)
            }
            ast::ExprKind::If(condition, then, other) => {
                let (condition, a) = self.boxed(condition)?;
                let (then, b) = self.boxed(then)?;
                let (other, c) = self.boxed(other)?;
                (ExprKind::If(condition, then, other), sum(&[a, b, c, ty.width()]))
            }
            ast::ExprKind::Match(value, arms) => self.match_arms(value, arms, ty)?,
            ast::ExprKind::Call(callee, arguments) => match BuiltIn::called(&callee.name, &self.program.functions) {
                Some(built_in) => self.built_in(built_in, arguments, ty, at)?,
                None => self.call(&callee.name, arguments, at)?,
            },
        })
    }

    /// A method of a number.
    fn method(&mut self, expr: &ast::Expr, at: Span) -> Costed<ExprKind> {
        let (method, ty, parts) = match &expr.kind {
            ast::ExprKind::Method(method, parts) => (*method, None, parts),
            ast::ExprKind::FromBits(format, parts) => (Method::FromBits, Some(Scalar::float(*format)), parts),
            _ => return Err(SourceError::bug(at, "a value other than a method")),
        };
        let (values, cost) = self.all(parts)?;
        let own = || values.first().and_then(|value| value.ty.scalar());
        let Some(ty) = ty.or_else(own) else { return Err(SourceError::bug(at, "a method of another type")) };
        let width = u64::from(ty.bits);
        let own = match method {
            Method::MulAdd | Method::Root | Method::IntegerRoot | Method::WrappingMul | Method::Pow => width * width,
            Method::Exp | Method::Ln | Method::Sin | Method::Cos => FLOAT_COST * width * width,
            Method::Min | Method::Max if ty.float.is_some() => FLOAT_COST * width,
            Method::RotateLeft | Method::RotateRight => 5 * width,
            _ => 2 * width,
        };
        Ok((ExprKind::Method(method, ty, values), cost.saturating_add(own)))
    }

    /// An array as a list.
    fn list(&mut self, array: &ast::Expr, ty: &Ty, at: Span) -> Costed<ExprKind> {
        let Ty::List(_, most) = ty else { return Err(SourceError::bug(at, "a value other than a list")) };
        let (whole, cost) = self.boxed(array)?;
        let (_, count) = self::array(&whole.ty, at)?;
        match count > *most {
            true => Err(SourceError::new(at, format!("expected at most {most} elements, got {count}"))),
            false => Ok((ExprKind::ToList(whole), cost)),
        }
    }

    fn call(&mut self, name: &str, arguments: &[ast::Expr], at: Span) -> Costed<ExprKind> {
        let function = self.function_named(name, at)?;
        if self.functions[function as usize].is_constant {
            return Ok((ExprKind::Whole(function), 0));
        }
        let before = self.assignments;
        let (arguments, cost) = self.all(arguments)?;
        let cost = cost.saturating_add(self.functions[function as usize].cost);
        let assigns = self.assignments > before;
        Ok((ExprKind::Call { function, arguments, assigns }, cost))
    }

    fn is_join_iter(&self, name: &str) -> bool {
        BuiltIn::called(name, &self.program.functions) == Some(BuiltIn::JoinIter)
    }

    /// A call of a built-in function.
    fn built_in(&mut self, built_in: BuiltIn, arguments: &[ast::Expr], ty: &Ty, at: Span) -> Costed<ExprKind> {
        let (arguments, cost) = self.all(arguments)?;
        let mut arguments = arguments.into_iter().map(Box::new);
        let (first, second) = (arguments.next(), arguments.next());
        let width = first.as_ref().map_or(0, |first| first.ty.width());
        let fraction = first.as_ref().and_then(|first| first.ty.scalar()?.fraction).unwrap_or_default();
        let (kind, own) = match (built_in, first, second) {
            (BuiltIn::Min | BuiltIn::Max, Some(a), Some(b)) => {
                (ExprKind::Extreme(built_in == BuiltIn::Max, a, b), width.saturating_mul(2))
            }
            (BuiltIn::Sqrt, Some(x), None) => (ExprKind::Root(x), (width + u64::from(fraction)).pow(2) / 8),
            (BuiltIn::Sort, Some(rows), None) => (ExprKind::Sort(rows), width.saturating_mul(32)),
            (BuiltIn::Keep, Some(rows), None) => (ExprKind::Keep(rows), width.saturating_mul(32)),
            (BuiltIn::Join, Some(a), Some(b)) => (ExprKind::Join(a, b), ty.width().saturating_mul(16)),
            _ => return Err(SourceError::bug(at, "a call of a built-in function")),
        };
        Ok((kind, cost.saturating_add(own)))
    }

    /// The fields of a struct, in the order in which they are written and evaluated.
    fn struct_literal(&mut self, fields: &[(String, ast::Expr)], ty: &Ty, at: Span) -> Costed<ExprKind> {
        let (values, cost) = self.all(fields.iter().map(|(_, value)| value))?;
        let places = Places::of(ty, at)?;
        let mut parts = Vec::with_capacity(values.len());
        for ((name, _), value) in fields.iter().zip(values) {
            parts.push((places.field(name, at)?.0, value));
        }
        Ok((ExprKind::Fields(parts), cost))
    }

    fn enum_literal(&mut self, variant: &str, fields: &Fields<ast::Expr>, ty: &Ty, at: Span) -> Costed<ExprKind> {
        let variant = self.variant_number(ty, variant, at)?;
        let (parts, cost) = match (fields, ty) {
            // Named fields are one record.
            (Fields::Named(fields), Ty::Enum(e)) => {
                let ty = e.variants[variant as usize].1[0].clone();
                let (kind, cost) = self.struct_literal(fields, &ty, at)?;
                (vec![Expr { kind, ty, span: at }], cost)
            }
            _ => self.all(fields.all())?,
        };
        Ok((ExprKind::Variant(variant, parts), cost))
    }

    /// The number of a variant.
    pub(super) fn variant_number(&self, ty: &Ty, variant: &str, at: Span) -> Result<u32, SourceError> {
        let definition = if let Ty::Enum(e) = ty { self.program.enums.get(&e.name) } else { None };
        let number = definition.and_then(|definition| definition.place(variant));
        number.map(|number| number as u32).ok_or_else(|| SourceError::bug(at, &format!("the variant `{variant}`")))
    }

    fn part(&mut self, expr: &ast::Expr, ty: &Ty, at: Span) -> Costed<ExprKind> {
        match &expr.kind {
            ast::ExprKind::Index(whole, index) => {
                let secret = index_is_secret(index);
                let (whole, a) = self.boxed(whole)?;
                let (index, b) = self.boxed(index)?;
                let (_, count) = array(&whole.ty, at)?;
                let own = if secret { ty.width().saturating_mul(count.into()) } else { 0 };
                Ok((ExprKind::Index { array: whole, index, count }, sum(&[a, b, own])))
            }
            ast::ExprKind::Position(whole, index) => self.field(whole, &index.to_string(), at),
            ast::ExprKind::Field(whole, field) => self.field(whole, field, at),
            _ => Err(SourceError::bug(at, "a value other than a part of one")),
        }
    }

    fn field(&mut self, whole: &ast::Expr, name: &str, at: Span) -> Costed<ExprKind> {
        let (whole, cost) = self.boxed(whole)?;
        let skip = words_before(&whole.ty, name, at)?;
        Ok((ExprKind::Field(whole, skip), cost))
    }

    fn operation(&mut self, expr: &ast::Expr) -> Costed<ExprKind> {
        Ok(match &expr.kind {
            ast::ExprKind::Not(x) => {
                let (x, cost) = self.boxed(x)?;
                (ExprKind::Not(x), cost)
            }
            ast::ExprKind::Neg(x) => {
                let (x, cost) = self.boxed(x)?;
                let own = x.ty.width();
                (ExprKind::Neg(x), cost.saturating_add(own))
            }
            ast::ExprKind::Cast(_, x) => {
                let (x, cost) = self.boxed(x)?;
                (ExprKind::Cast(x), cost)
            }
            ast::ExprKind::Op(op, x, y) => {
                let ((x, a), (y, b)) = (self.boxed(x)?, self.boxed(y)?);
                let known = matches!(x.kind, ExprKind::Constant(_)) || matches!(y.kind, ExprKind::Constant(_));
                // Indices are usually known.
                let fraction = x.ty.scalar().and_then(|ty| ty.fraction).unwrap_or_default();
                let own = if x.ty.scalar() == Some(Scalar::USIZE) && expr.ty == ast::Type::Int(Int::Usize) {
                    0
                } else {
                    op_cost(*op, x.ty.width() + u64::from(fraction), known)
                };
                let is_float = x.ty.scalar().is_some_and(|ty| ty.float.is_some());
                let contrary = match op {
                    Op::LessEqual if !is_float => Some(BinaryOp::Greater),
                    Op::GreaterEqual if !is_float => Some(BinaryOp::Less),
                    _ => None,
                };
                if let Some(contrary) = contrary {
                    let value =
                        Expr { kind: ExprKind::Binary(contrary, x, y), ty: Ty::Scalar(Scalar::BOOL), span: expr.span };
                    return Ok((ExprKind::Not(value.into()), sum(&[a, b, own])));
                }
                let own = if is_float { own.saturating_mul(FLOAT_COST) } else { own };
                let kind = match binary(*op) {
                    Some(op) => ExprKind::Binary(op, x, y),
                    None if *op == Op::Both => ExprKind::Both(x, y),
                    None => ExprKind::Either(x, y),
                };
                (kind, sum(&[a, b, own]))
            }
            _ => return Err(SourceError::bug(expr.span, "a value other than an operation")),
        })
    }

    fn match_arms(&mut self, value: &ast::Expr, arms: &[(ast::Pattern, ast::Expr)], ty: &Ty) -> Costed<ExprKind> {
        let (value, mut cost) = self.boxed(value)?;
        let before = self.assignments;
        let mut list = Vec::new();
        for (pattern, body) in arms {
            self.scopes.push(HashMap::new());
            let pattern = self.pattern(pattern, &value.ty)?;
            let (body, own) = self.expr(body)?;
            self.scopes.pop();
            list.push((pattern, body));
            cost = sum(&[cost, own, ty.width()]);
        }
        let assigns = self.assignments > before;
        Ok((ExprKind::Match { value, arms: list, assigns }, cost))
    }
}

/// Returns whether a value is a variable, a constant or a field of one, which is evaluated without side effects.
fn is_variable(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Var(_) | ExprKind::Whole(_) => true,
        ExprKind::Field(whole, _) => is_variable(whole),
        _ => false,
    }
}

fn sum(costs: &[u64]) -> u64 {
    costs.iter().fold(0, |sum, &cost| sum.saturating_add(cost))
}

/// Returns whether an index seems to depend on inputs: it is converted from another type, or read from an array or a field.
fn index_is_secret(index: &ast::Expr) -> bool {
    match &index.kind {
        ast::ExprKind::Variable(_) | ast::ExprKind::Number(..) => false,
        ast::ExprKind::Op(_, x, y) => index_is_secret(x) || index_is_secret(y),
        _ => true,
    }
}

fn op_cost(op: Op, width: u64, known: bool) -> u64 {
    match op {
        Op::Mul if known => width * width / 4,
        Op::Mul => width * width,
        Op::Div | Op::Rem => width * width / 2,
        Op::ShiftLeft | Op::ShiftRight if known => 0,
        Op::ShiftLeft | Op::ShiftRight => width * 6,
        Op::BitXor => 0,
        Op::BitAnd | Op::BitOr if known => 0,
        _ => width,
    }
}

fn binary(op: Op) -> Option<BinaryOp> {
    Some(match op {
        Op::Add => BinaryOp::Add,
        Op::Sub => BinaryOp::Sub,
        Op::Mul => BinaryOp::Mul,
        Op::Div => BinaryOp::Div,
        Op::Rem => BinaryOp::Rem,
        Op::BitAnd => BinaryOp::And,
        Op::BitXor => BinaryOp::Xor,
        Op::BitOr => BinaryOp::Or,
        Op::GreaterEqual => BinaryOp::GreaterEqual,
        Op::LessEqual => BinaryOp::LessEqual,
        Op::Greater => BinaryOp::Greater,
        Op::Less => BinaryOp::Less,
        Op::Equal => BinaryOp::Equal,
        Op::NotEqual => BinaryOp::NotEqual,
        Op::ShiftLeft => BinaryOp::Shl,
        Op::ShiftRight => BinaryOp::Shr,
        Op::Both | Op::Either => return None,
    })
}

fn array(ty: &Ty, at: Span) -> Result<(Ty, u32), SourceError> {
    match ty {
        Ty::Array(element, count) | Ty::List(element, count) => Ok(((**element).clone(), *count)),
        _ => Err(SourceError::bug(at, "a value other than an array")),
    }
}

fn words_before(ty: &Ty, field: &str, at: Span) -> Result<usize, SourceError> {
    if let Ty::Record(fields) = ty
        && let Some(position) = fields.iter().position(|(name, _)| name == field)
    {
        return Ok(fields[..position].iter().map(|(_, ty)| ty.words()).sum());
    }
    Err(SourceError::bug(at, &format!("the field `{field}`")))
}

/// The places of the fields of a record, by name.
pub(super) struct Places<'t>(HashMap<&'t str, (usize, &'t Ty)>);

impl<'t> Places<'t> {
    pub(super) fn of(record: &'t Ty, at: Span) -> Result<Self, SourceError> {
        let Ty::Record(fields) = record else { return Err(SourceError::bug(at, "fields of another type")) };
        let mut places = HashMap::with_capacity(fields.len());
        let mut next = 0usize;
        for (name, ty) in fields.iter() {
            places.insert(name.as_str(), (next, ty));
            next = next.saturating_add(ty.words());
        }
        Ok(Places(places))
    }

    /// The words before a field, and its type.
    pub(super) fn field(&self, name: &str, at: Span) -> Result<(usize, &'t Ty), SourceError> {
        self.0.get(name).copied().ok_or_else(|| SourceError::bug(at, &format!("the field `{name}`")))
    }
}
