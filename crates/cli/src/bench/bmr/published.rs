//! The paper's own figures.

use std::time::Duration;

use garblet_net::SimulatedLink;
use serde::Serialize;

/// A row of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Published {
    pub(super) offline_seconds: f64,
    /// None where the paper has none.
    pub(super) online_seconds: Option<f64>,
}

/// Milliseconds offline and online, for 3, 7 and 13 parties.
type Cells = [Option<(u32, u32)>; 3];

/// Ben-Efraim, Lindell, Omri (CCS 2016), tables 1 and 2: parties in Virginia and Ireland. AES has 6,800 AND gates there,
/// SHA-256 and the layered circuits 90,825.
const TABLE: &[(&str, &str, Cells)] = &[
    ("lib:aes128", "BMR OT", [Some((698, 138)), Some((1093, 107)), Some((9699, 362))]),
    ("lib:aes128", "BMR BGW3", [Some((329, 143)), Some((2314, 142)), Some((9774, 329))]),
    ("lib:aes128", "BMR BGW2", [None, Some((2212, 148)), Some((8745, 264))]),
    ("lib:aes128", "BMR BGW4", [Some((498, 139)), Some((3149, 159)), Some((13298, 308))]),
    ("lib:aes128", "GMW", [Some((231, 3337)), Some((277, 3232)), Some((382, 3341))]),
    ("lib:sha256", "BMR OT", [Some((6426, 172)), Some((10291, 226)), Some((25215, 456))]),
    ("lib:sha256", "BMR BGW3", [Some((5404, 182)), Some((17011, 237)), Some((38584, 520))]),
    ("lib:sha256", "BMR BGW2", [None, Some((14781, 283)), Some((37585, 459))]),
    ("lib:sha256", "BMR BGW4", [Some((8124, 226)), Some((23521, 282)), Some((65736, 454))]),
    ("lib:sha256", "GMW", [Some((850, 309_741)), Some((5002, 333_996)), Some((5042, 329_220))]),
    ("lib:layered(4000, 90825)", "GMW", [Some((850, 309_741)), Some((5002, 333_996)), Some((5042, 329_220))]),
    ("lib:layered(1000, 90825)", "GMW", [Some((701, 77_147)), Some((3581, 83_168)), Some((7932, 82_111))]),
    ("lib:layered(100, 90825)", "GMW", [Some((735, 8038)), Some((2610, 8327)), Some((4969, 8341))]),
    ("lib:layered(10, 90825)", "GMW", [Some((598, 880)), Some((1180, 906)), Some((5360, 904))]),
];

/// The paper's figures for a function by one of its protocols, if it has them. BMR does not depend on depth, so that its
/// SHA-256 stands for all layered circuits.
pub(super) fn published(function: &str, protocol: &str, parties: u16) -> Option<Published> {
    let column = [3, 7, 13].iter().position(|&n| n == parties)?;
    let find = |function: &str| TABLE.iter().find(|(name, paper, _)| (*name, *paper) == (function, protocol));
    let same_size = if function.starts_with("lib:layered") { "lib:sha256" } else { function };
    let row = find(function).or_else(|| find(same_size).filter(|_| protocol.starts_with("BMR")))?;
    let (offline, online) = row.2[column]?;
    let [offline_seconds, online] = [offline, online].map(|ms| f64::from(ms) / 1e3);
    Some(Published { offline_seconds, online_seconds: Some(online) })
}

/// Milliseconds offline of SHA-256 among 13 parties, in a local network and with a round trip of 76 ms (section 4.1). What
/// the paper has of the online phase cannot be told apart by column.
const LADDER: &[(&str, u32, u32)] = &[
    ("basic", 6434, 45_631),
    ("reduced OT", 5549, 42_408),
    ("correlated OT", 4011, 40_644),
    ("free XOR", 2851, 31_071),
    ("two threads", 2633, 28_805),
];

/// The latency from which on a link is compared with the paper's slow one.
const SLOW: Duration = Duration::from_millis(20);

/// The paper's figure for one of its optimisations and all before it.
pub(super) fn rung(paper: &str, parties: u16, link: Option<SimulatedLink>) -> Option<Published> {
    let (_, fast, slow) = LADDER.iter().find(|(name, ..)| *name == paper && parties == 13)?;
    let ms = if link.is_some_and(|link| link.latency >= SLOW) { slow } else { fast };
    Some(Published { offline_seconds: f64::from(*ms) / 1e3, online_seconds: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_where_the_paper_has_them() {
        let online = |function, protocol, n| published(function, protocol, n).and_then(|row| row.online_seconds);
        assert_eq!(online("lib:layered(4000, 90825)", "GMW", 3), Some(309.741));
        assert_eq!(online("lib:layered(10, 90825)", "BMR OT", 13), Some(0.456));
        assert_eq!(online("lib:aes128", "BMR BGW2", 3), None);
        assert_eq!(online("lib:aes128", "GMW", 5), None);
        assert_eq!(online("lib:add", "GMW", 3), None);
        let slow = "38ms,inf".parse().ok();
        let offline = |paper, n, link| rung(paper, n, link).map(|row| row.offline_seconds);
        assert_eq!((offline("basic", 13, None), offline("two threads", 13, slow)), (Some(6.434), Some(28.805)));
        assert_eq!((offline("basic", 3, None), offline("", 13, None)), (None, None));
    }
}
