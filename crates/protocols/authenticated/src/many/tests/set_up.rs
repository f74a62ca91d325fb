//! Set-ups of stores in which a check fails.

use std::path::Path;

use garblet_net::testing::{Direction, Fault, FaultKind, PairFault, PairTranscript, intercepted_pair};
use garblet_protocol::{kept, stock::SavedValues};

use super::*;
use crate::{
    many::{Drawing, ots::answer_bytes},
    tests::put_back::open,
};

/// A party that proves a difference wrongly.
#[derive(Clone, Copy)]
struct Lies(bool);

impl Conduct<Step> for Lies {
    fn touch(&mut self, step: Step, _: usize, bytes: &mut [u8]) {
        if self.0 && step == Step::DifferenceSums {
            bytes[0] ^= 1;
        }
    }
}

/// A first meeting of three stores in a folder, in which the last party may lie, and messages may be changed on their way.
fn meet(folder: &Path, (lies, faults): (bool, &[PairFault])) -> (Vec<Result<(), ProtocolError>>, Vec<PairTranscript>) {
    let plan = plan(product(), 3, ResultCheck::Tags);
    let part = async |session: &mut MeshSession| {
        let party = Party(session.mesh().party());
        let store = open(&folder.join(party.to_string()), party.0.into());
        let saved = SavedValues::default();
        let drawing = Drawing { store, peers: "all others", top_up: true, saved, retries: kept::RETRIES };
        Member::meet(session, plan.clone(), party, drawing, Any::new(Lies(lies && party == Party(2)))).await.map(drop)
    };
    block_on(async {
        let mut transcripts = Vec::new();
        let meshes = Mesh::of_pairs(3, |low, high| {
            let here = faults.iter().find(|fault| (fault.low, fault.high) == (low, high));
            let (one, two, transcript) = intercepted_pair(here.map(|here| here.fault));
            transcripts.push(((low, high), transcript));
            (one, two)
        });
        (mesh_run::run(meshes, 1, TIMEOUT, part).await, transcripts)
    })
}

/// Asserts that a party does not meet again with its store.
fn assert_is_given_up(folder: &Path, party: usize) {
    let (met, _) = meet(folder, (false, &[]));
    let error = met[party].as_ref().expect_err("it is given up");
    assert!(error.to_string().contains("the store was given up; remove it to begin anew"), "{error}");
}

/// In a set-up a cheat may guess bits of an honest difference. It has one try, as at any other time.
#[test]
fn a_store_is_given_up_when_a_check_of_its_set_up_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let (met, _) = meet(folder.path(), (true, &[]));
    for (party, met) in met[..2].iter().enumerate() {
        assert!(met.as_ref().is_err_and(ProtocolError::is_evidence), "{met:?}");
        assert_is_given_up(folder.path(), party);
    }
}

/// One cheat guesses wrongly, and another sends something malformed at the same time: what is malformed is no evidence, but the guess is.
#[test]
fn a_failed_check_is_not_hidden_behind_a_malformed_message_of_another() {
    let honest = tempfile::tempdir().expect("a folder");
    let (met, transcripts) = meet(honest.path(), (false, &[]));
    assert!(met.iter().all(Result::is_ok), "{met:?}");
    // The answer to the check of transfers is the last long message.
    let answer = |low, high, direction, kind| {
        let (_, transcript) = transcripts.iter().find(|(pair, _)| *pair == (low, high)).expect("a pair");
        let frames: Vec<_> = transcript.frames().into_iter().filter(|frame| frame.direction == direction).collect();
        let frame = frames.iter().rposition(|frame| frame.payload.len() >= answer_bytes(false)).expect("an answer");
        PairFault { low, high, fault: Fault { direction, frame, kind } }
    };
    let malformed = answer(0, 1, Direction::Forth, FaultKind::Oversize);
    let wrong = answer(1, 2, Direction::Back, FaultKind::Flip(8 * 64));
    for (faults, is_evidence) in [(&[malformed][..], false), (&[malformed, wrong], true)] {
        let folder = tempfile::tempdir().expect("a folder");
        let (met, _) = meet(folder.path(), (false, faults));
        let error = met[1].as_ref().expect_err("it is found");
        assert_eq!(error.is_evidence(), is_evidence, "{error}");
        let blame = error.blame().expect("somebody");
        assert_eq!(blame.party, if is_evidence { 2 } else { 0 }, "{error}");
        if is_evidence {
            assert_is_given_up(folder.path(), 1);
        }
    }
}
