//! Places: parts of arrays and records, read and written by known and by secret indices.

use crate::{
    machine::{Machine, Slot},
    number::{Number, ONE, ZERO, number},
    operation::Kind,
    panic::Reason,
    source_error::SourceError,
    tree::{Access, Expr, ExprKind, Scalar, Span, Ty},
    word::Word,
};

/// A step into a value.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    /// Words to skip.
    Skip(usize),
    /// An element by a secret index below `count`. Each element has `words` words.
    Secret { index: Word, count: u32, words: usize },
}

impl Machine<'_> {
    /// The place of the words of an expression, if it is a variable, a constant or a part of one by known indices.
    ///
    /// *Errors*: an index out of bounds.
    pub(crate) fn place(&mut self, expr: &Expr) -> Result<Option<Slot>, SourceError> {
        match &expr.kind {
            ExprKind::Var(_) | ExprKind::Whole(_) => Ok(self.slot_of_name(expr)),
            ExprKind::Field(whole, skip) => Ok(self.place(whole)?.map(|slot| slot + skip)),
            ExprKind::Index { array, index, count }
                if is_place(array) && is_simple(index) && !matches!(array.ty, Ty::List(..)) =>
            {
                let Some(base) = self.place(array)? else { return Ok(None) };
                let position = self.scalar(index)?;
                Ok(match position.known() {
                    Some(k) if k < Number::from(*count) => Some(base + k.as_usize() * self.words(&expr.ty)),
                    _ => None,
                })
            }
            _ => Ok(None),
        }
    }

    /// The first word of a variable or a constant.
    pub(crate) fn slot_of_name(&self, expr: &Expr) -> Option<Slot> {
        match &expr.kind {
            ExprKind::Var(variable) => Some(self.slot_of(*variable)),
            ExprKind::Whole(constant) => Some(self.constants[*constant as usize]),
            _ => None,
        }
    }

    /// Reads a part of a value, at least one step of which is an index, to `to`.
    ///
    /// *Errors*: as [`Machine::scalar`].
    pub(crate) fn read_path(&mut self, expr: &Expr, to: Slot) -> Result<(), SourceError> {
        let top = self.stack.len();
        let mut steps = Vec::new();
        let mut inside = Word::TRUE;
        let base = self.walk(expr, &mut steps, &mut inside)?;
        let words = self.words(&expr.ty);
        let all = self.touch(&steps, words, expr.span)?;
        self.hold_words(2 * all, expr.span)?;
        let mut values = Vec::with_capacity(words);
        self.gather(base, &steps, words, &mut values, expr.span);
        self.drop_words(2 * all, expr.span);
        self.release(top);
        for (k, word) in values.into_iter().enumerate() {
            // Without checks there is nothing past the end of a list.
            let word = if self.panics.is_on() { word } else { self.select(inside, word, Word::FALSE, expr.span) };
            self.write(to + k, word);
        }
        Ok(())
    }

    /// The steps from the value that an expression is a part of, which is found or made.
    fn walk(&mut self, expr: &Expr, steps: &mut Vec<Step>, inside: &mut Word) -> Result<Slot, SourceError> {
        match &expr.kind {
            ExprKind::Field(whole, skip) => {
                let base = self.walk(whole, steps, inside)?;
                steps.push(Step::Skip(*skip));
                Ok(base)
            }
            ExprKind::Index { array, index, count } => {
                let base = self.walk(array, steps, inside)?;
                let index = self.scalar(index)?;
                let here = match matches!(array.ty, Ty::List(..)) {
                    true => self.list_step(base, steps, index, expr.span)?,
                    false => Word::TRUE,
                };
                *inside = self.and(*inside, here, expr.span);
                let words = self.words(&expr.ty);
                steps.push(self.index_step(index, *count, words, expr.span)?);
                Ok(base)
            }
            _ => match self.slot_of_name(expr) {
                Some(slot) => Ok(slot),
                None => self.fresh(expr),
            },
        }
    }

    /// The steps from the variable at `base` to the target of an assignment, and whether every index of a list is below its length.
    ///
    /// *Errors*: as [`Machine::scalar`].
    pub(crate) fn steps_of(
        &mut self,
        base: Slot,
        path: &[Access],
        span: Span,
    ) -> Result<(Vec<Step>, Word), SourceError> {
        let mut steps = Vec::new();
        let mut inside = Word::TRUE;
        for access in path {
            match access {
                Access::Field(skip) => steps.push(Step::Skip(*skip)),
                Access::Index { index, count, words, list } => {
                    let index = self.scalar(index)?;
                    if *list {
                        let here = self.list_step(base, &mut steps, index, span)?;
                        inside = self.and(inside, here, span);
                    }
                    steps.push(self.index_step(index, *count, *words, span)?);
                }
            }
        }
        Ok((steps, inside))
    }

    /// The step to the first value of a list; checks that the index is below the length.
    fn list_step(&mut self, base: Slot, steps: &mut Vec<Step>, index: Word, span: Span) -> Result<Word, SourceError> {
        let count = self.first_word(base, steps, span)?;
        let inside = self.less(index, count, span);
        let outside = self.not(inside, span);
        self.check(outside, Reason::OutOfBounds, span)?;
        steps.push(Step::Skip(1));
        Ok(inside)
    }

    /// The first word that the steps lead to.
    ///
    /// *Errors*: a source that costs more than it may.
    pub(crate) fn first_word(&mut self, base: Slot, steps: &[Step], span: Span) -> Result<Word, SourceError> {
        let all = self.touch(steps, 1, span)?;
        self.hold_words(2 * all, span)?;
        let mut words = Vec::with_capacity(1);
        self.gather(base, steps, 1, &mut words, span);
        self.drop_words(2 * all, span);
        Ok(words[0])
    }

    fn index_step(&mut self, index: Word, count: u32, words: usize, span: Span) -> Result<Step, SourceError> {
        let inside = self.less(index, Word::constant(Number::from(count)), span);
        let outside = self.not(inside, span);
        self.check(outside, Reason::OutOfBounds, span)?;
        Ok(match index.known() {
            Some(k) if k < Number::from(count) => Step::Skip(k.as_usize() * words),
            // There are no elements, or the access panics in any case.
            Some(_) => Step::Secret { index, count: 0, words },
            None => Step::Secret { index, count: Number::from(count).min(index.hi + ONE).as_u32(), words },
        })
    }

    fn gather(&mut self, base: Slot, steps: &[Step], words: usize, into: &mut Vec<Word>, span: Span) {
        let Some((&step, rest)) = steps.split_first() else {
            into.extend_from_slice(&self.stack[base..base + words]);
            return;
        };
        match step {
            Step::Skip(skip) => self.gather(base + skip, rest, words, into, span),
            Step::Secret { count: 0, .. } => into.extend((0..words).map(|_| Word::FALSE)),
            Step::Secret { index, count, words: stride } => {
                let mut all = Vec::with_capacity(words * count as usize);
                (0..count as usize).for_each(|k| self.gather(base + k * stride, rest, words, &mut all, span));
                for word in 0..words {
                    let elements: Vec<Word> = all.iter().skip(word).step_by(words.max(1)).copied().collect();
                    into.push(self.element(index, &elements, span));
                }
            }
        }
    }

    /// Charges the work of reading or writing every word that the steps may lead to, and returns the number of these words.
    ///
    /// *Errors*: a source that costs more than it may.
    fn touch(&mut self, steps: &[Step], words: usize, span: Span) -> Result<usize, SourceError> {
        let counts = steps.iter().map(|step| if let Step::Secret { count, .. } = step { *count as usize } else { 1 });
        let all = counts.fold(words.max(1), usize::saturating_mul);
        self.trace.budget.turn_to(span);
        self.work(all.saturating_mul(3))?;
        Ok(all)
    }

    /// Writes words to a part of the value at `to`, if `condition`.
    ///
    /// *Errors*: a source that costs more than it may.
    pub(crate) fn write_path(
        &mut self,
        to: Slot,
        steps: &[Step],
        from: Slot,
        words: usize,
        condition: Word,
        span: Span,
    ) -> Result<(), SourceError> {
        self.touch(steps, words, span)?;
        self.write_steps(to, steps, from, words, condition, span);
        Ok(())
    }

    fn write_steps(&mut self, to: Slot, steps: &[Step], from: Slot, words: usize, condition: Word, span: Span) {
        let Some((&step, rest)) = steps.split_first() else {
            if condition == Word::TRUE {
                return self.copy(from, to, words);
            }
            for k in 0..words {
                let merged = self.select(condition, self.stack[from + k], self.stack[to + k], span);
                self.write(to + k, merged);
            }
            return;
        };
        match step {
            Step::Skip(skip) => self.write_steps(to + skip, rest, from, words, condition, span),
            Step::Secret { index, count, words: stride } => {
                let width = u16::try_from(count).ok().filter(|_| count > 1);
                let hot = width.map(|width| self.trace.push_node(Kind::OneHot, width, &[index], span.line));
                for k in 0..count as usize {
                    let here = match hot {
                        Some(node) => Word::of_node(node, k as u16, (ZERO, ONE)),
                        None => self.equal(index, Word::constant(number(k as i128)), span),
                    };
                    let here = self.and(condition, here, span);
                    self.write_steps(to + k * stride, rest, from, words, here, span);
                }
            }
        }
    }
}

/// Returns whether an expression is a variable, a constant or a part of one.
fn is_place(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Var(_) | ExprKind::Whole(_) => true,
        ExprKind::Field(whole, _) => is_place(whole),
        ExprKind::Index { array, .. } => is_place(array),
        _ => false,
    }
}

/// Returns whether computing an index twice is free: once to see whether it is known, and once to read by it.
pub(crate) fn is_simple(index: &Expr) -> bool {
    match &index.kind {
        ExprKind::Constant(_) | ExprKind::Var(_) => true,
        ExprKind::Cast(x) => is_simple(x),
        ExprKind::Binary(_, x, y) => index.ty.scalar() == Some(Scalar::USIZE) && is_simple(x) && is_simple(y),
        _ => false,
    }
}
