//! The errors between two parties.

use std::time::Duration;

use crate::blame::{Accuses, Blame, Cause, teller};
use crate::difference::Difference;
use crate::fingerprint::Fingerprint;
use crate::pace::LEAST_BYTES_PER_SECOND;
use crate::refusal::Refusal;

/// The reason why a channel cannot go on.
///
/// The peer learns none of this: [`Channel::abort`](crate::Channel::abort) says only that this party gives up.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// The peer is gone: it ended, crashed, or the network between us did.
    #[error("the peer closed the connection while we waited {doing}")]
    PeerClosed {
        /// The step that this party was doing, for instance `for base OT points`.
        doing: String,
    },
    /// The peer gave up and said so, without a reason.
    #[error("the peer aborted while we waited {doing}; its own message says why")]
    PeerAborted {
        /// The step that this party was doing.
        doing: String,
    },
    /// The peer gave up and blames another party of the mesh.
    #[error("{}, and gave up while we waited {doing}", blame.told())]
    PeerBlames {
        /// The step that this party was doing.
        doing: String,
        /// The party that it blames, and the reason.
        blame: Blame,
    },
    /// The peer gave up and blames this party. That is only its claim, which this party does not pass on.
    #[error("{}blames us: this party {cause}; it gave up while we waited {doing}", teller(*heard_from))]
    PeerBlamesUs {
        /// The step that this party was doing.
        doing: String,
        /// The fault of which this party is accused.
        cause: Cause,
        /// The source of the claim according to the peer, if it is not the peer itself.
        heard_from: Option<u16>,
    },
    /// A party connected twice.
    #[error("came twice: from {first} and from {second}")]
    DuplicateParty {
        /// The address from which the first connection came.
        first: String,
        /// The address from which the second came.
        second: String,
    },
    /// The peer did nothing for too long.
    #[error("no byte moved for {} s while we waited {doing}", after.as_secs_f64())]
    Timeout {
        /// The step that this party was doing.
        doing: String,
        /// The time that it waited.
        after: Duration,
    },
    /// The peer sends or reads, but more slowly than an honest one on a slow link.
    #[error(
        "too slow: {bytes} bytes in {:.0} s while we waited {doing}, expected {LEAST_BYTES_PER_SECOND} bytes a second or more",
        after.as_secs_f64()
    )]
    TooSlow {
        /// The step that this party was doing.
        doing: String,
        /// Bytes that have moved.
        bytes: u64,
        /// The time that this party waited.
        after: Duration,
    },
    /// The peer sent bytes that mean nothing.
    #[error("malformed {what}: expected {expected}, got {got}")]
    Malformed {
        /// The item that should have been there.
        what: String,
        /// The form that it should have.
        expected: String,
        /// A description of what came.
        got: String,
    },
    /// One side uses TLS and the other does not, or not with an identity.
    #[error("malformed {what}: expected {expected}, got {got}")]
    TlsMismatch {
        /// The item that should have been there.
        what: &'static str,
        /// The form that it should have.
        expected: &'static str,
        /// A description of what came.
        got: String,
    },
    /// Bytes under TLS that the peer did not send: somebody in between changed them, or one of the ends failed.
    #[error("TLS failed while we waited {doing}: expected the peer's unchanged data, got {got}")]
    Tampered {
        /// The step that this party was doing.
        doing: String,
        /// The error of TLS.
        got: String,
    },
    /// The peer announced a message that is longer than allowed.
    #[error("{what} too large: expected at most {limit} bytes, got {got}")]
    TooLarge {
        /// The message.
        what: &'static str,
        /// The most allowed.
        limit: usize,
        /// The length that the peer announced.
        got: usize,
    },
    /// The peer sent something unexpected at this step.
    #[error("unexpected data from the peer: expected {expected}, got {got}")]
    Unexpected {
        /// A description of what this step needs.
        expected: String,
        /// A description of what came.
        got: String,
    },
    /// The peer has another plan.
    #[error("the peer does not agree with us: {}", list(differences))]
    Incompatible {
        /// All differences.
        differences: Vec<Difference>,
    },
    /// The peer is a service that refuses our request.
    #[error("the peer refuses: {refusal}")]
    Refused {
        /// Its reason.
        refusal: Refusal,
    },
    /// The connection was made for another session.
    #[error("another session: expected {expected}, got {got}")]
    OtherSession {
        /// The session of this party.
        expected: String,
        /// The one that the peer asked for.
        got: String,
    },
    /// This party does not trust the peer.
    #[error("the peer is unknown: expected {expected}, got {got}")]
    UnknownIdentity {
        /// The identities that this party trusts: names and fingerprints.
        expected: String,
        /// The peer's fingerprint.
        got: Fingerprint,
    },
    /// The peer does not trust this party.
    #[error("the peer does not trust us: our fingerprint is {ours}")]
    IdentityRejected {
        /// This party's fingerprint.
        ours: Fingerprint,
    },
    /// A text is not an address.
    #[error("`{address}` is not an address: expected HOST:PORT")]
    NotAnAddress {
        /// The text that was given.
        address: String,
    },
    /// No machine has this name.
    #[error("cannot find the host of {address}: {source}")]
    UnknownHost {
        /// The address.
        address: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Another program, or another run of this one, listens there.
    #[error("cannot listen on {address}: the port is in use")]
    AddressInUse {
        /// The address.
        address: String,
    },
    /// Nobody listens there, or the address cannot be reached.
    #[error("cannot connect to {address} within {} s: {source}", after.as_secs_f64())]
    CannotConnect {
        /// The address.
        address: String,
        /// The time that this party tried.
        after: Duration,
        /// The error of the operating system at the last attempt.
        source: std::io::Error,
    },
    /// No peer connected.
    #[error("nobody connected to {address} within {} s{}", after.as_secs_f64(), refused_text(refused))]
    AcceptTimeout {
        /// The address where this party listened.
        address: String,
        /// The time that it waited.
        after: Duration,
        /// The refused connections, with their addresses and the reasons.
        refused: Vec<String>,
    },
    /// This party made a message that no peer accepts: a bug on this side.
    #[error("cannot send {what}: {why}")]
    Unsendable {
        /// The message.
        what: &'static str,
        /// The fault in the message.
        why: String,
    },
    /// This party dropped the future that sent the previous message: a bug on this side.
    #[error("cannot send a message: the one before it was cut off")]
    CutOff,
    /// This party gave up the run.
    #[error("the run was given up")]
    GivenUp,
    /// The operating system refused.
    #[error("{doing}: {source}")]
    Io {
        /// The step that this party was doing.
        doing: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

impl NetError {
    /// An abort as this party met it at another step: that of which a failed write made it look for one.
    pub(crate) fn in_step(self, doing: String) -> Self {
        match self {
            NetError::PeerAborted { .. } => NetError::PeerAborted { doing },
            NetError::PeerBlames { blame, .. } => NetError::PeerBlames { doing, blame },
            NetError::PeerBlamesUs { cause, heard_from, .. } => NetError::PeerBlamesUs { doing, cause, heard_from },
            other => other,
        }
    }

    /// Interprets an I/O error of a connection.
    pub(crate) fn from_io(source: std::io::Error, doing: impl Into<String>) -> Self {
        use std::io::ErrorKind::{
            BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof, WriteZero,
        };
        let doing = doing.into();
        if let Some(error) = source.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            return NetError::Tampered { doing, got: error.to_string() };
        }
        match source.kind() {
            BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected | UnexpectedEof | WriteZero => {
                NetError::PeerClosed { doing }
            }
            _ => NetError::Io { doing: format!("the connection failed while we waited {doing}"), source },
        }
    }
}

impl Accuses for NetError {
    fn accuses(&self, peer: u16) -> Option<Blame> {
        let cause = match self {
            NetError::PeerBlames { blame, .. } => return Some(blame.heard_of(peer)),
            // Not the peer but somebody in between changed the bytes, which also cuts the peer off.
            NetError::PeerClosed { .. } | NetError::Tampered { .. } => Cause::Gone,
            NetError::PeerAborted { .. } | NetError::PeerBlamesUs { .. } | NetError::Refused { .. } => Cause::GaveUp,
            NetError::Timeout { .. } => Cause::Silent,
            NetError::TooSlow { .. } => Cause::Slow,
            NetError::Malformed { .. } | NetError::TooLarge { .. } | NetError::Unexpected { .. } => Cause::Misbehaved,
            // A peer without TLS, or somebody in between who changed the handshake: no identity is proved yet.
            NetError::Incompatible { .. }
            | NetError::OtherSession { .. }
            | NetError::IdentityRejected { .. }
            | NetError::TlsMismatch { .. } => Cause::Disagrees,
            NetError::UnknownIdentity { .. } => Cause::UnknownPeer,
            NetError::UnknownHost { .. } | NetError::CannotConnect { .. } | NetError::AcceptTimeout { .. } => {
                Cause::Missing
            }
            NetError::DuplicateParty { .. } => Cause::DuplicateParty,
            NetError::NotAnAddress { .. }
            | NetError::AddressInUse { .. }
            | NetError::Unsendable { .. }
            | NetError::CutOff
            | NetError::GivenUp
            | NetError::Io { .. } => return None,
        };
        Some(Blame::seen(peer, cause))
    }
}

/// The refused connections, as the end of a message.
pub(crate) fn refused_text(refused: &[String]) -> String {
    if refused.is_empty() { String::new() } else { format!("; refused: {}", refused.join("; ")) }
}

fn list(differences: &[Difference]) -> String {
    let texts: Vec<String> = differences.iter().map(Difference::to_string).collect();
    texts.join("; ")
}
