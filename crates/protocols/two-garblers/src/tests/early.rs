//! An evaluator that has not dealt all shares yet learns nothing.

use garblet_protocol::{Phase, Role, run_id::RUN_ID_BYTES};

use super::*;

/// Runs of an evaluator that deals the first garbler its share and holds back the other one.
const RUNS: u64 = 64;

/// The garbler's bit as an evaluator would compute it from the messages of the first garbler alone, if it could read decoding bits. The output is the sum of
/// the bit and its own one.
async fn guess(session: &mut MeshSession, plan: &Arc<Plan>) -> Result<bool, ProtocolError> {
    let mut evaluator = Evaluator::set_up(session, plan.clone(), Party(0), Honest).await?;
    let prepared = evaluator.prepare(session).await?;
    session.enter(Phase::Online);
    let mesh = session.mesh();
    let (mut channel, lent) = mesh.lend(1).expect("a garbler");
    // The number of the first run, and the share.
    channel.send_bytes(&[0; RUN_ID_BYTES + 1]).await?;
    channel.flush().await?;
    let tables = plan.table_bytes(0) as usize + meeting::WORD_BYTES;
    let labels = 16 * plan.held_bits(0);
    let mut heard = vec![0; RUN_ID_BYTES + labels + tables + decoding::message_bytes(plan)];
    channel.receive_bytes(&mut heard).await?;
    mesh.give_back(channel, lent);
    let public = heard[RUN_ID_BYTES] & 1 == 1;
    let decoding = heard.last().expect("decoding bits") & 1 == 1;
    let shares = prepared.commitments.permutation(plan);
    Ok(public ^ decoding ^ shares.get(0) ^ shares.get(1))
}

#[test]
fn decoding_bits_say_nothing_before_both_garblers_have_their_shares() {
    let plan = plan(&circuit([1, 1, 1], vec![Gate::Xor(Wire(0), Wire(1))], vec![Wire(3)]), Build::Stream);
    let right = (0..RUNS).filter(|seed| {
        let input = Bits::from_u128((seed % 2).into(), 1);
        let part = async |session: &mut MeshSession| match session.mesh().party() {
            0 => guess(session, &plan).await.map(Some),
            party => {
                let own = if party == 1 { input.clone() } else { Bits::from_u128(0, 1) };
                set_up(session, &plan).await?.run(session, &[own]).await.map(|_| None)
            }
        };
        let mut ran = block_on(mesh_run::run(Mesh::memory(3), *seed, TIMEOUT, part)).into_iter();
        let guess = ran.next().expect("party 0").expect("garbler 1 sends all it has").expect("a bit");
        assert!(ran.all(|garbler| garbler.is_err()), "no garbler has a result");
        guess == (seed % 2 == 1)
    });
    let right = right.count();
    assert!((12..=52).contains(&right), "{right} of {RUNS}");
}
