//! Types that numbers get from what they meet, and types that do not fit.

use super::{Checked, Checker, Failed, expressions::is_built_in};
use crate::{
    front::{
        ast::{Expr, ExprKind, Int, Op, Size, StmtKind, Type},
        constants::of_scalar,
    },
    source_error::SourceError,
    tree::{Scalar, Span},
};

impl Checker<'_> {
    /// Gives numbers the expected type, and compares.
    pub(super) fn check(&mut self, expr: &mut Expr, expected: &Type) -> Checked {
        if let (Type::Array(_, size), Type::List(element, _)) = (&expr.ty, expected) {
            // An array is a list of as many.
            let array = Type::Array(element.clone(), size.clone());
            if *size != Size::Number(0) {
                self.check(expr, &array)?;
            }
            let whole = std::mem::replace(expr, Expr::new(ExprKind::Bool(false), expr.span));
            let span = whole.span;
            *expr = Expr { kind: ExprKind::ToList(Box::new(whole)), span, ty: expected.clone() };
            return Ok(());
        }
        self.constrain(expr, expected)?;
        match expr.ty == *expected {
            true => Ok(()),
            false => self.mismatch(expected, &expr.ty.clone(), expr.span),
        }
    }

    /// Gives numbers without a type those of the expected one, as far as there are any.
    fn constrain(&mut self, expr: &mut Expr, expected: &Type) -> Checked {
        match (&mut expr.kind, expected) {
            (ExprKind::Array(elements), Type::Array(ty, _)) => {
                elements.iter_mut().try_for_each(|element| self.constrain(element, ty))?;
            }
            (ExprKind::Repeat(element, _), Type::Array(ty, _)) => self.constrain(element, ty)?,
            (ExprKind::Tuple(parts), Type::Tuple(types)) if parts.len() == types.len() => {
                parts.iter_mut().zip(types).try_for_each(|(part, ty)| self.constrain(part, ty))?;
            }
            (ExprKind::Match(_, arms), ty) => {
                arms.iter_mut().try_for_each(|(_, body)| self.constrain(body, ty))?;
            }
            (ExprKind::Not(x) | ExprKind::Neg(x), ty) => self.constrain(x, ty)?,
            (ExprKind::Op(op, a, b), ty) => match op {
                Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Rem | Op::BitAnd | Op::BitXor | Op::BitOr => {
                    self.constrain(a, ty)?;
                    self.constrain(b, ty)?;
                }
                Op::ShiftLeft | Op::ShiftRight => self.constrain(a, ty)?,
                Op::Greater | Op::Less | Op::Equal | Op::NotEqual | Op::Both | Op::Either => {}
            },
            (ExprKind::Call(name, arguments), ty) if expr.ty.is_open() && is_built_in(name) => {
                arguments.iter_mut().try_for_each(|argument| self.constrain(argument, ty))?;
            }
            (ExprKind::Block(body), ty) => {
                if let Some(StmtKind::Expr(value)) = body.last_mut().map(|last| &mut last.kind) {
                    self.constrain(value, ty)?;
                }
            }
            (ExprKind::If(_, then, other), ty) => {
                self.constrain(then, ty)?;
                self.constrain(other, ty)?;
            }
            (_, Type::Int(_) | Type::Fixed(..)) => self.constrain_number(expr, expected)?,
            _ => {}
        }
        fill(&mut expr.ty, expected);
        Ok(())
    }

    /// Gives something that is no whole of others a type of numbers.
    fn constrain_number(&mut self, expr: &mut Expr, ty: &Type) -> Checked {
        let fits = match (&expr.kind, ty) {
            (ExprKind::Number(value, _), Type::Int(int)) => (int.min()..=int.max()).contains(value),
            (ExprKind::Decimal(decimal), Type::Fixed(integer, fraction)) => {
                of_scalar(*decimal, Scalar::fixed(*integer, *fraction)).is_some()
            }
            _ => true,
        };
        match (fits, becomes(&expr.ty, ty), &expr.kind) {
            (true, true, _) => Ok(()),
            (false, true, ExprKind::Decimal(decimal)) => {
                self.refuse(SourceError::new(expr.span, format!("{decimal} is no value of {ty}")))
            }
            _ => self.mismatch(ty, &expr.ty.clone(), expr.span),
        }
    }

    /// The type that both are of; numbers of the one get that of the other.
    pub(super) fn unify(&mut self, a: &mut Expr, b: &mut Expr, span: Span) -> Checked<Type> {
        if a.ty != b.ty && has_open(&a.ty) {
            self.constrain(a, &b.ty)?;
        }
        if a.ty != b.ty && has_open(&b.ty) {
            self.constrain(b, &a.ty)?;
        }
        if a.ty == b.ty {
            return Ok(a.ty.clone());
        }
        let message = format!("incompatible types: {} and {}", a.ty, b.ty);
        let hint = conversion(&a.ty, &b.ty);
        self.refuse_with(span, message, hint)
    }

    /// Numbers without a type become i32.
    pub(super) fn default_numbers(&mut self, expr: &mut Expr) -> Checked {
        if !has_open(&expr.ty) {
            return Ok(());
        }
        let ty = closed(&expr.ty);
        self.check(expr, &ty)
    }

    /// Another type is there than was expected.
    pub(super) fn mismatch<T>(&mut self, expected: &Type, actual: &Type, span: Span) -> Checked<T> {
        self.refuse_with(span, format!("expected {expected}, got {actual}"), conversion(expected, actual))
    }

    /// Another kind of type is there than was expected.
    pub(super) fn expected<T>(&mut self, what: &str, actual: &Type, span: Span) -> Checked<T> {
        self.refuse(SourceError::new(span, format!("expected {what}, got {actual}")))
    }

    pub(super) fn expect_number(&mut self, ty: &Type, span: Span) -> Checked {
        if ty.is_integer() || ty.is_fixed() { Ok(()) } else { self.expected("a number", ty, span) }
    }

    pub(super) fn expect_integer(&mut self, ty: &Type, span: Span) -> Checked {
        match ty.is_integer() {
            true => Ok(()),
            false => self.expected(if ty.is_fixed() { "an integer" } else { "a number" }, ty, span),
        }
    }

    pub(super) fn expect_signed(&mut self, ty: &Type, span: Span) -> Checked {
        if ty.is_open() || ty.is_fixed() || matches!(ty, Type::Int(int) if int.is_signed()) {
            return Ok(());
        }
        let fault = SourceError::new(span, format!("expected a signed number, got {ty}"));
        self.refuse(fault.hint("convert it first, as in `-(x as i32)`"))
    }

    pub(super) fn expect_bool_or_number(&mut self, ty: &Type, span: Span) -> Checked {
        match *ty == Type::Bool || ty.is_integer() || ty.is_fixed() {
            true => Ok(()),
            false => self.expected("a bool or a number", ty, span),
        }
    }

    pub(super) fn expect_bool_or_integer(&mut self, ty: &Type, span: Span) -> Checked {
        match *ty == Type::Bool || ty.is_integer() {
            true => Ok(()),
            false if ty.is_fixed() => self.expected("a bool or an integer", ty, span),
            false => self.expected("a bool or a number", ty, span),
        }
    }

    /// The type of the elements of an array.
    pub(super) fn expect_array(&mut self, ty: &Type, span: Span) -> Checked<Type> {
        match ty.element() {
            Some(element) => Ok(element.clone()),
            None => self.expected("an array", ty, span),
        }
    }

    /// As [`Checker::expect_array`], of something that is no list.
    pub(super) fn expect_whole_array(&mut self, expr: &Expr) -> Checked<Type> {
        match &expr.ty {
            Type::Array(element, _) => Ok((**element).clone()),
            other => self.expected("an array", other, expr.span),
        }
    }

    /// The types of the fields of a tuple.
    pub(super) fn expect_tuple(&mut self, ty: &Type, span: Span) -> Checked<Vec<Type>> {
        match ty {
            Type::Tuple(fields) => Ok(fields.clone()),
            _ => self.expected("a tuple", ty, span),
        }
    }

    /// The name of a struct.
    pub(super) fn expect_struct(&mut self, ty: &Type, span: Span) -> Checked<String> {
        match ty {
            Type::Named(name) if self.program.structs.contains_key(&name.text) => Ok(name.text.clone()),
            _ => self.expected("a struct", ty, span),
        }
    }

    /// The type of some that are to be of one: that of the first, or of the first that states one.
    pub(super) fn common<'t>(&mut self, types: impl Iterator<Item = &'t Type> + Clone) -> Checked<Type> {
        let stated = types.clone().find(|ty| !has_open(ty));
        let signed = types.clone().find(|ty| **ty == Type::Integer);
        let first = types.clone().next();
        match (first, stated, signed) {
            (Some(first), Some(stated), _) if has_open(first) => Ok(stated.clone()),
            (Some(Type::Natural), None, Some(signed)) => Ok(signed.clone()),
            (Some(first), ..) => Ok(first.clone()),
            (None, ..) => Err(Failed),
        }
    }
}

/// Tells whether a number of the one type is or can be one of the other.
fn becomes(ty: &Type, other: &Type) -> bool {
    match (ty, other) {
        (Type::Natural, Type::Int(_)) | (Type::Decimal, Type::Fixed(..)) => true,
        (Type::Integer, Type::Int(int)) => int.is_signed(),
        (ty, other) => ty == other,
    }
}

/// Writes the types of numbers that get one.
fn fill(actual: &mut Type, expected: &Type) {
    match (&mut *actual, expected) {
        (open, Type::Int(_) | Type::Fixed(..)) if open.is_open() && becomes(open, expected) => {
            *actual = expected.clone();
        }
        (Type::Natural, Type::Integer) => *actual = Type::Integer,
        (Type::Array(actual, _), Type::Array(expected, _)) => fill(actual, expected),
        (Type::Tuple(actual), Type::Tuple(expected)) => {
            actual.iter_mut().zip(expected).for_each(|(actual, expected)| fill(actual, expected));
        }
        _ => {}
    }
}

/// Tells whether there is a number without a type in it.
pub(super) fn has_open(ty: &Type) -> bool {
    match ty {
        Type::Natural | Type::Integer | Type::Decimal => true,
        Type::Array(element, _) | Type::List(element, _) => has_open(element),
        Type::Tuple(fields) => fields.iter().any(has_open),
        Type::Unknown | Type::Bool | Type::Int(_) | Type::Fixed(..) | Type::Named(_) => false,
    }
}

/// The type, with i32 for numbers that have none.
fn closed(ty: &Type) -> Type {
    match ty {
        Type::Natural | Type::Integer => Type::Int(Int::Signed(32)),
        Type::Array(element, size) => Type::Array(closed(element).into(), size.clone()),
        Type::Tuple(fields) => Type::Tuple(fields.iter().map(closed).collect()),
        other => other.clone(),
    }
}

/// Advice on how one type may become the other.
fn conversion(expected: &Type, actual: &Type) -> Option<String> {
    const I32: Type = Type::Int(Int::Signed(32));
    let is_number = |ty: &Type| ty.is_integer() || ty.is_fixed();
    let is_array = |ty: &Type| matches!(ty, Type::Array(..) | Type::List(..));
    let hint = match (expected, actual) {
        (fixed, Type::Natural | Type::Integer) | (Type::Natural | Type::Integer, fixed) if fixed.is_fixed() => {
            "write the number with a point, as `2.0`".into()
        }
        (Type::Decimal, b) | (b, Type::Decimal) if b.is_integer() => {
            "convert the integer, as in `x as fixed<16, 16>`".into()
        }
        (a, b) if is_number(a) && b.is_open() => {
            format!("is it too large, or negative? It has to be a number of {a}")
        }
        (a, b) if is_number(a) && is_number(b) && (*a == I32 || *b == I32) => {
            "convert one of them with `as`; a number without a type is i32 after `let mut`".into()
        }
        (a, b) if is_number(a) && is_number(b) => "convert one of them with `as`".into(),
        (Type::Bool, b) if is_number(b) => "compare it, as in `x != 0u8`".into(),
        (a, Type::Bool) if is_number(a) => "convert it with `as`".into(),
        (a, b) if is_array(a) && is_array(b) => "sizes are the same if they are written the same".into(),
        (_, Type::Tuple(fields)) if fields.is_empty() => {
            "the value is the last expression; an `if` without `else` has none".into()
        }
        _ => return None,
    };
    Some(hint)
}
