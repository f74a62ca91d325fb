//! The protocol and its parameters, which all parties must choose alike.

use std::{any::Any, fmt};

use garblet_net::SimulatedLink;
use garblet_protocol::{
    Adversary,
    choice::{NoRates, Rates},
    parameters::UnknownParameter,
    protocol::Sample,
    stock::StockKinds,
};

use crate::{
    choice::Wish,
    erased::{AnyConfig, ConfigOf, Erased},
    registry::Protocol,
};

/// The value of a parameter that the link decides.
pub const AUTO: &str = "auto";

/// The names of what is told to the others, among the parameters.
const LINK: &str = "link";
const RATES: &str = "rates";

/// A protocol and its parameters.
pub struct Config {
    protocol: Protocol,
    parameters: Box<dyn AnyConfig>,
    wish: Wish,
}

impl Config {
    /// The standard parameters of a protocol.
    pub fn of(protocol: Protocol) -> Self {
        Config { protocol, parameters: (protocol.0.standard)(), wish: Wish::default() }
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
        Config { protocol: Protocol::of::<P>(), parameters: Box::new(ConfigOf::<P>(config)), wish: Wish::default() }
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

    /// Sets one parameter by name. For one that the link may decide, `auto` is a value too: the parties then take what costs least on the
    /// [link](Config::tell_link) that they know, and the standard value if they know none or are more than two. Such a protocol has two names more: `link` for [`Config::tell_link`], `rates` for [`Config::tell_rates`].
    ///
    /// *Errors*: an unknown name or value, with the known ones; nothing is changed then.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), UnknownParameter> {
        if !self.protocol.0.link_decides.is_empty() && [LINK, RATES].contains(&name) {
            return self.tell(name, value);
        }
        let decided = self.protocol.0.link_decides.iter().find(|(decided, _)| *decided == name);
        match decided {
            Some((name, [standard, ..])) if value == AUTO => {
                self.parameters.set(name, standard)?;
                self.wish.open.retain(|open| open != name);
                self.wish.open.push(name);
            }
            Some(_) => {
                let set = self.parameters.set(name, value);
                set.map_err(|error| UnknownParameter { expected: format!("{AUTO}, {}", error.expected), ..error })?;
                self.wish.open.retain(|open| *open != name);
            }
            None => self.parameters.set(name, value)?,
        }
        Ok(())
    }

    /// Returns whether something is left to the link, or told for its choice.
    pub fn lets_link_decide(&self) -> bool {
        self.wish != Wish::default()
    }

    /// Tells the others something by its text.
    fn tell(&mut self, name: &str, value: &str) -> Result<(), UnknownParameter> {
        let unknown = |expected: String| UnknownParameter::new(name, value, expected);
        match name {
            LINK => {
                self.tell_link(value.parse().map_err(|_| unknown("LATENCY,RATE, for instance 33ms,50mbit".into()))?)
            }
            _ => self.tell_rates(value.parse().map_err(|error: NoRates| unknown(error.to_string()))?),
        }
        Ok(())
    }

    /// Tells the others what this party knows of the link, which decides parameters that are `auto`.
    pub fn tell_link(&mut self, link: SimulatedLink) {
        self.wish.told.link = Some(link);
    }

    /// Tells the others how fast this machine is, for the same use. Without, [`Rates::ASSUMED`] stand for it.
    pub fn tell_rates(&mut self, rates: Rates) {
        self.wish.told.rates = Some(rates);
    }

    /// All parameters by name, as all parties compare them.
    pub fn parameters(&self) -> Vec<(String, String)> {
        let mut parameters = self.parameters.get();
        for (name, value) in &mut parameters {
            if self.wish.open.contains(&name.as_str()) {
                *value = AUTO.into();
            }
        }
        parameters
    }

    /// The parameters of the protocol's own type, if it is that protocol.
    pub fn get<P: garblet_protocol::Protocol>(&self) -> Option<&P::Config> {
        if self.protocol.name() == P::NAME { self.typed().downcast_ref() } else { None }
    }

    /// The same, mutable.
    pub fn get_mut<P: garblet_protocol::Protocol>(&mut self) -> Option<&mut P::Config> {
        if self.protocol.name() == P::NAME { self.parameters.as_any_mut().downcast_mut() } else { None }
    }

    /// The parameters that the link decides.
    pub(crate) fn wish(&self) -> &Wish {
        &self.wish
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
        Config { protocol: self.protocol, parameters: self.parameters.boxed(), wish: self.wish.clone() }
    }
}

impl PartialEq for Config {
    fn eq(&self, other: &Self) -> bool {
        self.protocol == other.protocol && self.wish == other.wish && self.parameters.equals(other.typed())
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
