//! Freeing space: remaining pieces of segments move together.

use std::collections::{BTreeMap, BTreeSet};

use crate::edit::{Edit, Fate};
use crate::error::StoreError;
use crate::ids::IdSet;
use crate::kind::KindDigest;
use crate::rows::Extent;
use crate::segment::{Extents, HEAD_BYTES};
use crate::store::Store;

/// Segments shorter than this are joined, even if all their pieces are available.
const SMALL_BYTES: u64 = 1 << 20;

/// The result of [`Store::compact`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Bytes of all segments before.
    pub bytes_before: u64,
    /// Bytes of all segments after.
    pub bytes_after: u64,
    /// Pieces that were found damaged and discarded.
    pub damaged: u64,
}

impl Store {
    /// Moves pieces out of segments in which others are gone, and removes these segments. Joins small segments. Reports the bytes done and the total to
    /// `progress`.
    ///
    /// *Cost*: reads and writes the remaining pieces of those segments. A crash loses nothing.
    ///
    /// *Errors*: files that cannot be read or written; [`StoreError::OtherProcess`].
    pub fn compact(&mut self, progress: &mut dyn FnMut(u64, u64)) -> Result<Compacted, StoreError> {
        self.index.check_process()?;
        // The segment being filled may move as well.
        self.writers.clear();
        let mut compacted = Compacted { bytes_before: self.segment_bytes(), ..Compacted::default() };
        let loose = self.loose_segments();
        let total = loose.values().flatten().filter_map(|number| self.segments.get(number)).map(|s| s.row.bytes).sum();
        let mut done = 0;
        for (digest, numbers) in loose {
            for number in numbers {
                done += self.segments.get(&number).map_or(0, |segment| segment.row.bytes);
                compacted.damaged += self.move_out(digest, number)?;
                progress(done, total);
            }
        }
        self.writers.clear();
        self.index.compact()?;
        compacted.bytes_after = self.segment_bytes();
        Ok(compacted)
    }

    /// The segments that are worth moving, by their kind.
    fn loose_segments(&self) -> BTreeMap<KindDigest, BTreeSet<u64>> {
        let mut loose: BTreeMap<KindDigest, BTreeSet<u64>> = BTreeMap::new();
        for (digest, extents) in &self.extents {
            let Some(row) = self.kinds.get(digest) else { continue };
            let mut left: BTreeMap<u64, u64> = BTreeMap::new();
            for extent in extents.values() {
                let bytes: u64 = extent.runs_of(&row.available).map(|(len, count)| len * count).sum();
                *left.entry(extent.segment).or_default() += bytes;
            }
            let length = |number: &u64| self.segments.get(number).map_or(0, |segment| segment.row.bytes);
            let small = left.keys().filter(|number| length(number) < SMALL_BYTES).count();
            let is_loose = |number: &u64, left: u64| {
                left + (HEAD_BYTES as u64) < length(number) || (small > 1 && length(number) < SMALL_BYTES)
            };
            let numbers = left.iter().filter(|(number, left)| is_loose(number, **left)).map(|(number, _)| *number);
            loose.insert(*digest, numbers.collect());
        }
        loose
    }

    /// Moves the remaining pieces of a segment to the one that is being filled. Returns the number of damaged pieces.
    fn move_out(&mut self, digest: KindDigest, number: u64) -> Result<u64, StoreError> {
        let Some(row) = self.kinds.get(&digest).cloned() else { return Ok(0) };
        let extents = self.extents.get(&digest).into_iter().flat_map(BTreeMap::values);
        let old: Vec<Extent> = extents.filter(|extent| extent.segment == number).cloned().collect();
        let within = old.iter().fold(IdSet::new(), |ids, extent| ids.union(&extent.ids()));
        let left = within.intersection(&row.available);
        let pieces = self.locate(&row.kind, &left)?;
        let mut writer = match self.writers.remove(&digest) {
            Some(writer) if !writer.is_full() => writer,
            _ => self.new_segment()?,
        };
        let (mut extents, mut damaged) = (Extents::default(), Vec::new());
        for (id, piece) in left.iter().zip(pieces) {
            match piece {
                Ok(piece) => {
                    let len = u32::try_from(piece.bytes.len()).map_err(|_| StoreError::Broken)?;
                    extents.add(digest, id.0, len, &writer);
                    writer.push(&digest, id.0, &piece.bytes)?;
                }
                Err(StoreError::Damaged { .. }) => damaged.push(id),
                Err(error) => return Err(error),
            }
        }
        let mut edit = Edit::new(self);
        edit.new_extents = extents.into_list();
        let has_moved = !edit.new_extents.is_empty();
        if has_moved {
            let is_new = !self.segments.contains_key(&writer.number());
            edit.new_segments.insert(writer.number(), writer.sync()?);
            if is_new {
                self.dir.sync_names()?;
            }
        }
        let damaged: IdSet = damaged.into_iter().collect();
        edit.withdraw(self, digest, &damaged, Fate::Dropped);
        edit.gone_extents.extend(old.iter().map(|extent| (digest, extent.first)));
        self.apply_unrecorded(edit)?;
        if has_moved {
            self.writers.insert(digest, writer);
        }
        Ok(damaged.len())
    }
}
