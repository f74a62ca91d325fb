//! The checks that need all types of a function: ranges of literals, and coverage of patterns.

use super::{Checked, Checker, exhaustive, expressions::is_convertible};
use crate::{
    front::{
        ast::{Expr, ExprKind, Int, Pattern, Place, StepKind, Stmt, StmtKind, Type},
        constants::{of_scalar, out_of_range},
        types::scalar,
    },
    source_error::SourceError,
    tree::Span,
};

impl Checker<'_> {
    /// Writes the types of a function's body, and reports what is wrong with them.
    pub(super) fn settle(&mut self, body: &mut [Stmt]) {
        for (literal, ty, span) in std::mem::take(&mut self.open.literals) {
            if let Type::Int(int) = self.settled(&ty)
                && let Err(fault) = literal.fits(int, span)
            {
                self.faults.push(fault);
            }
        }
        for (decimal, ty, span) in std::mem::take(&mut self.open.decimals) {
            let ty = self.settled(&ty);
            if let Some(own) = scalar(&ty)
                && of_scalar(&decimal, own).is_none()
            {
                self.faults.push(SourceError::new(span, out_of_range(&decimal, own, &ty)));
            }
        }
        for (from, to, span) in std::mem::take(&mut self.open.casts) {
            let from = self.settled(&from);
            if !is_convertible(&from, &to) {
                let fault = SourceError::new(span, format!("{from} cannot be converted to {to}"));
                let hint = "convert it to an integer first, as in `x as i32`, or declare the number with the type that it is to have";
                self.faults.push(fault.hint(hint));
            }
        }
        for (ty, span) in std::mem::take(&mut self.open.remainders) {
            if let Type::Float(format) = self.settled(&ty) {
                let fault = SourceError::new(span, format!("{format} has no `%`"));
                self.faults.push(fault.hint("convert to integers first, as in `(x as i64) % (y as i64)`"));
            }
        }
        for (ty, span) in std::mem::take(&mut self.open.signed) {
            let ty = self.settled(&ty);
            let _: Checked = self.expect_signed(&ty, span);
        }
        for (ty, span) in std::mem::take(&mut self.open.unsigned) {
            let ty = self.settled(&ty);
            if matches!(ty, Type::Int(int) if int.is_signed()) {
                let fault = SourceError::new(span, format!("expected an unsigned or fixed-point number, got {ty}"));
                let _: Checked = self.refuse(fault.hint("convert it first, as in `sqrt(x as u32)`"));
            }
        }
        self.settle_all(body);
    }

    fn settle_all(&mut self, body: &mut [Stmt]) {
        for stmt in body {
            match &mut stmt.kind {
                StmtKind::Let(_, _, value)
                | StmtKind::LetMut(_, _, value)
                | StmtKind::Expr(value)
                | StmtKind::Effect(value) => self.settle_expr(value),
                StmtKind::Assign(place, value) | StmtKind::Update(place, _, value) | StmtKind::Push(place, value) => {
                    self.settle_place(place);
                    self.settle_expr(value);
                }
                StmtKind::For(_, over, body) => {
                    self.settle_expr(over);
                    self.settle_all(body);
                }
            }
        }
    }

    fn settle_place(&mut self, place: &mut Place) {
        place.of = self.settled(&place.of);
        for step in &mut place.steps {
            step.of = self.settled(&step.of);
            if let StepKind::Index(index) = &mut step.kind {
                self.settle_expr(index);
            }
        }
    }

    fn settle_expr(&mut self, expr: &mut Expr) {
        expr.ty = self.settled(&expr.ty);
        if let ExprKind::Block(body) = &mut expr.kind {
            return self.settle_all(body);
        }
        expr.parts_mut().into_iter().for_each(|part| self.settle_expr(part));
        match &expr.kind {
            ExprKind::Match(value, arms) => {
                let patterns: Vec<&Pattern> = arms.iter().map(|(pattern, _)| pattern).collect();
                self.settle_match(&value.ty, &patterns, expr.span);
            }
            ExprKind::Range(from, to, _) => {
                let ty = expr.ty.element().cloned().unwrap_or(Type::Int(Int::Usize));
                let values = [from, to].map(|end| self.values.evaluate(end, &ty));
                self.faults.extend(values.into_iter().filter_map(Result::err));
            }
            _ => {}
        }
    }

    /// Finds the cases that a `match` does not cover and the arms that are never reached.
    fn settle_match(&mut self, ty: &Type, patterns: &[&Pattern], span: Span) {
        let Some(looked) = exhaustive::look(self.program, ty, patterns, &mut self.cases) else {
            let message = format!(
                "this `match` has too many cases: expected at most {} steps to check the whole source, got more",
                exhaustive::MAX_WORK
            );
            let fault = SourceError::new(span, message);
            let hint = "match only the parts that decide, and read the rest from the value";
            return self.faults.push(fault.hint(hint));
        };
        if looked.count > 0 {
            let cases: Vec<String> = looked.missing.iter().map(|case| format!("`{case}`")).collect();
            let more = looked.count - cases.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let fault = SourceError::new(span, format!("this `match` does not cover {}{more}", cases.join(", ")));
            return self.faults.push(fault.hint("add the missing patterns, or `_ => ...`"));
        }
        for at in looked.unreached {
            let warning =
                SourceError::new(patterns[at].span, "this arm is never reached: earlier arms match all its values");
            self.warnings.push(warning.hint("remove it, or put it before the others"));
        }
    }
}
