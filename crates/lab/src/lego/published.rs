//! The paper's figures for a run, per circuit.

use garblet::lego::Sizing;
use serde::Serialize;

use crate::{
    page::Row,
    published::{
        Paper,
        lego::{NETWORKS, keys, sizing as sizes},
    },
};

/// A row of tables IV and V.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Published {
    /// Milliseconds between two machines of one data centre.
    pub(super) setup_ms: f64,
    pub(super) independent_ms: f64,
    pub(super) dependent_ms: f64,
    pub(super) latency_ms: f64,
    pub(super) throughput_ms: f64,
    /// Megabytes before the function is known, kilobytes then.
    pub(super) independent_mb: f64,
    pub(super) dependent_kb: f64,
    pub(super) online_kb: f64,
}

/// The paper's name of a function.
pub(super) fn name(function: &str) -> &'static str {
    if function == "aes128" { "AES-128" } else { "SHA-256" }
}

/// The paper's figures for a number of copies of a function, if it has them.
pub(super) fn published(function: &str, copies: u32) -> Option<Published> {
    let row = |experiment: &str| Paper::Lego.row(experiment, keys(NETWORKS[1], name(function), copies.into()));
    let (times, sizes) = (row("Table 4"), row("Table 5"));
    let of = |row: &Row, quantity: &str, unit: f64| Some(rounded(row.of(quantity)?.published?.value / unit));
    Some(Published {
        setup_ms: of(&times, "base OT", 1e-3)?,
        independent_ms: of(&times, "independent", 1e-3)?,
        dependent_ms: of(&times, "dependent", 1e-3)?,
        latency_ms: of(&times, "online, alone", 1e-3)?,
        throughput_ms: of(&times, "online, together", 1e-3)?,
        independent_mb: of(&sizes, "independent", 1e6)?,
        dependent_kb: of(&sizes, "dependent", 1e3)?,
        online_kb: of(&sizes, "online", 1e3)?,
    })
}

/// A number as the paper has it: with two digits behind the point.
fn rounded(value: f64) -> f64 {
    (1e2 * value).round() / 1e2
}

/// The paper's bucket sizes and checks for a number of copies of a function, if it has them.
pub(super) fn sizing(function: &str, copies: u32) -> Option<Sizing> {
    let [bucket, check_gates, check_authenticators] = sizes(name(function), copies)?;
    Some(Sizing::Given { bucket, check_gates, check_authenticators })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_where_the_paper_has_them() {
        assert_eq!(published("aes128", 32).map(|row| row.independent_mb), Some(8.74));
        assert_eq!(published("sha256", 128).map(|row| row.latency_ms), Some(9.35));
        assert_eq!(published("aes128", 1).map(|row| (row.setup_ms, row.dependent_kb)), Some((850.42, 226.86)));
        assert_eq!(published("aes128", 33), None);
        assert_eq!(sizing("aes128", 1024).map(|sizing| sizing.to_string()), Some("4/5/6".into()));
        assert_eq!(sizing("sha256", 1024), None);
    }
}
