//! The paper's own figures.

use garblet::lego::Sizing;
use serde::Serialize;

/// A row of the paper, per circuit.
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

/// Nielsen, Schneider, Trifiletti (NDSS 2017), tables IV and V: bucket sizes and checks, times, sizes. AES has 6,928 AND gates
/// there, SHA-256 91,081.
const TABLE: &[(&str, u32, [u8; 3], [f64; 8])] = &[
    ("aes128", 1, [7, 4, 3], [850.42, 89.61, 13.23, 1.46, 1.46, 14.94, 226.86, 16.13]),
    ("aes128", 32, [4, 2, 2], [26.61, 27.91, 0.85, 1.23, 0.18, 8.74, 226.86, 16.13]),
    ("aes128", 128, [4, 3, 3], [6.65, 14.85, 0.68, 1.15, 0.09, 7.22, 226.86, 16.13]),
    ("aes128", 1024, [4, 5, 6], [0.84, 13.84, 0.74, 1.13, 0.08, 6.42, 226.86, 16.13]),
    ("sha256", 1, [5, 3, 4], [852.9, 478.54, 164.4, 11.19, 11.19, 120.34, 2930.0, 22.23]),
    ("sha256", 32, [4, 4, 5], [26.82, 165.26, 14.87, 9.14, 1.42, 85.19, 2930.0, 22.23]),
    ("sha256", 128, [4, 6, 5], [6.67, 173.05, 12.13, 9.35, 1.09, 80.54, 2930.0, 22.23]),
    ("sha256", 256, [4, 7, 5], [3.34, 183.51, 11.7, 9.56, 1.05, 79.2, 2930.0, 22.23]),
];

/// AND gates of the paper's circuits.
pub(super) fn and_gates(function: &str) -> u64 {
    if function == "aes128" { 6_928 } else { 91_081 }
}

fn row(function: &str, copies: u32) -> Option<&'static (&'static str, u32, [u8; 3], [f64; 8])> {
    TABLE.iter().find(|(name, times, ..)| (*name, *times) == (function, copies))
}

/// The paper's figures for so many copies of a function, if it has them.
pub(super) fn published(function: &str, copies: u32) -> Option<Published> {
    let (.., figures) = row(function, copies)?;
    let &[setup_ms, independent_ms, dependent_ms, latency_ms, throughput_ms, independent_mb, dependent_kb, online_kb] =
        figures;
    Some(Published {
        setup_ms,
        independent_ms,
        dependent_ms,
        latency_ms,
        throughput_ms,
        independent_mb,
        dependent_kb,
        online_kb,
    })
}

/// The paper's bucket sizes and checks for so many copies of a function, if it has them.
pub(super) fn sizing(function: &str, copies: u32) -> Option<Sizing> {
    let [bucket, check_gates, check_authenticators] = row(function, copies)?.2;
    Some(Sizing::Given { bucket, check_gates, check_authenticators })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_where_the_paper_has_them() {
        assert_eq!(published("aes128", 32).map(|row| row.independent_mb), Some(8.74));
        assert_eq!(published("sha256", 128).map(|row| row.latency_ms), Some(9.35));
        assert_eq!(published("aes128", 33), None);
        assert_eq!(sizing("aes128", 1024).map(|sizing| sizing.to_string()), Some("4/5/6".into()));
        assert_eq!(sizing("sha256", 1024), None);
    }
}
