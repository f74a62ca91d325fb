//! Blocks and statements.

use std::collections::HashMap;

use super::{Checked, Checker, Failed};
use crate::{
    front::{
        ast::{Expr, ExprKind, Op, Place, Size, StepKind, Stmt, StmtKind, Type},
        built_in::BuiltIn,
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
        let count = body.len();
        for (at, stmt) in body.iter_mut().enumerate() {
            let checked = self.statement(stmt);
            let checked = if at + 1 < count { checked.and_then(|()| self.expect_no_value(stmt)) } else { checked };
            all = checked.and(all);
        }
        self.scopes.pop();
        all?;
        Ok(match body.last() {
            Some(Stmt { kind: StmtKind::Expr(value), .. }) => value.ty.clone(),
            _ => Type::UNIT,
        })
    }

    /// As in Rust, a block whose value is not used has none, unless a semicolon drops it.
    fn expect_no_value(&mut self, stmt: &Stmt) -> Checked {
        let StmtKind::Expr(value) = &stmt.kind else { return Ok(()) };
        if self.unify(&value.ty, &Type::UNIT) {
            return Ok(());
        }
        let fault = SourceError::new(stmt.span, format!("expected (), got {}", self.so_far(&value.ty)));
        self.refuse(fault.hint("this value is not used: add a semicolon after it"))
    }

    fn statement(&mut self, stmt: &mut Stmt) -> Checked {
        match &mut stmt.kind {
            StmtKind::Let(pattern, ty, value) => {
                let checked = self.declared(ty.as_mut(), value).and_then(|()| self.expect_no_constant(pattern));
                let ty = checked.is_ok().then(|| value.ty.clone());
                self.pattern(pattern, ty.as_ref()).and(checked)
            }
            StmtKind::LetMut(name, ty, value) => {
                let checked = self.declared(ty.as_mut(), value);
                let ty = checked.is_ok().then(|| value.ty.clone());
                self.declare(name, ty, true);
                checked
            }
            StmtKind::Assign(place, value) => {
                let ty = self.changed(place, stmt.span)?;
                self.expr(value)?;
                self.check(value, &ty)
            }
            StmtKind::Update(place, op, value) => {
                let ty = self.changed(place, stmt.span)?;
                self.expr(value)?;
                self.updated(*op, &ty, value, stmt.span)
            }
            StmtKind::Push(place, value) => {
                let ty = self.changed(place, stmt.span)?;
                self.expr(value)?;
                match self.shallow(&ty) {
                    Type::List(element, _) => self.check(value, &element),
                    other => self.expected("a list such as `[u8; ..8]`", &other, stmt.span),
                }
            }
            StmtKind::For(pattern, over, body) => {
                let element = self.iterated(over, stmt.span).and_then(|ty| {
                    self.expect_no_constant(pattern)?;
                    Ok(ty)
                });
                self.scopes.push(HashMap::new());
                let pattern = self.pattern(pattern, element.as_ref().ok());
                let checked = self.block(body);
                self.scopes.pop();
                element?;
                pattern?;
                checked?;
                body.last().map_or(Ok(()), |last| self.expect_no_value(last))
            }
            StmtKind::Expr(value) | StmtKind::Effect(value) => self.expr(value),
        }
    }

    /// Checks the value of a compound assignment such as `+=`.
    fn updated(&mut self, op: Op, ty: &Type, value: &mut Expr, span: Span) -> Checked {
        let (own, other) = (self.shallow(ty), self.shallow(&value.ty));
        if let Op::ShiftLeft | Op::ShiftRight = op {
            self.expect_integer(&own, span)?;
            return self.expect_integer(&other, value.span);
        }
        if !self.unify(ty, &value.ty) {
            return self.mismatch(ty, &value.ty.clone(), value.span);
        }
        match op {
            Op::BitAnd | Op::BitXor | Op::BitOr => self.expect_bool_or_integer(&own, span),
            _ => {
                if op == Op::Rem {
                    self.open.remainders.push((ty.clone(), span));
                }
                self.expect_number(&own, span)
            }
        }
    }

    /// Checks the value of a variable, and its type if that is written.
    fn declared(&mut self, ty: Option<&mut Type>, value: &mut Expr) -> Checked {
        self.expr(value)?;
        match ty {
            Some(ty) => {
                self.written(ty, value.span)?;
                self.check(value, ty)
            }
            None => Ok(()),
        }
    }

    /// The type of the items that a loop iterates over.
    fn iterated(&mut self, over: &mut Expr, span: Span) -> Checked<Type> {
        let arguments = match &mut over.kind {
            ExprKind::Call(callee, arguments) if self.built_in(&callee.name) == Some(BuiltIn::JoinIter) => arguments,
            _ => {
                self.expr(over)?;
                return self.expect_array(&over.ty.clone(), span);
            }
        };
        self.arity(BuiltIn::JoinIter.arity(), arguments.len(), span)?;
        let [a, b] = &mut arguments[..] else { return Err(Failed) };
        self.all([&mut *a, &mut *b])?;
        let (first, second) = (self.expect_whole_array(a)?, self.expect_whole_array(b)?);
        let keys = [self.expect_tuple(&first, a.span)?, self.expect_tuple(&second, b.span)?];
        let same = match (keys[0].first(), keys[1].first()) {
            (Some(a), Some(b)) => self.unify(a, b),
            _ => false,
        };
        if !same {
            let (first, second) = (self.so_far(&first), self.so_far(&second));
            return self.refuse(SourceError::new(span, format!("incompatible types: {first} and {second}")));
        }
        let pair = Type::Tuple(vec![first, second]);
        over.ty = Type::Array(pair.clone().into(), Size::Number(0));
        Ok(pair)
    }

    /// The type of a place that is assigned to.
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
                    self.check_index(index)?;
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
