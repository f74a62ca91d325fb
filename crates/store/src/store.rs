//! A store: opening it, its contents, and the single way to change it.

use std::collections::BTreeMap;
use std::path::Path;

use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::binding::Binding;
use crate::edit::Edit;
use crate::error::StoreError;
use crate::fail_points::FailPoints;
use crate::ids::{IdSet, PieceId};
use crate::index::{Contents, Index, Unopened};
use crate::key::StoreKey;
use crate::kind::{Kind, KindDigest};
use crate::record::Record;
use crate::rows::{Extent, Head, KindRow, SegmentRow, State, decode};
use crate::seal::Sealer;
use crate::segment::SegmentWriter;
use crate::store_dir::StoreDir;

/// The largest state of a store, in bytes.
pub const STATE_BYTES_MAX: usize = 1 << 26;

/// The most kinds that a store has.
pub const KINDS_MAX: usize = 1 << 12;

/// One-time material of one party, for one peer.
///
/// Fill it with [`batch`](Store::batch), take pieces with [`take`](Store::take), and compare it with the peer's by
/// [`reconcile`](Store::reconcile). Every method that changes the store returns when the change is durable, but [`bind`](Store::bind). A crash at
/// any point leaves it as it was before or after the change. Calls block on the disk.
pub struct Store {
    /// The record outside the folder, if there is one. It and the index are released before the folder, so they are free when the folder's lock is.
    pub(crate) record: Option<Record>,
    pub(crate) index: Index,
    pub(crate) dir: StoreDir,
    pub(crate) id: [u8; 16],
    pub(crate) head: Head,
    pub(crate) kinds: BTreeMap<KindDigest, KindRow>,
    /// Extents by kind, and by their first identifier.
    pub(crate) extents: BTreeMap<KindDigest, BTreeMap<u64, Extent>>,
    pub(crate) segments: BTreeMap<u64, Segment>,
    pub(crate) states: BTreeMap<String, State>,
    /// Segments that are still being filled, one for each kind.
    pub(crate) writers: BTreeMap<KindDigest, SegmentWriter>,
}

/// A segment, and the number of its extents.
pub(crate) struct Segment {
    pub(crate) row: SegmentRow,
    pub(crate) extents: usize,
}

/// A store's stock of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stock {
    /// The kind.
    pub kind: Kind,
    /// The pieces that can be taken.
    pub available: IdSet,
    /// The number of pieces that were taken.
    pub consumed: u64,
    /// The number of pieces that were discarded: the peer does not have them, they were damaged, or the user dropped them.
    pub dropped: u64,
    /// The smallest identifier that was never used.
    pub next: PieceId,
    /// The number of bytes that the available pieces take on disk.
    pub bytes: u64,
}

impl Store {
    /// Creates a store in a new or empty folder.
    ///
    /// *Errors*: [`StoreError::Exists`].
    pub fn create(folder: &Path, key: &StoreKey, rng: &mut impl CryptoRng) -> Result<Self, StoreError> {
        Store::create_with(folder, key, rng, FailPoints::default())
    }

    /// Opens the store in a folder, and removes the remains of a crash.
    ///
    /// *Errors*: [`StoreError::Missing`], [`StoreError::InUse`], [`StoreError::WrongKey`], [`StoreError::Exposed`],
    /// [`StoreError::OtherFormat`], [`StoreError::Linked`]; [`StoreError::Damaged`] if the index was changed.
    pub fn open(folder: &Path, key: &StoreKey, rng: &mut impl CryptoRng) -> Result<Self, StoreError> {
        Store::open_with(folder, key, rng, FailPoints::default())
    }

    /// Opens the store in a folder, or creates one.
    ///
    /// *Errors*: as [`open`](Store::open) and [`create`](Store::create).
    pub fn open_or_create(folder: &Path, key: &StoreKey, rng: &mut impl CryptoRng) -> Result<Self, StoreError> {
        match Store::open(folder, key, rng) {
            Err(StoreError::Missing { .. }) => Store::create(folder, key, rng),
            result => result,
        }
    }

    /// Checks that there is a store in a folder. Needs no key.
    ///
    /// *Errors*: [`StoreError::Missing`]; [`StoreError::Io`] if it cannot be read whether there is one.
    pub fn find(folder: &Path) -> Result<(), StoreError> {
        StoreDir::find(folder).map(|_| ())
    }

    /// Creates a store in memory, under its own key. Dropping it discards everything.
    pub fn in_memory(rng: &mut impl CryptoRng) -> Result<Self, StoreError> {
        let key = StoreKey::generate(rng);
        Store::begin(StoreDir::memory(), &key, rng)
    }

    /// Removes a store with all its contents. It may be damaged, and its key may be lost. Of a link in it, only the link is removed.
    ///
    /// *Errors*: [`StoreError::Missing`], [`StoreError::InUse`], [`StoreError::Exposed`], [`StoreError::Io`]; [`StoreError::Linked`] for the lock.
    pub fn remove(folder: &Path) -> Result<(), StoreError> {
        StoreDir::remove(folder)
    }

    pub(crate) fn create_with(
        folder: &Path,
        key: &StoreKey,
        rng: &mut impl CryptoRng,
        steps: FailPoints,
    ) -> Result<Self, StoreError> {
        let store = Store::begin(StoreDir::create(folder, steps)?, key, rng)?;
        store.dir.finish()?;
        Ok(store)
    }

    pub(crate) fn open_with(
        folder: &Path,
        key: &StoreKey,
        rng: &mut impl CryptoRng,
        steps: FailPoints,
    ) -> Result<Self, StoreError> {
        let dir = StoreDir::open(folder, steps)?;
        let path = dir.index().ok_or_else(|| StoreError::Missing { folder: folder.into() })?;
        let unopened = Unopened::open(&path, folder)?;
        let sealer = Sealer::new(key, &unopened.store, &fresh(rng));
        if !unopened.is_opened_by(&sealer) {
            return Err(StoreError::WrongKey { folder: folder.into() });
        }
        let id = unopened.store;
        let (index, head, contents) = unopened.read(sealer, dir.steps().clone())?;
        let mut store = Store::empty(dir, index, id, head);
        store.load(contents)?;
        store.dir.remove_leftovers(|number| store.segments.contains_key(&number))?;
        Ok(store)
    }

    fn begin(dir: StoreDir, key: &StoreKey, rng: &mut impl CryptoRng) -> Result<Self, StoreError> {
        let mut id = [0; 16];
        rng.fill_bytes(&mut id);
        let sealer = Sealer::new(key, &id, &fresh(rng));
        let unopened = Unopened::create(dir.index().as_deref(), id, sealer.check_value())?;
        let (index, head) = unopened.begin(sealer, dir.steps().clone())?;
        Ok(Store::empty(dir, index, id, head))
    }

    fn empty(dir: StoreDir, index: Index, id: [u8; 16], head: Head) -> Self {
        Store {
            dir,
            index,
            id,
            head,
            kinds: BTreeMap::new(),
            extents: BTreeMap::new(),
            segments: BTreeMap::new(),
            states: BTreeMap::new(),
            writers: BTreeMap::new(),
            record: None,
        }
    }

    fn load(&mut self, contents: Contents) -> Result<(), StoreError> {
        let odd = || StoreError::Damaged { what: "index.sqlite: a row cannot be read".into() };
        let mut extents: Vec<Extent> = Vec::new();
        for (name, row) in contents {
            let (tag, rest) = name.split_first().ok_or_else(odd)?;
            match tag {
                b'K' => {
                    let row = KindRow::decode(&row).ok_or_else(odd)?;
                    self.kinds.insert(row.kind.digest(), row);
                }
                b'E' => extents.push(Extent::decode(&row).ok_or_else(odd)?),
                b'G' => {
                    let number = u64::from_be_bytes(rest.try_into().map_err(|_| odd())?);
                    let row = decode(&row).ok_or_else(odd)?;
                    self.segments.insert(number, Segment { row, extents: 0 });
                }
                b'S' => {
                    let name = String::from_utf8(rest.to_vec()).map_err(|_| odd())?;
                    self.states.insert(name, decode(&row).ok_or_else(odd)?);
                }
                _ => return Err(odd()),
            }
        }
        for extent in extents {
            self.segments.get_mut(&extent.segment).ok_or_else(odd)?.extents += 1;
            self.extents.entry(extent.kind).or_default().insert(extent.first, extent);
        }
        Ok(())
    }

    /// The folder, for messages.
    pub fn folder(&self) -> &Path {
        self.dir.folder()
    }

    /// The identifier of this store, unique among all stores, in hexadecimal digits. Not secret.
    pub fn id(&self) -> String {
        hex(&self.id)
    }

    /// The purpose of the store, if it is bound to one.
    pub fn binding(&self) -> Option<&Binding> {
        self.head.binding.as_ref()
    }

    /// Binds the store to a purpose. The first call keeps it; later calls must name the same.
    ///
    /// The purpose becomes durable with the next change, for instance when the store [meets](Store::reconcile) the peer's. So a store that is closed before it is the
    /// same as before, and is free for another purpose.
    ///
    /// *Errors*: [`StoreError::OtherBinding`].
    pub fn bind(&mut self, binding: &Binding) -> Result<(), StoreError> {
        if let Some(stored) = &self.head.binding {
            return binding.check(stored, self.dir.folder());
        }
        self.head.binding = Some(binding.clone());
        self.head.changes += 1;
        Ok(())
    }

    /// The stock of every kind, in a fixed order.
    pub fn stock(&self) -> Vec<Stock> {
        self.kinds.values().map(|row| self.stock_of_row(row)).collect()
    }

    /// The stock of one kind.
    pub fn stock_of(&self, kind: &Kind) -> Stock {
        match self.kinds.get(&kind.digest()) {
            Some(row) => self.stock_of_row(row),
            None => self.stock_of_row(&KindRow::new(kind.clone())),
        }
    }

    /// The number of pieces of a kind that can be taken.
    pub fn count(&self, kind: &Kind) -> u64 {
        self.kinds.get(&kind.digest()).map_or(0, |row| row.available.len())
    }

    /// The smallest identifier of a kind that was never used, here or by the peer. The next batch begins with it.
    pub fn next_id(&self, kind: &Kind) -> PieceId {
        PieceId(self.kinds.get(&kind.digest()).map_or(0, |row| row.next))
    }

    /// Bytes of all segments on disk, including those of used pieces.
    pub fn segment_bytes(&self) -> u64 {
        self.segments.values().map(|segment| segment.row.bytes).sum()
    }

    /// The number of segments.
    pub fn segment_count(&self) -> usize {
        self.segments.len()
    }

    /// All states, by name.
    pub fn states(&self) -> impl Iterator<Item = (&str, &State)> {
        self.states.iter().map(|(name, state)| (&name[..], state))
    }

    /// A state by name.
    pub fn state(&self, name: &str) -> Option<&State> {
        self.states.get(name)
    }

    /// The bytes of a state, if there is one, which must have this version.
    ///
    /// *Errors*: [`StoreError::OtherFormat`].
    pub fn state_of(&self, name: &str, version: u32) -> Result<Option<&[u8]>, StoreError> {
        match self.states.get(name) {
            None => Ok(None),
            Some(state) if state.version == version => Ok(Some(&state.bytes)),
            Some(state) => Err(StoreError::OtherFormat {
                folder: self.folder().into(),
                what: format!("state `{name}`"),
                expected: version,
                got: state.version.into(),
            }),
        }
    }

    /// Sets a state, replacing an earlier one. A batch can set states together with pieces.
    ///
    /// *Errors*: [`StoreError::TooLarge`].
    pub fn set_state(&mut self, name: &str, state: State) -> Result<(), StoreError> {
        let mut edit = Edit::new(self);
        edit.set_state(name, state)?;
        self.apply(edit)
    }

    /// Sets several states, all or none.
    ///
    /// *Errors*: [`StoreError::TooLarge`].
    pub fn set_states(&mut self, states: impl IntoIterator<Item = (String, State)>) -> Result<(), StoreError> {
        let mut edit = Edit::new(self);
        states.into_iter().try_for_each(|(name, state)| edit.set_state(&name, state))?;
        self.apply(edit)
    }

    /// Sets several states and removes those whose name `is_gone`, in one write: all of it or nothing.
    ///
    /// *Errors*: [`StoreError::TooLarge`].
    pub fn replace_states(
        &mut self,
        states: impl IntoIterator<Item = (String, State)>,
        is_gone: impl Fn(&str) -> bool,
    ) -> Result<(), StoreError> {
        let mut edit = Edit::new(self);
        edit.gone_states = self.states.keys().filter(|name| is_gone(name)).cloned().collect();
        states.into_iter().try_for_each(|(name, state)| {
            edit.gone_states.retain(|gone| *gone != name);
            edit.set_state(&name, state)
        })?;
        self.apply(edit)
    }

    /// Removes all states whose name `is_gone`.
    pub fn remove_states(&mut self, is_gone: impl Fn(&str) -> bool) -> Result<(), StoreError> {
        let mut edit = Edit::new(self);
        edit.gone_states = self.states.keys().filter(|name| is_gone(name)).cloned().collect();
        if edit.gone_states.is_empty() { Ok(()) } else { self.apply(edit) }
    }

    fn stock_of_row(&self, row: &KindRow) -> Stock {
        let extents = self.extents.get(&row.kind.digest()).into_iter().flat_map(BTreeMap::values);
        let bytes = extents.flat_map(|extent| extent.runs_of(&row.available)).map(|(len, count)| len * count).sum();
        let KindRow { kind, next, available, consumed, dropped } = row.clone();
        Stock { kind, available, consumed, dropped, next: PieceId(next), bytes }
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn fresh(rng: &mut impl CryptoRng) -> Zeroizing<[u8; 48]> {
    let mut fresh = Zeroizing::new([0; 48]);
    rng.fill_bytes(&mut fresh[..]);
    fresh
}
