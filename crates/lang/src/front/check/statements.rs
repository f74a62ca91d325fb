//! Blocks and statements.

use std::collections::HashMap;

use super::{Checked, Checker, Failed};
use crate::{
    front::{
        ast::{Expr, ExprKind, Int, Place, Size, StepKind, Stmt, StmtKind, Type},
        parser::names::in_source,
    },
    source_error::SourceError,
    tree::Span,
};

impl Checker<'_> {
    /// The type of a block's value.
    pub(super) fn block(&mut self, body: &mut [Stmt]) -> Checked<Type> {
        self.scopes.push(HashMap::new());
        let mut all = Ok(());
        for stmt in body.iter_mut() {
            all = self.statement(stmt).and(all);
        }
        self.scopes.pop();
        all?;
        Ok(match body.last() {
            Some(Stmt { kind: StmtKind::Expr(value), .. }) => value.ty.clone(),
            _ => Type::UNIT,
        })
    }

    fn statement(&mut self, stmt: &mut Stmt) -> Checked {
        match &mut stmt.kind {
            StmtKind::Let(pattern, ty, value) => {
                let checked = self.declared(ty.as_ref(), value);
                let ty = checked.is_ok().then(|| value.ty.clone());
                self.pattern(pattern, ty.as_ref()).and(checked)
            }
            StmtKind::LetMut(name, ty, value) => {
                let checked = self.declared(ty.as_ref(), value).and_then(|()| self.default_numbers(value));
                let ty = checked.is_ok().then(|| value.ty.clone());
                self.declare(name, ty, true);
                checked
            }
            StmtKind::Assign(place, value) => {
                let ty = self.changed(place, stmt.span)?;
                self.expr(value)?;
                self.check(value, &ty)
            }
            StmtKind::Push(place, value) => {
                let ty = self.changed(place, stmt.span)?;
                self.expr(value)?;
                match ty {
                    Type::List(element, _) => self.check(value, &element),
                    other => self.expected("a list, as `[u8; ..8]`", &other, stmt.span),
                }
            }
            StmtKind::For(pattern, over, body) => {
                let element = self.iterated(over, stmt.span);
                self.scopes.push(HashMap::new());
                let pattern = self.pattern(pattern, element.as_ref().ok());
                let body = self.block(body);
                self.scopes.pop();
                element?;
                pattern?;
                body.map(drop)
            }
            StmtKind::Expr(value) => self.expr(value),
        }
    }

    /// Checks the value of a variable, and its type if that is written.
    fn declared(&mut self, ty: Option<&Type>, value: &mut Expr) -> Checked {
        self.expr(value)?;
        match ty {
            Some(ty) => {
                self.known(ty)?;
                self.check(value, ty)
            }
            None => Ok(()),
        }
    }

    /// The type of what a loop goes through one by one.
    fn iterated(&mut self, over: &mut Expr, span: Span) -> Checked<Type> {
        let ExprKind::Call(name, arguments) = &mut over.kind else {
            self.expr(over)?;
            return self.expect_array(&over.ty.clone(), span);
        };
        if name != "join_iter" {
            self.expr(over)?;
            return self.expect_array(&over.ty.clone(), span);
        }
        let [a, b] = &mut arguments[..] else {
            let message = format!("expected 2 arguments, got {}", arguments.len());
            return self.refuse(SourceError::new(span, message));
        };
        self.all([&mut *a, &mut *b])?;
        let (first, second) = (self.expect_whole_array(a)?, self.expect_whole_array(b)?);
        let keys = [self.expect_tuple(&first, a.span)?, self.expect_tuple(&second, b.span)?];
        if keys[0].is_empty() || keys[0].first() != keys[1].first() {
            return self.refuse(SourceError::new(span, format!("incompatible types: {first} and {second}")));
        }
        let pair = Type::Tuple(vec![first, second]);
        over.ty = Type::Array(pair.clone().into(), Size::Number(0));
        Ok(pair)
    }

    /// The type of a place that is changed.
    fn changed(&mut self, place: &mut Place, span: Span) -> Checked<Type> {
        let name = &place.variable;
        let ty = match self.variable(name).cloned() {
            Some(variable) if !variable.mutable => {
                let name = in_source(name);
                let fault = SourceError::new(span, format!("`{name}` cannot be changed"));
                return self.refuse(fault.hint(format!("declare it as `let mut {name}`")));
            }
            Some(variable) => variable.ty.ok_or(Failed)?,
            None => return self.unknown(in_source(name), span),
        };
        self.place(place, ty)
    }

    /// The type of a place in a variable of type `ty`.
    fn place(&mut self, place: &mut Place, mut ty: Type) -> Checked<Type> {
        for step in &mut place.steps {
            step.of = ty.clone();
            ty = match &mut step.kind {
                StepKind::Index(index) => {
                    let element = self.expect_array(&ty, step.span)?;
                    self.expr(index)?;
                    self.check(index, &Type::Int(Int::Usize))?;
                    element
                }
                StepKind::Position(index) => self.position(&ty, *index, step.span)?,
                StepKind::Field(field) => self.field(&ty, field, step.span)?,
            };
        }
        place.of = ty.clone();
        Ok(ty)
    }
}
