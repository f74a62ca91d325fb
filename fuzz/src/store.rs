//! Bytes that a store reads: a peer's summary; rows of the index; and, against a store that is filled, any bytes in place of
//! one of its files. The first byte says which.

use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::sync::LazyLock;

use garblet_store::{AHEAD_MAX, Kind, Store, StoreKey, Summary, testing};
use rand::{SeedableRng, rngs::StdRng};

pub fn run(bytes: &[u8]) {
    let Some((which, bytes)) = bytes.split_first() else { return };
    match which % 4 {
        0 => {
            if let Ok(summary) = postcard::from_bytes::<Summary>(bytes) {
                let mut store = Store::in_memory(&mut rng()).expect("a store in memory");
                let _ = store.reconcile(&summary, AHEAD_MAX);
            }
        }
        1 => testing::decode_row(bytes),
        2 => with_file(FILES[0], bytes),
        _ => with_file(FILES[1], bytes),
    }
}

fn rng() -> StdRng {
    StdRng::seed_from_u64(1)
}

const FILES: [&str; 2] = ["index.sqlite", "segments/00000000.seg"];

/// The files of a store that has pieces.
static MADE: LazyLock<[Vec<u8>; 2]> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let (folder, key) = (folder.path().join("made"), StoreKey::generate(&mut rng()));
    let mut store = Store::create(&folder, &key, &mut rng()).expect("a store");
    let kind = Kind::new("k", b"");
    let mut batch = store.batch();
    for piece in 0..10 {
        batch.push(&kind, batch.next_id(&kind), &[piece; 40]).expect("fits");
    }
    batch.commit().expect("durable");
    drop(store);
    FILES.map(|file| std::fs::read(folder.join(file)).expect("a file"))
});

/// Lays the bytes over the beginning of a file of the store, and uses it.
fn with_file(name: &str, bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().join("copy");
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder.join("segments")).expect("a folder");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).expect("ours");
    for (file, made) in FILES.iter().zip(&*MADE) {
        let mut contents = made.clone();
        if *file == name {
            // A byte 0 leaves what is there, so that small changes are small inputs.
            contents.resize(contents.len().max(bytes.len()), 0);
            contents.iter_mut().zip(bytes).for_each(|(old, new)| *old ^= new);
        }
        std::fs::write(folder.join(file), contents).expect("a file");
    }
    let key = StoreKey::generate(&mut rng());
    let Ok(mut store) = Store::open(&folder, &key, &mut rng()) else { return };
    let _ = store.verify(&mut |_, _| {});
    for stock in store.stock() {
        for piece in store.take(&stock.kind, &stock.available).into_iter().flatten().flatten() {
            assert!(piece.bytes[..] == [piece.id.0 as u8; 40], "a changed piece passed");
        }
    }
}
