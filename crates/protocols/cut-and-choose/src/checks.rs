//! Checks of the other party.

pub use garblet_protocol::coin_toss::COIN_TOSS_OPENING;
pub use garblet_seeded::checks::{CIRCUIT_OF_SEED, COMMITTED_CIRCUIT, LABEL_OF_SEED};

garblet_protocol::checks! {
    all and [COIN_TOSS_OPENING, CIRCUIT_OF_SEED, LABEL_OF_SEED, COMMITTED_CIRCUIT]:

    /// The evaluator tells as many circuits to evaluate as agreed.
    ///
    /// More or fewer would be of no use to it, see [`crate`], but then a run would cost otherwise than its formulas say.
    TOLD_SPLIT = "it tells another number of circuits to evaluate than agreed",
    /// The garbler's labels for every evaluated circuit are labels, and for an input with the hash that it told.
    GARBLER_INPUT = "its labels for its own input are not those of the input whose hash it told",
    /// The openings of a superset fit its commitments.
    SUPERSET_OPENING = "what it opened of a superset of commitments does not fit them",
    /// The two sets of a wire are for the two values.
    SUPERSET_INDICATORS = "both sets of a wire in a superset of commitments are for one value",
    /// A superset holds the labels of the checked circuits.
    SUPERSET_LABEL = "a superset of commitments holds another label than the checked circuit has",
    /// All supersets give the same label for the garbler's input.
    SUPERSET_INPUT = "its own input is not the same in every superset of commitments",
    /// The evaluator hands over what the circuits gave for the garbler.
    OUTPUT_TAG = "it handed over another output than the circuits gave",
}
