//! Checks of the other server.
//!
//! If a client's and the generator's messages do not match, nobody can tell who lies; that is a
//! [`Refused`](garblet_protocol::checks::Refused), which names both.

pub use garblet_seeded::checks::CIRCUIT_OF_SEED;

garblet_protocol::checks! {
    all and [CIRCUIT_OF_SEED]:

    /// Checked circuits have commitments to both labels of every wire transferred by OT, in the agreed order.
    ORDER_OF_SEED = "its commitments to the labels of a circuit do not match the circuit's seed and their order",
    /// The select bits for the hashes of clients' inputs in a checked circuit match the seed.
    HASH_OF_SEED = "the select bits of the hashes of clients' inputs in a circuit do not match the circuit's seed",
    /// The partial gates of a checked circuit match the kept labels and the seed.
    PARTIAL_GATE = "the partial gates of a circuit do not match the kept labels and the seed",
    /// The generator's labels for every evaluated circuit are valid, and encode an input with the hash that it announced.
    GENERATOR_INPUT = "its labels for its own input do not encode one input, with the hash that it announced, in every circuit that counts",
    /// The keys of orders and blinds are those agreed with the cloud itself.
    KEY_OF_CLOUD = "the key of an order or of blinds is not the agreed one",
    /// The labels of the cloud's own input open the commitments at their places.
    LABEL_OF_CLOUD = "a label that it sent by oblivious transfer does not open the commitment at its place",
    /// The cloud hands over the generator's output as the circuits gave it.
    OUTPUT_TAG = "it handed over another output than the circuits gave",
}

/// The fault of an answer to a client: a cloud without a majority of circuits sends noise, which is the generator's fault.
pub(crate) const CLIENTS_TAG: &str = "the answer has a wrong tag";
/// The fault of a key that does not match the client's digest.
pub(crate) const CLIENTS_KEY: &str = "the key of an order or of blinds does not match the client's digest";
/// The fault of a label that does not open the commitment at its place.
pub(crate) const CLIENTS_LABEL: &str =
    "a label of the client's input does not open the commitment at the place that the client sent";
/// The fault of inputs that differ between circuits.
pub(crate) const CLIENTS_INPUT: &str = "the client's input differs between circuits that count";
/// The fault of a client that sent both servers different seeds.
pub(crate) const CLIENTS_ENCODING: &str = "the servers received different encodings of the client's input";
