//! Expressions.

use super::{Checked, Checker, exhaustive};
use crate::{
    front::ast::{ConstExpr, ConstKind, Expr, ExprKind, Int, Op, Pattern, Size, Type},
    number::ONE,
    source_error::SourceError,
    tree::Span,
};

const USIZE: Type = Type::Int(Int::Usize);
/// The most cases that are told of those that a `match` leaves out.
const MAX_CASES: usize = 3;

impl Checker<'_> {
    /// Finds out the type of an expression and of all in it.
    pub(super) fn expr(&mut self, expr: &mut Expr) -> Checked {
        let span = expr.span;
        expr.ty = match &mut expr.kind {
            ExprKind::Bool(_) => Type::Bool,
            ExprKind::Number(_, ty) => ty.clone(),
            ExprKind::Decimal(_) => Type::Decimal,
            ExprKind::Range(from, to, ty) => Type::Array(ty.clone().into(), Size::Number((*to - *from) as usize)),
            ExprKind::Variable(name) => self.named(name, span)?,
            ExprKind::Array(elements) => self.array(elements)?,
            ExprKind::Repeat(element, size) => {
                self.size(size, span)?;
                self.expr(element)?;
                Type::Array(element.ty.clone().into(), size.clone())
            }
            ExprKind::Tuple(parts) => {
                self.all(parts.iter_mut())?;
                Type::Tuple(parts.iter().map(|part| part.ty.clone()).collect())
            }
            ExprKind::Index(array, index) => {
                self.all([&mut **array, &mut **index])?;
                let element = self.expect_array(&array.ty.clone(), array.span)?;
                self.check(index, &USIZE)?;
                element
            }
            // It has been checked.
            ExprKind::ToList(_) => return Ok(()),
            ExprKind::Len(x) => {
                self.expr(x)?;
                self.expect_array(&x.ty.clone(), x.span)?;
                USIZE
            }
            ExprKind::Push(..) => return self.no_value(span),
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
                self.expect_bool_or_integer(&x.ty.clone(), x.span)?;
                x.ty.clone()
            }
            ExprKind::Neg(x) => {
                self.expr(x)?;
                self.expect_signed(&x.ty.clone(), x.span)?;
                if x.ty == Type::Natural { Type::Integer } else { x.ty.clone() }
            }
            ExprKind::Op(op, a, b) => self.operation(*op, a, b, span)?,
            ExprKind::Block(body) => self.block(body)?,
            ExprKind::Call(name, arguments) => self.call(name, arguments, span)?,
            ExprKind::If(condition, then, other) => {
                self.all([&mut **condition, &mut **then, &mut **other])?;
                self.check(condition, &Type::Bool)?;
                self.unify(then, other, span)?
            }
            ExprKind::Cast(ty, x) => {
                self.known(ty)?;
                self.cast(ty, x, span)?
            }
        };
        Ok(())
    }

    fn no_value(&mut self, span: Span) -> Checked {
        let fault = SourceError::new(span, "`push` has no value");
        self.refuse(fault.hint("it is a statement: `list.push(x);`"))
    }

    fn array(&mut self, elements: &mut [Expr]) -> Checked<Type> {
        if elements.is_empty() {
            return Ok(Type::Array(Type::Unknown.into(), Size::Number(0)));
        }
        self.all(elements.iter_mut())?;
        let ty = self.common(elements.iter().map(|element| &element.ty))?;
        let count = Size::Number(elements.len());
        elements.iter_mut().try_for_each(|element| self.check(element, &ty))?;
        Ok(Type::Array(ty.into(), count))
    }

    /// Looks whether a size that is a constant is of type usize.
    fn size(&mut self, size: &Size, span: Span) -> Checked {
        let Size::Constant(name) = size else { return Ok(()) };
        match self.program.constants.get(name).map(|constant| &constant.ty) {
            Some(ty) if *ty == USIZE => Ok(()),
            Some(ty) => self.mismatch(&USIZE, &ty.clone(), span),
            None => self.unknown(name, span),
        }
    }

    fn operation(&mut self, op: Op, a: &mut Expr, b: &mut Expr, span: Span) -> Checked<Type> {
        self.all([&mut *a, &mut *b])?;
        Ok(match op {
            Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Rem => {
                let ty = self.unify(a, b, span)?;
                self.expect_number(&ty, span)?;
                ty
            }
            Op::BitAnd | Op::BitXor | Op::BitOr => {
                let ty = self.unify(a, b, span)?;
                self.expect_bool_or_integer(&ty, span)?;
                ty
            }
            Op::Greater | Op::Less => {
                let ty = self.unify(a, b, span)?;
                self.expect_number(&ty, span)?;
                Type::Bool
            }
            Op::Equal | Op::NotEqual => {
                self.unify(a, b, span)?;
                Type::Bool
            }
            Op::ShiftLeft | Op::ShiftRight => {
                self.expect_integer(&a.ty.clone(), a.span)?;
                self.check(b, &Type::Int(Int::Unsigned(8)))?;
                a.ty.clone()
            }
            Op::Both | Op::Either => {
                for operand in [a, b] {
                    if operand.ty != Type::Bool {
                        return self.mismatch(&Type::Bool, &operand.ty.clone(), operand.span);
                    }
                }
                Type::Bool
            }
        })
    }

    fn cast(&mut self, ty: &Type, x: &mut Expr, span: Span) -> Checked<Type> {
        self.expr(x)?;
        self.expect_bool_or_number(&x.ty.clone(), span)?;
        self.expect_bool_or_number(ty, span)?;
        match (&x.ty, ty) {
            (Type::Decimal, Type::Fixed(..)) => self.check(x, ty)?,
            (Type::Fixed(..), Type::Bool) => return self.mismatch(ty, &x.ty.clone(), span),
            _ => {}
        }
        // A number that is one of the type is meant as one.
        if let (ExprKind::Number(value, Type::Natural | Type::Integer), Type::Int(int)) = (&x.kind, ty)
            && (int.min()..=int.max()).contains(value)
        {
            self.check(x, ty)?;
        }
        Ok(ty.clone())
    }

    fn call(&mut self, name: &str, arguments: &mut [Expr], span: Span) -> Checked<Type> {
        if name == "join" {
            return self.join(arguments, span);
        }
        if is_of_rows(name) && !self.functions.contains_key(name) {
            return self.of_rows(name, arguments, span);
        }
        if is_built_in(name) && !self.functions.contains_key(name) {
            return self.built_in(name, arguments, span);
        }
        if self.variable(name).is_some() {
            let fault = SourceError::new(span, format!("`{name}` is a variable here, no function"));
            return self.refuse(fault.hint("rename one of them"));
        }
        if !self.functions.contains_key(name) {
            return self.unknown(name, span);
        }
        self.all(arguments.iter_mut())?;
        let Some(signature) = self.functions.get(name) else { return self.unknown(name, span) };
        let (params, result) = (signature.params.clone(), signature.result.clone());
        self.arity(params.len(), arguments.len(), span)?;
        let mut all = Ok(());
        for (argument, ty) in arguments.iter_mut().zip(&params) {
            all = self.check(argument, ty).and(all);
        }
        all.map(|()| result)
    }

    /// The type of `min(a, b)`, `max(a, b)` or `sqrt(a)`.
    fn built_in(&mut self, name: &str, arguments: &mut [Expr], span: Span) -> Checked<Type> {
        self.all(arguments.iter_mut())?;
        self.arity(if name == "sqrt" { 1 } else { 2 }, arguments.len(), span)?;
        let ty = match arguments {
            [a, b] => self.unify(a, b, span)?,
            _ => arguments[0].ty.clone(),
        };
        self.expect_number(&ty, span)?;
        if name == "sqrt"
            && let Type::Integer | Type::Int(Int::Signed(_)) = ty
        {
            let fault = SourceError::new(span, format!("expected an unsigned or fixed-point number, got {ty}"));
            return self.refuse(fault.hint("convert it first, as in `sqrt(x as u32)`"));
        }
        Ok(ty)
    }

    /// The type of `sort(rows)` or `keep(rows)`.
    fn of_rows(&mut self, name: &str, arguments: &mut [Expr], span: Span) -> Checked<Type> {
        self.all(arguments.iter_mut())?;
        self.arity(1, arguments.len(), span)?;
        let (ty, at) = (arguments[0].ty.clone(), arguments[0].span);
        let row = self.expect_array(&ty, at)?;
        if name == "sort" {
            return match &row {
                Type::Bool | Type::Int(_) | Type::Fixed(..) => Ok(ty),
                Type::Tuple(fields) if !fields.is_empty() => Ok(ty),
                other => {
                    let fault = SourceError::new(at, format!("expected rows that are numbers or tuples, got {other}"));
                    self.refuse(
                        fault.hint("put what is sorted by first, as in `(row.price, row)`, and give numbers a type"),
                    )
                }
            };
        }
        let kept = match &row {
            Type::Tuple(fields) if fields.len() > 1 && fields[0] == Type::Bool => &fields[1..],
            other => {
                let fault = SourceError::new(at, format!("expected tuples that begin with a bool, got {other}"));
                return self.refuse(fault.hint("the first field says what is kept, as in `(x > 5, x)`"));
            }
        };
        let kept = if let [only] = kept { only.clone() } else { Type::Tuple(kept.to_vec()) };
        match ty {
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

    /// The type of `join(a, b)`: rows of whether it is one, and elements of both.
    fn join(&mut self, arguments: &mut [Expr], span: Span) -> Checked<Type> {
        self.all(arguments.iter_mut())?;
        self.arity(2, arguments.len(), span)?;
        let (a, b) = (&arguments[0], &arguments[1]);
        let sides = [self.expect_whole_array(a)?, self.expect_whole_array(b)?];
        let row = match &sides {
            [Type::Tuple(first), Type::Tuple(second)] => {
                for (fields, at) in [(first, a.span), (second, b.span)] {
                    if fields.is_empty() {
                        let fault = SourceError::new(at, "this tuple has 0 fields");
                        return self.refuse(fault.hint("the first one is what is joined on"));
                    }
                }
                if first[0] != second[0] {
                    return self.mismatch(&first[0], &second[0], b.span);
                }
                vec![Type::Bool, sides[0].clone(), sides[1].clone()]
            }
            [other, Type::Tuple(_)] => return self.expected("a tuple", other, a.span),
            [Type::Tuple(_), other] => return self.expected("a tuple", other, b.span),
            [first, second] if first != second => return self.mismatch(first, second, b.span),
            [first, _] => vec![Type::Bool, first.clone()],
        };
        Ok(Type::Array(Type::Tuple(row).into(), joined_size(&a.ty, &b.ty)))
    }

    fn matching(&mut self, value: &mut Expr, arms: &mut [(Pattern, Expr)], span: Span) -> Checked<Type> {
        self.expr(value)?;
        if value.ty.element().is_some() || value.ty.is_fixed() {
            let fault = SourceError::new(span, format!("a value of type {} cannot be matched", value.ty));
            return self.refuse(fault.hint(match value.ty.is_fixed() {
                true => "compare it, with `if`",
                false => "match elements of it, one by one or in a tuple",
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
        let ty = self.common(arms.iter().map(|(_, body)| &body.ty))?;
        arms.iter_mut().try_for_each(|(_, body)| self.check(body, &ty))?;
        let patterns: Vec<&Pattern> = arms.iter().map(|(pattern, _)| pattern).collect();
        let Some(missing) = exhaustive::missing(self.program, &value.ty, &patterns) else {
            let fault = SourceError::new(span, "this `match` has too many cases to look at them all");
            return self.refuse(fault.hint("match only what decides, and take the rest from the value"));
        };
        if missing.is_empty() {
            return Ok(ty);
        }
        let cases: Vec<String> = missing.iter().take(MAX_CASES).map(|case| format!("`{case}`")).collect();
        let more = missing.len().saturating_sub(cases.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let fault = SourceError::new(span, format!("this `match` leaves out {}{more}", cases.join(", ")));
        self.refuse(fault.hint("add the missing patterns, or `_ => ...`"))
    }
}

/// Tells whether it is the name of a function that there is already, unless the source has one of that name.
pub(in crate::front) fn is_built_in(name: &str) -> bool {
    matches!(name, "min" | "max" | "sqrt")
}

/// Tells whether it is the name of a function of rows that there is already, unless the source has one of that name.
pub(in crate::front) fn is_of_rows(name: &str) -> bool {
    matches!(name, "sort" | "keep")
}

/// The number of rows of a join: those of both, less one.
fn joined_size(a: &Type, b: &Type) -> Size {
    let expr = |kind: ConstKind| Box::new(ConstExpr { kind, span: Span::default() });
    let size = |ty: &Type| match ty {
        Type::Array(_, Size::Number(number)) => expr(ConstKind::Number(crate::number::number(*number as i128), USIZE)),
        Type::Array(_, Size::Constant(name)) => expr(ConstKind::Constant(name.clone())),
        Type::Array(_, Size::Computed(value)) => value.clone(),
        _ => expr(ConstKind::Number(ONE, USIZE)),
    };
    let sum = expr(ConstKind::Add(size(a), size(b)));
    Size::Computed(expr(ConstKind::Sub(sum, expr(ConstKind::Number(ONE, USIZE)))))
}
