//! What to run: protocol and parameters, as both parties must choose them.

use std::{fmt, ops::RangeInclusive, str::FromStr};

use garblet_protocols::{bmr, components, covert, cut_and_choose, gmw, lego, yao};

use crate::parameters::{self, Parameter};

/// A protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// Streamed garbled circuits, two parties, semi-honest.
    #[default]
    Yao,
    /// Components garbled before the function is known and linked when it is, two parties, semi-honest.
    Components,
    /// A few garbled circuits of which all but one are checked, two parties, covert.
    Covert,
    /// Many garbled circuits of which some are checked, two parties, malicious.
    CutAndChoose,
    /// Shared bits, several parties, semi-honest; as many rounds as layers of AND gates.
    Gmw,
    /// A circuit that several parties garble together, semi-honest, in a constant number of rounds.
    Bmr(bmr::Garbling),
    /// Gates made one by one before the function is known, two parties, malicious.
    Lego,
}

impl Protocol {
    /// All protocols.
    pub const ALL: [Protocol; 10] = [
        Protocol::Yao,
        Protocol::Components,
        Protocol::Covert,
        Protocol::CutAndChoose,
        Protocol::Gmw,
        Protocol::Bmr(bmr::Garbling::Ot),
        Protocol::Bmr(bmr::Garbling::Bgw4),
        Protocol::Bmr(bmr::Garbling::Bgw3),
        Protocol::Bmr(bmr::Garbling::Bgw2),
        Protocol::Lego,
    ];

    /// All names, as a list that ends in "or".
    pub fn names() -> String {
        list(&Protocol::ALL.map(Protocol::name))
    }

    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Yao => yao::NAME,
            Protocol::Components => components::NAME,
            Protocol::Covert => covert::NAME,
            Protocol::CutAndChoose => cut_and_choose::NAME,
            Protocol::Gmw => gmw::NAME,
            Protocol::Bmr(garbling) => garbling.name(),
            Protocol::Lego => lego::NAME,
        }
    }

    /// The strongest adversary that the protocol withstands.
    pub fn adversary(self) -> Adversary {
        match self {
            Protocol::Yao | Protocol::Components | Protocol::Gmw | Protocol::Bmr(_) => Adversary::SemiHonest,
            Protocol::Covert => Adversary::Covert,
            Protocol::CutAndChoose | Protocol::Lego => Adversary::Malicious,
        }
    }

    /// The first protocol that withstands an adversary.
    pub fn against(adversary: Adversary) -> Protocol {
        match adversary {
            Adversary::SemiHonest => Protocol::Yao,
            Adversary::Covert => Protocol::Covert,
            Adversary::Malicious => Protocol::CutAndChoose,
        }
    }

    /// How many parties it may have.
    pub fn parties(self) -> RangeInclusive<u16> {
        match self {
            Protocol::Yao | Protocol::Components | Protocol::Covert | Protocol::CutAndChoose | Protocol::Lego => 2..=2,
            Protocol::Gmw => 2..=gmw::PARTIES_MAX,
            Protocol::Bmr(garbling) => garbling.parties(),
        }
    }

    /// Whether its parties are joined by a [`Mesh`](garblet_net::Mesh), with [`MeshPeer`](crate::MeshPeer); otherwise two
    /// of them share a channel, with [`Peer`](crate::Peer).
    pub fn is_mesh(self) -> bool {
        match self {
            Protocol::Yao | Protocol::Components | Protocol::Covert | Protocol::CutAndChoose | Protocol::Lego => false,
            Protocol::Gmw | Protocol::Bmr(_) => true,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Protocol {
    type Err = UnknownParameter;

    fn from_str(name: &str) -> Result<Self, UnknownParameter> {
        let named = Protocol::ALL.into_iter().find(|protocol| protocol.name() == name);
        named.ok_or_else(|| UnknownParameter::new("protocol", name, &Protocol::names()))
    }
}

/// What a party that is corrupted does; the later ones do more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Adversary {
    /// Follows the protocol, and tries to learn more from what it sees.
    SemiHonest,
    /// Cheats if the chance to be caught is small.
    Covert,
    /// Does anything.
    Malicious,
}

impl Adversary {
    /// All adversaries, from the weakest.
    pub const ALL: [Adversary; 3] = [Adversary::SemiHonest, Adversary::Covert, Adversary::Malicious];

    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Adversary::SemiHonest => "semi-honest",
            Adversary::Covert => "covert",
            Adversary::Malicious => "malicious",
        }
    }
}

impl fmt::Display for Adversary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Adversary {
    type Err = UnknownParameter;

    fn from_str(name: &str) -> Result<Self, UnknownParameter> {
        let named = Adversary::ALL.into_iter().find(|adversary| adversary.name() == name);
        named.ok_or_else(|| UnknownParameter::new("adversary", name, &list(&Adversary::ALL.map(Adversary::name))))
    }
}

/// A protocol and its parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The protocol.
    pub protocol: Protocol,
    /// Parameters of [`Protocol::Yao`].
    pub yao: yao::Config,
    /// Parameters of [`Protocol::Components`].
    pub components: components::Config,
    /// Parameters of [`Protocol::Covert`].
    pub covert: covert::Config,
    /// Parameters of [`Protocol::CutAndChoose`].
    pub cut_and_choose: cut_and_choose::Config,
    /// Parameters of [`Protocol::Gmw`].
    pub gmw: gmw::Config,
    /// Parameters of [`Protocol::Bmr`], which says itself how the circuit is made.
    pub bmr: bmr::Config,
    /// Parameters of [`Protocol::Lego`].
    pub lego: lego::Config,
}

impl Config {
    /// The standard parameters of a protocol.
    pub fn of(protocol: Protocol) -> Self {
        let mut config = Config { protocol, ..Config::default() };
        if let Protocol::Bmr(garbling) = protocol {
            config.bmr = bmr::Config::of(garbling);
        }
        config
    }

    /// Sets one parameter by name.
    ///
    /// *Errors*: an unknown name or value, with what is known.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), UnknownParameter> {
        let known = parameters::of(self.protocol);
        let Some(parameter) = known.iter().find(|parameter| parameter.name == name) else {
            let known: Vec<&str> = known.iter().map(|parameter| parameter.name).collect();
            return Err(UnknownParameter::new("parameter", name, &known.join(", ")));
        };
        (parameter.set)(self, value).ok_or_else(|| UnknownParameter::new(name, value, parameter.values))
    }

    /// All parameters by name, as both parties compare them.
    pub fn parameters(&self) -> Vec<(String, String)> {
        let of = |parameter: &Parameter| (parameter.name.into(), (parameter.get)(self));
        parameters::of(self.protocol).iter().map(of).collect()
    }
}

/// Names as a list that ends in "or".
fn list(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => names.concat(),
    }
}

/// A name or value that is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{got}`, expected {expected}")]
pub struct UnknownParameter {
    /// What kind of name.
    pub what: String,
    /// What was given.
    pub got: String,
    /// What is known.
    pub expected: String,
}

impl UnknownParameter {
    fn new(what: &str, got: &str, expected: &str) -> Self {
        UnknownParameter { what: what.into(), got: got.into(), expected: expected.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_survive_set() {
        let mut config = Config::default();
        for (name, value) in [("scheme", "three-halves"), ("hash", "tmmo"), ("build", "ahead"), ("ot-k", "8")] {
            config.set(name, value).unwrap();
            assert!(config.parameters().contains(&(name.into(), value.into())));
        }
        let mut config = Config::of(Protocol::Gmw);
        for (name, value) in [("form", "2012"), ("ot-k", "2")] {
            config.set(name, value).unwrap();
            assert!(config.parameters().contains(&(name.into(), value.into())));
        }
        let mut config = Config::of(Protocol::Bmr(bmr::Garbling::Ot));
        for (name, value) in [("form", "published"), ("hash", "aes-256"), ("ot-k", "8")] {
            config.set(name, value).unwrap();
            assert!(config.parameters().contains(&(name.into(), value.into())));
        }
        let mut config = Config::of(Protocol::Lego);
        for (name, value) in [("code", "bch312"), ("buckets", "4/2/2"), ("buckets", "least"), ("ot-k", "8")] {
            config.set(name, value).unwrap();
            assert!(config.parameters().contains(&(name.into(), value.into())));
        }
        for odd in ["1/2/2", "4/2", "4/0/2", "4/2/2/2", "many"] {
            let error = config.set("buckets", odd).unwrap_err().to_string();
            assert_eq!(error, format!("unknown buckets `{odd}`, expected least, or gates/checks/checks as 7/4/3"));
        }
        let mut config = Config::of(Protocol::Components);
        for (name, value) in [("scheme", "grr3"), ("hash", "tmmo"), ("links", "keyed"), ("ot-k", "8")] {
            config.set(name, value).unwrap();
            assert!(config.parameters().contains(&(name.into(), value.into())));
        }
    }

    #[test]
    fn parameters_of_cut_and_choose() {
        let mut config = Config::of(Protocol::CutAndChoose);
        assert!(config.parameters().contains(&("circuits".into(), "128".into())));
        config.set("statistical", "80").unwrap();
        assert!(config.parameters().contains(&("circuits".into(), "256".into())));
        for (name, value) in [
            ("form", "lp07"),
            ("supersets", "12"),
            ("circuits", "9"),
            ("encoding", "independent"),
            ("scheme", "prf-ss"),
            ("scheme", "three-halves"),
            ("ot-k", "2"),
        ] {
            config.set(name, value).unwrap();
            assert!(config.parameters().contains(&(name.into(), value.into())));
        }
        for (name, value, error) in [
            ("circuits", "1", "unknown circuits `1`, expected a number from 2 to 4096"),
            ("circuits", "4097", "unknown circuits `4097`, expected a number from 2 to 4096"),
            ("statistical", "60", "unknown statistical `60`, expected 40 or 80"),
            ("encoding", "none", "unknown encoding `none`, expected systematic, random or independent"),
            (
                "scheme",
                "privacy-free",
                "unknown scheme `privacy-free`, expected half-gates, three-halves, grr3 or four-row; with form=lp07 also base, prf-ss, cor-grr, \
                 rom-grr or glnp",
            ),
        ] {
            assert_eq!(config.set(name, value).unwrap_err().to_string(), error);
        }
    }

    #[test]
    fn unknown_names_and_values_say_what_is_known() {
        let mut config = Config::default();
        let error = config.set("sheme", "grr3").unwrap_err().to_string();
        assert_eq!(error, "unknown parameter `sheme`, expected scheme, hash, build, ot-k");
        let error = Config::of(Protocol::Components).set("build", "ahead").unwrap_err().to_string();
        assert_eq!(error, "unknown parameter `build`, expected scheme, hash, links, ot-k");
        let error = Config::of(Protocol::Gmw).set("form", "2013").unwrap_err().to_string();
        assert_eq!(error, "unknown form `2013`, expected triples or 2012");
        let error = Config::of(Protocol::Bmr(bmr::Garbling::Bgw4)).set("form", "linear").unwrap_err().to_string();
        assert_eq!(error, "unknown parameter `form`, expected hash");
        let error = Config::of(Protocol::Bmr(bmr::Garbling::Bgw3)).set("form", "triples").unwrap_err().to_string();
        assert_eq!(error, "unknown form `triples`, expected linear or published");
        let error = config.set("ot-k", "3").unwrap_err().to_string();
        assert_eq!(error, "unknown ot-k `3`, expected 2, 4 or 8");
        assert_eq!(config, Config::default());
        assert!("bgw".parse::<Protocol>().is_err());
    }
}
