//! Checks of the other party.

pub use garblet_protocol::coin_toss::COIN_TOSS_OPENING;
pub use garblet_seeded::checks::{CIRCUIT_OF_SEED, COMMITTED_CIRCUIT, LABEL_OF_SEED};

garblet_protocol::checks! {
    all and [COIN_TOSS_OPENING, CIRCUIT_OF_SEED, LABEL_OF_SEED, COMMITTED_CIRCUIT]:

    /// The garbler's messages in the oblivious transfers of a checked circuit are what its seed gives.
    OT_OF_SEED = "what it said in the oblivious transfers of a circuit is not what its seed gives",
    /// The evaluator can show that it does not know the seed of the circuit that it evaluates.
    WITNESS = "it cannot show that it did not take the seed of the circuit that it evaluates",
    /// The garbler's labels for an evaluated circuit are among those that it committed to.
    GARBLER_LABEL = "a label for its own input is not one that it committed to",
    /// The evaluator has the labels of what it hands over for the garbler.
    OUTPUT_LABELS = "it handed over an output whose labels it does not have",
}
