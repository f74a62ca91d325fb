//! Histories of many seeds, and old faults that they find.

use garblet_sim::{Bug, History, live, live_with_clients};

/// The seeds within which an old fault is found.
const WITHIN: u64 = 2000;

/// Old faults of parties, each with a seed whose history finds it, and the check that does.
const FOUND: [(Bug, u64, &str); 6] = [
    (Bug::PanicKeeps, 14, "value"),
    (Bug::NoRecord, 56, "twice"),
    (Bug::ForgetsCounts, 25, "counts"),
    (Bug::KeepsAtOnce, 4, "loss"),
    (Bug::LosesWrites, 2, "loss"),
    (Bug::GivesNothingUp, 11, "given up"),
];

/// Old faults of servers, in the same way.
const FOUND_AT_SERVERS: [(Bug, u64, &str); 5] = [
    (Bug::PanicKeeps, 0, "versions"),
    (Bug::NoRecord, 14, "versions"),
    (Bug::ForgetsCounts, 3, "counts"),
    (Bug::CountsByVersion, 3, "counts"),
    (Bug::LosesWrites, 1, "never run"),
];

/// Logs of histories of servers, as [`LOGS`].
const LOGS_OF_SERVERS: [(u64, &str); 2] = [(0, "2253db46190e7119"), (3, "280c4f7557e9aa9a")];

/// Words of the logs of some seeds of servers.
const TROUBLES_OF_SERVERS: [&str; 18] = [
    "is cut at",
    "is gone at",
    "is gone, after",
    "dies at",
    "fails from",
    "leaves at once",
    "waits 700 s",
    "which panicked",
    "has_panicked: true",
    "is put back",
    "older than its record",
    "starts again",
    "the submission was used",
    "the state has another version",
    "runs that did not end",
    "hint: NewStores",
    "service 1 begins",
    "fills its store",
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

#[test]
fn no_history_of_servers_has_a_finding() {
    let mut logs = String::new();
    for seed in 0..if is_full() { 5000 } else { 12 } {
        let history = live_with_clients(seed, None);
        assert_eq!(history.finding, None, "seed {seed}:\n{}", history.log);
        logs += &history.log;
    }
    let missing: Vec<&str> = TROUBLES_OF_SERVERS.into_iter().filter(|words| !logs.contains(words)).collect();
    assert!(missing.is_empty(), "no history has {missing:?}");
}

/// The short form begins with a seed that finds it, the full form with the first.
#[test]
fn every_old_fault_is_found() {
    assert!(Bug::OF_PARTIES.into_iter().eq(FOUND.map(|(bug, ..)| bug)));
    find_all(&FOUND, live);
}

#[test]
fn every_old_fault_of_servers_is_found() {
    assert!(Bug::OF_SERVERS.into_iter().eq(FOUND_AT_SERVERS.map(|(bug, ..)| bug)));
    find_all(&FOUND_AT_SERVERS, live_with_clients);
}

fn find_all(faults: &[(Bug, u64, &str)], live: fn(u64, Option<Bug>) -> History) {
    for &(bug, first, check) in faults {
        let mut seeds = if is_full() { 0 } else { first }..WITHIN;
        let finds = |seed: &u64| live(*seed, Some(bug)).finding.is_some_and(|finding| finding.check == check);
        let seed = seeds.find(finds).unwrap_or_else(|| panic!("{check} finds no {bug:?}"));
        eprintln!("{bug:?} is found with seed {seed}");
    }
}

#[test]
fn the_same_seed_gives_the_same_log_everywhere() {
    assert_eq!(digests(LOGS.map(|(seed, _)| seed), live), LOGS.map(|(seed, digest)| (seed, digest.into())));
    let seeds = LOGS_OF_SERVERS.map(|(seed, _)| seed);
    assert_eq!(digests(seeds, live_with_clients), LOGS_OF_SERVERS.map(|(seed, digest)| (seed, digest.into())));
}

/// The digests of the logs of these seeds, each of which lives its history twice.
fn digests<const N: usize>(seeds: [u64; N], live: fn(u64, Option<Bug>) -> History) -> [(u64, String); N] {
    seeds.map(|seed| {
        let [one, other] = [(); 2].map(|()| live(seed, None));
        assert_eq!(one, other);
        (seed, blake3::hash(one.log.as_bytes()).to_hex()[..16].to_string())
    })
}
