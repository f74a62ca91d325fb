//! A garbler that falls silent or leaves ends the run for all, and no party hangs.

use std::time::Duration;

use garblet_net::testing::{Direction, Fault, FaultKind, PairFault, intercepted_mesh};
use garblet_runs::testing::is_full;

use super::*;

/// The patience of all parties.
const PATIENCE: Duration = Duration::from_millis(300);

fn small() -> Arc<Plan> {
    plan(&circuit([1, 1, 1], vec![Gate::And(Wire(0), Wire(1))], vec![Wire(3)]), Build::Stream)
}

async fn whole_run(session: &mut MeshSession, plan: &Arc<Plan>) -> Result<(), ProtocolError> {
    set_up(session, plan).await?.run(session, &[Bits::zeros(1)]).await.map(drop)
}

/// The ends of all parties, and the number of frames that went from the lower to the higher party of each pair, and back.
fn ends(fault: Option<PairFault>) -> (Vec<Result<(), ProtocolError>>, Vec<[usize; 2]>) {
    let plan = small();
    block_on(async {
        let (meshes, transcripts) = intercepted_mesh(3, fault);
        let part = async |session: &mut MeshSession| whole_run(session, &plan).await;
        let ends = mesh_run::run(meshes, 14, PATIENCE, part).await;
        let frames = |(_, transcript): &PairTranscript| {
            let frames = transcript.frames();
            [Direction::Forth, Direction::Back]
                .map(|direction| frames.iter().filter(|frame| frame.direction == direction).count())
        };
        (ends, transcripts.iter().map(frames).collect())
    })
}

/// Every message of a garbler, to the evaluator or to the other garbler, is missing once. The party that waits for it says so. The third party waits for one
/// of the two, or hears of it. The garbler itself ends too, but if only the other one misses something, it waits for the evaluator.
#[test]
fn a_garbler_that_falls_silent_ends_the_run_for_all() {
    let (honest, frames) = ends(None);
    assert!(honest.iter().all(Result::is_ok));
    let links = [
        (0, 1, Direction::Back, frames[0][1]),
        (0, 2, Direction::Back, frames[1][1]),
        (1, 2, Direction::Forth, frames[2][0]),
        (1, 2, Direction::Back, frames[2][1]),
    ];
    assert_eq!(links.map(|(_, _, _, frames)| frames), [9, 8, 4, 4]);
    for (low, high, direction, frames) in links {
        let (silent, waiting) = if direction == Direction::Forth { (low, high) } else { (high, low) };
        for frame in (0..frames).skip(1).step_by(if is_full() { 1 } else { 2 }) {
            let fault = PairFault { low, high, fault: Fault { direction, frame, kind: FaultKind::Stall } };
            let (ends, _) = ends(Some(fault));
            let expected = format!("party {silent}: no byte moved for 0.3 s while we waited for bulk data");
            let found = ends[usize::from(waiting)].as_ref().map_err(ToString::to_string);
            assert_eq!(found, Err(expected), "{fault:?}");
            for (party, end) in (0..).zip(&ends) {
                let blame = end.as_ref().expect_err("no result").blame().expect("somebody else");
                let is_end = [low, high].contains(&blame.party);
                assert!(is_end || party == silent, "{fault:?}, party {party} blames {blame:?}");
            }
        }
    }
}

#[test]
fn a_party_that_leaves_at_any_message_ends_the_run_for_all() {
    let plan = small();
    let part = async |session: &mut MeshSession| whole_run(session, &plan).await;
    mesh_run::assert_faults_end_the_run(2, &[FaultKind::Cut, FaultKind::Truncate, FaultKind::Oversize], part);
}
