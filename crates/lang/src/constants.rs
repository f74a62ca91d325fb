//! Constants that the parties supply.

use garblet_circuit::diagnostic::nearest;

use crate::{number::Decimal, source_error::SourceError};

/// Values of constants that a source takes from parties: `const N: usize = PARTY_0::N;`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constants {
    /// Party (if stated), name and value.
    list: Vec<(Option<String>, String, Decimal)>,
}

/// An invalid constant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConstantError {
    /// The text before `=` is not a constant's name.
    #[error("`{0}` is not a constant's name, expected NAME or PARTY_0::NAME")]
    Name(String),
    /// The text after it is not a value.
    #[error("constant `{name}`: expected a number, true or false, got `{got}`")]
    Value {
        /// The constant.
        name: String,
        /// The text that is not a value.
        got: String,
    },
    /// One constant has two values.
    #[error("constant `{0}` is given twice")]
    Twice(String),
}

impl Constants {
    /// Gives a constant a value: `name` is `NAME` or `PARTY::NAME`, `value` a number, `true` or `false`.
    ///
    /// *Errors*: an invalid name or value, or a constant that already has one.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ConstantError> {
        let (party, own) = match name.split_once("::") {
            Some((party, own)) => (Some(party), own),
            None => (None, name),
        };
        if ![party.unwrap_or("P"), own].into_iter().all(is_name) {
            return Err(ConstantError::Name(name.into()));
        }
        let wrong = || ConstantError::Value { name: name.into(), got: value.chars().take(40).collect() };
        let number = match value {
            "true" => Decimal::of_bool(true),
            "false" => Decimal::of_bool(false),
            _ => Decimal::of(value).ok_or_else(wrong)?,
        };
        if number.is_too_long() {
            return Err(wrong());
        }
        let party = party.map(String::from);
        if self.list.iter().any(|(p, n, _)| *p == party && n == own) {
            return Err(ConstantError::Twice(name.into()));
        }
        self.list.push((party, own.into(), number));
        Ok(())
    }

    /// Returns whether no constant is given.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All of them, as `NAME=VALUE`.
    pub(crate) fn given(&self) -> Vec<String> {
        let name = |party: &Option<String>, name: &str| match party {
            Some(party) => format!("{party}::{name}"),
            None => name.into(),
        };
        self.list.iter().map(|(party, own, value)| format!("{}={value}", name(party, own))).collect()
    }

    /// The value of a party's constant; a constant given without a party applies to every party.
    pub(crate) fn find(&self, party: &str, name: &str) -> Option<&Decimal> {
        let own = self.list.iter().find(|(p, n, _)| p.as_deref() == Some(party) && n == name);
        let any = || self.list.iter().find(|(p, n, _)| p.is_none() && n == name);
        own.or_else(any).map(|constant| &constant.2)
    }

    /// Faults for given constants that the source does not use.
    pub(crate) fn unknown(&self, known: &[(&str, &str)]) -> Vec<SourceError> {
        let is_known = |party: &Option<String>, name: &str| {
            known.iter().any(|(p, n)| *n == name && party.as_deref().is_none_or(|party| party == *p))
        };
        let names: Vec<String> = known.iter().map(|(party, name)| format!("{party}::{name}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let fault = |(party, name, _): &(Option<String>, String, Decimal)| {
            let full = party.iter().chain([name]).cloned().collect::<Vec<_>>().join("::");
            let fault = SourceError::general(format!("there is no constant `{full}` that a party gives"));
            match (nearest(&full, &names), names.is_empty()) {
                (Some(near), _) => fault.hint(format!("did you mean `{near}`?")),
                (None, false) => fault.hint(format!("available: {}", names.join(", "))),
                (None, true) => fault.hint(format!(
                    "declare it: `const {name}: usize = {}::{name};`",
                    party.as_deref().unwrap_or("PARTY_0")
                )),
            }
        };
        self.list.iter().filter(|(party, name, _)| !is_known(party, name)).map(fault).collect()
    }
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_') && chars.all(|c| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_party_has_its_own_value_or_the_common_one() {
        let mut constants = Constants::default();
        constants.set("PARTY_0::N", "3").unwrap();
        constants.set("N", "-4").unwrap();
        constants.set("FLAG", "true").unwrap();
        assert_eq!(constants.find("PARTY_0", "N"), Decimal::of("3").as_ref());
        assert_eq!(constants.find("PARTY_1", "N"), Decimal::of("-4").as_ref());
        assert_eq!(constants.find("PARTY_1", "FLAG"), Decimal::of("1").as_ref());
        assert_eq!(constants.find("PARTY_1", "M"), None);
        assert!(!constants.is_empty());
    }

    #[test]
    fn what_is_no_constant_is_refused() {
        let set = |name, value| Constants::default().set(name, value).unwrap_err().to_string();
        assert_eq!(set("1N", "3"), "`1N` is not a constant's name, expected NAME or PARTY_0::NAME");
        assert_eq!(set("P::", "3"), "`P::` is not a constant's name, expected NAME or PARTY_0::NAME");
        assert_eq!(set("N", "x"), "constant `N`: expected a number, true or false, got `x`");
        let (large, shown) = ("9".repeat(1235), "9".repeat(40));
        assert_eq!(set("N", &large), format!("constant `N`: expected a number, true or false, got `{shown}`"));
        let mut constants = Constants::default();
        constants.set("N", "1").unwrap();
        assert_eq!(constants.set("N", "1").unwrap_err(), ConstantError::Twice("N".into()));
    }

    #[test]
    fn constants_that_the_source_does_not_have_are_named() {
        let mut constants = Constants::default();
        constants.set("PARTY_0::SIZ", "1").unwrap();
        let faults = constants.unknown(&[("PARTY_0", "SIZE")]);
        assert_eq!(faults[0].message, "there is no constant `PARTY_0::SIZ` that a party gives");
        assert_eq!(faults[0].hint.as_deref(), Some("did you mean `PARTY_0::SIZE`?"));
        constants = Constants::default();
        constants.set("SIZE", "1").unwrap();
        assert!(constants.unknown(&[("PARTY_0", "SIZE")]).is_empty());
    }
}
