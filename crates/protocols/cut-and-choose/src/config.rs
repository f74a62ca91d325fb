//! Parameters of a run.

use garblet_garble::{GarblingConfig, published::Method};
use garblet_ot::{StatisticalSecurity, Width};

use super::{field::Field, numbers};

/// The bound on the probability of undetected cheating.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Statistical {
    /// A probability of at most 2^-40: 128 circuits.
    #[default]
    Forty,
    /// A probability of at most 2^-80: 256 circuits.
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

/// The choice between the two protocols.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Only the evaluator knows which circuits are checked; hashes bind the garbler's input (shelat and Shen 2013).
    #[default]
    Oblivious,
    /// Coin tossing decides which circuits are checked; supersets of commitments bind the garbler's input (Lindell and Pinkas 2007, as
    /// measured in 2009). For comparison.
    Lp07,
}

/// The fewest circuits of a run: at least one is checked, and an odd number is evaluated.
pub const MIN_CIRCUITS: usize = 2;
/// The most circuits of a run.
pub const MAX_CIRCUITS: usize = 4096;

/// The encoding of the evaluator's input, see [`garblet_seeded::encoding`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputEncoding {
    /// Random combinations over as few wires as suffice.
    #[default]
    Systematic,
    /// Random combinations over the published number of wires.
    RandomCombinations,
    /// Every bit as the sum of its own wires.
    Independent,
}

/// The parameters of a run; both parties must choose the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Garbling scheme and hash.
    pub garbling: GarblingConfig,
    /// A scheme of 2009 in place of `garbling`, with [`Form::Lp07`]; it hashes by SHA-256.
    pub published: Option<Method>,
    /// Field width of the OT extension.
    pub ot_width: Width,
    /// The bound on undetected cheating, which sets the default number of circuits.
    pub statistical: Statistical,
    /// The number of circuits; if set, the bound follows from it.
    pub circuits: Option<u16>,
    /// The encoding of the evaluator's input; by default systematic, or as published with [`Form::Lp07`].
    pub encoding: Option<InputEncoding>,
    /// The choice between the two protocols.
    pub form: Form,
    /// The number of supersets of commitments with [`Form::Lp07`]; by default as many as circuits.
    pub supersets: Option<u16>,
}

impl Config {
    /// The number of garbled circuits.
    pub fn circuits(&self) -> usize {
        let standard = match (self.form, self.statistical) {
            (Form::Oblivious, Statistical::Forty) => 128,
            (Form::Oblivious, Statistical::Eighty) => 256,
            (Form::Lp07, Statistical::Forty) => 160,
            (Form::Lp07, Statistical::Eighty) => 264,
        };
        self.circuits.map_or(standard, |circuits| usize::from(circuits).clamp(MIN_CIRCUITS, MAX_CIRCUITS))
    }

    /// The number of evaluated circuits: odd, or as published half of them.
    pub fn evaluated(&self) -> usize {
        match self.form {
            Form::Oblivious => numbers::best_evaluated(self.circuits()),
            Form::Lp07 => self.circuits() / 2,
        }
    }

    /// The number of supersets of commitments; 0 except with [`Form::Lp07`].
    pub fn supersets(&self) -> usize {
        match self.form {
            Form::Oblivious => 0,
            Form::Lp07 => self.supersets.map_or(self.circuits(), usize::from).clamp(MIN_CIRCUITS, MAX_CIRCUITS),
        }
    }

    /// The encoding of the evaluator's input.
    pub(crate) fn input_encoding(&self) -> InputEncoding {
        self.encoding.unwrap_or(match self.form {
            Form::Oblivious => InputEncoding::Systematic,
            Form::Lp07 => InputEncoding::RandomCombinations,
        })
    }

    /// The number of spoiled labels that the encoding withstands.
    pub(crate) fn distance(&self) -> usize {
        match self.form {
            Form::Oblivious => self.slack_bits(),
            Form::Lp07 => self.statistical.bits() as usize,
        }
    }

    /// The number of rows of the hash of the garbler's input.
    pub(crate) fn hash_rows(&self) -> usize {
        match self.form {
            Form::Oblivious => self.slack_bits(),
            Form::Lp07 => 0,
        }
    }

    /// The number of checked circuits.
    pub fn checked(&self) -> usize {
        self.circuits() - self.evaluated()
    }

    /// The security in bits against every other way to cheat: so far above the requested bound that together they hardly count.
    pub(crate) fn slack_bits(&self) -> usize {
        self.statistical.bits() as usize + 8
    }

    /// The field of the authenticator.
    pub(crate) fn field(&self) -> Field {
        Field::of_at_least(self.slack_bits())
    }

    /// The security of the OT's consistency check.
    pub(crate) fn sigma(&self) -> StatisticalSecurity {
        match self.statistical {
            Statistical::Forty => StatisticalSecurity::Forty,
            Statistical::Eighty => StatisticalSecurity::Eighty,
        }
    }
}
