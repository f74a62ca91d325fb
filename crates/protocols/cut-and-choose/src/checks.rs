//! Checks of the other party.

pub use garblet_protocol::coin_toss::COIN_TOSS_OPENING;
pub use garblet_seeded::checks::{CIRCUIT_OF_SEED, COMMITTED_CIRCUIT, LABEL_OF_SEED};

garblet_protocol::checks! {
    all and [COIN_TOSS_OPENING, CIRCUIT_OF_SEED, LABEL_OF_SEED, COMMITTED_CIRCUIT]:

    /// The evaluator names the agreed number of circuits to evaluate.
    ///
    /// Naming more or fewer would not help it, see [`crate`], but the costs of the run would differ from its formulas.
    TOLD_SPLIT = "it named another number of circuits to evaluate than agreed",
    /// The garbler's labels for every evaluated circuit are valid, and encode an input with the hash that it announced.
    GARBLER_INPUT = "its labels for its own input do not match the input hash that it announced",
    /// The openings of a superset match its commitments.
    SUPERSET_OPENING = "its openings of a superset of commitments do not match the commitments",
    /// The two sets of a wire are for the two values.
    SUPERSET_INDICATORS = "both sets of a wire in a superset of commitments are for the same value",
    /// The labels in a superset are those of the checked circuits.
    SUPERSET_LABEL = "a label in a superset of commitments differs from the checked circuit's",
    /// All supersets give the same label for the garbler's input.
    SUPERSET_INPUT = "its input differs between supersets of commitments",
    /// The evaluator hands over the garbler's output as the circuits gave it.
    OUTPUT_TAG = "it handed over another output than the circuits gave",
}
