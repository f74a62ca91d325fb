//! Filling a store: pieces in batches, each either durable as a whole or absent.

use std::collections::BTreeMap;

use crate::edit::Edit;
use crate::error::StoreError;
use crate::ids::{IDS_MAX, PieceId};
use crate::kind::{Kind, KindDigest};
use crate::rows::{KindRow, SegmentRow, State};
use crate::scratch::Scratch;
use crate::segment::{Extents, SegmentWriter};
use crate::store::{KINDS_MAX, STATE_BYTES_MAX, Store};

/// The longest piece.
pub const PIECE_BYTES_MAX: usize = 1 << 30;

/// Pieces that become durable together. Dropped without [`commit`](Batch::commit), it leaves nothing behind.
///
/// Pieces of several kinds may be pushed in any order; for each kind their identifiers ascend.
///
/// *Cost*: 16 bytes on disk per piece in addition to the piece, and about 60 per kind and batch. A commit waits for the disk once for each kind and once for the
/// index, so make batches of several megabytes.
pub struct Batch<'a> {
    store: &'a mut Store,
    kinds: BTreeMap<KindDigest, Filling>,
    states: Vec<(String, State)>,
    /// Segments that the batch has filled.
    full: Vec<SegmentWriter>,
    committed: bool,
}

/// The pieces of one kind that a batch adds.
struct Filling {
    row: KindRow,
    extents: Extents,
}

impl Store {
    /// Starts a segment. Its number is never reused, even if the batch fails. If the process crashes, the next opening removes its file.
    pub(crate) fn new_segment(&mut self) -> Result<SegmentWriter, StoreError> {
        let (number, row_key) = (self.head.next_segment, self.index.segment_key());
        let writer = SegmentWriter::create(&mut self.dir, &self.id, number, row_key)?;
        self.head.next_segment += 1;
        Ok(writer)
    }

    /// Begins a batch.
    pub fn batch(&mut self) -> Batch<'_> {
        Batch { store: self, kinds: BTreeMap::new(), states: Vec::new(), full: Vec::new(), committed: false }
    }
}

impl Batch<'_> {
    /// Adds a piece.
    ///
    /// *Unique*: an identifier is used once per kind and pair of stores, even after the piece was taken.
    ///
    /// *Errors*: [`StoreError::IdUsed`] for an identifier below [`Store::next_id`] or the last of this batch, or beyond [`IDS_MAX`];
    /// [`StoreError::TooLarge`] beyond [`PIECE_BYTES_MAX`]; [`StoreError::OtherProcess`].
    pub fn push(&mut self, kind: &Kind, id: PieceId, piece: &[u8]) -> Result<(), StoreError> {
        self.store.index.check_process()?;
        let digest = kind.digest();
        let rows = &self.store.kinds;
        let is_new = |digest| !rows.contains_key(digest);
        if is_new(&digest)
            && !self.kinds.contains_key(&digest)
            && rows.len() + self.kinds.keys().filter(|digest| is_new(digest)).count() >= KINDS_MAX
        {
            return Err(StoreError::TooManyKinds { max: KINDS_MAX });
        }
        let filling = self.kinds.entry(digest).or_insert_with(|| Filling {
            row: rows.get(&digest).cloned().unwrap_or_else(|| KindRow::new(kind.clone())),
            extents: Extents::default(),
        });
        if id.0 < filling.row.next || id.0 >= IDS_MAX {
            return Err(StoreError::IdUsed { kind: kind.clone(), expected: PieceId(filling.row.next), got: id });
        }
        let len = match u32::try_from(piece.len()) {
            Ok(len) if piece.len() <= PIECE_BYTES_MAX => len,
            _ => {
                let what = format!("piece {id} of {kind}");
                return Err(StoreError::TooLarge { what, got: piece.len(), max: PIECE_BYTES_MAX });
            }
        };
        let writer = writer(self.store, &mut self.full, digest)?;
        filling.extents.add(digest, id.0, len, writer);
        filling.row.next = id.0 + 1;
        filling.row.available.append(id);
        writer.push(&digest, id.0, piece)
    }

    /// The next unused identifier of a kind.
    pub fn next_id(&self, kind: &Kind) -> PieceId {
        match self.kinds.get(&kind.digest()) {
            Some(filling) => PieceId(filling.row.next),
            None => self.store.next_id(kind),
        }
    }

    /// Temporary room beside the store for the material of pieces, as [`Store::scratch`].
    ///
    /// *Errors*: the disk's.
    pub fn scratch(&mut self, streams: usize, memory: usize) -> Result<Scratch, StoreError> {
        self.store.scratch(streams, memory)
    }

    /// Saves a state together with the pieces.
    ///
    /// *Errors*: [`StoreError::TooLarge`] beyond 64 MiB.
    pub fn set_state(&mut self, name: &str, state: State) -> Result<(), StoreError> {
        if state.bytes.len() > STATE_BYTES_MAX {
            let what = format!("state `{name}`");
            return Err(StoreError::TooLarge { what, got: state.bytes.len(), max: STATE_BYTES_MAX });
        }
        self.states.push((name.into(), state));
        Ok(())
    }

    /// Saves a state at once, even if the batch fails.
    ///
    /// *Errors*: as [`Store::set_state`].
    pub fn set_state_now(&mut self, name: &str, state: State) -> Result<(), StoreError> {
        self.store.set_state(name, state)
    }

    /// Makes the batch durable.
    pub fn commit(mut self) -> Result<(), StoreError> {
        let segments = self.sync()?;
        let mut edit = Edit::new(self.store);
        edit.new_segments = segments;
        for (name, state) in self.states.drain(..) {
            edit.states.insert(name, state);
        }
        for (digest, filling) in std::mem::take(&mut self.kinds) {
            edit.kinds.insert(digest, filling.row);
            edit.new_extents.extend(filling.extents.into_list());
        }
        self.store.apply_unrecorded(edit)?;
        self.committed = true;
        Ok(())
    }

    /// Writes first the pieces, then the rows that refer to them.
    fn sync(&mut self) -> Result<BTreeMap<u64, SegmentRow>, StoreError> {
        let mut rows = BTreeMap::new();
        for writer in &mut self.full {
            rows.insert(writer.number(), writer.sync()?);
        }
        for digest in self.kinds.keys() {
            if let Some(writer) = self.store.writers.get_mut(digest) {
                rows.insert(writer.number(), writer.sync()?);
            }
        }
        if rows.keys().any(|number| !self.store.segments.contains_key(number)) {
            self.store.dir.sync_names()?;
        }
        Ok(rows)
    }
}

impl Drop for Batch<'_> {
    /// A segment with pieces of a failed batch is never continued, because places in it were sealed.
    fn drop(&mut self) {
        if !self.committed {
            self.store.writers.retain(|digest, _| !self.kinds.contains_key(digest));
        }
    }
}

/// The writer for a kind. It is new if there is none or its segment is full.
fn writer<'a>(
    store: &'a mut Store,
    full: &mut Vec<SegmentWriter>,
    digest: KindDigest,
) -> Result<&'a mut SegmentWriter, StoreError> {
    if store.writers.get(&digest).is_some_and(SegmentWriter::is_full)
        && let Some(writer) = store.writers.remove(&digest)
    {
        full.push(writer);
    }
    if !store.writers.contains_key(&digest) {
        let writer = store.new_segment()?;
        store.writers.insert(digest, writer);
    }
    store.writers.get_mut(&digest).ok_or(StoreError::Broken)
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;

    #[test]
    fn a_store_has_a_bounded_number_of_kinds() {
        let mut store = Store::in_memory(&mut StdRng::seed_from_u64(1)).expect("made");
        let kind = |number: usize| Kind::new("kind", &number.to_le_bytes());
        let mut push = |kinds: std::ops::Range<usize>, last: [usize; 2]| {
            let mut batch = store.batch();
            kinds.for_each(|number| batch.push(&kind(number), PieceId(0), b"").expect("room"));
            let pushed = last.map(|number| {
                let id = batch.next_id(&kind(number));
                batch.push(&kind(number), id, b"")
            });
            batch.commit().expect("durable");
            pushed
        };
        // Of the store, of the batch, and neither.
        assert!(push(0..KINDS_MAX / 2, [0, 1]).iter().all(Result::is_ok));
        let [known, new] = push(KINDS_MAX / 2..KINDS_MAX, [KINDS_MAX - 1, KINDS_MAX]);
        assert!(known.is_ok() && matches!(new, Err(StoreError::TooManyKinds { max: KINDS_MAX })), "{new:?}");
        let [known, new] = push(0..0, [0, KINDS_MAX]);
        assert!(known.is_ok() && matches!(new, Err(StoreError::TooManyKinds { max: KINDS_MAX })), "{new:?}");
    }

    #[test]
    fn a_state_has_a_longest_length() {
        let mut store = Store::in_memory(&mut StdRng::seed_from_u64(1)).expect("made");
        let mut set = |len| store.batch().set_state("state", State { version: 1, bytes: vec![0; len] });
        assert!(set(STATE_BYTES_MAX).is_ok());
        let refused = set(STATE_BYTES_MAX + 1);
        assert!(matches!(refused, Err(StoreError::TooLarge { max: STATE_BYTES_MAX, .. })), "{refused:?}");
    }
}
