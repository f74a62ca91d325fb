//! The contents of the index's rows.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::binding::Binding;
use crate::ids::IdSet;
use crate::kind::{Kind, KindDigest};
use crate::seal::TAG_BYTES;

/// The row that authenticates all others.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Head {
    /// The number of times that the index was changed.
    pub(crate) changes: u64,
    /// Random names of the last recorded change and of the one before. Two copies that have both been used since differ in them.
    pub(crate) last: [u8; 16],
    pub(crate) before: [u8; 16],
    pub(crate) binding: Option<Binding>,
    /// The peers' stores as they were at the last meeting, in the order of the peers.
    pub(crate) peers: Vec<PeerSeen>,
    /// The number of the next segment.
    pub(crate) next_segment: u64,
    /// The sum of the marks of all other rows.
    pub(crate) rows: [u8; 32],
}

/// A peer's store as known from the last meeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PeerSeen {
    pub(crate) store: [u8; 16],
    pub(crate) changes: u64,
}

/// A kind, and its pieces.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct KindRow {
    pub(crate) kind: Kind,
    /// The smallest identifier that was never used, here or by the peer.
    pub(crate) next: u64,
    pub(crate) available: IdSet,
    pub(crate) consumed: u64,
    pub(crate) dropped: u64,
}

impl KindRow {
    /// Decodes a row, if its parts are consistent.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let row: KindRow = decode(bytes)?;
        row.available.ranges().last().is_none_or(|range| range.end <= row.next).then_some(row)
    }

    pub(crate) fn new(kind: Kind) -> Self {
        KindRow { kind, next: 0, available: IdSet::new(), consumed: 0, dropped: 0 }
    }
}

/// Pieces of one kind with consecutive identifiers, adjacent in a segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Extent {
    pub(crate) kind: KindDigest,
    pub(crate) segment: u64,
    pub(crate) first: u64,
    pub(crate) offset: u64,
    /// Lengths of the pieces: each length, with the number of consecutive pieces that have it.
    pub(crate) runs: Vec<(u32, u32)>,
}

/// The location of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) id: u64,
    pub(crate) offset: u64,
    /// The length of the piece in bytes. Sealed, it is longer by a tag.
    pub(crate) len: u32,
}

impl Location {
    pub(crate) fn sealed_len(&self) -> usize {
        self.len as usize + TAG_BYTES
    }
}

/// The places of adjacent pieces with consecutive identifiers and the same length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The first identifier.
    pub(crate) next: Location,
    pub(crate) count: u64,
}

impl Iterator for Stretch {
    type Item = Location;

    fn next(&mut self) -> Option<Location> {
        self.count = self.count.checked_sub(1)?;
        let here = self.next;
        self.next = Location { id: here.id + 1, offset: here.offset + here.sealed_len() as u64, ..here };
        Some(here)
    }
}

impl Extent {
    /// Decodes a row whose identifiers and places are within bounds.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let extent: Extent = decode(bytes)?;
        let (mut id, mut offset) = (extent.first, extent.offset);
        for &(len, count) in &extent.runs {
            id = id.checked_add(count.into())?;
            offset = offset.checked_add((u64::from(len) + TAG_BYTES as u64).checked_mul(count.into())?)?;
        }
        Some(extent)
    }

    pub(crate) fn new(kind: KindDigest, segment: u64, first: u64, offset: u64) -> Self {
        Extent { kind, segment, first, offset, runs: Vec::new() }
    }

    pub(crate) fn count(&self) -> u64 {
        self.runs.iter().map(|&(_, count)| u64::from(count)).sum()
    }

    pub(crate) fn ids(&self) -> IdSet {
        IdSet::range(crate::PieceId(self.first), self.count())
    }

    /// Adds a piece after the others.
    pub(crate) fn push(&mut self, len: u32) {
        match self.runs.last_mut() {
            Some((last, count)) if *last == len && *count < u32::MAX => *count += 1,
            _ => self.runs.push((len, 1)),
        }
    }

    /// Sealed lengths of the pieces of `ids` that are in the extent, and the number of pieces of each length.
    pub(crate) fn runs_of<'a>(&'a self, ids: &'a IdSet) -> impl Iterator<Item = (u64, u64)> + 'a {
        let mut first = self.first;
        self.runs.iter().map(move |&(len, count)| {
            let run = IdSet::range(crate::PieceId(first), count.into());
            first += u64::from(count);
            (u64::from(len) + TAG_BYTES as u64, ids.intersection(&run).len())
        })
    }

    /// The places of the pieces of `ids` that are in the extent, ascending.
    pub(crate) fn stretches(&self, ids: &IdSet) -> Vec<Stretch> {
        let mut found = Vec::new();
        let (mut first, mut offset) = (self.first, self.offset);
        for &(len, count) in &self.runs {
            let stride = u64::from(len) + TAG_BYTES as u64;
            let here = ids.intersection(&IdSet::range(crate::PieceId(first), count.into()));
            found.extend(here.ranges().iter().map(|ids| {
                let next = Location { id: ids.start, offset: offset + (ids.start - first) * stride, len };
                Stretch { next, count: ids.end - ids.start }
            }));
            first += u64::from(count);
            offset += u64::from(count) * stride;
        }
        found
    }
}

/// A file of pieces.
#[derive(Clone, Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub(crate) struct SegmentRow {
    /// *Secret*.
    pub(crate) key: [u8; 32],
    /// The least length of the file. Bytes after it were never completed.
    pub(crate) bytes: u64,
}

/// A small secret of a protocol, for instance the global difference of all labels, a seed, or a counter.
#[derive(Clone, Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub struct State {
    /// The version of the encoding, for the protocol's use.
    pub version: u32,
    /// *Secret*; wiped on drop.
    pub bytes: Vec<u8>,
}

/// The names of rows.
pub(crate) mod name {
    use crate::kind::KindDigest;

    pub(crate) const HEAD: &[u8] = b"H";

    pub(crate) fn kind(digest: &KindDigest) -> Vec<u8> {
        [b"K", &digest.0[..]].concat()
    }

    pub(crate) fn extent(segment: u64, offset: u64) -> Vec<u8> {
        [b"E", &segment.to_be_bytes()[..], &offset.to_be_bytes()].concat()
    }

    pub(crate) fn segment(number: u64) -> Vec<u8> {
        [b"G", &number.to_be_bytes()[..]].concat()
    }

    pub(crate) fn state(name: &str) -> Vec<u8> {
        [b"S", name.as_bytes()].concat()
    }
}

impl State {
    /// The encoding of a value as a state.
    ///
    /// # Panics
    /// If the value contains sequences of unknown length.
    pub fn encoded(version: u32, value: &impl Serialize) -> Self {
        State { version, bytes: std::mem::take(&mut *encode(value)) }
    }
}

/// The encoding of a value, in a buffer of the final size: a vector that grows would leave copies of secrets behind.
pub(crate) fn encode(value: &impl Serialize) -> Zeroizing<Vec<u8>> {
    const KNOWN: &str = "what is stored has known lengths";
    let room = Vec::with_capacity(postcard::experimental::serialized_size(value).expect(KNOWN));
    Zeroizing::new(postcard::to_extend(value, room).expect(KNOWN))
}

/// Decodes a row, which must not have further bytes.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    match postcard::take_from_bytes(bytes) {
        Ok((row, [])) => Some(row),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn places(stretches: Vec<Stretch>) -> Vec<Location> {
        stretches.into_iter().flatten().collect()
    }

    proptest! {
        #[test]
        fn pieces_are_found_at_their_places(lens in proptest::collection::vec(0u32..4, 1..40), first in 0u64..9) {
            let kind = Kind::new("k", b"").digest();
            let mut extent = Extent::new(kind, 0, first, 100);
            let mut expected = Vec::new();
            let mut offset = 100;
            for (id, &len) in (first..).zip(&lens) {
                extent.push(len);
                expected.push(Location { id, offset, len });
                offset += u64::from(len) + 16;
            }
            prop_assert_eq!(places(extent.stretches(&extent.ids())), expected.clone());
            let odd: IdSet = (0..60).filter(|i| i % 2 == 1).map(crate::PieceId).collect();
            expected.retain(|l| l.id % 2 == 1);
            prop_assert_eq!(places(extent.stretches(&odd)), expected);
        }
    }

    #[test]
    fn rows_beyond_bounds_are_refused() {
        let kind = Kind::new("k", b"");
        let mut extent = Extent::new(kind.digest(), 0, 5, 32);
        extent.push(100);
        assert_eq!(Extent::decode(&encode(&extent)), Some(extent.clone()));
        for (first, offset) in [(u64::MAX, 32), (5, u64::MAX - 100)] {
            assert_eq!(Extent::decode(&encode(&Extent { first, offset, ..extent.clone() })), None);
        }
        let row = KindRow { next: 3, available: IdSet::range(crate::PieceId(0), 4), ..KindRow::new(kind) };
        assert!(KindRow::decode(&encode(&row)).is_none());
        assert!(KindRow::decode(&encode(&KindRow { next: 4, ..row })).is_some());
    }

    #[test]
    fn a_row_with_extra_bytes_is_refused() {
        let mut bytes = encode(&PeerSeen { store: [1; 16], changes: 300 }).to_vec();
        assert!(decode::<PeerSeen>(&bytes).is_some());
        assert!(decode::<PeerSeen>(&bytes[..bytes.len() - 1]).is_none());
        bytes.push(0);
        assert!(decode::<PeerSeen>(&bytes).is_none());
    }
}
