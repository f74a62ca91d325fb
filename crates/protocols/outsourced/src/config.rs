//! The parameters of both forms.

use garblet_authenticated as shares;
use garblet_cut_and_choose as circuits;
use garblet_protocol::{
    Protocol,
    parameters::{self, UnknownParameter},
};
use garblet_yao as yao;

use crate::{Outsourced, partialgc};

/// The choice between the two constructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Clients deal shares to two servers, which run one of the [bases](Base).
    #[default]
    Shares,
    /// Cut-and-choose over many garbled circuits, as published; see [`partialgc`]. For comparison.
    PartialGc,
}

/// The protocol that servers run on shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// [`garblet_authenticated`], malicious.
    #[default]
    Authenticated,
    /// [`garblet_cut_and_choose`], malicious. No states.
    CutAndChoose,
    /// [`garblet_yao`], semi-honest. No states.
    Yao,
}

impl Base {
    /// All bases, with their names.
    pub(crate) const NAMES: [(&'static str, Base); 3] =
        [(shares::NAME, Base::Authenticated), (circuits::NAME, Base::CutAndChoose), (yao::NAME, Base::Yao)];
}

/// The circuits of [`Form::PartialGc`], unless another number is chosen.
const PARTIALGC_CIRCUITS: usize = 256;

/// The parameters; all parties must choose the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The choice between the two constructions.
    pub form: Form,
    /// The protocol that servers run with [`Form::Shares`].
    pub base: Base,
    /// The parameters of [`Base::Authenticated`]; the other bases use its bound, its time of garbling and its width of OT extensions.
    pub shares: shares::Config,
    /// The number of circuits of [`Form::PartialGc`] and of [`Base::CutAndChoose`], if not the default.
    pub circuits: Option<u16>,
    /// The way in which [`Form::PartialGc`] reads kept values.
    pub reuse: partialgc::Reuse,
}

impl Config {
    /// Sets one parameter by name.
    ///
    /// *Errors*: an unknown name or value, with the known ones.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), UnknownParameter> {
        parameters::set(Outsourced::PARAMETERS, self, name, value)
    }

    /// The parameters of [`Form::PartialGc`]; `None` if it does not offer this number of circuits.
    pub fn partialgc(&self) -> Option<partialgc::Config> {
        let circuits = partialgc::Circuits::ALL.into_iter().find(|circuits| circuits.count() == self.circuits())?;
        Some(partialgc::Config { circuits, reuse: self.reuse, ot_width: self.shares.ot_width })
    }

    /// The parameters of [`Base::CutAndChoose`]; `None` if it does not offer this bound.
    pub fn cut_and_choose(&self) -> Option<circuits::Config> {
        let statistical = match self.shares.statistical {
            shares::Statistical::Forty => circuits::Statistical::Forty,
            shares::Statistical::SixtyFour => return None,
            shares::Statistical::Eighty => circuits::Statistical::Eighty,
        };
        let (circuits, ot_width) = (self.circuits, self.shares.ot_width);
        Some(circuits::Config { statistical, circuits, ot_width, ..circuits::Config::default() })
    }

    /// The parameters of [`Base::Yao`].
    pub fn yao(&self) -> yao::Config {
        let build = match self.shares.build {
            shares::Build::Ahead => yao::Build::Ahead,
            shares::Build::Stream => yao::Build::Stream,
        };
        yao::Config { build, ot_width: self.shares.ot_width, ..yao::Config::default() }
    }

    /// The number of circuits, if one is set and it is valid.
    pub(crate) fn circuits(&self) -> usize {
        let standard = match (self.form, self.base) {
            (Form::Shares, Base::CutAndChoose) => self.cut_and_choose().map(|config| config.circuits()),
            _ => None,
        };
        self.circuits.map_or(standard.unwrap_or(PARTIALGC_CIRCUITS), usize::from)
    }
}
