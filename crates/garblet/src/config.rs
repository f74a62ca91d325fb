//! What to run: protocol and parameters, as both parties must choose them.

use std::{fmt, ops::RangeInclusive, str::FromStr};

use garblet_garble::SchemeKind;
use garblet_ot::Width;
use garblet_protocols::{bmr, components, cut_and_choose, gmw, lego, yao};

/// A protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// Streamed garbled circuits, two parties, semi-honest.
    #[default]
    Yao,
    /// Components garbled before the function is known and linked when it is, two parties, semi-honest.
    Components,
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
    pub const ALL: [Protocol; 9] = [
        Protocol::Yao,
        Protocol::Components,
        Protocol::CutAndChoose,
        Protocol::Gmw,
        Protocol::Bmr(bmr::Garbling::Ot),
        Protocol::Bmr(bmr::Garbling::Bgw4),
        Protocol::Bmr(bmr::Garbling::Bgw3),
        Protocol::Bmr(bmr::Garbling::Bgw2),
        Protocol::Lego,
    ];

    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Yao => yao::NAME,
            Protocol::Components => components::NAME,
            Protocol::CutAndChoose => cut_and_choose::NAME,
            Protocol::Gmw => gmw::NAME,
            Protocol::Bmr(garbling) => garbling.name(),
            Protocol::Lego => lego::NAME,
        }
    }

    /// The adversary that the protocol withstands.
    pub fn adversary(self) -> &'static str {
        match self {
            Protocol::Yao | Protocol::Components | Protocol::Gmw | Protocol::Bmr(_) => "semi-honest",
            Protocol::CutAndChoose | Protocol::Lego => "malicious",
        }
    }

    /// How many parties it may have.
    pub fn parties(self) -> RangeInclusive<u16> {
        match self {
            Protocol::Yao | Protocol::Components | Protocol::CutAndChoose | Protocol::Lego => 2..=2,
            Protocol::Gmw => 2..=gmw::PARTIES_MAX,
            Protocol::Bmr(garbling) => garbling.parties(),
        }
    }

    /// Whether its parties are joined by a [`Mesh`](garblet_net::Mesh), with [`MeshPeer`](crate::MeshPeer); otherwise two
    /// of them share a channel, with [`Peer`](crate::Peer).
    pub fn is_mesh(self) -> bool {
        match self {
            Protocol::Yao | Protocol::Components | Protocol::CutAndChoose | Protocol::Lego => false,
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
        Protocol::ALL.into_iter().find(|protocol| protocol.name() == name).ok_or_else(|| {
            let known: Vec<&str> = Protocol::ALL.iter().map(|protocol| protocol.name()).collect();
            UnknownParameter::new("protocol", name, &list(&known))
        })
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
    /// Parameters of [`Protocol::CutAndChoose`].
    pub cut_and_choose: cut_and_choose::Config,
    /// Parameters of [`Protocol::Gmw`].
    pub gmw: gmw::Config,
    /// Parameters of [`Protocol::Bmr`], which says itself how the circuit is made.
    pub bmr: bmr::Config,
    /// Parameters of [`Protocol::Lego`].
    pub lego: lego::Config,
}

/// Names of parameters, each with the values it takes.
type Known = &'static [(&'static str, &'static str)];

const SCHEME: (&str, &str) = ("scheme", "half-gates, three-halves, grr3, four-row or privacy-free");
const PRIVATE_SCHEME: (&str, &str) = ("scheme", "half-gates, three-halves, grr3 or four-row");
const HASH: (&str, &str) = ("hash", "rekeyed, tmmo, mitccrh, fixed-key or sha256");
const BUILD: (&str, &str) = ("build", "stream or ahead");
const OT_K: (&str, &str) = ("ot-k", "2, 4 or 8");
const STATISTICAL: (&str, &str) = ("statistical", "40 or 80");
const CIRCUITS: (&str, &str) = ("circuits", "a number from 2 to 4096");
const FORM: (&str, &str) = ("form", "oblivious or lp07");
const GMW_FORM: (&str, &str) = ("form", "triples or 2012");
const JOINT_FORM: (&str, &str) = ("form", "linear or published");
const JOINT_HASH: (&str, &str) = ("hash", "rekeyed, fixed-key or aes-256");
const SUPERSETS: (&str, &str) = ("supersets", "a number from 2 to 4096");
const ENCODING: (&str, &str) = ("encoding", "systematic, random or independent");
const CODE: (&str, &str) = ("code", "short or bch312");
const LINKS: (&str, &str) = ("links", "cheapest, keyed or standard");

impl Config {
    /// The standard parameters of a protocol.
    pub fn of(protocol: Protocol) -> Self {
        let mut config = Config { protocol, ..Config::default() };
        if let Protocol::Bmr(garbling) = protocol {
            config.bmr = bmr::Config::of(garbling);
        }
        config
    }

    /// The parameters that [`Config::set`] knows for the protocol, each with the values it takes.
    pub fn known(&self) -> Known {
        match self.protocol {
            Protocol::Yao => &[SCHEME, HASH, BUILD, OT_K],
            Protocol::Components => &[SCHEME, HASH, LINKS, OT_K],
            Protocol::CutAndChoose => &[FORM, STATISTICAL, CIRCUITS, SUPERSETS, ENCODING, PRIVATE_SCHEME, HASH, OT_K],
            Protocol::Gmw => &[GMW_FORM, OT_K],
            Protocol::Bmr(bmr::Garbling::Ot) => &[JOINT_FORM, JOINT_HASH, OT_K],
            Protocol::Bmr(bmr::Garbling::Bgw3 | bmr::Garbling::Bgw2) => &[JOINT_FORM, JOINT_HASH],
            // It has the published form alone.
            Protocol::Bmr(bmr::Garbling::Bgw4) => &[JOINT_HASH],
            Protocol::Lego => &[CODE, OT_K],
        }
    }

    /// Sets one parameter by name.
    ///
    /// *Errors*: an unknown name or value, with what is known.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), UnknownParameter> {
        let Some((_, values)) = self.known().iter().find(|(known, _)| *known == name) else {
            let known: Vec<&str> = self.known().iter().map(|(known, _)| *known).collect();
            return Err(UnknownParameter::new("parameter", name, &known.join(", ")));
        };
        let unknown = || UnknownParameter::new(name, value, values);
        let (garbling, width) = match self.protocol {
            Protocol::Yao => (&mut self.yao.garbling, &mut self.yao.ot_width),
            Protocol::Components => (&mut self.components.garbling, &mut self.components.ot_width),
            Protocol::CutAndChoose => (&mut self.cut_and_choose.garbling, &mut self.cut_and_choose.ot_width),
            // Neither garbles by these schemes.
            Protocol::Gmw => (&mut self.yao.garbling, &mut self.gmw.ot_width),
            Protocol::Bmr(_) => (&mut self.yao.garbling, &mut self.bmr.ot_width),
            Protocol::Lego => (&mut self.yao.garbling, &mut self.lego.ot_width),
        };
        let joint = matches!(self.protocol, Protocol::Bmr(_));
        match name {
            "form" if joint => self.bmr.form = value_of(value, &JOINT_FORMS).ok_or_else(unknown)?,
            "hash" if joint => self.bmr.hash = value_of(value, &JOINT_HASHES).ok_or_else(unknown)?,
            "scheme" => {
                let scheme: SchemeKind = value.parse().map_err(|_| unknown())?;
                if scheme.is_privacy_free() && self.protocol == Protocol::CutAndChoose {
                    return Err(unknown());
                }
                garbling.scheme = scheme;
            }
            "hash" => garbling.hash = value.parse().map_err(|_| unknown())?,
            "build" => self.yao.build = value_of(value, &BUILDS).ok_or_else(unknown)?,
            "statistical" => {
                self.cut_and_choose.statistical = value_of(value, &STATISTICALS).ok_or_else(unknown)?;
            }
            "circuits" => self.cut_and_choose.circuits = Some(circuits(value).ok_or_else(unknown)?),
            "supersets" => self.cut_and_choose.supersets = Some(circuits(value).ok_or_else(unknown)?),
            "form" if self.protocol == Protocol::Gmw => {
                self.gmw.form = value_of(value, &GMW_FORMS).ok_or_else(unknown)?;
            }
            "form" => self.cut_and_choose.form = value_of(value, &FORMS).ok_or_else(unknown)?,
            "encoding" => self.cut_and_choose.encoding = Some(value_of(value, &ENCODINGS).ok_or_else(unknown)?),
            "links" => self.components.linking = value_of(value, &LINKINGS).ok_or_else(unknown)?,
            "code" => self.lego.code = value_of(value, &CODES).ok_or_else(unknown)?,
            _ => {
                let bits: u8 = value.parse().map_err(|_| unknown())?;
                *width = Width::try_from(bits).map_err(|_| unknown())?;
            }
        }
        Ok(())
    }

    /// All parameters by name, as both parties compare them.
    pub fn parameters(&self) -> Vec<(String, String)> {
        let (garbling, width) = match self.protocol {
            Protocol::Yao => (self.yao.garbling, self.yao.ot_width),
            Protocol::Components => (self.components.garbling, self.components.ot_width),
            Protocol::CutAndChoose => (self.cut_and_choose.garbling, self.cut_and_choose.ot_width),
            Protocol::Gmw => (self.yao.garbling, self.gmw.ot_width),
            Protocol::Bmr(_) => (self.yao.garbling, self.bmr.ot_width),
            Protocol::Lego => (self.yao.garbling, self.lego.ot_width),
        };
        let joint = matches!(self.protocol, Protocol::Bmr(_));
        let value = |name: &str| match name {
            "form" if joint => name_of(self.bmr.form, &JOINT_FORMS).into(),
            "hash" if joint => name_of(self.bmr.hash, &JOINT_HASHES).into(),
            "scheme" => garbling.scheme.to_string(),
            "hash" => garbling.hash.to_string(),
            "build" => name_of(self.yao.build, &BUILDS).into(),
            "statistical" => name_of(self.cut_and_choose.statistical, &STATISTICALS).into(),
            "circuits" => self.cut_and_choose.circuits().to_string(),
            "supersets" => self.cut_and_choose.supersets().to_string(),
            "form" if self.protocol == Protocol::Gmw => name_of(self.gmw.form, &GMW_FORMS).into(),
            "form" => name_of(self.cut_and_choose.form, &FORMS).into(),
            "encoding" => name_of(self.cut_and_choose.input_encoding(), &ENCODINGS).into(),
            "links" => name_of(self.components.linking, &LINKINGS).into(),
            "code" => name_of(self.lego.code, &CODES).into(),
            _ => width.bits().to_string(),
        };
        self.known().iter().map(|(name, _)| ((*name).into(), value(name))).collect()
    }
}

const BUILDS: [(&str, yao::Build); 2] = [("stream", yao::Build::Stream), ("ahead", yao::Build::Ahead)];

const STATISTICALS: [(&str, cut_and_choose::Statistical); 2] =
    [("40", cut_and_choose::Statistical::Forty), ("80", cut_and_choose::Statistical::Eighty)];

const FORMS: [(&str, cut_and_choose::Form); 2] =
    [("oblivious", cut_and_choose::Form::Oblivious), ("lp07", cut_and_choose::Form::Lp07)];

const GMW_FORMS: [(&str, gmw::Form); 2] = [("triples", gmw::Form::Triples), ("2012", gmw::Form::Choi2012)];

const ENCODINGS: [(&str, cut_and_choose::InputEncoding); 3] = [
    ("systematic", cut_and_choose::InputEncoding::Systematic),
    ("random", cut_and_choose::InputEncoding::RandomCombinations),
    ("independent", cut_and_choose::InputEncoding::Independent),
];

/// A number of circuits, if there can be so many.
fn circuits(value: &str) -> Option<u16> {
    let range = cut_and_choose::MIN_CIRCUITS..=cut_and_choose::MAX_CIRCUITS;
    value.parse().ok().filter(|&circuits| range.contains(&usize::from(circuits)))
}

const JOINT_FORMS: [(&str, bmr::Form); 2] = [("linear", bmr::Form::Linear), ("published", bmr::Form::Published)];

const JOINT_HASHES: [(&str, bmr::Hash); 3] =
    [("rekeyed", bmr::Hash::Rekeyed), ("fixed-key", bmr::Hash::FixedKey), ("aes-256", bmr::Hash::Aes256)];
const CODES: [(&str, lego::Code); 2] = [("short", lego::Code::Short), ("bch312", lego::Code::Bch312)];

const LINKINGS: [(&str, components::Linking); 3] = [
    ("cheapest", components::Linking::Cheapest),
    ("keyed", components::Linking::Keyed),
    ("standard", components::Linking::Standard),
];

fn value_of<T: Copy>(name: &str, names: &[(&str, T)]) -> Option<T> {
    names.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

fn name_of<T: Copy + PartialEq>(value: T, names: &[(&'static str, T)]) -> &'static str {
    names.iter().find(|(_, known)| *known == value).map_or("", |(name, _)| name)
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
                "unknown scheme `privacy-free`, expected half-gates, three-halves, grr3 or four-row",
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
