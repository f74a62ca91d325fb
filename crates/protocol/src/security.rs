//! The security of a run, printed with every result.

use serde::{Deserialize, Serialize};

/// The security of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Security {
    /// log2 of the work of the best known attack.
    pub computational_bits: u32,
    /// Negated log2 of the statistical error; `None` if the protocol has no such error.
    pub statistical_bits: Option<f64>,
    /// log2 of the probability that a peer cheats without being caught; none against a semi-honest adversary.
    pub cheating_log2: Option<f64>,
    /// The probability that a cheating peer is caught, for protocols against covert parties.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deterrence: Option<f64>,
    /// Set if a cheating peer can leave when it learns that it would be caught. It is then suspected, and not caught.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_leave: bool,
    /// The parties that must not collude: together they see everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collusion: Option<Collusion>,
    /// Set if the peer cheated in the last run and revealed its secret. The result is right nevertheless.
    ///
    /// *Secret*: it may depend on this party's input, so telling the peer may reveal a bit of the input.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub peer_exposed: bool,
}

/// The parties that must not collude; if they do, a protocol promises nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Collusion {
    /// The first and the last party, which are servers for the others.
    BothServers,
    /// Any two of the three parties.
    AnyTwo,
}
