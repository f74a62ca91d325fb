//! The choices of the users of all parties.

use garblet_ot::Width;

use crate::config::{Build, ResultCheck, Statistical};

/// The parameters of a run; all parties must choose the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The check of the result.
    pub check: ResultCheck,
    /// The time of garbling.
    pub build: Build,
    /// The party that evaluates; all others garble.
    pub evaluator: u16,
    /// Field width of the OT extension.
    pub ot_width: Width,
    /// The statistical security.
    pub statistical: Statistical,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            check: ResultCheck::Tags,
            build: Build::Ahead,
            evaluator: 1,
            ot_width: Width::Eight,
            statistical: Statistical::Forty,
        }
    }
}
