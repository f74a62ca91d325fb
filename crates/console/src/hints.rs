//! Converts the library's errors into failures of the command, with hints.

#[cfg(feature = "system")]
mod meeting;

use std::fmt::Display;

use garblet::{
    Adversary, Advice, Collusion, Error, Explain, Panicked, Protocol,
    circuit::diagnostic::one_line,
    net::{IdentityError, NetError},
    store::StoreError,
};

#[cfg(feature = "system")]
pub(crate) use meeting::peers_file_failure;
#[cfg(feature = "system")]
pub use meeting::{meet_failure, mesh_failure};

use crate::{
    failure::{Failure, Status},
    surface::{Setting, surface},
};

/// The hint for a remedy.
fn words(advice: &Advice) -> String {
    one_line(&(surface().remedy)(advice).unwrap_or_else(|| advice.to_string())).into_owned()
}

/// An error as a failure for the user.
fn failure(error: &(impl Explain + Display)) -> Failure {
    let status = if error.is_wrong_call() { Status::WrongCall } else { Status::NoResult };
    let hint = error.advice().as_ref().map(words);
    Failure { status, hint, class: error.class(), ..Failure::call(error) }
}

/// A protocol's error as a failure for the user.
pub fn explain(error: &Error) -> Failure {
    match error {
        Error::Library(diagnostics) => Failure::diagnosed(diagnostics.clone()),
        Error::Peer { party, source } => {
            let failure = explain(source);
            Failure { message: format!("party {party}: {}", failure.message), ..failure }
        }
        Error::NotGivenUp { .. } => Failure { forbids_more_runs: true, ..failure(error) },
        _ => error.net().map_or_else(|| failure(error), net_failure),
    }
}

/// A connection that could not be made or has failed.
pub fn net_failure(error: &NetError) -> Failure {
    Failure { secondary: is_secondary(error), ..failure(error) }
}

/// Returns whether an error is only the effect of another party's failure.
fn is_secondary(error: &NetError) -> bool {
    matches!(
        error,
        NetError::PeerClosed { .. }
            | NetError::PeerAborted { .. }
            | NetError::PeerBlames { .. }
            | NetError::PeerBlamesUs { .. }
    )
}

/// Advice to follow the reason for refusing a caller.
pub fn refusal_hint(error: &NetError) -> Option<String> {
    let of_use = matches!(
        error,
        NetError::UnknownIdentity { .. }
            | NetError::IdentityRejected { .. }
            | NetError::Malformed { .. }
            | NetError::TlsMismatch { .. }
    );
    error.advice().as_ref().map(words).filter(|_| of_use)
}

/// A computation that has panicked.
pub fn panic_failure(error: &Panicked) -> Failure {
    failure(error)
}

/// An unusable store.
pub fn store_failure(error: &StoreError) -> Failure {
    failure(error)
}

/// An identity that cannot be loaded or saved.
pub fn identity_failure(error: &IdentityError) -> Failure {
    failure(error)
}

/// The protocols for three and more parties, instead of a two-party protocol.
pub fn several_hint(two: Protocol) -> String {
    let asked = two.adversary();
    if asked == Adversary::SemiHonest {
        return format!("{} has more", Setting::Protocol.with("gmw"));
    }
    let several = Protocol::ALL.iter().copied().filter(|several| several.is_mesh());
    let (enough, weaker): (Vec<Protocol>, Vec<Protocol>) = several.partition(|several| several.adversary() >= asked);
    let names = |of: &[Protocol]| of.iter().map(|protocol| protocol.name()).collect::<Vec<_>>().join(", ");
    let secure = match enough.split_first() {
        None => format!("no protocol for three or more parties is secure against {asked} parties"),
        Some((first, others)) => {
            let give = |protocol: &Protocol| Setting::Protocol.with(protocol);
            let others = others.iter().map(|other| format!("; {} is{}", give(other), condition(*other)));
            let first = format!("{} is secure against {asked} parties{}", give(first), condition(*first));
            format!("with three or more parties {first}{}", others.collect::<String>())
        }
    };
    format!("{secure}; {} are for semi-honest parties", names(&weaker))
}

/// The condition on the parties of a protocol.
fn condition(protocol: Protocol) -> &'static str {
    match protocol.collusion() {
        None => "",
        Some(Collusion::BothServers) => ", but only if its two servers do not collude",
        Some(Collusion::AnyTwo) => ", but only if no two of its three parties collude",
    }
}

#[cfg(test)]
mod tests {
    use std::{path::PathBuf, time::Duration};

    use garblet::net::{Fingerprint, Identity, MeshError, PartyError};
    use garblet::{Class, Party, Refused, Rejected};

    use super::*;

    const AFTER: Duration = Duration::from_secs(1);

    fn fingerprint() -> Fingerprint {
        Identity::generate(&mut rand::rng()).fingerprint()
    }

    fn mismatch() -> NetError {
        NetError::TlsMismatch { what: "TLS handshake", expected: "TLS", got: "bytes that are not TLS".into() }
    }

    #[test]
    fn a_failed_connection_has_a_hint() {
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
        let there = net_failure(&NetError::NotAnAddress { address: "there".into() });
        assert_eq!(there.hint.as_deref(), Some("for instance 127.0.0.1:7000, or port 0 for any free port"));
    }

    #[test]
    fn a_refusal_has_advice_if_the_caller_may_be_the_peer() {
        let got = fingerprint();
        assert!(refusal_hint(&NetError::UnknownIdentity { expected: "bob".into(), got }).is_some());
        assert_eq!(refusal_hint(&mismatch()), net_failure(&mismatch()).hint);
        assert_eq!(refusal_hint(&NetError::Timeout { doing: "for hello".into(), after: AFTER }), None);
    }

    #[test]
    fn parties_that_fail_to_meet_get_a_hint() {
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
    fn every_part_reports_cheating_as_such() {
        for error in [
            Error::Ot(garblet_ot::OtError::InconsistentTrees),
            Error::Commit(garblet_homcommit::CommitError::Inconsistent),
            Error::Commit(garblet_ot::OtError::WrongAnswer.into()),
        ] {
            let error = Error::Peer { party: Party(1), source: error.into() };
            let failure = explain(&error);
            assert_eq!(
                (failure.class, failure.hint),
                (Class::Misbehaviour, Some(Advice::KeepEvidence.to_string())),
                "{error}"
            );
        }
        let padding = Error::Ot(garblet_ot::OtError::NonZeroPadding { what: "bits", bits: 3 });
        assert_eq!(explain(&padding).hint, Some(Advice::OtherProgram.to_string()), "damage may look like that");
    }

    #[test]
    fn a_refusal_says_when_to_try_again_and_when_not() {
        let refused = Refused::new("these words do not fit", [Party(1), Party(3)]);
        let failure = explain(&Error::Refused(refused));
        assert_eq!(failure.message, "refused: these words do not fit; party 1 or party 3 lies");
        let hint = failure.hint.expect("a way out");
        assert!(hint.contains("all can run it again"), "{hint}");
        let rejected = Rejected { what: "these answers differ", parties: [Party(0), Party(3)] };
        let failure = explain(&Error::Rejected(rejected));
        assert_eq!(failure.message, "no result: these answers differ; party 0 or party 3 lies");
        let hint = failure.hint.expect("what to do");
        assert!(hint.contains("give them nothing more"), "{hint}");
    }

    #[test]
    fn a_missing_identity_has_a_hint_to_create_one() {
        let failure = identity_failure(&IdentityError::Missing { path: "identity.pem".into() });
        assert_eq!(failure.hint.as_deref(), Some("make one with `garblet keygen`"));
    }

    #[test]
    fn an_unusable_store_has_a_hint() {
        let path = PathBuf::from("stores/key");
        let source = std::io::Error::from(std::io::ErrorKind::NotFound);
        for (error, expected) in [
            (StoreError::Missing { folder: "stores".into() }, "make one with `garblet store init stores`"),
            (StoreError::Exposed { path, mode: 0o604, expected: 0o600 }, "chmod 600 stores/key"),
            (StoreError::RolledBack { expected: 2, got: 1 }, "never restore a store from a backup"),
            (StoreError::Io { doing: "cannot create", path: "tmp/garblet-1.scratch".into(), source }, "TMPDIR"),
        ] {
            let hint = store_failure(&error).hint.expect("a way out");
            assert!(hint.contains(expected), "{error}: {hint}");
        }
    }
}
