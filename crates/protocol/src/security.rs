//! The security of a run, printed with every result.

use serde::{Deserialize, Serialize};

/// The security of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Security {
    /// log2 of the work of the best known attack.
    pub computational_bits: u32,
    /// Negated log2 of the statistical error; none where the protocol has no such error.
    pub statistical_bits: Option<f64>,
    /// log2 of the probability that a cheating peer gets away; none against a semi-honest adversary.
    pub cheating_log2: Option<f64>,
    /// The probability that a cheating peer is found out, where that is what a protocol promises: against covert adversaries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deterrence: Option<f64>,
    /// The parties who together see everything, where all else is promised only as long as they do not work together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collusion: Option<Collusion>,
    /// Set if the peer cheated in the last run and gave its secret away; the result is right all the same.
    ///
    /// *Secret*: whether it did may depend on this party's input, so that whoever tells the peer may tell it a bit of that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub peer_exposed: bool,
}

/// The parties who must not all be corrupted, or help each other, for a protocol to promise anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Collusion {
    /// The first party and the last one, which are servers to all others.
    BothServers,
}
