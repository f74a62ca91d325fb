//! TinyLEGO: tables 1 to 7, and the single run that section VI compares with another paper's.

use super::{Key, Line, Row, lines, told_only};
use crate::page::{
    Gap,
    Unit::{Bytes, Seconds},
};

const SMALLER: &str = "Published circuits have 6,928 AND gates (AES-128) and 91,081 (SHA-256), ours 6,400 and 22,271.";
const ONE_MACHINE: &str = "Published: two machines, many threads each, in memory. Ours: both parties in one process on this machine, with prepared material in \
     stores on disk.";
const WAN: &str = "Published: 214 Mbit/s for one TCP connection and 3.17 Gbit/s for many. Ours: one connection with the latency of half a round trip of \
     81.32 ms, at 1 Gbit/s.";
const ROUNDED: &str =
    "Published bounds are 2^-40 by theorem 2 of the paper; of the eight rows of Table 5 it gives 2^-40.3 to 2^-41.8.";
const BASE_OT: &str = "Published base OTs are 128 of a malicious protocol, once, divided by the copies. Ours are part of the set-up, divided likewise.";
const PER_COPY: &str = "Everything is per copy of the function.";
const OTHERS: &str = "the figures of other systems, which the paper quotes";
const SAME: &str = "The same run as in Table 4.";
const REPEATED: &str = "Inconsistent: this published row repeats that of 1,024 copies of AES-128 in the same network, and cannot be SHA-256.";
const MISLABELLED: &str = "In the text extracted from the paper this block has another network's name; the time of base OTs and Table 2 show which \
     it is.";
const FASTER_THAN_LIGHT: &str = "Inconsistent: 72.63 ms online is less than the paper's round trip of 81.32 ms for this network; these runs were on \
     other machines (c4.2x).";
const INDEPENDENT_SUM: &str = "Published: including base OTs. Ours likewise.";
const LOCAL: &str = "Published networks of two machines (0.12 ms and 0.16 ms) are loopback here.";
const THREADS: &str = "Published: the given numbers of threads on two machines. Ours: both sides on one thread, with the given number of commitments at a time.";

const AT_ONCE: &str = "`garblet-lab commit` makes all commitments at once and keeps them in memory, which has no room for this many; 500,000 show the cost of each";

/// The most commitments that are measured.
const COMMITMENTS_MAX: f64 = 500_000.0;

/// The log2 of the bound that the paper states.
const BOUND_LOG2: f64 = -40.0;

/// The networks by their names in the rows.
pub(crate) const NETWORKS: [&str; 3] = ["Local LAN", "AWS LAN", "AWS WAN"];

pub(super) fn rows() -> Vec<Row> {
    let overview = |line: &Line| {
        let system = line.text("ref_in_paper");
        let reason = if system == "This work" { "the best figures of Table 4, which are given there" } else { OTHERS };
        let mut row = told_only("Table 1", vec![Key::named("system", system)], line, reason);
        for (quantity, column) in
            [("best latency", "best_online_latency"), ("best throughput", "best_online_throughput")]
        {
            row.publish(quantity, Seconds, seconds(line.text(column)), None);
        }
        row
    };
    let mut rows: Vec<Row> = lines("lego_table1_overview.csv").iter().map(overview).collect();
    rows.extend(lines("lego_table2_summary_aws_lan.csv").iter().map(summary));
    rows.extend(lines("lego_table3_commit.csv").iter().map(commitments));
    rows.extend(lines("lego_table4_timings.csv").iter().map(timings));
    rows.extend(lines("lego_table5_params_data.csv").iter().map(data));
    rows.extend(lines("lego_table6_comparison_times.csv").iter().map(compared_times));
    rows.extend(lines("lego_table7_comparison_data.csv").iter().map(compared_data));
    rows.extend(lines("lego_text_single_execution_c4_2x.csv").iter().map(single));
    rows
}

/// A time in the form of table 1, such as `~1 ms`.
fn seconds(text: &str) -> Option<f64> {
    let (number, unit) = text.trim_start_matches('~').split_once(' ')?;
    let scale = if unit == "us" { 1e-6 } else { 1e-3 };
    number.parse::<f64>().ok().map(|value| scale * value)
}

/// The settings of a row of tables 2 to 7.
pub(crate) fn keys(network: &str, function: &str, copies: f64) -> Vec<Key> {
    vec![Key::named("network", network), Key::named("function", function), Key::number("copies", copies)]
}

fn begun(experiment: &str, line: &Line, keys: Vec<Key>) -> Row {
    let mut row = Row::new(experiment, keys);
    row.sources.push(line.source());
    row.published_bound = Some(BOUND_LOG2);
    row.note(PER_COPY);
    row.note(SMALLER);
    row.note(ONE_MACHINE);
    row.note(ROUNDED);
    row.note(if row.key("network") == NETWORKS[2] { WAN } else { LOCAL });
    row
}

fn phases(row: &mut Row, line: &Line, columns: [(&str, &str); 4]) {
    for (quantity, column) in columns {
        row.publish(quantity, Seconds, line.milli(column), None);
    }
}

fn summary(line: &Line) -> Row {
    let (copies, function) = line.text("count_circuit").split_once(" x ").unwrap_or_default();
    let mut row = begun("Table 2", line, keys(NETWORKS[1], function, copies.parse().unwrap_or_default()));
    let columns = [
        ("independent", "ind_ms"),
        ("dependent", "dep_ms"),
        ("online, alone", "online_latency_ms"),
        ("online, together", "online_throughput_ms"),
    ];
    phases(&mut row, line, columns);
    row.note(SAME);
    row
}

fn commitments(line: &Line) -> Row {
    let count = line.number("gamma").unwrap_or_default();
    let threads = line.text("threads");
    let mut row =
        Row::new("Table 3", vec![Key::number("commitments", count), Key::named("published threads", threads)]);
    let micro = |column: &str| line.number(column).map(|value| value / 1e6);
    row.publish("commit", Seconds, micro("commit_us"), None);
    row.publish("commit and base OTs", Seconds, micro("commit_us_with_baseOT"), None);
    row.publish("open together", Seconds, micro("decommit_us"), None);
    row.published_bound = Some(BOUND_LOG2);
    row.sources.push(line.source());
    row.note(THREADS);
    if count > COMMITMENTS_MAX {
        row.gap = Some(Gap::NotMeasured(AT_ONCE.into()));
    }
    row
}

fn timings(line: &Line) -> Row {
    let (network, function) = (line.text("setting"), line.text("circuit"));
    let mut row = begun("Table 4", line, keys(network, function, line.number("number").unwrap_or_default()));
    row.publish("base OT", Seconds, line.milli("baseOT_ms"), None);
    let columns = [
        ("independent", "ind_ms"),
        ("dependent", "dep_ms"),
        ("online, alone", "online_latency_ms"),
        ("online, together", "online_throughput_ms"),
    ];
    phases(&mut row, line, columns);
    row.note(BASE_OT);
    let note = line.text("note");
    if note.contains("repeats") {
        row.note(REPEATED);
        row.gap = Some(Gap::NotMeasured("the published row cannot be what it claims".into()));
    } else if !note.is_empty() {
        row.note(MISLABELLED);
    }
    row
}

fn data(line: &Line) -> Row {
    let function = line.text("circuit");
    let mut row = begun("Table 5", line, keys(NETWORKS[1], function, line.number("number").unwrap_or_default()));
    row.publish("independent", Bytes, line.number("ind_MB_per_circuit").map(|value| 1e6 * value), None);
    row.publish("dependent", Bytes, line.number("dep_kB_per_circuit").map(|value| 1e3 * value), None);
    row.publish("online", Bytes, line.number("online_kB_per_circuit").map(|value| 1e3 * value), None);
    row
}

/// The settings of tables 6 and 7: a system and copies of AES-128.
fn compared(experiment: &str, line: &Line, network: &str) -> Row {
    let system = line.text("protocol");
    let mut keys = keys(network, "AES-128", line.number("number").unwrap_or_default());
    if system != "This work" {
        keys.push(Key::named("system", system));
        return told_only(experiment, keys, line, OTHERS);
    }
    let mut row = begun(experiment, line, keys);
    row.note(SAME);
    row
}

fn compared_times(line: &Line) -> Row {
    let mut row = compared("Table 6", line, line.text("setting"));
    row.publish("independent", Seconds, line.milli("ind_ms"), None);
    row.publish("dependent", Seconds, line.milli("offline_ms"), None);
    row.publish("online, alone", Seconds, line.milli("online_ms"), None);
    if row.gap.is_none() {
        row.note(INDEPENDENT_SUM);
    }
    row
}

fn compared_data(line: &Line) -> Row {
    let mut row = compared("Table 7", line, NETWORKS[1]);
    row.publish("independent", Bytes, line.number("ind_MB").map(|value| 1e6 * value), None);
    row.publish("dependent", Bytes, line.number("offline_MB").map(|value| 1e6 * value), None);
    row.publish("online", Bytes, line.number("online_kB").map(|value| 1e3 * value), None);
    row
}

/// A line of the comparison of single runs on smaller machines (c4.2x).
fn single(line: &Line) -> Row {
    let (network, what) = (line.text("setting"), line.text("what"));
    let mut row = match what.strip_prefix("this work ") {
        None => {
            let mut row =
                told_only("section VI", vec![Key::named("network", network), Key::named("what", what)], line, OTHERS);
            row.publish("time", Seconds, line.milli("ms"), None);
            return row;
        }
        Some(phase) => {
            let phase = match phase {
                "ind" => "independent",
                "dep" => "dependent",
                _ => "online, alone",
            };
            let mut row = begun("section VI", line, vec![Key::named("network", network), Key::named("what", phase)]);
            row.publish("time", Seconds, line.milli("ms"), None);
            row
        }
    };
    row.note(SAME);
    if network == "WAN" {
        row.notes.retain(|note| note != LOCAL);
        row.note(WAN);
        row.note(FASTER_THAN_LIGHT);
    }
    row
}

/// The most gates, input gates and authenticators of a bucket and the shares that are checked, as negated log2 of both, of a line of Table 5.
pub(crate) fn sizing(function: &str, copies: u32) -> Option<[u8; 3]> {
    let table = lines("lego_table5_params_data.csv");
    let line =
        table.iter().find(|line| line.text("circuit") == function && line.text("number") == copies.to_string())?;
    let cell = |column: &str| line.number(column).map(|value| value.abs() as u8);
    Some([cell("beta")?, cell("log2_pg")?, cell("log2_pa")?])
}

/// AND gates of the paper's circuits.
pub(crate) fn and_gates(function: &str) -> u64 {
    let table = lines("settings_circuits.csv");
    let of = |line: &&Line| line.text("paper") == "lego" && line.text("circuit").starts_with(function);
    table.iter().find(of).and_then(|line| line.number("and_gates")).unwrap_or_default() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_found_where_the_paper_has_them() {
        assert_eq!((sizing("AES-128", 1024), sizing("SHA-256", 1024)), (Some([4, 5, 6]), None));
        assert_eq!([and_gates("AES-128"), and_gates("SHA-256")], [6_928, 91_081]);
    }
}
