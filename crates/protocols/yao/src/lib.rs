//! `yao`: streamed semi-honest two-party computation by garbled circuits.
//!
//! *Source*: Yao 1986, in the form of Pinkas, Schneider, Smart, Williams, *Secure Two-Party Computation is Practical*
//! (ASIACRYPT 2009), sections 2 and 4 (semi-honest protocol, free XOR), with the half gates of Zahur, Rosulek, Evans
//! (EUROCRYPT 2015), inputs by correlated OT prepared ahead (Beaver, CRYPTO 1995), and tables streamed while they are
//! made (Huang, Evans, Katz, Malka, USENIX Security 2011).
//!
//! # Steps
//!
//! Party 0 garbles, party 1 evaluates. `n0`, `n1` are their input bits, `m0`, `m1` the output bits that each learns.
//!
//! | phase | step | garbler | evaluator |
//! |---|---|---|---|
//! | setup | 1 | chooses delta, sets up correlated OT with it ([`Garbler::setup`]) | [`Evaluator::setup`] |
//! | prepare | 2 | `n1` correlated OTs: gets `q` ([`Garbler::prepare`](garblet_protocol::Role::prepare)) | gets random choices `c` and `t = q + c delta` |
//! | build | 3 | only [`Build::Ahead`]: chooses zero labels, sends hash seed and tables | keeps the tables |
//! | online | 4 | | sends `d = x + c` |
//! | online | 5 | sends `e = X0 + q + d delta` for each bit, and its own labels | finds `X0 + x delta = e + t` |
//! | online | 6 | only [`Build::Stream`]: sends hash seed and tables while it makes them | evaluates them as they arrive |
//! | online | 7 | sends the decoding bits of the `m1` outputs | decodes; sends the select bits of the `m0` outputs |
//! | online | 8 | decodes | |
//!
//! # Symbols
//!
//! | paper | here |
//! |---|---|
//! | P1, P2 | [`Garbler`], [`Evaluator`] |
//! | R | [`Delta`](garblet_primitives::Delta) |
//! | garbled value k_i^b | label: zero label `X0`, active label `X0 + b delta` |
//! | permutation pi_i, external value c_i | the scheme's select bit of the zero label, and of the active label |
//!
//! # Deviations
//!
//! - Half gates instead of four rows or row reduction (they are selectable): fewer bytes, same assumption as free XOR.
//! - A component with few inputs is garbled as one table where that takes fewer bytes (Heath, Kolesnikov and Ng, EUROCRYPT 2024; see
//!   [`Schedules::with_tables`](garblet_garble::Schedules::with_tables)).
//! - The OT's correlation is delta itself, so only one block per evaluator input bit is sent online.
//! - Decoding bits are sent last, even when tables were sent ahead: a simulator can then choose them after the inputs
//!   are known, which garbling ahead of inputs requires (adaptive security in the random oracle model).
//! - Delta is kept for the session; a hash seed is fresh for every run and gate numbers never repeat.
//!
//! # Cost
//!
//! [`communication`] states bytes and rounds of every phase and party; a test compares it with the measured counts.
//!
//! # Adversary and assumptions
//!
//! Semi-honest: a party that follows the steps learns nothing beyond its outputs. A garbler that does not follow them
//! can garble another function without being detected. Assumes a hash that is circularly correlation robust for
//! naturally derived keys (Choi, Katz, Kumaresan, Zhou, TCC 2012), and the OT's assumptions. With the scheme
//! `privacy-free` the evaluator sees every wire's value, so it is refused where the garbler has an input.

mod cost;
mod evaluator;
mod garbler;
mod plan;
mod protocol;

pub use cost::communication;
pub use evaluator::{Evaluator, EvaluatorPrepared};
pub use garbler::{Garbler, GarblerPrepared};
pub use plan::{Build, Config, Plan};
pub use protocol::Yao;

pub use garblet_protocol::party_io::{EVALUATOR, GARBLER};

/// The protocol's name on the command line and in results.
pub const NAME: &str = "yao";
