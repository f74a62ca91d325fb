//! The choices of the users of both parties.

use garblet_ot::Width;

/// The evaluator's check that all gates are right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResultCheck {
    /// Tags that come with the gates: one round trip online.
    #[default]
    Tags,
    /// As published, the evaluator sends the garbler the masked values of all gates: two round trips online, 12 bytes less per gate.
    Reveal,
}

/// The time at which the circuit is garbled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Build {
    /// Once the function is known, before the inputs are.
    #[default]
    Ahead,
    /// With the inputs, lot by lot, in memory that does not grow with the program.
    Stream,
}

/// The statistical security: cheating goes undetected with a probability of at most two to minus this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Statistical {
    /// 40 bits.
    #[default]
    Forty,
    /// 64 bits.
    SixtyFour,
    /// 80 bits.
    Eighty,
}

impl Statistical {
    /// The bits.
    pub const fn bits(self) -> u32 {
        match self {
            Statistical::Forty => 40,
            Statistical::SixtyFour => 64,
            Statistical::Eighty => 80,
        }
    }

    /// Bytes of a tag: 8 bits more, so that tags are negligible in the sum.
    pub const fn tag_bytes(self) -> usize {
        self.bits() as usize / 8 + 1
    }
}

/// The parameters of a run; both parties must choose the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The check of the result.
    pub check: ResultCheck,
    /// The time of garbling.
    pub build: Build,
    /// Field width of the OT extension.
    pub ot_width: Width,
    /// The statistical security.
    pub statistical: Statistical,
}
