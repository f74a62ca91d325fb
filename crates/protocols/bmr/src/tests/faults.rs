//! Parties that fail, and sessions of several runs.

use std::time::Duration;

use garblet_circuit::{evaluate as evaluate_plain, random};
use garblet_net::testing::FaultKind;
use garblet_synthesis::library;
use rand::{SeedableRng, rngs::StdRng};

use super::*;

async fn whole_run(session: &mut MeshSession, plan: Arc<Plan>, inputs: &[Bits]) -> Result<(), ProtocolError> {
    mesh_run::whole_run::<BmrParty>(session, plan, inputs).await.map(drop)
}

#[test]
fn a_party_that_fails_at_any_message_ends_the_run_for_all_with_a_named_cause() {
    let program = library::find("lib:millionaires(8)").expect("known");
    let inputs = random::inputs(&mut StdRng::seed_from_u64(2), &program);
    for kind in [KINDS[0], KINDS[1], KINDS[2], KINDS[3]] {
        let plan = plan(&program, 3, config(kind, Hash::Rekeyed)).unwrap();
        let part = async |session: &mut MeshSession| whole_run(session, plan.clone(), &inputs).await;
        let kinds = [FaultKind::Cut, FaultKind::Truncate, FaultKind::Stall, FaultKind::Oversize];
        mesh_run::assert_faults_end_the_run(5, &kinds, part);
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
                // The last party runs a circuit of another size than it announced.
                let of = if session.mesh().party() + 1 == parties { wrong } else { 0 };
                let inputs = random::inputs(&mut StdRng::seed_from_u64(2), &programs[of]);
                whole_run(session, plans[of].clone(), &inputs).await
            };
            let done = block_on(run(Mesh::memory(parties), 7, Duration::from_millis(500), part));
            for (party, done) in done.into_iter().enumerate() {
                let error = done.expect_err("bytes that do not fit");
                // Where the byte counts happen to match, labels disagree, and nobody can tell whose are wrong.
                // The faulty party may well accuse another, even the one that gets the accusation.
                // Excess bytes are read as the number of the run, which then differs.
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
            let mut party = BmrParty::setup(session, plan.clone()).await?;
            let ahead = [party.prepare(session).await?, party.prepare(session).await?];
            let [first, second] = &ahead;
            // Gate numbers continue, and the circuits have nothing in common.
            assert_eq!(second.numbered.first, first.numbered.first + plan.and_count() as u64);
            assert!(first.circuit.iter().zip(&second.circuit).all(|(a, b)| a != b));
            for prepared in ahead {
                assert_eq!(BmrParty::online(prepared, &plan, session, &own).await?, [Some(expected[0].clone())]);
            }
            Ok(())
        };
        block_on(run(Mesh::memory(4), 7, TIMEOUT, part)).into_iter().for_each(|done| done.expect("an honest run"));
    }
}

#[test]
fn inputs_that_do_not_fit_end_the_run_for_all() {
    let plan = plan(&library::find("lib:add(4)").expect("known"), 3, Config::default()).unwrap();
    mesh_run::assert_inputs_must_fit::<BmrParty>(&plan);
}
