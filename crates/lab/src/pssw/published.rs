//! The published figures.

use garblet_garble::published::Method;
use serde::Serialize;

use super::{COVERT, MALICIOUS, SEMI_HONEST};
use crate::published::{Line, lines, pssw::names};

/// A row of Table 1 (example 1) or Table 2 (example 2) of the paper, measured on two machines with processors of 3 GHz and 1 Gbit
/// between them.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Published {
    #[serde(skip)]
    pub(super) example: u8,
    #[serde(skip)]
    pub(super) adversary: &'static str,
    #[serde(skip)]
    pub(super) encoding: Option<&'static str>,
    #[serde(skip)]
    pub(super) method: &'static str,
    pub(super) gates: u32,
    pub(super) xor_percent: u32,
    pub(super) precompute_seconds: u32,
    pub(super) send_seconds: u32,
    pub(super) ot_seconds: u32,
    pub(super) calculate_seconds: u32,
    pub(super) total_seconds: u32,
    pub(super) kilobytes: u32,
}

/// All rows in the paper's order.
pub(super) fn published() -> Vec<Published> {
    let tables = [(1, "pssw_table1_example1.csv"), (2, "pssw_table2_aes.csv")];
    tables.iter().flat_map(|(example, name)| lines(name).into_iter().filter_map(|line| row(*example, &line))).collect()
}

fn row(example: u8, line: &Line) -> Option<Published> {
    let [adversary, encoding, method] = names(line);
    let number = |column: &str| line.number(column).map(|value| value as u32);
    Some(Published {
        example,
        adversary: [SEMI_HONEST, COVERT, MALICIOUS].into_iter().find(|name| *name == adversary)?,
        // Every bit of the evaluator as the sum of wires of its own, or random combinations of wires.
        encoding: ["independent", "random"].into_iter().find(|name| *name == encoding),
        method: Method::ALL.iter().map(|known| known.name()).find(|name| *name == method)?,
        gates: number("gates")?,
        xor_percent: number("xor_pct")?,
        precompute_seconds: number("precomp_s")?,
        send_seconds: number("send_s")?,
        ot_seconds: number("ot_s")?,
        calculate_seconds: number("calc_s")?,
        total_seconds: number("total_s")?,
        kilobytes: number("total_KB")?,
    })
}
