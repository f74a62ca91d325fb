//! The parameters.

use garblet_garble::GarblingConfig;
use garblet_ot::Width;

/// The links that may be used; the results are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Linking {
    /// One label per linked wire.
    Standard,
    /// One key per block where a link was prepared, else labels.
    Keyed,
    /// Templates where they fit, else keys, else labels: the cheapest that the stores can serve.
    #[default]
    Cheapest,
}

/// The parameters of a run; both parties must choose the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Garbling scheme and hash.
    pub garbling: GarblingConfig,
    /// The links that may be used.
    pub linking: Linking,
    /// Field width of the OT extension.
    pub ot_width: Width,
    /// Set to make whatever the stores lack once the function is known.
    pub top_up: bool,
}
