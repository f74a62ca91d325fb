//! Steps 2 to 8 of the garbler.

use crate::checks;
use std::sync::Arc;

use garblet_circuit::Bits;
use garblet_net::Channel;
use garblet_ot::{BitVec, OtError};
use garblet_primitives::Block;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{
    super::{
        Step,
        garbler::{Evaluated, Garbler},
    },
    CHOSEN_BYTES, CircuitOt, commitments, input_ots, shared,
};
use garblet_protocol::{
    bulk::send_blocks,
    checks::Cheating,
    conduct::Conduct,
    domain::SessionId,
    error::ProtocolError,
    session::Session,
    workers::{self, Work},
};
use garblet_seeded::{Secrets, Stream, ToGarble, digests, wires};

/// The garbler's preparation.
pub(in super::super) struct GarblerSeeds {
    run: SessionId,
    /// For each circuit, the witness that the evaluator did not get its seed.
    witnesses: Zeroizing<Vec<Block>>,
    /// The coins of each circuit.
    coins: Zeroizing<Vec<Block>>,
    /// Both pads of every wire of the evaluator, for each circuit.
    pads: Vec<Zeroizing<Vec<[Block; 2]>>>,
}

/// Proof that the evaluator could not have checked the circuit that it evaluates; only [`verify_witness`] makes it.
struct WitnessVerified {
    chosen: usize,
}

/// Steps 2 and 3.
pub(in super::super) async fn prepare<C: Conduct<Step>>(
    garbler: &mut Garbler<C>,
    session: &mut Session,
    run: SessionId,
) -> Result<GarblerSeeds, ProtocolError> {
    let circuits = garbler.plan.circuits();
    let mut cuts = garbler.ot.extend(session, &run, circuits).await?;
    let corrections = BitVec::receive(session.channel(), circuits, "choices of circuits").await?;
    wires::exchange(&mut cuts, &corrections);
    let mut prepared =
        GarblerSeeds { run, witnesses: Zeroizing::default(), coins: Zeroizing::default(), pads: Vec::new() };
    let mut all_ot_coins = Zeroizing::new(Vec::with_capacity(circuits));
    for (circuit, &[witness, seed]) in cuts.iter().enumerate() {
        let of = CircuitOt::new(&run, circuit);
        prepared.witnesses.push(of.witness(witness));
        let mut coins = Zeroizing::new([of.ot_coins(seed), of.circuit_coins(seed)]);
        let [ot_coins, circuit_coins] = &mut *coins;
        garbler.conduct.touch(Step::OtCoins, circuit, bytemuck::bytes_of_mut(ot_coins));
        garbler.conduct.touch(Step::CircuitCoins, circuit, bytemuck::bytes_of_mut(circuit_coins));
        prepared.coins.push(*circuit_coins);
        all_ot_coins.push(*ot_coins);
    }
    let ots = input_ots(&garbler.plan);
    let send = |mut lane: Channel, circuit: usize| {
        let coins = Zeroizing::new(all_ot_coins[circuit]);
        async move {
            let pads = ots.send(&mut lane, *coins).await?;
            Ok::<_, OtError>((lane, pads))
        }
    };
    prepared.pads = session.channel().multiplex(circuits, send).await?;
    Ok(prepared)
}

/// Step 4.
pub(in super::super) async fn commit<C: Conduct<Step>>(
    garbler: &mut Garbler<C>,
    session: &mut Session,
    prepared: &GarblerSeeds,
) -> Result<(), ProtocolError> {
    let all = ToGarble::all(&prepared.coins, |circuit| garbler.blueprint_of(circuit))?;
    let shared = shared(&garbler.plan, &prepared.run);
    let (conduct, part_count) = (garbler.conduct.clone(), garbler.plan.blueprint().part_count());
    let see = move |circuit: usize, part: usize, blocks: &mut [Block]| {
        conduct.touch(Step::of_part(part, part_count), circuit, bytemuck::cast_slice_mut(blocks));
    };
    let (domain, workers) = (commitments(&prepared.run), session.workers());
    let mut digests = digests::of_all(all, Arc::new(shared), domain, workers, see, |_| ()).await?;
    for (circuit, commitment) in digests.iter_mut().enumerate() {
        garbler.conduct.touch(Step::Commitment, circuit, commitment);
        session.channel().send_bytes(commitment).await?;
    }
    Ok(session.channel().flush().await?)
}

/// Steps 5 to 8.
pub(in super::super) async fn garble<C: Conduct<Step>>(
    garbler: &mut Garbler<C>,
    session: &mut Session,
    mut prepared: GarblerSeeds,
    input: &Bits,
) -> Result<Evaluated, ProtocolError> {
    send_evaluator_labels(garbler, session, &mut prepared).await?;
    let mut message = [0; CHOSEN_BYTES];
    session.channel().receive_bytes(&mut message).await?;
    let chosen = verify_witness(&prepared.witnesses, &message)?;
    send_circuit(garbler, session, prepared, input, chosen).await
}

/// Steps 5 and 6.
async fn send_evaluator_labels<C: Conduct<Step>>(
    garbler: &mut Garbler<C>,
    session: &mut Session,
    prepared: &mut GarblerSeeds,
) -> Result<(), ProtocolError> {
    let bits = garbler.plan.evaluator_bits();
    let corrections = BitVec::receive(session.channel(), bits * prepared.pads.len(), "input corrections").await?;
    for circuit in 0..prepared.pads.len() {
        let pads = &mut prepared.pads[circuit];
        wires::exchange(pads, &corrections.slice(circuit * bits..(circuit + 1) * bits));
        let secrets = Secrets::of_seed(&*garbler.blueprint_of(circuit)?, prepared.coins[circuit]);
        let mut labels = wires::both_labels(&secrets);
        garbler.conduct.touch(Step::EvaluatorLabels, circuit, bytemuck::cast_slice_mut(&mut labels));
        labels.iter_mut().zip(pads.as_flattened()).for_each(|(label, pad)| *label ^= *pad);
        send_blocks(session, &labels).await?;
    }
    Ok(session.channel().flush().await?)
}

/// Step 7.
fn verify_witness(witnesses: &[Block], message: &[u8; CHOSEN_BYTES]) -> Result<WitnessVerified, Cheating> {
    let [low, high, witness @ ..] = message;
    let chosen = usize::from(u16::from_le_bytes([*low, *high]));
    let known = witnesses.get(chosen);
    match known.is_some_and(|known| known.to_bytes().ct_eq(witness).into()) {
        true => Ok(WitnessVerified { chosen }),
        false => Err(Cheating::new(checks::WITNESS, format!("circuit {chosen} of {}", witnesses.len()))),
    }
}

/// Step 8.
async fn send_circuit<C: Conduct<Step>>(
    garbler: &mut Garbler<C>,
    session: &mut Session,
    prepared: GarblerSeeds,
    input: &Bits,
    WitnessVerified { chosen }: WitnessVerified,
) -> Result<Evaluated, ProtocolError> {
    let (run, blueprint) = (prepared.run, garbler.blueprint_of(chosen)?);
    let secrets = Secrets::of_seed(&blueprint, prepared.coins[chosen]);
    let mut labels = secrets.active(input);
    garbler.conduct.touch(Step::GarblerLabels, chosen, bytemuck::cast_slice_mut(&mut labels));
    send_blocks(session, &labels).await?;
    let shared = shared(&garbler.plan, &run);
    let (give, mut take) = workers::channel();
    let part_count = blueprint.part_count();
    let work = Work::begin(move || {
        let mut stream = Stream::new(&blueprint, &shared, chosen, &secrets);
        let mut buffer = Vec::new();
        while let Some(length) = stream.next_part(&mut buffer).map(|blocks| blocks.len()) {
            let mut blocks = std::mem::take(&mut buffer);
            blocks.truncate(length);
            if give.blocking_send(blocks).is_err() {
                break;
            }
        }
        stream.into_outputs()
    });
    for part in 0..part_count {
        let mut blocks: Vec<Block> = take.recv().await.ok_or(ProtocolError::WorkerLost)?;
        garbler.conduct.touch(Step::of_part(part, part_count), chosen, bytemuck::cast_slice_mut(&mut blocks));
        send_blocks(session, &blocks).await?;
        session.advance(garbler.plan.and_count() * (part as u64 + 1) / part_count as u64, garbler.plan.and_count());
    }
    session.channel().flush().await?;
    Ok(Evaluated { run, outputs: work.result().await? })
}
