//! A change of a store, which becomes durable as a whole, and only then visible in memory.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::StoreError;
use crate::ids::IdSet;
use crate::index::Rows;
use crate::kind::KindDigest;
use crate::rows::{Extent, Head, KindRow, SegmentRow, State, encode, name};
use crate::store::{STATE_BYTES_MAX, Segment, Store};

/// The fate of a piece that can no longer be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Consumed,
    Dropped,
}

/// The rows to change.
pub(crate) struct Edit {
    pub(crate) head: Head,
    pub(crate) kinds: BTreeMap<KindDigest, KindRow>,
    pub(crate) states: BTreeMap<String, State>,
    pub(crate) gone_states: Vec<String>,
    pub(crate) new_extents: Vec<Extent>,
    pub(crate) new_segments: BTreeMap<u64, SegmentRow>,
    /// Extents to remove, by kind and first identifier.
    pub(crate) gone_extents: BTreeSet<(KindDigest, u64)>,
}

impl Edit {
    pub(crate) fn new(store: &Store) -> Self {
        Edit {
            head: store.head.clone(),
            kinds: BTreeMap::new(),
            states: BTreeMap::new(),
            gone_states: Vec::new(),
            new_extents: Vec::new(),
            new_segments: BTreeMap::new(),
            gone_extents: BTreeSet::new(),
        }
    }

    /// The row of an existing kind, for changes.
    pub(crate) fn kind(&mut self, store: &Store, digest: KindDigest) -> Option<&mut KindRow> {
        if let std::collections::btree_map::Entry::Vacant(entry) = self.kinds.entry(digest) {
            entry.insert(store.kinds.get(&digest)?.clone());
        }
        self.kinds.get_mut(&digest)
    }

    /// Marks available pieces as taken or lost, and removes extents that become empty.
    pub(crate) fn withdraw(&mut self, store: &Store, digest: KindDigest, ids: &IdSet, fate: Fate) {
        let Some(row) = self.kind(store, digest) else { return };
        row.available = row.available.difference(ids);
        match fate {
            Fate::Consumed => row.consumed += ids.len(),
            Fate::Dropped => row.dropped += ids.len(),
        }
        let available = row.available.clone();
        for extent in store.extents_of(digest, ids) {
            if extent.ids().intersection(&available).is_empty() {
                self.gone_extents.insert((digest, extent.first));
            }
        }
    }

    pub(crate) fn set_state(&mut self, name: &str, state: State) -> Result<(), StoreError> {
        if state.bytes.len() > STATE_BYTES_MAX {
            let what = format!("state `{name}`");
            return Err(StoreError::TooLarge { what, got: state.bytes.len(), max: STATE_BYTES_MAX });
        }
        self.states.insert(name.into(), state);
        Ok(())
    }

    /// The segments that are empty after this change.
    fn gone_segments(&self, store: &Store) -> Vec<u64> {
        let mut gone: BTreeMap<u64, usize> = BTreeMap::new();
        for key in &self.gone_extents {
            if let Some(extent) = store.extents.get(&key.0).and_then(|extents| extents.get(&key.1)) {
                *gone.entry(extent.segment).or_default() += 1;
            }
        }
        let kept: BTreeSet<u64> = self.new_extents.iter().map(|extent| extent.segment).collect();
        let is_empty = |number: &u64, count: usize| store.segments.get(number).is_some_and(|s| s.extents == count);
        gone.into_iter().filter(|(n, count)| !kept.contains(n) && is_empty(n, *count)).map(|(n, _)| n).collect()
    }

    fn rows(&self, store: &Store, gone_segments: &[u64]) -> Rows {
        let mut rows = Rows::default();
        self.kinds.iter().for_each(|(digest, row)| rows.put(name::kind(digest), encode(row)));
        self.states.iter().for_each(|(state, row)| rows.put(name::state(state), encode(row)));
        self.gone_states.iter().for_each(|state| rows.remove(name::state(state)));
        for (digest, first) in &self.gone_extents {
            if let Some(extent) = store.extents.get(digest).and_then(|extents| extents.get(first)) {
                rows.remove(name::extent(extent.segment, extent.offset));
            }
        }
        self.new_extents.iter().for_each(|e| rows.put(name::extent(e.segment, e.offset), encode(e)));
        self.new_segments.iter().for_each(|(number, row)| rows.put(name::segment(*number), encode(row)));
        gone_segments.iter().for_each(|number| rows.remove(name::segment(*number)));
        rows
    }
}

impl Store {
    /// Makes a change and its record durable, then applies it in memory.
    ///
    /// *Errors*: if the change may or may not have been made, all further calls fail until the store is opened again.
    pub(crate) fn apply(&mut self, mut edit: Edit) -> Result<(), StoreError> {
        (edit.head.before, edit.head.last) = (edit.head.last, self.index.change_name());
        let gone = self.change(edit)?;
        let recorded = self.write_record();
        self.remove_segments(gone);
        recorded
    }

    /// The same without a record, for changes whose loss gives no piece out twice: adding or moving pieces.
    pub(crate) fn apply_unrecorded(&mut self, edit: Edit) -> Result<(), StoreError> {
        let gone = self.change(edit)?;
        self.remove_segments(gone);
        Ok(())
    }

    /// Makes a change durable, then applies it in memory. Returns the segments that are empty now.
    fn change(&mut self, mut edit: Edit) -> Result<Vec<u64>, StoreError> {
        let gone_segments = edit.gone_segments(self);
        let rows = edit.rows(self, &gone_segments);
        self.index.change(&mut edit.head, rows)?;
        self.head = edit.head;
        self.kinds.append(&mut edit.kinds);
        self.states.append(&mut edit.states);
        edit.gone_states.iter().for_each(|state| _ = self.states.remove(state));
        for (digest, first) in &edit.gone_extents {
            if let Some(extent) = self.extents.get_mut(digest).and_then(|extents| extents.remove(first))
                && let Some(segment) = self.segments.get_mut(&extent.segment)
            {
                segment.extents -= 1;
            }
        }
        for (number, row) in edit.new_segments {
            let extents = self.segments.get(&number).map_or(0, |segment| segment.extents);
            self.segments.insert(number, Segment { row, extents });
        }
        for extent in edit.new_extents {
            if let Some(segment) = self.segments.get_mut(&extent.segment) {
                segment.extents += 1;
            }
            self.extents.entry(extent.kind).or_default().insert(extent.first, extent);
        }
        Ok(gone_segments)
    }

    fn remove_segments(&mut self, gone: Vec<u64>) {
        for number in gone {
            self.segments.remove(&number);
            self.writers.retain(|_, writer| writer.number() != number);
            self.dir.remove_segment(number);
        }
    }

    /// The extents of a kind that contain some of these pieces, ascending.
    pub(crate) fn extents_of<'a>(&'a self, digest: KindDigest, ids: &'a IdSet) -> impl Iterator<Item = &'a Extent> {
        let extents = self.extents.get(&digest);
        let first = ids.ranges().first().map_or(0, |range| range.start);
        let end = ids.ranges().last().map_or(0, |range| range.end);
        let from = extents.and_then(|e| e.range(..=first).next_back()).map_or(first, |(&start, _)| start);
        let within = extents.into_iter().flat_map(move |extents| extents.range(from..end.max(from)));
        within.map(|(_, extent)| extent).filter(|extent| extent.ids().overlaps(ids))
    }
}
