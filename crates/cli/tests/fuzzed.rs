//! Each fuzz target on what is in the repository, and on random changes of that: what libFuzzer does with coverage, for some seconds without it.

#[allow(dead_code, missing_docs, unreachable_pub, reason = "the fuzz targets are a package of their own")]
#[path = "../../../fuzz/src/lib.rs"]
mod targets;

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};

/// A target with the files that it begins with, each with the first byte that stands before it.
macro_rules! targets {
    ($($name:ident: [$(($first:expr, $places:expr)),* $(,)?]),* $(,)?) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(
            #[test]
            fn $name() {
                fuzz(stringify!($name), &[$(($first, $places)),*]);
            }
        )*
    };
}

targets! {
    agreed_file: [
        (Some(0), "vectors/golden/*/job.toml"),
        (Some(1), "vectors/golden/*/job.toml.signatures"),
        (Some(2), "vectors/golden/*/*.jsonl"),
        (Some(3), "vectors/golden/*/agreement.toml"),
        (Some(4), "vectors/golden/*/*.pem"),
    ],
    binary_file: [(None, "vectors/golden/*/*.gbc")],
    circuit_file: [(None, "vectors/circuits/*.txt")],
    client: [],
    frames: [],
    input_file: [(None, "vectors/golden/*/*.json"), (None, "examples/*/*.json"), (None, "examples/*/*.csv")],
    netlist_file: [
        (Some(0), "vectors/circuits/*/*.aag"),
        (Some(1), "vectors/circuits/*/*.aig"),
        (Some(2), "vectors/circuits/*/*.blif"),
        (Some(3), "vectors/circuits/*/*.json"),
        (Some(4), "vectors/circuits/*/*.bench"),
        (Some(5), "vectors/circuits/*/*.aby"),
    ],
    ot: [],
    program_file: [(None, "vectors/golden/*/program.json"), (None, "vectors/circuits/*.json")],
    source_file: [(None, "examples/*/*.garble.rs")],
    source_program: [],
    store: [],
    tables: [],
    visitors: [],
}

#[test]
fn every_target_is_run() {
    let all: Vec<&str> = targets::TARGETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(NAMES, all);
}

/// The longest file to begin with: changes of longer ones would mean less.
const SEED_BYTES_MAX: u64 = 1 << 14;

/// Runs a target on files, and on changes of them and of random bytes.
fn fuzz(name: &str, places: &[(Option<u8>, &str)]) {
    let (_, target) = targets::TARGETS.iter().find(|(of, _)| *of == name).expect("a target");
    let mut seeds: Vec<Vec<u8>> = Vec::new();
    for (first, place) in places {
        let files = files(place);
        assert!(!files.is_empty(), "{place}: no file");
        seeds.extend(files.iter().map(|file| first.iter().copied().chain(fs::read(file).expect("a file")).collect()));
    }
    seeds.iter().for_each(|seed| run(name, *target, seed));
    let (least, limit) = match std::env::var_os("GARBLET_TEST_FULL") {
        Some(_) => (10_000, Duration::from_secs(120)),
        None => (50, Duration::from_secs(2)),
    };
    let (begin, mut rng, mut done) = (Instant::now(), StdRng::seed_from_u64(7), 0);
    while done < least || begin.elapsed() < limit {
        run(name, *target, &changed(&seeds, &mut rng));
        done += 1;
    }
    println!("{name}: {} files, {done} changes", seeds.len());
}

/// Runs a target; if it panics, the bytes are kept and named.
fn run(name: &str, target: fn(&[u8]), bytes: &[u8]) {
    if catch_unwind(AssertUnwindSafe(|| target(bytes))).is_err() {
        let file = std::env::temp_dir().join(format!("garblet-fuzzed-{name}"));
        fs::write(&file, bytes).expect("a file");
        panic!("{name} fails on these {} bytes: {}", bytes.len(), file.display());
    }
}

/// The files of a place in the repository, in which `*` stands for any text within a name.
fn files(place: &str) -> Vec<PathBuf> {
    let mut found = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")];
    for part in place.split('/') {
        let (begin, end) = part.split_once('*').unwrap_or((part, ""));
        let fits = |name: &str| match part.contains('*') {
            true => name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end),
            false => name == part,
        };
        let entries = found.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
        let mut next: Vec<PathBuf> =
            entries.filter(|entry| entry.file_name().to_str().is_some_and(fits)).map(|entry| entry.path()).collect();
        next.sort();
        found = next;
    }
    found.retain(|file| file.metadata().is_ok_and(|data| data.is_file() && data.len() <= SEED_BYTES_MAX));
    found
}

/// A change of one of the seeds, or random bytes.
fn changed(seeds: &[Vec<u8>], rng: &mut StdRng) -> Vec<u8> {
    let seed = |rng: &mut StdRng| match seeds.len() {
        0 => random(rng, 600),
        count => seeds[rng.random_range(0..count)].clone(),
    };
    let mut bytes = seed(rng);
    for _ in 0..rng.random_range(1..=6) {
        let at = rng.random_range(0..=bytes.len());
        let end = (at + rng.random_range(0..=40)).min(bytes.len());
        match rng.random_range(0..8) {
            0 | 1 if at < bytes.len() => bytes[at] ^= 1 << rng.random_range(0..8),
            2 if at < bytes.len() => bytes[at] = rng.random(),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            5 => drop(bytes.splice(at..end, random(rng, 20))),
            6 => bytes.truncate(at),
            _ => {
                let other = seed(rng);
                let from = rng.random_range(0..=other.len());
                let to = (from + rng.random_range(0..=200)).min(other.len());
                drop(bytes.splice(at..end, other[from..to].iter().copied()));
            }
        }
    }
    bytes
}

fn random(rng: &mut StdRng, most: usize) -> Vec<u8> {
    let mut bytes = vec![0; rng.random_range(0..=most)];
    rng.fill_bytes(&mut bytes);
    bytes
}
