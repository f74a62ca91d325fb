//! The parameters of a protocol by name: the values that each takes, how one is read and written.

use std::ops::RangeInclusive;

use garblet_ot::Width;

/// A parameter of a protocol whose parameters are a `C`.
pub struct Parameter<C> {
    /// The name on the command line and in the hello.
    pub name: &'static str,
    /// The values that it takes, for users.
    pub values: &'static str,
    /// The value that hellos, stores and agreements do not name: those from before there was a choice have it.
    pub tacit: Option<&'static str>,
    /// Writes the value.
    pub get: fn(&C) -> String,
    /// Sets the value from its text; `None` if there is no such value.
    pub set: fn(&mut C, &str) -> Option<()>,
}

/// An unknown name or value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{got}`, expected {expected}")]
pub struct UnknownParameter {
    /// The kind of name.
    pub what: String,
    /// The name or value that was given.
    pub got: String,
    /// The known names or values.
    pub expected: String,
}

impl UnknownParameter {
    /// An unknown `what` named `got`, where `expected` are known.
    pub fn new(what: impl Into<String>, got: impl Into<String>, expected: impl Into<String>) -> Self {
        UnknownParameter { what: what.into(), got: got.into(), expected: expected.into() }
    }
}

/// Sets one of a protocol's parameters by name.
///
/// *Errors*: an unknown name or value, with those that are known.
pub fn set<C>(known: &[Parameter<C>], config: &mut C, name: &str, value: &str) -> Result<(), UnknownParameter> {
    let Some(parameter) = known.iter().find(|parameter| parameter.name == name) else {
        let known: Vec<&str> = known.iter().map(|parameter| parameter.name).collect();
        return Err(UnknownParameter::new("parameter", name, known.join(", ")));
    };
    (parameter.set)(config, value).ok_or_else(|| UnknownParameter::new(name, value, parameter.values))
}

/// All parameters with their values.
pub fn get<C>(known: &[Parameter<C>], config: &C) -> Vec<(String, String)> {
    known.iter().map(|parameter| (parameter.name.into(), (parameter.get)(config))).collect()
}

/// The parameters with their values as parties compare them: without those that have their tacit value.
pub fn compared<C>(known: &[Parameter<C>], config: &C) -> Vec<(String, String)> {
    let all = known.iter().zip(get(known, config));
    all.filter(|(parameter, (_, value))| parameter.tacit != Some(value)).map(|(_, named)| named).collect()
}

/// Names as a list that ends in "or".
pub fn list(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => names.concat(),
    }
}

/// A parameter whose values have names.
#[macro_export]
macro_rules! named {
    ($name:literal, $values:literal, $field:ident, $table:expr) => {
        $crate::parameters::Parameter {
            name: $name,
            values: $values,
            tacit: None,
            get: |config| $crate::parameters::name_of(config.$field, &$table),
            set: |config, value| {
                $crate::parameters::put(&mut config.$field, $crate::parameters::value_of(value, &$table))
            },
        }
    };
}

/// The garbling scheme of a protocol that takes any.
#[macro_export]
macro_rules! any_scheme {
    () => {
        $crate::parameters::Parameter {
            name: "scheme",
            values: "half-gates, three-halves, grr3, four-row or privacy-free",
            tacit: None,
            get: |config| config.garbling.scheme.to_string(),
            set: |config, value| $crate::parameters::put(&mut config.garbling.scheme, value.parse().ok()),
        }
    };
}

/// The hash of garbled gates, of a protocol that garbles by schemes.
#[macro_export]
macro_rules! any_hash {
    () => {
        $crate::parameters::Parameter {
            name: "hash",
            values: "rekeyed, tmmo, mitccrh, fixed-key or sha256",
            tacit: None,
            get: |config| config.garbling.hash.to_string(),
            set: |config, value| $crate::parameters::put(&mut config.garbling.hash, value.parse().ok()),
        }
    };
}

/// The width of the OT extension.
#[macro_export]
macro_rules! ot_width {
    () => {
        $crate::parameters::Parameter {
            name: "ot-k",
            values: "2, 4 or 8",
            tacit: None,
            get: |config| config.ot_width.bits().to_string(),
            set: |config, value| $crate::parameters::put(&mut config.ot_width, $crate::parameters::width(value)),
        }
    };
}

/// The kind of OT, and the value that is tacit, if one is.
#[macro_export]
macro_rules! ot_kind {
    ($tacit:expr) => {
        $crate::parameters::Parameter {
            name: "ot",
            values: "extension or silent",
            tacit: $tacit,
            get: |config| $crate::parameters::name_of(config.ot, &$crate::parameters::OTS),
            set: |config, value| {
                $crate::parameters::put(&mut config.ot, $crate::parameters::value_of(value, &$crate::parameters::OTS))
            },
        }
    };
}

pub use crate::{any_hash, any_scheme, named, ot_kind, ot_width};

/// The kind of OT that makes the many of a protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OtKind {
    /// OT extension.
    #[default]
    Extension,
    /// Silent OT where there are enough to pay for its first ones; else OT extension.
    Silent,
}

/// The kinds of OT by name.
pub const OTS: [(&str, OtKind); 2] = [("extension", OtKind::Extension), ("silent", OtKind::Silent)];

/// Puts a value in place, if there is one.
pub fn put<T>(place: &mut T, value: Option<T>) -> Option<()> {
    *place = value?;
    Some(())
}

/// A number, if it is in range.
pub fn number(value: &str, range: RangeInclusive<usize>) -> Option<u16> {
    value.parse().ok().filter(|&number| range.contains(&usize::from(number)))
}

/// A width of the OT extension by its number of bits.
pub fn width(value: &str) -> Option<Width> {
    let bits: u8 = value.parse().ok()?;
    Width::try_from(bits).ok()
}

/// The value of a name.
pub fn value_of<T: Copy>(name: &str, names: &[(&str, T)]) -> Option<T> {
    names.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// The name of a value.
pub fn name_of<T: Copy + PartialEq>(value: T, names: &[(&str, T)]) -> String {
    names.iter().find(|(_, known)| *known == value).map_or_else(String::new, |(name, _)| (*name).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Config {
        ot: OtKind,
    }

    #[test]
    fn a_tacit_value_is_shown_and_not_compared() {
        let named = |value: &str| vec![("ot".to_string(), value.to_string())];
        let [tacit, told]: [[Parameter<Config>; 1]; 2] = [[ot_kind!(Some("extension"))], [ot_kind!(None)]];
        let mut config = Config::default();
        assert_eq!([get(&tacit, &config), compared(&told, &config)], [named("extension"), named("extension")]);
        assert!(compared(&tacit, &config).is_empty());
        set(&tacit, &mut config, "ot", "silent").expect("a kind");
        assert_eq!([get(&tacit, &config), compared(&tacit, &config)], [named("silent"), named("silent")]);
        assert!(set(&tacit, &mut config, "ot", "noisy").is_err());
    }
}
