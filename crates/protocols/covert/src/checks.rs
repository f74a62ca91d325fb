//! Checks of the other party.

pub use garblet_protocol::coin_toss::COIN_TOSS_OPENING;
pub use garblet_seeded::checks::{CIRCUIT_OF_SEED, COMMITTED_CIRCUIT, LABEL_OF_SEED};

garblet_protocol::checks! {
    all and [COIN_TOSS_OPENING, CIRCUIT_OF_SEED, LABEL_OF_SEED, COMMITTED_CIRCUIT]:

    /// The garbler's messages in the oblivious transfers of a checked circuit match its seed.
    OT_OF_SEED = "its messages in the oblivious transfers of a circuit do not match the circuit's seed",
    /// The evaluator proves that it does not know the seed of the circuit that it evaluates.
    WITNESS = "it cannot prove that it does not know the seed of the circuit that it evaluates",
    /// The garbler committed to its labels for an evaluated circuit.
    GARBLER_LABEL = "it did not commit to a label that it sent for its own input",
    /// The evaluator has the labels of the output that it hands over to the garbler.
    OUTPUT_LABELS = "it handed over an output without having its labels",
}
