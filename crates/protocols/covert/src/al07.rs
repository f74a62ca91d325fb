//! The form `al07`: all circuits are sent, and the garbler opens all but one when it hears which.
//!
//! *Source*: Aumann and Lindell (TCC 2007), section 6.3, as measured by Pinkas, Schneider, Smart, Williams (ASIACRYPT 2009), who used
//! 16 circuits and 4 shares: their deterrence is 0.82.
//!
//! # Steps
//!
//! After step 1 of the [protocol](super); `m` are the wires to which the evaluator's input is encoded.
//!
//! | phase | step | garbler | evaluator |
//! |---|---|---|---|
//! | prepare | 2 | `m` random OTs | chooses the circuit to evaluate; draws the encoding |
//! | online | 3 | draws a seed for each circuit | corrects its choices, so that they encode its input |
//! | online | 4 | for each circuit both labels of the `m` wires, encrypted with the pads of their OTs | decrypts those of its choices |
//! | online | 5 | all circuits: commitments to the labels of all input wires, tables, decoding bits | keeps the one to evaluate, and a hash of each |
//! | online | 6 | | says which it evaluates |
//! | online | 7 | the seeds of the others, and its own labels for that one | `corrupted` unless hashes and labels of step 4 are what the seeds give; stops unless the garbler's labels are committed ones |
//! | online | 8 | as step 9 of the other form | evaluates |
//!
//! # Deviations
//!
//! - OT extension in place of an OT with public keys for each wire, unless [`Ot::Pvw`](super::Ot) is asked for, whose reference string is
//!   of tossed coins; circuits are opened by their seeds, where the paper opened all keys.
//! - With a scheme of 2009 the sums of the encoding are gates of the circuit, as in the paper. It must be known before, so random combinations
//!   follow from a public seed, and what the evaluator draws in step 2 is not used.
//! - The output of the garbler is handed over as in the other form; the paper authenticates it in the circuit.
//! - A garbler that is gone after step 6 is [`Suspected`](garblet_protocol::checks::Suspected) and not `corrupted`, which the paper makes of it: a network
//!   that fails would look the same. So a garbler that stops there every time it would be found out is never `corrupted`. The form `seeds`
//!   does not have this gap.
//!
//! # Cost
//!
//! The evaluator keeps the circuit to evaluate until the garbler's labels for it come.

mod evaluator;
mod garbler;

pub(super) use evaluator::{EvaluatorWires, evaluate, prepare as prepare_evaluator};
pub(super) use garbler::{GarblerWires, garble, prepare as prepare_garbler};

use garblet_primitives::Block;

use super::{GARBLER, Step, plan::Plan};
use garblet_protocol::domain::SessionId;
use garblet_seeded::{InputHash, Shared};

/// Bytes that say which circuit is evaluated.
pub(super) const CHOSEN_BYTES: usize = 2;

/// The common knowledge about all circuits of a run.
fn shared(plan: &Plan, run: &SessionId, encoding_seed: Block) -> Shared {
    let encoding = plan.config().encoding_of(plan.evaluator_bits(), encoding_seed);
    Shared::new(run.domain(GARBLER, Step::Head as u8), encoding, InputHash::none())
}
