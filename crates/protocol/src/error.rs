//! The reasons why a protocol ended without a result, sorted by whose fault it is.

use std::path::PathBuf;

use garblet_circuit::{Party, diagnostic::Diagnostics};
use garblet_garble::EvaluateError;
use garblet_homcommit::CommitError;
use garblet_net::{Accuses, Blame, Cause, NetError, PartyError};
use garblet_ot::{OtCheck, OtError};
use garblet_store::StoreError;

use crate::checks::{Cheating, Check, Corrupted, NoMajority, Refused, Rejected, Suspected, Unattributed};
use crate::run_id::RunId;
use crate::session::Declined;

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
    /// The peer was caught: it did what no honest party does.
    #[error(transparent)]
    Cheating(#[from] Cheating),
    /// One of the others cheats, and nobody can tell who.
    #[error(transparent)]
    Unattributed(#[from] Unattributed),
    /// The peer was caught cheating, with evidence, in a protocol against covert parties.
    #[error(transparent)]
    Corrupted(#[from] Box<Corrupted>),
    /// The peer was gone when it had to show that it had not cheated.
    #[error(transparent)]
    Suspected(#[from] Suspected),
    /// The messages of two parties contradict each other.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The results of several other parties contradict each other.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    /// The peer cheated in a way that shows only at the end.
    #[error(transparent)]
    NoMajority(#[from] NoMajority),
    /// This party refused to begin what all had agreed on.
    #[error(transparent)]
    Declined(#[from] Declined),
    /// A thread of this party ended without a result.
    #[error("a worker thread ended without a result: this is a bug")]
    WorkerLost,
    /// A step of this party found its own data in a form that no input and no peer can cause.
    #[error("{what}: this is a bug")]
    Internal {
        /// The data in question.
        what: String,
    },
    /// Random choices that leave too little to continue, which can happen to honest parties.
    #[error("{what}: this happens by chance, with probability 2^{log2}: run again")]
    Unlucky {
        /// The items of which too few are left.
        what: &'static str,
        /// The binary logarithm of the probability.
        log2: i32,
    },
    /// Garbled tables that cannot be evaluated.
    #[error(transparent)]
    Garble(#[from] EvaluateError),
    /// The store of prepared material cannot be used, is damaged, or is not the one that the peer knows.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The stores do not have what a program needs.
    #[error(transparent)]
    NotPrepared(#[from] NotPrepared),
    /// A file of this party is wrong: the library file of a store has a mistake, or the program's file has changed since it was loaded.
    #[error(transparent)]
    Library(#[from] Diagnostics),
    /// An order for kinds or amounts that the protocol cannot prepare.
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
    /// A store of triples whose last check has no outcome yet. Nothing else is done with it until the check is settled with the peer.
    #[error("the check of the last triples for the store in {} is not settled: {reason}", folder.display())]
    Unsettled {
        /// The folder of the store.
        folder: PathBuf,
        /// The reason why it cannot be settled now.
        reason: &'static str,
    },
    /// A state that two servers keep, or a value that two parties keep, that cannot be used.
    #[error("state `{name}`: {problem}")]
    State {
        /// The name of the state.
        name: String,
        /// The reason.
        problem: StateProblem,
    },
    /// A name under which outputs cannot be kept.
    #[error("name of kept outputs: expected {expected}, got `{}`", got.escape_debug())]
    KeptName {
        /// The form that a name has.
        expected: String,
        /// The name.
        got: String,
    },
    /// A run that is to keep more outputs than a store holds under one name.
    #[error("{protocol} cannot keep the outputs of `{program}`: expected at most {most} bits, got {got}")]
    KeepsTooMuch {
        /// The protocol.
        protocol: &'static str,
        /// The program.
        program: String,
        /// The most bits.
        most: u64,
        /// The bits of the outputs.
        got: u64,
    },
    /// The peer could not keep its part of the outputs, for instance because its disk is full. An honest peer may say so.
    #[error("outputs to keep under `{name}`: another party could not keep its part, so this one keeps none either")]
    NotKept {
        /// The name.
        name: String,
    },
    /// This party's own store has unexpected contents: another version wrote it, it was changed, or it was given up. The peer has no part in that.
    #[error("own store: {what}: expected {expected}, got {got}")]
    Stored {
        /// The part in question.
        what: &'static str,
        /// The description of what it must be.
        expected: String,
        /// The description of what it is.
        got: String,
    },
    /// The peer was caught cheating, and the store could not be given up.
    #[error("{source}; and the store could not be given up: {failed}: remove it")]
    NotGivenUp {
        /// The cheating.
        source: Box<ProtocolError>,
        /// The failure of the store.
        failed: StoreError,
    },
    /// The parties' parts of the prepared material do not match.
    #[error("prepared material: {what}: expected {expected}, got {got}")]
    Material {
        /// The part in question.
        what: &'static str,
        /// The description of what it must be.
        expected: String,
        /// The description of what it is.
        got: String,
    },
    /// A peer is at a different prepared run than this party: they use runs in different orders, or one of them has lost some.
    #[error("the prepared run: expected {expected}, got {got}")]
    OtherRun {
        /// This party's.
        expected: RunId,
        /// The peer's.
        got: RunId,
    },
    /// The session has had an error before, so the parties may be out of step.
    #[error("the session has failed before: abort it")]
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
    /// Inputs that do not fit the program: a mistake of the caller.
    #[error("input {what}: expected {expected}, got {got}")]
    Input {
        /// The input in question.
        what: String,
        /// The description of what the program takes.
        expected: String,
        /// The description of the given values.
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
    /// A party number that the program or the protocol does not have.
    #[error("there is no party {party}: {reason}")]
    NoSuchParty {
        /// The party.
        party: Party,
        /// The reason.
        reason: String,
    },
}

/// The reason why a program cannot run on prepared material.
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
        /// The programs that the stores have runs of, with their numbers.
        others: Vec<(String, u64)>,
    },
}

/// The reason why a state cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateProblem {
    /// No state has this name.
    #[error("expected one that was kept, got none of that name")]
    Missing,
    /// It is closed forever.
    #[error("expected one that can be used, got one that is closed forever, here or at the other server")]
    Closed,
    /// Too many runs have not ended.
    #[error("expected at most {most} unfinished runs, got more: each may have been a guess of the other party")]
    Failures {
        /// The most.
        most: u32,
    },
    /// The servers have versions that no crash can cause.
    #[error(
        "expected a version next to the other server's, {theirs}, got {own}: one of the two was restored from a backup; it is closed forever"
    )]
    Apart {
        /// This server's.
        own: u64,
        /// The other's.
        theirs: u64,
    },
    /// The servers have different histories of the same version.
    #[error("expected the other server's history of version {version}, got another: it is closed forever")]
    Forked {
        /// The version.
        version: u64,
    },
    /// Its record in the store cannot be read.
    #[error("its record cannot be read, here or by the other server: another version of Garblet wrote it")]
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
    /// Both servers must have it, or neither.
    #[error("expected the same at both servers, got {own} here, {theirs} at the other one")]
    Unlike {
        /// This server's.
        own: &'static str,
        /// The other's.
        theirs: &'static str,
    },
    /// A run of the session that was to replace it began since this run was prepared, which could read what was there before.
    #[error(
        "a run of this session that was to replace it began after this run was prepared, so this run could read an old value"
    )]
    Stale,
    /// It has another version than the one that a run was prepared for.
    #[error("expected version {expected}, got {got}")]
    Version {
        /// The expected version.
        expected: u64,
        /// The actual version.
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
    /// The number that must be prepared in addition.
    pub missing: u64,
}

/// A store for which nothing more is made until its user allows it, because its peer left orders unfinished.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no more {kind} are made for the store in {}: the peer left {orders} orders or setups unfinished after it learned what is checked, \
     expected fewer than {max}",
    folder.display()
)]
pub struct Unfinished {
    /// The name of the kind of material.
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
            | ProtocolError::Unattributed(_)
            | ProtocolError::Declined(_)
            | ProtocolError::WorkerLost
            | ProtocolError::Internal { .. }
            | ProtocolError::Unlucky { .. }
            | ProtocolError::NotPrepared(_)
            | ProtocolError::Library(_)
            | ProtocolError::KeptName { .. }
            | ProtocolError::KeepsTooMuch { .. }
            | ProtocolError::Order { .. }
            | ProtocolError::Unfinished(_)
            | ProtocolError::Unsettled { .. }
            | ProtocolError::State { .. }
            | ProtocolError::NotKept { .. }
            | ProtocolError::Stored { .. }
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
    /// The error of one of several peers that fails a check.
    pub fn cheats(party: Party, check: Check, detail: &str) -> Self {
        ProtocolError::Peer { party, source: Box::new(Cheating::new(check, detail).into()) }
    }

    /// Tells whether a check of the peer's behaviour has failed. No network failure, closed connection or malformed message does that. Without TLS, somebody
    /// in between who changes messages can cause it too.
    pub fn is_evidence(&self) -> bool {
        match self {
            ProtocolError::Cheating(_) | ProtocolError::Unattributed(_) | ProtocolError::Corrupted(_) => true,
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

    /// The failure of the channel, whatever it was carrying; none for all other errors.
    pub fn net(&self) -> Option<&NetError> {
        match self {
            ProtocolError::Net(error)
            | ProtocolError::Ot(OtError::Net(error))
            | ProtocolError::Commit(CommitError::Net(error) | CommitError::Ot(OtError::Net(error))) => Some(error),
            _ => None,
        }
    }

    /// The blame to tell the other parties of a mesh; `None` if the fault is this party's own, or no particular peer's.
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
    fn a_failed_channel_is_reported_as_such_whatever_it_was_carrying() {
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
    fn a_store_is_the_peers_fault_only_if_no_honest_peer_could_have_it() {
        let of = |error| ProtocolError::from(error).accuses(1);
        assert_eq!(of(StoreError::PeerKinds { max: 1, got: 2 }), Some(Blame::seen(1, Cause::Misbehaved)));
        assert_eq!(of(StoreError::PeerRolledBack { expected: 1, got: 0 }), None);
        assert_eq!(of(StoreError::Broken), None);
    }
}
