//! The index: sealed rows, in a database if the store is on disk.
//!
//! Each change is one transaction, durable when [`Index::change`] returns. The head row holds the sum (exclusive or) of
//! keyed hashes of all other rows, so no single row can be removed or replaced by an older one: the index can only be
//! rolled back as a whole.

use std::collections::HashMap;
use std::path::Path;

use garblet_text::{OtherFormat, check_format};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::database::Database;
use crate::error::StoreError;
use crate::fail_points::FailPoints;
use crate::rows::{Head, decode, encode, name};
use crate::seal::Sealer;
use crate::store_dir::check_no_link;

/// The number of the format on disk. It is not authenticated, since it says how to read everything else: another format takes other contexts of keys, so
/// that a number that somebody has changed opens nothing.
pub(crate) const FORMAT: u32 = 1;

/// A change of rows: the new row of a name, or its removal.
#[derive(Default)]
pub(crate) struct Rows(Vec<(Vec<u8>, Option<Row>)>);

/// A row in the clear: before it is sealed or after it was opened.
pub(crate) type Row = Zeroizing<Vec<u8>>;

impl Rows {
    pub(crate) fn put(&mut self, name: Vec<u8>, row: Row) {
        self.0.push((name, Some(row)));
    }

    pub(crate) fn remove(&mut self, name: Vec<u8>) {
        self.0.push((name, None));
    }
}

/// The open index.
pub(crate) struct Index {
    /// `None` for a store in memory, which keeps everything in its own tables.
    database: Option<Database>,
    sealer: Sealer,
    /// The marks of the rows, and their sum.
    marks: HashMap<Vec<u8>, [u8; 32]>,
    sum: [u8; 32],
    steps: FailPoints,
    broken: bool,
    /// The process that opened the index. A copy in a forked process must not change anything, since its parent would not know.
    process: u32,
}

/// An index before its key is known.
pub(crate) struct Unopened {
    database: Option<Database>,
    pub(crate) store: [u8; 16],
    key_check: Vec<u8>,
}

/// The part of an index that is not encrypted.
pub(crate) struct Described {
    /// The store's number.
    pub(crate) store: Vec<u8>,
    pub(crate) key_check: Vec<u8>,
}

/// A row with its name.
pub(crate) type SealedRow = (Vec<u8>, Vec<u8>);

/// A change of a row: its name, and the new row or `None` to remove it.
pub(crate) type SealedChange = (Vec<u8>, Option<Vec<u8>>);

/// The rows of an index by name, decrypted, without the head.
pub(crate) type Contents = Vec<(Vec<u8>, Row)>;

impl Unopened {
    /// Creates a new index in an existing empty file, or in memory.
    pub(crate) fn create(path: Option<&Path>, store: [u8; 16], key_check: [u8; 32]) -> Result<Self, StoreError> {
        let described = Described { store: store.to_vec(), key_check: key_check.to_vec() };
        let database = path.map(|path| Database::create(path, &described)).transpose()?;
        Ok(Unopened { database, store, key_check: described.key_check })
    }

    /// Opens the index in a file.
    ///
    /// *Errors*: [`StoreError::OtherFormat`], [`StoreError::Damaged`].
    pub(crate) fn open(path: &Path, folder: &Path) -> Result<Self, StoreError> {
        check_no_link(path)?;
        let (database, format) = Database::open(path)?;
        check_format(format, FORMAT).map_err(|OtherFormat { got, newest }| StoreError::OtherFormat {
            folder: folder.into(),
            what: "index".into(),
            expected: newest,
            got,
        })?;
        let Described { store, key_check } = database.described()?;
        let store = store.try_into().map_err(|_| damaged("the store's number has another length"))?;
        Ok(Unopened { database: Some(database), store, key_check })
    }

    /// Returns whether the index was created with these keys.
    pub(crate) fn is_opened_by(&self, sealer: &Sealer) -> bool {
        self.key_check.ct_eq(&sealer.check_value()).into()
    }

    fn opened(self, sealer: Sealer, steps: FailPoints) -> Index {
        let (marks, sum, process) = (HashMap::new(), [0; 32], own_process());
        Index { database: self.database, sealer, marks, sum, steps, broken: false, process }
    }

    /// Reads and decrypts all rows.
    ///
    /// *Errors*: [`StoreError::Damaged`] for a row that was changed, added, removed or replaced by an older one.
    pub(crate) fn read(self, sealer: Sealer, steps: FailPoints) -> Result<(Index, Head, Contents), StoreError> {
        let mut index = self.opened(sealer, steps);
        let mut head = None;
        let mut contents = Vec::new();
        for (name, sealed) in index.database.as_ref().map_or(Ok(Vec::new()), Database::rows)? {
            let row = index.sealer.open_row(&name, &sealed).map_err(|_| damaged("a row was changed"))?;
            if name == name::HEAD {
                head = Some(decode::<Head>(&row).ok_or_else(|| damaged("the head row cannot be read"))?);
            } else {
                let mark = index.sealer.row_mark(&name, &sealed);
                add(&mut index.sum, &mark);
                index.marks.insert(name.clone(), mark);
                contents.push((name, row));
            }
        }
        let head = head.ok_or_else(|| damaged("the head row is missing"))?;
        match head.rows == index.sum {
            true => Ok((index, head, contents)),
            false => Err(damaged("rows were removed, added or restored")),
        }
    }

    /// Creates a new index with only a head.
    pub(crate) fn begin(self, sealer: Sealer, steps: FailPoints) -> Result<(Index, Head), StoreError> {
        let mut index = self.opened(sealer, steps);
        let mut head = Head { last: index.change_name(), ..Head::default() };
        index.change(&mut head, Rows::default())?;
        Ok((index, head))
    }
}

impl Index {
    /// Makes a change durable, and counts it in the head.
    ///
    /// *Errors*: [`StoreError::OtherProcess`]. After a failure the change may or may not have been made, so the index must be opened again: until then all
    /// changes fail with [`StoreError::Broken`].
    pub(crate) fn change(&mut self, head: &mut Head, rows: Rows) -> Result<(), StoreError> {
        if self.broken {
            return Err(StoreError::Broken);
        }
        self.check_process()?;
        self.broken = true;
        self.steps.pass("index change").map_err(|source| StoreError::Io {
            doing: "cannot write",
            path: "index.sqlite".into(),
            source,
        })?;
        let mut sealed = self.seal(rows);
        head.changes += 1;
        head.rows = self.sum;
        sealed.push((name::HEAD.to_vec(), Some(self.sealer.seal_row(name::HEAD, &encode(head)))));
        self.database.as_mut().map_or(Ok(()), |database| database.write(&sealed))?;
        self.steps.pass("index changed").map_err(|source| StoreError::Io {
            doing: "cannot write",
            path: "index.sqlite".into(),
            source,
        })?;
        self.broken = false;
        Ok(())
    }

    /// Refuses to write in any process but the one that opened the store.
    ///
    /// *Errors*: [`StoreError::OtherProcess`].
    pub(crate) fn check_process(&self) -> Result<(), StoreError> {
        match self.process == own_process() {
            true => Ok(()),
            false => Err(StoreError::OtherProcess { process: self.process }),
        }
    }

    /// Refuses all further changes, because the last one may or may not have been recorded.
    pub(crate) fn give_up(&mut self) {
        self.broken = true;
    }

    pub(crate) fn sealer(&self) -> &Sealer {
        &self.sealer
    }

    /// Frees the space of removed rows.
    pub(crate) fn compact(&mut self) -> Result<(), StoreError> {
        self.database.as_mut().map_or(Ok(()), Database::compact)
    }

    /// Randomness for new segments.
    pub(crate) fn segment_key(&mut self) -> Zeroizing<[u8; 32]> {
        self.sealer.segment_key()
    }

    /// A random name for a recorded change.
    pub(crate) fn change_name(&mut self) -> [u8; 16] {
        self.sealer.change_name()
    }

    fn seal(&mut self, rows: Rows) -> Vec<SealedChange> {
        let mut sealed = Vec::with_capacity(rows.0.len());
        for (name, row) in rows.0 {
            let row = row.map(|row| self.sealer.seal_row(&name, &row));
            let mark = row.as_ref().map(|row| self.sealer.row_mark(&name, row));
            let old = match mark {
                Some(mark) => {
                    add(&mut self.sum, &mark);
                    self.marks.insert(name.clone(), mark)
                }
                None => self.marks.remove(&name),
            };
            if let Some(old) = old {
                add(&mut self.sum, &old);
            }
            sealed.push((name, row));
        }
        sealed
    }
}

fn add(sum: &mut [u8; 32], mark: &[u8; 32]) {
    sum.iter_mut().zip(mark).for_each(|(sum, mark)| *sum ^= mark);
}

pub(crate) fn damaged(what: &str) -> StoreError {
    StoreError::Damaged { what: format!("index.sqlite: {what}") }
}

/// The number of this process. In WebAssembly there is only one.
fn own_process() -> u32 {
    if cfg!(target_family = "wasm") { 0 } else { std::process::id() }
}

impl Drop for Index {
    fn drop(&mut self) {
        if self.check_process().is_err() {
            self.database.take().into_iter().for_each(Database::leave_open);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng, rngs::StdRng};

    use crate::{IdSet, Kind, PieceId, Store, StoreError, StoreKey};

    #[test]
    fn every_byte_of_the_check_of_a_key_is_compared() {
        let mut rng = StdRng::seed_from_u64(1);
        let store = Store::in_memory(&mut rng).expect("made");
        let sealer = &store.index.sealer;
        let opens = |key_check| super::Unopened { database: None, store: [1; 16], key_check }.is_opened_by(sealer);
        let right = sealer.check_value().to_vec();
        assert!(opens(right.clone()) && !opens(right[..31].to_vec()));
        for at in 0..right.len() {
            let mut wrong = right.clone();
            wrong[at] ^= 1;
            assert!(!opens(wrong), "byte {at}");
        }
    }

    #[test]
    fn a_forked_copy_cannot_take_or_write() {
        let mut store = Store::in_memory(&mut StdRng::seed_from_u64(1)).expect("made");
        let kind = Kind::new("kind", b"");
        let mut batch = store.batch();
        batch.push(&kind, PieceId(0), b"once").expect("fits");
        batch.commit().expect("durable");
        let own = store.index.process;
        store.index.process = own + 1;
        let ids: IdSet = [PieceId(0)].into_iter().collect();
        let refused = store.take(&kind, &ids).map(drop);
        assert!(matches!(refused, Err(StoreError::OtherProcess { process }) if process == own + 1), "{refused:?}");
        let mut batch = store.batch();
        let pushed = batch.push(&kind, PieceId(1), b"twice");
        assert!(matches!(pushed, Err(StoreError::OtherProcess { .. })), "{pushed:?}");
        drop(batch);
        assert!(matches!(store.scratch(1, 0).map(drop), Err(StoreError::OtherProcess { .. })));
        assert!(matches!(store.compact(&mut |_, _| {}).map(drop), Err(StoreError::OtherProcess { .. })));
        store.index.process = own;
        store.take(&kind, &ids).expect("it is still there");
    }

    #[test]
    fn dropping_a_forked_copy_keeps_the_parents_write_ahead_log() {
        let (folder, mut rng) = (tempfile::tempdir().expect("a folder"), StdRng::seed_from_u64(1));
        let folder = folder.path().join("store");
        let key = StoreKey::generate(&mut rng);
        let ahead = folder.join("index.sqlite-wal");
        for (forked, is_left) in [(0, false), (1, true)] {
            let mut store = Store::open_or_create(&folder, &key, &mut rng).expect("opened");
            store.clear().expect("durable");
            store.index.process += forked;
            drop(store);
            assert_eq!(ahead.exists(), is_left);
        }
    }
}
