//! Checks of circuits derived from seeds.

garblet_protocol::checks! {
    /// A checked circuit matches its seed, including commitments and decoding bits.
    CIRCUIT_OF_SEED = "a circuit does not match its seed",
    /// The label that the evaluator got by OT for its choice matches the checked circuit.
    ///
    /// Whether this fails depends on the evaluator's choice, but the choice is a bit of an encoding (see [`crate::encoding`]), and
    /// reveals nothing about the input.
    LABEL_OF_SEED = "a label that it sent by oblivious transfer does not match the checked circuit",
    /// The evaluated circuit is the one that the garbler committed to.
    COMMITTED_CIRCUIT = "the circuit that it sent is not the one that it committed to",
}
