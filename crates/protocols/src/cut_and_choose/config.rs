//! Parameters of a run.

use garblet_garble::GarblingConfig;
use garblet_ot::{Sigma, Width};

use super::{field::Field, numbers};

/// How unlikely undetected cheating must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Statistical {
    /// At most 2^-40: 128 circuits.
    #[default]
    Forty,
    /// At most 2^-80: 256 circuits.
    Eighty,
}

impl Statistical {
    /// Both.
    pub const ALL: &[Statistical] = &[Statistical::Forty, Statistical::Eighty];

    /// The exponent.
    pub fn bits(self) -> u32 {
        match self {
            Statistical::Forty => 40,
            Statistical::Eighty => 80,
        }
    }
}

/// The fewest circuits of a run: one is checked or more, and an odd number is evaluated.
pub const MIN_CIRCUITS: usize = 2;
/// The most circuits of a run.
pub const MAX_CIRCUITS: usize = 4096;

/// How the evaluator's input is encoded, see [`crate::encoding`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputEncoding {
    /// Random combinations over as few wires as are enough.
    #[default]
    Systematic,
    /// Random combinations over as many wires as published.
    RandomCombinations,
    /// Every bit as the sum of wires of its own.
    Independent,
}

/// The parameters of a run; both parties must choose the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Garbling scheme and hash.
    pub garbling: GarblingConfig,
    /// Field width of the OT extension.
    pub ot_width: Width,
    /// How unlikely undetected cheating must be; says how many circuits there are unless that is given.
    pub statistical: Statistical,
    /// How many circuits; then how unlikely cheating is follows from them.
    pub circuits: Option<u16>,
    /// How the evaluator's input is encoded.
    pub encoding: InputEncoding,
}

impl Config {
    /// Circuits that are garbled.
    pub fn circuits(&self) -> usize {
        let standard = match self.statistical {
            Statistical::Forty => 128,
            Statistical::Eighty => 256,
        };
        self.circuits.map_or(standard, |circuits| usize::from(circuits).clamp(MIN_CIRCUITS, MAX_CIRCUITS))
    }

    /// Circuits that are evaluated, an odd number.
    pub fn evaluated(&self) -> usize {
        numbers::best_evaluated(self.circuits())
    }

    /// Circuits that are checked.
    pub fn checked(&self) -> usize {
        self.circuits() - self.evaluated()
    }

    /// Bits of every other way to cheat: so many more than asked for that all of them together hardly count.
    pub(crate) fn slack_bits(&self) -> usize {
        self.statistical.bits() as usize + 8
    }

    /// The field of the authenticator.
    pub(crate) fn field(&self) -> Field {
        Field::of_at_least(self.slack_bits())
    }

    /// The security of the OT's consistency check.
    pub(crate) fn sigma(&self) -> Sigma {
        match self.statistical {
            Statistical::Forty => Sigma::Forty,
            Statistical::Eighty => Sigma::Eighty,
        }
    }
}
