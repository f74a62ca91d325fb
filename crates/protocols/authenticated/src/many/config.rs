//! The choices of the users of all parties.

use garblet_ot::Width;
use garblet_protocol::parameters::OtKind;

use crate::config::{Build, ResultCheck, SILENT_FROM, Statistical};

/// The parameters of a run; all parties must choose the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The check of the result.
    pub check: ResultCheck,
    /// The time of garbling.
    pub build: Build,
    /// The party that evaluates; all others garble.
    pub evaluator: u16,
    /// Field width of the OT extension, unless OTs are silent.
    pub ot_width: Width,
    /// The statistical security.
    pub statistical: Statistical,
    /// The kind of OT: silent for orders and programs that take at least [`SILENT_FROM`] OTs between every two parties in each direction.
    pub ot: OtKind,
}

impl Config {
    /// Field width of the OT extension.
    pub(super) fn width(self) -> Width {
        match self.ot {
            OtKind::Extension => self.ot_width,
            OtKind::Silent => Width::Eight,
        }
    }

    /// Tells whether this number of OTs in each direction is made by silent OT.
    pub(super) fn is_silent(self, ots: u64) -> bool {
        self.ot == OtKind::Silent && ots >= SILENT_FROM
    }
}

impl Default for Config {
    fn default() -> Self {
        Config {
            check: ResultCheck::Tags,
            build: Build::Ahead,
            evaluator: 1,
            ot_width: Width::Eight,
            statistical: Statistical::Forty,
            ot: OtKind::Extension,
        }
    }
}
