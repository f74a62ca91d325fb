//! What to run: protocol and parameters, as both parties must choose them.

use std::{fmt, str::FromStr};

use garblet_garble::GarblingConfig;
use garblet_ot::Width;
use garblet_protocols::yao;

/// A protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// Streamed garbled circuits, two parties, semi-honest.
    #[default]
    Yao,
}

impl Protocol {
    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Yao => yao::NAME,
        }
    }

    /// The adversary that the protocol withstands.
    pub fn adversary(self) -> &'static str {
        match self {
            Protocol::Yao => "semi-honest",
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
        match name {
            yao::NAME => Ok(Protocol::Yao),
            _ => Err(UnknownParameter::new("protocol", name, yao::NAME)),
        }
    }
}

/// A protocol and its parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The protocol.
    pub protocol: Protocol,
    /// Parameters of [`Protocol::Yao`].
    pub yao: yao::Config,
}

impl Config {
    /// The parameters that [`Config::set`] knows, each with the values it takes.
    pub const PARAMETERS: [(&'static str, &'static str); 4] = [
        ("scheme", "half-gates, three-halves, grr3, four-row or privacy-free"),
        ("hash", "rekeyed, tmmo, mitccrh, fixed-key or sha256"),
        ("build", "stream or ahead"),
        ("ot-k", "2, 4 or 8"),
    ];

    /// Sets one parameter by name.
    ///
    /// *Errors*: an unknown name or value, with what is known.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), UnknownParameter> {
        let Some((_, values)) = Self::PARAMETERS.iter().find(|(known, _)| *known == name) else {
            let known: Vec<&str> = Self::PARAMETERS.iter().map(|(known, _)| *known).collect();
            return Err(UnknownParameter::new("parameter", name, &known.join(", ")));
        };
        let unknown = || UnknownParameter::new(name, value, values);
        let GarblingConfig { scheme, hash } = &mut self.yao.garbling;
        match name {
            "scheme" => *scheme = value.parse().map_err(|_| unknown())?,
            "hash" => *hash = value.parse().map_err(|_| unknown())?,
            "build" => {
                self.yao.build = match value {
                    "stream" => yao::Build::Stream,
                    "ahead" => yao::Build::Ahead,
                    _ => return Err(unknown()),
                }
            }
            _ => {
                let bits: u8 = value.parse().map_err(|_| unknown())?;
                self.yao.ot_width = Width::try_from(bits).map_err(|_| unknown())?;
            }
        }
        Ok(())
    }

    /// All parameters by name, as both parties compare them.
    pub fn parameters(&self) -> Vec<(String, String)> {
        let build = match self.yao.build {
            yao::Build::Stream => "stream",
            yao::Build::Ahead => "ahead",
        };
        let garbling = self.yao.garbling;
        let values = [
            garbling.scheme.to_string(),
            garbling.hash.to_string(),
            build.into(),
            self.yao.ot_width.bits().to_string(),
        ];
        Self::PARAMETERS.iter().map(|(name, _)| (*name).into()).zip(values).collect()
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
    }

    #[test]
    fn unknown_names_and_values_say_what_is_known() {
        let mut config = Config::default();
        let error = config.set("sheme", "grr3").unwrap_err().to_string();
        assert_eq!(error, "unknown parameter `sheme`, expected scheme, hash, build, ot-k");
        let error = config.set("ot-k", "3").unwrap_err().to_string();
        assert_eq!(error, "unknown ot-k `3`, expected 2, 4 or 8");
        assert_eq!(config, Config::default());
        assert!("bgw".parse::<Protocol>().is_err());
    }
}
