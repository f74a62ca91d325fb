//! The paper's own figures.

use serde::Serialize;

/// Numbers of circuits that the paper checks and evaluates.
const CIRCUITS: [u32; 3] = [16, 64, 256];

/// Mood, Gupta, Butler, Feigenbaum (CCS 2014), table 1: gates that are no XOR, in CMTB and in PartialGC, whose circuits have a MAC besides.
const GATES: &[(&str, u64, Option<u64>)] = &[
    ("KeyedDB 64", 6_080, Some(20_891)),
    ("KeyedDB 128", 12_160, Some(26_971)),
    ("KeyedDB 256", 24_320, Some(39_131)),
    ("MatrixMult8x8", 3_060_802, Some(3_305_113)),
    ("Edit Distance 128", 1_434_888, Some(1_464_490)),
    ("Millionaires 8192", 49_153, Some(78_775)),
    ("LCS Incremental 128", 4_053_870, Some(87_236)),
    ("LCS Incremental 256", 8_077_676, Some(160_322)),
    ("LCS Incremental 512", 16_125_291, Some(306_368)),
    ("LCS Full 128", 2_978_854, None),
    ("LCS Full 256", 13_177_739, None),
];

/// Seconds and the 95 % interval in percent, of CMTB and of PartialGC.
type Pair = [(f64, f64); 2];

/// Table 2: the client is a phone.
const PHONE: &[(&str, [Pair; 3])] = &[
    ("KeyedDB 64", [[(18.0, 2.0), (3.5, 3.0)], [(72.0, 2.0), (8.3, 5.0)], [(290.0, 2.0), (26.0, 2.0)]]),
    ("KeyedDB 128", [[(33.0, 2.0), (4.4, 8.0)], [(140.0, 2.0), (9.5, 4.0)], [(580.0, 2.0), (31.0, 3.0)]]),
    ("KeyedDB 256", [[(65.0, 2.0), (4.6, 2.0)], [(270.0, 1.0), (12.0, 6.0)], [(1200.0, 3.0), (38.0, 5.0)]]),
    ("MatrixMult8x8", [[(48.0, 4.0), (46.0, 4.0)], [(110.0, 8.0), (100.0, 7.0)], [(400.0, 10.0), (370.0, 5.0)]]),
    ("Edit Distance 128", [[(21.0, 6.0), (22.0, 3.0)], [(47.0, 7.0), (50.0, 9.0)], [(120.0, 9.0), (180.0, 6.0)]]),
    ("Millionaires 8192", [[(35.0, 3.0), (7.3, 6.0)], [(140.0, 2.0), (20.0, 2.0)], [(580.0, 1.0), (70.0, 2.0)]]),
];

/// Table 4: the client is a process on the servers' machine.
const SERVER: &[(&str, [Pair; 3])] = &[
    ("KeyedDB 64", [[(6.6, 4.0), (1.4, 1.0)], [(27.0, 4.0), (5.1, 2.0)], [(110.0, 2.0), (24.9, 0.3)]]),
    ("KeyedDB 128", [[(13.0, 3.0), (1.8, 2.0)], [(54.0, 4.0), (5.8, 2.0)], [(220.0, 5.0), (27.9, 0.5)]]),
    ("KeyedDB 256", [[(25.0, 4.0), (2.5, 1.0)], [(110.0, 7.0), (7.3, 2.0)], [(420.0, 4.0), (33.5, 0.6)]]),
    ("MatrixMult8x8", [[(42.0, 3.0), (41.0, 4.0)], [(94.0, 4.0), (79.0, 3.0)], [(300.0, 10.0), (310.0, 1.0)]]),
    ("Edit Distance 128", [[(18.0, 3.0), (18.0, 3.0)], [(40.0, 8.0), (40.0, 6.0)], [(120.0, 9.0), (150.0, 3.0)]]),
    ("Millionaires 8192", [[(13.0, 4.0), (3.2, 1.0)], [(52.0, 3.0), (8.5, 2.0)], [(220.0, 5.0), (38.4, 0.9)]]),
];

/// Table 3: bytes that the client sends and receives with 256 circuits, in CMTB and in PartialGC.
const BYTES: &[(&str, [u64; 2])] = &[
    ("KeyedDB 64", [64_992_308, 3_590_416]),
    ("KeyedDB 128", [129_744_948, 3_590_416]),
    ("KeyedDB 256", [259_250_228, 3_590_416]),
    ("MatrixMult8x8", [71_238_860, 35_027_980]),
    ("Edit Distance 128", [2_615_651, 4_108_045]),
    ("Millionaires 8192", [155_377_267, 67_071_757]),
];

/// The paper's figures for a program, as far as a table has them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Published {
    /// Gates that are no XOR; none where the paper has no such circuit.
    pub(super) cmtb_gates: Option<u64>,
    pub(super) partialgc_gates: Option<u64>,
    /// Of each number of circuits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) times: Vec<Times>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) client_bytes: Option<ClientBytes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) about: Option<About>,
}

/// A time that a figure draws, as the text has it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct About {
    pub(super) circuits: u32,
    pub(super) cheating_log2: f64,
    pub(super) seconds: f64,
    /// The operations that take it together.
    pub(super) operations: u32,
}

impl About {
    /// Figure 7, section 6.3: one operation on a map of 64 or 256 cells takes 'about 30 seconds'; three on one of 2,048, 'about 3 minutes'.
    pub(super) fn map(cells: usize) -> Option<Self> {
        let (circuits, cheating_log2) = (CIRCUITS[2], cheating_log2(CIRCUITS[2]));
        let about = |seconds, operations| About { circuits, cheating_log2, seconds, operations };
        match cells {
            64 | 256 => Some(about(30.0, 1)),
            2048 => Some(about(180.0, 3)),
            _ => None,
        }
    }
}

/// The times of both systems with so many circuits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Times {
    pub(super) circuits: u32,
    pub(super) cheating_log2: f64,
    pub(super) cmtb: Time,
    pub(super) partialgc: Time,
}

/// A time with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Time {
    pub(super) seconds: f64,
    pub(super) interval_percent: f64,
}

/// The bytes of the client in both systems.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct ClientBytes {
    pub(super) circuits: u32,
    pub(super) cheating_log2: f64,
    pub(super) cmtb: u64,
    pub(super) partialgc: u64,
}

/// The paper's gates, and the figures of one of its tables, for a program by its name there.
pub(super) fn published(name: &str, table: Option<u8>) -> Published {
    let gates = GATES.iter().find(|row| row.0 == name);
    let rows = match table {
        Some(2) => PHONE,
        Some(4) => SERVER,
        _ => &[],
    };
    let times = rows.iter().find(|row| row.0 == name).map(|(_, pairs)| times(pairs)).unwrap_or_default();
    let bytes = BYTES.iter().find(|row| row.0 == name && table == Some(3));
    Published {
        cmtb_gates: gates.map(|(_, cmtb, _)| *cmtb),
        partialgc_gates: gates.and_then(|(.., partialgc)| *partialgc),
        times,
        client_bytes: bytes.map(|&(_, [cmtb, partialgc])| ClientBytes {
            circuits: CIRCUITS[2],
            cheating_log2: cheating_log2(CIRCUITS[2]),
            cmtb,
            partialgc,
        }),
        about: None,
    }
}

fn times(pairs: &[Pair; 3]) -> Vec<Times> {
    let time = |(seconds, interval_percent): (f64, f64)| Time { seconds, interval_percent };
    let of = |(circuits, pair): (u32, &Pair)| {
        let [cmtb, partialgc] = pair.map(time);
        Times { circuits, cheating_log2: cheating_log2(circuits), cmtb, partialgc }
    };
    CIRCUITS.into_iter().zip(pairs).map(of).collect()
}

impl Published {
    /// The gates of the paper's MAC: what the circuits of PartialGC have more than those of CMTB. None where the two differ in more than
    /// that, as those do that go on from saved values.
    pub(super) fn mac_gates(&self, name: &str) -> Option<u64> {
        let same_but_for_the_mac = !name.starts_with("LCS");
        self.partialgc_gates?.checked_sub(self.cmtb_gates?).filter(|_| same_but_for_the_mac)
    }
}

/// log2 of the probability that a garbler of so many circuits cheats unnoticed: no wrong circuit is checked, and half of those that are
/// evaluated are wrong. Of the circuits two fifths are evaluated, less one where that is even, which is the better choice.
fn cheating_log2(circuits: u32) -> f64 {
    let two_fifths = 2 * circuits / 5;
    let evaluated = two_fifths - u32::from(two_fifths.is_multiple_of(2));
    let wrong = evaluated.div_ceil(2);
    // All wrong ones are among the evaluated.
    (0..wrong).map(|k| (f64::from(evaluated - k) / f64::from(circuits - k)).log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circuits_give_the_bounds_that_enumeration_has() {
        // 16 circuits, 5 evaluated, 3 of them wrong: C(13, 11) / C(16, 11).
        assert!((cheating_log2(16) - (78.0f64 / 4368.0).log2()).abs() < 1e-12);
        assert_eq!(CIRCUITS.map(|s| format!("{:.1}", cheating_log2(s))), ["-5.8", "-21.3", "-83.1"]);
    }

    #[test]
    fn each_table_has_its_figures() {
        let phone = published("KeyedDB 256", Some(2));
        assert_eq!(phone.times[2].cmtb, Time { seconds: 1200.0, interval_percent: 3.0 });
        assert_eq!((phone.times.len(), phone.client_bytes), (3, None));
        assert_eq!(published("Millionaires 8192", Some(4)).times[2].partialgc.seconds, 38.4);
        let bytes = published("KeyedDB 64", Some(3));
        assert_eq!((bytes.client_bytes.map(|bytes| bytes.partialgc), bytes.times.len()), (Some(3_590_416), 0));
        let of_nothing = published("LCS Full 512", None);
        assert_eq!((of_nothing.cmtb_gates, of_nothing.partialgc_gates), (None, None));
    }

    #[test]
    fn the_mac_is_what_partialgc_has_more() {
        let mac = |name: &str| published(name, Some(1)).mac_gates(name);
        // An output of at most one block: once, or for each of two who learn it.
        assert_eq!(["KeyedDB 64", "KeyedDB 128", "KeyedDB 256"].map(mac), [Some(14_811); 3]);
        assert_eq!(mac("Millionaires 8192"), Some(2 * 14_811));
        assert_eq!([mac("LCS Incremental 128"), mac("LCS Full 128")], [None; 2]);
    }
}
