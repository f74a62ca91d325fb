//! Joins of two sorted arrays: a bitonic merge, and comparisons of neighbours.
//!
//! *Source*: Batcher 1968 for the network; Huang, Evans and Katz 2012, section 5, for the intersection of sorted sets by
//! merging them and comparing neighbours.

use crate::{
    machine::{Arm, Machine, Slot},
    number::power,
    source_error::SourceError,
    tree::{Expr, Loop, Scalar, Span, Ty},
    word::Word,
};

/// An element in the network.
#[derive(Clone)]
pub(crate) struct Item {
    /// Set if it comes from the second array.
    pub(crate) second: Word,
    pub(crate) words: Vec<Word>,
}

/// The memory of an item beside that of its words, in words.
pub(crate) const ITEM_WORDS: usize = 3;

/// The elements of both arrays in ascending order of their keys, which are their first words.
struct Sides {
    key: Vec<Scalar>,
    /// The number of words that an element of either array has.
    words: [usize; 2],
    items: Vec<Item>,
    /// The memory that was charged, in words.
    held: usize,
}

impl Machine<'_> {
    /// Runs a loop's body for each pair of elements whose first fields are equal, and returns the maximum number of iterations.
    ///
    /// *Errors*: as [`Machine::scalar`].
    pub(crate) fn join_loop(&mut self, a: &Expr, b: &Expr, repeated: &Loop, span: Span) -> Result<u64, SourceError> {
        let sides = self.merge_sides(a, b, true, span)?;
        for pair in sides.items.windows(2) {
            let both = self.are_joined(&sides.key, &pair[0], &pair[1], span);
            let branch = self.begin_branch();
            self.enter_path(both);
            let slot = self.allocate(sides.words[0] + sides.words[1], span)?;
            self.put(&pair[0].words[..sides.words[0]], slot);
            self.put(&pair[1].words[..sides.words[1]], slot + sides.words[0]);
            self.iteration(repeated, slot, span)?;
            self.leave_path(span);
            let changes = self.end_branch(branch, span);
            self.merge(&[both], Word::ANY, vec![changes, Arm::default()], span);
        }
        self.drop_words(sides.held, span);
        Ok(sides.items.len().saturating_sub(1) as u64)
    }

    /// The elements of two sorted arrays that are equal, or whose first fields are equal, each with a mark. Others are zero.
    ///
    /// *Errors*: as [`Machine::scalar`].
    pub(crate) fn join(&mut self, a: &Expr, b: &Expr, ty: &Ty, to: Slot, span: Span) -> Result<(), SourceError> {
        let (element, count) = array_ty(ty);
        let words = self.words(element);
        let mut rows = self.joined(a, b, element, span)?;
        self.bitonic_sort(&mut rows, &[Scalar::BOOL], true, span)?;
        for (k, row) in rows.iter().enumerate().take(count as usize) {
            self.put(&row.words, to + k * words);
        }
        Ok(())
    }

    /// The rows of a join in ascending order of their keys, with unmarked rows in between.
    ///
    /// *Errors*: as [`Machine::scalar`].
    pub(crate) fn joined(&mut self, a: &Expr, b: &Expr, element: &Ty, span: Span) -> Result<Vec<Item>, SourceError> {
        let associated = matches!(element, Ty::Record(fields) if fields.len() == 3);
        let sides = self.merge_sides(a, b, associated, span)?;
        let mut rows = Vec::new();
        for pair in sides.items.windows(2) {
            self.work(sides.words[0] + sides.words[1])?;
            let both = self.are_joined(&sides.key, &pair[0], &pair[1], span);
            let second = if associated { &pair[1].words[..sides.words[1]] } else { &[] };
            let mut row = vec![both];
            for &word in pair[0].words[..sides.words[0]].iter().chain(second) {
                row.push(self.select(both, word, Word::FALSE, span));
            }
            rows.push(Item { second: Word::FALSE, words: row });
        }
        self.drop_words(sides.held, span);
        Ok(rows)
    }

    /// Writes words to a place.
    pub(crate) fn put(&mut self, words: &[Word], to: Slot) {
        words.iter().enumerate().for_each(|(k, &word)| self.write(to + k, word));
    }

    /// Returns whether two neighbours come from different arrays and have equal keys.
    fn are_joined(&mut self, key: &[Scalar], x: &Item, y: &Item, span: Span) -> Word {
        let mut joined = self.xor(x.second, y.second, span);
        for (&a, &b) in x.words.iter().zip(&y.words).take(key.len()) {
            let same = self.equal(a, b, span);
            joined = self.and(joined, same, span);
        }
        joined
    }

    /// The elements of both arrays in ascending order of their keys; of equal ones, those of the first array come first.
    fn merge_sides(&mut self, a: &Expr, b: &Expr, by_field: bool, span: Span) -> Result<Sides, SourceError> {
        let ((first, n), (second, m)) = (array_ty(&a.ty), array_ty(&b.ty));
        let key_ty = match first {
            Ty::Record(fields) if by_field && !fields.is_empty() => &fields[0].1,
            _ => first,
        };
        if !key_ty.is_plain() {
            let fault = SourceError::new(
                span,
                "expected a join key that has an order, got one with a list, an enum with fields or a floating-point number",
            );
            return Err(fault.hint("put an integer or a fixed-point number first, as in `(row.id, row)`"));
        }
        let mut key = Vec::new();
        key_ty.scalars(&mut key);
        let words = [self.words(first), self.words(second)];
        let (a, b) = (self.fresh(a)?, self.fresh(b)?);
        let most = words[0].max(words[1]);
        let real = n as usize + m as usize;
        // The items, and the rows of a join.
        let held = real.next_power_of_two().saturating_mul(words[0] + words[1] + most + 2 * ITEM_WORDS);
        self.hold_words(held, span)?;
        let padding = real.next_power_of_two() - real;
        // What is not greater than any row stays before all.
        let mut least: Vec<Word> = key.iter().map(|ty| Word::constant(ty.min())).collect();
        least.resize(most, Word::FALSE);
        let mut items = vec![Item { second: Word::FALSE, words: least }; padding];
        let ascending = (0..n as usize).map(|k| (a + k * words[0], words[0], Word::FALSE));
        let descending = (0..m as usize).rev().map(|k| (b + k * words[1], words[1], Word::TRUE));
        for (slot, len, second) in ascending.chain(descending) {
            let mut words = self.stack[slot..slot + len].to_vec();
            words.resize(most, Word::FALSE);
            items.push(Item { second, words });
        }
        self.bitonic_merge(&mut items, &key, true, span)?;
        items.drain(..padding);
        Ok(Sides { key, words, items, held })
    }

    fn bitonic_sort(
        &mut self,
        items: &mut [Item],
        key: &[Scalar],
        ascending: bool,
        span: Span,
    ) -> Result<(), SourceError> {
        if items.len() > 1 {
            let (lower, upper) = items.split_at_mut(items.len() / 2);
            self.bitonic_sort(lower, key, !ascending, span)?;
            self.bitonic_sort(upper, key, ascending, span)?;
            self.bitonic_merge(items, key, ascending, span)?;
        }
        Ok(())
    }

    fn bitonic_merge(
        &mut self,
        items: &mut [Item],
        key: &[Scalar],
        ascending: bool,
        span: Span,
    ) -> Result<(), SourceError> {
        if items.len() <= 1 {
            return Ok(());
        }
        let half = items.len().next_power_of_two() / 2;
        for k in 0..items.len() - half {
            let (x, y) = (items[k].clone(), items[k + half].clone());
            let (low, high) = self.exchange(key, &x, &y, span)?;
            (items[k], items[k + half]) = if ascending { (low, high) } else { (high, low) };
            self.cut();
        }
        let (lower, upper) = items.split_at_mut(half);
        self.bitonic_merge(lower, key, ascending, span)?;
        self.bitonic_merge(upper, key, ascending, span)
    }

    /// The smaller item, then the other. Equal items keep their order.
    ///
    /// *Errors*: a source that costs more than it may.
    pub(crate) fn exchange(
        &mut self,
        key: &[Scalar],
        x: &Item,
        y: &Item,
        span: Span,
    ) -> Result<(Item, Item), SourceError> {
        self.trace.budget.turn_to(span);
        self.work(4 + 4 * x.words.len())?;
        let (a, b) = (self.key_of(key, x, span), self.key_of(key, y, span));
        let mut greater = Word::FALSE;
        for (&a, &b) in a.iter().zip(&b).rev() {
            let above = self.less(b, a, span);
            let equal = self.equal(a, b, span);
            let rest = self.and(equal, greater, span);
            greater = self.or(above, rest, span);
        }
        let mut low = x.clone();
        let mut high = y.clone();
        low.second = self.select(greater, y.second, x.second, span);
        high.second = self.select(greater, x.second, y.second, span);
        for k in 0..x.words.len() {
            low.words[k] = self.select(greater, y.words[k], x.words[k], span);
            high.words[k] = self.select(greater, x.words[k], y.words[k], span);
        }
        Ok((low, high))
    }

    /// An unsigned number that preserves order: the sign bit of a signed value is inverted.
    fn in_order(&mut self, word: Word, ty: Scalar, span: Span) -> Word {
        if !ty.signed {
            return word;
        }
        let wires = self.cast(word, Scalar::unsigned(ty.bits), span);
        self.xor(wires, Word::constant(power(ty.bits - 1)), span)
    }

    /// The key of an item, as numbers, the most significant first.
    fn key_of(&mut self, key: &[Scalar], item: &Item, span: Span) -> Vec<Word> {
        let own = item.words.iter().copied().zip(key.iter().copied());
        let words: Vec<(Word, Scalar)> = own.chain([(item.second, Scalar::BOOL)]).collect();
        let in_order = words.into_iter().map(|(word, ty)| (self.in_order(word, ty, span), ty));
        let words: Vec<(Word, Scalar)> = in_order.collect();
        self.pack(&words, span)
    }
}

/// Element type and length of an array, or the most values of a list.
pub(crate) fn array_ty(ty: &Ty) -> (&Ty, u32) {
    match ty {
        Ty::Array(element, count) | Ty::List(element, count) => (element, *count),
        _ => unreachable!("the type checker admits arrays and lists only"),
    }
}
