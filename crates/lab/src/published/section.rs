//! A paper's section of a page.

use super::{Line, Paper, Row, lines, plots};
use crate::page::{Piece, Section};

/// The section of a paper with some of its rows.
pub(crate) fn section(paper: Paper, rows: Vec<Row>) -> Section {
    let about = std::iter::once(format!("{}.", paper.citation()))
        .chain(about(paper).iter().map(|words| (*words).into()))
        .collect();
    let plots = plots::of(paper, &rows);
    Section { id: paper.name().into(), title: paper.system().into(), about, rows, plots, pieces: settings(paper) }
}

/// The paper's own networks, machines and circuits.
fn settings(paper: Paper) -> Vec<Piece> {
    let of = |table: &str, columns: &[(&str, &str)]| {
        let heads = columns.iter().map(|(_, head)| (*head).into()).collect();
        let own = lines(table).into_iter().filter(|line| line.text("paper") == paper.name());
        let line = |line: Line| columns.iter().map(|(column, _)| line.text(column).to_string()).collect();
        let mut table: Vec<Vec<String>> = vec![heads];
        table.extend(own.map(line));
        table
    };
    let networks = [
        ("name", "the paper's network"),
        ("rtt_ms", "round trip, ms"),
        ("bandwidth", "rate"),
        ("hardware", "machines"),
        ("remark", "remark"),
    ];
    let circuits = [
        ("circuit", "the paper's circuit"),
        ("and_gates", "AND gates"),
        ("depth", "depth"),
        ("inputs", "inputs"),
        ("remark", "remark"),
    ];
    let tables = [of("settings_networks.csv", &networks), of("settings_circuits.csv", &circuits)];
    tables.into_iter().filter(|table| table.len() > 1).map(Piece::Table).collect()
}

/// The subject of the measurements, in a paragraph or two.
fn about(paper: Paper) -> &'static [&'static str] {
    match paper {
        Paper::Compgc => &[
            "Two parties, semi-honest. Components are garbled before a function is known; when it is, only links between them and labels of inputs \
             are sent. We measure how long the evaluator waits from when the function is named until it has the result, on one machine and over a \
             simulated network of 33 ms and 50 Mbit/s, and the data that it receives in that time. `naive` sends all tables online, `standard` a label \
             for each linked wire, `linked` is the best way in each system: one label per block in the paper, templates here (`garblet-lab compgc`).",
        ],
        Paper::Partialgc => &[
            "A client asks, and two servers compute for it; at most one of them cheats. We measure the client's time from its hello to its \
             outputs and the bytes that it sends and receives. Rows with the form `partialgc` are the paper's construction, which this program can run; \
             those with `shares` are the default of `outsourced` (`garblet-lab partialgc`).",
            "Figure 5 is a database that stays with the servers: saved once, read by each query, or sent anew with it. Figure 7 is a map of friends, with the \
             paper's operations (`MapStart`, `MapSet`, `MapGet`) and our own (`start`, `place`, `look`). The paper plots their times, and states a few. With \
             `partialgc` kept values are in memory, and all parties are threads of one process.",
        ],
        Paper::Pssw => &[
            "Two parties against semi-honest, covert and malicious adversaries, with garbled circuits made in four ways of 2009: table 1 compares two \
             numbers and counts their common bits, table 2 is AES-128. Each published method runs as it was published; `glnp` and `default` are the \
             better choices today, and `bare` is the work that every run of `cut-and-choose` needs (`garblet-lab pssw`).",
        ],
        Paper::Lego => &[
            "Two parties, one of which may cheat in any way. Single gates are made before the function is known (independent), soldered into it when it is \
             (dependent), and evaluated when the inputs are there (online). Many copies of AES-128 and SHA-256 come from one pool; everything is per copy \
             (`garblet-lab lego`, and `garblet-lab commit` for table 3).",
        ],
        Paper::Bmr => &[
            "Several parties, semi-honest. All parties garble a circuit together; it is sent offline, and evaluated online in rounds that do not grow with its \
             depth, unlike GMW's. We measure the slowest party's times offline (preparing and building) and online, with 37.5 ms between all of \
             them (`garblet-lab bmr`). `as published` is the paper's form, plain figures are of `form=linear`, our steps to the same circuit, and \
             `half gates` is the form that `bmr` takes by itself.",
        ],
    }
}
