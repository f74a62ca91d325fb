//! The error for malformed bytes.

/// Bytes of another party, or of a file, that cannot be read.
///
/// It contains nothing secret: of secret fields it states only the lengths.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}, byte {at}, {field}: expected {expected}, got {got}")]
pub struct Malformed {
    /// The kind of message.
    pub what: &'static str,
    /// The field that is wrong.
    pub field: &'static str,
    /// The byte at which the field begins.
    pub at: usize,
    /// The values that it may have.
    pub expected: String,
    /// The value that it has.
    pub got: String,
}

impl Malformed {
    /// Advice for a person.
    pub fn hint(&self) -> &'static str {
        "it was changed in transit, belongs to another job, or comes from another version of Garblet: compare versions and jobs"
    }
}
