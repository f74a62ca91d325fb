//! `gmw`: semi-honest computation by any number of parties, with as many rounds as the circuit has layers of AND gates.
//!
//! *Source*: Goldreich, Micali, Wigderson (STOC 1987), in the form of Choi, Hwang, Katz, Malkin, Rubenstein, *Secure Multi-Party
//! Computation of Boolean Circuits with Applications to Privacy in On-Line Marketplaces* (CT-RSA 2012), with which
//! Ben-Efraim, Lindell, Omri, *Optimizing Semi-Honest Secure Multiparty Computation for the Internet* (CCS 2016), section 5,
//! compare BMR; multiplication triples of Beaver (CRYPTO 1991), made of random OT as in Asharov, Lindell, Schneider, Zohner
//! (CCS 2013), section 5.1.
//!
//! # Steps
//!
//! Each of `n` parties has one bit of every wire, a share; the wire's value is the sum of the shares.
//!
//! | phase | step | every party | where |
//! |---|---|---|---|
//! | setup | 1 | with each peer: a seed each way, and OT extension in both directions | [`GmwParty::setup`](garblet_runs::joint::JointParty::setup) |
//! | prepare | 2 | with each peer, for every AND gate: a random bit OT in both directions | [`GmwParty::prepare`](garblet_runs::joint::JointParty::prepare) |
//! | prepare | 3 | only [`Form::Triples`]: one bit each way for every OT makes triples `a, b, c = a b` of them | [`GmwParty::prepare`](garblet_runs::joint::JointParty::prepare) |
//! | online | 4 | takes its shares of all inputs from the seeds; an owner adds its input to its own | [`GmwParty::online`](garblet_runs::joint::JointParty::online) |
//! | online | 5 | XOR gates: adds shares. Layer by layer, for all AND gates of a layer at once: | [`GmwParty::online`](garblet_runs::joint::JointParty::online) |
//! | | | [`Form::Triples`]: sends everybody its shares of `d = x + a`, `e = y + b`; `z = c + d b + e a + d e` | |
//! | | | [`Form::Choi2012`]: to each peer `x_i + choice`, then back two bits that hide `r` and `r + y_j` | |
//! | online | 6 | sends each recipient of an output its shares of it | [`GmwParty::online`](garblet_runs::joint::JointParty::online) |
//!
//! The first online message to each peer begins with the run's number. No party continues unless all are at the same run.
//!
//! # Deviations
//!
//! - Triples instead of OTs online are the default: one message per layer, not two. [`Form::Choi2012`] is the form of the
//!   comparison in the paper.
//! - Inputs are shared by seeds that each pair has agreed on, which costs no message and no byte.
//! - Of a run of many gates, [`OtKind::Silent`] makes the random OTs by silent OT; its first ones come from the extension.
//! - OT extension is SoftSpoken (Roy, CRYPTO 2022), whose choices are the protocol's own; the bit that corrects them is
//!   sent in step 3.
//!
//! # Cost
//!
//! [`communication`] states bytes and rounds of every phase and party; a test compares it with the measured counts. For each AND gate
//! and peer a party sends `2 / k` bytes less a bit for OT extension (`128 / k - 1` bits), two bits in step 3, and two (three) bits
//! online. With [`OtKind::Silent`] and many AND gates, a tenth of a byte takes the place of the `128 / k - 1` bits, after 280 KB for each peer in set-up. Online there are as many rounds as layers (twice as many), and one for the outputs.
//!
//! # Adversary and assumptions
//!
//! Semi-honest; any number of parties may be corrupted. Assumes the OT's assumptions, a pseudo-random
//! generator, and private channels between the parties, over which seeds of shares are sent as they are.

mod bits;
mod cost;
mod layers;
mod outputs;
mod pair;
mod party;
mod plan;
mod prepare;
mod protocol;
mod stored;

pub use cost::communication;
pub use garblet_protocol::parameters::OtKind;
pub use party::{GmwParty, Prepared};
pub use plan::{Config, Form, PARTIES_MAX, Plan, SILENT_FROM};
pub use protocol::Gmw;

/// The protocol's name on the command line and in results.
pub const NAME: &str = "gmw";

#[cfg(test)]
mod tests;
