//! Filling, taking, reopening and reconciling.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use garblet_store::{Binding, IdSet, Kind, PieceId, State, Store, StoreError, StoreKey};
use rand::{SeedableRng, rngs::StdRng};

/// Different randomness for every opening.
fn rng() -> StdRng {
    static OPENINGS: AtomicU64 = AtomicU64::new(0);
    StdRng::seed_from_u64(OPENINGS.fetch_add(1, Ordering::Relaxed))
}

fn key() -> StoreKey {
    StoreKey::generate(&mut StdRng::seed_from_u64(1))
}

fn open(folder: &Path) -> Result<Store, StoreError> {
    Store::open_or_create(folder, &key(), &mut rng())
}

fn kind(name: &str) -> Kind {
    Kind::new(name, b"half gates")
}

fn piece(id: u64) -> Vec<u8> {
    let len = if id.is_multiple_of(3) { 700 } else { 100 + id as usize };
    (0..len).map(|i| (id as usize + i) as u8).collect()
}

fn fill(store: &mut Store, kind: &Kind, count: u64) {
    let mut batch = store.batch();
    for _ in 0..count {
        let id = batch.next_id(kind);
        batch.push(kind, id, &piece(id.0)).expect("fits");
    }
    batch.commit().expect("durable");
}

fn take(store: &mut Store, kind: &Kind, ids: &IdSet) -> Result<Vec<u64>, StoreError> {
    let pieces = store.take(kind, ids)?.read_all()?;
    assert!(pieces.iter().all(|p| p.bytes[..] == piece(p.id.0)), "a piece is not what it was");
    Ok(pieces.iter().map(|p| p.id.0).collect())
}

fn range(first: u64, count: u64) -> IdSet {
    IdSet::range(PieceId(first), count)
}

#[test]
fn pieces_are_returned_once_in_this_process_and_the_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let (aes, sha) = (kind("aes"), kind("sha"));
    let mut store = open(&path).expect("made");
    fill(&mut store, &aes, 100);
    fill(&mut store, &sha, 10);
    fill(&mut store, &aes, 50);
    let taken: Vec<u64> = store.take_next(&aes, 7).expect("there").map(|p| p.expect("sound").id.0).collect();
    assert_eq!(taken, (0..7).collect::<Vec<_>>());
    drop(store);

    let mut store = open(&path).expect("opens");
    assert_eq!((store.count(&aes), store.count(&sha)), (143, 10));
    let scattered: IdSet = [8, 9, 10, 99, 100, 149].map(PieceId).into_iter().collect();
    assert_eq!(take(&mut store, &aes, &scattered).expect("there"), [8, 9, 10, 99, 100, 149]);
    for again in [range(3, 1), range(8, 2), range(7, 2), range(149, 2)] {
        assert!(matches!(take(&mut store, &aes, &again), Err(StoreError::NotThere { .. })), "{again}");
    }
    let stock = store.stock_of(&aes);
    assert_eq!((stock.available.len(), stock.consumed, stock.dropped, stock.next), (137, 13, 0, PieceId(150)));
    let mut shown = Vec::new();
    let mut taken = store.take(&sha, &range(2, 3)).expect("there");
    taken.show(2, |id, bytes| shown.push((id.0, bytes == piece(id.0)))).expect("sound");
    assert_eq!(shown, [(2, true), (3, true)]);
    taken.each(|id, bytes| shown.push((id.0, bytes == piece(id.0)))).expect("sound");
    assert_eq!(shown[2..], [(4, true)]);
    let error = store.take_next(&sha, 11).err().expect("too many");
    assert_eq!(error.to_string(), format!("the store has 7 of 11 pieces of sha ({}): 4 are missing", sha.digest()));
    assert_eq!(store.count(&sha), 7);
}

#[test]
fn several_kinds_are_taken_together_or_not_at_all() {
    let mut store = Store::in_memory(&mut rng()).expect("made");
    let (aes, sha) = (kind("aes"), kind("sha"));
    fill(&mut store, &aes, 5);
    fill(&mut store, &sha, 5);
    let too_much = [(aes.clone(), range(0, 2)), (sha.clone(), range(4, 2))];
    assert!(matches!(store.take_all(&too_much), Err(StoreError::NotThere { .. })));
    let twice = [(aes.clone(), range(0, 2)), (aes.clone(), range(1, 2))];
    assert!(matches!(store.take_all(&twice), Err(StoreError::NotThere { .. })));
    assert_eq!((store.count(&aes), store.count(&sha)), (5, 5));
    let both = [(sha.clone(), range(3, 2)), (aes.clone(), range(0, 2))];
    let taken: Vec<_> = store.take_all(&both).expect("there").into_iter().map(|t| t.ids().clone()).collect();
    assert_eq!(taken, [range(3, 2), range(0, 2)]);
}

#[test]
fn a_batch_that_is_not_committed_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let aes = kind("aes");
    let mut store = open(&path).expect("made");
    fill(&mut store, &aes, 3);
    let mut batch = store.batch();
    batch.push(&aes, PieceId(3), &vec![9; 3 << 20]).expect("fits");
    drop(batch);
    fill(&mut store, &aes, 3);
    assert_eq!(take(&mut store, &aes, &range(0, 6)).expect("there"), [0, 1, 2, 3, 4, 5]);
    drop(store);
    assert_eq!(open(&path).expect("opens").count(&aes), 0);
    let left = std::fs::read_dir(path.join("segments")).expect("a folder").count();
    assert_eq!(left, 0, "segments of which nothing is left");
}

#[test]
fn identifiers_are_never_used_again() {
    let mut store = Store::in_memory(&mut rng()).expect("made");
    let aes = kind("aes");
    fill(&mut store, &aes, 3);
    store.clear().expect("cleared");
    let mut batch = store.batch();
    let error = batch.push(&aes, PieceId(2), b"again").expect_err("used");
    assert!(matches!(error, StoreError::IdUsed { expected: PieceId(3), got: PieceId(2), .. }), "{error}");
    batch.push(&aes, PieceId(7), b"later").expect("new");
    assert!(batch.push(&aes, PieceId(7), b"again").is_err());
    assert!(batch.push(&aes, PieceId(u64::MAX), b"no next").is_err());
    batch.commit().expect("durable");
    assert_eq!(store.stock_of(&aes).available, range(7, 1));
}

#[test]
fn states_are_saved_with_their_pieces() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let mut store = open(&path).expect("made");
    store.set_state("delta", State { version: 1, bytes: vec![7; 16] }).expect("kept");
    let mut batch = store.batch();
    batch.push(&kind("aes"), PieceId(0), b"x").expect("fits");
    batch.set_state("gates", State { version: 2, bytes: vec![1] }).expect("fits");
    drop(batch);
    assert!(store.state("gates").is_none());
    let mut batch = store.batch();
    batch.set_state("gates", State { version: 2, bytes: vec![2] }).expect("fits");
    batch.commit().expect("durable");
    drop(store);
    let mut store = open(&path).expect("opens");
    let state = |store: &Store, name: &str| store.state(name).map(|s| (s.version, s.bytes.clone()));
    assert_eq!(state(&store, "delta"), Some((1, vec![7; 16])));
    assert_eq!(state(&store, "gates"), Some((2, vec![2])));
    assert!(store.set_state("large", State { version: 0, bytes: vec![0; (1 << 26) + 1] }).is_err());
    store.remove_states(|name| name == "gates").expect("durable");
    drop(store);
    let store = open(&path).expect("opens");
    assert!(store.states().map(|(name, _)| name).eq(["delta"]));
}

#[test]
fn a_store_serves_only_its_purpose() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let binding =
        Binding { peer: "bob".into(), role: "garbler".into(), protocol: "components 1".into(), library: "abc".into() };
    let mut store = open(&path).expect("made");
    store.bind(&binding).expect("the first time");
    store.set_state("any", State { version: 1, bytes: vec![1] }).expect("durable");
    drop(store);
    let mut store = open(&path).expect("opens");
    assert_eq!(store.binding(), Some(&binding));
    store.bind(&binding).expect("the same");
    for (what, other) in [
        ("peer", Binding { peer: "eve".into(), ..binding.clone() }),
        ("role", Binding { role: "evaluator".into(), ..binding.clone() }),
        ("protocol", Binding { protocol: "components 2".into(), ..binding.clone() }),
        ("library", Binding { library: "abd".into(), ..binding.clone() }),
    ] {
        let error = store.bind(&other).expect_err("another");
        assert!(error.to_string().contains(&format!("filled for another {what}: expected ")), "{error}");
    }
}

/// The word of a peer that has not shown its store binds nothing.
#[test]
fn a_store_that_met_nobody_is_free_for_another_purpose() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let binding = |protocol: &str| Binding {
        peer: "bob".into(),
        role: "garbler".into(),
        protocol: protocol.into(),
        library: String::new(),
    };
    let mut store = open(&path).expect("made");
    store.bind(&binding("one")).expect("the first time");
    store.bind(&binding("other")).expect_err("it is for one as long as it is open");
    let told = store.summary();
    drop(store);
    let mut store = open(&path).expect("opens");
    assert_eq!(store.binding(), None);
    store.bind(&binding("other")).expect("it is free");
    assert_eq!(store.summary(), told, "a peer that met it before does not take it for an older copy");
    let mut peer = Store::in_memory(&mut rng()).expect("made");
    peer.reconcile(&told, 0).expect("they meet");
    store.reconcile(&peer.summary(), 0).expect("they meet");
    drop(store);
    assert_eq!(open(&path).expect("opens").binding(), Some(&binding("other")));
}

#[test]
fn a_second_process_and_another_key_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let store = open(&path).expect("made");
    let error = open(&path).err().expect("in use");
    assert!(error.to_string().ends_with(&format!("is in use by process {}", std::process::id())), "{error}");
    drop(store);
    let other = StoreKey::generate(&mut StdRng::seed_from_u64(2));
    let error = Store::open(&path, &other, &mut rng()).err().expect("another key");
    assert!(matches!(error, StoreError::WrongKey { .. }), "{error}");
    let error = Store::create(&path, &key(), &mut rng()).err().expect("a store exists");
    assert!(matches!(error, StoreError::Exists { .. }), "{error}");
    let error = Store::open(folder.path(), &key(), &mut rng()).err().expect("no store");
    assert!(matches!(error, StoreError::Missing { .. }), "{error}");
    assert!(matches!(Store::remove(folder.path()), Err(StoreError::Missing { .. })));
    Store::remove(&path).expect("removed");
    assert!(!path.exists());
}

#[test]
fn a_folder_of_something_else_gets_no_file_of_a_store() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("letter"), "dear").expect("written");
    #[cfg(unix)]
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).expect("set");
    let error = Store::create(folder.path(), &key(), &mut rng()).err().expect("not empty");
    assert!(matches!(error, StoreError::Exists { .. }), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[cfg(unix)]
#[test]
fn no_store_is_made_in_a_folder_that_others_can_read() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
    let error = Store::create(folder.path(), &key(), &mut rng()).err().expect("open to all");
    assert!(matches!(error, StoreError::Exposed { mode: 0o755, .. }), "{error}");
}

#[cfg(unix)]
#[test]
fn other_users_have_no_access() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let mut store = open(&path).expect("made");
    fill(&mut store, &kind("aes"), 3);
    let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(&path.join("segments"))), (0o700, 0o700));
    let files = |folder: &Path| {
        let entries = std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
        entries.filter(|path| path.is_file()).collect::<Vec<_>>()
    };
    let files = [files(&path), files(&path.join("segments"))].concat();
    assert!(files.len() >= 4, "{files:?}");
    assert!(files.iter().all(|path| mode(path) == 0o600), "{files:?}");
    drop(store);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o750)).expect("ours");
    let error = open(&path).err().expect("exposed");
    assert!(error.to_string().contains("has mode 750, expected 700"), "{error}");
}
