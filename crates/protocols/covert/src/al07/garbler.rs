//! Steps 2 to 7 of the garbler.

use std::sync::Arc;

use garblet_circuit::Bits;
use garblet_net::NetError;
use garblet_ot::BitVec;
use garblet_primitives::Block;
use zeroize::Zeroizing;

use super::{
    super::{
        GARBLER, Step,
        garbler::{Evaluated, Garbler},
    },
    CHOSEN_BYTES, shared,
};
use garblet_protocol::{
    bulk::{receive_blocks, send_blocks},
    conduct::Conduct,
    domain::SessionId,
    error::ProtocolError,
    session::Session,
};
use garblet_seeded::{
    Garbling, Part, Secrets, Stream, ToGarble,
    wires::{self, Pads},
};

/// The garbler's preparation.
pub(in super::super) struct GarblerWires {
    run: SessionId,
    encoding_seed: Block,
    /// Both pads of every wire of the evaluator's encoded input.
    pads: Zeroizing<Vec<[Block; 2]>>,
}

/// Step 2.
pub(in super::super) async fn prepare<C: Conduct<Step>>(
    garbler: &mut Garbler<C>,
    session: &mut Session,
    run: SessionId,
) -> Result<GarblerWires, ProtocolError> {
    let wires = garbler.plan.blueprint().evaluator_wires();
    let pads = garbler.ot.extend(session, &run, wires).await?;
    let mut seed = [Block::ZERO];
    receive_blocks(session, &mut seed).await?;
    Ok(GarblerWires { run, encoding_seed: seed[0], pads })
}

/// Steps 3 to 7.
pub(in super::super) async fn garble<C: Conduct<Step>>(
    garbler: &mut Garbler<C>,
    session: &mut Session,
    mut prepared: GarblerWires,
    input: &Bits,
) -> Result<Evaluated, ProtocolError> {
    let bits = garbler.plan.evaluator_bits();
    let corrections = BitVec::receive(session.channel(), bits, "input corrections").await?;
    wires::exchange(&mut prepared.pads, &corrections);
    let mut seeds = Zeroizing::new(vec![Block::ZERO; garbler.plan.circuits()]);
    session.rng().fill_blocks(&mut seeds);
    send_evaluator_labels(garbler, session, &prepared, &seeds).await?;
    send_circuits(garbler, session, &prepared, &seeds).await?;
    let chosen = receive_chosen(session, seeds.len()).await?;
    open(garbler, session, &prepared, &seeds, input, chosen).await
}

/// Step 4.
async fn send_evaluator_labels<C: Conduct<Step>>(
    garbler: &mut Garbler<C>,
    session: &mut Session,
    prepared: &GarblerWires,
    seeds: &[Block],
) -> Result<(), ProtocolError> {
    let domain = prepared.run.domain(GARBLER, Step::EvaluatorLabels as u8);
    let mut pads = Pads::of_sender(domain, &prepared.pads);
    for (circuit, &seed) in seeds.iter().enumerate() {
        let secrets = Secrets::of_seed(&*garbler.blueprint_of(circuit)?, seed);
        let mut labels = wires::both_labels(&secrets);
        garbler.conduct.touch(Step::EvaluatorLabels, circuit, bytemuck::cast_slice_mut(&mut labels));
        pads.encrypt(&mut labels, circuit);
        send_blocks(session, &labels).await?;
    }
    Ok(())
}

/// Step 5.
async fn send_circuits<C: Conduct<Step>>(
    garbler: &mut Garbler<C>,
    session: &mut Session,
    prepared: &GarblerWires,
    seeds: &Zeroizing<Vec<Block>>,
) -> Result<(), ProtocolError> {
    let circuits = seeds.len() as u64;
    let all = ToGarble::all(seeds, |circuit| garbler.blueprint_of(circuit))?;
    let shared = Arc::new(shared(&garbler.plan, &prepared.run, prepared.encoding_seed));
    let (conduct, plan) = (&garbler.conduct, &garbler.plan);
    let part_count = plan.blueprint().part_count();
    let see = |part: &mut Part| conduct.touch(Step::of_part(part.part, part_count), part.circuit, part.bytes_mut());
    let advance = |session: &mut Session, done: usize| {
        session.advance(done as u64 * plan.and_count(), circuits * plan.and_count());
    };
    Garbling::begin(all, shared, session.workers()).send(session, see, advance).await
}

/// Step 6.
///
/// *Errors*: a number out of range.
async fn receive_chosen(session: &mut Session, circuits: usize) -> Result<usize, ProtocolError> {
    let mut message = [0; CHOSEN_BYTES];
    session.channel().receive_bytes(&mut message).await?;
    let chosen = usize::from(u16::from_le_bytes(message));
    match chosen < circuits {
        true => Ok(chosen),
        false => {
            let (what, expected) = ("number of the circuit to evaluate".into(), format!("less than {circuits}"));
            Err(NetError::Malformed { what, expected, got: chosen.to_string() }.into())
        }
    }
}

/// Step 7. Also recomputes the labels of the outputs.
async fn open<C: Conduct<Step>>(
    garbler: &mut Garbler<C>,
    session: &mut Session,
    prepared: &GarblerWires,
    seeds: &[Block],
    input: &Bits,
    chosen: usize,
) -> Result<Evaluated, ProtocolError> {
    let others = seeds.iter().enumerate().filter(|(circuit, _)| *circuit != chosen);
    let mut opened: Vec<Block> = others.map(|(_, &seed)| seed).collect();
    garbler.conduct.touch(Step::CheckedSeeds, chosen, bytemuck::cast_slice_mut(&mut opened));
    send_blocks(session, &opened).await?;
    let blueprint = garbler.blueprint_of(chosen)?;
    let secrets = Secrets::of_seed(&blueprint, seeds[chosen]);
    let mut labels = secrets.active(input);
    garbler.conduct.touch(Step::GarblerLabels, chosen, bytemuck::cast_slice_mut(&mut labels));
    send_blocks(session, &labels).await?;
    session.channel().flush().await?;
    let shared = shared(&garbler.plan, &prepared.run, prepared.encoding_seed);
    let mut stream = Stream::new(&blueprint, &shared, chosen, &secrets);
    let mut room = Vec::new();
    while stream.next_part(&mut room).is_some() {}
    Ok(Evaluated { run: prepared.run, outputs: stream.into_outputs() })
}
