//! PartialGC: tables 1 to 4. Figures 4, 5 and 7 are only drawn; what the text says about them is with them.

use super::{Key, Line, Row, lines};
use crate::page::Unit::{Bytes, Count, Seconds};

/// The forms of `outsourced` beside each published row.
const FORMS: [&str; 2] = ["partialgc", "shares"];

const MAC: &str = "Published circuits contain MACs of outputs, 14,811 gates for each block of a recipient. Ours adds the same number; \
     the first column has none.";
const SMALLER: &str = "Our circuits have fewer gates for the same function.";
const STATE: &str = "Published circuits of this program carry the state's MACs (CMTB), or none (PartialGC); the counts do not show which part is the program's.";
const ONE_MACHINE: &str = "Published: two servers of 32 threads each. Ours: all three parties on this machine.";
const PHONE: &str =
    "Published: the client is a phone over 802.11 at 54 Mbit/s. Ours: a process behind a simulated link.";
const LOW_BOUND: &str = "Few circuits: a cheating garbler is caught only with that small a probability. `shares` has no such weak form, and is shown \
     beside them at 2^-40.";
const SHARES: &str = "`shares` is another construction for the same parties: clients deal shares to two servers, which run authenticated garbling.";

pub(super) fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> = lines("partialgc_table1_gate_counts.csv").iter().map(gates).collect();
    rows.extend(
        lines("partialgc_table2_no_reuse_mobile.csv")
            .iter()
            .flat_map(|line| FORMS.map(|form| timed("Table 2", line, form))),
    );
    rows.extend(
        lines("partialgc_table3_bandwidth_256_circuits.csv")
            .iter()
            .flat_map(|line| FORMS.map(|form| moved(line, form))),
    );
    rows.extend(
        lines("partialgc_table4_server_outsourcing.csv")
            .iter()
            .flat_map(|line| FORMS.map(|form| timed("Table 4", line, form))),
    );
    rows
}

fn gates(line: &Line) -> Row {
    let program = line.text("program");
    let mut row = Row::new("Table 1", vec![Key::named("program", program)]);
    row.publish("gates, CMTB", Count, line.number("cmtb_nonxor"), None);
    row.publish("gates, PartialGC", Count, line.number("partialgc_nonxor"), None);
    row.note(SMALLER);
    row.note(if program.starts_with("LCS") { STATE } else { MAC });
    row.sources.push(line.source());
    row
}

/// The keys of a row of tables 2 and 4.
pub(super) fn begun(experiment: &str, line: &Line, circuits: f64, form: &str) -> Row {
    let keys =
        vec![Key::named("program", line.text("program")), Key::number("circuits", circuits), Key::named("form", form)];
    let mut row = Row::new(experiment, keys);
    row.published_bound = Some(cheating_log2(circuits as u32));
    row.sources.push(line.source());
    row.note(SMALLER);
    row.note(ONE_MACHINE);
    if form == FORMS[1] {
        row.note(SHARES);
        if circuits < 256.0 {
            row.note(LOW_BOUND);
        }
    }
    row
}

fn timed(experiment: &str, line: &Line, form: &str) -> Row {
    let circuits = line.number("circuits").unwrap_or_default();
    let mut row = begun(experiment, line, circuits, form);
    if experiment == "Table 2" {
        row.note(PHONE);
    }
    let half =
        |system: &str| Some(line.number(&format!("{system}_s"))? * line.number(&format!("{system}_ci_pct"))? / 100.0);
    row.publish("in all", Seconds, line.number("partialgc_s"), half("partialgc"));
    row.publish("in all, CMTB", Seconds, line.number("cmtb_s"), half("cmtb"));
    row
}

fn moved(line: &Line, form: &str) -> Row {
    let mut row = begun("Table 3", line, 256.0, form);
    row.publish("client's bytes", Bytes, line.number("partialgc_bytes"), None);
    row.publish("client's bytes, CMTB", Bytes, line.number("cmtb_bytes"), None);
    row
}

/// The log2 of the probability that a garbler of this many circuits cheats unnoticed: no wrong circuit is checked, and half of those that are
/// evaluated are wrong. Of the circuits two fifths are evaluated, less one where that is even, which is the better choice.
pub(crate) fn cheating_log2(circuits: u32) -> f64 {
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
        assert_eq!([16, 64, 256].map(|s| format!("{:.1}", cheating_log2(s))), ["-5.8", "-21.3", "-83.1"]);
    }
}
