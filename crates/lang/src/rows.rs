//! Rows of arrays and lists: sorting them, and keeping those that are marked.
//!
//! *Source*: Batcher 1968 for the network, of [`garblet_synthesis`]; Goodrich 2011 for moving rows that are kept to the front.

use garblet_synthesis::builder::sort_places;

use crate::{
    arithmetic::{beyond, bit},
    join::{ITEM_WORDS, Item, array_ty},
    machine::{Machine, Slot},
    number::{Number, ZERO},
    operation::Kind,
    source_error::SourceError,
    tree::{Expr, ExprKind, Scalar, Span, Ty},
    word::{Word, width_of},
};

impl Machine<'_> {
    /// The rows of an array or a list in ascending order of their keys: the first fields of tuples, or the rows themselves. Rows that
    /// do not exist in a list come last.
    ///
    /// *Errors*: keys that have no order; as [`Machine::scalar`].
    pub(crate) fn sort(&mut self, rows: &Expr, to: Slot, span: Span) -> Result<(), SourceError> {
        let (element, count) = array_ty(&rows.ty);
        let key_ty = match element {
            Ty::Record(fields) if !fields.is_empty() => &fields[0].1,
            _ => element,
        };
        if !key_ty.is_plain() {
            let fault = SourceError::new(
                span,
                "expected a sort key that has an order, got one with a list, an enum with fields or a floating-point number",
            );
            return Err(fault.hint("put an integer or a fixed-point number first, as in `(row.price, row)`"));
        }
        let (top, words) = (self.stack.len(), self.words(element));
        let (from, present) = self.rows(rows, span)?;
        let mut key = vec![Scalar::BOOL];
        key_ty.scalars(&mut key);
        let held = (count as usize).saturating_mul(words + 1 + ITEM_WORDS) + self.comparators(count as usize);
        self.hold_words(held, span)?;
        let mut items = Vec::with_capacity(count as usize);
        for (k, here) in present.into_iter().enumerate() {
            let mut own = vec![self.not(here, span)];
            own.extend(&self.stack[from + k * words..][..words]);
            items.push(Item { second: Word::FALSE, words: own });
        }
        let mut places = Vec::new();
        sort_places(items.len(), |low, high| places.push((low, high)));
        for (low, high) in places {
            let (x, y) = (items[low].clone(), items[high].clone());
            (items[low], items[high]) = self.exchange(&key, &x, &y, span)?;
            self.cut();
        }
        let mut to = to;
        if let Ty::List(..) = rows.ty {
            self.write(to, self.stack[from - 1]);
            to += 1;
        }
        for (k, item) in items.iter().enumerate() {
            self.put(&item.words[1..], to + k * words);
        }
        self.drop_words(held, span);
        self.release(top);
        Ok(())
    }

    /// The list of those rows whose first field is true, without that field.
    ///
    /// *Errors*: as [`Machine::scalar`].
    pub(crate) fn keep(&mut self, rows: &Expr, to: Slot, span: Span) -> Result<(), SourceError> {
        let element = array_ty(&rows.ty).0;
        let words = self.words(element);
        let top = self.stack.len();
        let held = (array_ty(&rows.ty).1 as usize).saturating_mul(2 * (words + ITEM_WORDS));
        self.hold_words(held, span)?;
        // The rows of a join are not moved twice.
        let marked: Vec<(Word, Vec<Word>)> = match &rows.kind {
            ExprKind::Join(a, b) => {
                let joined = self.joined(a, b, element, span)?;
                joined.into_iter().map(|row| (row.words[0], row.words[1..].to_vec())).collect()
            }
            _ => {
                let (from, present) = self.rows(rows, span)?;
                let row = |(k, here): (usize, Word)| {
                    let row = self.stack[from + k * words..][..words].to_vec();
                    (self.and(here, row[0], span), row[1..].to_vec())
                };
                present.into_iter().enumerate().map(row).collect()
            }
        };
        let most = Number::from(marked.len() as u64);
        let mut gaps = Word::FALSE;
        let mut moving = Vec::with_capacity(marked.len());
        for (kept, words) in marked {
            let distance = self.select(kept, gaps, Word::FALSE, span);
            moving.push(Moving { distance, words });
            let gap = self.not(kept, span);
            gaps = match (gaps.known(), gap.known()) {
                (Some(known), Some(more)) => Word::constant(known + more),
                // All have the same range, so that rows are alike.
                _ => self.record(Kind::Add, &[gaps, gap], (ZERO, most), span),
            };
            self.cut();
        }
        let count = match gaps.known() {
            Some(known) => Word::constant(most - known),
            None => self.record(Kind::Sub, &[Word::constant(most), gaps], (ZERO, most), span),
        };
        self.move_to_front(&mut moving, span)?;
        self.write(to, count);
        for (k, row) in moving.iter().enumerate() {
            self.put(&row.words, to + 1 + k * (words - 1));
        }
        self.drop_words(held, span);
        self.release(top);
        Ok(())
    }

    /// Moves rows by their distances, in steps of powers of two, the smallest first, so that no two rows collide. A place that a row
    /// left and no other reached holds anything, and does not move.
    ///
    /// *Errors*: a source that costs more than it may.
    fn move_to_front(&mut self, rows: &mut [Moving], span: Span) -> Result<(), SourceError> {
        let steps = width_of(ZERO, Number::from(rows.len().saturating_sub(1) as u64));
        for step in 0..steps {
            let by = 1usize << step;
            for place in 0..rows.len() {
                self.work(2 + rows[place].words.len())?;
                let goes = if place >= by { bit(rows[place].distance, 0) } else { Word::FALSE };
                let rest = beyond(rows[place].distance, 1);
                let rest = self.select(goes, Word::FALSE, rest, span);
                let Some(next) = rows.get(place + by).cloned() else {
                    rows[place].distance = rest;
                    continue;
                };
                let comes = bit(next.distance, 0);
                rows[place].distance = self.select(comes, beyond(next.distance, 1), rest, span);
                for (own, &word) in rows[place].words.iter_mut().zip(&next.words) {
                    *own = self.select(comes, word, *own, span);
                }
                self.cut();
            }
        }
        Ok(())
    }

    /// Charges the work of listing a sort's comparators, and returns the memory of the list in words.
    fn comparators(&mut self, count: usize) -> usize {
        let levels = count.next_power_of_two().trailing_zeros() as usize;
        let most = count.saturating_mul(levels * (levels + 1) / 4);
        self.trace.budget.work(most as u64);
        most.div_ceil(size_of::<Word>() / size_of::<(usize, usize)>())
    }

    /// The slot of the first row of an array or a list, and a mark for each row that exists.
    fn rows(&mut self, rows: &Expr, span: Span) -> Result<(Slot, Vec<Word>), SourceError> {
        let slot = self.place_or_value(rows)?;
        Ok(match &rows.ty {
            Ty::List(_, most) => (slot + 1, self.present(self.stack[slot], *most, span)),
            ty => (slot, vec![Word::TRUE; array_ty(ty).1 as usize]),
        })
    }
}

/// A row, and the number of places that it must move.
#[derive(Clone)]
struct Moving {
    distance: Word,
    words: Vec<Word>,
}
