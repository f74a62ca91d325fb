//! Checks of the other parties. None depends on the input of the party that checks.

use garblet_circuit::Party;
use garblet_protocol::{
    ProtocolError,
    checks::{Digests, Refused},
};

garblet_protocol::checks! {
    all and []:

    /// A garbler opens its commitments: at the positions of its share, and anywhere for its own input.
    COMMITTED_LABELS = "it opened a label that the garblers did not commit to, or one for another share than it was dealt",
    /// The evaluator has the labels of the outputs that it hands over.
    EVALUATED_LABELS = "it handed over output bits without having their labels",
}

/// The contradiction of two nonces.
pub(super) const NONCES: &str = "a party sent the two others different nonces, or another party reports them wrongly";
/// The contradiction of commitments and their digest.
pub(super) const COMMITMENTS: &str = "the commitments of one garbler do not have the digest that the other one sent";
/// The contradiction of tables and their digest.
pub(super) const TABLES: &str = "the tables of one garbler do not have the digest that the other one sent";
/// The contradiction of decoding bits.
pub(super) const DECODING: &str = "the garblers sent different decoding bits";

/// The error of two parties, one of which lies, with the digests that differ, if it is these.
pub(super) fn refused(what: &'static str, parties: [Party; 2], digests: Option<Digests>) -> ProtocolError {
    Refused { digests, ..Refused::new(what, parties) }.into()
}
