//! The plots of each paper: published points and ours in one.

mod partialgc;

use super::{Paper, Row};
use crate::page::{Axis, Kind, Plot, Series, Unit};

/// A value of a row in a plot: name of its series, place, published and ours.
type Point = (String, f64, [Option<f64>; 2]);

/// The plots of a paper's rows. A plot with hardly any points shows that it is not worth having.
pub(super) fn of(paper: Paper, rows: &[Row]) -> Vec<Plot> {
    match paper {
        Paper::Compgc => vec![data_by_function(rows), time_by_latency(rows)],
        Paper::Partialgc => partialgc::plots(rows),
        Paper::Pssw => vec![by_method(rows, "total", Unit::Seconds), by_method(rows, "data", Unit::Bytes)],
        Paper::Lego => vec![time_by_copies(rows), data_by_copies(rows), memory_by_copies(rows)],
        Paper::Bmr => vec![total_by_parties(rows), online_in_place(rows), online_by_depth(rows), data_by_parties(rows)],
    }
}

/// Words of a plot: experiment, name, title and point.
fn plot(words: [&str; 4], x: Axis, y: Axis, points: Vec<Point>) -> Plot {
    let [experiment, id, title, about] = words.map(String::from);
    Plot { experiment, id, title, about, x, y, series: series(points) }
}

/// The series of all points, each in order of places.
fn series(points: Vec<Point>) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for (name, x, values) in points {
        let look = names.iter().position(|known| *known == name).unwrap_or(names.len());
        if look == names.len() {
            names.push(name.clone());
        }
        for (value, published) in values.into_iter().zip([true, false]) {
            let Some(y) = value.filter(|y| *y > 0.0) else { continue };
            match all.iter_mut().find(|series| series.name == name && series.published == published) {
                Some(series) => series.points.push((x, y)),
                None => all.push(Series { name: name.clone(), published, look, points: vec![(x, y)] }),
            }
        }
    }
    all.iter_mut().for_each(|series| series.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    all.sort_by_key(|series| series.look);
    all
}

/// Both values of a quantity of a row.
fn values(row: &Row, quantity: &str) -> [Option<f64>; 2] {
    row.of(quantity)
        .map_or([None; 2], |figure| [figure.published, figure.ours].map(|amount| amount.map(|amount| amount.value)))
}

/// The number of a setting.
fn number(row: &Row, key: &str) -> Option<f64> {
    row.keys.iter().find(|own| own.name == key)?.number
}

fn of_experiment<'a>(rows: &'a [Row], experiment: &'a str) -> impl Iterator<Item = &'a Row> {
    rows.iter().filter(move |row| row.experiment == experiment)
}

/// Names of a setting as places, in the order in which they come first.
fn places<'a>(rows: impl Iterator<Item = &'a Row>, key: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for row in rows {
        let name = row.key(key).to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn named(label: &str, names: &[String]) -> Axis {
    Axis { label: label.into(), kind: Kind::Names(names.to_vec()) }
}

fn place(names: &[String], name: &str) -> f64 {
    names.iter().position(|known| known == name).unwrap_or_default() as f64
}

fn data_by_function(rows: &[Row]) -> Plot {
    let functions = places(of_experiment(rows, "Table 3").filter(|row| !row.sources.is_empty()), "function");
    let at = |row: &Row| place(&functions, row.key("function"));
    let naive = of_experiment(rows, "Table 2")
        .filter(|row| row.key("link") == "simulated" && functions.iter().any(|f| f == row.key("function")));
    let naive = naive.map(|row| ("naive".to_string(), at(row), values(row, "naive, data")));
    let linked = of_experiment(rows, "Table 3").filter(|row| !row.sources.is_empty()).flat_map(|row| {
        [("standard", "standard, data"), ("linked", "linked, data")]
            .map(|(name, quantity)| (name.to_string(), at(row), values(row, quantity)))
    });
    plot(
        [
            "Table 3",
            "compgc-data",
            "Data online by function",
            "Links instead of tables save most where tables are large; templates instead of links save everywhere.",
        ],
        named("function", &functions),
        Axis::number("data that the evaluator receives", Unit::Megabit, true),
        naive.chain(linked).collect(),
    )
}

fn time_by_latency(rows: &[Row]) -> Plot {
    let rows = of_experiment(rows, "Table 2").filter(|row| row.key("function") == "AES");
    let points = rows.filter_map(|row| Some((number(row, "link")?, row))).flat_map(|(latency, row)| {
        ["naive", "linked"].map(|quantity| (quantity.to_string(), latency, values(row, quantity)))
    });
    plot(
        [
            "Table 2",
            "compgc-latency",
            "Online time of AES by latency",
            "`naive` sends all tables online, `linked` only links. No protocol can save the round trip: twice the latency.",
        ],
        Axis::number("latency each way", Unit::Seconds, false),
        Axis::number("online time", Unit::Seconds, true),
        points.collect(),
    )
}

/// The words below the plots of table 2 of PSSW.
const BY_METHOD: &str = "By adversary, for four ways of garbling of 2009 and for three of ours.";

fn by_method(rows: &[Row], quantity: &str, unit: Unit) -> Plot {
    let all = || of_experiment(rows, "Table 2");
    let methods = places(all(), "method");
    let points =
        all().map(|row| (row.key("adversary").to_string(), place(&methods, row.key("method")), values(row, quantity)));
    let words = match unit {
        Unit::Seconds => ["Table 2", "pssw-time", "AES-128: time by method (table 2)", BY_METHOD],
        _ => ["Table 2", "pssw-data", "AES-128: data by method (table 2)", BY_METHOD],
    };
    plot(words, named("method", &methods), Axis::number(quantity, unit, true), points.collect())
}

/// Rows of AES-128 in the fast network, by copies.
fn by_copies<'a>(rows: &'a [Row], experiment: &'a str) -> impl Iterator<Item = (f64, &'a Row)> {
    let rows = of_experiment(rows, experiment)
        .filter(|row| (row.key("function"), row.key("network")) == ("AES-128", "AWS LAN"));
    rows.filter_map(|row| Some((number(row, "copies")?, row)))
}

fn time_by_copies(rows: &[Row]) -> Plot {
    let points = by_copies(rows, "Table 4").flat_map(|(copies, row)| {
        ["independent", "dependent", "online, together"]
            .map(|quantity| (quantity.to_string(), copies, values(row, quantity)))
    });
    plot(
        [
            "Table 4",
            "lego-time",
            "AES-128: time per copy, by number of copies (table 4)",
            "Independent work precedes the function, dependent work the inputs. Many copies share their gates, so each needs fewer.",
        ],
        Axis::number("copies", Unit::Count, true),
        Axis::number("time per copy", Unit::Seconds, true),
        points.collect(),
    )
}

fn data_by_copies(rows: &[Row]) -> Plot {
    let points = by_copies(rows, "Table 5").flat_map(|(copies, row)| {
        ["independent", "dependent", "online"].map(|quantity| (quantity.to_string(), copies, values(row, quantity)))
    });
    plot(
        [
            "Table 5",
            "lego-data",
            "AES-128: data per copy, by number of copies (table 5)",
            "Sent by the constructor, before the function is known, before the inputs are, and online.",
        ],
        Axis::number("copies", Unit::Count, true),
        Axis::number("bytes per copy", Unit::Bytes, true),
        points.collect(),
    )
}

fn memory_by_copies(rows: &[Row]) -> Plot {
    let points = by_copies(rows, "Table 5")
        .map(|(copies, row)| ("both parties".to_string(), copies, values(row, "peak memory")));
    plot(
        [
            "Table 5",
            "lego-memory",
            "AES-128: memory by number of copies",
            "The peak of both parties, in one process. The paper has no figure for it.",
        ],
        Axis::number("copies", Unit::Count, true),
        Axis::number("memory", Unit::Bytes, true),
        points.collect(),
    )
}

/// The number of layers of a row of table 2.
fn depth(row: &Row) -> Option<f64> {
    row.key("protocol").strip_prefix("GMW d=")?.parse().ok()
}

fn total_by_parties(rows: &[Row]) -> Plot {
    let shown = ["OT", "BGW3", "GMW d=10", "GMW d=100", "GMW d=4000"];
    let rows = of_experiment(rows, "Table 2").filter(|row| shown.contains(&row.key("protocol")));
    let point = |row: &Row| {
        let [offline, online] = ["offline", "online"].map(|quantity| values(row, quantity));
        let sums = [0, 1].map(|at| Some(offline[at]? + online[at]?));
        Some((row.key("protocol").to_string(), number(row, "parties")?, sums))
    };
    plot(
        [
            "Table 2",
            "bmr-total",
            "SHA-256-sized circuits: total time by number of parties (figure 4)",
            "`d` is the depth of the circuit. Round trips take 75 ms. All our parties share one machine.",
        ],
        Axis::number("parties", Unit::Count, false),
        Axis::number("offline and online", Unit::Seconds, true),
        rows.filter_map(point).collect(),
    )
}

fn online_in_place(rows: &[Row]) -> Plot {
    let rows = of_experiment(rows, super::bmr::LOCAL).filter(|row| ["BMR", "GMW"].contains(&row.key("protocol")));
    let point = |row: &Row| Some((row.key("protocol").to_string(), number(row, "parties")?, values(row, "online")));
    plot(
        [
            super::bmr::LOCAL,
            "bmr-local",
            "SHA-256-sized circuit, local network: online time by number of parties (figure 6)",
            "The paper states only the ends of its curves.",
        ],
        Axis::number("parties", Unit::Count, false),
        Axis::number("online", Unit::Seconds, true),
        rows.filter_map(point).collect(),
    )
}

fn online_by_depth(rows: &[Row]) -> Plot {
    let rows = of_experiment(rows, "Table 2").filter(|row| number(row, "parties") == Some(3.0));
    let points = rows.flat_map(|row| {
        let own = values(row, "online");
        // Values that do not depend on depth are drawn at both ends.
        let depths = match (depth(row), row.key("protocol")) {
            (Some(depth), _) => vec![("GMW", depth)],
            (None, "OT") => vec![("BMR by OT", 10.0), ("BMR by OT", 4000.0)],
            _ => Vec::new(),
        };
        depths.into_iter().map(move |(name, depth)| (name.to_string(), depth, own)).collect::<Vec<_>>()
    });
    plot(
        [
            "Table 2",
            "bmr-depth",
            "Online time by depth, three parties (table 2)",
            "GMW waits for each layer, BMR only for the inputs.",
        ],
        Axis::number("depth", Unit::Count, true),
        Axis::number("online", Unit::Seconds, true),
        points.collect(),
    )
}

fn data_by_parties(rows: &[Row]) -> Plot {
    let rows = of_experiment(rows, "Table 1").filter(|row| ["OT", "BGW3", "GMW"].contains(&row.key("protocol")));
    let points = rows.filter_map(|row| Some((number(row, "parties")?, row))).flat_map(|(parties, row)| {
        let name = row.key("protocol");
        ["", ", as published", ", half gates"]
            .map(|form| (format!("{name}{form}"), parties, values(row, &format!("sent by a party{form}"))))
    });
    plot(
        [
            "Table 1",
            "bmr-data",
            "AES-128: data by number of parties",
            "Sent by each party in all phases. The paper states only times.",
        ],
        Axis::number("parties", Unit::Count, false),
        Axis::number("sent by a party", Unit::Bytes, true),
        points.collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{Amount, Ground};

    #[test]
    fn published_figures_and_ours_are_points_of_one_plot() {
        let mut rows = Paper::Lego.rows();
        for row in rows.iter_mut().filter(|row| row.experiment == "Table 4") {
            row.measure("independent", Unit::Seconds, Amount::of(0.5));
        }
        let plot = time_by_copies(&rows);
        let of = |published| {
            plot.series.iter().find(|s| s.name == "independent" && s.published == published).expect("a series")
        };
        assert_eq!((of(true).points.len(), of(true).points[0]), (4, (1.0, 0.08961)));
        assert_eq!((of(false).points[3], of(false).look), ((1024.0, 0.5), of(true).look));
        for ground in [Ground::Page, Ground::Light, Ground::Dark] {
            let svg = plot.svg(ground);
            assert!(svg.contains("independent, ours: 1 500.0 ms") && svg.ends_with("</svg>\n"), "{svg}");
            assert_eq!(svg.contains("var(--s0)"), ground == Ground::Page, "{svg}");
            assert!(!svg.contains("#01020"), "a colour is left as a mark: {svg}");
        }
    }

    #[test]
    fn every_paper_has_plots_of_its_published_figures_alone() {
        let worth = Paper::ALL.map(|paper| of(paper, &paper.rows()).iter().filter(|plot| plot.is_worth_it()).count());
        // Memory and the parties' data are not in the papers.
        assert_eq!(worth, [2, 3, 2, 2, 3]);
    }
}
