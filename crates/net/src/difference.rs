//! A difference between what two parties are about to do.

use std::fmt;

/// A matter on which the two parties differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The name of the matter.
    pub field: String,
    /// The statement of this party.
    pub ours: String,
    /// The statement of the peer.
    pub theirs: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ours {}, theirs {}", self.field, self.ours, self.theirs)
    }
}
