//! A difference between two parties' plans.

use std::fmt;

/// A matter on which the two parties differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The name of the matter.
    pub field: String,
    /// This party's value.
    pub ours: String,
    /// The peer's value.
    pub theirs: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ours {}, theirs {}", self.field, self.ours, self.theirs)
    }
}
