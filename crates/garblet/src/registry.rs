//! The protocols: one line each.

use std::{fmt, ops::RangeInclusive, str::FromStr};

use garblet_protocol::{
    Adversary, Collusion,
    checks::Check,
    parameters::{UnknownParameter, list},
    protocol::Precision,
    stock::StockKinds,
};

use crate::erased::{AnyProtocol, Erased};

/// Enters protocols with the features that they are built with, in the order in which they are shown; the first one is the standard one.
macro_rules! protocols {
    ($($feature:literal: $protocol:ty),+ $(,)?) => {
        const ALL: &[Protocol] = &[$(#[cfg(feature = $feature)] Protocol(<$protocol>::ERASED)),+];
    };
}

protocols![
    "yao": garblet_yao::Yao,
    "components": garblet_components::Components,
    "covert": garblet_covert::Covert,
    "authenticated": garblet_authenticated::Authenticated,
    "cut-and-choose": garblet_cut_and_choose::CutAndChoose,
    "lego": garblet_lego::Lego,
    "gmw": garblet_gmw::Gmw,
    "bmr": garblet_bmr::Bmr,
    "bmr": garblet_bmr::BmrBgw4,
    "bmr": garblet_bmr::BmrBgw3,
    "bmr": garblet_bmr::BmrBgw2,
    "authenticated": garblet_authenticated::many::AuthenticatedBmr,
    "outsourced": garblet_outsourced::Outsourced,
    "two-garblers": garblet_two_garblers::TwoGarblers,
    "toy": garblet_ideal::Ideal,
];

const _: () = assert!(!ALL.is_empty(), "garblet has no protocol: choose at least one by its feature");

/// A protocol that is registered.
#[derive(Clone, Copy)]
pub struct Protocol(pub(crate) &'static AnyProtocol);

impl Protocol {
    /// All protocols, the standard one first.
    pub const ALL: &'static [Protocol] = ALL;

    /// The protocol of a type.
    pub fn of<P: Erased>() -> Self {
        Protocol(P::ERASED)
    }

    /// All names, as a list that ends in "or".
    pub fn names() -> String {
        list(&Protocol::ALL.iter().map(|protocol| protocol.name()).collect::<Vec<_>>())
    }

    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The parameters that the link may decide, each with its values.
    pub fn link_decides(self) -> &'static [(&'static str, &'static [&'static str])] {
        self.0.link_decides
    }

    /// The strongest adversary that the protocol is secure against with its default parameters, see [`Config::adversary`](crate::Config::adversary).
    pub fn adversary(self) -> Adversary {
        self.0.adversary
    }

    /// The parties that must not collude, if the protocol does not protect against that.
    pub fn collusion(self) -> Option<Collusion> {
        self.0.collusion
    }

    /// The first protocol for this number of parties that is secure against an adversary, whoever colludes; if there is none, the one for most parties.
    pub fn against(adversary: Adversary, parties: u16) -> Protocol {
        let withstands = |protocol: &Protocol| protocol.adversary() >= adversary && protocol.collusion().is_none();
        let secure = Protocol::ALL.iter().copied().filter(withstands);
        let fitting = secure.clone().find(|protocol| protocol.parties().contains(&parties));
        fitting.or_else(|| secure.max_by_key(|protocol| *protocol.parties().end())).unwrap_or_default()
    }

    /// The numbers of parties that it may have.
    pub fn parties(self) -> RangeInclusive<u16> {
        self.0.parties.clone()
    }

    /// Returns whether it can run a program whose gates stay in their file, see [`load_in_place`](crate::load_in_place).
    pub fn reads_gates(self) -> bool {
        self.0.reads_gates
    }

    /// Returns whether its parties are joined by a [`Mesh`](garblet_net::Mesh); otherwise two of them share a [`Channel`](garblet_net::Channel).
    pub fn is_mesh(self) -> bool {
        self.0.is_mesh
    }

    /// The checks of what a peer did.
    pub fn checks(self) -> &'static [Check] {
        self.0.checks
    }

    /// The precision of its formulas: how far they state the cost of every run.
    pub fn precision(self) -> Precision {
        self.0.precision
    }

    /// The kinds of prepared material that its stores hold, if it uses stores, see [`Config::stock`](crate::Config::stock).
    pub fn stock(self) -> Option<StockKinds> {
        self.0.stock
    }
}

impl Default for Protocol {
    fn default() -> Self {
        Protocol::ALL[0]
    }
}

impl PartialEq for Protocol {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Protocol {}

impl fmt::Debug for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Protocol {
    type Err = UnknownParameter;

    fn from_str(name: &str) -> Result<Self, UnknownParameter> {
        let named = Protocol::ALL.iter().copied().find(|protocol| protocol.name() == name);
        named.ok_or_else(|| UnknownParameter::new("protocol", name, Protocol::names()))
    }
}
