//! Parameters of both forms.

use garblet_authenticated as shares;

use crate::partialgc;

/// One of the two constructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Clients deal shares to two servers, which run [`garblet_authenticated`].
    #[default]
    Shares,
    /// Many garbled circuits of which some are checked, as published; see [`partialgc`]. For comparison.
    PartialGc,
}

/// The parameters; all parties must choose the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// One of the two constructions.
    pub form: Form,
    /// The parameters of [`Form::Shares`], of which the other has the width of OT extensions.
    pub shares: shares::Config,
    /// The number of circuits of [`Form::PartialGc`].
    pub circuits: partialgc::Circuits,
    /// The way in which it reads what it has kept.
    pub reuse: partialgc::Reuse,
}

impl Config {
    /// The parameters of [`Form::PartialGc`].
    pub fn partialgc(&self) -> partialgc::Config {
        partialgc::Config { circuits: self.circuits, reuse: self.reuse, ot_width: self.shares.ot_width }
    }
}
