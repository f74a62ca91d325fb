//! The errors of the library as failures of the command, with hints at what to do about them.

use garblet::{Adversary, Error, NotPrepared, Protocol, StateProblem, store::StoreError};
use garblet_net::{IdentityError, JOB, MeshError, NetError, PartyError, PeersFileError, PeersFileFault, Refusal};

use crate::failure::{Class, Failure, Status};

/// The failure that a protocol's error is to the user.
pub(crate) fn explain(error: &Error) -> Failure {
    if let Some(error) = error.net() {
        return net_failure(error);
    }
    let failure = match error {
        Error::Store(error) => store_failure(error),
        Error::Library(diagnostics) => Failure::diagnosed(diagnostics.clone()),
        Error::NotPrepared(NotPrepared::UnknownComponent { .. }) => {
            Failure::call(error).hint("add it to the library file; a store is filled for one library")
        }
        Error::NotPrepared(_) => {
            Failure::no_result(error).hint(
                "`garblet prepare` makes more for the store, --stock says how much of what; --top-up makes it during the run",
            )
        }
        Error::NotGivenUp { .. } => Failure {
            condemned: true,
            ..Failure::no_result(error).hint("remove the store before anything else is done with it, and keep the message")
        },
        Error::Rejected(_) => Failure::no_result(error).hint(
            "the servers have computed and may have results: give them nothing more until they know which of them it was",
        ),
        Error::Refused(_) => Failure::no_result(error)
            .hint("nothing was computed from any input, and all may run it again; who is in every refusal is to be asked"),
        Error::Unfinished(unfinished) => Failure::no_result(error).hint(format!(
            "a peer that cheats does so; if it was the network or this machine, `garblet store allow {}` goes on",
            unfinished.folder.display()
        )),
        Error::Unsettled { .. } => Failure::no_result(error).hint(
            "meet the peer with the stores that made these triples; if one of them is lost, both parties remove theirs and begin anew",
        ),
        Error::State { problem, .. } => Failure::no_result(error).hint(match problem {
            StateProblem::Missing => "a run with `--keep` makes one; `garblet store list` shows those that there are",
            StateProblem::Version { .. } => "another run was faster: prepare and run again",
            StateProblem::Closed => "keep another under a new name; `garblet store list` shows what either server has",
            StateProblem::Failures { .. } => "keep another under a new name, when it is known why runs did not end",
            StateProblem::Unreadable => "use the version of Garblet that made it",
            StateProblem::Behind { .. } | StateProblem::OtherHistory { .. } => {
                "both servers were put back to an earlier time, or lie: deal nothing to them until they have explained it"
            }
            StateProblem::Unlike { .. } => "drop the state at both servers, and begin with another",
            StateProblem::Apart { .. } | StateProblem::Forked { .. } => {
                "find out which server was put back to an earlier time, or lies, before another state is made"
            }
        }),
        Error::OtherRun { .. } => Failure::no_result(error).hint(
            "nothing of an input was given away; one party's program has lost or skipped a run, so all start anew together",
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
    };
    class(error).into_iter().fold(failure, Failure::of_class)
}

/// The class of an error that is neither the network's nor another error's.
fn class(error: &Error) -> Option<Class> {
    match error {
        Error::Corrupted(_)
        | Error::Cheating(_)
        | Error::NoMajority(_)
        | Error::Suspected(_)
        | Error::Rejected(_)
        | Error::Refused(_) => Some(Class::Misbehaviour),
        Error::NotPrepared(_)
        | Error::Unfinished(_)
        | Error::Unsettled { .. }
        | Error::NotGivenUp { .. }
        | Error::State { .. } => Some(Class::Store),
        _ => None,
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
    Failure { hint: net_hint(error), secondary, class: net_class(error), ..failure }
}

fn net_class(error: &NetError) -> Class {
    match error {
        NetError::Incompatible { .. } | NetError::DuplicateParty { .. } | NetError::Refused { .. } => {
            Class::Disagreement
        }
        NetError::UnknownIdentity { .. } | NetError::IdentityRejected { .. } | NetError::TlsMismatch { .. } => {
            Class::Identity
        }
        NetError::Malformed { .. }
        | NetError::TooLarge { .. }
        | NetError::Unexpected { .. }
        | NetError::Tampered { .. } => Class::Misbehaviour,
        NetError::NotAnAddress { .. } => Class::Call,
        _ => Class::Network,
    }
}

/// Advice behind the reason for which somebody who has connected is refused.
pub(crate) fn refusal_hint(error: &NetError) -> Option<String> {
    let of_use = matches!(
        error,
        NetError::UnknownIdentity { .. }
            | NetError::IdentityRejected { .. }
            | NetError::Malformed { .. }
            | NetError::TlsMismatch { .. }
    );
    net_hint(error).filter(|_| of_use)
}

/// Advice to a caller whom a service has refused.
fn of_refusal(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Busy | Refusal::TooManyOfCaller => "nothing was computed and nothing is counted: try again later",
        Refusal::Stopping => "nothing was computed: try again when it is back",
        Refusal::UnknownJob => {
            "give --job FILE, the job that both sides have (compare `garblet job show`); its operator decides who may run it"
        }
        Refusal::UsedUp { .. } => "its operator decides how often: wait, or ask for more",
        Refusal::NoData => "its operator's log says what is missing",
        Refusal::SessionInUse => "give every session a name of its own",
        Refusal::Nameless => "give --session NAME, the same for all parties and new each time",
        Refusal::Closed => "tell its operator, whose log says what is wrong",
    }
}

/// Advice on a connection, where what to do is not plain.
fn net_hint(error: &NetError) -> Option<String> {
    Some(match error {
        NetError::NotAnAddress { address } => {
            let port = address.trim_start_matches(':');
            port.parse::<u16>().ok().map(|port| {
                format!(
                    "for instance 0.0.0.0:{port} to listen on every interface, 127.0.0.1:{port} on this machine alone"
                )
            })?
        }
        NetError::AddressInUse { .. } => {
            "another run may not have ended yet; choose another port, or port 0 for any free one".into()
        }
        NetError::CannotConnect { .. } => {
            "start the peer, check the address and that no firewall is between; the listening side may be started later"
                .into()
        }
        NetError::AcceptTimeout { refused, .. } if refused.is_empty() => "start the peer with our address".into(),
        NetError::AcceptTimeout { .. } => {
            "start the peer with our address; if it is among the refused, what is said there is why".into()
        }
        NetError::UnknownIdentity { got, .. } => format!(
            "if the peer itself, asked by another way, reads this fingerprint to you: garblet trust add NAME {got}"
        ),
        NetError::IdentityRejected { ours } => {
            format!("read it to the peer by another way, who then runs: garblet trust add NAME {ours}")
        }
        NetError::Refused { refusal } => return Some(of_refusal(*refusal).into()),
        NetError::OtherSession { .. } => "give all parties of a session the same --session".into(),
        NetError::Incompatible { differences } if differences.iter().any(|difference| difference.field == JOB) => {
            "run under the same job, both with --job FILE: `garblet job show` prints what the digest of a file covers"
                .into()
        }
        NetError::Incompatible { .. } => {
            "give both parties the same version, program and options, and each its own party number".into()
        }
        NetError::TlsMismatch { .. } => "let both sides use TLS, or neither: --insecure-plain-tcp is for both".into(),
        NetError::Malformed { .. } | NetError::TooLarge { .. } | NetError::Unexpected { .. } => {
            "the peer is another program, or does not follow the protocol: check what is at its address".into()
        }
        NetError::Tampered { .. } => "somebody between the two changes what is sent; nothing of it was used".into(),
        NetError::Timeout { .. } => "the peer may be stopped, overloaded, or cut off".into(),
        NetError::TooSlow { .. } => {
            "the link to the peer is too slow, or the peer is; where it only stalls now and then, raise --timeout"
                .into()
        }
        NetError::PeerClosed { .. } | NetError::PeerAborted { .. } => "look at the peer's own messages".into(),
        NetError::PeerBlames { blame, .. } => {
            format!("look at the messages of party {} and of those who say so", blame.party)
        }
        NetError::PeerBlamesUs { .. } => "look at the messages of the party that says so".into(),
        NetError::DuplicateParty { .. } => "give each party a number of its own, and start each once".into(),
        _ => return None,
    })
}

/// Parties that do not come together.
pub(crate) fn mesh_failure(error: &MeshError) -> Failure {
    let failure = match error {
        MeshError::Own(error) | MeshError::Party(PartyError { source: error, .. }) => net_failure(error),
        MeshError::Missing { .. } => Failure::no_result(error).of_class(Class::Network),
    };
    Failure { message: Failure::call(error).message, hint: mesh_hint(error), ..failure }
}

/// Advice on parties that do not come together.
fn mesh_hint(error: &MeshError) -> Option<String> {
    match error {
        MeshError::Party(PartyError { source, .. }) => match source {
            NetError::UnknownIdentity { .. } | NetError::IdentityRejected { .. } => Some(
                "compare the fingerprints of the peers files: give all parties the same file, and each its own identity"
                    .into(),
            ),
            other => net_hint(other),
        },
        MeshError::Own(error) => net_hint(error),
        MeshError::Missing { .. } => Some(
            "start the missing parties, check the addresses in the peers file and that no firewall is between"
                .into(),
        ),
    }
}

/// A file that does not say where the parties are.
pub(crate) fn peers_file_failure(error: &PeersFileError) -> Failure {
    let hint = match error.fault {
        PeersFileFault::Unreadable | PeersFileFault::Address => return Failure::call(error),
        PeersFileFault::Form => {
            "one table per party, in order: [[party]] with address = \"HOST:PORT\" and fingerprint = \"...\""
        }
        PeersFileFault::Fingerprint => "garblet keygen prints a party's fingerprint",
        PeersFileFault::SameAddress => "each party listens on an address of its own",
        PeersFileFault::SameFingerprint => "each party has an identity of its own: garblet keygen makes one",
        PeersFileFault::SomeFingerprints => "give every party its fingerprint; or none, for plain TCP",
    };
    Failure::call(error).hint(hint)
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
    Failure { status, hint: store_hint(error), class: Class::Store, ..Failure::no_result(error) }
}

/// Advice on a store, where what to do is not plain.
fn store_hint(error: &StoreError) -> Option<String> {
    Some(match error {
        StoreError::Missing { folder } => format!("make one with `garblet store init {}`", folder.display()),
        StoreError::Exists { .. } => "name a new folder, or an empty one".into(),
        StoreError::InUse { .. } => "wait until it is done, or give each process a store of its own".into(),
        StoreError::Exposed { path, expected, .. } => format!("chmod {expected:03o} {}", path.display()),
        StoreError::KeyMissing { .. } => "a store can be opened only with the key that it was made with".into(),
        StoreError::WrongKey { .. } => "give the key file that the store was made with".into(),
        StoreError::OtherFormat { .. } => "use it with the version that made it, or remove it and prepare".into(),
        StoreError::OtherBinding { .. } => "give the other store, or a new folder to prepare anew".into(),
        StoreError::OtherPeerStore { .. } | StoreError::OtherStore { .. } => {
            "name the two stores that were filled together, or let both parties begin with new ones".into()
        }
        StoreError::RolledBack { .. } => {
            "so the other party says: a store must not be restored from a backup, as its pieces could be used twice. If this one was, let both parties \
             begin with new stores, and servers that answer clients also with a new service value; if not, ask the other party"
                .into()
        }
        StoreError::PeerRolledBack { .. } | StoreError::Restored { .. } => {
            "a store must not be restored from a backup, as its pieces could be used twice: \
             let both parties begin with new stores"
                .into()
        }
        StoreError::Forked { record, .. } => format!(
            "pieces could be used twice: let both parties begin with new stores; only if no copy of the store was ever used, as when it was \
             moved to another machine and back, remove {}",
            record.display()
        ),
        StoreError::CopyInUse { .. } => "there must be one of a store: remove the copy".into(),
        StoreError::Damaged { .. } => {
            "`garblet store verify` names the pieces that are lost; if the index itself is damaged, let both \
             parties begin with new stores"
                .into()
        }
        StoreError::Io { .. } if error.is_of_scratch() => {
            "what a run cannot have in memory goes there: name a folder with room for it in TMPDIR".into()
        }
        StoreError::Broken => "open the store again: what is on disk counts".into(),
        StoreError::OtherProcess { .. } => "open the store in the process that uses it".into(),
        _ => return None,
    })
}

/// An identity that cannot be loaded or saved.
pub(crate) fn identity_failure(error: &IdentityError) -> Failure {
    Failure { hint: identity_hint(error), ..Failure::call(error) }
}

/// Advice on an identity, where what to do is not plain.
fn identity_hint(error: &IdentityError) -> Option<String> {
    match error {
        IdentityError::Exists { .. } => Some("use it, or move it away first: peers know it by its fingerprint".into()),
        IdentityError::Missing { .. } => Some("make one with `garblet keygen`".into()),
        IdentityError::Exposed { path, .. } => Some(format!("chmod 600 {}", path.display())),
        IdentityError::Malformed { .. } => {
            Some("name the file that `garblet keygen` wrote; if it is lost, make another and tell peers".into())
        }
        IdentityError::Io { .. } => None,
    }
}

/// The protocols for three parties and more, in place of a protocol of two.
pub(crate) fn several_hint(two: Protocol) -> String {
    let asked = two.adversary();
    if asked == Adversary::SemiHonest {
        return "--protocol gmw has more".into();
    }
    let several = Protocol::ALL.iter().copied().filter(|several| several.is_mesh());
    let (enough, weaker): (Vec<Protocol>, Vec<Protocol>) = several.partition(|several| several.adversary() >= asked);
    let names = |of: &[Protocol]| of.iter().map(|protocol| protocol.name()).collect::<Vec<_>>().join(", ");
    let withstands = match &enough[..] {
        [] => format!("no protocol for three or more parties withstands {asked} ones"),
        some => format!(
            "with three or more parties --protocol {} withstands {asked} ones, unless both its servers work together",
            names(some)
        ),
    };
    format!("{withstands}; {} are for semi-honest parties", names(&weaker))
}

#[cfg(test)]
mod tests {
    use std::{path::PathBuf, time::Duration};

    use garblet::{Party, Refused, Rejected};
    use garblet_net::{Fingerprint, Identity};

    use super::*;

    const AFTER: Duration = Duration::from_secs(1);

    fn fingerprint() -> Fingerprint {
        Identity::generate(&mut rand::rng()).fingerprint()
    }

    fn mismatch() -> NetError {
        NetError::TlsMismatch { what: "TLS handshake", expected: "TLS", got: "bytes that are no TLS".into() }
    }

    #[test]
    fn a_connection_that_fails_has_a_way_out() {
        let (address, got) = (String::from("127.0.0.1:1"), fingerprint());
        let refused = vec!["127.0.0.1:2: silent".to_string()];
        for (error, expected) in [
            (NetError::AddressInUse { address: address.clone() }, "choose another port".into()),
            (NetError::NotAnAddress { address: ":7000".into() }, "for instance 0.0.0.0:7000".into()),
            (NetError::AcceptTimeout { address, after: AFTER, refused }, "if it is among the refused".into()),
            (NetError::TooSlow { doing: "for data".into(), bytes: 1, after: AFTER }, "raise --timeout".into()),
            (NetError::UnknownIdentity { expected: "bob".into(), got }, format!("garblet trust add NAME {got}")),
            (NetError::IdentityRejected { ours: got }, format!("garblet trust add NAME {got}")),
            (mismatch(), "let both sides use TLS, or neither: --insecure-plain-tcp is for both".into()),
        ] {
            let hint = net_failure(&error).hint.expect("a way out");
            assert!(hint.contains(&expected), "{error}: {hint}");
        }
        assert_eq!(net_failure(&NetError::NotAnAddress { address: "there".into() }).hint, None);
    }

    #[test]
    fn a_refusal_has_advice_where_the_one_who_was_refused_may_be_the_peer() {
        let got = fingerprint();
        assert!(refusal_hint(&NetError::UnknownIdentity { expected: "bob".into(), got }).is_some());
        assert_eq!(refusal_hint(&mismatch()), net_failure(&mismatch()).hint);
        assert_eq!(refusal_hint(&NetError::Timeout { doing: "for hello".into(), after: AFTER }), None);
    }

    #[test]
    fn parties_that_do_not_come_together_have_a_way_out() {
        let stranger = || NetError::UnknownIdentity { expected: "party 1".into(), got: fingerprint() };
        let timeout = || NetError::Timeout { doing: "for hello".into(), after: AFTER };
        let missing = vec![(1, timeout())];
        for (error, expected) in [
            (MeshError::Missing { missing, after: AFTER, refused: Vec::new() }, "start the missing parties"),
            (MeshError::Party(PartyError { party: 1, source: stranger() }), "give all parties the same file"),
            (MeshError::Party(PartyError { party: 1, source: timeout() }), "the peer may be stopped"),
            (MeshError::Own(timeout()), "the peer may be stopped"),
        ] {
            let hint = mesh_failure(&error).hint.expect("a way out");
            assert!(hint.contains(expected), "{error}: {hint}");
        }
    }

    #[test]
    fn a_refusal_says_when_to_try_again_and_when_not() {
        let refused = Refused { what: "these words do not fit", parties: [Party(1), Party(3)] };
        let failure = explain(&Error::Refused(refused));
        assert_eq!(failure.message, "refused: these words do not fit; party 1 or party 3 lies");
        let hint = failure.hint.expect("a way out");
        assert!(hint.contains("all may run it again"), "{hint}");
        let rejected = Rejected { what: "these answers differ", parties: [Party(0), Party(3)] };
        let failure = explain(&Error::Rejected(rejected));
        assert_eq!(failure.message, "no result: these answers differ; party 0 or party 3 lies");
        let hint = failure.hint.expect("what to do");
        assert!(hint.contains("give them nothing more"), "{hint}");
    }

    #[test]
    fn an_identity_that_is_missing_can_be_made() {
        let failure = identity_failure(&IdentityError::Missing { path: "identity.pem".into() });
        assert_eq!(failure.hint.as_deref(), Some("make one with `garblet keygen`"));
    }

    #[test]
    fn a_store_that_cannot_be_used_has_a_way_out() {
        let path = PathBuf::from("stores/key");
        let source = std::io::Error::from(std::io::ErrorKind::NotFound);
        for (error, expected) in [
            (StoreError::Missing { folder: "stores".into() }, "make one with `garblet store init stores`"),
            (StoreError::Exposed { path, mode: 0o604, expected: 0o600 }, "chmod 600 stores/key"),
            (StoreError::RolledBack { expected: 2, got: 1 }, "must not be restored from a backup"),
            (StoreError::Io { doing: "cannot make", path: "tmp/garblet-1.scratch".into(), source }, "TMPDIR"),
        ] {
            let hint = store_failure(&error).hint.expect("a way out");
            assert!(hint.contains(expected), "{error}: {hint}");
        }
    }
}
