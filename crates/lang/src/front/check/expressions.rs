//! Expressions.

use garblet_circuit::{Float, diagnostic::clip};

use super::{Checked, Checker, Failed};
use crate::{
    front::{
        ast::{Callee, ConstExpr, ConstKind, Expr, ExprKind, Int, Op, Open, Pattern, Size, StmtKind, Type},
        built_in::BuiltIn,
        methods,
        parser::names::in_source,
    },
    number::{Number, ONE, ZERO},
    source_error::SourceError,
    tree::{Method, Span},
};

const USIZE: Type = Type::Int(Int::Usize);

impl Checker<'_> {
    /// Infers the type of an expression and of everything in it.
    pub(super) fn expr(&mut self, expr: &mut Expr) -> Checked {
        let span = expr.span;
        expr.ty = match &mut expr.kind {
            ExprKind::Bool(_) => Type::Bool,
            ExprKind::Number(literal) => self.literal(*literal, span),
            ExprKind::Decimal(decimal) => self.decimal(decimal.clone(), span),
            ExprKind::Range(from, to, inclusive) => self.range(from, to, *inclusive, span)?,
            ExprKind::Variable(name) => self.named(name, span)?,
            ExprKind::Array(elements) => self.array(elements)?,
            ExprKind::Repeat(element, size) => {
                match self.values.size(size, span) {
                    Ok(count) => *size = Size::Number(count),
                    Err(fault) => return self.refuse(fault),
                }
                self.expr(element)?;
                Type::Array(element.ty.clone().into(), size.clone())
            }
            ExprKind::Tuple(parts) => {
                self.all(parts.iter_mut())?;
                Type::Tuple(parts.iter().map(|part| part.ty.clone()).collect())
            }
            ExprKind::Index(array, index) => self.index(array, index)?,
            // It has been checked.
            ExprKind::ToList(_) => return Ok(()),
            ExprKind::Len(x) => {
                self.expr(x)?;
                self.expect_array(&x.ty.clone(), x.span)?;
                USIZE
            }
            ExprKind::Push(..) => return self.no_value(span),
            ExprKind::Method(method, parts) => self.method(*method, parts, span)?,
            ExprKind::FromBits(format, parts) => self.of_bits(*format, parts, span)?,
            ExprKind::Position(whole, index) => {
                self.expr(whole)?;
                self.position(&whole.ty.clone(), *index, whole.span)?
            }
            ExprKind::Field(whole, field) => {
                self.expr(whole)?;
                self.field(&whole.ty.clone(), field, whole.span)?
            }
            ExprKind::Struct(name, fields) => self.struct_literal(name, fields, span)?,
            ExprKind::Variant(name, variant, fields) => self.variant_literal((name, variant), fields, span)?,
            ExprKind::Match(value, arms) => self.matching(value, arms, span)?,
            ExprKind::Not(x) => {
                self.expr(x)?;
                self.expect_bool_or_integer(&self.shallow(&x.ty), x.span)?;
                x.ty.clone()
            }
            ExprKind::Neg(x) => self.negated(x)?,
            ExprKind::Op(op, a, b) => self.operation(*op, a, b, span)?,
            ExprKind::Block(body) => self.block(body)?,
            ExprKind::Call(callee, arguments) => self.call(callee, arguments, span)?,
            ExprKind::If(condition, then, other) => {
                self.all([&mut **condition, &mut **then, &mut **other])?;
                self.check(condition, &Type::Bool)?;
                self.same(then, other, span)?
            }
            ExprKind::Cast(ty, x) => {
                self.written(ty, span)?;
                self.cast(ty, x, span)?
            }
        };
        Ok(())
    }

    /// The type of a method's result.
    fn method(&mut self, method: Method, parts: &mut [Expr], span: Span) -> Checked<Type> {
        self.all(parts.iter_mut())?;
        let (name, arity) = methods::described(method);
        self.arity(arity - 1, parts.len() - 1, span)?;
        let (ty, at) = (self.shallow(&parts[0].ty), parts[0].span);
        let own = methods::names(&ty);
        if !own.contains(&name) {
            return self.refuse(self.no_method(&ty, name, &own, at));
        }
        let (second, result) = methods::types(method, &ty);
        let mut all = Ok(());
        for part in &mut parts[1..] {
            all = self.check(part, &second).and(all);
        }
        all?;
        Ok(result)
    }

    /// The fault for a type that has no method of that name, only its own.
    fn no_method(&self, ty: &Type, name: &str, own: &[&str], at: Span) -> SourceError {
        match ty {
            Type::Open(open @ (Open::Decimal | Open::Integer), _) => {
                let example =
                    if *open == Open::Decimal { "1.5f64` or `let x: f64 = 1.5;" } else { "5u8` or `let x: u8 = 5;" };
                let fault = SourceError::new(at, "the type of this number is not known here");
                fault.hint(format!("state it, as in `{example}`"))
            }
            _ => {
                let fault = SourceError::new(at, format!("{} has no method `{name}`", self.so_far(ty)));
                match own {
                    [] => fault.hint("only numbers have methods of this name: write a function of your own"),
                    _ => fault.hint(format!("its methods are {}", own.join(", "))),
                }
            }
        }
    }

    /// The type of `array[index]`.
    fn index(&mut self, array: &mut Expr, index: &mut Expr) -> Checked<Type> {
        self.all([&mut *array, &mut *index])?;
        let element = self.expect_array(&array.ty.clone(), array.span)?;
        self.check_index(index)?;
        Ok(element)
    }

    /// Checks the number of an element.
    pub(super) fn check_index(&mut self, index: &mut Expr) -> Checked {
        if let ExprKind::Range(..) = index.kind {
            let hint = "there are no slices: take the elements one by one, for instance in a loop";
            return self.refuse_with(index.span, "expected one index, got a range".into(), Some(hint.into()));
        }
        self.check(index, &USIZE)
    }

    /// The type of `f64::from_bits(x)`.
    fn of_bits(&mut self, format: Float, parts: &mut [Expr], span: Span) -> Checked<Type> {
        self.all(parts.iter_mut())?;
        self.arity(1, parts.len(), span)?;
        self.check(&mut parts[0], &Type::Int(Int::Unsigned(format.width() as u16)))?;
        Ok(Type::Float(format))
    }

    /// The type of `-x`.
    fn negated(&mut self, x: &mut Expr) -> Checked<Type> {
        self.expr(x)?;
        match self.shallow(&x.ty) {
            Type::Open(Open::Integer | Open::Decimal, _) => self.open.signed.push((x.ty.clone(), x.span)),
            known => self.expect_signed(&known, x.span)?,
        }
        Ok(x.ty.clone())
    }

    fn no_value(&mut self, span: Span) -> Checked {
        let fault = SourceError::new(span, "`push` has no value");
        self.refuse(fault.hint("it is a statement: `list.push(x);`"))
    }

    fn array(&mut self, elements: &mut [Expr]) -> Checked<Type> {
        if elements.is_empty() {
            return Ok(Type::Array(self.something().into(), Size::Number(0)));
        }
        self.all(elements.iter_mut())?;
        let count = Size::Number(elements.len());
        Ok(Type::Array(self.common(elements.iter_mut())?.into(), count))
    }

    /// The type of a range, which is an array.
    fn range(&mut self, from: &ConstExpr, to: &ConstExpr, inclusive: bool, span: Span) -> Checked<Type> {
        let ty = self.some_integer();
        let [from, to] = self.range_of([from, to], &ty)?;
        let count = if inclusive { to + ONE } else { to }.max(from) - from;
        match u32::try_from(count) {
            Ok(count) => Ok(Type::Array(ty.into(), Size::Number(count as usize))),
            Err(_) => {
                let [from, to, count] = [from, to, count].map(|number| clip(&number.to_string()));
                let range = format!("{from}{}{to}", if inclusive { "..=" } else { ".." });
                let message =
                    format!("the range {range} is too long: expected at most {} numbers, got {count}", u32::MAX);
                self.refuse(SourceError::new(span, message))
            }
        }
    }

    /// The values of the ends of a range, converted to type `ty`.
    pub(super) fn range_of(&mut self, ends: [&ConstExpr; 2], ty: &Type) -> Checked<[Number; 2]> {
        for end in ends {
            self.constant(end, ty)?;
        }
        // Their range is checked once their type is known.
        let ty = self.shallow(ty);
        let mut values = [ZERO; 2];
        for (value, end) in values.iter_mut().zip(ends) {
            *value = match self.values.plain(end, &ty) {
                Some(value) => value,
                None if matches!(ty, Type::Open(..)) => {
                    let fault = SourceError::new(end.span, format!("the type of `{end}` is not known here"));
                    return self.refuse(fault.hint("give a number a type suffix, as in `!250u8`"));
                }
                None => return Err(Failed),
            };
        }
        Ok(values)
    }

    /// Converts a constant expression to type `ty`.
    fn constant(&mut self, expr: &ConstExpr, ty: &Type) -> Checked {
        let own = match &expr.kind {
            ConstKind::Number(literal) => self.literal(*literal, expr.span),
            ConstKind::Constant(name) => match self.values.get(name) {
                Some((own, _)) => own.clone(),
                None => return self.unknown(name, expr.span),
            },
            ConstKind::Bool(_) => Type::Bool,
            ConstKind::Decimal(decimal) => self.decimal(decimal.clone(), expr.span),
            ConstKind::External(..) => match self.values.evaluate(expr, ty) {
                Ok(_) => return Ok(()),
                Err(fault) => return self.refuse(fault),
            },
            _ => return expr.parts().into_iter().try_for_each(|part| self.constant(part, ty)),
        };
        match self.unify(&own, ty) {
            true => Ok(()),
            false => self.mismatch(ty, &own, expr.span),
        }
    }

    fn operation(&mut self, op: Op, a: &mut Expr, b: &mut Expr, span: Span) -> Checked<Type> {
        self.all([&mut *a, &mut *b])?;
        Ok(match op {
            Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Rem => {
                let ty = self.same(a, b, span)?;
                self.expect_number(&self.shallow(&ty), span)?;
                if op == Op::Rem {
                    self.open.remainders.push((ty.clone(), span));
                }
                ty
            }
            Op::BitAnd | Op::BitXor | Op::BitOr => {
                let ty = self.same(a, b, span)?;
                self.expect_bool_or_integer(&self.shallow(&ty), span)?;
                ty
            }
            Op::Greater | Op::Less | Op::GreaterEqual | Op::LessEqual => {
                let ty = self.same(a, b, span)?;
                self.expect_number(&self.shallow(&ty), span)?;
                Type::Bool
            }
            Op::Equal | Op::NotEqual => {
                self.same(a, b, span)?;
                Type::Bool
            }
            Op::ShiftLeft | Op::ShiftRight => {
                self.expect_integer(&self.shallow(&a.ty), a.span)?;
                self.expect_integer(&self.shallow(&b.ty), b.span)?;
                a.ty.clone()
            }
            Op::Both | Op::Either => {
                self.check(a, &Type::Bool)?;
                self.check(b, &Type::Bool)?;
                Type::Bool
            }
        })
    }

    fn cast(&mut self, ty: &Type, x: &mut Expr, span: Span) -> Checked<Type> {
        self.expr(x)?;
        let own = self.shallow(&x.ty);
        self.expect_bool_or_number(&own, span)?;
        self.expect_bool_or_number(ty, span)?;
        match (&own, ty) {
            (Type::Fixed(..) | Type::Float(_) | Type::Int(_) | Type::Open(..), Type::Bool) => {
                let fault = SourceError::new(span, format!("{own} cannot be converted to bool"));
                return self.refuse(fault.hint(match own.is_decimal() {
                    true => "compare it: `x != 0.0`",
                    false => "compare it: `x != 0`",
                }));
            }
            // As in Rust, a literal that is converted has the new type; operands of a computation do not.
            (Type::Open(Open::Integer, _), Type::Int(_))
            | (Type::Open(Open::Decimal, _), Type::Float(_) | Type::Fixed(..))
                if is_literal(x) =>
            {
                self.check(x, ty)?;
            }
            (Type::Open(Open::Decimal, _), _) => self.open.casts.push((own, ty.clone(), span)),
            (own, ty) if !is_convertible(own, ty) => {
                let fault = SourceError::new(span, format!("{own} cannot be converted to {ty}"));
                return self.refuse(fault.hint("convert it to an integer first, as in `x as i32`"));
            }
            _ => {}
        }
        Ok(ty.clone())
    }

    fn call(&mut self, callee: &mut Callee, arguments: &mut [Expr], span: Span) -> Checked<Type> {
        let name = &callee.name;
        let is_variable = self.variable(name).is_some();
        if is_variable || self.values.get(name).is_some() {
            let what = if is_variable { "variable" } else { "constant" };
            let message = format!("expected a function, got the {what} `{}`", in_source(name));
            return self.refuse(SourceError::new(span, message).hint(format!("rename the {what}, or the function")));
        }
        if let Some(built_in) = self.built_in(name) {
            self.all(arguments.iter_mut())?;
            self.expect_no_sizes(callee, span)?;
            self.arity(built_in.arity(), arguments.len(), span)?;
            return match built_in {
                BuiltIn::Min | BuiltIn::Max | BuiltIn::Sqrt => self.of_numbers(built_in, arguments, span),
                BuiltIn::Sort | BuiltIn::Keep => self.of_rows(built_in, arguments),
                BuiltIn::Join => self.join(arguments),
                BuiltIn::JoinIter => {
                    let fault =
                        SourceError::new(span, "`join_iter` is not a value: only a `for` loop can iterate over it");
                    self.refuse(
                        fault.hint("write `for (x, y) in join_iter(a, b) { .. }`, or `join(a, b)` for an array"),
                    )
                }
            };
        }
        self.all(arguments.iter_mut())?;
        self.instantiate(callee, arguments, span)?;
        let Some(signature) = self.functions.get(&callee.name) else { return self.unknown(&callee.name, span) };
        let (params, result) = (signature.params.clone(), signature.result.clone());
        self.arity(params.len(), arguments.len(), span)?;
        let mut all = Ok(());
        for (argument, ty) in arguments.iter_mut().zip(&params) {
            all = self.check(argument, ty).and(all);
        }
        all.map(|()| result)
    }

    /// The built-in function that a call of `name` means.
    pub(super) fn built_in(&self, name: &str) -> Option<BuiltIn> {
        BuiltIn::called(name, &self.functions)
    }

    /// The type of `min(a, b)`, `max(a, b)` or `sqrt(a)`.
    fn of_numbers(&mut self, built_in: BuiltIn, arguments: &mut [Expr], span: Span) -> Checked<Type> {
        let ty = match arguments {
            [a, b] => self.same(a, b, span)?,
            _ => arguments[0].ty.clone(),
        };
        self.expect_number(&self.shallow(&ty), span)?;
        if built_in == BuiltIn::Sqrt {
            self.open.unsigned.push((ty.clone(), span));
        }
        Ok(ty)
    }

    /// The type of `sort(rows)` or `keep(rows)`.
    fn of_rows(&mut self, built_in: BuiltIn, arguments: &[Expr]) -> Checked<Type> {
        let (ty, at) = (arguments[0].ty.clone(), arguments[0].span);
        let row = self.expect_array(&ty, at)?;
        if built_in == BuiltIn::Sort {
            return match &self.shallow(&row) {
                Type::Bool | Type::Int(_) | Type::Fixed(..) | Type::Float(_) => Ok(ty),
                Type::Open(Open::Integer | Open::Decimal, _) => Ok(ty),
                Type::Tuple(fields) if !fields.is_empty() => Ok(ty),
                other => {
                    let other = self.so_far(other);
                    let fault = SourceError::new(at, format!("expected rows that are numbers or tuples, got {other}"));
                    self.refuse(fault.hint("put the sort key first, as in `(row.price, row)`"))
                }
            };
        }
        let kept = match &self.shallow(&row) {
            Type::Tuple(fields) if fields.len() > 1 && self.shallow(&fields[0]) == Type::Bool => fields[1..].to_vec(),
            other => {
                let other = self.so_far(other);
                let fault = SourceError::new(at, format!("expected tuples that begin with a bool, got {other}"));
                return self.refuse(fault.hint("the first field says which rows to keep, as in `(x > 5, x)`"));
            }
        };
        let kept = if let [only] = &kept[..] { only.clone() } else { Type::Tuple(kept) };
        match self.shallow(&ty) {
            Type::Array(_, size) | Type::List(_, size) => Ok(Type::List(kept.into(), size)),
            other => self.expected("an array", &other, at),
        }
    }

    /// Compares the number of arguments.
    pub(super) fn arity(&mut self, expected: usize, got: usize, span: Span) -> Checked {
        if expected == got {
            return Ok(());
        }
        let arguments = if expected == 1 { "argument" } else { "arguments" };
        self.refuse(SourceError::new(span, format!("expected {expected} {arguments}, got {got}")))
    }

    /// The type of `join(a, b)`: rows that hold whether the elements match, and both elements.
    fn join(&mut self, arguments: &[Expr]) -> Checked<Type> {
        let (a, b) = (&arguments[0], &arguments[1]);
        let sides = [self.expect_whole_array(a)?, self.expect_whole_array(b)?].map(|side| self.shallow(&side));
        let row = match &sides {
            [Type::Tuple(first), Type::Tuple(second)] => {
                for (fields, at) in [(first, a.span), (second, b.span)] {
                    if fields.is_empty() {
                        let fault = SourceError::new(at, "expected a tuple with at least one field, got ()");
                        return self.refuse(fault.hint("the first field is the join key"));
                    }
                }
                if !self.unify(&first[0], &second[0]) {
                    return self.mismatch(&first[0], &second[0], b.span);
                }
                vec![Type::Bool, sides[0].clone(), sides[1].clone()]
            }
            [other, Type::Tuple(_)] => return self.expected("a tuple", other, a.span),
            [Type::Tuple(_), other] => return self.expected("a tuple", other, b.span),
            [first, second] if !self.unify(first, second) => return self.mismatch(first, second, b.span),
            [first, _] => vec![Type::Bool, first.clone()],
        };
        // The rows of both, less one.
        let count = |ty: &Type| if let Type::Array(_, Size::Number(count)) = self.shallow(ty) { count } else { 0 };
        let size = (count(&a.ty).saturating_add(count(&b.ty))).saturating_sub(1);
        Ok(Type::Array(Type::Tuple(row).into(), Size::Number(size)))
    }

    fn matching(&mut self, value: &mut Expr, arms: &mut [(Pattern, Expr)], span: Span) -> Checked<Type> {
        self.expr(value)?;
        let ty = self.shallow(&value.ty);
        if ty.element().is_some() || ty.is_decimal() {
            let fault = SourceError::new(span, format!("a value of type {} cannot be matched", self.so_far(&ty)));
            return self.refuse(fault.hint(match ty.is_decimal() {
                true => "compare it with `if`",
                false => "match its elements, one by one or in a tuple",
            }));
        }
        let mut all = Ok(());
        for (pattern, body) in arms.iter_mut() {
            self.scopes.push(Default::default());
            let matched = self.pattern(pattern, Some(&value.ty));
            all = self.expr(body).and(matched).and(all);
            self.scopes.pop();
        }
        all?;
        self.common(arms.iter_mut().map(|(_, body)| body))
    }
}

/// Tells whether `as` converts a number or a bit to a number.
pub(super) fn is_convertible(from: &Type, to: &Type) -> bool {
    !matches!((from, to), (Type::Bool | Type::Fixed(..), Type::Float(_)) | (Type::Float(_), Type::Fixed(..)))
}

/// Returns whether it is a literal, perhaps signed or the value of a block, whose type a conversion decides.
fn is_literal(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Number(literal) => literal.suffix.is_none(),
        ExprKind::Decimal(_) => true,
        ExprKind::Neg(x) | ExprKind::Not(x) => is_literal(x),
        ExprKind::Block(body) => match body.last().map(|last| &last.kind) {
            Some(StmtKind::Expr(value)) => is_literal(value),
            _ => false,
        },
        _ => false,
    }
}
