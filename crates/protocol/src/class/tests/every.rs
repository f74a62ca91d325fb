//! Every possible error. The tests of front ends use them, too.

use std::{io, time::Duration};

use garblet_circuit::{Bits, Party, diagnostic::Diagnostic};
use garblet_garble::EvaluateError;
use garblet_homcommit::CommitError;
use garblet_net::{Blame, Cause, Difference, Fingerprint, JOB, NetError, Refusal, WIRE};
use garblet_ot::OtError;
use garblet_primitives::{Block, Prg};
use garblet_store::StoreError;

use super::protocol::{
    checks::{
        Cheating, Check, Corrupted, Evidence, LastMessageSent, Majority, Refused, Rejected, Suspected, Unattributed,
        Unverified,
    },
    domain::SessionId,
    error::{NotPrepared, ProtocolError, StateProblem, Unfinished},
    run_id::RunId,
    session::Declined,
};

const CHECK: Check = Check::new("CHECK", "it did something");
const AFTER: Duration = Duration::from_secs(1);

pub(crate) fn text() -> String {
    "x".into()
}

fn differing(field: &str) -> Difference {
    Difference { field: field.into(), ours: text(), theirs: text() }
}

fn refused() -> io::Error {
    io::ErrorKind::ConnectionRefused.into()
}

/// The place of a variant in [`net_errors`]. A new one does not compile until it has a place, and the test fails until it is listed there.
pub(crate) fn net_place(error: &NetError) -> usize {
    match error {
        NetError::PeerClosed { .. } => 0,
        NetError::PeerAborted { .. } => 1,
        NetError::PeerBlames { .. } => 2,
        NetError::PeerBlamesUs { .. } => 3,
        NetError::DuplicateParty { .. } => 4,
        NetError::Timeout { .. } => 5,
        NetError::TooSlow { .. } => 6,
        NetError::Malformed { .. } => 7,
        NetError::TlsMismatch { .. } => 8,
        NetError::Tampered { .. } => 9,
        NetError::TooLarge { .. } => 10,
        NetError::Unexpected { .. } => 11,
        NetError::Incompatible { .. } => 12,
        NetError::Refused { .. } => 13,
        NetError::OtherSession { .. } => 14,
        NetError::UnknownIdentity { .. } => 15,
        NetError::IdentityRejected { .. } => 16,
        NetError::NotAnAddress { .. } => 17,
        NetError::UnknownHost { .. } => 18,
        NetError::AddressInUse { .. } => 19,
        NetError::CannotConnect { .. } => 20,
        NetError::AcceptTimeout { .. } => 21,
        NetError::Unsendable { .. } => 22,
        NetError::CutOff => 23,
        NetError::GivenUp => 24,
        NetError::Io { .. } => 25,
    }
}

pub(crate) fn net_errors() -> Vec<NetError> {
    let (doing, print) = (text, Fingerprint::of_ed25519(&[1; 32]));
    let blame = Blame::seen(1, Cause::Misbehaved);
    vec![
        NetError::PeerClosed { doing: doing() },
        NetError::PeerAborted { doing: doing() },
        NetError::PeerBlames { doing: doing(), blame },
        NetError::PeerBlamesUs { doing: doing(), cause: Cause::Misbehaved, heard_from: None },
        NetError::DuplicateParty { first: text(), second: text() },
        NetError::Timeout { doing: doing(), after: AFTER },
        NetError::TooSlow { doing: doing(), bytes: 1, after: AFTER },
        NetError::Malformed { what: text(), expected: text(), got: text() },
        NetError::TlsMismatch { what: "x", expected: "y", got: text() },
        NetError::Tampered { doing: doing(), got: text() },
        NetError::TooLarge { what: "x", limit: 1, got: 2 },
        NetError::Unexpected { expected: text(), got: text() },
        NetError::Incompatible { differences: Vec::new() },
        NetError::Incompatible { differences: vec![differing(JOB)] },
        NetError::Incompatible { differences: vec![differing("amounts")] },
        NetError::Incompatible { differences: vec![differing("gates")] },
        NetError::Incompatible { differences: vec![differing(JOB), differing(WIRE)] },
        NetError::Refused { refusal: Refusal::Busy },
        NetError::Refused { refusal: Refusal::Stopping },
        NetError::Refused { refusal: Refusal::UnknownJob },
        NetError::Refused { refusal: Refusal::UsedUp { again_after: None } },
        NetError::Refused { refusal: Refusal::NoData },
        NetError::Refused { refusal: Refusal::SessionInUse },
        NetError::Refused { refusal: Refusal::Nameless },
        NetError::Refused { refusal: Refusal::Closed },
        NetError::OtherSession { expected: text(), got: text() },
        NetError::UnknownIdentity { expected: text(), got: print },
        NetError::IdentityRejected { ours: print },
        NetError::NotAnAddress { address: text() },
        NetError::NotAnAddress { address: ":7000".into() },
        NetError::UnknownHost { address: text(), source: refused() },
        NetError::AddressInUse { address: text() },
        NetError::CannotConnect { address: text(), after: AFTER, source: refused() },
        NetError::AcceptTimeout { address: text(), after: AFTER, refused: Vec::new() },
        NetError::AcceptTimeout { address: text(), after: AFTER, refused: vec![text()] },
        NetError::Unsendable { what: "x", why: text() },
        NetError::CutOff,
        NetError::GivenUp,
        NetError::Io { doing: doing(), source: refused() },
    ]
}

pub(crate) fn ot_place(error: &OtError) -> usize {
    match error {
        OtError::Net(_) => 0,
        OtError::InvalidPoint { .. } => 1,
        OtError::IdentityPoint { .. } => 2,
        OtError::InconsistentChallenges => 3,
        OtError::WrongAnswer => 4,
        OtError::NonZeroPadding { .. } => 5,
        OtError::InconsistentTrees => 6,
        OtError::InconsistentChoices => 7,
        OtError::FormMismatch { .. } => 8,
        OtError::WrongLength { .. } => 9,
        OtError::CoinOpening => 10,
        OtError::InconsistentLeaves => 11,
        OtError::Ended => 12,
        OtError::WeakBase { .. } => 13,
    }
}

pub(crate) fn ot_errors() -> Vec<OtError> {
    let own = vec![
        OtError::InvalidPoint { what: "x", index: 1 },
        OtError::IdentityPoint { what: "x", index: 1 },
        OtError::InconsistentChallenges,
        OtError::WrongAnswer,
        OtError::NonZeroPadding { what: "x", bits: 1 },
        OtError::InconsistentTrees,
        OtError::InconsistentChoices,
        OtError::FormMismatch { ours: text(), theirs: text() },
        OtError::WrongLength { what: "x", expected: 1, got: 2 },
        OtError::CoinOpening,
        OtError::InconsistentLeaves,
        OtError::Ended,
        OtError::WeakBase { expected: 80, got: 40 },
    ];
    net_errors().into_iter().map(OtError::Net).chain(own).collect()
}

pub(crate) fn commit_place(error: &CommitError) -> usize {
    match error {
        CommitError::Net(_) => 0,
        CommitError::Ot(_) => 1,
        CommitError::Inconsistent => 2,
        CommitError::WrongOpening { .. } => 3,
        CommitError::WrongBatch { .. } => 4,
        CommitError::WrongLength { .. } => 5,
    }
}

pub(crate) fn commit_errors() -> Vec<CommitError> {
    let own = vec![
        CommitError::Inconsistent,
        CommitError::WrongOpening { index: 1 },
        CommitError::WrongBatch { count: 1 },
        CommitError::WrongLength { what: "x", expected: 1, got: 2 },
    ];
    let net = net_errors().into_iter().map(CommitError::Net);
    net.chain(ot_errors().into_iter().map(CommitError::Ot)).chain(own).collect()
}

pub(crate) fn place(error: &ProtocolError) -> usize {
    match error {
        ProtocolError::Net(_) => 0,
        ProtocolError::Ot(_) => 1,
        ProtocolError::Commit(_) => 2,
        ProtocolError::Cheating(_) => 3,
        ProtocolError::Corrupted(_) => 4,
        ProtocolError::Suspected(_) => 5,
        ProtocolError::Refused(_) => 6,
        ProtocolError::Rejected(_) => 7,
        ProtocolError::NoMajority(_) => 8,
        ProtocolError::WorkerLost => 9,
        ProtocolError::Garble(_) => 10,
        ProtocolError::Store(_) => 11,
        ProtocolError::NotPrepared(_) => 12,
        ProtocolError::Library(_) => 13,
        ProtocolError::Order { .. } => 14,
        ProtocolError::Unfinished(_) => 15,
        ProtocolError::Unsettled { .. } => 16,
        ProtocolError::State { .. } => 17,
        ProtocolError::NotGivenUp { .. } => 18,
        ProtocolError::Material { .. } => 19,
        ProtocolError::OtherRun { .. } => 20,
        ProtocolError::Over => 21,
        ProtocolError::Unsupported { .. } => 22,
        ProtocolError::Input { .. } => 23,
        ProtocolError::Peer { .. } => 24,
        ProtocolError::NoSuchParty { .. } => 25,
        ProtocolError::Declined(_) => 26,
        ProtocolError::NotKept { .. } => 27,
        ProtocolError::Stored { .. } => 28,
        ProtocolError::Internal { .. } => 29,
        ProtocolError::Unlucky { .. } => 30,
        ProtocolError::KeptName { .. } => 31,
        ProtocolError::KeepsTooMuch { .. } => 32,
        ProtocolError::Unattributed(_) => 33,
    }
}

fn state_problems() -> [StateProblem; 11] {
    [
        StateProblem::Missing,
        StateProblem::Closed,
        StateProblem::Failures { most: 1 },
        StateProblem::Apart { own: 1, theirs: 3 },
        StateProblem::Forked { version: 1 },
        StateProblem::Unreadable,
        StateProblem::Behind { seen: 2, got: 1 },
        StateProblem::OtherHistory { version: 1 },
        StateProblem::Unlike { own: "x", theirs: "y" },
        StateProblem::Stale,
        StateProblem::Version { expected: 1, got: 2 },
    ]
}

/// All errors that hold no other of the same kind.
fn plain_errors() -> Vec<ProtocolError> {
    let evidence = Evidence {
        run: SessionId::new("x", [0; 32], [[0; 32]; 2]),
        circuit: 1,
        seed: [0; 16],
        said: [0; 32],
        due: [1; 32],
    };
    let votes = [1, 2].map(|value| Unverified::new(Bits::from_u128(value, 8)));
    let majority = Majority::of(votes, &mut Prg::new(Block::ZERO)).expect("votes");
    let no_majority = majority.settle(LastMessageSent::stated()).expect_err("they differ");
    let liars = [Party(0), Party(1)];
    let closed = NetError::PeerClosed { doing: text() };
    let own = vec![
        Cheating::new(CHECK, "here").into(),
        Unattributed::new(CHECK, "here").into(),
        Box::new(Corrupted { check: CHECK, evidence, disclosure: None }).into(),
        Suspected { source: closed }.into(),
        Refused::new("x", liars).into(),
        Rejected { what: "x", parties: liars }.into(),
        no_majority.into(),
        ProtocolError::WorkerLost,
        ProtocolError::Internal { what: text() },
        ProtocolError::Unlucky { what: "x", log2: -40 },
        ProtocolError::KeptName { expected: text(), got: text() },
        ProtocolError::KeepsTooMuch { protocol: "x", program: text(), most: 1, got: 2 },
        Declined.into(),
        EvaluateError::ChunkLength { got: 1, expected: 2 }.into(),
        StoreError::Broken.into(),
        StoreError::PeerKinds { max: 1, got: 2 }.into(),
        NotPrepared::Missing(Vec::new()).into(),
        NotPrepared::UnknownComponent { component: text(), known: Vec::new() }.into(),
        ProtocolError::Library(Diagnostic::new("x", "y").into()),
        ProtocolError::Order { expected: text(), got: text() },
        Unfinished { kind: "x", folder: "y".into(), orders: 1, max: 1 }.into(),
        ProtocolError::Unsettled { folder: "x".into(), reason: "y" },
        ProtocolError::NotKept { name: text() },
        ProtocolError::Stored { what: "x", expected: text(), got: text() },
        ProtocolError::Material { what: "x", expected: text(), got: text() },
        ProtocolError::OtherRun { expected: RunId::Prepared(1), got: RunId::Prepared(2) },
        ProtocolError::Over,
        ProtocolError::Unsupported { protocol: "x", program: text(), reason: text() },
        ProtocolError::Input { what: text(), expected: text(), got: text() },
        ProtocolError::NoSuchParty { party: Party(3), reason: text() },
    ];
    let states = state_problems().map(|problem| ProtocolError::State { name: text(), problem });
    let net = net_errors().into_iter().map(ProtocolError::Net).chain(states);
    let ot = ot_errors().into_iter().map(ProtocolError::Ot);
    net.chain(ot).chain(commit_errors().into_iter().map(ProtocolError::Commit)).chain(own).collect()
}

/// All errors, those that hold another with each that they can hold.
pub(crate) fn errors() -> Vec<ProtocolError> {
    let peer = plain_errors().into_iter().map(|error| ProtocolError::Peer { party: Party(1), source: error.into() });
    let kept = |error: ProtocolError| ProtocolError::NotGivenUp { source: error.into(), failed: StoreError::Broken };
    plain_errors().into_iter().chain(peer).chain(plain_errors().into_iter().map(kept)).collect()
}
