//! Types that meet, and types that do not fit.

use super::{Checked, Checker};
use crate::{
    front::ast::{Expr, ExprKind, Open, Size, Stmt, StmtKind, Type},
    source_error::SourceError,
    tree::Span,
};

impl Checker<'_> {
    /// Checks that a value has the expected type; an array may become a list.
    pub(super) fn check(&mut self, expr: &mut Expr, expected: &Type) -> Checked {
        let wanted = self.shallow(expected);
        let whole = match (&wanted, self.shallow(&expr.ty)) {
            (Type::List(element, _), Type::Array(_, size)) => Type::Array(element.clone(), size),
            _ => wanted.clone(),
        };
        if self.contains_list(&whole) {
            self.check_parts(expr, &whole)?;
        }
        if let (Type::Array(element, _), Type::List(own, _)) = (self.shallow(&expr.ty), &wanted)
            && self.unify(&element, own)
        {
            let whole = std::mem::replace(expr, Expr::new(ExprKind::Bool(false), expr.span));
            let span = whole.span;
            *expr = Expr { kind: ExprKind::ToList(Box::new(whole)), span, ty: expected.clone() };
            return Ok(());
        }
        let ty = self.so_far(&expr.ty);
        if self.unify(&expr.ty, expected) {
            return Ok(());
        }
        let expected = self.so_far(expected);
        match without_value(expr).filter(|_| ty == Type::UNIT) {
            Some(last) => {
                let hint = self.value_hint(last, &expected);
                self.refuse_with(last.span, format!("expected {expected}, got {ty}"), Some(hint))
            }
            None => self.mismatch(&expected, &ty, expr.span),
        }
    }

    /// Like [`Checker::check`], for the parts of a tuple or array literal, each of which may become a list.
    fn check_parts(&mut self, expr: &mut Expr, expected: &Type) -> Checked {
        let parts: Vec<(&mut Expr, &Type)> = match (&mut expr.kind, expected) {
            (ExprKind::Tuple(parts), Type::Tuple(types)) if parts.len() == types.len() => {
                parts.iter_mut().zip(types).collect()
            }
            (ExprKind::Array(parts), Type::Array(element, Size::Number(count))) if parts.len() == *count => {
                parts.iter_mut().map(|part| (part, &**element)).collect()
            }
            (ExprKind::Repeat(part, own), Type::Array(element, size)) if own == size => vec![(&mut **part, &**element)],
            _ => return Ok(()),
        };
        let mut all = Ok(());
        for (part, ty) in parts {
            all = self.check(part, ty).and(all);
        }
        expr.ty = expected.clone();
        all
    }

    /// Advice on a block whose last statement leaves it without a value.
    pub(super) fn value_hint(&mut self, last: &Stmt, expected: &Type) -> String {
        match &last.kind {
            StmtKind::Effect(value) if self.unify(&value.ty.clone(), expected) => "remove this semicolon".into(),
            StmtKind::Assign(..) | StmtKind::Update(..) | StmtKind::Push(..) => {
                "this has no value: write the value after it, without a semicolon".into()
            }
            _ => "the value is the last expression, without a semicolon".into(),
        }
    }

    /// The common type of both.
    pub(super) fn same(&mut self, a: &mut Expr, b: &mut Expr, span: Span) -> Checked<Type> {
        let (first, second) = (self.so_far(&a.ty), self.so_far(&b.ty));
        if self.unify(&a.ty, &b.ty) {
            return Ok(a.ty.clone());
        }
        let message = format!("incompatible types: {first} and {second}");
        for (ty, value, other) in [(&first, &*a, &second), (&second, &*b, &first)] {
            if *ty == Type::UNIT
                && let Some(last) = without_value(value)
            {
                let hint = self.value_hint(last, other);
                return self.refuse_with(last.span, message, Some(hint));
            }
        }
        let hint = conversion(&first, &second);
        self.refuse_with(span, message, hint)
    }

    /// The common type of several: that of the first.
    pub(super) fn common<'e>(&mut self, mut exprs: impl Iterator<Item = &'e mut Expr>) -> Checked<Type> {
        let Some(ty) = exprs.next().map(|first| first.ty.clone()) else { return Ok(Type::UNIT) };
        let mut all = Ok(());
        for expr in exprs {
            all = self.check(expr, &ty).and(all);
        }
        all.map(|()| ty)
    }

    /// Reports a type that was not expected.
    pub(super) fn mismatch<T>(&mut self, expected: &Type, actual: &Type, span: Span) -> Checked<T> {
        let (expected, actual) = (self.so_far(expected), self.so_far(actual));
        let hint = conversion(&expected, &actual);
        self.refuse_with(span, format!("expected {expected}, got {actual}"), hint)
    }

    /// Reports a kind of type that was not expected.
    pub(super) fn expected<T>(&mut self, what: &str, actual: &Type, span: Span) -> Checked<T> {
        let actual = self.so_far(actual);
        self.refuse(SourceError::new(span, format!("expected {what}, got {actual}")))
    }

    pub(super) fn expect_number(&mut self, ty: &Type, span: Span) -> Checked {
        if ty.is_integer() || ty.is_decimal() { Ok(()) } else { self.expected("a number", ty, span) }
    }

    pub(super) fn expect_integer(&mut self, ty: &Type, span: Span) -> Checked {
        match ty.is_integer() {
            true => Ok(()),
            false => self.expected(if ty.is_decimal() { "an integer" } else { "a number" }, ty, span),
        }
    }

    /// Checks that a type has negative numbers.
    pub(super) fn expect_signed(&mut self, ty: &Type, span: Span) -> Checked {
        if ty.is_decimal() || matches!(ty, Type::Int(int) if int.is_signed()) {
            return Ok(());
        }
        let fault = SourceError::new(span, format!("expected a signed number, got {ty}"));
        self.refuse(fault.hint("convert it first, as in `-(x as i32)`"))
    }

    pub(super) fn expect_bool_or_number(&mut self, ty: &Type, span: Span) -> Checked {
        match *ty == Type::Bool || ty.is_integer() || ty.is_decimal() {
            true => Ok(()),
            false => self.expected("a bool or a number", ty, span),
        }
    }

    pub(super) fn expect_bool_or_integer(&mut self, ty: &Type, span: Span) -> Checked {
        match *ty == Type::Bool || ty.is_integer() {
            true => Ok(()),
            false if ty.is_decimal() => self.expected("a bool or an integer", ty, span),
            false => self.expected("a bool or a number", ty, span),
        }
    }

    /// The type of the elements of an array.
    pub(super) fn expect_array(&mut self, ty: &Type, span: Span) -> Checked<Type> {
        match self.shallow(ty).element() {
            Some(element) => Ok(element.clone()),
            None => self.expected("an array", ty, span),
        }
    }

    /// Like [`Checker::expect_array`], but refuses a list.
    pub(super) fn expect_whole_array(&mut self, expr: &Expr) -> Checked<Type> {
        match self.shallow(&expr.ty) {
            Type::Array(element, _) => Ok(*element),
            other => self.expected("an array", &other, expr.span),
        }
    }

    /// The types of the fields of a tuple.
    pub(super) fn expect_tuple(&mut self, ty: &Type, span: Span) -> Checked<Vec<Type>> {
        match self.shallow(ty) {
            Type::Tuple(fields) => Ok(fields),
            other => self.expected("a tuple", &other, span),
        }
    }

    /// The name of a struct.
    pub(super) fn expect_struct(&mut self, ty: &Type, span: Span) -> Checked<String> {
        match self.shallow(ty) {
            Type::Named(name) if self.program.structs.contains_key(&name.text) => Ok(name.text),
            other => self.expected("a struct", &other, span),
        }
    }
}

/// The statement that leaves an expression without a value: the last of its block, or of a branch.
pub(super) fn without_value(expr: &Expr) -> Option<&Stmt> {
    match &expr.kind {
        ExprKind::Block(body) => last_without_value(body),
        ExprKind::If(_, then, _) => without_value(then),
        ExprKind::Match(_, arms) => arms.iter().find_map(|(_, body)| without_value(body)),
        _ => None,
    }
}

/// Like [`without_value`], for the statements of a block.
pub(super) fn last_without_value(body: &[Stmt]) -> Option<&Stmt> {
    match body.last()? {
        Stmt { kind: StmtKind::Expr(value), .. } => without_value(value),
        last => Some(last),
    }
}

/// Advice on how one type may become the other.
fn conversion(expected: &Type, actual: &Type) -> Option<String> {
    let is_number = |ty: &Type| ty.is_integer() || ty.is_decimal();
    let is_literal = |ty: &Type| matches!(ty, Type::Open(Open::Integer | Open::Decimal, _));
    let is_array = |ty: &Type| matches!(ty, Type::Array(..) | Type::List(..));
    let hint = match (expected, actual) {
        (a, b) | (b, a) if is_literal(b) && a.is_decimal() => {
            "write the number with a decimal point, as in `2.0`".into()
        }
        (a, b) | (b, a) if is_literal(b) && a.is_integer() => {
            "write the number without a point, or convert the integer, as in `x as f64`".into()
        }
        (Type::Float(_), Type::Fixed(..)) | (Type::Fixed(..), Type::Float(_)) => {
            "give both the same type: no conversion goes from one to the other".into()
        }
        (a, b) if is_number(a) && is_number(b) => "convert one of them with `as`".into(),
        (Type::Bool, b) if b.is_decimal() => "compare it, as in `x != 0.0`".into(),
        (Type::Bool, b) if is_number(b) => "compare it, as in `x != 0u8`".into(),
        (a, Type::Bool) if is_number(a) => "convert it with `as`".into(),
        (a, b) if is_array(a) && is_array(b) => "arrays of different sizes have different types".into(),
        (a, Type::Tuple(fields)) if fields[..] == [a.clone()] => {
            format!("a type in parentheses is the type itself; a one-element tuple is `({a},)`")
        }
        (Type::Tuple(fields), b) if fields[..] == [b.clone()] => "a one-element tuple has a comma, as in `(x,)`".into(),
        (_, Type::Tuple(fields)) if fields.is_empty() => {
            "the value is the last expression; an `if` without `else` has none".into()
        }
        _ => return None,
    };
    Some(hint)
}
