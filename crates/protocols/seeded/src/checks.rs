//! Checks of circuits whose garbler is a seed.

garblet_protocol::checks! {
    /// A checked circuit is what its seed gives, commitments and decoding bits included.
    CIRCUIT_OF_SEED = "a circuit is not what its seed gives",
    /// The label that the evaluator got by OT for its choice is that of the checked circuit.
    ///
    /// Whether this fails depends on the evaluator's choice, but the choice is a bit of an encoding (see [`crate::encoding`]), and
    /// says nothing of the input.
    LABEL_OF_SEED = "a label that it sent by oblivious transfer is not that of the checked circuit",
    /// The evaluated circuit is the one that was committed to.
    COMMITTED_CIRCUIT = "the circuit that it sent is not the one that it committed to",
}
