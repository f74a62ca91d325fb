//! The reasons why a protocol ended without a result, by whose fault.

use std::path::PathBuf;

use garblet_circuit::{Party, diagnostic::Diagnostics};
use garblet_garble::EvaluateError;
use garblet_homcommit::CommitError;
use garblet_net::{Accuses, Blame, Cause, NetError, PartyError};
use garblet_ot::{OtCheck, OtError};
use garblet_store::StoreError;

use crate::checks::{Cheating, Corrupted, NoMajority, Refused, Rejected, Suspected};
use crate::run_id::RunId;

/// A protocol that ended without a result.
#[derive(Debug, thiserror::Error)]
#[must_use]
pub enum ProtocolError {
    /// The channel: the peer is gone, silent, malformed or incompatible, or this machine's I/O failed.
    #[error(transparent)]
    Net(#[from] NetError),
    /// Oblivious transfer: the peer misbehaved, or the channel failed.
    #[error(transparent)]
    Ot(#[from] OtError),
    /// Commitments: the peer misbehaved, or the channel failed.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// The peer did what no honest party does, and was found out.
    #[error(transparent)]
    Cheating(#[from] Cheating),
    /// The peer cheated and was found out, with evidence, in a protocol against parties that fear this.
    #[error(transparent)]
    Corrupted(#[from] Box<Corrupted>),
    /// The peer was gone when it had to show that it had not cheated.
    #[error(transparent)]
    Suspected(#[from] Suspected),
    /// Two parties said what does not fit.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// Results from several others that do not fit.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    /// The peer cheated where nothing could be found out before the end.
    #[error(transparent)]
    NoMajority(#[from] NoMajority),
    /// A thread of this party ended without a result.
    #[error("a worker thread ended without a result: this is a bug")]
    WorkerLost,
    /// Garbled tables that cannot be evaluated.
    #[error(transparent)]
    Garble(#[from] EvaluateError),
    /// The store of prepared material: it cannot be used, is damaged, or is not the one that the peer knows.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The stores do not have what a program needs.
    #[error(transparent)]
    NotPrepared(#[from] NotPrepared),
    /// The file that says what is prepared for a store is wrong.
    #[error(transparent)]
    Library(#[from] Diagnostics),
    /// An order for a store of kinds or amounts that the protocol does not have.
    #[error("an order for a store: expected {expected}, got {got}")]
    Order {
        /// The kinds or amounts that there are.
        expected: String,
        /// The order.
        got: String,
    },
    /// A peer has left too many orders of gates unfinished.
    #[error(transparent)]
    Unfinished(#[from] Unfinished),
    /// A store of triples whose last check has no outcome yet, for which nothing else is done until it is settled with the peer.
    #[error("the check of the last triples for the store in {} is not settled: {reason}", folder.display())]
    Unsettled {
        /// The folder of the store.
        folder: PathBuf,
        /// The reason why it cannot be settled now.
        reason: &'static str,
    },
    /// A state that two servers keep and that cannot be used.
    #[error("state `{name}`: {problem}")]
    State {
        /// The name of the state.
        name: String,
        /// The reason why not.
        problem: StateProblem,
    },
    /// The peer was found out, and what was prepared with it could not be given up.
    #[error("{source}; and the store could not be given up: {failed}: remove it")]
    NotGivenUp {
        /// The deed.
        source: Box<ProtocolError>,
        /// The failure of the store.
        failed: StoreError,
    },
    /// The peer's part of prepared material is not what it must be.
    #[error("prepared material: {what}: expected {expected}, got {got}")]
    Material {
        /// The part in question.
        what: &'static str,
        /// The description of what it must be.
        expected: String,
        /// The description of what it is.
        got: String,
    },
    /// A peer is at another prepared run than this party: runs were used in different orders, or one of the two has lost some.
    #[error("the prepared run: expected {expected}, got {got}")]
    OtherRun {
        /// This party's.
        expected: RunId,
        /// The peer's.
        got: RunId,
    },
    /// The session has had an error, after which the parties may be out of step.
    #[error("the session has failed before: it can only be aborted")]
    Over,
    /// A program that this protocol cannot run.
    #[error("{protocol} cannot run program `{program}`: {reason}")]
    Unsupported {
        /// The protocol.
        protocol: &'static str,
        /// The program.
        program: String,
        /// The reason: what it cannot do.
        reason: String,
    },
    /// Inputs that do not fit the program: the caller's mistake.
    #[error("input {what}: expected {expected}, got {got}")]
    Input {
        /// The input in question.
        what: String,
        /// The description of what the program takes.
        expected: String,
        /// The description of what was given.
        got: String,
    },
    /// A step with one of several peers has failed.
    #[error("party {party}: {source}")]
    Peer {
        /// The peer.
        party: Party,
        /// The error of the step with it.
        source: Box<ProtocolError>,
    },
    /// A party number that the program or protocol does not have.
    #[error("party {party} takes no part: {reason}")]
    NoSuchParty {
        /// The party.
        party: Party,
        /// The reason why not.
        reason: String,
    },
}

/// The reason why a program cannot be run on what was prepared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotPrepared {
    /// A component of the program is not in the library.
    #[error("component `{component}` is not in the library, which has {}", listed(.known))]
    UnknownComponent {
        /// The component.
        component: String,
        /// The components that the library has.
        known: Vec<String>,
    },
    /// The stores have too little.
    #[error("the stores lack {}", missing(.0))]
    Missing(Vec<Missing>),
    /// The stores have no run of the program.
    #[error("the stores have no run of `{program}`{}", others_text(others))]
    NoRun {
        /// The program.
        program: String,
        /// The programs that there are runs of, and their numbers.
        others: Vec<(String, u64)>,
    },
}

/// The reason why a state cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateProblem {
    /// There is none of that name.
    #[error("expected one that was kept, got none of that name")]
    Missing,
    /// It is closed for good.
    #[error("expected one that can be used, got one that is closed for good, here or by the other server")]
    Closed,
    /// Too many runs have not ended.
    #[error("expected at most {most} runs that do not end, got more: it is closed for good")]
    Failures {
        /// The most.
        most: u32,
    },
    /// The servers have versions that no crash explains.
    #[error(
        "expected a version next to the other server's, {theirs}, got {own}: one of the two was put back to an earlier time; it is closed for good"
    )]
    Apart {
        /// This server's.
        own: u64,
        /// The other's.
        theirs: u64,
    },
    /// The servers have other histories of the same version.
    #[error("expected the other server's history of version {version}, got another: it is closed for good")]
    Forked {
        /// The version.
        version: u64,
    },
    /// Its record in the store cannot be read.
    #[error("its record in the store cannot be read: another version of Garblet wrote it")]
    Unreadable,
    /// The servers have an older version than a client has seen.
    #[error("expected version {seen}, which this client has seen, or a later one, got {got}")]
    Behind {
        /// The version that the client has seen.
        seen: u64,
        /// The servers' version.
        got: u64,
    },
    /// The servers have another history of a version than a client has seen.
    #[error("expected the history of version {version} that this client has seen, got another")]
    OtherHistory {
        /// The version.
        version: u64,
    },
    /// Both servers must have it, or none of them.
    #[error("expected the same at both servers, got {own} here, {theirs} at the other one")]
    Unlike {
        /// This server's.
        own: &'static str,
        /// The other's.
        theirs: &'static str,
    },
    /// It has another version than the one that a run was prepared for.
    #[error("expected version {expected}, got {got}")]
    Version {
        /// The version that is meant.
        expected: u64,
        /// The version that there is.
        got: u64,
    },
}

/// An amount that stores lack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The name of the kind.
    pub name: String,
    /// The number that the program needs.
    pub needed: u64,
    /// The number that must be prepared beside what there is.
    pub missing: u64,
}

/// A store for which no more is made until its user allows it, because of what its peer left unfinished.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no more {kind} are made for the store in {}: the peer left {orders} orders or setups unfinished after it was told what is checked, \
     expected fewer than {max}",
    folder.display()
)]
pub struct Unfinished {
    /// The name of what is made.
    pub kind: &'static str,
    /// The folder of the store.
    pub folder: PathBuf,
    /// The number of orders and setups.
    pub orders: u32,
    /// The number at which nothing more is made.
    pub max: u32,
}

fn listed(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

fn missing(all: &[Missing]) -> String {
    let one = |m: &Missing| format!("{} of the {} {} that the program takes", m.missing, m.needed, m.name);
    all.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn others_text(others: &[(String, u64)]) -> String {
    let texts: Vec<String> = others.iter().map(|(program, runs)| format!("{runs} of `{program}`")).collect();
    if texts.is_empty() { " left".into() } else { format!(", but {}", texts.join(", ")) }
}

impl<E: Into<ProtocolError> + std::error::Error + 'static> From<PartyError<E>> for ProtocolError {
    fn from(error: PartyError<E>) -> Self {
        ProtocolError::Peer { party: Party(error.party), source: Box::new(error.source.into()) }
    }
}

impl Accuses for ProtocolError {
    fn accuses(&self, peer: u16) -> Option<Blame> {
        match self {
            ProtocolError::Net(error) => error.accuses(peer),
            ProtocolError::Ot(error) => error.accuses(peer),
            ProtocolError::Commit(error) => error.accuses(peer),
            ProtocolError::Peer { party, source } => source.accuses(party.0),
            ProtocolError::NotGivenUp { source, .. } => source.accuses(peer),
            ProtocolError::Suspected(suspected) => suspected.source.accuses(peer),
            ProtocolError::Refused(Refused { parties: [one, other], .. }) => {
                (one == other).then(|| Blame::seen(one.0, Cause::Misbehaved))
            }
            ProtocolError::Store(error) => error.is_misbehaviour().then(|| Blame::seen(peer, Cause::Misbehaved)),
            ProtocolError::Cheating(_)
            | ProtocolError::Corrupted(_)
            | ProtocolError::Garble(_)
            | ProtocolError::Material { .. } => Some(Blame::seen(peer, Cause::Misbehaved)),
            ProtocolError::NoMajority(_)
            | ProtocolError::WorkerLost
            | ProtocolError::NotPrepared(_)
            | ProtocolError::Library(_)
            | ProtocolError::Order { .. }
            | ProtocolError::Unfinished(_)
            | ProtocolError::Unsettled { .. }
            | ProtocolError::State { .. }
            | ProtocolError::OtherRun { .. }
            | ProtocolError::Rejected(_)
            | ProtocolError::Over
            | ProtocolError::Unsupported { .. }
            | ProtocolError::Input { .. }
            | ProtocolError::NoSuchParty { .. } => None,
        }
    }
}

impl ProtocolError {
    /// Tells whether a check of what the peer did has failed: no failure of the network, no peer that closes and no malformed message does
    /// that. Without TLS, whoever is on the way and changes what is checked makes it fail too.
    pub fn is_evidence(&self) -> bool {
        match self {
            ProtocolError::Cheating(_) | ProtocolError::Corrupted(_) => true,
            ProtocolError::Ot(error) | ProtocolError::Commit(CommitError::Ot(error)) => {
                let malformed = [OtCheck::PointEncoding, OtCheck::PointIdentity, OtCheck::Padding];
                error.check().is_some_and(|check| !malformed.contains(&check))
            }
            ProtocolError::Commit(error) => matches!(
                error,
                CommitError::Inconsistent | CommitError::WrongOpening { .. } | CommitError::WrongBatch { .. }
            ),
            ProtocolError::Peer { source, .. } | ProtocolError::NotGivenUp { source, .. } => source.is_evidence(),
            _ => false,
        }
    }

    /// The failure of the channel that this is, whatever was being sent over it; none for all other errors.
    pub fn net(&self) -> Option<&NetError> {
        match self {
            ProtocolError::Net(error)
            | ProtocolError::Ot(OtError::Net(error))
            | ProtocolError::Commit(CommitError::Net(error) | CommitError::Ot(OtError::Net(error))) => Some(error),
            _ => None,
        }
    }

    /// The blame that the others of a mesh are told; none if it is this party itself, or no peer's in particular.
    pub fn blame(&self) -> Option<Blame> {
        match self {
            ProtocolError::Peer { party, source } => source.accuses(party.0),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_that_fails_is_told_as_such_whatever_was_sent_over_it() {
        let closed = || NetError::PeerClosed { doing: "for bits".into() };
        let ot = || OtError::Net(closed());
        for error in [
            ProtocolError::Net(closed()),
            ProtocolError::Ot(ot()),
            ProtocolError::Commit(CommitError::Net(closed())),
            ProtocolError::Commit(CommitError::Ot(ot())),
        ] {
            assert!(matches!(error.net(), Some(NetError::PeerClosed { .. })), "{error:?}");
            assert!(!error.is_evidence(), "{error:?}");
        }
        let close = || NetError::Unexpected { expected: "a message".into(), got: "the end".into() };
        assert!(!ProtocolError::Net(close()).is_evidence());
        let malformed = OtError::NonZeroPadding { what: "bits", bits: 3 };
        assert!(malformed.check().is_some() && !ProtocolError::Ot(malformed).is_evidence());
        assert!(ProtocolError::Ot(OtError::InconsistentTrees).is_evidence());
        assert!(ProtocolError::Commit(CommitError::Ot(OtError::WrongAnswer)).is_evidence());
        assert!(ProtocolError::Commit(CommitError::Inconsistent).is_evidence());
        assert!(ProtocolError::Commit(CommitError::Inconsistent).net().is_none());
        assert!(ProtocolError::WorkerLost.net().is_none());
    }

    #[test]
    fn a_store_is_the_peers_fault_only_where_it_says_what_no_honest_one_does() {
        let of = |error| ProtocolError::from(error).accuses(1);
        assert_eq!(of(StoreError::PeerKinds { max: 1, got: 2 }), Some(Blame::seen(1, Cause::Misbehaved)));
        assert_eq!(of(StoreError::PeerRolledBack { expected: 1, got: 0 }), None);
        assert_eq!(of(StoreError::Broken), None);
    }
}
