//! The index: sealed rows in an SQLite database.
//!
//! Each change is one transaction, durable when [`Index::change`] returns. The head row holds the sum (exclusive or) of
//! keyed hashes of all other rows, so that no row can be removed, or put back to what it was, alone: the index can only
//! be rolled back as a whole.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, params};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::error::StoreError;
use crate::rows::{Head, decode, encode, name};
use crate::seal::Sealer;
use crate::steps::Steps;

/// The version of everything that is on disk.
pub(crate) const FORMAT: u32 = 2;

const SETTINGS: &str = "
    PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA trusted_schema = OFF;
    PRAGMA cell_size_check = ON;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA secure_delete = ON;
    PRAGMA temp_store = MEMORY;";

const TABLES: &str = "
    CREATE TABLE store (format INTEGER NOT NULL, id BLOB NOT NULL, key_check BLOB NOT NULL) STRICT;
    CREATE TABLE rows (name BLOB PRIMARY KEY, row BLOB NOT NULL) STRICT, WITHOUT ROWID;";

/// A change of rows: what a name is to hold from now on, or that it goes.
#[derive(Default)]
pub(crate) struct Rows(Vec<(Vec<u8>, Option<Row>)>);

/// A row before it is sealed, or after it was opened.
pub(crate) type Row = Zeroizing<Vec<u8>>;

impl Rows {
    pub(crate) fn put(&mut self, name: Vec<u8>, row: Row) {
        self.0.push((name, Some(row)));
    }

    pub(crate) fn remove(&mut self, name: Vec<u8>) {
        self.0.push((name, None));
    }
}

/// The open database.
pub(crate) struct Index {
    connection: Connection,
    sealer: Sealer,
    /// The marks of the rows, and their sum.
    marks: HashMap<Vec<u8>, [u8; 32]>,
    sum: [u8; 32],
    steps: Steps,
    broken: bool,
}

/// An index as far as it is told before its key is known.
pub(crate) struct Unopened {
    connection: Connection,
    pub(crate) store: [u8; 16],
    key_check: Vec<u8>,
}

/// The rows of an index by name, decrypted, without the head.
pub(crate) type Contents = Vec<(Vec<u8>, Row)>;

impl Unopened {
    /// Makes a new index: in a file, which exists and is empty, or in memory.
    pub(crate) fn create(path: Option<&Path>, store: [u8; 16], key_check: [u8; 32]) -> Result<Self, StoreError> {
        let failed = StoreError::index("cannot make");
        let mut connection = connect(path).map_err(&failed)?;
        let transaction = connection.transaction().map_err(&failed)?;
        transaction.execute_batch(TABLES).map_err(&failed)?;
        let values = params![FORMAT, store, key_check];
        transaction.execute("INSERT INTO store VALUES (?, ?, ?)", values).map_err(&failed)?;
        transaction.commit().map_err(&failed)?;
        Ok(Unopened { connection, store, key_check: key_check.to_vec() })
    }

    /// Opens the index in a file.
    ///
    /// *Errors*: [`StoreError::OtherFormat`], [`StoreError::Damaged`].
    pub(crate) fn open(path: &Path, folder: &Path) -> Result<Self, StoreError> {
        let failed = StoreError::index("cannot read");
        let connection = connect(Some(path)).map_err(&failed)?;
        let sound: String = connection.query_row("PRAGMA quick_check", [], |row| row.get(0)).map_err(&failed)?;
        if sound != "ok" {
            return Err(damaged(&sound.replace('\n', ", ")));
        }
        let columns = |row: &rusqlite::Row| Ok((row.get(0)?, row.get::<_, Vec<u8>>(1)?, row.get(2)?));
        let row = connection.query_row("SELECT format, id, key_check FROM store", [], columns);
        let (format, id, key_check) = row.map_err(|error| match StoreError::index("cannot read")(error) {
            StoreError::Index { source, .. } => damaged(&source.to_string()),
            error => error,
        })?;
        if format != i64::from(FORMAT) {
            return Err(StoreError::OtherFormat { folder: folder.into(), expected: FORMAT, got: format });
        }
        let store = id.try_into().map_err(|_| damaged("the store's number has another length"))?;
        Ok(Unopened { connection, store, key_check })
    }

    /// Tells whether the keys are those that the index was made with.
    pub(crate) fn is_opened_by(&self, sealer: &Sealer) -> bool {
        self.key_check.ct_eq(&sealer.check_value()).into()
    }

    /// The rows.
    ///
    /// *Errors*: [`StoreError::Damaged`] for a row that was changed, added, removed or put back.
    pub(crate) fn read(self, sealer: Sealer, steps: Steps) -> Result<(Index, Head, Contents), StoreError> {
        let mut index =
            Index { connection: self.connection, sealer, marks: HashMap::new(), sum: [0; 32], steps, broken: false };
        let mut head = None;
        let mut contents = Vec::new();
        for (name, sealed) in all_rows(&index.connection).map_err(StoreError::index("cannot read"))? {
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
            false => Err(damaged("rows were removed, added or put back")),
        }
    }

    /// Begins a new index, which has a head and nothing else.
    pub(crate) fn begin(self, sealer: Sealer, steps: Steps) -> Result<(Index, Head), StoreError> {
        let mut index =
            Index { connection: self.connection, sealer, marks: HashMap::new(), sum: [0; 32], steps, broken: false };
        let mut head = Head { last: index.change_name(), ..Head::default() };
        index.change(&mut head, Rows::default())?;
        Ok((index, head))
    }
}

impl Index {
    /// Makes a change durable, and counts it in the head.
    ///
    /// *Errors*: after a failure it is not known whether the change was made, so that the index must be opened anew:
    /// [`StoreError::Broken`] from then on.
    pub(crate) fn change(&mut self, head: &mut Head, rows: Rows) -> Result<(), StoreError> {
        if self.broken {
            return Err(StoreError::Broken);
        }
        self.broken = true;
        self.steps.pass("index change").map_err(|source| StoreError::Io {
            doing: "cannot write",
            path: "index.sqlite".into(),
            source,
        })?;
        let sealed = self.seal(rows);
        head.changes += 1;
        head.rows = self.sum;
        let head = self.sealer.seal_row(name::HEAD, &encode(head));
        self.write(&sealed, &head).map_err(StoreError::index("cannot write"))?;
        self.steps.pass("index changed").map_err(|source| StoreError::Io {
            doing: "cannot write",
            path: "index.sqlite".into(),
            source,
        })?;
        self.broken = false;
        Ok(())
    }

    /// Makes no more changes: it is not known whether the last was recorded.
    pub(crate) fn give_up(&mut self) {
        self.broken = true;
    }

    pub(crate) fn sealer(&self) -> &Sealer {
        &self.sealer
    }

    /// Gives space back that rows took which are gone.
    pub(crate) fn compact(&mut self) -> Result<(), StoreError> {
        let statements = "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)";
        self.connection.execute_batch(statements).map_err(StoreError::index("cannot compact"))
    }

    /// Randomness for new segments.
    pub(crate) fn segment_key(&mut self) -> Zeroizing<[u8; 32]> {
        self.sealer.segment_key()
    }

    /// A name for a change that is recorded.
    pub(crate) fn change_name(&mut self) -> [u8; 16] {
        self.sealer.change_name()
    }

    fn seal(&mut self, rows: Rows) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
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

    fn write(&mut self, rows: &[(Vec<u8>, Option<Vec<u8>>)], head: &[u8]) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        {
            let mut put = transaction.prepare("INSERT OR REPLACE INTO rows VALUES (?, ?)")?;
            let mut remove = transaction.prepare("DELETE FROM rows WHERE name = ?")?;
            for (name, row) in rows {
                match row {
                    Some(row) => put.execute(params![name, row])?,
                    None => remove.execute(params![name])?,
                };
            }
            put.execute(params![name::HEAD, head])?;
        }
        transaction.commit()
    }
}

fn connect(path: Option<&Path>) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = match path {
        Some(path) => Connection::open_with_flags(path, flags)?,
        None => Connection::open_in_memory()?,
    };
    connection.execute_batch(SETTINGS)?;
    Ok(connection)
}

fn all_rows(connection: &Connection) -> rusqlite::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut statement = connection.prepare("SELECT name, row FROM rows")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

fn add(sum: &mut [u8; 32], mark: &[u8; 32]) {
    sum.iter_mut().zip(mark).for_each(|(sum, mark)| *sum ^= mark);
}

fn damaged(what: &str) -> StoreError {
    StoreError::Damaged { what: format!("index.sqlite: {what}") }
}
