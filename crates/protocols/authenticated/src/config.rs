//! The choices of the users of both parties.

use garblet_ot::{LpnSet, Width};
use garblet_protocol::parameters::OtKind;

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
    /// Field width of the OT extension, unless OTs are silent.
    pub ot_width: Width,
    /// The statistical security.
    pub statistical: Statistical,
    /// The kind of OT: silent for orders and programs that take at least [`SILENT_FROM`] OTs in each direction.
    pub ot: OtKind,
}

/// The OTs in each direction from which on silent OT is used, if it is chosen: its first ones cost as much as 158,000 others.
pub const SILENT_FROM: u64 = 200_000;

/// The parameters of silent OT.
pub(crate) const LPN: LpnSet = LpnSet::DEFAULT;

impl Config {
    /// Field width of the OT extension.
    pub(crate) fn width(self) -> Width {
        match self.ot {
            OtKind::Extension => self.ot_width,
            OtKind::Silent => Width::Eight,
        }
    }

    /// Tells whether this number of OTs in each direction is made by silent OT.
    pub(crate) fn is_silent(self, ots: u64) -> bool {
        self.ot == OtKind::Silent && ots >= SILENT_FROM
    }
}
