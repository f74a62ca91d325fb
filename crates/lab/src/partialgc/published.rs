//! The paper's own figures.

use serde::Serialize;

use crate::published::{Line, lines, partialgc::cheating_log2};

/// Numbers of circuits that the paper checks and evaluates.
const CIRCUITS: [u32; 3] = [16, 64, 256];

const GATES: &str = "partialgc_table1_gate_counts.csv";
const PHONE: &str = "partialgc_table2_no_reuse_mobile.csv";
const BYTES: &str = "partialgc_table3_bandwidth_256_circuits.csv";
const SERVER: &str = "partialgc_table4_server_outsourcing.csv";

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

/// The times of both systems with one number of circuits.
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
    let of = |table: &str| lines(table).into_iter().filter(|line| line.text("program") == name).collect::<Vec<_>>();
    let gates = |system: &str| of(GATES).first()?.number(&format!("{system}_nonxor")).map(|count| count as u64);
    let times = match table {
        Some(2) => of(PHONE),
        Some(4) => of(SERVER),
        _ => Vec::new(),
    };
    let bytes = if table == Some(3) { of(BYTES) } else { Vec::new() };
    Published {
        cmtb_gates: gates("cmtb"),
        partialgc_gates: gates("partialgc"),
        times: times.iter().filter_map(times_of).collect(),
        client_bytes: bytes.first().and_then(client_bytes),
        about: None,
    }
}

fn times_of(line: &Line) -> Option<Times> {
    let time = |system: &str| {
        let [seconds, interval] = ["s", "ci_pct"].map(|what| line.number(&format!("{system}_{what}")));
        Some(Time { seconds: seconds?, interval_percent: interval? })
    };
    let circuits = line.number("circuits")? as u32;
    Some(Times { circuits, cheating_log2: cheating_log2(circuits), cmtb: time("cmtb")?, partialgc: time("partialgc")? })
}

fn client_bytes(line: &Line) -> Option<ClientBytes> {
    let bytes = |system: &str| line.number(&format!("{system}_bytes")).map(|bytes| bytes as u64);
    Some(ClientBytes {
        circuits: CIRCUITS[2],
        cheating_log2: cheating_log2(CIRCUITS[2]),
        cmtb: bytes("cmtb")?,
        partialgc: bytes("partialgc")?,
    })
}

impl Published {
    /// The gates of the paper's MAC: what the circuits of PartialGC have more than those of CMTB. None where the two differ in more than
    /// that, as those do that go on from saved values.
    pub(super) fn mac_gates(&self, name: &str) -> Option<u64> {
        let same_but_for_the_mac = !name.starts_with("LCS");
        self.partialgc_gates?.checked_sub(self.cmtb_gates?).filter(|_| same_but_for_the_mac)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        // An output of at most one block: once, or for each of two recipients.
        assert_eq!(["KeyedDB 64", "KeyedDB 128", "KeyedDB 256"].map(mac), [Some(14_811); 3]);
        assert_eq!(mac("Millionaires 8192"), Some(2 * 14_811));
        assert_eq!([mac("LCS Incremental 128"), mac("LCS Full 128")], [None; 2]);
    }
}
