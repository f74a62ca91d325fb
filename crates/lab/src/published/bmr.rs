//! BMR for the Internet: tables 1 and 2, the two tables of optimisations and the one of BGW3, and figures in the text. Its figures 4 to 8 are drawn
//! only: figure 4 shows the sums of tables 1 and 2.

use super::{Key, Line, Row, lines, told_only};
use crate::page::Unit::Seconds;

/// Numbers of parties of tables 1 and 2.
pub(crate) const PARTIES: [f64; 3] = [3.0, 7.0, 13.0];

/// The networks by their names in the rows.
pub(crate) const NETWORKS: [&str; 2] = ["LAN", "76 ms"];

const SHARED: &str = "Ours: all parties share this machine's processor, so wall time grows with their number. `alone` is what a phase would take with a \
     machine for each: processor time, rounds at the latency, bytes at the rate.";
const LINK: &str = "Published: parties in Virginia and Ireland, round trip about 75 ms, some of them in one place. Ours: every link with 37.5 ms each way, \
     1 Gbit/s.";
const NOISE: &str = "Published intervals are wide, some of them wider than the value.";
const LOWER: &str = "Inconsistent: the paper remarks that its online time for 7 parties is lower than expected.";
const NOT_THREE: &str = "bmr-bgw2 needs more than two thirds of honest parties";
const UNALIGNED: &str =
    "The text extracted from the paper does not show which online time belongs to which column, so none is given here.";
const XOR: &str =
    "Without free XOR each XOR gate is garbled like an AND gate: a circuit with 42,029 more AND gates represents that.";
const OTHERS: &str = "the figure of another system, which the paper quotes";
const DEEP: &str = "Published in a local network with a round trip of 0.1 ms; 400 ms is an approximate value. Ours: loopback, at a depth of 4,000.";
const UNOPTIMISED: &str = "all our BGW forms have these optimisations";
const DEPTH: &str =
    "Published circuits of one size and growing depth. Ours have the same number of AND gates and the same depth.";
const AES: &str = "The published circuit has 6,800 AND gates at depth 40, ours 6,400 at depth 60.";
const SHA: &str = "The published circuit has 90,825 AND gates. Ours has the same number in layers, since joint garbling does not depend on depth.";

pub(super) fn rows() -> Vec<Row> {
    let mut rows = table("Table 1", "bmr_table1_aes_virginia_ireland.csv");
    rows.extend(table("Table 2", "bmr_table2_sha256_virginia_ireland.csv"));
    rows.extend(ladder("bmr_table_a_ot_optimisations_create_lan.csv", NETWORKS[0]));
    rows.extend(ladder("bmr_table_b_ot_optimisations_76ms.csv", NETWORKS[1]));
    rows.extend(lines("bmr_table_c_bgw3_create_lan.csv").iter().flat_map(bgw3));
    rows.extend(lines("bmr_text_figures.csv").iter().map(in_text));
    rows
}

/// A table with lines for offline and online, and columns for numbers of parties.
fn table(experiment: &str, name: &str) -> Vec<Row> {
    let all = lines(name);
    let pairs = all.chunks_exact(2).flat_map(|pair| PARTIES.map(|parties| (pair, parties)));
    pairs.map(|(pair, parties)| of_pair(experiment, [&pair[0], &pair[1]], parties)).collect()
}

fn of_pair(experiment: &str, [offline, online]: [&Line; 2], parties: f64) -> Row {
    let protocol = offline.text("protocol");
    let keys = vec![Key::named("protocol", protocol), Key::number("parties", parties)];
    let mut row = Row::new(experiment, keys);
    row.sources = vec![offline.source(), online.source()];
    let column = |what: &str| format!("n{parties:.0}_{what}");
    for (quantity, line) in [("offline", offline), ("online", online)] {
        row.publish(quantity, Seconds, line.milli(&column("ms")), line.milli(&column("ci")));
    }
    if row.figures.is_empty() {
        row.gap = Some(crate::page::Gap::NotMeasured(NOT_THREE.into()));
        return row;
    }
    row.note(SHARED);
    row.note(LINK);
    row.note(NOISE);
    row.note(if experiment == "Table 1" { AES } else { SHA });
    if protocol.contains("d=") {
        row.note(DEPTH);
    }
    if experiment == "Table 1" && protocol == "OT" && parties == 7.0 {
        row.note(LOWER);
    }
    row
}

/// The optimisations as columns, by their names here.
const RUNGS: [(&str, &str); 5] = [
    ("basic", "basic"),
    ("reduced OT", "reduced_ot"),
    ("correlated OT", "correlated_ot"),
    ("free XOR", "free_xor"),
    ("two threads", "two_ot_threads"),
];

fn ladder(name: &str, network: &str) -> Vec<Row> {
    let all = lines(name);
    let [offline, online] = &all[..] else { return Vec::new() };
    let rung = |(rung, column): (&str, &str)| {
        let mut row = Row::new("section 4.1, OT", vec![Key::named("with", rung), Key::named("network", network)]);
        row.publish("offline", Seconds, offline.milli(&format!("{column}_ms")), offline.milli(&format!("{column}_ci")));
        row.sources = vec![offline.source(), online.source()];
        row.note(UNALIGNED);
        row.note(XOR);
        row.note(SHARED);
        row
    };
    RUNGS.map(rung).into()
}

fn bgw3(line: &Line) -> Vec<Row> {
    let columns = [
        ("basic", "basic", "ci"),
        ("multiplication", "opt_mult", "ci2"),
        ("free XOR", "free_xor", "ci3"),
        ("two threads", "two_threads", "ci4"),
    ];
    let row = |(with, column, interval): (&str, &str, &str)| {
        let keys = vec![Key::named("with", with), Key::named("network", NETWORKS[0])];
        let last = with == "two threads";
        let mut row = if last {
            Row::new("section 4.1, BGW3", keys)
        } else {
            told_only("section 4.1, BGW3", keys, line, UNOPTIMISED)
        };
        row.publish("offline", Seconds, line.milli(column), line.milli(interval));
        row.sources = vec![line.source()];
        row.note(SHARED);
        row
    };
    columns.map(row).into()
}

fn in_text(line: &Line) -> Row {
    let what = line.text("what");
    let scale = if line.text("unit") == "s" { 1.0 } else { 1e-3 };
    let value = line.number("value").map(|value| scale * value);
    if let Some(protocol) = what.strip_prefix("abstract: SHA256 13 parties total ") {
        let mut row = Row::new("abstract", vec![Key::named("protocol", protocol), Key::number("parties", 13.0)]);
        row.publish("offline and online", Seconds, value, None);
        row.sources.push(line.source());
        [SHA, LINK, SHARED].iter().for_each(|words| row.note(words));
        return row;
    }
    // `CREATE: GMW online 3 parties`, or `CREATE LAN, 0.1 ms: ...`.
    let local = what.split_once(": ").filter(|(place, _)| place.starts_with("CREATE"));
    let ends = local.and_then(|(_, rest)| rest.strip_suffix(" parties")?.split_once(" online "));
    if let Some((protocol, parties)) = ends {
        let mut row = Row::new(LOCAL, local_keys(protocol, parties.parse().unwrap_or_default()));
        row.publish("online", Seconds, value, None);
        row.sources.push(line.source());
        [SHA, DEEP, SHARED].iter().for_each(|words| row.note(words));
        return row;
    }
    let mut row = told_only(&format!("section {}", line.text("where")), vec![Key::named("what", what)], line, OTHERS);
    row.publish("time", Seconds, value, None);
    row
}

/// The experiment of figures 5 and 6: a local network, and a circuit of the size and depth of SHA-256. The text tells the ends of two curves.
pub(crate) const LOCAL: &str = "Figures 5 and 6";

/// The settings of its rows.
pub(crate) fn local_keys(protocol: &str, parties: f64) -> Vec<Key> {
    vec![Key::named("protocol", protocol), Key::number("parties", parties)]
}
