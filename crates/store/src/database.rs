//! The database of an index on disk: sealed rows by name, in SQLite.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Error, ErrorCode, OpenFlags, config::DbConfig, params};

use crate::{
    error::StoreError,
    index::{Described, FORMAT, SealedChange, SealedRow, damaged},
};

const SETTINGS: &str = "
    PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA trusted_schema = OFF;
    PRAGMA cell_size_check = ON;
    PRAGMA synchronous = FULL;
    PRAGMA secure_delete = ON;
    PRAGMA temp_store = MEMORY;";

/// Writes to the file, so only one of our format gets it.
const JOURNAL: &str = "PRAGMA journal_mode = WAL";

const TABLES: &str = "
    CREATE TABLE store (format INTEGER NOT NULL, id BLOB NOT NULL, key_check BLOB NOT NULL) STRICT;
    CREATE TABLE rows (name BLOB PRIMARY KEY, row BLOB NOT NULL) STRICT, WITHOUT ROWID;";

/// The open database.
pub(crate) struct Database(Connection);

impl Database {
    /// Creates a new database in an existing empty file.
    pub(crate) fn create(path: &Path, described: &Described) -> Result<Self, StoreError> {
        let failed = failed("cannot create");
        let mut connection = connect(path).map_err(&failed)?;
        connection.execute_batch(JOURNAL).map_err(&failed)?;
        let transaction = connection.transaction().map_err(&failed)?;
        transaction.execute_batch(TABLES).map_err(&failed)?;
        let values = params![FORMAT, described.store, described.key_check];
        transaction.execute("INSERT INTO store VALUES (?, ?, ?)", values).map_err(&failed)?;
        transaction.commit().map_err(&failed)?;
        Ok(Database(connection))
    }

    /// Opens the database in a file.
    ///
    /// Returns the number of its format, too: what another format has is not read.
    ///
    /// *Errors*: [`StoreError::Damaged`].
    pub(crate) fn open(path: &Path) -> Result<(Self, i64), StoreError> {
        let failed = failed("cannot read");
        let has_journal = is_beside(path, "-journal")?;
        if has_journal || !is_beside(path, "-wal")? {
            // The first read of an ordinary connection would undo the journal, or begin a write-ahead log that stays there.
            let still = connect_still(path).map_err(&failed)?;
            let format = format_of(&still)?;
            if format != i64::from(FORMAT) {
                return Ok((Database(still), format));
            }
        }
        if has_journal {
            return Err(damaged("index.sqlite-journal is beside it, which no store has"));
        }
        let connection = connect(path).map_err(&failed)?;
        // If it is of another format, what a crash left beside it stays there.
        let leaves_log = |leaves| connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, leaves);
        leaves_log(true).map_err(&failed)?;
        let sound: String = connection.query_row("PRAGMA quick_check", [], |row| row.get(0)).map_err(&failed)?;
        if sound != "ok" {
            return Err(damaged(&sound.replace('\n', ", ")));
        }
        let format = format_of(&connection)?;
        if format == i64::from(FORMAT) {
            let others = "SELECT count(*) FROM sqlite_schema WHERE type IN ('trigger', 'view')";
            let others: i64 = connection.query_row(others, [], |row| row.get(0)).map_err(&failed)?;
            if others > 0 {
                return Err(damaged("it has triggers or views, which no store has"));
            }
            leaves_log(false).and_then(|_| connection.execute_batch(JOURNAL)).map_err(&failed)?;
        }
        Ok((Database(connection), format))
    }

    /// The part of the index that is not encrypted.
    ///
    /// *Errors*: [`StoreError::Damaged`].
    pub(crate) fn described(&self) -> Result<Described, StoreError> {
        let described = self.0.query_row("SELECT id, key_check FROM store", [], |row| {
            Ok(Described { store: row.get(0)?, key_check: row.get(1)? })
        });
        described.map_err(|error| damaged(&error.to_string()))
    }

    /// All rows.
    pub(crate) fn rows(&self) -> Result<Vec<SealedRow>, StoreError> {
        let read = || {
            let mut statement = self.0.prepare("SELECT name, row FROM rows")?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<_>>()
        };
        read().map_err(failed("cannot read"))
    }

    /// Writes and removes rows in one transaction, which is durable when this returns.
    pub(crate) fn write(&mut self, rows: &[SealedChange]) -> Result<(), StoreError> {
        let mut write = || {
            let transaction = self.0.transaction()?;
            {
                let mut put = transaction.prepare("INSERT OR REPLACE INTO rows VALUES (?, ?)")?;
                let mut remove = transaction.prepare("DELETE FROM rows WHERE name = ?")?;
                for (name, row) in rows {
                    match row {
                        Some(row) => put.execute(params![name, row])?,
                        None => remove.execute(params![name])?,
                    };
                }
            }
            transaction.commit()
        };
        write().map_err(failed("cannot write"))
    }

    /// Drops it without closing it, in a forked process. Closing would remove the parent's write-ahead log, because SQLite assumes that it holds the parent's lock.
    pub(crate) fn leave_open(self) {
        std::mem::forget(self);
    }

    /// Frees the space of removed rows.
    pub(crate) fn compact(&mut self) -> Result<(), StoreError> {
        let statements = "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)";
        self.0.execute_batch(statements).map_err(failed("cannot compact"))
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.execute_batch(SETTINGS)?;
    Ok(connection)
}

/// A connection that reads the file as it is, and makes no file beside it.
fn connect_still(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(format!("{}?immutable=1", uri(path)), flags)?;
    connection.execute_batch(SETTINGS)?;
    Ok(connection)
}

/// The address of a file, as SQLite reads one.
fn uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    if path.is_absolute() {
        uri += "//";
    }
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => uri.push(char::from(*byte)),
            byte => uri += &format!("%{byte:02X}"),
        }
    }
    // An address of Windows has a slash before the letter of the drive.
    if cfg!(windows) { uri.replacen("file://", "file:///", 1) } else { uri }
}

/// Returns whether there is a file, or anything else, whose name goes on with this ending.
fn is_beside(path: &Path, ending: &str) -> Result<bool, StoreError> {
    let mut path = path.as_os_str().to_owned();
    path.push(ending);
    match fs::symlink_metadata(&path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(StoreError::Io { doing: "cannot read", path: PathBuf::from(path), source }),
    }
}

fn format_of(connection: &Connection) -> Result<i64, StoreError> {
    let format = connection.query_row("SELECT format FROM store", [], |row| row.get(0));
    format.map_err(|error| damaged(&error.to_string()))
}

fn failed(doing: &'static str) -> impl Fn(Error) -> StoreError {
    move |error| match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => damaged(&error.to_string()),
        _ => StoreError::Index { doing, source: Box::new(error) },
    }
}
