//! The class and the remedy of every error: one list for all front ends. It is a trait because the errors are those of
//! several crates.

use garblet_net::{
    AMOUNTS, COUNT, COUNTS, Difference, IdentityError, JOB, LOW_WATER, NetError, PeersFileError, PeersFileFault,
    Refusal, WIRE,
};
#[cfg(feature = "tcp")]
use garblet_net::{MeshError, PartyError};
use garblet_protocol::{
    Class,
    error::{NotPrepared, StateProblem},
};
use garblet_store::StoreError;

use crate::{Error, advice::Advice};

/// An error as a front end explains it to its user.
pub trait Explain {
    /// The class.
    fn class(&self) -> Class;

    /// Returns whether the call, an address, or one of the files that it names is wrong, so that the same call fails again.
    fn is_wrong_call(&self) -> bool;

    /// The remedy, if it is not obvious.
    fn advice(&self) -> Option<Advice>;
}

impl Explain for Error {
    fn class(&self) -> Class {
        self.into()
    }

    fn is_wrong_call(&self) -> bool {
        match self {
            Error::Net(error) => error.is_wrong_call(),
            Error::Ot(_) | Error::Commit(_) => self.net().is_some_and(Explain::is_wrong_call),
            Error::Store(error) => error.is_wrong_call(),
            Error::Peer { source, .. } | Error::NotGivenUp { source, .. } => source.is_wrong_call(),
            Error::NotPrepared(NotPrepared::UnknownComponent { .. })
            | Error::Library(_)
            | Error::KeptName { .. }
            | Error::KeepsTooMuch { .. }
            | Error::Unsupported { .. }
            | Error::Input { .. }
            | Error::Order { .. }
            | Error::NoSuchParty { .. } => true,
            Error::NotPrepared(NotPrepared::Missing(_) | NotPrepared::NoRun { .. })
            | Error::Cheating(_)
            | Error::Unattributed(_)
            | Error::Corrupted(_)
            | Error::Suspected(_)
            | Error::Refused(_)
            | Error::Rejected(_)
            | Error::NoMajority(_)
            | Error::Declined(_)
            | Error::WorkerLost
            | Error::Internal { .. }
            | Error::Unlucky { .. }
            | Error::Garble(_)
            | Error::Unfinished(_)
            | Error::Unsettled { .. }
            | Error::State { .. }
            | Error::NotKept { .. }
            | Error::Stored { .. }
            | Error::Material { .. }
            | Error::OtherRun { .. }
            | Error::Over => false,
        }
    }

    fn advice(&self) -> Option<Advice> {
        Some(match self {
            Error::Net(error) => return error.advice(),
            Error::Ot(_) | Error::Commit(_) => return self.net().map_or_else(|| of_check(self), Explain::advice),
            Error::Store(error) => return error.advice(),
            Error::Peer { source, .. } => return source.advice(),
            Error::NotPrepared(NotPrepared::UnknownComponent { .. }) => Advice::AddToLibrary,
            Error::NotPrepared(NotPrepared::Missing(_) | NotPrepared::NoRun { .. }) => Advice::FillStores,
            Error::Cheating(_) | Error::Corrupted(_) | Error::NoMajority(_) => Advice::KeepEvidence,
            Error::Unattributed(_) => Advice::CompareReports,
            Error::Garble(_) | Error::Material { .. } => Advice::OtherProgram,
            Error::Suspected(_) => Advice::LeaveSuspect,
            Error::Refused(_) => Advice::AskWhoIsNamed,
            Error::Rejected(_) => Advice::ServersMayHaveResults,
            Error::NotGivenUp { .. } => Advice::RemoveStore,
            Error::Unfinished(unfinished) => {
                Advice::AllowUnfinished { folder: unfinished.folder.display().to_string() }
            }
            Error::Unsettled { .. } => Advice::SettleCheck,
            Error::State { problem, .. } => of_state(*problem),
            Error::KeepsTooMuch { .. } => Advice::KeepLess,
            Error::OtherRun { .. } => Advice::StartAnew,
            Error::Over => Advice::NewSession,
            // These explain themselves; those of files name the place.
            Error::Library(_)
            | Error::Unlucky { .. }
            | Error::Internal { .. }
            | Error::KeptName { .. }
            | Error::Unsupported { .. }
            | Error::Input { .. }
            | Error::Order { .. }
            | Error::NoSuchParty { .. }
            | Error::Declined(_)
            | Error::WorkerLost
            | Error::NotKept { .. }
            | Error::Stored { .. } => return None,
        })
    }
}

/// The remedy for what a check of oblivious transfer or commitments has found: damage in transit may look like meaningless bytes.
fn of_check(error: &Error) -> Option<Advice> {
    match error.is_evidence() {
        true => Some(Advice::KeepEvidence),
        false => (error.class() == Class::Misbehaviour).then_some(Advice::OtherProgram),
    }
}

fn of_state(problem: StateProblem) -> Advice {
    match problem {
        StateProblem::Missing => Advice::KeepState,
        StateProblem::Stale => Advice::PrepareAfter,
        StateProblem::Version { .. } => Advice::PrepareAgain,
        StateProblem::Closed => Advice::OtherState,
        StateProblem::Failures { .. } => Advice::AllowRuns,
        StateProblem::Unreadable => Advice::RightVersionOfState,
        StateProblem::Behind { .. } | StateProblem::OtherHistory { .. } => Advice::DealNothing,
        StateProblem::Unlike { .. } => Advice::DropState,
        StateProblem::Apart { .. } | StateProblem::Forked { .. } => Advice::FindServer,
    }
}

impl Explain for NetError {
    fn class(&self) -> Class {
        self.into()
    }

    fn is_wrong_call(&self) -> bool {
        matches!(self, NetError::NotAnAddress { .. } | NetError::AddressInUse { .. } | NetError::UnknownHost { .. })
    }

    fn advice(&self) -> Option<Advice> {
        Some(match self {
            NetError::NotAnAddress { address } => match address.trim_start_matches(':').parse() {
                Ok(port) => Advice::HostOfPort { port },
                Err(_) => Advice::HostAndPort,
            },
            NetError::AddressInUse { .. } => Advice::OtherPort,
            NetError::CannotConnect { .. } => Advice::ReachPeer,
            NetError::AcceptTimeout { refused, .. } if refused.is_empty() => Advice::AwaitPeer,
            NetError::AcceptTimeout { .. } => Advice::AwaitPeerOrRefused,
            NetError::UnknownIdentity { got, .. } => Advice::TrustPeer { fingerprint: got.to_string() },
            NetError::IdentityRejected { ours } => Advice::BeTrusted { fingerprint: ours.to_string() },
            NetError::Refused { refusal } => of_refusal(*refusal),
            NetError::OtherSession { .. } => Advice::SameSession,
            NetError::Incompatible { differences } => {
                let differ = |field: &str| differences.iter().any(|of| of.field == field);
                // A party whose program is from elsewhere says nothing of gates.
                let is_gates = |of: &Difference| {
                    of.field == "gates" && [&of.ours, &of.theirs].iter().all(|gates| *gates != "nothing")
                };
                let is_amount = |of: &Difference| [AMOUNTS, COUNT, COUNTS, LOW_WATER].contains(&&of.field[..]);
                match () {
                    () if differ(WIRE) => Advice::SameWire,
                    () if differ(JOB) => Advice::SameJob,
                    () if differences.iter().any(is_gates) => Advice::SameGates,
                    () if !differences.is_empty() && differences.iter().all(is_amount) => Advice::SameAmounts,
                    () => Advice::SameRun,
                }
            }
            NetError::TlsMismatch { .. } => Advice::SameTls,
            NetError::Malformed { .. } | NetError::TooLarge { .. } | NetError::Unexpected { .. } => {
                Advice::OtherProgram
            }
            NetError::Tampered { .. } => Advice::ChangedOnTheWay,
            NetError::Timeout { .. } => Advice::SilentPeer,
            NetError::TooSlow { .. } => Advice::SlowPeer,
            NetError::PeerClosed { .. } | NetError::PeerAborted { .. } => Advice::PeersMessages,
            NetError::PeerBlames { blame, .. } => Advice::MessagesOf { party: blame.party },
            NetError::PeerBlamesUs { .. } => Advice::MessagesOfAccuser,
            NetError::DuplicateParty { .. } => Advice::OwnNumbers,
            NetError::UnknownHost { .. }
            | NetError::Unsendable { .. }
            | NetError::CutOff
            | NetError::GivenUp
            | NetError::Io { .. } => return None,
        })
    }
}

/// The remedy for a caller that a service has refused.
fn of_refusal(refusal: Refusal) -> Advice {
    match refusal {
        Refusal::Busy | Refusal::TooManyOfCaller => Advice::TryLater,
        Refusal::Stopping => Advice::TryWhenBack,
        Refusal::UnknownJob => Advice::NameJob,
        Refusal::UsedUp { .. } => Advice::AskForMore,
        Refusal::NoData => Advice::OperatorHasNoData,
        Refusal::SessionInUse => Advice::OwnSessionName,
        Refusal::Nameless => Advice::NameSession,
        Refusal::Closed => Advice::TellOperator,
    }
}

#[cfg(feature = "tcp")]
impl Explain for MeshError {
    fn class(&self) -> Class {
        match self {
            MeshError::Own(error) | MeshError::Party(PartyError { source: error, .. }) => error.class(),
            MeshError::Missing { .. } => Class::Network,
        }
    }

    fn is_wrong_call(&self) -> bool {
        match self {
            MeshError::Own(error) | MeshError::Party(PartyError { source: error, .. }) => error.is_wrong_call(),
            MeshError::Missing { .. } => false,
        }
    }

    fn advice(&self) -> Option<Advice> {
        match self {
            MeshError::Party(PartyError {
                source: NetError::UnknownIdentity { .. } | NetError::IdentityRejected { .. },
                ..
            }) => Some(Advice::SamePeersFile),
            MeshError::Own(error) | MeshError::Party(PartyError { source: error, .. }) => error.advice(),
            MeshError::Missing { .. } => Some(Advice::StartMissing),
        }
    }
}

impl Explain for StoreError {
    fn class(&self) -> Class {
        self.into()
    }

    fn is_wrong_call(&self) -> bool {
        matches!(
            self,
            StoreError::Missing { .. }
                | StoreError::Exists { .. }
                | StoreError::Exposed { .. }
                | StoreError::KeyMissing { .. }
                | StoreError::KeyMalformed { .. }
                | StoreError::WrongKey { .. }
                | StoreError::OtherFormat { .. }
                | StoreError::OtherBinding { .. }
        )
    }

    fn advice(&self) -> Option<Advice> {
        Some(match self {
            StoreError::Missing { folder } => Advice::MakeStore { folder: folder.display().to_string() },
            StoreError::Exists { .. } => Advice::NewFolder,
            StoreError::InUse { .. } => Advice::OwnStore,
            StoreError::Exposed { path, expected, .. } => {
                Advice::KeepFromOthers { path: path.display().to_string(), mode: *expected }
            }
            StoreError::KeyMissing { .. } => Advice::FindKey,
            StoreError::WrongKey { .. } => Advice::RightKey,
            StoreError::OtherFormat { .. } => Advice::RightVersion,
            StoreError::OtherBinding { .. } => Advice::RightStore,
            StoreError::OtherPeerStore { .. } | StoreError::OtherStore { .. } | StoreError::Twice { .. } => {
                Advice::StoresTogether
            }
            StoreError::RolledBack { .. } => Advice::NewStoresIfRestored,
            StoreError::PeerRolledBack { .. } | StoreError::Restored { .. } => Advice::NewStores,
            StoreError::PeerAhead { .. } | StoreError::PeerKinds { .. } | StoreError::Apart { .. } => {
                Advice::OtherProgram
            }
            StoreError::Forked { record, .. } => Advice::ForgetRecord { record: record.display().to_string() },
            StoreError::GivenUp { .. } => Advice::RemoveGivenUp,
            StoreError::CopyInUse { .. } => Advice::RemoveCopy,
            StoreError::Damaged { .. } => Advice::VerifyStore,
            StoreError::Linked { .. } => Advice::ReplaceLink,
            StoreError::Io { .. } if self.is_of_scratch() => Advice::MakeRoom,
            StoreError::Broken => Advice::OpenAgain,
            StoreError::OtherProcess { .. } => Advice::OpenInProcess,
            StoreError::KeyMalformed { .. }
            | StoreError::NotMarked { .. }
            | StoreError::NotEnough { .. }
            | StoreError::NotThere { .. }
            | StoreError::IdUsed { .. }
            | StoreError::TooLarge { .. }
            | StoreError::TooManyKinds { .. }
            | StoreError::Io { .. }
            | StoreError::NoDatabase { .. }
            | StoreError::Index { .. } => return None,
        })
    }
}

impl Explain for IdentityError {
    fn class(&self) -> Class {
        Class::Call
    }

    fn is_wrong_call(&self) -> bool {
        true
    }

    fn advice(&self) -> Option<Advice> {
        match self {
            IdentityError::Exists { .. } => Some(Advice::UseIdentity),
            IdentityError::Missing { .. } => Some(Advice::MakeIdentity),
            IdentityError::Exposed { path, .. } => {
                Some(Advice::KeepFromOthers { path: path.display().to_string(), mode: 0o600 })
            }
            IdentityError::Malformed { .. } => Some(Advice::NameIdentity),
            IdentityError::Io { .. } => None,
        }
    }
}

impl Explain for PeersFileError {
    fn class(&self) -> Class {
        Class::Call
    }

    fn is_wrong_call(&self) -> bool {
        true
    }

    fn advice(&self) -> Option<Advice> {
        match self.fault {
            PeersFileFault::Unreadable | PeersFileFault::Address => None,
            PeersFileFault::Form => Some(Advice::PeersFileForm),
            PeersFileFault::Format => Some(Advice::Update),
            PeersFileFault::Fingerprint => Some(Advice::PrintFingerprint),
            PeersFileFault::SameAddress => Some(Advice::OwnAddresses),
            PeersFileFault::SameFingerprint => Some(Advice::OwnIdentities),
            PeersFileFault::SomeFingerprints => Some(Advice::AllFingerprints),
        }
    }
}

#[cfg(feature = "lang")]
impl Explain for crate::Panicked {
    fn class(&self) -> Class {
        Class::Panic
    }

    fn is_wrong_call(&self) -> bool {
        false
    }

    fn advice(&self) -> Option<Advice> {
        Some(Advice::OtherInputs)
    }
}
