//! Identifiers of pieces, and sets of them.

use std::{fmt, ops::Range};

use serde::{Deserialize, Serialize};

/// The number of a piece among those of its kind, the same on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PieceId(pub u64);

impl fmt::Display for PieceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The limit of identifiers. No count of pieces wraps around, whatever a peer claims to have used.
pub const IDS_MAX: u64 = 1 << 40;

/// A set of identifiers, kept as ranges.
///
/// *Cost*: its encoding takes two small integers per range. A decoded set is well-formed: ranges ascend, are not empty,
/// and do not touch.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Gaps", into = "Gaps")]
pub struct IdSet {
    /// Ascending, not empty, not touching.
    ranges: Vec<Range<u64>>,
}

/// The encoding of a set: for each range, its distance from the end of the last one, and its length.
#[derive(Serialize, Deserialize)]
struct Gaps(Vec<(u64, u64)>);

impl IdSet {
    /// The empty set.
    pub fn new() -> Self {
        IdSet::default()
    }

    /// `count` identifiers from `first` on. Those beyond the largest identifier are left out.
    pub fn range(first: PieceId, count: u64) -> Self {
        let end = first.0.saturating_add(count);
        IdSet { ranges: Some(first.0..end).filter(|range| !range.is_empty()).into_iter().collect() }
    }

    /// The number of identifiers.
    pub fn len(&self) -> u64 {
        self.ranges.iter().map(|r| r.end - r.start).sum()
    }

    /// Adds an identifier that is larger than all others.
    pub(crate) fn append(&mut self, id: PieceId) {
        match self.ranges.last_mut() {
            Some(last) if last.end == id.0 => last.end += 1,
            _ => self.ranges.push(id.0..id.0 + 1),
        }
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The number of ranges.
    pub(crate) fn range_count(&self) -> usize {
        self.ranges.len()
    }

    /// The ranges, ascending.
    pub fn ranges(&self) -> &[Range<u64>] {
        &self.ranges
    }

    /// The identifiers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = PieceId> + '_ {
        self.ranges.iter().cloned().flatten().map(PieceId)
    }

    /// Returns whether an identifier is in the set.
    pub fn contains(&self, id: PieceId) -> bool {
        let at = self.ranges.partition_point(|r| r.end <= id.0);
        self.ranges.get(at).is_some_and(|r| r.start <= id.0)
    }

    /// The `count` smallest identifiers, or all.
    pub fn first(&self, count: u64) -> IdSet {
        let mut left = count;
        let mut ranges = Vec::new();
        for range in &self.ranges {
            if left == 0 {
                break;
            }
            let end = range.end.min(range.start.saturating_add(left));
            left -= end - range.start;
            ranges.push(range.start..end);
        }
        IdSet { ranges }
    }

    /// The identifiers in both sets.
    pub fn intersection(&self, other: &IdSet) -> IdSet {
        let (mut left, mut right) = (self.ranges.iter().peekable(), other.ranges.iter().peekable());
        let mut ranges = Vec::new();
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            let (start, end) = (a.start.max(b.start), a.end.min(b.end));
            if start < end {
                ranges.push(start..end);
            }
            if a.end <= b.end {
                left.next();
            } else {
                right.next();
            }
        }
        IdSet { ranges }
    }

    /// Returns whether the sets have a common identifier.
    pub fn overlaps(&self, other: &IdSet) -> bool {
        let (few, many) = if self.ranges.len() < other.ranges.len() { (self, other) } else { (other, self) };
        few.ranges.iter().any(|range| {
            let at = many.ranges.partition_point(|r| r.end <= range.start);
            many.ranges.get(at).is_some_and(|r| r.start < range.end)
        })
    }

    /// The identifiers in `self` but not in `other`.
    pub fn difference(&self, other: &IdSet) -> IdSet {
        let mut ranges = Vec::new();
        let mut cuts = other.ranges.iter().peekable();
        for range in &self.ranges {
            let mut start = range.start;
            while let Some(cut) = cuts.peek().filter(|cut| cut.start < range.end) {
                if start < cut.start {
                    ranges.push(start..cut.start);
                }
                start = start.max(cut.end);
                if cut.end > range.end {
                    break;
                }
                cuts.next();
            }
            if start < range.end {
                ranges.push(start..range.end);
            }
        }
        IdSet { ranges }
    }

    /// The identifiers in either set.
    pub fn union(&self, other: &IdSet) -> IdSet {
        let mut all: Vec<_> = self.ranges.iter().chain(&other.ranges).cloned().collect();
        all.sort_unstable_by_key(|r| r.start);
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for range in all {
            match ranges.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => ranges.push(range),
            }
        }
        IdSet { ranges }
    }

    /// The longest ranges, at most `count` of them. Ties are broken by a function of the set.
    pub(crate) fn longest_ranges(&self, count: usize) -> IdSet {
        let mut ranges = self.ranges.clone();
        ranges.sort_by_key(|r| (std::cmp::Reverse(r.end - r.start), r.start));
        ranges.truncate(count);
        ranges.sort_unstable_by_key(|r| r.start);
        IdSet { ranges }
    }
}

impl FromIterator<PieceId> for IdSet {
    fn from_iter<I: IntoIterator<Item = PieceId>>(ids: I) -> Self {
        let mut ids: Vec<u64> = ids.into_iter().map(|id| id.0).filter(|&id| id < u64::MAX).collect();
        ids.sort_unstable();
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for id in ids {
            match ranges.last_mut() {
                Some(last) if id < last.end => {}
                Some(last) if id == last.end => last.end += 1,
                _ => ranges.push(id..id + 1),
            }
        }
        IdSet { ranges }
    }
}

impl fmt::Debug for IdSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// `none`, or ranges as in `0 to 9, 12`; if there are many, only the first few.
impl fmt::Display for IdSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 6;
        if self.is_empty() {
            return write!(f, "none");
        }
        for (i, range) in self.ranges.iter().take(SHOWN).enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            match range.end - range.start {
                1 => write!(f, "{separator}{}", range.start)?,
                _ => write!(f, "{separator}{} to {}", range.start, range.end - 1)?,
            }
        }
        match self.ranges.len() - self.ranges.len().min(SHOWN) {
            0 => Ok(()),
            more => write!(f, " and {more} more ranges"),
        }
    }
}

impl From<IdSet> for Gaps {
    fn from(set: IdSet) -> Self {
        let mut last = 0;
        let gap = |range: Range<u64>| {
            let gap = (range.start - last, range.end - range.start);
            last = range.end;
            gap
        };
        Gaps(set.ranges.into_iter().map(gap).collect())
    }
}

impl TryFrom<Gaps> for IdSet {
    type Error = &'static str;

    fn try_from(gaps: Gaps) -> Result<Self, Self::Error> {
        let mut ranges: Vec<Range<u64>> = Vec::with_capacity(gaps.0.len());
        let mut last = 0u64;
        for (gap, len) in gaps.0 {
            let start = last.checked_add(gap).ok_or("a range of identifiers is too large")?;
            last = start.checked_add(len).ok_or("a range of identifiers is too large")?;
            if len == 0 || (gap == 0 && !ranges.is_empty()) {
                return Err("a range of identifiers is empty, or touches the one before");
            }
            ranges.push(start..last);
        }
        Ok(IdSet { ranges })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn set() -> impl Strategy<Value = BTreeSet<u64>> {
        proptest::collection::btree_set(0u64..40, 0..40)
    }

    fn ids(set: &BTreeSet<u64>) -> IdSet {
        set.iter().copied().map(PieceId).collect()
    }

    proptest! {
        #[test]
        fn sets_of_ranges_are_sets(a in set(), b in set(), n in 0u64..40) {
            let (x, y) = (ids(&a), ids(&b));
            prop_assert_eq!(x.len(), a.len() as u64);
            prop_assert!(x.iter().map(|id| id.0).eq(a.iter().copied()));
            prop_assert_eq!(x.intersection(&y), ids(&(&a & &b)));
            prop_assert_eq!(x.overlaps(&y), !a.is_disjoint(&b));
            prop_assert_eq!(x.union(&y), ids(&(&a | &b)));
            prop_assert_eq!(x.difference(&y), ids(&(&a - &b)));
            prop_assert_eq!(x.first(n), ids(&a.iter().copied().take(n as usize).collect()));
            for id in 0..41 {
                prop_assert_eq!(x.contains(PieceId(id)), a.contains(&id));
            }
            let encoded = postcard::to_stdvec(&x).expect("encodes");
            prop_assert_eq!(postcard::from_bytes::<IdSet>(&encoded).expect("decodes"), x);
        }

        #[test]
        fn any_bytes_decode_to_a_set_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(set) = postcard::from_bytes::<IdSet>(&bytes) {
                prop_assert!(set.ranges.iter().all(|r| r.start < r.end));
                prop_assert!(set.ranges.windows(2).all(|w| w[0].end < w[1].start));
            }
        }
    }

    #[test]
    fn malformed_encodings_are_refused() {
        for gaps in [vec![(0, 0)], vec![(0, 2), (0, 1)], vec![(u64::MAX, 1)], vec![(1, u64::MAX)]] {
            let bytes = postcard::to_stdvec(&Gaps(gaps.clone())).expect("encodes");
            assert!(postcard::from_bytes::<IdSet>(&bytes).is_err(), "{gaps:?}");
        }
    }

    #[test]
    fn the_longest_ranges_are_kept_in_order() {
        let set: IdSet = [0, 2, 3, 5, 7, 8, 9].map(PieceId).into_iter().collect();
        assert_eq!(set.longest_ranges(2), [2, 3, 7, 8, 9].map(PieceId).into_iter().collect());
        assert_eq!(set.longest_ranges(9), set);
    }

    #[test]
    fn sets_print_briefly() {
        assert_eq!(IdSet::new().to_string(), "none");
        assert_eq!(IdSet::range(PieceId(3), 1).union(&IdSet::range(PieceId(5), 3)).to_string(), "3, 5 to 7");
        let many: IdSet = (0..20).map(|i| PieceId(2 * i)).collect();
        assert_eq!(many.to_string(), "0, 2, 4, 6, 8, 10 and 14 more ranges");
        assert_eq!(IdSet::range(PieceId(u64::MAX), 5), IdSet::new());
    }
}
