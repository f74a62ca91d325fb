//! Checks of the other server.
//!
//! Where what a client told and what the generator did do not fit, nobody can tell who lies; that is a
//! [`Refused`](garblet_protocol::checks::Refused), which names both.

pub use garblet_seeded::checks::CIRCUIT_OF_SEED;

garblet_protocol::checks! {
    all and [CIRCUIT_OF_SEED]:

    /// Checked circuits have commitments to both labels of every wire that came by OT, in the order that was agreed.
    ORDER_OF_SEED = "commitments to the labels of a circuit are not those that its seed and their order give",
    /// The select bits for the hashes of clients' inputs, of a checked circuit, are what the seed gives.
    HASH_OF_SEED = "the select bits of the hashes of clients' inputs in a circuit are not those that its seed gives",
    /// The partial gates of a checked circuit are what the kept labels and the seed give.
    PARTIAL_GATE = "the partial gates of a circuit are not what kept labels and the seed give",
    /// The generator's labels for every evaluated circuit are labels, and for an input with the hash that it told.
    GENERATOR_INPUT = "its labels for its own input are not, in every circuit that counts, those of one input with the hash that it told",
    /// The keys of orders and blinds are those that were agreed with the cloud itself.
    KEY_OF_CLOUD = "the key of an order or of blinds is not the one that was agreed",
    /// The labels of the cloud's own input open their places.
    LABEL_OF_CLOUD = "a label that it sent by oblivious transfer does not open the commitment at its place",
    /// The cloud hands the generator what the circuits gave.
    OUTPUT_TAG = "it handed over another output than the circuits gave",
}

/// The fault of an answer to a client: a cloud that has no majority of circuits sends noise, and that is the generator's doing.
pub(crate) const CLIENTS_TAG: &str = "the answer has no right tag";
/// The fault of a key that is not the one of a client's digest.
pub(crate) const CLIENTS_KEY: &str = "the key of an order or of blinds is not the one whose digest the client told";
/// The fault of a label that does not open its place.
pub(crate) const CLIENTS_LABEL: &str =
    "a label of the client's input does not open the commitment at the place that it told";
/// The fault of inputs that are not the same in all circuits.
pub(crate) const CLIENTS_INPUT: &str = "the client's input is not the same in every circuit that counts";
/// The fault of a client's seed that both servers heard differently.
pub(crate) const CLIENTS_ENCODING: &str = "both servers heard different encodings of the client's input";
