//! The settings of a computation: the protocol, its parameters, the link, the time-out.

#[cfg(feature = "system")]
mod chosen;
mod parties;

use std::{fmt, sync::Arc, time::Duration};

use garblet::{
    Config, Protocol,
    net::{Advice, DEFAULT_TIMEOUT, JobTerms, OnRefused, SimulatedLink, Tls},
};
use serde::{Deserialize, Serialize};

use crate::{args::Param, failure::Failure, hints::refusal_hint, output::tell, surface::Setting};

pub use parties::party_range;

/// A number of parties, with the place that says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartyCount {
    /// The option `--parties`.
    Option(u16),
    /// The entries of the file of `--peers`.
    Peers(u16),
    /// The parties of a job.
    Job(u16),
    /// The options `--party`, each with one.
    Each(u16),
}

impl fmt::Display for PartyCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PartyCount::Option(number) => write!(f, "--parties {number}"),
            PartyCount::Peers(number) => write!(f, "--peers: the peers file has {number} parties"),
            PartyCount::Job(number) => write!(f, "the job has {number} parties"),
            PartyCount::Each(number) => write!(f, "--party given {number} times"),
        }
    }
}

/// The settings of a computation, in a form that can be passed to another process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// The name of the protocol.
    pub protocol: String,
    /// Its parameters, except defaults.
    pub params: Vec<Param>,
    /// The simulated link between all parties.
    pub link: Option<String>,
    /// The time without progress after which a party gives up.
    pub timeout: Duration,
    /// The job of the run, if there is one.
    pub job: Option<JobTerms>,
}

impl Settings {
    /// The default protocol with its default parameters.
    pub fn standard(link: Option<SimulatedLink>) -> Self {
        Settings {
            protocol: Protocol::default().to_string(),
            params: Vec::new(),
            link: link.map(|l| l.to_string()),
            timeout: DEFAULT_TIMEOUT,
            job: None,
        }
    }

    /// A protocol with these parameters, without a simulated link.
    pub fn of(protocol: Protocol, params: Vec<Param>, timeout: Duration) -> Self {
        Settings { protocol: protocol.to_string(), params, link: None, timeout, job: None }
    }

    /// The protocol and its parameters.
    ///
    /// *Errors*: as [`Settings::new`].
    pub fn config(&self) -> Result<Config, Failure> {
        let protocol =
            self.protocol.parse().map_err(|e| Failure::call(format!("{}: {e}", Setting::Protocol.place())))?;
        let mut config = Config::of(protocol);
        for Param { name, value } in &self.params {
            config
                .set(name, value)
                .map_err(|e| Failure::call(format!("{} {name}={value}: {e}", Setting::Param.place())))?;
        }
        Ok(config)
    }

    /// The options for connections.
    pub fn options(&self, tls: Option<Tls>) -> Result<garblet::net::Options, Failure> {
        let link = self.link.as_deref().map(str::parse::<SimulatedLink>).transpose();
        let link = link.map_err(Failure::call)?.unwrap_or_default();
        let on_refused: OnRefused = Arc::new(tell);
        let (patience, timeout) = (self.timeout, self.timeout);
        let advice: Option<Advice> = Some(refusal_hint);
        Ok(garblet::net::Options {
            patience,
            timeout,
            tls,
            link,
            job: self.job.as_ref().map(|job| job.digest.clone()),
            on_refused: Some(on_refused),
            advice,
            ..garblet::net::Options::default()
        })
    }
}
