//! Every error that is evidence of cheating is in the class of misbehaviour.

use garblet_net::{Accuses, Cause, NetError};

use super::Class;
use crate as protocol;
use crate::{checks::Suspected, error::ProtocolError, kept::not_kept};
use every::{commit_errors, commit_place, errors, net_errors, net_place, ot_errors, ot_place, place, text};

mod every;

fn are_all(mut places: Vec<usize>, last: usize) {
    places.sort_unstable();
    places.dedup();
    assert_eq!(places, Vec::from_iter(0..=last), "a variant is missing in the list");
}

#[test]
fn the_lists_have_every_variant() {
    are_all(net_errors().iter().map(net_place).collect(), 25);
    are_all(ot_errors().iter().map(ot_place).collect(), 13);
    are_all(commit_errors().iter().map(commit_place).collect(), 5);
    are_all(errors().iter().map(place).collect(), 33);
}

#[test]
fn evidence_of_cheating_is_misbehaviour() {
    let evidence: Vec<ProtocolError> = errors().into_iter().filter(ProtocolError::is_evidence).collect();
    assert!(evidence.len() > 3 * 10, "{}", evidence.len());
    for error in evidence {
        assert_eq!(Class::from(&error), Class::Misbehaviour, "{error:?}");
    }
}

#[test]
fn an_accused_party_has_misbehaved() {
    for error in errors() {
        let accused =
            error.accuses(1).is_some_and(|blame| blame.cause == Cause::Misbehaved && blame.heard_from.is_none());
        if accused {
            // A party's claim about a third party is no proof.
            let is_word = matches!(error.net(), Some(NetError::PeerBlames { .. }));
            assert!(is_word || Class::from(&error) == Class::Misbehaviour, "{error:?}");
        }
    }
}

/// Nobody is accused of misbehaviour where a full disk, another version or a lost connection explains the error.
#[test]
fn errors_that_honest_parties_can_have_accuse_nobody() {
    let (expected, got) = (text(), text());
    for error in [not_kept("x"), ProtocolError::Stored { what: "x", expected, got }] {
        assert_eq!(Class::from(&error), Class::Store, "{error}");
        assert_eq!(error.accuses(1), None, "{error}");
        assert!(!error.is_evidence(), "{error}");
    }
    // Neither does a peer that was gone at the wrong moment.
    let source = NetError::PeerClosed { doing: text() };
    let suspected = ProtocolError::from(Suspected { source });
    assert_eq!(Class::from(&suspected), Class::Network);
    assert!(suspected.accuses(1).is_none_or(|blame| blame.cause != Cause::Misbehaved));
}

/// A bug or bad luck of this party is nobody else's fault, and not a network failure.
#[test]
fn bugs_and_bad_luck_have_their_own_class_and_accuse_nobody() {
    let own = [
        NetError::Unsendable { what: "x", why: text() }.into(),
        NetError::CutOff.into(),
        NetError::GivenUp.into(),
        ProtocolError::WorkerLost,
        ProtocolError::Internal { what: text() },
        ProtocolError::Unlucky { what: "x", log2: -40 },
    ];
    for error in own {
        assert_eq!(Class::from(&error), Class::Other, "{error}");
        assert_eq!(error.accuses(1), None, "{error}");
        assert!(!error.is_evidence(), "{error}");
    }
}

#[test]
fn a_class_displays_its_name() {
    for (class, name) in [
        (Class::Call, "call"),
        (Class::Network, "network"),
        (Class::Disagreement, "disagreement"),
        (Class::Identity, "identity"),
        (Class::Misbehaviour, "misbehaviour"),
        (Class::Store, "store"),
        (Class::Panic, "panic"),
        (Class::Other, "other"),
    ] {
        assert_eq!(class.name(), name);
    }
}
