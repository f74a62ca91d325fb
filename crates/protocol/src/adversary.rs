//! The adversaries that a protocol is secure against.

use std::{fmt, str::FromStr};

use crate::parameters::{UnknownParameter, list};

/// The behaviour of a corrupted party, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Adversary {
    /// Follows the protocol, and tries to learn more from the messages that it sees.
    SemiHonest,
    /// Cheats if it is unlikely to be caught.
    Covert,
    /// Does anything.
    Malicious,
}

impl Adversary {
    /// All adversaries, from the weakest.
    pub const ALL: [Adversary; 3] = [Adversary::SemiHonest, Adversary::Covert, Adversary::Malicious];

    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Adversary::SemiHonest => "semi-honest",
            Adversary::Covert => "covert",
            Adversary::Malicious => "malicious",
        }
    }
}

impl fmt::Display for Adversary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Adversary {
    type Err = UnknownParameter;

    fn from_str(name: &str) -> Result<Self, UnknownParameter> {
        let named = Adversary::ALL.into_iter().find(|adversary| adversary.name() == name);
        named.ok_or_else(|| UnknownParameter::new("adversary", name, list(&Adversary::ALL.map(Adversary::name))))
    }
}
