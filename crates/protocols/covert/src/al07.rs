//! The form `al07`: the garbler sends all circuits, and opens all but the one that the evaluator then names.
//!
//! *Source*: Aumann and Lindell (TCC 2007), section 6.3, as measured by Pinkas, Schneider, Smart, Williams (ASIACRYPT 2009), who used
//! 16 circuits and 4 shares, for a deterrence of 0.82.
//!
//! # Steps
//!
//! After step 1 of the [protocol](super); the evaluator's input is encoded on `m` wires.
//!
//! | phase | step | garbler | evaluator |
//! |---|---|---|---|
//! | prepare | 2 | `m` random OTs | chooses the circuit to evaluate; samples the encoding |
//! | online | 3 | samples a seed for each circuit | corrects its choices so that they encode its input |
//! | online | 4 | for each circuit both labels of the `m` wires, encrypted with the pads of their OTs | decrypts the labels of its choices |
//! | online | 5 | all circuits: commitments to the labels of all input wires, tables, decoding bits | keeps the one to evaluate and a hash of each |
//! | online | 6 | | announces which circuit it evaluates |
//! | online | 7 | the seeds of the others, and its own labels for that one | `corrupted` unless the hashes and the labels of step 4 match the seeds; stops unless the garbler committed to its labels |
//! | online | 8 | as step 9 of the other form | evaluates |
//!
//! # Deviations
//!
//! - OT extension in place of a public-key OT for each wire, unless [`Ot::Pvw`](super::Ot) is chosen, whose reference string comes
//!   from tossed coins; circuits are opened by their seeds, where the paper opened all keys.
//! - With a scheme of 2009 the sums of the encoding are gates of the circuit, as in the paper. The encoding must be known beforehand, so random
//!   combinations follow from a public seed, and the encoding that the evaluator samples in step 2 is not used.
//! - The evaluator hands over the garbler's output as in the other form; the paper authenticates it in the circuit.
//! - A garbler that disconnects after step 6 is [`Suspected`](garblet_protocol::checks::Suspected) and not `corrupted` as in the paper: a network
//!   failure would look the same. So a garbler that stops there whenever it would be caught is never `corrupted`. The form `seeds`
//!   does not have this gap.
//!
//! # Cost
//!
//! The evaluator keeps the circuit to evaluate until the garbler's labels for it arrive.

mod evaluator;
mod garbler;

pub(super) use evaluator::{EvaluatorWires, evaluate, prepare as prepare_evaluator};
pub(super) use garbler::{GarblerWires, garble, prepare as prepare_garbler};

use garblet_primitives::Block;

use super::{GARBLER, Step, plan::Plan};
use garblet_protocol::domain::SessionId;
use garblet_seeded::{InputHash, Shared};

/// The bytes that name the evaluated circuit.
pub(super) const CHOSEN_BYTES: usize = 2;

/// The data that both parties share about all circuits of a run.
fn shared(plan: &Plan, run: &SessionId, encoding_seed: Block) -> Shared {
    let encoding = plan.config().encoding_of(plan.evaluator_bits(), encoding_seed);
    Shared::new(run.domain(GARBLER, Step::Head as u8), encoding, InputHash::none())
}
