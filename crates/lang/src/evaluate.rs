//! Expressions and statements.

use crate::{
    arithmetic::within,
    float::sign_of,
    machine::{Arm, Machine, Slot},
    number::{ZERO, number},
    operation::Kind,
    place::is_simple,
    source_error::SourceError,
    tree::{Access, BinaryOp, EnumTy, Expr, ExprKind, Method, Scalar, Span, Stmt, StmtKind, Ty},
    word::{Word, width_of},
};

impl Machine<'_> {
    /// The value of an expression of scalar type.
    ///
    /// *Errors*: any fault found while evaluating it.
    pub(crate) fn scalar(&mut self, expr: &Expr) -> Result<Word, SourceError> {
        let word = self.unchecked(expr)?;
        debug_assert!(within((word.lo, word.hi), scalar_ty(expr)), "{word:?} is none of {:?} {:?}", expr.ty, expr.span);
        Ok(word)
    }

    fn unchecked(&mut self, expr: &Expr) -> Result<Word, SourceError> {
        let span = expr.span;
        self.step(span)?;
        Ok(match &expr.kind {
            ExprKind::Constant(value) => Word::constant(*value),
            ExprKind::Var(variable) => self.stack[self.slot_of(*variable)],
            ExprKind::Not(x) => {
                let (ty, x) = (scalar_ty(x), self.scalar(x)?);
                match ty.boolean {
                    true => self.not(x, span),
                    false => self.not_of(x, ty, span),
                }
            }
            ExprKind::Neg(x) => {
                let (ty, x) = (scalar_ty(x), self.scalar(x)?);
                match ty.float {
                    Some(format) => self.xor(x, Word::constant(sign_of(format)), span),
                    None => self.neg(x, ty, span)?,
                }
            }
            ExprKind::Binary(op, x, y) => match x.ty.scalar() {
                Some(ty) => {
                    let x = self.scalar(x)?;
                    let y = self.operand(*op, y, ty)?;
                    self.binary(*op, x, y, ty, span)?
                }
                None => self.equal_values(*op, x, y, span)?,
            },
            ExprKind::Both(x, y) => self.skipping(x, y, true, span)?,
            ExprKind::Either(x, y) => self.skipping(x, y, false, span)?,
            ExprKind::Cast(x) => {
                let (to, from) = (scalar_ty(expr), scalar_ty(x));
                let x = self.scalar(x)?;
                self.float_cast(x, from, to, span)?
            }
            ExprKind::Extreme(greater, x, y) => {
                let float = scalar_ty(x).float;
                let x = self.scalar(x)?;
                let y = self.scalar(y)?;
                if let Some(format) = float {
                    return self.float_extreme(*greater, x, y, format, span);
                }
                self.extreme(*greater, x, y, span)
            }
            ExprKind::Len(x) => {
                let top = self.stack.len();
                let slot = self.place_or_value(x)?;
                let count = self.stack[slot];
                self.release(top);
                count
            }
            ExprKind::Method(method, ty, values) => self.method(*method, *ty, values, span)?,
            ExprKind::Root(x) => {
                let (ty, x) = (scalar_ty(x), self.scalar(x)?);
                match ty.float {
                    Some(format) => self.float(Kind::FloatRoot, format, &[x], format.width() as u16, span)?,
                    None => self.root(x, ty, span)?,
                }
            }
            _ => {
                let top = self.stack.len();
                let slot = self.place_or_value(expr)?;
                let word = self.stack[slot];
                self.release(top);
                word
            }
        })
    }

    /// The second operand of an operation on a number of type `ty`. A negative shift amount counts as one that is too large.
    fn operand(&mut self, op: BinaryOp, y: &Expr, ty: Scalar) -> Result<Word, SourceError> {
        let word = self.scalar(y)?;
        Ok(match op {
            BinaryOp::Shl | BinaryOp::Shr if word.signed() => {
                // So many bits that half of what they count is no amount.
                let least = 1 + width_of(ZERO, number(i128::from(ty.bits) - 1));
                self.cast(word, Scalar::unsigned(scalar_ty(y).bits.max(least)), y.span)
            }
            _ => word,
        })
    }

    fn method(&mut self, method: Method, ty: Scalar, values: &[Expr], span: Span) -> Result<Word, SourceError> {
        let values = values.iter().map(|value| self.scalar(value)).collect::<Result<Vec<_>, _>>()?;
        match ty.float {
            Some(format) => self.float_method(method, format, &values, span),
            None => self.integer_method(method, ty, &values, span),
        }
    }

    /// `x && y` or `x || y`.
    fn skipping(&mut self, x: &Expr, y: &Expr, both: bool, span: Span) -> Result<Word, SourceError> {
        let x = self.scalar(x)?;
        if let Some(known) = x.known() {
            return if (known != ZERO) == both { self.scalar(y) } else { Ok(x) };
        }
        let taken = if both { x } else { self.not(x, span) };
        let branch = self.begin_branch();
        self.enter_path(taken);
        let y = self.scalar(y)?;
        self.leave_path(span);
        let changes = self.end_branch(branch, span);
        self.merge(&[taken], Word::ANY, vec![changes, Arm::default()], span);
        Ok(if both { self.and(x, y, span) } else { self.or(x, y, span) })
    }

    fn equal_values(&mut self, op: BinaryOp, x: &Expr, y: &Expr, span: Span) -> Result<Word, SourceError> {
        let top = self.stack.len();
        let a = self.fresh(x)?;
        let b = self.fresh(y)?;
        let equal = self.equal_words(&x.ty, a, b, span)?;
        self.release(top);
        Ok(match op {
            BinaryOp::NotEqual => self.not(equal, span),
            _ => equal,
        })
    }

    /// Returns whether two values of a type are equal.
    ///
    /// *Errors*: a source that costs more than it may.
    pub(crate) fn equal_words(&mut self, ty: &Ty, a: Slot, b: Slot, span: Span) -> Result<Word, SourceError> {
        let mut equal = Word::TRUE;
        let mut and = |machine: &mut Self, more: Word| equal = machine.and(equal, more, span);
        match ty {
            Ty::Enum(e) if !ty.is_plain() => {
                let same = self.equal(self.stack[a], self.stack[b], span);
                and(self, same);
                for (variant, (_, fields)) in e.variants.iter().enumerate() {
                    let other = self.is_variant(self.stack[a], variant, span);
                    let mut either = self.not(other, span);
                    let mut at = e.offset(variant);
                    let mut all = Word::TRUE;
                    for field in fields {
                        let same = self.equal_words(field, a + at, b + at, span)?;
                        all = self.and(all, same, span);
                        at += self.words(field);
                    }
                    either = self.or(either, all, span);
                    and(self, either);
                }
            }
            Ty::Scalar(Scalar { float: Some(format), .. }) => {
                let same = self.float_binary(BinaryOp::Equal, self.stack[a], self.stack[b], *format, span)?;
                and(self, same);
            }
            Ty::List(..) => {
                let same = self.equal_lists(ty, a, b, span)?;
                and(self, same);
            }
            Ty::Array(element, count) if !element.is_plain() => {
                let words = self.words(element);
                for k in 0..*count as usize {
                    let more = self.equal_words(element, a + k * words, b + k * words, span)?;
                    and(self, more);
                }
            }
            Ty::Record(fields) if !ty.is_plain() => {
                let mut at = 0;
                for (_, field) in fields.iter() {
                    let more = self.equal_words(field, a + at, b + at, span)?;
                    and(self, more);
                    at += self.words(field);
                }
            }
            _ => {
                let words = self.words(ty);
                for k in 0..words {
                    self.work(1)?;
                    let more = self.equal(self.stack[a + k], self.stack[b + k], span);
                    and(self, more);
                }
            }
        }
        Ok(equal)
    }

    /// Returns whether a tag denotes a variant.
    pub(crate) fn is_variant(&mut self, tag: Word, variant: usize, span: Span) -> Word {
        self.equal(tag, Word::constant(number(variant as i128)), span)
    }

    /// The words of an expression: where they already are, or pushed onto the stack.
    ///
    /// *Errors*: as [`Machine::scalar`].
    pub(crate) fn place_or_value(&mut self, expr: &Expr) -> Result<Slot, SourceError> {
        match self.place(expr)? {
            Some(slot) => Ok(slot),
            None => self.fresh(expr),
        }
    }

    /// The words of an expression, pushed onto the stack.
    ///
    /// *Errors*: as [`Machine::scalar`].
    pub(crate) fn fresh(&mut self, expr: &Expr) -> Result<Slot, SourceError> {
        let words = self.words(&expr.ty);
        let slot = self.allocate(words, expr.span)?;
        self.value(expr, slot)?;
        Ok(slot)
    }

    /// Writes the words of an expression to `to`.
    ///
    /// *Errors*: as [`Machine::scalar`].
    pub(crate) fn value(&mut self, expr: &Expr, to: Slot) -> Result<(), SourceError> {
        let span = expr.span;
        self.step(span)?;
        match &expr.kind {
            ExprKind::Constant(_)
            | ExprKind::Not(_)
            | ExprKind::Neg(_)
            | ExprKind::Binary(..)
            | ExprKind::Both(..)
            | ExprKind::Either(..)
            | ExprKind::Cast(_)
            | ExprKind::Extreme(..)
            | ExprKind::Len(_)
            | ExprKind::Root(_)
            | ExprKind::Method(..) => {
                let word = self.scalar(expr)?;
                self.write(to, word);
            }
            ExprKind::Var(_) | ExprKind::Whole(_) => {
                let words = self.words(&expr.ty);
                self.slot_of_name(expr).into_iter().for_each(|from| self.copy(from, to, words));
            }
            ExprKind::List(parts) => {
                let mut at = to;
                for part in parts {
                    self.value(part, at)?;
                    at += self.words(&part.ty);
                }
            }
            ExprKind::Repeat(element, count) => {
                let words = self.words(&element.ty);
                let top = self.stack.len();
                let from = self.place_or_value(element)?;
                self.work(*count as usize / 4)?;
                (0..*count as usize).for_each(|k| self.copy(from, to + k * words, words));
                self.release(top);
            }
            ExprKind::Fields(parts) => {
                parts.iter().try_for_each(|(skip, part)| self.value(part, to + skip))?;
            }
            ExprKind::Range(from, end) => {
                let count = (*end - *from).as_usize();
                self.work(count)?;
                (0..count).for_each(|k| self.write(to + k, Word::constant(*from + number(k as i128))));
            }
            ExprKind::ToList(array) => {
                let words = self.words(&expr.ty);
                self.fill_list(array, words, to)?;
            }
            ExprKind::Variant(variant, fields) => self.variant(expr, *variant as usize, fields, to)?,
            ExprKind::Field(whole, skip) => {
                let top = self.stack.len();
                let from = self.place_or_value(whole)?;
                let words = self.words(&expr.ty);
                self.copy(from + skip, to, words);
                self.release(top);
            }
            ExprKind::Index { .. } => self.read_path(expr, to)?,
            ExprKind::Block(body) => self.block(body, to)?,
            ExprKind::If(condition, then, other) => self.branch(condition, then, other, to, span)?,
            ExprKind::Match { value, arms, assigns } => self.choose(value, arms, *assigns, to, span)?,
            ExprKind::Call { function, arguments, assigns } => {
                self.call(*function, arguments, *assigns, to, span)?;
            }
            ExprKind::Join(a, b) => self.join(a, b, &expr.ty, to, span)?,
            ExprKind::Sort(rows) => self.sort(rows, to, span)?,
            ExprKind::Keep(rows) => self.keep(rows, to, span)?,
        }
        Ok(())
    }

    fn variant(&mut self, expr: &Expr, variant: usize, fields: &[Expr], to: Slot) -> Result<(), SourceError> {
        let e = enum_ty(&expr.ty);
        let offset = e.offset(variant);
        let words: usize = fields.iter().map(|f| self.words(&f.ty)).sum();
        let all = self.words(&expr.ty);
        self.work(all)?;
        self.write(to, Word::constant(number(variant as i128)));
        for k in (1..all).filter(|k| !(offset..offset + words).contains(k)) {
            self.write(to + k, Word::ANY);
        }
        let mut at = to + offset;
        for field in fields {
            self.value(field, at)?;
            at += self.words(&field.ty);
        }
        Ok(())
    }

    /// Runs a block and writes its value to `to`.
    ///
    /// *Errors*: as [`Machine::scalar`].
    pub(crate) fn block(&mut self, body: &[Stmt], to: Slot) -> Result<(), SourceError> {
        let top = self.stack.len();
        if let Some((last, before)) = body.split_last() {
            self.statements(before)?;
            match &last.kind {
                StmtKind::Expr(expr) => self.value(expr, to)?,
                _ => self.statement(last)?,
            }
        }
        self.release(top);
        Ok(())
    }

    /// Runs statements one after another; their variables stay.
    ///
    /// *Errors*: as [`Machine::scalar`].
    pub(crate) fn statements(&mut self, body: &[Stmt]) -> Result<(), SourceError> {
        body.iter().try_for_each(|stmt| self.statement(stmt))
    }

    fn statement(&mut self, stmt: &Stmt) -> Result<(), SourceError> {
        self.step(stmt.span)?;
        match &stmt.kind {
            StmtKind::Let(pattern, expr) => {
                let slot = self.fresh(expr)?;
                self.matches(pattern, slot, stmt.span);
            }
            StmtKind::Assign(variable, path, expr) => self.assign(*variable, path, expr, stmt.span)?,
            StmtKind::Push(variable, path, most, expr) => self.push(*variable, path, expr, *most, stmt.span)?,
            StmtKind::For(repeated) => self.repeat(repeated, stmt.span)?,
            StmtKind::Update(variable, path, op, ty, expr) => {
                self.update(*variable, path, (*op, *ty), expr, stmt.span)?;
            }
            StmtKind::Expr(expr) | StmtKind::Effect(expr) => {
                let top = self.stack.len();
                self.fresh(expr)?;
                self.release(top);
            }
        }
        self.cut();
        Ok(())
    }

    /// `PLACE = VALUE`: as in Rust, the value is computed before the place.
    fn assign(&mut self, variable: u32, path: &[Access], expr: &Expr, span: Span) -> Result<(), SourceError> {
        let to = self.slot_of(variable);
        let top = self.stack.len();
        // An index may change what the value was read from.
        let from = if path.iter().all(has_no_effect) { self.place_or_value(expr)? } else { self.fresh(expr)? };
        let (steps, inside) = self.steps_of(to, path, span)?;
        // Values past the end of a list do not matter.
        let inside = if self.panics.is_on() { Word::TRUE } else { inside };
        let words = self.words(&expr.ty);
        self.write_path(to, &steps, from, words, inside, span)?;
        self.release(top);
        Ok(())
    }

    /// `PLACE += VALUE` and the like: evaluates the value, the place and its content, in this order, and then the operation.
    fn update(
        &mut self,
        variable: u32,
        path: &[Access],
        (op, ty): (BinaryOp, Scalar),
        expr: &Expr,
        span: Span,
    ) -> Result<(), SourceError> {
        let y = self.operand(op, expr, ty)?;
        let to = self.slot_of(variable);
        let (steps, inside) = self.steps_of(to, path, span)?;
        let x = self.first_word(to, &steps, span)?;
        let word = self.binary(op, x, y, ty, span)?;
        let top = self.stack.len();
        let from = self.allocate(1, span)?;
        self.write(from, word);
        let inside = if self.panics.is_on() { Word::TRUE } else { inside };
        self.write_path(to, &steps, from, 1, inside, span)?;
        self.release(top);
        Ok(())
    }
}

/// Returns whether a step into a value changes nothing.
fn has_no_effect(step: &Access) -> bool {
    match step {
        Access::Field(_) => true,
        Access::Index { index, .. } => is_simple(index),
    }
}

/// The scalar type of an expression.
pub(crate) fn scalar_ty(expr: &Expr) -> Scalar {
    expr.ty.scalar().unwrap_or(Scalar::BOOL)
}

/// The type as an enum.
pub(crate) fn enum_ty(ty: &Ty) -> &EnumTy {
    match ty {
        Ty::Enum(e) => e,
        _ => unreachable!("the type checker admits enums only"),
    }
}
