//! The rows of a page, and the published figures beside each way of linking.

use garblet_net::SimulatedLink;
use serde::Serialize;

use super::Report;
use crate::{
    page::{Amount, Key, Row, Unit},
    published::{Paper, compgc::keys},
};

/// A published row: tables 2 and 3 of the paper, on its simulated network of 33 ms and 50 Mbit/s.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Published {
    pub(super) simulated_ms: f64,
    pub(super) megabit: f64,
}

/// The paper's figures of a function with a way of linking. Its links by block (SCMC) stand beside our keyed ones, which cost the same
/// and are safe, and beside templates.
pub(super) fn published(function: &str, links: &str) -> Option<Published> {
    let (experiment, quantity) = match links {
        "naive" => ("Table 2", "naive"),
        "standard" => ("Table 3", "standard"),
        _ => ("Table 3", "linked"),
    };
    let simulated = "33ms,50mbit".parse().ok()?;
    let row = Paper::Compgc.row(experiment, keys(function, Some(simulated)));
    let of = |quantity: &str| row.of(quantity)?.published.map(|amount| amount.value);
    let (seconds, megabit) = (of(quantity)?, of(&format!("{quantity}, data"))?);
    Some(Published { simulated_ms: 1e3 * seconds, megabit })
}

/// The rows of tables 2 and 3, and the components of each function.
pub(super) fn of(report: &Report, link: Option<SimulatedLink>) -> Vec<Row> {
    let mut rows = Vec::new();
    for own in report.rows.chunk_by(|a, b| a.function == b.function) {
        let Some(first) = own.first() else { continue };
        let filled = |experiment: &str, ways: [(&str, &str); 2]| {
            let mut row = Paper::Compgc.row(experiment, keys(&first.function, link));
            for (quantity, links) in ways {
                let Some(run) = own.iter().find(|run| run.links == links) else { continue };
                row.measure(quantity, Unit::Seconds, Amount::of(run.online_seconds));
                row.measure(&format!("{quantity}, data"), Unit::Megabit, Amount::of(run.online_megabit));
            }
            row
        };
        rows.push(filled("Table 2", [("naive", "naive"), ("linked", "template")]));
        if link.is_some() {
            rows.push(filled("Table 3", [("standard", "standard"), ("linked", "template")]));
        }
        let components = Key::named("what", format!("components of {}", first.function));
        let mut row = Paper::Compgc.row("section 7", vec![components]);
        if !row.sources.is_empty() {
            row.measure("components", Unit::Count, Amount::of(first.components as f64));
            rows.push(row);
        }
    }
    rows
}

/// The row of some rounds of AES that were prepared on disk.
pub(super) fn of_rounds(rounds: u64, prepare_seconds: f64) -> Row {
    let mut row = Paper::Compgc.row("section 7", vec![Key::named("what", format!("{rounds} rounds of AES prepared"))]);
    row.measure("offline", Unit::Seconds, Amount::of(prepare_seconds));
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_by_function_and_way() {
        let of = |function, links| published(function, links).map(|row| (row.simulated_ms, row.megabit));
        assert_eq!(of("AES", "naive"), Some((542.6, 24.0)));
        assert_eq!(of("CBC of 10", "standard"), Some((321.5, 7.4)));
        assert_eq!(
            (of("Levenshtein 60", "keyed"), of("Levenshtein 60", "template")),
            (Some((742.5, 25.0)), Some((742.5, 25.0)))
        );
        assert_eq!(of("CBC of 3", "naive"), None);
    }
}
