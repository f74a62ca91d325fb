//! The plots of PartialGC.

use super::{Axis, Plot, Row, Unit, named, number, of_experiment, place, places, plot, values};

pub(super) fn plots(rows: &[Row]) -> Vec<Plot> {
    vec![
        time_by_circuits(rows),
        client_by_program(rows),
        gates_by_length(rows),
        time_by_entries(rows),
        time_by_cells(rows),
    ]
}

fn time_by_circuits(rows: &[Row]) -> Plot {
    let shown = ["KeyedDB 256", "MatrixMult8x8", "Millionaires 8192"];
    let rows = of_experiment(rows, "Table 4")
        .filter(|row| row.key("form") == "partialgc" && shown.contains(&row.key("program")));
    let point = |row: &Row| Some((row.key("program").to_string(), number(row, "circuits")?, values(row, "in all")));
    plot(
        [
            "Table 4",
            "partialgc-circuits",
            "Time by number of circuits (table 4)",
            "The same construction, then and now: time grows with the number of circuits, since each is sent.",
        ],
        Axis::number("circuits", Unit::Count, true),
        Axis::number("total time", Unit::Seconds, true),
        rows.filter_map(point).collect(),
    )
}

fn client_by_program(rows: &[Row]) -> Plot {
    let programs = places(of_experiment(rows, "Table 3"), "program");
    let points = of_experiment(rows, "Table 3").flat_map(|row| {
        let at = place(&programs, row.key("program"));
        let [published, ours] = values(row, "client's bytes");
        let cmtb = values(row, "client's bytes, CMTB")[0];
        let name = if row.key("form") == "shares" { "shares" } else { "PartialGC" };
        let published = published.filter(|_| name == "PartialGC");
        [
            ("CMTB".to_string(), at, [cmtb.filter(|_| name == "PartialGC"), None]),
            (name.to_string(), at, [published, ours]),
        ]
    });
    let programs_short: Vec<String> = programs
        .iter()
        .map(|name| {
            name.replace("MatrixMult8x8", "Matrix")
                .replace("Edit Distance", "Edit d.")
                .replace("Millionaires", "Million.")
        })
        .collect();
    plot(
        ["Table 3", "partialgc-client", "Bytes of the client (table 3)", "With 256 circuits, or at 2^-80."],
        named("program", &programs_short),
        Axis::number("bytes sent and received", Unit::Bytes, true),
        points.collect(),
    )
}

fn gates_by_length(rows: &[Row]) -> Plot {
    let points = of_experiment(rows, "Table 1").flat_map(|row| {
        let size = row.key("program").strip_prefix("LCS Incremental ").and_then(|size| size.parse::<f64>().ok());
        let of = |size: f64| {
            let [cmtb, ours] = values(row, "gates, CMTB");
            let partialgc = values(row, "gates, PartialGC")[0];
            [
                ("CMTB".to_string(), size, [cmtb, None]),
                ("PartialGC".to_string(), size, [partialgc, None]),
                ("state in stores".to_string(), size, [None, ours]),
            ]
        };
        size.map(of).into_iter().flatten()
    });
    plot(
        [
            "Table 1",
            "partialgc-gates",
            "Gates by length (table 1, longest common substring)",
            "Gates of one more step, by the length of the text that stays with the servers.",
        ],
        Axis::number("length", Unit::Count, true),
        Axis::number("non-XOR gates", Unit::Count, true),
        points.collect(),
    )
}

/// A form at its strongest bound, as in a plot.
fn strongest(row: &Row) -> Option<&'static str> {
    match row.key("at") {
        "circuits=256" => Some("partialgc"),
        "statistical=80" => Some("shares"),
        _ => None,
    }
}

/// The size in the name of a program, such as `MapGet 64` or `KeyedDB 64, read`.
fn size(row: &Row, before: &str, after: &str) -> Option<f64> {
    row.key("program").strip_prefix(before)?.strip_suffix(after)?.parse().ok()
}

fn time_by_entries(rows: &[Row]) -> Plot {
    let of = |row: &Row| {
        let form = strongest(row)?;
        let [read, anew] = [", read", ", sent anew"].map(|step| size(row, "KeyedDB ", step));
        let entries = read.or(anew)?;
        let way = if read.is_some() { "read" } else { "sent anew" };
        Some((format!("{form}, {way}"), entries, values(row, "in all")))
    };
    plot(
        [
            "Figure 5",
            "partialgc-database",
            "Time of a query by number of entries (figure 5)",
            "The database stays with the servers, or is sent with each query. With 256 circuits, or at 2^-80.",
        ],
        Axis::number("entries", Unit::Count, true),
        Axis::number("total time", Unit::Seconds, true),
        of_experiment(rows, "Figure 5").filter_map(of).collect(),
    )
}

fn time_by_cells(rows: &[Row]) -> Plot {
    let points = of_experiment(rows, "Figure 7").filter_map(|row| {
        let (form, cells) = (strongest(row)?, size(row, "MapGet ", "")?);
        let [published, ours] = values(row, "in all");
        // Each published figure is plotted once.
        let published = published.filter(|_| form == "partialgc");
        Some([
            (form.to_string(), cells, [published, ours]),
            ("shares, a visit".to_string(), cells, [None, values(row, "a visit")[1]]),
        ])
    });
    plot(
        [
            "Figure 7",
            "partialgc-map",
            "Time to read a cell by size of the map (figure 7)",
            "With 256 circuits, or at 2^-80; the paper's figures are for any operation. In a visit the servers are waiting and have prepared.",
        ],
        Axis::number("cells", Unit::Count, true),
        Axis::number("total time", Unit::Seconds, true),
        points.flatten().collect(),
    )
}
