//! *Secure Two-Party Computation is Practical*: tables 1 and 2.

use super::{Key, Line, Row, lines};
use crate::page::Unit::{Bytes, Count, Percent, Seconds};

const ONE_PROCESS: &str =
    "Published: two machines and 1 Gbit/s between them. Ours: one process, so each step is measured separately.";
const OVERLAP: &str = "Ours: two processes on this machine, whose steps overlap. `precompute` and `calculate` are the processor time of garbler and \
     evaluator, `OT` is the time of everything before the function's gates, and there is no `send`.";
const SECONDS: &str =
    "Published in whole seconds: 0 and 1 s may be anything below 1.5 s, and there is no ratio where the paper has 0.";
const SMALLER: &str = "Our circuit has fewer gates for the same function.";
const TAG: &str = "Published: the tag on the garbler's output is as short as the output, 6 bits, so it can be forged with probability 2^-6. \
     Ours has 48 bits and a key of 96, whose wires are committed to equally often.";
const DETERRENCE: &str =
    "Covert: a cheating garbler is caught with probability 0.82, by 16 circuits and 4 shares of each bit.";
const CIRCUITS: &str = "160 circuits and 160 supersets of commitments, as in the paper, which assumes 2^-40, one bit for four circuits. Counted exactly, 160 \
     circuits of which half are evaluated give 2^-49.5. Ours states the sum of all its bounds.";

/// The bound that the paper assumes against malicious parties.
const MALICIOUS_LOG2: f64 = -40.0;

pub(super) fn rows() -> Vec<Row> {
    let tables = [("Table 1", "pssw_table1_example1.csv"), ("Table 2", "pssw_table2_aes.csv")];
    tables
        .iter()
        .flat_map(|(experiment, name)| lines(name).into_iter().map(move |line| row(experiment, &line)))
        .collect()
}

/// The command's names of a line's adversary, encoding of inputs and method.
pub(crate) fn names(line: &Line) -> [String; 3] {
    let encoding = match line.text("input_encoding") {
        "Indep. Inputs" => "independent",
        "Random Comb." => "random",
        _ => "",
    };
    [line.text("adversary").to_lowercase(), encoding.into(), line.text("method").to_lowercase()]
}

fn row(experiment: &str, line: &Line) -> Row {
    let [adversary, encoding, method] = names(line);
    let keys = vec![Key::named("adversary", &adversary), Key::named("inputs", encoding), Key::named("method", method)];
    let mut row = Row::new(experiment, keys);
    row.publish("total", Seconds, line.number("total_s"), None);
    row.publish("data", Bytes, line.number("total_KB").map(|kilobytes| 1000.0 * kilobytes), None);
    row.publish("gates", Count, line.number("gates"), None);
    row.publish("XOR", Percent, line.number("xor_pct"), None);
    for (quantity, column) in [("precompute", "precomp_s"), ("send", "send_s"), ("OT", "ot_s"), ("calculate", "calc_s")]
    {
        row.publish(quantity, Seconds, line.number(column), None);
    }
    row.sources.push(line.source());
    row.note(SECONDS);
    row.note(SMALLER);
    row.note(if adversary == "semi-honest" { ONE_PROCESS } else { OVERLAP });
    match &adversary[..] {
        "covert" => row.note(DETERRENCE),
        "malicious" => {
            row.note(CIRCUITS);
            row.published_bound = Some(MALICIOUS_LOG2);
        }
        _ => {}
    }
    if experiment == "Table 1" && adversary == "malicious" {
        row.note(TAG);
    }
    row
}
