//! The usable part of a store: sets of identifiers from which pieces are chosen.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::library::TypeId;

/// A kind of prepared piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// 64 correlated OTs.
    Transfers,
    /// A single garbled component.
    Single(TypeId),
    /// The links of a template, by its number in the library.
    Template(u32),
    /// A garbled cell of a template; cell `c` of template `t` is piece `t cells + c`.
    Cell(u32),
}

/// A set of identifiers, in ranges.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ids {
    /// End of each range by its start.
    ranges: BTreeMap<u64, u64>,
}

impl Ids {
    /// The identifiers in ascending ranges that do not touch.
    pub(crate) fn new(ranges: impl IntoIterator<Item = Range<u64>>) -> Self {
        Ids { ranges: ranges.into_iter().filter(|r| !r.is_empty()).map(|r| (r.start, r.end)).collect() }
    }

    pub(crate) fn contains(&self, id: u64) -> bool {
        self.range_of(id).is_some()
    }

    /// Removes an identifier. Returns whether it was there.
    pub(crate) fn take(&mut self, id: u64) -> bool {
        let Some(Range { start, end }) = self.range_of(id) else { return false };
        self.ranges.remove(&start);
        if start < id {
            self.ranges.insert(start, id);
        }
        if id + 1 < end {
            self.ranges.insert(id + 1, end);
        }
        true
    }

    /// The identifiers in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.ranges.iter().flat_map(|(start, end)| *start..*end)
    }

    /// The identifiers in ascending order, without the ranges that `skip` gives.
    pub(crate) fn but(&self, skip: impl Fn(u64) -> Option<u64>) -> Vec<u64> {
        let mut all = Vec::new();
        for (start, end) in &self.ranges {
            let mut id = *start;
            while id < *end {
                match skip(id) {
                    Some(later) => id = later.max(id + 1),
                    None => {
                        all.push(id);
                        id += 1;
                    }
                }
            }
        }
        all
    }

    fn range_of(&self, id: u64) -> Option<Range<u64>> {
        let (start, end) = self.ranges.range(..=id).next_back()?;
        (id < *end).then_some(*start..*end)
    }
}

/// The usable pieces of both stores.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stock {
    ids: BTreeMap<Kind, Ids>,
}

impl Stock {
    /// Sets the pieces of a kind.
    pub(crate) fn set(&mut self, kind: Kind, ids: Ids) {
        self.ids.insert(kind, ids);
    }

    pub(crate) fn of(&self, kind: Kind) -> Option<&Ids> {
        self.ids.get(&kind)
    }

    pub(crate) fn contains(&self, kind: Kind, id: u64) -> bool {
        self.of(kind).is_some_and(|ids| ids.contains(id))
    }

    /// Removes a piece. Returns whether it was there.
    pub(crate) fn take(&mut self, kind: Kind, id: u64) -> bool {
        self.ids.get_mut(&kind).is_some_and(|ids| ids.take(id))
    }

    /// The cells of templates whose links are used or lost.
    pub(crate) fn without_template(&self, template: u32, cells: u64) -> Vec<u64> {
        let has_template = |id: u64| self.contains(Kind::Template(template), id / cells);
        // All cells of a template at once.
        let skip = |id: u64| has_template(id).then(|| (id / cells + 1) * cells);
        self.of(Kind::Cell(template)).map(|ids| ids.but(skip)).unwrap_or_default()
    }

    pub(crate) fn first(&self, kind: Kind) -> Option<u64> {
        self.of(kind)?.iter().next()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranges_are_a_set(takes in proptest::collection::vec(0u64..40, 0..60)) {
            let mut ids = Ids::new([3..9, 12..13, 20..35]);
            let mut plain: BTreeSet<u64> = (3..9).chain(12..13).chain(20..35).collect();
            for id in takes {
                prop_assert_eq!(ids.contains(id), plain.contains(&id));
                prop_assert_eq!(ids.take(id), plain.remove(&id));
                prop_assert!(ids.iter().eq(plain.iter().copied()));
            }
        }
    }

    #[test]
    fn nothing_is_taken_twice_or_from_nowhere() {
        let mut stock = Stock::default();
        let kind = Kind::Single(TypeId(0));
        assert!(!stock.take(kind, 0));
        stock.set(kind, Ids::new(std::iter::once(0..1)));
        assert!(stock.take(kind, 0));
        assert!(!stock.take(kind, 0));
        assert_eq!(stock.first(kind), None);
    }
}
