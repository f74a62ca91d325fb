//! Histories of many seeds, and old faults that they find.

use garblet_sim::{Bug, live};

/// The seeds within which an old fault is found.
const WITHIN: u64 = 2000;

/// Old faults, each with a seed whose history finds it, and the check that does.
const FOUND: [(Bug, u64, &str); 6] = [
    (Bug::PanicKeeps, 14, "value"),
    (Bug::NoRecord, 56, "twice"),
    (Bug::ForgetsCounts, 25, "counts"),
    (Bug::KeepsAtOnce, 4, "loss"),
    (Bug::LosesWrites, 2, "loss"),
    (Bug::GivesNothingUp, 11, "given up"),
];

/// Logs of histories, by seed, as digests. Whatever changes messages, draws of chance or words changes them.
const LOGS: [(u64, &str); 3] = [(0, "b1b1ccbfa22750af"), (2, "185b7ede3bf29b06"), (12, "5f964e30fa6a1274")];

/// Words of the logs of some seeds: each trouble comes up, and each remedy that is not rare.
const TROUBLES: [&str; 20] = [
    "begins with no stores",
    "begins with stores that are set up",
    "3 parties",
    "is cut at",
    "leaves at",
    ": gone",
    "panics at",
    ": panicked",
    "lies:",
    "the peer cheats",
    "dies at",
    "fails from",
    "keeps nothing",
    "is put back",
    "older than its record",
    "was given up",
    "hint: NewStores",
    "hint: Fill",
    "hint: KeepFirst",
    "uses triples {0}",
];

fn is_full() -> bool {
    std::env::var_os("GARBLET_TEST_FULL").is_some()
}

#[test]
fn no_history_has_a_finding() {
    let mut logs = String::new();
    for seed in 0..if is_full() { 5000 } else { 30 } {
        let history = live(seed, None);
        assert_eq!(history.finding, None, "seed {seed}:\n{}", history.log);
        logs += &history.log;
    }
    let missing: Vec<&str> = TROUBLES.into_iter().filter(|words| !logs.contains(words)).collect();
    assert!(missing.is_empty(), "no history has {missing:?}");
}

/// The short form begins with a seed that finds it, the full form with the first.
#[test]
fn every_old_fault_is_found() {
    assert!(Bug::ALL.into_iter().eq(FOUND.map(|(bug, ..)| bug)));
    for (bug, first, check) in FOUND {
        let mut seeds = if is_full() { 0 } else { first }..WITHIN;
        let finds = |seed: &u64| live(*seed, Some(bug)).finding.is_some_and(|finding| finding.check == check);
        let seed = seeds.find(finds).unwrap_or_else(|| panic!("{check} finds no {bug:?}"));
        eprintln!("{bug:?} is found with seed {seed}");
    }
}

#[test]
fn the_same_seed_gives_the_same_log_everywhere() {
    let digests = LOGS.map(|(seed, _)| {
        let [one, other] = [(); 2].map(|()| live(seed, None));
        assert_eq!(one, other);
        (seed, blake3::hash(one.log.as_bytes()).to_hex()[..16].to_string())
    });
    assert_eq!(digests.each_ref().map(|(seed, digest)| (*seed, &digest[..])), LOGS);
}
