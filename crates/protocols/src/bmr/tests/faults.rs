//! Parties that fail, and sessions of several runs.

use std::time::Duration;

use garblet_circuit::{evaluate as evaluate_plain, library, random};
use garblet_net::testing::{Direction, Fault, FaultKind, PairFault, intercepted_mesh};
use rand::{SeedableRng, rngs::StdRng};

use super::*;

async fn whole_run(session: &mut MeshSession, plan: Arc<Plan>, inputs: &[Bits]) -> Result<(), ProtocolError> {
    let own = own_inputs(plan.program(), session.mesh().party(), inputs);
    let mut party = JointParty::setup(session, plan).await?;
    let prepared = party.prepare(session).await?;
    party.online(session, prepared, &own).await.map(|_| ())
}

/// Every kind of fault in a few frames of every kind, between parties 0 and 1 of all.
#[test]
fn a_party_that_fails_at_any_message_ends_the_run_for_all_with_a_named_cause() {
    let program = library::find("lib:millionaires(8)").expect("known");
    let inputs = random::inputs(&mut StdRng::seed_from_u64(2), &program);
    let full = std::env::var_os("GARBLET_TEST_FULL").is_some();
    for kind in [KINDS[0], KINDS[1], KINDS[2], KINDS[3]] {
        let plan = plan(&program, 3, config(kind, Hash::Rekeyed)).unwrap();
        let part = async |session: &mut MeshSession| whole_run(session, plan.clone(), &inputs).await;
        let run_with = |fault: Option<PairFault>| {
            block_on(async {
                let (meshes, transcripts) = intercepted_mesh(3, fault);
                (run(meshes, 7, Duration::from_millis(300), part).await, transcripts)
            })
        };
        let (done, transcripts) = run_with(None);
        assert!(done.iter().all(Result::is_ok));
        let frames = |direction| transcripts[0].1.frames().iter().filter(|frame| frame.direction == direction).count();
        for direction in [Direction::Forth, Direction::Back] {
            for frame in (0..frames(direction)).step_by(if full { 1 } else { 5 }) {
                for kind in [FaultKind::Cut, FaultKind::Truncate, FaultKind::Stall, FaultKind::Oversize] {
                    let fault = PairFault { low: 0, high: 1, fault: Fault { direction, frame, kind } };
                    let errors: Vec<_> = run_with(Some(fault)).0.into_iter().filter_map(Result::err).collect();
                    // The last message may be lost to one party alone.
                    assert!(!errors.is_empty(), "{fault:?}");
                    for error in errors {
                        let blame = error.blame().expect("somebody else");
                        assert!(blame.party < 2, "{fault:?}: {error}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_party_that_sends_too_little_or_too_much_ends_the_run_for_all_with_a_cause() {
    let programs = ["lib:add(48)", "lib:add(40)", "lib:add(56)"].map(|name| library::find(name).expect("known"));
    for kind in KINDS {
        let parties = *kind.0.parties().start().max(&3);
        let plans = programs.each_ref().map(|program| plan(program, parties, config(kind, Hash::Rekeyed)).unwrap());
        for wrong in [1, 2] {
            let part = async |session: &mut MeshSession| {
                // The last party has a circuit of another size, whatever it said.
                let of = if session.mesh().party() + 1 == parties { wrong } else { 0 };
                let inputs = random::inputs(&mut StdRng::seed_from_u64(2), &programs[of]);
                whole_run(session, plans[of].clone(), &inputs).await
            };
            let done = block_on(run(Mesh::memory(parties), 7, Duration::from_millis(500), part));
            for (party, done) in done.into_iter().enumerate() {
                let error = done.expect_err("bytes that do not fit");
                // Where the bytes happen to be enough, labels do not agree, and nobody can tell whose are wrong.
                // The wrong party may well accuse another, even the one that hears of it.
                // Bytes too many come before the number of the run, which is another then.
                let other_run = |source: &ProtocolError| matches!(source, ProtocolError::OtherRun { .. });
                let is_noticed = error.blame().is_some()
                    || matches!(&error, ProtocolError::Material { .. })
                    || matches!(&error, ProtocolError::Peer { source, .. } if other_run(source));
                assert!(is_noticed, "{kind:?}, party {party}: {error}");
            }
        }
    }
}

#[test]
fn several_runs_of_a_session_share_nothing() {
    let program = library::find("lib:millionaires(16)").expect("known");
    let inputs = random::inputs(&mut StdRng::seed_from_u64(2), &program);
    let expected = evaluate_plain(&program, &inputs);
    for kind in KINDS {
        let plan = plan(&program, 4, config(kind, Hash::Rekeyed)).unwrap();
        let part = async |session: &mut MeshSession| {
            let own = own_inputs(plan.program(), session.mesh().party(), &inputs);
            let mut party = JointParty::setup(session, plan.clone()).await?;
            let ahead = [party.prepare(session).await?, party.prepare(session).await?];
            let [first, second] = &ahead;
            // Gates are numbered on, and nothing of the circuits is alike.
            assert_eq!(second.numbered.first, first.numbered.first + plan.and_count() as u64);
            assert!(first.circuit.iter().zip(&second.circuit).all(|(a, b)| a != b));
            for prepared in ahead {
                assert_eq!(party.online(session, prepared, &own).await?, [Some(expected[0].clone())]);
            }
            Ok(())
        };
        block_on(run(Mesh::memory(4), 7, TIMEOUT, part)).into_iter().for_each(|done| done.expect("an honest run"));
    }
}

#[test]
fn inputs_that_do_not_fit_end_the_run_for_all() {
    let plan = plan(&library::find("lib:add(4)").expect("known"), 3, Config::default()).unwrap();
    let part = async |session: &mut MeshSession| {
        let values = if session.mesh().party() == 2 { vec![] } else { vec![Bits::zeros(5)] };
        let mut party = JointParty::setup(session, plan.clone()).await?;
        let prepared = party.prepare(session).await?;
        party.online(session, prepared, &values).await
    };
    let done = block_on(run(Mesh::memory(3), 7, TIMEOUT, part));
    let texts: Vec<String> = done.into_iter().map(|done| done.expect_err("does not fit").to_string()).collect();
    assert_eq!(texts[0], "input `a`: expected 4 bits, got 5 bits");
    assert!(texts[2].contains("the peer aborted"), "{}", texts[2]);
}
