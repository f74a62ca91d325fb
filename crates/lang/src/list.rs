//! Lists: room for a number of values, and a secret count of the values that exist.
//!
//! **Invariant**: the count is at most the room, and nothing depends on the values after it. If a party claims more, the count becomes
//! the room. Values after the count are zero in outputs, comparisons ignore them, and no index reaches them.

use crate::{
    machine::{Arm, Machine, Slot},
    number::{Number, ONE, ZERO},
    operation::Kind,
    panic::Reason,
    place::Step,
    source_error::SourceError,
    tree::{Access, Expr, Loop, Span, Ty},
    word::Word,
};

/// The most counts for which the marks of their values are kept.
const REMEMBERED: usize = 8;

impl Machine<'_> {
    /// Limits the counts in inputs to the room of their lists. *Cost*: two AND gates for each bit of a count; none if the room is
    /// one less than a power of two.
    pub(crate) fn clamp_counts(&mut self, ty: &Ty, words: &mut [Word], span: Span) {
        match ty {
            Ty::Scalar(_) => {}
            Ty::Array(element, _) if !words.is_empty() => {
                words.chunks_mut(element.words().max(1)).for_each(|own| self.clamp_counts(element, own, span));
            }
            Ty::Array(..) => {}
            Ty::List(element, most) => {
                let most = Word::constant((*most).into());
                let more = self.less(most, words[0], span);
                words[0] = self.select(more, most, words[0], span);
                words[1..].chunks_mut(element.words().max(1)).for_each(|own| self.clamp_counts(element, own, span));
            }
            Ty::Record(fields) => {
                self.clamp_each(fields.iter().map(|(_, ty)| ty), words, span);
            }
            Ty::Enum(e) => self.clamp_each(e.variants.iter().flat_map(|(_, fields)| fields), &mut words[1..], span),
        }
    }

    fn clamp_each<'t>(&mut self, types: impl Iterator<Item = &'t Ty>, mut words: &mut [Word], span: Span) {
        for ty in types {
            let (own, rest) = words.split_at_mut(ty.words());
            self.clamp_counts(ty, own, span);
            words = rest;
        }
    }

    /// Marks, for each value that a list has room for, whether it exists. *Cost*: about one AND gate for each.
    pub(crate) fn present(&mut self, count: Word, most: u32, span: Span) -> Vec<Word> {
        self.trace.budget.turn_to(span);
        self.trace.budget.work(2 * u64::from(most));
        if let Some(known) = count.known() {
            return (0..most).map(|k| Word::truth(Number::from(k) < known)).collect();
        }
        if let Some((.., known)) = self.present.iter().find(|(own, room, _)| (*own, *room) == (count, most)) {
            return known.clone();
        }
        let present: Vec<Word> = match u16::try_from(most + 1) {
            Ok(width) => {
                let node = self.trace.push_node(Kind::OneHot, width, &[count], span.line);
                let mut present = Word::TRUE;
                let mut next = |k: u32| {
                    present = self.xor(present, Word::of_node(node, k as u16, (ZERO, ONE)), span);
                    present
                };
                (0..most).map(&mut next).collect()
            }
            Err(_) => (0..most).map(|k| self.less(Word::constant(k.into()), count, span)).collect(),
        };
        if self.present.len() == REMEMBERED {
            let (.., forgotten) = self.present.remove(0);
            self.drop_words(forgotten.len(), span);
        }
        // The caller checks the budget.
        let _ = self.hold_words(present.len(), span);
        self.present.push((count, most, present.clone()));
        present
    }

    /// Runs a loop's body for each value of the list at `base`, and returns the room of the list.
    ///
    /// *Errors*: as [`Machine::scalar`].
    pub(crate) fn list_loop(&mut self, ty: &Ty, base: Slot, repeated: &Loop, span: Span) -> Result<u64, SourceError> {
        let (element, most) = crate::join::array_ty(ty);
        let words = self.words(element);
        let present = self.present(self.stack[base], most, span);
        // All iterations must be alike.
        self.cut();
        for (k, here) in present.into_iter().enumerate() {
            let slot = base + 1 + k * words;
            match here.known() {
                Some(ZERO) => continue,
                Some(_) => self.iteration(repeated, slot, span)?,
                None => {
                    let branch = self.begin_branch();
                    self.enter_path(here);
                    self.iteration(repeated, slot, span)?;
                    self.leave_path(span);
                    let changes = self.end_branch(branch, span);
                    self.merge(&[here], Word::ANY, vec![changes, Arm::default()], span);
                }
            }
        }
        Ok(most.into())
    }

    /// The wires of the values of the list at `slot`, zero where a value does not exist.
    pub(crate) fn list_wires(&mut self, ty: &Ty, slot: Slot, span: Span) -> Vec<Word> {
        let (element, most) = crate::join::array_ty(ty);
        let present = self.present(self.stack[slot], most, span);
        let mut wires = Vec::new();
        let mut at = slot + 1;
        for here in present {
            let mut own = Vec::new();
            at = self.bits_of(element, at, span, &mut own);
            wires.extend(own.into_iter().map(|wire| self.and(here, wire, span)));
        }
        wires
    }

    /// Returns whether two lists have equal values.
    ///
    /// *Errors*: a source that costs more than it may.
    pub(crate) fn equal_lists(&mut self, ty: &Ty, a: Slot, b: Slot, span: Span) -> Result<Word, SourceError> {
        let (element, most) = crate::join::array_ty(ty);
        let words = self.words(element);
        let mut equal = self.equal(self.stack[a], self.stack[b], span);
        let present = self.present(self.stack[a], most, span);
        for (k, here) in present.into_iter().enumerate() {
            let skip = 1 + k * words;
            let same = self.equal_words(element, a + skip, b + skip, span)?;
            let absent = self.not(here, span);
            let either = self.or(absent, same, span);
            equal = self.and(equal, either, span);
        }
        Ok(equal)
    }

    /// Writes a list of the values of an array to `to`.
    ///
    /// *Errors*: as [`Machine::scalar`].
    pub(crate) fn fill_list(&mut self, array: &Expr, words: usize, to: Slot) -> Result<(), SourceError> {
        let (count, own) = (crate::join::array_ty(&array.ty).1, self.words(&array.ty));
        self.work(words)?;
        self.write(to, Word::constant(count.into()));
        self.value(array, to + 1)?;
        (1 + own..words).for_each(|k| self.write(to + k, Word::ANY));
        Ok(())
    }

    /// Appends a value to a list.
    ///
    /// *Errors*: as [`Machine::scalar`].
    pub(crate) fn push(
        &mut self,
        variable: u32,
        path: &[Access],
        value: &Expr,
        most: u32,
        span: Span,
    ) -> Result<(), SourceError> {
        let to = self.slot_of(variable);
        let (mut steps, _) = self.steps_of(to, path, span)?;
        let top = self.stack.len();
        let from = self.place_or_value(value)?;
        let words = self.words(&value.ty);
        let count = self.first_word(to, &steps, span)?;
        let room = self.less(count, Word::constant(most.into()), span);
        let full = self.not(room, span);
        self.check(full, Reason::Full, span)?;
        let counted = steps.len();
        steps.push(Step::Skip(1));
        match count.known() {
            Some(known) if known < Number::from(most) => steps.push(Step::Skip(known.as_usize() * words)),
            _ => steps.push(Step::Secret { index: count, count: most, words }),
        }
        self.write_path(to, &steps, from, words, Word::TRUE, span)?;
        let slot = self.allocate(1, span)?;
        let next = match (count.known(), room.known()) {
            (Some(known), Some(more)) => Word::constant(known + more),
            _ => {
                let most = Number::from(most);
                let range = ((count.lo + ONE).min(most), (count.hi + ONE).min(most));
                self.record(Kind::Add, &[count, room], range, span)
            }
        };
        self.write(slot, next);
        self.write_path(to, &steps[..counted], slot, 1, Word::TRUE, span)?;
        self.release(top);
        Ok(())
    }
}
