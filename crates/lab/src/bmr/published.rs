//! The paper's own figures.

use std::time::Duration;

use garblet_net::SimulatedLink;
use serde::Serialize;

use crate::{
    page::{Key, Row},
    published::{Paper, bmr::NETWORKS},
};

/// A row of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Published {
    pub(super) offline_seconds: f64,
    /// None where the paper has none.
    pub(super) online_seconds: Option<f64>,
}

impl Published {
    fn of(row: &Row) -> Option<Self> {
        let of = |quantity: &str| row.of(quantity)?.published.map(|amount| amount.value);
        Some(Published { offline_seconds: of("offline")?, online_seconds: of("online") })
    }
}

/// The row of tables 1 and 2 for a function by one of the paper's protocols. BMR does not depend on depth, so that its SHA-256 stands
/// for all layered circuits.
pub(super) fn row(function: &str, protocol: &str, parties: u16) -> Row {
    let layers = function.strip_prefix("lib:layered(").and_then(|rest| rest.split(',').next());
    let (table, protocol) = match (function, layers, protocol) {
        ("lib:aes128", _, protocol) => ("Table 1", protocol.replace("BMR ", "")),
        // The paper's own depth of SHA-256.
        (_, None, "GMW") => ("Table 2", "GMW d=4000".into()),
        (_, Some(depth), "GMW") => ("Table 2", format!("GMW d={depth}")),
        (.., protocol) => ("Table 2", protocol.replace("BMR ", "")),
    };
    Paper::Bmr.row(table, vec![Key::named("protocol", protocol), Key::number("parties", parties.into())])
}

/// The paper's figures for a function by one of its protocols, if it has them.
pub(super) fn published(function: &str, protocol: &str, parties: u16) -> Option<Published> {
    Published::of(&row(function, protocol, parties))
}

/// The latency from which on a link is compared with the paper's slow one.
const SLOW: Duration = Duration::from_millis(20);

/// The row of section 4.1 of one of its optimisations and all before it: of SHA-256 among 13 parties, in a local network or with a round trip
/// of 76 ms. The paper's online times there cannot be told apart by column.
pub(super) fn rung_row(paper: &str, link: Option<SimulatedLink>) -> Row {
    let network = NETWORKS[usize::from(link.is_some_and(|link| link.latency >= SLOW))];
    Paper::Bmr.row("section 4.1, OT", vec![Key::named("with", paper), Key::named("network", network)])
}

/// The paper's figure for one of its optimisations and all before it.
pub(super) fn rung(paper: &str, parties: u16, link: Option<SimulatedLink>) -> Option<Published> {
    Published::of(&rung_row(paper, link)).filter(|_| parties == 13)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_where_the_paper_has_them() {
        let online = |function, protocol, n| published(function, protocol, n).and_then(|row| row.online_seconds);
        assert_eq!(online("lib:layered(4000, 90825)", "GMW", 3), Some(309.741));
        assert_eq!(online("lib:sha256", "GMW", 3), Some(309.741));
        assert_eq!(online("lib:layered(10, 90825)", "BMR OT", 13), Some(0.456));
        assert_eq!(online("lib:aes128", "BMR BGW2", 3), None);
        assert_eq!(online("lib:aes128", "GMW", 5), None);
        let slow = "38ms,inf".parse().ok();
        let offline = |paper, n, link| rung(paper, n, link).map(|row| row.offline_seconds);
        assert_eq!((offline("basic", 13, None), offline("two threads", 13, slow)), (Some(6.434), Some(28.805)));
        assert_eq!((offline("basic", 3, None), offline("", 13, None)), (None, None));
    }
}
