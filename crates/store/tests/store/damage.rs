//! Files that were changed, cut off, removed or restored: detected and named, and never a panic.

#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use garblet_store::{IdSet, Kind, PieceId, State, Store, StoreError, StoreKey};
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// Different randomness for every opening.
fn rng() -> StdRng {
    static OPENINGS: AtomicU64 = AtomicU64::new(0);
    StdRng::seed_from_u64(OPENINGS.fetch_add(1, Ordering::Relaxed))
}

fn key() -> StoreKey {
    StoreKey::generate(&mut StdRng::seed_from_u64(7))
}

fn kind(name: &str) -> Kind {
    Kind::new(name, b"")
}

#[test]
fn an_index_and_a_state_of_a_later_format_are_refused_by_name() {
    let made = Made::new();
    let folder = made.scratch.path().join("made");
    let mut store = Store::open(&folder, &key(), &mut rng()).expect("opened");
    store.set_state("later", State { version: 2, bytes: vec![1] }).expect("kept");
    assert_eq!(store.state_of("delta", 1).expect("its version").map(<[u8]>::len), Some(16));
    assert_eq!(store.state_of("other", 1).expect("there is none"), None);
    let error = store.state_of("later", 1).expect_err("another version").to_string();
    assert!(error.ends_with("its state `later` is of format 2, this Garblet reads format 1"), "{error}");
    drop(store);
    for (format, says) in [(2, "2"), (0, "0"), (i64::MAX, "9223372036854775807")] {
        let database = rusqlite::Connection::open(folder.join("index.sqlite")).expect("opened");
        database.execute("UPDATE store SET format = ?", [format]).expect("changed");
        drop(database);
        let refused = Store::open(&folder, &key(), &mut rng()).map(drop).expect_err("another format");
        assert!(matches!(refused, StoreError::OtherFormat { expected: 1, got, .. } if got == format), "{refused}");
        let said =
            format!("the store in {}: its index is of format {says}, this Garblet reads format 1", folder.display());
        assert_eq!(refused.to_string(), said);
    }
    // A later format may have other columns.
    let database = rusqlite::Connection::open(folder.join("index.sqlite")).expect("opened");
    database
        .execute_batch("UPDATE store SET format = 2; ALTER TABLE store RENAME COLUMN key_check TO sealed")
        .expect("changed");
    drop(database);
    let refused = Store::open(&folder, &key(), &mut rng()).map(drop).expect_err("another format");
    assert!(matches!(refused, StoreError::OtherFormat { expected: 1, got: 2, .. }), "{refused}");
}

/// The index of a store, and what SQLite keeps beside it.
fn index_files(folder: &Path) -> [Option<Vec<u8>>; 4] {
    ["", "-wal", "-shm", "-journal"].map(|ending| fs::read(folder.join(format!("index.sqlite{ending}"))).ok())
}

/// Changes an index as a later version does, and leaves its write-ahead log if `leaves` says so.
fn change_index(folder: &Path, statements: &str, leaves: bool) {
    let database = rusqlite::Connection::open(folder.join("index.sqlite")).expect("opened");
    let leave = rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    database.set_db_config(leave, leaves).expect("set");
    database.execute_batch(statements).expect("changed");
}

/// A later version may keep its index in another way.
#[test]
fn the_index_of_a_later_format_is_not_written_to() {
    let made = Made::new();
    let refused = |folder: &Path, format: i64, before: [Option<Vec<u8>>; 4]| {
        let error = Store::open(folder, &key(), &mut rng()).map(drop).expect_err("another format");
        assert!(matches!(error, StoreError::OtherFormat { got, .. } if got == format), "{error}");
        assert!(index_files(folder) == before, "format {format}: its bytes are as they were");
    };
    // Names that an address has in another form.
    for name in ["made", "%41?b#c \\ é"] {
        let folder = made.copy();
        let (folder, copy) = (folder.with_file_name(name), folder);
        fs::create_dir_all(&folder).expect("a folder");
        fs::remove_dir_all(&folder).and_then(|()| fs::rename(copy, &folder)).expect("renamed");
        // Closed, with a write-ahead log and without one.
        for (mode, format) in [("DELETE", 2), ("WAL", 3)] {
            change_index(&folder, &format!("PRAGMA journal_mode = {mode}; UPDATE store SET format = {format}"), false);
            let closed = index_files(&folder);
            assert!(closed[1..].iter().all(Option::is_none), "{mode}");
            refused(&folder, format, closed);
        }
        // As a crash leaves it: the log is empty, or has the last change alone.
        fs::write(folder.join("index.sqlite-wal"), "").expect("made");
        refused(&folder, 3, index_files(&folder));
        change_index(&folder, "PRAGMA journal_mode = WAL; UPDATE store SET format = 4", true);
        let _ = fs::remove_file(folder.join("index.sqlite-shm"));
        let crashed = index_files(&folder);
        assert!(crashed[1].as_ref().is_some_and(|log| !log.is_empty()));
        refused(&folder, 4, crashed);
    }
}

/// A later version that keeps a journal may be cut off while it writes.
#[test]
fn a_journal_beside_the_index_is_not_undone() {
    let made = Made::new();
    for format in [1, 2] {
        let folder = made.copy();
        change_index(&folder, &format!("PRAGMA journal_mode = DELETE; UPDATE store SET format = {format}"), false);
        let database = rusqlite::Connection::open(folder.join("index.sqlite")).expect("opened");
        let long =
            "PRAGMA cache_size = 1; BEGIN; CREATE TABLE more (row BLOB); INSERT INTO more VALUES (randomblob(99999))";
        database.execute_batch(long).expect("begun");
        let cut_off = index_files(&folder);
        drop(database);
        for (ending, bytes) in ["", "-journal"].iter().zip([&cut_off[0], &cut_off[3]]) {
            fs::write(folder.join(format!("index.sqlite{ending}")), bytes.as_ref().expect("a file")).expect("put back");
        }
        let refused = Store::open(&folder, &key(), &mut rng()).map(drop).expect_err("a journal").to_string();
        let says = match format {
            1 => "the store is damaged: index.sqlite: index.sqlite-journal is beside it, which no store has",
            _ => "its index is of format 2, this Garblet reads format 1",
        };
        assert!(refused.ends_with(says), "{refused}");
        assert!(index_files(&folder) == cut_off, "its bytes are as they were");
    }
}

/// Somebody may give away a folder in which opening the store would change a file elsewhere.
#[test]
fn links_triggers_and_views_have_no_place_in_a_store() {
    for name in ["lock", "index.sqlite", "segments"] {
        let made = Made::new();
        let folder = made.scratch.path().join("made");
        let elsewhere = made.scratch.path().join("elsewhere");
        fs::rename(folder.join(name), &elsewhere).expect("moved");
        std::os::unix::fs::symlink(&elsewhere, folder.join(name)).expect("linked");
        let before = fs::read(&elsewhere).ok();
        let refused = Store::open(&folder, &key(), &mut rng()).map(drop).expect_err("a link").to_string();
        let link = folder.join(name);
        assert_eq!(refused, format!("the store is damaged: {} is a link, which no store has", link.display()));
        assert!(fs::read(&elsewhere).ok() == before, "{name}");
        // The lock of a link would be that of another file.
        assert_eq!(Store::remove(&folder).is_err(), name == "lock");
        assert_eq!(folder.exists(), name == "lock");
        assert!(elsewhere.exists() && fs::read(&elsewhere).ok() == before, "{name}: only the link is removed");
        assert!(!elsewhere.is_dir() || elsewhere.join("00000000.seg").exists());
    }
    let made = Made::new();
    let (folder, elsewhere) = (made.copy(), made.scratch.path().join("elsewhere"));
    fs::rename(folder.join(segment(&made, 0)), &elsewhere).expect("moved");
    std::os::unix::fs::symlink(&elsewhere, folder.join(segment(&made, 0))).expect("linked");
    let before = fs::read(&elsewhere).expect("a file");
    let mut store = open(&folder).expect("opens");
    let refused = store.take_next(&kind("a"), 2).map(drop).expect_err("a link").to_string();
    assert!(refused.contains("00000000.seg is a link, which no store has"), "{refused}");
    assert!(fs::read(&elsewhere).expect("a file") == before);
    assert_eq!((store.count(&kind("a")), store.count(&kind("b"))), (17, 10), "nothing is taken");
    assert_eq!(store.take_next(&kind("b"), 10).and_then(|taken| taken.read_all()).expect("all of them").len(), 10);
    for more in [
        "CREATE VIEW more AS SELECT * FROM rows",
        "CREATE TRIGGER more BEFORE INSERT ON rows BEGIN SELECT RAISE(IGNORE); END",
    ] {
        let made = Made::new();
        let folder = made.scratch.path().join("made");
        let database = rusqlite::Connection::open(folder.join("index.sqlite")).expect("opened");
        database.execute_batch(more).expect("changed");
        drop(database);
        let refused = Store::open(&folder, &key(), &mut rng()).map(drop).expect_err("something more").to_string();
        assert!(refused.contains("it has triggers or views, which no store has"), "{refused}");
    }
}

#[test]
fn a_store_that_cannot_be_read_is_not_called_missing() {
    let made = Made::new();
    for name in ["index.sqlite", "unfinished"] {
        let folder = made.copy();
        let _ = fs::remove_file(folder.join(name));
        // Neither there nor missing, also for an administrator.
        std::os::unix::fs::symlink(name, folder.join(name)).expect("linked");
        for refused in [Store::find(&folder), open(&folder).map(drop)] {
            let refused = refused.expect_err("unreadable");
            assert!(matches!(&refused, StoreError::Io { path, .. } if *path == folder.join(name)), "{refused}");
        }
    }
    let folder = made.copy();
    for other in [folder.join("lock"), folder.join("none"), folder.join("segments")] {
        assert!(matches!(Store::find(&other), Err(StoreError::Missing { .. })), "{}", other.display());
    }
}

/// Copies of a store, to be damaged.
struct Made {
    scratch: tempfile::TempDir,
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Made {
    /// A store with some pieces taken: kind `a` has 3 to 19, kind `b` 0 to 9.
    fn new() -> Self {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = scratch.path().join("made");
        let mut store = Store::create(&folder, &key(), &mut rng()).expect("made");
        store.set_state("delta", State { version: 1, bytes: vec![7; 16] }).expect("kept");
        let mut batch = store.batch();
        for id in 0..20 {
            batch.push(&kind("a"), PieceId(id), &[id as u8; 200]).expect("fits");
            if id < 10 {
                batch.push(&kind("b"), PieceId(id), &[id as u8; 20]).expect("fits");
            }
        }
        batch.commit().expect("durable");
        drop(store.take_next(&kind("a"), 3).expect("there"));
        drop(store);
        let mut files = Vec::new();
        for part in ["", "segments"] {
            for entry in fs::read_dir(folder.join(part)).expect("a folder").flatten().filter(|e| e.path().is_file()) {
                let name = Path::new(part).join(entry.file_name());
                files.push((name, fs::read(entry.path()).expect("a file")));
            }
        }
        files.sort();
        Made { scratch, files }
    }

    fn names(&self) -> Vec<PathBuf> {
        self.files.iter().map(|(name, _)| name.clone()).collect()
    }

    /// A fresh copy.
    fn copy(&self) -> PathBuf {
        use std::os::unix::fs::DirBuilderExt;
        let folder = self.scratch.path().join("copy");
        let _ = fs::remove_dir_all(&folder);
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true).mode(0o700).create(folder.join("segments")).expect("a folder");
        for (name, bytes) in &self.files {
            fs::write(folder.join(name), bytes).expect("a copy");
        }
        folder
    }
}

fn open(folder: &Path) -> Result<Store, StoreError> {
    Store::open(folder, &key(), &mut rng())
}

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).expect("a file");
    change(&mut bytes);
    fs::write(path, bytes).expect("changed");
}

fn segment(made: &Made, number: usize) -> PathBuf {
    let segments: Vec<_> = made.names().into_iter().filter(|name| name.starts_with("segments")).collect();
    assert_eq!(segments.len(), 2, "one for each kind");
    segments[number].clone()
}

#[test]
fn verifying_an_intact_store_changes_nothing() {
    let made = Made::new();
    let folder = made.copy();
    let mut store = open(&folder).expect("opens");
    let mut steps = Vec::new();
    let verified = store.verify(&mut |done, total| steps.push((done, total))).expect("readable");
    assert!(verified.is_sound(), "{verified:?}");
    assert_eq!(verified.sound, 27);
    let total = 17 * 216 + 10 * 36;
    assert!(steps.iter().all(|step| step.0 <= total && step.1 == total) && steps.last() == Some(&(total, total)));
    assert_eq!(store.take_next(&kind("a"), 17).and_then(|taken| taken.read_all()).expect("all of them").len(), 17);
}

#[test]
fn a_changed_piece_is_named_and_the_others_survive() {
    let made = Made::new();
    let folder = made.copy();
    // Piece 5 of kind `a`.
    change(&folder.join(segment(&made, 0)), |bytes| bytes[32 + 5 * 216 + 100] ^= 1);
    let mut store = open(&folder).expect("opens");
    let verified = store.verify(&mut |_, _| {}).expect("readable");
    assert_eq!((verified.sound, verified.damage.len()), (26, 1));
    assert_eq!(verified.damage[0].ids, IdSet::range(PieceId(5), 1));
    assert!(verified.damage[0].what.ends_with("segments/00000000.seg from byte 1112"), "{verified:?}");
    let taken: Vec<_> = store.take_next(&kind("a"), 4).expect("there").collect();
    let sound: Vec<_> = taken.iter().map(|piece| piece.is_ok()).collect();
    assert_eq!(sound, [true, true, false, true]);
    assert_eq!(store.count(&kind("a")), 13, "the damaged one is not offered again");
}

#[test]
fn showing_pieces_stops_at_the_first_changed_one() {
    let made = Made::new();
    let folder = made.copy();
    change(&folder.join(segment(&made, 0)), |bytes| bytes[32 + 5 * 216 + 100] ^= 1);
    let mut store = open(&folder).expect("opens");
    let mut shown = Vec::new();
    let taken = store.take_next(&kind("a"), 4).expect("there");
    let error = taken.each(|id, _| shown.push(id)).expect_err("piece 5 was changed");
    assert!(matches!(&error, StoreError::Damaged { what } if what.starts_with("piece 5 of a")), "{error}");
    assert_eq!(shown, [3, 4].map(PieceId));
    assert_eq!(store.count(&kind("a")), 13, "all four are used");
}

#[test]
fn a_truncated_or_missing_file_loses_only_its_own_pieces() {
    let made = Made::new();
    for (len, lost) in [(Some(32 + 4 * 216 + 7), 16), (Some(5), 17), (None, 17)] {
        let folder = made.copy();
        let path = folder.join(segment(&made, 0));
        match len {
            Some(len) => change(&path, |bytes| bytes.truncate(len)),
            None => fs::remove_file(&path).expect("ours"),
        }
        let mut store = open(&folder).expect("opens");
        let verified = store.verify(&mut |_, _| {}).expect("readable");
        assert_eq!(verified.damage.len(), 1, "{verified:?}");
        assert_eq!(verified.damage[0].ids.len(), lost, "{verified:?}");
        assert_eq!(verified.odd_segments.is_empty(), len.is_some_and(|len| len > 32));
        assert_eq!(store.drop_pieces(&kind("a"), &verified.damage[0].ids).expect("dropped"), lost);
        assert_eq!(store.verify(&mut |_, _| {}).expect("readable").damage, []);
        assert_eq!(store.stock_of(&kind("a")).dropped, lost);
    }
}

/// Somebody may have put a shorter file in a segment's place.
#[test]
fn taken_pieces_never_lengthen_a_file() {
    let made = Made::new();
    for (read, len) in [(true, 32 + 4 * 216 + 7), (false, 32 + 4 * 216 + 7), (true, 5), (false, 5), (false, 0)] {
        let folder = made.copy();
        let path = folder.join(segment(&made, 0));
        change(&path, |bytes| bytes.truncate(len));
        // One piece stays, and the file with it.
        let taken = open(&folder).and_then(|mut store| store.take_next(&kind("a"), 16)).expect("so it seems");
        if read {
            assert!(taken.map(|piece| piece.is_ok()).eq((0..16).map(|at| len > 32 && at < 1)), "{len}");
        } else {
            drop(taken);
        }
        let left = fs::read(&path).expect("a file");
        assert_eq!(left.len(), len);
        assert!(left.iter().skip(32 + 3 * 216).all(|byte| *byte == 0), "what it had is overwritten");
    }
}

#[test]
fn swapped_pieces_are_detected() {
    let made = Made::new();
    let folder = made.copy();
    change(&folder.join(segment(&made, 0)), |bytes| {
        let (five, six) = (32 + 5 * 216, 32 + 6 * 216);
        let piece: Vec<u8> = bytes[five..six].to_vec();
        bytes.copy_within(six..six + 216, five);
        bytes[six..six + 216].copy_from_slice(&piece);
    });
    let verified = open(&folder).expect("opens").verify(&mut |_, _| {}).expect("readable");
    assert_eq!(verified.damage[0].ids, IdSet::range(PieceId(5), 2));
}

#[test]
fn an_index_restored_alone_offers_no_piece_twice() {
    let made = Made::new();
    let folder = made.copy();
    let mut store = open(&folder).expect("opens");
    let ids = IdSet::range(PieceId(3), 2);
    let given: Vec<_> = store.take(&kind("a"), &ids).expect("there").map(|piece| piece.is_ok()).collect();
    assert_eq!(given, [true, true]);
    drop(store);
    for (name, bytes) in made.files.iter().filter(|(name, _)| !name.starts_with("segments")) {
        fs::write(folder.join(name), bytes).expect("put back");
    }
    let mut store = open(&folder).expect("it cannot know");
    assert!(store.stock_of(&kind("a")).available.contains(PieceId(3)));
    let again: Vec<_> = store.take(&kind("a"), &ids).expect("so it seems").map(|piece| piece.is_ok()).collect();
    assert_eq!(again, [false, false], "what was read was overwritten");
}

#[test]
fn a_row_removed_or_restored_alone_is_detected() {
    let made = Made::new();
    let rows = |folder: &Path| {
        let connection = rusqlite::Connection::open(folder.join("index.sqlite")).expect("a database");
        let mut statement = connection.prepare("SELECT name, row FROM rows").expect("a table");
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
        rows.collect::<Result<Vec<(Vec<u8>, Vec<u8>)>, _>>().expect("rows")
    };
    let folder = made.copy();
    let old = rows(&folder);
    assert_eq!(old.len(), 1 + 2 + 2 + 2 + 1, "head, kinds, extents, segments, state");
    drop(open(&folder).expect("opens").take_next(&kind("b"), 1).expect("there"));
    let current = made.scratch.path().join("current");
    fs::copy(folder.join("index.sqlite"), &current).expect("a copy");
    let mut put_back = 0;
    for (name, row) in &old {
        for remove in [true, false] {
            fs::copy(&current, folder.join("index.sqlite")).expect("a copy");
            let connection = rusqlite::Connection::open(folder.join("index.sqlite")).expect("a database");
            let changed = match remove {
                true => connection.execute("DELETE FROM rows WHERE name = ?", [name]),
                false => connection.execute("UPDATE rows SET row = ? WHERE name = ? AND row <> ?", (row, name, row)),
            };
            drop(connection);
            put_back += usize::from(!remove) * changed.as_ref().copied().expect("changed");
            let damaged = matches!(open(&folder), Err(StoreError::Damaged { .. }));
            assert_eq!(damaged, changed.expect("changed") == 1, "row {:?}", name.first());
        }
    }
    assert_eq!(put_back, 2, "the head and kind `b` had changed");
}

/// Whatever happens to the files: an error, or a store that offers no more than it had and gives out only pieces that were added.
fn survives(folder: &Path) -> bool {
    let Ok(mut store) = open(folder) else { return false };
    let damage = store.verify(&mut |_, _| {}).map_or(1, |verified| verified.damage.len());
    assert_eq!(store.state("delta").map(|state| state.bytes.clone()), Some(vec![7; 16]));
    for (name, len, from) in [("a", 200, 3), ("b", 20, 0)] {
        let available = store.stock_of(&kind(name)).available;
        assert!(available.iter().all(|id| id.0 >= from && id.0 < 20));
        let Ok(taken) = store.take(&kind(name), &available) else { return false };
        for piece in taken.flatten() {
            assert_eq!(piece.bytes[..], vec![piece.id.0 as u8; len]);
        }
    }
    damage == 0
}

#[test]
fn random_damage_to_any_file_never_panics_or_goes_unnoticed() {
    let made = Made::new();
    assert!(survives(&made.copy()));
    let full = std::env::var_os("GARBLET_TEST_FULL").is_some();
    let mut rng = StdRng::seed_from_u64(1);
    let (mut noticed, mut tried) = (0, 0);
    for name in made.names() {
        for round in 0..if full { 2000 } else { 60 } {
            let folder = made.copy();
            change(&folder.join(&name), |bytes| damage(bytes, round, &mut rng));
            tried += 1;
            noticed += usize::from(!survives(&folder));
        }
    }
    // Harmless damage may go unnoticed: the lock file, unused space, places of taken pieces.
    assert!(noticed > tried / 3, "{noticed} of {tried}");
}

fn damage(bytes: &mut Vec<u8>, round: u64, rng: &mut StdRng) {
    if bytes.is_empty() {
        return bytes.push(1);
    }
    let at = rng.random_range(0..bytes.len());
    let front = rng.random_range(0..bytes.len().min(100));
    match round % 6 {
        0 => bytes.truncate(at),
        1 => bytes[at..].fill(0),
        2 => bytes.extend([0xa5; 100]),
        3 => rng.fill(&mut bytes[at..]),
        4 => bytes[front] ^= 1 << rng.random_range(0..8),
        _ => bytes[at] ^= 1 << rng.random_range(0..8),
    }
}
