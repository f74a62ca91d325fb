//! The errors of the library as failures of the command, with hints at what to do about them.

use garblet::{Adversary, Error, NotPrepared, Protocol, store::StoreError};
use garblet_net::{IdentityError, MeshError, NetError, PartyError};

use crate::failure::{Failure, Status};

/// The failure that a protocol's error is to the user.
pub(crate) fn explain(error: &Error) -> Failure {
    if let Some(error) = error.net() {
        return net_failure(error);
    }
    match error {
        Error::Store(error) => store_failure(error),
        Error::Library(diagnostics) => Failure::diagnosed(diagnostics.clone()),
        Error::NotPrepared(NotPrepared::UnknownComponent { .. }) => {
            Failure::call(error).hint("add it to the library file; a store is filled for one library")
        }
        Error::NotPrepared(_) => {
            Failure::no_result(error).hint("`garblet prepare` makes more for the store; --top-up makes it during the run")
        }
        Error::Unfinished(unfinished) => Failure::no_result(error).hint(format!(
            "a peer that cheats does so; if it was the network or this machine, `garblet store allow {}` goes on",
            unfinished.folder.display()
        )),
        Error::OtherRun { .. } => Failure::no_result(error).hint(
            "nothing of an input was given away; one party's program has lost or skipped a run, so start anew, all together",
        ),
        Error::Peer { party, source } => {
            let failure = explain(source);
            Failure { message: format!("party {party}: {}", failure.message), ..failure }
        }
        Error::Corrupted(_) | Error::Cheating(_) | Error::NoMajority(_) => Failure::no_result(error).hint(
            "the peer's program did not follow the protocol; no failure of the network does this, so keep the message",
        ),
        Error::Suspected(_) => Failure::no_result(error)
            .hint("if it happens again, do not run with this peer; without --param form it has no such way out"),
        Error::Unsupported { .. } | Error::Input { .. } | Error::Order { .. } | Error::NoSuchParty { .. } => Failure::call(error),
        _ => Failure::no_result(error),
    }
}

/// A connection that cannot be made or has failed.
pub(crate) fn net_failure(error: &NetError) -> Failure {
    let failure = match error {
        NetError::NotAnAddress { .. } | NetError::AddressInUse { .. } | NetError::UnknownHost { .. } => {
            Failure::call(error)
        }
        _ => Failure::no_result(error),
    };
    let secondary = matches!(
        error,
        NetError::PeerClosed { .. }
            | NetError::PeerAborted { .. }
            | NetError::PeerBlames { .. }
            | NetError::PeerBlamesUs { .. }
    );
    Failure { hint: error.hint(), secondary, ..failure }
}

/// Parties that do not come together.
pub(crate) fn mesh_failure(error: &MeshError) -> Failure {
    let failure = match error {
        MeshError::Own(error) | MeshError::Party(PartyError { source: error, .. }) => net_failure(error),
        MeshError::Missing { .. } => Failure::no_result(error),
    };
    Failure { status: failure.status, hint: error.hint(), secondary: failure.secondary, ..Failure::call(error) }
}

/// A store that cannot be used.
pub(crate) fn store_failure(error: &StoreError) -> Failure {
    let status = match error {
        StoreError::Missing { .. }
        | StoreError::Exists { .. }
        | StoreError::Exposed { .. }
        | StoreError::KeyMissing { .. }
        | StoreError::KeyMalformed { .. }
        | StoreError::WrongKey { .. }
        | StoreError::OtherFormat { .. }
        | StoreError::OtherBinding { .. } => Status::WrongCall,
        _ => Status::NoResult,
    };
    Failure { status, hint: error.hint(), ..Failure::no_result(error) }
}

/// An identity that cannot be loaded or saved.
pub(crate) fn identity_failure(error: &IdentityError) -> Failure {
    Failure { hint: error.hint(), ..Failure::call(error) }
}

/// The protocols for three parties and more, in place of a protocol of two.
pub(crate) fn several_hint(two: Protocol) -> String {
    let names: Vec<&str> =
        Protocol::ALL.iter().filter(|several| several.is_mesh()).map(|several| several.name()).collect();
    match two.adversary() {
        Adversary::SemiHonest => "--protocol gmw has more".into(),
        stronger => format!(
            "no protocol for three or more parties withstands {stronger} ones; {} are for semi-honest parties",
            names.join(", ")
        ),
    }
}
