//! The parameters of each protocol by name: which values they take, how one is read and written.

use std::ops::RangeInclusive;

use garblet_garble::{HashKind, SchemeKind, published::Method};
use garblet_ot::Width;
use garblet_protocols::{bmr, components, covert, cut_and_choose, gmw, lego, yao};

use crate::config::{Config, Protocol};

/// A parameter that a protocol knows.
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    /// The values it takes, for a person.
    pub(crate) values: &'static str,
    pub(crate) get: fn(&Config) -> String,
    /// None where it has no such value.
    pub(crate) set: fn(&mut Config, &str) -> Option<()>,
}

/// What [`Config::set`] knows for a protocol, in the order in which it is shown.
pub(crate) fn of(protocol: Protocol) -> &'static [Parameter] {
    match protocol {
        Protocol::Yao => YAO,
        Protocol::Components => COMPONENTS,
        Protocol::Covert => COVERT,
        Protocol::CutAndChoose => CUT_AND_CHOOSE,
        Protocol::Gmw => GMW,
        Protocol::Bmr(bmr::Garbling::Ot) => BMR,
        Protocol::Bmr(bmr::Garbling::Bgw3 | bmr::Garbling::Bgw2) => BMR_BGW,
        // It has the published form alone.
        Protocol::Bmr(bmr::Garbling::Bgw4) => &[JOINT_HASH],
        Protocol::Lego => LEGO,
    }
}

/// A parameter whose values have names.
macro_rules! named {
    ($name:literal, $values:literal, $($place:ident).+, $table:ident) => {
        Parameter {
            name: $name,
            values: $values,
            get: |config| name_of(config.$($place).+, &$table),
            set: |config, value| put(&mut config.$($place).+, value_of(value, &$table)),
        }
    };
}

/// The garbling scheme of a protocol that has a published form, which may garble as it was published.
macro_rules! checked_scheme {
    ($protocol:ident, $values:literal) => {
        Parameter {
            name: "scheme",
            values: $values,
            get: |config| match config.$protocol.published {
                Some(method) => method.name().into(),
                None => config.$protocol.garbling.scheme.to_string(),
            },
            set: |config, value| {
                let protocol = &mut config.$protocol;
                protocol.published = Method::ALL.iter().copied().find(|method| method.name() == value);
                let private = |scheme: &SchemeKind| !scheme.is_privacy_free();
                match protocol.published {
                    Some(_) => Some(()),
                    None => put(&mut protocol.garbling.scheme, value.parse().ok().filter(private)),
                }
            },
        }
    };
}

/// The hash of garbled gates, of a protocol that has a published form: that form's schemes know one hash.
macro_rules! checked_hash {
    ($protocol:ident) => {
        Parameter {
            name: "hash",
            values: "rekeyed, tmmo, mitccrh, fixed-key or sha256",
            get: |config| match config.$protocol.published {
                Some(_) => HashKind::Sha256.to_string(),
                None => config.$protocol.garbling.hash.to_string(),
            },
            set: |config, value| put(&mut config.$protocol.garbling.hash, value.parse().ok()),
        }
    };
}

/// The hash of garbled gates, of a protocol that garbles by schemes.
macro_rules! hash {
    ($protocol:ident) => {
        Parameter {
            name: "hash",
            values: "rekeyed, tmmo, mitccrh, fixed-key or sha256",
            get: |config| config.$protocol.garbling.hash.to_string(),
            set: |config, value| put(&mut config.$protocol.garbling.hash, value.parse().ok()),
        }
    };
}

/// The width of the OT extension.
macro_rules! ot_k {
    ($protocol:ident) => {
        Parameter {
            name: "ot-k",
            values: "2, 4 or 8",
            get: |config| config.$protocol.ot_width.bits().to_string(),
            set: |config, value| put(&mut config.$protocol.ot_width, width(value)),
        }
    };
}

const YAO: &[Parameter] = &[
    Parameter {
        name: "scheme",
        values: ANY_SCHEME,
        get: |config| config.yao.garbling.scheme.to_string(),
        set: |config, value| put(&mut config.yao.garbling.scheme, value.parse().ok()),
    },
    hash!(yao),
    named!("build", "stream or ahead", yao.build, BUILDS),
    ot_k!(yao),
];

const COMPONENTS: &[Parameter] = &[
    Parameter {
        name: "scheme",
        values: ANY_SCHEME,
        get: |config| config.components.garbling.scheme.to_string(),
        set: |config, value| put(&mut config.components.garbling.scheme, value.parse().ok()),
    },
    hash!(components),
    named!("links", "cheapest, keyed or standard", components.linking, LINKINGS),
    ot_k!(components),
];

const COVERT: &[Parameter] = &[
    named!("form", "seeds or al07", covert.form, COVERT_FORMS),
    Parameter {
        name: "circuits",
        values: "a number from 2 to 256",
        get: |config| config.covert.circuits().to_string(),
        set: |config, value| {
            put(&mut config.covert.circuits, number(value, covert::MIN_CIRCUITS..=covert::MAX_CIRCUITS).map(Some))
        },
    },
    Parameter {
        name: "shares",
        values: "a number from 2 to 64",
        get: |config| config.covert.shares().to_string(),
        set: |config, value| {
            put(&mut config.covert.shares, number(value, covert::MIN_SHARES..=covert::MAX_SHARES).map(Some))
        },
    },
    named!("encoding", "independent or random", covert.encoding, COVERT_ENCODINGS),
    named!("ot", "extension or pvw", covert.ot, COVERT_OTS),
    checked_scheme!(
        covert,
        "half-gates, three-halves, grr3 or four-row; with form=al07 also base, prf-ss, cor-grr, rom-grr or glnp"
    ),
    checked_hash!(covert),
    ot_k!(covert),
];

const CUT_AND_CHOOSE: &[Parameter] = &[
    named!("form", "oblivious or lp07", cut_and_choose.form, FORMS),
    named!("statistical", "40 or 80", cut_and_choose.statistical, STATISTICALS),
    Parameter {
        name: "circuits",
        values: CIRCUITS,
        get: |config| config.cut_and_choose.circuits().to_string(),
        set: |config, value| put(&mut config.cut_and_choose.circuits, number(value, CIRCUITS_RANGE).map(Some)),
    },
    Parameter {
        name: "supersets",
        values: CIRCUITS,
        get: |config| config.cut_and_choose.supersets().to_string(),
        set: |config, value| put(&mut config.cut_and_choose.supersets, number(value, CIRCUITS_RANGE).map(Some)),
    },
    Parameter {
        name: "encoding",
        values: "systematic, random or independent",
        get: |config| name_of(config.cut_and_choose.input_encoding(), &ENCODINGS),
        set: |config, value| put(&mut config.cut_and_choose.encoding, value_of(value, &ENCODINGS).map(Some)),
    },
    checked_scheme!(
        cut_and_choose,
        "half-gates, three-halves, grr3 or four-row; with form=lp07 also base, prf-ss, cor-grr, rom-grr or glnp"
    ),
    checked_hash!(cut_and_choose),
    ot_k!(cut_and_choose),
];

const GMW: &[Parameter] = &[named!("form", "triples or 2012", gmw.form, GMW_FORMS), ot_k!(gmw)];

const BMR_FORM: Parameter =
    named!("form", "linear, published, basic, three-strings or correlated", bmr.form, BMR_FORMS);
const BGW_FORM: Parameter = named!("form", "linear or published", bmr.form, BGW_FORMS);
const JOINT_HASH: Parameter = named!("hash", "rekeyed, fixed-key or aes-256", bmr.hash, JOINT_HASHES);
const BMR: &[Parameter] = &[BMR_FORM, JOINT_HASH, ot_k!(bmr)];
const BMR_BGW: &[Parameter] = &[BGW_FORM, JOINT_HASH];

const LEGO: &[Parameter] = &[
    named!("code", "short or bch312", lego.code, CODES),
    Parameter {
        name: "buckets",
        values: "least, or gates/checks/checks as 7/4/3",
        get: |config| config.lego.sizing.to_string(),
        set: |config, value| put(&mut config.lego.sizing, value.parse().ok()),
    },
    ot_k!(lego),
];

const ANY_SCHEME: &str = "half-gates, three-halves, grr3, four-row or privacy-free";

const CIRCUITS: &str = "a number from 2 to 4096";
const CIRCUITS_RANGE: RangeInclusive<usize> = cut_and_choose::MIN_CIRCUITS..=cut_and_choose::MAX_CIRCUITS;

const BUILDS: [(&str, yao::Build); 2] = [("stream", yao::Build::Stream), ("ahead", yao::Build::Ahead)];

const LINKINGS: [(&str, components::Linking); 3] = [
    ("cheapest", components::Linking::Cheapest),
    ("keyed", components::Linking::Keyed),
    ("standard", components::Linking::Standard),
];

const COVERT_FORMS: [(&str, covert::Form); 2] = [("seeds", covert::Form::Seeds), ("al07", covert::Form::Al07)];

const COVERT_ENCODINGS: [(&str, covert::InputEncoding); 2] =
    [("independent", covert::InputEncoding::Independent), ("random", covert::InputEncoding::RandomCombinations)];

const COVERT_OTS: [(&str, covert::Ot); 2] = [("extension", covert::Ot::Extension), ("pvw", covert::Ot::Pvw)];

const FORMS: [(&str, cut_and_choose::Form); 2] =
    [("oblivious", cut_and_choose::Form::Oblivious), ("lp07", cut_and_choose::Form::Lp07)];

const STATISTICALS: [(&str, cut_and_choose::Statistical); 2] =
    [("40", cut_and_choose::Statistical::Forty), ("80", cut_and_choose::Statistical::Eighty)];

const ENCODINGS: [(&str, cut_and_choose::InputEncoding); 3] = [
    ("systematic", cut_and_choose::InputEncoding::Systematic),
    ("random", cut_and_choose::InputEncoding::RandomCombinations),
    ("independent", cut_and_choose::InputEncoding::Independent),
];

const GMW_FORMS: [(&str, gmw::Form); 2] = [("triples", gmw::Form::Triples), ("2012", gmw::Form::Choi2012)];

const PUBLISHED: bmr::Form = bmr::Form::Published(bmr::Ladder::BothWays);

const BMR_FORMS: [(&str, bmr::Form); 5] = [
    ("linear", bmr::Form::Linear),
    ("published", PUBLISHED),
    ("basic", bmr::Form::Published(bmr::Ladder::Basic)),
    ("three-strings", bmr::Form::Published(bmr::Ladder::ThreeStrings)),
    ("correlated", bmr::Form::Published(bmr::Ladder::Correlated)),
];

const BGW_FORMS: [(&str, bmr::Form); 2] = [("linear", bmr::Form::Linear), ("published", PUBLISHED)];

const JOINT_HASHES: [(&str, bmr::Hash); 3] =
    [("rekeyed", bmr::Hash::Rekeyed), ("fixed-key", bmr::Hash::FixedKey), ("aes-256", bmr::Hash::Aes256)];

const CODES: [(&str, lego::Code); 2] = [("short", lego::Code::Short), ("bch312", lego::Code::Bch312)];

fn put<T>(place: &mut T, value: Option<T>) -> Option<()> {
    *place = value?;
    Some(())
}

/// A number, if it is in range.
fn number(value: &str, range: RangeInclusive<usize>) -> Option<u16> {
    value.parse().ok().filter(|&number| range.contains(&usize::from(number)))
}

fn width(value: &str) -> Option<Width> {
    let bits: u8 = value.parse().ok()?;
    Width::try_from(bits).ok()
}

fn value_of<T: Copy>(name: &str, names: &[(&str, T)]) -> Option<T> {
    names.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

fn name_of<T: Copy + PartialEq>(value: T, names: &[(&str, T)]) -> String {
    names.iter().find(|(_, known)| *known == value).map_or_else(String::new, |(name, _)| (*name).into())
}
