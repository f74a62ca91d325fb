//! The protocol and its parameters, which all parties must choose alike.

use std::{any::Any, fmt};

use garblet_protocol::{Adversary, parameters::UnknownParameter, protocol::Sample, stock::StockKinds};

use crate::{
    erased::{AnyConfig, ConfigOf, Erased},
    registry::Protocol,
};

/// A protocol and its parameters.
pub struct Config {
    protocol: Protocol,
    parameters: Box<dyn AnyConfig>,
}

impl Config {
    /// The standard parameters of a protocol.
    pub fn of(protocol: Protocol) -> Self {
        Config { protocol, parameters: (protocol.0.standard)() }
    }

    /// A protocol with the parameters of its own type.
    ///
    /// ```
    /// use garblet::{Config, yao};
    ///
    /// let config = Config::new::<yao::Yao>(yao::Config { build: yao::Build::Ahead, ..yao::Config::default() });
    /// assert!(config.parameters().contains(&("build".into(), "ahead".into())));
    /// ```
    pub fn new<P: Erased>(config: P::Config) -> Self {
        Config { protocol: Protocol::of::<P>(), parameters: Box::new(ConfigOf::<P>(config)) }
    }

    /// The protocol.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// The strongest adversary that the protocol is secure against with these parameters.
    pub fn adversary(&self) -> Adversary {
        self.parameters.adversary()
    }

    /// The kinds of prepared material that the protocol's stores hold with these parameters, if it uses stores with them.
    pub fn stock(&self) -> Option<StockKinds> {
        self.parameters.stock()
    }

    /// Sets one parameter by name.
    ///
    /// *Errors*: an unknown name or value, with the known ones.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), UnknownParameter> {
        self.parameters.set(name, value)
    }

    /// All parameters by name, as all parties compare them.
    pub fn parameters(&self) -> Vec<(String, String)> {
        self.parameters.get()
    }

    /// The parameters of the protocol's own type, if it is that protocol.
    pub fn get<P: garblet_protocol::Protocol>(&self) -> Option<&P::Config> {
        if self.protocol.name() == P::NAME { self.typed().downcast_ref() } else { None }
    }

    /// The same, mutable.
    pub fn get_mut<P: garblet_protocol::Protocol>(&mut self) -> Option<&mut P::Config> {
        if self.protocol.name() == P::NAME { self.parameters.as_any_mut().downcast_mut() } else { None }
    }

    /// The parameters of the protocol's own type.
    pub(crate) fn typed(&self) -> &dyn Any {
        self.parameters.as_any()
    }
}

impl Default for Config {
    fn default() -> Self {
        Config::of(Protocol::default())
    }
}

impl Clone for Config {
    fn clone(&self) -> Self {
        Config { protocol: self.protocol, parameters: self.parameters.boxed() }
    }
}

impl PartialEq for Config {
    fn eq(&self, other: &Self) -> bool {
        self.protocol == other.protocol && self.parameters.equals(other.typed())
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(self.protocol.name()).field(&self.parameters()).finish()
    }
}

impl Protocol {
    /// Settings for tests: small, and of every form that the protocol has.
    pub fn samples(self) -> Vec<Config> {
        let sample = |parameters: &Sample| {
            let mut config = Config::of(self);
            let set = |(name, value): &(&str, &str)| config.set(name, value);
            parameters.iter().try_for_each(set).map(|()| config)
        };
        self.0.samples.iter().map(|parameters| sample(parameters).expect("samples have known parameters")).collect()
    }
}
