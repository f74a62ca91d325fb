//! The published figures.

use serde::Serialize;

use super::{COVERT, MALICIOUS, SEMI_HONEST};

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

const fn row(
    example: u8,
    adversary: &'static str,
    encoding: Option<&'static str>,
    method: &'static str,
    [gates, xor_percent]: [u32; 2],
    [precompute_seconds, send_seconds, ot_seconds, calculate_seconds, total_seconds]: [u32; 5],
    kilobytes: u32,
) -> Published {
    Published {
        example,
        adversary,
        encoding,
        method,
        gates,
        xor_percent,
        precompute_seconds,
        send_seconds,
        ot_seconds,
        calculate_seconds,
        total_seconds,
        kilobytes,
    }
}

/// Every bit of the evaluator as the sum of wires of its own.
pub(super) const INDEPENDENT: Option<&str> = Some("independent");
/// Random combinations of wires.
pub(super) const RANDOM: Option<&str> = Some("random");

/// All rows in the paper's order: gates and XORs in a hundred; seconds of precomputation, sending, OT, calculation and in all;
/// thousands of bytes.
#[rustfmt::skip]
pub(super) const PUBLISHED: [Published; 32] = [
    row(1, SEMI_HONEST, None, "base", [251, 11], [0, 0, 2, 0, 2], 46),
    row(1, SEMI_HONEST, None, "prf-ss", [537, 55], [0, 0, 1, 0, 1], 34),
    row(1, SEMI_HONEST, None, "cor-grr", [537, 55], [0, 0, 1, 0, 1], 22),
    row(1, SEMI_HONEST, None, "rom-grr", [537, 55], [0, 0, 1, 0, 1], 22),
    row(1, COVERT, INDEPENDENT, "base", [419, 38], [7, 1, 4, 6, 18], 1188),
    row(1, COVERT, INDEPENDENT, "prf-ss", [705, 61], [8, 0, 2, 7, 17], 969),
    row(1, COVERT, INDEPENDENT, "cor-grr", [705, 61], [6, 1, 3, 5, 15], 682),
    row(1, COVERT, INDEPENDENT, "rom-grr", [705, 61], [1, 1, 2, 0, 4], 629),
    row(1, COVERT, RANDOM, "base", [1247, 79], [9, 2, 4, 7, 22], 2275),
    row(1, COVERT, RANDOM, "prf-ss", [1535, 82], [9, 1, 3, 7, 20], 1646),
    row(1, COVERT, RANDOM, "cor-grr", [1555, 82], [7, 1, 3, 5, 16], 682),
    row(1, COVERT, RANDOM, "rom-grr", [1555, 82], [1, 1, 3, 0, 5], 629),
    row(1, MALICIOUS, INDEPENDENT, "base", [1571, 83], [171, 80, 47, 54, 352], 180599),
    row(1, MALICIOUS, INDEPENDENT, "prf-ss", [1857, 85], [175, 79, 39, 67, 360], 173942),
    row(1, MALICIOUS, INDEPENDENT, "cor-grr", [1857, 85], [147, 78, 37, 39, 301], 164323),
    row(1, MALICIOUS, INDEPENDENT, "rom-grr", [1857, 85], [141, 71, 37, 38, 287], 161741),
    row(1, MALICIOUS, RANDOM, "base", [3029, 89], [163, 75, 19, 64, 321], 167276),
    row(1, MALICIOUS, RANDOM, "prf-ss", [2799, 90], [161, 74, 16, 69, 320], 158904),
    row(1, MALICIOUS, RANDOM, "cor-grr", [2781, 90], [117, 75, 16, 39, 247], 140265),
    row(1, MALICIOUS, RANDOM, "rom-grr", [2802, 90], [117, 69, 16, 37, 239], 137609),
    row(2, SEMI_HONEST, None, "base", [28216, 56], [5, 2, 4, 3, 14], 3162),
    row(2, SEMI_HONEST, None, "prf-ss", [33880, 66], [5, 1, 3, 3, 12], 1752),
    row(2, SEMI_HONEST, None, "cor-grr", [33880, 66], [2, 1, 2, 2, 7], 503),
    row(2, SEMI_HONEST, None, "rom-grr", [33880, 66], [1, 1, 3, 2, 7], 503),
    row(2, COVERT, INDEPENDENT, "base", [28600, 56], [96, 47, 18, 45, 206], 51899),
    row(2, COVERT, INDEPENDENT, "prf-ss", [34264, 67], [92, 36, 13, 50, 191], 29380),
    row(2, COVERT, INDEPENDENT, "cor-grr", [34264, 67], [40, 21, 11, 23, 95], 9078),
    row(2, COVERT, INDEPENDENT, "rom-grr", [34264, 67], [22, 21, 11, 6, 60], 8942),
    row(2, MALICIOUS, RANDOM, "base", [40253, 69], [1250, 448, 39, 887, 2624], 987442),
    row(2, MALICIOUS, RANDOM, "prf-ss", [45944, 75], [1184, 392, 34, 829, 2439], 711729),
    row(2, MALICIOUS, RANDOM, "cor-grr", [45960, 75], [483, 270, 34, 361, 1148], 406010),
    row(2, MALICIOUS, RANDOM, "rom-grr", [45881, 75], [453, 276, 35, 350, 1114], 417907),
];
