//! The choices of the users of both parties.

use std::{fmt, str::FromStr};

use garblet_homcommit::Code;
use garblet_ot::Width;

/// The choice of bucket sizes and of the probabilities of checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sizing {
    /// The fewest bytes.
    #[default]
    FewestBytes,
    /// Sizes as the paper's rows: these, and the sizes of inputs that it derives from them.
    Given {
        /// Garbled gates of an AND gate.
        bucket: u8,
        /// A gate is checked with probability two to minus this.
        check_gates: u8,
        /// A wire authenticator likewise.
        check_authenticators: u8,
    },
}

/// The parameters of a run; both parties must choose the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The code of the commitments.
    pub code: Code,
    /// Field width of the OT extension.
    pub ot_width: Width,
    /// The choice of bucket sizes.
    pub sizing: Sizing,
    /// Set to make whatever the stores lack once the function is known.
    pub top_up: bool,
}

impl fmt::Display for Sizing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sizing::FewestBytes => f.write_str("least"),
            Sizing::Given { bucket, check_gates, check_authenticators } => {
                write!(f, "{bucket}/{check_gates}/{check_authenticators}")
            }
        }
    }
}

impl FromStr for Sizing {
    type Err = ();

    /// Parses what [`Sizing`]'s `Display` gives: `least`, or `7/4/3` for buckets of seven gates, of which one in 16 is checked, and
    /// one authenticator in eight.
    fn from_str(text: &str) -> Result<Self, ()> {
        if text == "least" {
            return Ok(Sizing::FewestBytes);
        }
        let numbers: Vec<u8> = text.split('/').map(str::parse).collect::<Result<_, _>>().map_err(|_| ())?;
        match numbers[..] {
            [bucket @ 2..=16, check_gates @ 1..=30, check_authenticators @ 1..=30] => {
                Ok(Sizing::Given { bucket, check_gates, check_authenticators })
            }
            _ => Err(()),
        }
    }
}
