//! Every error has a class, an exit status, an exception and a remedy, and the command, Python and pages agree on them.

use std::{collections::BTreeSet, io, path::PathBuf};

use garblet::{
    Advice, Class, Error, Explain, Panicked, Party,
    meet::MeetError,
    net::{
        Difference, Fingerprint, IdentityError, JOB, MeshError, NetError, PartyError, PeersFileError, PeersFileFault,
        WIRE,
    },
    store::{Kind, PieceId, StoreError},
};
use garblet_protocol as protocol;

use every::{errors, net_errors, text};
use python::Class as Exception;

#[path = "../../../console/src/words.rs"]
mod console;
#[path = "../../../protocol/src/class/tests/every.rs"]
#[allow(dead_code, reason = "the class's own tests use the rest")]
mod every;
#[path = "../../../party/src/words.rs"]
mod page;
#[path = "../../../python/src/words.rs"]
mod python;

fn path() -> PathBuf {
    "x".into()
}

fn no_room() -> io::Error {
    io::ErrorKind::StorageFull.into()
}

fn store_errors() -> Vec<StoreError> {
    let (folder, record, kind) = (path, path, || Kind::new("x", b"y"));
    vec![
        StoreError::Missing { folder: folder() },
        StoreError::Exists { folder: folder() },
        StoreError::InUse { folder: folder(), process: None },
        StoreError::Exposed { path: path(), mode: 0o644, expected: 0o600 },
        StoreError::KeyMissing { path: path() },
        StoreError::KeyMalformed { path: path(), got: text() },
        StoreError::WrongKey { folder: folder() },
        StoreError::OtherFormat { folder: folder(), what: text(), expected: 1, got: 2 },
        StoreError::OtherBinding { folder: folder(), what: "x", expected: text(), got: text() },
        StoreError::OtherPeerStore { expected: text(), got: text() },
        StoreError::OtherStore { expected: text(), got: text() },
        StoreError::PeerRolledBack { expected: 2, got: 1 },
        StoreError::PeerAhead { kind: kind(), max: PieceId(1), got: PieceId(2) },
        StoreError::Twice { store: text() },
        StoreError::Apart { kind: kind(), ahead: 1, least: PieceId(1), most: PieceId(2) },
        StoreError::PeerKinds { max: 1, got: 2 },
        StoreError::RolledBack { expected: 2, got: 1 },
        StoreError::Restored { folder: folder(), record: record(), expected: 2, got: 1 },
        StoreError::Forked { folder: folder(), record: record() },
        StoreError::GivenUp { folder: folder(), record: record() },
        StoreError::CopyInUse { folder: folder(), record: record() },
        StoreError::Damaged { what: text() },
        StoreError::Linked { path: path() },
        StoreError::Broken,
        StoreError::OtherProcess { process: 1 },
        StoreError::Io { doing: "cannot write", path: "x.scratch".into(), source: no_room() },
        StoreError::Io { doing: "cannot write", path: path(), source: no_room() },
        StoreError::NoDatabase { path: path() },
    ]
}

fn identity_errors() -> Vec<IdentityError> {
    vec![
        IdentityError::Exists { path: path() },
        IdentityError::Missing { path: path() },
        IdentityError::Exposed { path: path(), mode: 0o644 },
        IdentityError::Malformed { path: path(), got: text() },
    ]
}

fn peers_file_errors() -> Vec<PeersFileError> {
    let of = |fault| PeersFileError { path: path(), line: None, what: text(), fault };
    vec![
        of(PeersFileFault::Unreadable),
        of(PeersFileFault::Form),
        of(PeersFileFault::Format),
        of(PeersFileFault::Address),
        of(PeersFileFault::Fingerprint),
        of(PeersFileFault::SameAddress),
        of(PeersFileFault::SameFingerprint),
        of(PeersFileFault::SomeFingerprints),
    ]
}

fn mesh_errors() -> Vec<MeshError> {
    let of = |source| MeshError::Party(PartyError { party: 1, source });
    let missing = MeshError::Missing { missing: Vec::new(), after: std::time::Duration::ZERO, refused: Vec::new() };
    net_errors().into_iter().map(of).chain(net_errors().into_iter().map(MeshError::Own)).chain([missing]).collect()
}

fn meet_errors() -> Vec<MeetError> {
    let (address, print) = (text, Fingerprint::of_ed25519(&[1; 32]));
    vec![
        MeetError::Address(NetError::NotAnAddress { address: address() }),
        MeetError::Exposed { address: address(), exposure: "is not on this machine" },
        MeetError::NoSuchParty { party: Party(2), count: 2 },
        MeetError::OtherIdentity { party: Party(1), expected: print, got: print },
        MeetError::NoFingerprints,
        MeetError::NobodyTrusted,
        MeetError::SeveralAwaited { names: vec![text()] },
        MeetError::SeveralTrusted,
    ]
}

/// The errors of runs, those of stores among them.
fn run_errors() -> Vec<Error> {
    errors().into_iter().chain(store_errors().into_iter().map(Error::Store)).collect()
}

/// All errors that a front end explains.
fn all() -> Vec<Box<dyn Explain>> {
    fn boxed<E: Explain + 'static>(errors: Vec<E>) -> impl Iterator<Item = Box<dyn Explain>> {
        errors.into_iter().map(|error| Box::new(error) as Box<dyn Explain>)
    }
    let panicked = Panicked { place: None, rows: None, keeps: false };
    let met = boxed(net_errors()).chain(boxed(mesh_errors())).chain(boxed(peers_file_errors()));
    let met = met.chain(boxed(meet_errors()));
    let own = boxed(identity_errors()).chain(boxed(store_errors())).chain(boxed(vec![panicked]));
    boxed(run_errors()).chain(met).chain(own).collect()
}

fn all_advice() -> Vec<Advice> {
    all().iter().filter_map(|error| error.advice()).collect()
}

/// The deed itself, without the party that it was and the store that could not be given up.
fn deed(error: &Error) -> &Error {
    match error {
        Error::Peer { source, .. } | Error::NotGivenUp { source, .. } => deed(source),
        error => error,
    }
}

#[test]
fn every_remedy_is_that_of_an_error() {
    let reached: BTreeSet<&str> = all_advice().iter().map(Advice::name).collect();
    assert_eq!(reached, BTreeSet::from_iter(Advice::NAMES.iter().copied()));
}

/// Nothing else helps as long as wire versions differ.
#[test]
fn parties_of_different_wire_versions_are_told_who_has_to_update() {
    let differing = |fields: &[&str]| {
        let of = |field: &&str| Difference { field: (*field).into(), ours: "2 (garblet 0.1.0)".into(), theirs: text() };
        NetError::Incompatible { differences: fields.iter().map(of).collect() }.advice()
    };
    for fields in [&[WIRE][..], &[JOB, WIRE], &[WIRE, "scheme"]] {
        assert_eq!(differing(fields), Some(Advice::SameWire), "{fields:?}");
    }
    assert_eq!([differing(&[JOB]), differing(&["scheme"])], [Advice::SameJob, Advice::SameRun].map(Some));
}

#[test]
fn stores_ordered_with_other_amounts_have_a_remedy_of_their_own() {
    let advice = |fields: &[&str]| {
        let of = |field: &&str| Difference { field: (*field).into(), ours: text(), theirs: text() };
        NetError::Incompatible { differences: fields.iter().map(of).collect() }.advice()
    };
    for amounts in [&["amounts"][..], &["count"], &["counts", "low-water"]] {
        assert_eq!(advice(amounts), Some(Advice::SameAmounts), "{amounts:?}");
    }
    assert_eq!(advice(&["amounts", "scheme"]), Some(Advice::SameRun));
}

#[test]
fn other_gates_of_one_circuit_file_have_a_remedy_of_their_own() {
    let advice = |ours: &str, theirs: &str| {
        let of = |field: &str, ours: &str, theirs: &str| Difference {
            field: field.into(),
            ours: ours.into(),
            theirs: theirs.into(),
        };
        let differences = vec![of("program digest", "a", "b"), of("gates", ours, theirs), of("circuit", "a", "b")];
        NetError::Incompatible { differences }.advice()
    };
    assert_eq!(advice("optimised", "as in the file"), Some(Advice::SameGates));
    // The other program is from elsewhere.
    assert_eq!(advice("optimised", "nothing"), Some(Advice::SameRun));
}

#[test]
fn misbehaviour_has_a_remedy_and_evidence_is_to_be_kept() {
    for error in run_errors() {
        if error.class() == Class::Misbehaviour {
            assert!(error.advice().is_some(), "{error:?}");
        }
        if error.is_evidence() {
            let evidence = [Advice::KeepEvidence, Advice::CompareReports].map(Some);
            let kept = error.advice() == Some(Advice::RemoveStore) || evidence.contains(&error.advice());
            assert!(kept, "{error:?}: {:?}", error.advice());
            assert!(evidence.contains(&deed(&error).advice()), "{error:?}");
        }
    }
}

/// The exit status of the command, 2 for a call that is wrong, goes with the class.
#[test]
fn a_wrong_call_is_of_a_class_that_the_caller_can_mend() {
    for error in all() {
        let (class, is_wrong) = (error.class(), error.is_wrong_call());
        match class {
            Class::Call => assert!(is_wrong, "{:?}", error.advice()),
            Class::Network | Class::Store => {}
            Class::Disagreement | Class::Identity | Class::Misbehaviour | Class::Panic | Class::Other => {
                assert!(!is_wrong, "{:?}", error.advice());
            }
        }
    }
    let wrong = net_errors().into_iter().filter(Explain::is_wrong_call).map(|error| error.to_string());
    assert_eq!(wrong.count(), 4, "addresses: two that are none, one in use, one of an unknown host");
    assert_eq!(store_errors().iter().filter(|error| error.is_wrong_call()).count(), 8);
}

#[test]
fn exceptions_of_python_go_with_the_class() {
    for error in run_errors() {
        let exception = Exception::of_run(&error);
        let is_cheat = exception == Exception::CheatingError;
        // A store is given up over a peer that cheated, whatever else the list puts there.
        if matches!(error, Error::NotGivenUp { .. }) {
            assert!(is_cheat, "{error:?} is {exception:?}");
            continue;
        }
        let fits = match error.class() {
            Class::Misbehaviour => is_cheat || exception == Exception::PeerError,
            Class::Disagreement | Class::Identity => exception == Exception::PeerError,
            // An address that is wrong is the caller's fault, and what this machine refuses nobody's.
            Class::Network => {
                matches!(exception, Exception::PeerError | Exception::UsageError | Exception::GarbletError)
            }
            Class::Store => matches!(exception, Exception::StoreError | Exception::NotPreparedError),
            Class::Call => {
                matches!(exception, Exception::UsageError | Exception::InputError | Exception::CompileError)
            }
            Class::Panic => exception == Exception::Panicked,
            Class::Other => matches!(exception, Exception::GarbletError | Exception::UsageError),
        };
        assert!(fits, "{error:?} is {exception:?}");
        assert!(!error.is_evidence() || is_cheat, "{error:?} is {exception:?}");
    }
}

/// Refusals of the package itself take their class from the exception.
#[test]
fn exceptions_of_python_have_the_class_of_what_they_stand_for() {
    for class in [Class::Call, Class::Network, Class::Store, Class::Panic, Class::Other] {
        assert_eq!(Exception::of_cause(class).cause(), class);
    }
    assert_eq!(Exception::CheatingError.cause(), Class::Misbehaviour);
    assert_eq!(Exception::ReceiptError.cause(), Class::Other);
}

#[test]
fn neutral_words_name_no_option_and_own_words_do() {
    for advice in all_advice() {
        let words = advice.to_string();
        let names_option =
            ["--", "garblet ", "`", "=True", "Session", "Identity."].iter().find(|of| words.contains(**of));
        assert_eq!(names_option, None, "{words}");
        assert!(!words.ends_with('.') && words.len() > 5, "{words}");
        let names = |own: Option<String>, of: &[&str]| {
            own.is_none_or(|own| own != words && of.iter().any(|of| own.contains(of)))
        };
        assert!(names(console::own_words(&advice), &["--", "garblet "]), "{:?}", console::own_words(&advice));
        let calls = ["=", "Session.", "Store(", "Identity."];
        assert!(names(python::own_words(&advice), &calls), "{:?}", python::own_words(&advice));
        assert_ne!(page::own_words(&advice), Some(words));
    }
}
