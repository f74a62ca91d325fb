//! An evaluator that has not dealt all shares yet learns nothing.

use garblet_protocol::{Phase, Role, run_id::RUN_ID_BYTES};

use super::*;

/// Runs of an evaluator that deals one garbler its share and holds back the other one.
const RUNS: u64 = 64;

/// The garbler's bit as an evaluator would compute it from the messages of that garbler alone, if it could read decoding bits. The output is the sum of
/// the bit and its own one.
async fn guess(session: &mut MeshSession, plan: &Arc<Plan>, seat: usize) -> Result<bool, ProtocolError> {
    let mut evaluator = Evaluator::set_up(session, plan.clone(), Party(0), Honest).await?;
    let prepared = evaluator.prepare(session).await?;
    session.enter(Phase::Online);
    let mesh = session.mesh();
    let (mut channel, lent) = mesh.lend(plan.garblers()[seat].0).expect("a garbler");
    // The number of the first run, and the share.
    channel.send_bytes(&[0; RUN_ID_BYTES + 1]).await?;
    channel.flush().await?;
    let tables = match plan.config().build {
        Build::Stream => plan.table_bytes(seat) as usize + meeting::WORD_BYTES,
        Build::Ahead => 0,
    };
    let labels = 16 * plan.held_bits(seat);
    let mut heard = vec![0; RUN_ID_BYTES + labels + tables + decoding::message_bytes(plan)];
    channel.receive_bytes(&mut heard).await?;
    mesh.give_back(channel, lent);
    let public = heard[RUN_ID_BYTES] & 1 == 1;
    let decoding = heard.last().expect("decoding bits") & 1 == 1;
    let shares = prepared.commitments.permutation(plan);
    Ok(public ^ decoding ^ shares.get(0) ^ shares.get(1))
}

/// The number of runs in which the guess about a garbler's bit is right.
fn right_guesses(seat: usize, build: Build) -> u64 {
    let garbler = seat as u16 + 1;
    let sum = vec![Gate::Xor(Wire(0), Wire(garbler.into()))];
    let plan = plan(&circuit([1, 1, 1], sum, vec![Wire(3)]), build);
    let is_right = |seed: &u64| {
        let bit = seed % 2 == 1;
        let part = async |session: &mut MeshSession| match session.mesh().party() {
            0 => guess(session, &plan, seat).await.map(Some),
            party => {
                let own = Bits::from_u128((party == garbler && bit).into(), 1);
                set_up(session, &plan).await?.run(session, &[own]).await.map(|_| None)
            }
        };
        let mut ran = block_on(mesh_run::run(Mesh::memory(3), *seed, TIMEOUT, part)).into_iter();
        let guess = ran.next().expect("party 0").expect("the garbler sends all it has").expect("a bit");
        assert!(ran.all(|garbler| garbler.is_err()), "no garbler has a result");
        guess == bit
    };
    (0..RUNS).filter(is_right).count() as u64
}

#[test]
fn decoding_bits_say_nothing_before_both_garblers_have_their_shares() {
    for (seat, build) in [0, 1].into_iter().flat_map(|seat| BUILDS.map(|build| (seat, build))) {
        let right = right_guesses(seat, build);
        assert!((12..=52).contains(&right), "{right} of {RUNS}, garbler {seat}, {build:?}");
    }
}
