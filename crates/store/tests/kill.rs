//! A process that fills a store and takes from it, killed again and again: the store always opens, keeps its promises,
//! and gives nothing out twice.
//!
//! The process durably logs all promises and all pieces that it received. It is this program itself, called as
//! `kill child FOLDER LOG SEED`, which is why the test has its own `main`.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use garblet_store::{IdSet, Kind, PieceId, Store, StoreError, StoreKey};
use rand::{RngExt, SeedableRng, rngs::StdRng};

const KINDS: [&str; 3] = ["components", "transfers", "wires"];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("child") => {
            let (folder, log) = (Path::new(&arguments[2]), Path::new(&arguments[3]));
            let error = child(folder, log, arguments[4].parse().expect("a seed")).expect_err("it runs forever");
            eprintln!("child: {error}");
            ExitCode::FAILURE
        }
        Some("--list") => {
            println!("kills: test");
            ExitCode::SUCCESS
        }
        _ => {
            let kills = if std::env::var_os("GARBLET_TEST_FULL").is_some() { 400 } else { 40 };
            parent(kills);
            println!("test {kills} kills ... ok");
            ExitCode::SUCCESS
        }
    }
}

fn kind(number: usize) -> Kind {
    Kind::new(KINDS[number], b"")
}

fn piece(kind: usize, id: u64) -> Vec<u8> {
    vec![(id as usize + kind) as u8; 50 + (id as usize * 37) % 5000]
}

/// Works until it is killed.
fn child(folder: &Path, log: &Path, seed: u64) -> Result<(), StoreError> {
    let mut rng = StdRng::seed_from_u64(seed);
    let key = StoreKey::generate(&mut StdRng::seed_from_u64(1));
    let mut log = OpenOptions::new().append(true).open(log).expect("the log");
    let mut note = |line: String| log.write_all(line.as_bytes()).and_then(|()| log.sync_data()).expect("the log");
    loop {
        let mut store = Store::open_or_create(folder, &key, &mut rng)?;
        for _ in 0..20 {
            let number = rng.random_range(0..KINDS.len());
            match rng.random_range(0..10) {
                0..4 => {
                    fill(&mut store, &mut rng)?;
                    (0..KINDS.len()).for_each(|n| note(format!("filled {n} {}\n", store.next_id(&kind(n)))));
                }
                4..9 => {
                    let available = store.stock_of(&kind(number)).available;
                    let wanted: IdSet = available.iter().filter(|_| rng.random_range(0..3) == 0).collect();
                    for taken in store.take(&kind(number), &wanted)? {
                        let taken = taken?;
                        assert!(taken.bytes[..] == piece(number, taken.id.0), "piece {} is another", taken.id);
                        note(format!("given {number} {}\n", taken.id));
                    }
                }
                _ => assert_eq!(store.compact(&mut |_, _| {})?.damaged, 0),
            }
        }
    }
}

fn fill(store: &mut Store, rng: &mut StdRng) -> Result<(), StoreError> {
    let mut batch = store.batch();
    for _ in 0..rng.random_range(1..60) {
        let number = rng.random_range(0..KINDS.len());
        let id = batch.next_id(&kind(number));
        batch.push(&kind(number), id, &piece(number, id.0))?;
    }
    batch.commit()
}

/// Kills children and checks the stores that they leave.
fn parent(kills: u64) {
    let scratch = tempfile::tempdir().expect("a folder for the test");
    let (folder, log) = (scratch.path().join("store"), scratch.path().join("log"));
    File::create(&log).expect("a log");
    let mut rng = StdRng::seed_from_u64(2);
    for seed in 0..kills {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["child".as_ref(), folder.as_os_str(), log.as_os_str(), seed.to_string().as_ref()])
            .stdin(Stdio::null())
            .spawn()
            .expect("a child");
        std::thread::sleep(Duration::from_millis(rng.random_range(0..120)));
        let ended = child.try_wait().expect("our child");
        assert!(ended.is_none(), "the child ended by itself at kill {seed}: {ended:?}");
        child.kill().and_then(|()| child.wait().map(drop)).expect("our child");
        check(&folder, &std::fs::read_to_string(&log).expect("the log"), seed);
    }
    let given = std::fs::read_to_string(&log).expect("the log").matches("given").count();
    assert!(given as u64 > kills, "only {given} pieces were given out");
}

fn check(folder: &Path, log: &str, seed: u64) {
    let key = StoreKey::generate(&mut StdRng::seed_from_u64(1));
    let opened = Store::open_or_create(folder, &key, &mut StdRng::seed_from_u64(1_000_000 + seed));
    let mut store = opened.unwrap_or_else(|error| panic!("after kill {seed}, it does not open: {error}"));
    let verified = store.verify(&mut |_, _| {}).expect("readable");
    assert!(verified.is_sound(), "after kill {seed}: {verified:?}");
    let mut given = HashSet::new();
    for line in log.lines() {
        let mut words = line.split(' ');
        let (what, number, id) = (words.next(), words.next(), words.next());
        let number: usize = number.expect("a kind").parse().expect("a kind");
        let id: u64 = id.expect("an identifier").parse().expect("an identifier");
        let stock = store.stock_of(&kind(number));
        if what == Some("filled") {
            assert!(stock.next.0 >= id, "after kill {seed}, what was durable is gone");
        } else {
            assert!(given.insert((number, id)), "after kill {seed}, piece {id} was given out twice");
            assert!(!stock.available.contains(PieceId(id)), "after kill {seed}, piece {id} is offered again");
        }
    }
    for stock in store.stock() {
        assert_eq!(stock.available.len() + stock.consumed + stock.dropped, stock.next.0, "after kill {seed}");
    }
}
