//! The form `seeds`: steps 2 to 8 of the [protocol](super).
//!
//! *Source*: Hong, Katz, Kolesnikov, Lu, Wang (EUROCRYPT 2019), figure 1.

mod evaluator;
mod garbler;

pub(super) use evaluator::{
    CommitmentsVerified, EvaluatorSeeds, check_commitments, evaluate, prepare as prepare_evaluator,
};
pub(super) use garbler::{GarblerSeeds, commit, garble, prepare as prepare_garbler};

use garblet_primitives::Block;

use super::{GARBLER, Step, input_ot::InputOts, plan::Plan};
use garblet_protocol::domain::{Domain, SessionId};
use garblet_seeded::{InputHash, Shared, encoding::Encoding};

/// Bytes of a circuit's hash.
pub(super) const COMMITMENT_BYTES: usize = 32;
/// The bytes that name the evaluated circuit: its number and the witness.
pub(super) const CHOSEN_BYTES: usize = 2 + 16;

/// The secrets that follow from the two pads of a circuit's OT.
struct CircuitOt(Domain);

impl CircuitOt {
    fn new(run: &SessionId, circuit: usize) -> Self {
        CircuitOt(run.domain(GARBLER, Step::CircuitCoins as u8).at(circuit as u64))
    }

    /// The witness, derived from the pad for evaluation, that the evaluator has this pad and so not the other one.
    fn witness(&self, pad: Block) -> Block {
        self.0.branch(0).key(pad)
    }

    /// The garbler's coins for the OTs of the circuit, from the pad for checking.
    fn ot_coins(&self, pad: Block) -> Block {
        self.0.branch(1).key(pad)
    }

    /// The garbler's coins for the circuit, from the pad for checking.
    fn circuit_coins(&self, pad: Block) -> Block {
        self.0.branch(2).key(pad)
    }
}

fn input_ots(plan: &Plan) -> InputOts {
    InputOts { width: plan.config().ot_width, count: plan.evaluator_bits() }
}

/// The data that both parties share about all circuits of a run.
fn shared(plan: &Plan, run: &SessionId) -> Shared {
    let encoding = Encoding::plain(plan.evaluator_bits());
    Shared::new(run.domain(GARBLER, Step::Head as u8), encoding, InputHash::none())
}

/// The domain of circuits' digests.
fn commitments(run: &SessionId) -> Domain {
    run.domain(GARBLER, Step::Commitment as u8)
}
