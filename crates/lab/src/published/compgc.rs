//! CompGC: tables 2 and 3, and figures in the text.

use garblet_net::SimulatedLink;

use super::{Key, Line, Row, lines, told_only};
use crate::page::Unit::{Count, Megabit, Seconds};

/// The links of the paper's experiments, as its tables call them: the machine itself, and a simulated network.
const LINKS: [&str; 2] = ["localhost", "simulated"];

/// The settings of a row of tables 2 and 3: the latency of the simulated network is 33 ms each way.
pub(crate) fn keys(function: &str, link: Option<SimulatedLink>) -> Vec<Key> {
    let latency = link.map_or(0.0, |link| link.latency.as_secs_f64());
    let text = match link {
        None => LINKS[0].into(),
        Some(link) if link.to_string() == SIMULATED => LINKS[1].into(),
        Some(link) => link.to_string(),
    };
    let link = Key { name: "link".into(), text, number: Some(latency) };
    vec![Key::named("function", function), link]
}

/// The simulated network.
const SIMULATED: &str = "33ms,50mbit";

const INSTRUCTIONS: &str = "Published naive bytes describe every gate, including XOR gates: 77 bytes each of about 39,000 in AES. Our naive run sends the tables \
     of AND gates alone, which is the fairer comparison, and lowers our naive time too.";
const SCMC: &str = "The published links (SCMC) show the evaluator the difference of all labels, and with it every input: \
     `garblet-lab compgc --insecure-as-published` does it. Ours are safe: templates, or one key for a link of several wires.";
const TWICE: &str =
    "Published: netem delays loopback by 33 ms in each direction, so a round trip takes 66 ms. Our link does the same.";
const ROUND_TRIPS: &str = "Published: standard links wait for a second round trip (134.4 ms are two of 66 ms), an effect of the TCP window and not of the bytes. \
     Ours wait for one.";
const EVALUATOR_ONLY: &str = "The published clock starts when the evaluator has its instructions, and leaves out the garbler's online work. Ours starts when the \
     function is named.";
const EDGES: &str = "Our edit distance has one more component for each column, which adds up the last row.";
const OTHERS: &str = "the figure of another system, which the paper quotes";

pub(super) fn rows() -> Vec<Row> {
    let illustration = |line: &Line| {
        told_only(
            "Table 1",
            vec![Key::named("row", line.text("row"))],
            line,
            "the rows of a garbled gate, as an illustration: no figures",
        )
    };
    let mut rows: Vec<Row> = lines("compgc_table1_garbled_and.csv").iter().map(illustration).collect();
    let table_2 = lines("compgc_table2_compgc_vs_naive.csv");
    rows.extend(table_2.iter().flat_map(|line| LINKS.map(|link| against_naive(line, link))));
    rows.extend(lines("compgc_table3_standard_vs_scmc.csv").iter().map(standard));
    rows.extend(lines("compgc_text_figures.csv").iter().map(in_text));
    rows
}

/// Our name of a function of the tables.
fn function(line: &Line) -> &str {
    match line.text("experiment") {
        "CBC mode" => "CBC of 10",
        "Leven(30)" => "Levenshtein 30",
        "Leven(60)" => "Levenshtein 60",
        name => name,
    }
}

fn begun(experiment: &str, line: &Line, link: &str) -> Row {
    let simulated = if link == LINKS[1] { SIMULATED.parse().ok() } else { None };
    let mut row = Row::new(experiment, keys(function(line), simulated));
    row.sources.push(line.source());
    row.note(SCMC);
    row.note(EVALUATOR_ONLY);
    if link == LINKS[1] {
        row.note(TWICE);
    }
    if function(line).starts_with("Leven") {
        row.note(EDGES);
    }
    row
}

fn against_naive(line: &Line, link: &str) -> Row {
    let mut row = begun("Table 2", line, link);
    let time = |who: &str, what: &str| line.milli(&format!("{who}_{link}_{what}"));
    row.publish("naive", Seconds, time("naive", "ms"), time("naive", "ci"));
    row.publish("linked", Seconds, time("compgc", "ms"), time("compgc", "ci"));
    row.publish("naive, data", Megabit, line.number("naive_comm_Mbit"), None);
    row.publish("linked, data", Megabit, line.number("compgc_comm_Mbit"), None);
    row.note(INSTRUCTIONS);
    row
}

fn standard(line: &Line) -> Row {
    let mut row = begun("Table 3", line, LINKS[1]);
    row.publish("standard", Seconds, line.milli("standard_ms"), line.milli("standard_ci"));
    row.publish("linked", Seconds, line.milli("scmc_ms"), line.milli("scmc_ci"));
    row.publish("standard, data", Megabit, line.number("standard_Mbit"), None);
    row.publish("linked, data", Megabit, line.number("scmc_Mbit"), None);
    row.note(ROUND_TRIPS);
    row
}

fn in_text(line: &Line) -> Row {
    let (what, value) = (line.text("what"), line.number("value"));
    let place = line.text("where").replace("sec.", "section ").replace(" text", "");
    let components = |function: &str| {
        let mut row = Row::new("section 7", vec![Key::named("what", format!("components of {function}"))]);
        row.publish("components", Count, value, None);
        row
    };
    let offline = |rounds: &str, note: &str| {
        let mut row = Row::new("section 7", vec![Key::named("what", format!("{rounds} rounds of AES prepared"))]);
        row.publish("offline", Seconds, line.milli("value"), None);
        row.note(note);
        row
    };
    let mut row = match what {
        "components AES" => components("AES"),
        "components CBC (10 blocks)" => components("CBC of 10"),
        "components Leven(30)" => components("Levenshtein 30"),
        "components Leven(60)" => components("Levenshtein 60"),
        "offline AES localhost" => offline("10", "Ours are in stores on disk, durable."),
        "offline CBC and Leven(60) localhost" => offline(
            "100",
            "Published for CBC of 10 blocks and for the edit distance of 60 letters. Ours are the rounds of the former, durable in stores on disk.",
        ),
        _ if what.contains("cycles") || what.contains("eval") => {
            let reason = "cycles per gate of two garbling libraries, free gates counted too; `garblet-lab garbling` measures ours per AND gate";
            return told_only(&place, vec![Key::named("what", what)], line, reason);
        }
        _ => return told_only(&place, vec![Key::named("what", what)], line, OTHERS),
    };
    if what.contains("Leven") && what.starts_with("components") {
        row.note(EDGES);
    }
    row.sources.push(line.source());
    row
}
