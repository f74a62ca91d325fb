//! Steps 5 to 7 of the garbler.

use std::sync::Arc;

use garblet_circuit::Bits;
use garblet_primitives::Block;
use zeroize::Zeroizing;

use super::{
    super::{
        Step,
        garbler::{Garbler, GarblerPrepared},
    },
    Challenge,
    supersets::{Maker, Sets, Shape},
};
use garblet_protocol::{
    coin_toss::Responder,
    conduct::Conduct,
    domain::SessionId,
    error::ProtocolError,
    party_io::{EVALUATOR, GARBLER},
    session::Session,
    workers::{self, Work},
};
use garblet_seeded::{InputHash, Secrets, ToGarble};

/// Sends circuits and supersets, tosses coins, and opens what the coins choose.
pub(in super::super) async fn garble<C: Conduct<Step>>(
    garbler: &mut Garbler<C>,
    session: &mut Session,
    prepared: &GarblerPrepared,
    seeds: &[Block],
    input: &Bits,
) -> Result<(), ProtocolError> {
    let plan = garbler.plan.clone();
    let shared = Arc::new(prepared.shared(plan.encoding(prepared.encoding_seed), InputHash::none()));
    let all = ToGarble::all(seeds, |circuit| garbler.blueprint_of(circuit))?;
    garbler.send_circuits(session, shared, all).await?;
    let maker = Arc::new(maker(garbler, session, &prepared.run, seeds, input)?);
    send_supersets(garbler, session, &maker).await?;
    let challenge = toss(garbler, session, &prepared.run).await?;
    let mut opened: Vec<Block> = challenge.circuits.checked().map(|circuit| seeds[circuit]).collect();
    garbler.conduct.touch(Step::CheckedSeeds, 0, bytemuck::cast_slice_mut(&mut opened));
    session.channel().send_bytes(bytemuck::cast_slice(&opened)).await?;
    for superset in 0..maker.seeds.len() {
        let mut opening = maker.open(superset, challenge.supersets.is_checked(superset), &challenge.circuits);
        garbler.conduct.touch(Step::SupersetOpening, superset, &mut opening);
        session.channel().send_bytes(&opening).await?;
    }
    Ok(session.channel().flush().await?)
}

fn maker<C: Conduct<Step>>(
    garbler: &mut Garbler<C>,
    session: &mut Session,
    run: &SessionId,
    seeds: &[Block],
    input: &Bits,
) -> Result<Maker, ProtocolError> {
    let (count, wires) = (garbler.plan.config().supersets(), garbler.plan.blueprint().garbler_wires());
    let mut superset_seeds = Zeroizing::new(vec![Block::ZERO; count]);
    session.rng().fill_blocks(&mut superset_seeds);
    let mut secrets = Vec::with_capacity(seeds.len());
    for (circuit, &seed) in seeds.iter().enumerate() {
        secrets.push(Secrets::of_seed(&*garbler.blueprint_of(circuit)?, seed));
    }
    let (mut sets, mut inputs) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for superset in 0..count {
        let mut of_wires = Zeroizing::new(Sets::random(wires, session.rng()));
        garbler.conduct.touch(Step::Sets, superset, bytemuck::cast_slice_mut(&mut of_wires));
        sets.push(of_wires);
        let mut own = input.clone();
        garbler.conduct.input(superset, &mut own);
        inputs.push(own);
    }
    let shape = Shape { domain: run.domain(GARBLER, Step::Superset as u8), wires, circuits: seeds.len() };
    Ok(Maker { shape, secrets, inputs, seeds: superset_seeds, sets })
}

/// Step 5: the supersets, made by all workers.
async fn send_supersets<C: Conduct<Step>>(
    garbler: &mut Garbler<C>,
    session: &mut Session,
    maker: &Arc<Maker>,
) -> Result<(), ProtocolError> {
    let (workers, count) = (session.workers(), maker.seeds.len());
    let mut made = Vec::with_capacity(workers);
    for worker in 0..workers {
        let (give, take) = workers::channel();
        let maker = maker.clone();
        // It ends when the channel closes.
        let _work = Work::begin(move || {
            let mut own = (worker..count).step_by(workers);
            own.all(|superset| give.blocking_send(maker.commit(superset)).is_ok())
        });
        made.push(take);
    }
    for superset in 0..count {
        let mut commitments = made[superset % workers].recv().await.ok_or(ProtocolError::WorkerLost)?;
        garbler.conduct.touch(Step::Superset, superset, &mut commitments);
        session.channel().send_bytes(&commitments).await?;
    }
    Ok(session.channel().flush().await?)
}

/// Step 6. The evaluator, which the coins protect, knows them first; it may stop there, which proves nothing.
async fn toss<C: Conduct<Step>>(
    garbler: &mut Garbler<C>,
    session: &mut Session,
    run: &SessionId,
) -> Result<Challenge, ProtocolError> {
    let domain = run.domain(EVALUATOR, Step::TossCommitment as u8);
    let coins = Responder::toss(session, domain, Step::TossShare, &garbler.conduct).await?;
    Ok(Challenge::of(&garbler.plan, coins))
}
