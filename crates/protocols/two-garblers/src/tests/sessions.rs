//! No run has the labels of another one.

use std::collections::BTreeSet;

use garblet_runs::testing::mesh_run::{run_recorded, sent};

use super::*;

/// The first bytes of the commitments of some runs: the seeds of hash keys, which derive from the seeds of the runs. Party `apart` has drawn from its generator
/// before it meets the others, as one that begins anew.
fn hash_seeds(plan: &Arc<Plan>, apart: Option<u16>, runs: usize) -> Vec<Vec<u8>> {
    let part = async |session: &mut MeshSession| {
        if apart == Some(session.mesh().party()) {
            session.rng().next_block();
        }
        let mut role = set_up(session, plan).await?;
        for _ in 0..runs {
            role.prepare(session).await?;
        }
        Ok(())
    };
    let (_, transcripts) = run_recorded(3, 5, part);
    let [first, _] = plan.garblers();
    let sent = sent(&transcripts, first.0, plan.evaluator().0);
    let commitments = &sent[2 * meeting::WORD_BYTES..];
    assert_eq!(commitments.len(), runs * commitments::message_bytes(plan));
    commitments.chunks(commitments::message_bytes(plan)).map(|run| run[..16].to_vec()).collect()
}

#[test]
fn seeds_differ_between_runs_and_with_the_nonce_of_any_party() {
    let program = circuit([1, 2, 3], vec![Gate::And(Wire(0), Wire(1))], vec![Wire(6)]);
    let plan = plan(&program, Build::Stream);
    let sessions = [None, Some(0), Some(1), Some(2)];
    let all: BTreeSet<Vec<u8>> = sessions.iter().flat_map(|apart| hash_seeds(&plan, *apart, 5)).collect();
    assert_eq!(all.len(), 20);
    assert_eq!(hash_seeds(&plan, Some(1), 2), hash_seeds(&plan, Some(1), 2), "the seeds decide everything");
}

#[test]
fn sessions_differ_with_nonces_program_and_parameter() {
    let nonces = [[1; 32], [2; 32], [3; 32]];
    let one = circuit([1, 1, 1], vec![Gate::And(Wire(0), Wire(1))], vec![Wire(3)]);
    let other = circuit([1, 1, 1], vec![Gate::And(Wire(0), Wire(2))], vec![Wire(3)]);
    let plans = [plan(&one, Build::Stream), plan(&one, Build::Ahead), plan(&other, Build::Stream)];
    let mut names: Vec<[u8; 32]> = Vec::new();
    for plan in &plans {
        let swapped = [nonces[1], nonces[0], nonces[2]];
        for nonces in [nonces, swapped, [[1; 32]; 3]] {
            names.push(plan.session(&nonces).domain(Party(0), 0).digest(b""));
        }
    }
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
}
