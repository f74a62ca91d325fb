//! The form of Lindell and Pinkas (EUROCRYPT 2007) that Pinkas, Schneider, Smart and Williams (ASIACRYPT 2009, section 6) measured:
//! coins decide which circuits are checked, and supersets of commitments bind the garbler's input.
//!
//! # Steps
//!
//! Steps 1 to 3 and 8 to 9 are those of the other form. `n` counts the garbler's wires, `s` the circuits, `S` the supersets.
//!
//! | step | garbler | evaluator |
//! |---|---|---|
//! | 4 | for each circuit both labels of the evaluator's wires, encrypted with the pads of the OTs | decrypts the labels of its choices |
//! | 5 | all circuits, with commitments to both labels of the evaluator's wires; `S` supersets of commitments, see `supersets` | keeps them |
//! | 6 | tosses coins with the evaluator | the coins decide which half of the circuits and of the supersets is checked |
//! | 7 | opens: the seeds of checked circuits; of checked supersets the indicators and the labels of checked circuits; of the others its own labels in evaluated circuits | aborts unless everything fits; evaluates the other circuits |
//!
//! # Deviations
//!
//! - OT extension in place of a public-key OT for each wire.
//! - Checked circuits are regenerated from seeds, where the paper opened all keys of the circuit because hashing was slower for it.
//! - Exactly half of the circuits and of the supersets are checked; with an independent coin for each, the number would vary.
//! - With a scheme of 2009 the sums of the encoding are gates of the circuit, as in the paper. The encoding must be known beforehand, so random
//!   combinations follow from a public seed, and the encoding that the evaluator samples in step 2 is not used.
//! - Coin tossing takes three messages in place of four, see [`garblet_protocol::coin_toss`].
//!
//! # Cost
//!
//! The evaluator keeps all circuits and commitments until the coins are tossed: `64 n S (s + 1)` bytes and all tables, of which 128 MiB are in
//! memory and the rest in scratch space, if the [session](garblet_protocol::Session::set_scratch) has any.

mod evaluator;
mod garbler;
mod kept;
mod supersets;

pub(super) use evaluator::examine;
pub(super) use garbler::garble;

use super::plan::Plan;
use garblet_protocol::coin_toss::Coins;
use garblet_seeded::Split;

/// The circuits and supersets that the coins choose to check.
struct Challenge {
    circuits: Split,
    supersets: Split,
}

impl Challenge {
    fn of(plan: &Plan, coins: Coins) -> Self {
        let mut coins = coins.into_stream();
        let (config, supersets) = (plan.config(), plan.config().supersets());
        Challenge {
            circuits: Split::random(config.circuits(), config.evaluated(), &mut coins),
            supersets: Split::random(supersets, supersets / 2, &mut coins),
        }
    }
}
