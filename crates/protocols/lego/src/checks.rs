//! Checks of the other party, besides those of openings of commitments and OTs.

garblet_protocol::checks! {
    all and []:

    /// The evaluator's choices are the same for every bit of the constructor's difference.
    DELTA_CHOICES = "its choices differ from row to row of the oblivious transfers",
    /// The evaluator has the block that it claims to have got by OT.
    DELTA_CLAIM = "it claims a block that it did not get by oblivious transfer",
    /// The committed difference is the one of the OTs.
    COMMITTED_DELTA = "it committed to another difference than it used in the oblivious transfers",
    /// The select bits that it sends match the committed keys.
    TOLD_BITS = "the select bits that it sent do not match its commitments",
    /// A checked gate gives the committed key of its output.
    GATE = "a checked gate does not compute AND",
    /// A checked wire authenticator accepts the committed key.
    AUTHENTICATOR = "a checked wire authenticator refuses the key of its wire",
    /// The evaluator's input key has the select bit of its input.
    INPUT_KEY_BIT = "an input key of the evaluator stands for the other bit",
    /// The authenticators of an input accept its key.
    INPUT_KEY = "an input key is refused by its authenticators",
    /// The key that the evaluator hands over for an output is one of its wire.
    OUTPUT_KEY = "it handed over a key that does not belong to the output",
}
