//! The options for the protocol.

use clap::Args;
use garblet::{Adversary, Protocol, net::SimulatedLink};

use super::{Param, Time};

/// The way to compute: the protocol, its parameters, a link, a time-out.
#[derive(Args, Clone)]
pub struct ProtocolArgs {
    /// The protocol and its parameters.
    #[command(flatten)]
    pub choice: ChoiceArgs,
    /// Simulate links with this one-way latency and rate, for instance 33ms,50mbit
    #[arg(long, value_name = "LATENCY,RATE")]
    pub link: Option<SimulatedLink>,
    /// Give up after this long without progress by a peer
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub timeout: Time,
}

/// The protocol and its parameters.
#[derive(Args, Clone)]
pub struct ChoiceArgs {
    #[arg(long, help = format!("The protocol: {} [default: yao, or chosen by --adversary]", Protocol::names()))]
    pub(crate) protocol: Option<String>,
    /// Choose a protocol that is secure against such parties: semi-honest, covert or malicious
    #[arg(long, value_name = "ADVERSARY")]
    pub(crate) adversary: Option<Adversary>,
    /// Set a parameter of the protocol, for instance scheme=three-halves
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub(crate) params: Vec<Param>,
}

impl ChoiceArgs {
    /// Returns whether the number of parties may decide which protocol it is.
    pub fn depends_on_parties(&self) -> bool {
        self.adversary.is_some()
    }

    /// The given protocol's name; otherwise the first for this number of parties that is secure against the adversary.
    pub fn name(&self, parties: u16) -> String {
        let against = |adversary| Protocol::against(adversary, parties);
        self.protocol.clone().unwrap_or_else(|| self.adversary.map_or(Protocol::default(), against).to_string())
    }
}
