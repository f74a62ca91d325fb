//! The experiments: which call of a benchmark has which rows, and what a quick run leaves out.

use crate::{page::Row, published::Paper};

/// An experiment.
pub(super) struct Experiment {
    pub(super) paper: Paper,
    /// The name, also of its file.
    pub(super) name: &'static str,
    /// The benchmark's call, without `garblet-lab`.
    pub(super) call: &'static [&'static str],
    /// The reason why a quick run leaves it out, if it does.
    pub(super) left_out: Option<&'static str>,
    /// Tells whether a run begins with all others, as it is long: on a slow machine a quick run ends before it.
    pub(super) late: bool,
    /// Runs of a full one: as many as the paper has.
    pub(super) full: Full,
    /// Tells whether a published row is of this experiment.
    pub(super) covers: fn(&Row) -> bool,
}

/// The runs of a full run.
#[derive(Clone, Copy)]
pub(super) enum Full {
    /// So many calls.
    Calls(u32),
    /// One call, which repeats by itself.
    Repeat(&'static str),
    /// Counts that are the same each time.
    Once,
}

const LONG: &str = "it takes minutes";
const MANY: Full = Full::Calls(10);
/// Of the paper on BMR.
const FIFTY: Full = Full::Calls(50);
/// Of CompGC.
const HUNDRED: Full = Full::Calls(100);
const TEN: Full = Full::Repeat("10");

const fn experiment(
    paper: Paper,
    name: &'static str,
    call: &'static [&'static str],
    full: Full,
    covers: fn(&Row) -> bool,
) -> Experiment {
    Experiment { paper, name, call, left_out: None, late: false, full, covers }
}

impl Experiment {
    const fn only_full(self, reason: &'static str) -> Self {
        Experiment { left_out: Some(reason), ..self }
    }

    const fn late(self) -> Self {
        Experiment { late: true, ..self }
    }

    /// The call of a quick or full run, and how often it is made.
    pub(super) fn calls(&self, full: bool) -> (Vec<String>, u32) {
        let mut call: Vec<String> = self.call.iter().map(|word| (*word).into()).collect();
        let repeats =
            self.paper == Paper::Partialgc || self.paper == Paper::Compgc && !self.call.contains(&"--prepare");
        let (repeat, times) = match self.full {
            Full::Repeat(count) if full => (count, 1),
            Full::Calls(count) if full => ("1", count),
            _ => ("1", 1),
        };
        if repeats {
            call.extend(["--repeat".into(), repeat.into()]);
        }
        (call, times)
    }
}

fn of(row: &Row, experiment: &str) -> bool {
    row.experiment == experiment
}

/// A run of copies of a function by `lego` in a network.
fn copies(row: &Row, slow: bool, function: &str, counts: &[&str]) -> bool {
    let own_network = match row.key("network") {
        "AWS WAN" | "WAN" => slow,
        _ => !slow,
    };
    let single = of(row, "section VI") && function == "AES-128" && counts.contains(&"1");
    own_network && (single || row.key("function") == function && counts.contains(&row.key("copies")))
}

/// A run of `outsourced` in some form with a number of circuits.
fn outsourced(row: &Row, table: &str, form: &str, circuits: &[&str]) -> bool {
    of(row, table) && row.key("form") == form && circuits.contains(&row.key("circuits"))
}

/// A run among a number of parties by some protocols.
fn parties(row: &Row, table: &str, counts: &[&str], protocol: fn(&str) -> bool) -> bool {
    of(row, table) && counts.contains(&row.key("parties")) && protocol(row.key("protocol"))
}

/// All experiments, in the papers' order.
pub(super) const EXPERIMENTS: &[Experiment] = &[
    experiment(Paper::Compgc, "compgc-localhost", &["compgc"], HUNDRED, |row| {
        of(row, "Table 2") && row.key("link") == "localhost" || row.key("what").starts_with("components of")
    }),
    experiment(Paper::Compgc, "compgc-simulated", &["compgc", "--link", "33ms,50mbit"], HUNDRED, |row| {
        of(row, "Table 3") || of(row, "Table 2") && row.key("link") == "simulated"
    }),
    experiment(
        Paper::Compgc,
        "compgc-aes-10ms",
        &["compgc", "--only", "AES", "--link", "10ms,50mbit"],
        HUNDRED,
        |_| false,
    ),
    experiment(
        Paper::Compgc,
        "compgc-aes-81ms",
        &["compgc", "--only", "AES", "--link", "81ms,50mbit"],
        HUNDRED,
        |_| false,
    ),
    experiment(Paper::Compgc, "compgc-offline-10", &["compgc", "--prepare", "10"], HUNDRED, |row| {
        row.key("what") == "10 rounds of AES prepared"
    }),
    experiment(Paper::Compgc, "compgc-offline-100", &["compgc", "--prepare", "100"], HUNDRED, |row| {
        row.key("what") == "100 rounds of AES prepared"
    }),
    experiment(Paper::Partialgc, "partialgc-table-1", &["partialgc", "--table", "1"], Full::Once, |row| {
        of(row, "Table 1")
    }),
    experiment(
        Paper::Partialgc,
        "partialgc-table-2",
        &["partialgc", "--table", "2", "--client-link", "2ms,25mbit"],
        TEN,
        |row| outsourced(row, "Table 2", "shares", &["16", "64", "256"]),
    ),
    experiment(
        Paper::Partialgc,
        "partialgc-table-2-as-published",
        &["partialgc", "--table", "2", "--client-link", "2ms,25mbit", "--form", "partialgc"],
        TEN,
        |row| outsourced(row, "Table 2", "partialgc", &["16", "64", "256"]),
    ),
    experiment(
        Paper::Partialgc,
        "partialgc-table-3",
        &["partialgc", "--table", "3", "--statistical", "80"],
        Full::Once,
        |row| outsourced(row, "Table 3", "shares", &["256"]),
    ),
    experiment(
        Paper::Partialgc,
        "partialgc-table-3-as-published",
        &["partialgc", "--table", "3", "--form", "partialgc", "--circuits", "256"],
        Full::Once,
        |row| outsourced(row, "Table 3", "partialgc", &["256"]),
    ),
    experiment(Paper::Partialgc, "partialgc-table-4", &["partialgc", "--table", "4"], TEN, |row| {
        outsourced(row, "Table 4", "shares", &["16", "64", "256"])
    }),
    experiment(
        Paper::Partialgc,
        "partialgc-table-4-as-published",
        &["partialgc", "--table", "4", "--form", "partialgc"],
        TEN,
        |row| outsourced(row, "Table 4", "partialgc", &["16", "64", "256"]),
    ),
    experiment(Paper::Partialgc, "partialgc-figure-4", &["partialgc", "--figure", "4"], TEN, |_| false),
    experiment(Paper::Partialgc, "partialgc-figure-5", &["partialgc", "--figure", "5"], TEN, |_| false),
    experiment(
        Paper::Partialgc,
        "partialgc-figure-5-as-published",
        &["partialgc", "--figure", "5", "--form", "partialgc", "--circuits", "256"],
        TEN,
        |_| false,
    ),
    experiment(Paper::Partialgc, "partialgc-figure-7", &["partialgc", "--figure", "7"], TEN, |_| false),
    experiment(
        Paper::Partialgc,
        "partialgc-figure-7-as-published",
        &["partialgc", "--figure", "7", "--form", "partialgc", "--circuits", "256"],
        TEN,
        |_| false,
    ),
    experiment(
        Paper::Pssw,
        "pssw-table-1-semi-honest",
        &["pssw", "--example", "1", "--adversary", "semi-honest"],
        MANY,
        |row| of(row, "Table 1") && row.key("adversary") == "semi-honest",
    ),
    experiment(Paper::Pssw, "pssw-table-1-covert", &["pssw", "--example", "1", "--adversary", "covert"], MANY, |row| {
        of(row, "Table 1") && row.key("adversary") == "covert"
    }),
    experiment(
        Paper::Pssw,
        "pssw-table-1-malicious",
        &["pssw", "--example", "1", "--adversary", "malicious"],
        MANY,
        |row| of(row, "Table 1") && row.key("adversary") == "malicious",
    ),
    experiment(
        Paper::Pssw,
        "pssw-table-2-semi-honest",
        &["pssw", "--example", "2", "--adversary", "semi-honest"],
        MANY,
        |row| of(row, "Table 2") && row.key("adversary") == "semi-honest",
    ),
    experiment(Paper::Pssw, "pssw-table-2-covert", &["pssw", "--example", "2", "--adversary", "covert"], MANY, |row| {
        of(row, "Table 2") && row.key("adversary") == "covert"
    }),
    experiment(
        Paper::Pssw,
        "pssw-table-2-malicious",
        &["pssw", "--example", "2", "--adversary", "malicious"],
        MANY,
        |row| of(row, "Table 2") && row.key("adversary") == "malicious",
    ),
    experiment(Paper::Lego, "lego-commit-500", &["commit", "--commitments", "500"], MANY, |row| {
        row.key("commitments") == "500"
    }),
    experiment(Paper::Lego, "lego-commit-1000", &["commit", "--commitments", "1000"], MANY, |row| {
        row.key("commitments") == "1,000"
    }),
    experiment(Paper::Lego, "lego-commit-15000", &["commit", "--commitments", "15000"], MANY, |row| {
        row.key("commitments") == "15,000"
    }),
    experiment(Paper::Lego, "lego-commit-50000", &["commit", "--commitments", "50000"], MANY, |row| {
        row.key("commitments") == "50,000"
    }),
    experiment(
        Paper::Lego,
        "lego-commit-500000",
        &["commit", "--commitments", "500000", "--repeat", "1"],
        MANY,
        |row| row.key("commitments") == "500,000",
    ),
    experiment(Paper::Lego, "lego-aes", &["lego", "--copies", "1"], MANY, |row| copies(row, false, "AES-128", &["1"])),
    experiment(Paper::Lego, "lego-aes-32", &["lego", "--copies", "32"], MANY, |row| {
        copies(row, false, "AES-128", &["32"])
    }),
    experiment(Paper::Lego, "lego-aes-128", &["lego", "--copies", "128"], MANY, |row| {
        copies(row, false, "AES-128", &["128"])
    }),
    experiment(Paper::Lego, "lego-aes-1024", &["lego", "--copies", "1024"], MANY, |row| {
        copies(row, false, "AES-128", &["1,024"])
    })
    .only_full("it takes minutes and 6 GB of disk for each party"),
    experiment(Paper::Lego, "lego-sha", &["lego", "--function", "sha256", "--copies", "1"], MANY, |row| {
        copies(row, false, "SHA-256", &["1"])
    }),
    experiment(Paper::Lego, "lego-sha-32", &["lego", "--function", "sha256", "--copies", "32"], MANY, |row| {
        copies(row, false, "SHA-256", &["32"])
    }),
    experiment(
        Paper::Lego,
        "lego-sha-128-256",
        &["lego", "--function", "sha256", "--copies", "128,256"],
        MANY,
        |row| copies(row, false, "SHA-256", &["128", "256"]),
    )
    .only_full("it takes minutes and 5 GB of disk for each party"),
    experiment(Paper::Lego, "lego-aes-wan", &["lego", "--copies", "1,32", "--link", "40.66ms,1gbit"], MANY, |row| {
        copies(row, true, "AES-128", &["1", "32"])
    }),
    experiment(
        Paper::Lego,
        "lego-aes-wan-many",
        &["lego", "--copies", "128,1024", "--link", "40.66ms,1gbit"],
        MANY,
        |row| copies(row, true, "AES-128", &["128", "1,024"]),
    )
    .only_full(LONG),
    experiment(
        Paper::Lego,
        "lego-sha-wan",
        &["lego", "--function", "sha256", "--copies", "1", "--link", "40.66ms,1gbit"],
        MANY,
        |row| copies(row, true, "SHA-256", &["1"]),
    ),
    experiment(
        Paper::Lego,
        "lego-sha-wan-many",
        &["lego", "--function", "sha256", "--copies", "32,128,256", "--link", "40.66ms,1gbit"],
        MANY,
        |row| copies(row, true, "SHA-256", &["32", "128", "256"]),
    )
    .only_full(LONG),
    experiment(
        Paper::Bmr,
        "bmr-table-1-n3",
        &["bmr", "--parties", "3", "--only", "aes128", "--link", LINK],
        FIFTY,
        |row| parties(row, "Table 1", &["3"], |_| true),
    ),
    experiment(
        Paper::Bmr,
        "bmr-table-1-n7",
        &["bmr", "--parties", "7", "--only", "aes128", "--link", LINK],
        FIFTY,
        |row| parties(row, "Table 1", &["7"], |_| true),
    ),
    experiment(
        Paper::Bmr,
        "bmr-table-1-n13",
        &["bmr", "--parties", "13", "--only", "aes128", "--link", LINK],
        FIFTY,
        |row| parties(row, "Table 1", &["13"], |_| true),
    ),
    experiment(
        Paper::Bmr,
        "bmr-table-2-n3",
        &["bmr", "--parties", "3", "--only", SHALLOW, "--link", LINK],
        FIFTY,
        |row| parties(row, "Table 2", &["3"], |protocol| protocol == "GMW d=10" || !protocol.contains("d=")),
    ),
    experiment(
        Paper::Bmr,
        "bmr-table-2-n7",
        &["bmr", "--parties", "7", "--only", SHALLOW, "--link", LINK],
        FIFTY,
        |row| parties(row, "Table 2", &["7"], |protocol| protocol == "GMW d=10" || !protocol.contains("d=")),
    ),
    experiment(
        Paper::Bmr,
        "bmr-table-2-n13",
        &["bmr", "--parties", "13", "--only", SHALLOW, "--link", LINK],
        FIFTY,
        |row| {
            parties(row, "Table 2", &["13"], |protocol| protocol == "GMW d=10" || !protocol.contains("d="))
                || of(row, "abstract") && row.key("protocol") == "BMR"
        },
    )
    .late(),
    experiment(
        Paper::Bmr,
        "bmr-table-2-gmw-100",
        &["bmr", "--parties", "3,7,13", "--only", "layered(100,", "--protocol", "gmw", "--link", LINK],
        FIFTY,
        |row| parties(row, "Table 2", &["3", "7", "13"], |protocol| protocol == "GMW d=100"),
    ),
    experiment(
        Paper::Bmr,
        "bmr-table-2-gmw-1000",
        &["bmr", "--parties", "3,7,13", "--only", "layered(1000,", "--protocol", "gmw", "--link", LINK],
        FIFTY,
        |row| parties(row, "Table 2", &["3", "7", "13"], |protocol| protocol == "GMW d=1000"),
    )
    .only_full("its layers wait for minutes"),
    experiment(
        Paper::Bmr,
        "bmr-table-2-gmw-4000",
        &["bmr", "--parties", "3,7,13", "--only", "layered(4000,", "--protocol", "gmw", "--link", LINK],
        FIFTY,
        |row| {
            parties(row, "Table 2", &["3", "7", "13"], |protocol| protocol == "GMW d=4000")
                || of(row, "abstract") && row.key("protocol") == "GMW"
        },
    )
    .only_full("its layers wait for a quarter of an hour"),
    experiment(Paper::Bmr, "bmr-figures-5-and-6", &["bmr", "--parties", "3,7", "--only", DEEP], FIFTY, |row| {
        of(row, "Figures 5 and 6") && row.key("parties") == "3"
    }),
    experiment(Paper::Bmr, "bmr-figures-5-and-6-n13", &["bmr", "--parties", "13", "--only", DEEP], FIFTY, |_| false)
        .only_full(LONG),
    experiment(
        Paper::Bmr,
        "bmr-figures-5-and-6-n33-gmw",
        &["bmr", "--parties", "33", "--only", DEEP, "--protocol", "gmw"],
        FIFTY,
        |row| of(row, "Figures 5 and 6") && (row.key("parties"), row.key("protocol")) == ("33", "GMW"),
    )
    .only_full("33 parties on one machine take long"),
    experiment(
        Paper::Bmr,
        "bmr-figures-5-and-6-n33",
        &["bmr", "--parties", "33", "--only", DEEP, "--protocol", "bmr"],
        FIFTY,
        |row| of(row, "Figures 5 and 6") && (row.key("parties"), row.key("protocol")) == ("33", "BMR"),
    )
    .only_full("33 parties on one machine take long, and much memory"),
    experiment(Paper::Bmr, "bmr-optimisations-lan", &["bmr", "--parties", "13", "--ladder"], FIFTY, |row| {
        of(row, "section 4.1, OT") && row.key("network") == "LAN"
    }),
    experiment(
        Paper::Bmr,
        "bmr-optimisations-76ms",
        &["bmr", "--parties", "13", "--ladder", "--link", "38ms,1gbit"],
        FIFTY,
        |row| of(row, "section 4.1, OT") && row.key("network") == "76 ms",
    )
    .only_full(LONG),
    experiment(
        Paper::Bmr,
        "bmr-bgw3-lan",
        &["bmr", "--parties", "13", "--only", SHALLOW, "--protocol", "bmr-bgw3"],
        FIFTY,
        |row| of(row, "section 4.1, BGW3"),
    ),
];

/// Half of the round trip between Virginia and Ireland.
const LINK: &str = "37.5ms,1gbit";
/// The circuit of the size of SHA-256 that takes the fewest rounds.
const SHALLOW: &str = "layered(10,";
/// The circuit of the size and the depth of the paper's SHA-256.
const DEEP: &str = "layered(4000,";

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::commands::Lab;

    #[test]
    fn every_published_row_is_of_an_experiment_or_says_why_it_is_of_none() {
        for paper in Paper::ALL {
            for row in paper.rows().into_iter().filter(|row| row.gap.is_none()) {
                let covered =
                    EXPERIMENTS.iter().any(|experiment| experiment.paper == paper && (experiment.covers)(&row));
                assert!(covered, "{}: {} is of no experiment", paper.name(), row.title());
            }
        }
    }

    #[test]
    fn every_call_is_understood_and_every_name_is_of_one() {
        for (at, experiment) in EXPERIMENTS.iter().enumerate() {
            for full in [false, true] {
                let call = experiment.calls(full).0;
                let words = std::iter::once("garblet-lab".to_string()).chain(call).chain(["--rows".into()]);
                assert!(Lab::try_parse_from(words).is_ok(), "{}", experiment.name);
            }
            assert!(EXPERIMENTS[at + 1..].iter().all(|other| other.name != experiment.name), "{}", experiment.name);
        }
    }
}
