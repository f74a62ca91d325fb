//! Freed space.

use std::path::Path;

use garblet_store::{IdSet, Kind, PieceId, Store, StoreKey};
use rand::{SeedableRng, rngs::StdRng};

fn key() -> StoreKey {
    StoreKey::generate(&mut StdRng::seed_from_u64(1))
}

fn fill(store: &mut Store, kind: &Kind, count: u64) {
    let mut batch = store.batch();
    for _ in 0..count {
        let id = batch.next_id(kind);
        batch.push(kind, id, &vec![id.0 as u8; 1000 + id.0 as usize % 3]).expect("fits");
    }
    batch.commit().expect("durable");
}

fn bytes_on_disk(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder.join("segments")).expect("a folder").flatten();
    files.map(|file| file.metadata().expect("a file").len()).sum()
}

#[test]
fn remaining_pieces_move_together_unchanged() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let (a, b) = (Kind::new("a", b""), Kind::new("b", b""));
    // Each opening starts new segments.
    for seed in 0..4 {
        let mut store = Store::open_or_create(&path, &key(), &mut StdRng::seed_from_u64(seed)).expect("opens");
        fill(&mut store, &a, 100);
        fill(&mut store, &b, 3);
    }
    let mut store = Store::open(&path, &key(), &mut StdRng::seed_from_u64(9)).expect("opens");
    assert_eq!(store.segment_count(), 8);
    let taken: IdSet = (0..400).filter(|id| id % 10 != 0).map(PieceId).collect();
    drop(store.take(&a, &taken).expect("there"));
    let before = bytes_on_disk(&path);
    assert_eq!(before, store.segment_bytes());
    let mut steps = Vec::new();
    let compacted = store.compact(&mut |done, total| steps.push((done, total))).expect("compacted");
    assert_eq!((compacted.bytes_before, compacted.bytes_after, compacted.damaged), (before, bytes_on_disk(&path), 0));
    assert_eq!(steps.last(), Some(&(before, before)));
    let live: u64 = store.stock().iter().map(|stock| stock.bytes).sum();
    assert_eq!(compacted.bytes_after, live + 2 * 32, "one segment of each kind, with nothing but what is left");
    let again = store.compact(&mut |_, _| {}).expect("compacted");
    assert_eq!(again.bytes_before, again.bytes_after);
    fill(&mut store, &a, 5);
    drop(store);

    let mut store = Store::open(&path, &key(), &mut StdRng::seed_from_u64(10)).expect("opens");
    assert!(store.verify(&mut |_, _| {}).expect("readable").is_sound());
    assert_eq!((store.count(&a), store.count(&b)), (45, 12));
    for piece in store.take_next(&a, 45).expect("there") {
        let piece = piece.expect("sound");
        assert_eq!(piece.bytes[..], vec![piece.id.0 as u8; 1000 + piece.id.0 as usize % 3]);
    }
    assert_eq!(store.stock_of(&a).next, PieceId(405));
}

#[test]
fn damaged_pieces_are_given_up_and_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let kind = Kind::new("a", b"");
    let mut store = Store::create(&path, &key(), &mut StdRng::seed_from_u64(1)).expect("made");
    fill(&mut store, &kind, 10);
    drop(store.take_next(&kind, 1).expect("there"));
    drop(store);
    let segment = path.join("segments/00000000.seg");
    let mut bytes = std::fs::read(&segment).expect("a segment");
    bytes[5000] ^= 1;
    std::fs::write(&segment, bytes).expect("changed");
    let mut store = Store::open(&path, &key(), &mut StdRng::seed_from_u64(2)).expect("opens");
    assert_eq!(store.compact(&mut |_, _| {}).expect("compacted").damaged, 1);
    assert_eq!((store.count(&kind), store.stock_of(&kind).dropped), (8, 1));
    assert!(store.verify(&mut |_, _| {}).expect("readable").is_sound());
}
