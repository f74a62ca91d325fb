//! Steps 2 to 8 of the evaluator.

use crate::checks;
use std::sync::Arc;

use garblet_circuit::Bits;
use garblet_garble::EvaluateError;
use garblet_net::Channel;
use garblet_ot::{BitVec, OtError};
use garblet_primitives::Block;
use zeroize::Zeroizing;

use super::{
    super::{
        GARBLER, Step,
        comparison::Comparison,
        evaluator::{Evaluator, FromCircuit},
        plan::Plan,
    },
    CHOSEN_BYTES, COMMITMENT_BYTES, CircuitOt, commitments, input_ots, shared,
};
use garblet_protocol::{
    bulk::receive_blocks,
    checks::{Cheating, Corrupted},
    conduct::Conduct,
    domain::SessionId,
    error::ProtocolError,
    session::Session,
    workers::{self, Divided, Work},
};
use garblet_seeded::{Evaluated, Evaluation, InputLabels, Secrets, Split, Stream, wires};

/// The evaluator's preparation.
pub(in super::super) struct EvaluatorSeeds {
    run: SessionId,
    /// The evaluated circuit.
    split: Split,
    /// The seed of each checked circuit, and for the other one the pad that gives its witness.
    pads: Zeroizing<Vec<Block>>,
    /// The OTs of the wires of each circuit.
    wires: Vec<Wires>,
}

/// Proof that the messages of steps 3 and 4 for checked circuits match their seeds; only [`check_commitments`] makes it.
pub(in super::super) struct CommitmentsVerified {
    /// The garbler's commitment to each circuit.
    commitments: Vec<[u8; COMMITMENT_BYTES]>,
    /// The expected digest of the message of step 6 for each checked circuit.
    labels_due: Vec<(usize, [u8; 32])>,
}

/// The OTs of the wires of a circuit.
struct Wires {
    /// The evaluator's coins.
    coins: Zeroizing<Block>,
    /// The transcript.
    transcript: [u8; 32],
    choices: BitVec,
    pads: Zeroizing<Vec<Block>>,
}

/// Proof that the messages of step 6 for checked circuits match their seeds; only [`verify_labels`] makes it.
struct LabelsVerified(());

/// Steps 2 and 3.
pub(in super::super) async fn prepare<C: Conduct<Step>>(
    evaluator: &mut Evaluator<C>,
    session: &mut Session,
    run: SessionId,
) -> Result<EvaluatorSeeds, ProtocolError> {
    let circuits = evaluator.plan.circuits();
    let (random, pads) = evaluator.ot.extend(session, &run, circuits).await?;
    let split = Split::random(circuits, 1, session.rng());
    let mut corrections = split.choices().xor(&random)?.as_bytes().to_vec();
    evaluator.conduct.touch(Step::SeedChoices, 0, &mut corrections);
    session.channel().send_bytes(&corrections).await?;
    session.channel().flush().await?;
    let mut coins = Zeroizing::new(vec![Block::ZERO; circuits]);
    session.rng().fill_blocks(&mut coins);
    let ots = input_ots(&evaluator.plan);
    let receive = |mut lane: Channel, circuit: usize| {
        let coins = Zeroizing::new(coins[circuit]);
        async move {
            lane.begin_transcript();
            let (choices, pads) = ots.receive(&mut lane, *coins).await?;
            let transcript = lane.end_transcript();
            Ok::<_, OtError>((lane, Wires { coins, transcript, choices, pads }))
        }
    };
    let wires = session.channel().multiplex(circuits, receive).await?;
    Ok(EvaluatorSeeds { run, split, pads, wires })
}

/// Step 4: regenerates every circuit but one, with its OTs, on all workers.
pub(in super::super) async fn check_commitments<C: Conduct<Step>>(
    evaluator: &mut Evaluator<C>,
    session: &mut Session,
    prepared: &EvaluatorSeeds,
) -> Result<CommitmentsVerified, ProtocolError> {
    let mut commitments = vec![[0; COMMITMENT_BYTES]; evaluator.plan.circuits()];
    session.channel().receive_bytes(commitments.as_flattened_mut()).await?;
    let check = |circuit: usize| {
        let Wires { coins, transcript, choices, .. } = &prepared.wires[circuit];
        CircuitCheck {
            plan: evaluator.plan.clone(),
            run: prepared.run,
            circuit,
            seed: prepared.pads[circuit],
            receiver_coins: **coins,
            transcript: *transcript,
            choices: choices.clone(),
            commitment: commitments[circuit],
        }
    };
    // The OTs are replayed by the code that made them, which waits for its peer in memory.
    let runtime = tokio::runtime::Handle::current();
    let run = move |check: CircuitCheck| runtime.block_on(check.run());
    let found = Divided::begin(session.workers(), prepared.split.checked().map(check), run).results().await?;
    let labels_due = found.into_iter().collect::<Result<_, _>>()?;
    Ok(CommitmentsVerified { commitments, labels_due })
}

/// A circuit to check.
struct CircuitCheck {
    plan: Arc<Plan>,
    run: SessionId,
    circuit: usize,
    seed: Block,
    receiver_coins: Block,
    transcript: [u8; 32],
    choices: BitVec,
    commitment: [u8; COMMITMENT_BYTES],
}

impl CircuitCheck {
    /// Compares the received messages with those that follow from the seed. Returns the circuit's number and the expected digest of its labels.
    async fn run(self) -> Result<(usize, [u8; 32]), ProtocolError> {
        let CircuitCheck { plan, run, circuit, seed, .. } = self;
        let of = CircuitOt::new(&run, circuit);
        let replayed = input_ots(&plan).replay(of.ot_coins(seed), self.receiver_coins).await?;
        if plan.evaluator_bits() > 0 {
            let said = Comparison { check: checks::OT_OF_SEED, said: self.transcript, due: replayed.transcript };
            said.verify(run, circuit, seed)?;
        }
        let secrets = Secrets::of_seed(plan.blueprint(), of.circuit_coins(seed));
        let shared = shared(&plan, &run);
        let mut stream = Stream::new(plan.blueprint(), &shared, circuit, &secrets);
        let mut hash = commitments(&run).at(circuit as u64).parts_hasher();
        let mut room = Vec::new();
        while let Some(blocks) = stream.next_part(&mut room) {
            hash.add(bytemuck::cast_slice(blocks));
        }
        let said = Comparison { check: checks::CIRCUIT_OF_SEED, said: self.commitment, due: hash.finish() };
        said.verify(run, circuit, seed)?;
        // The corrections will equal the choices, so the input is zero.
        let (mut labels, mut pads) = (wires::both_labels(&secrets), replayed.pads);
        wires::exchange(&mut pads, &self.choices);
        labels.iter_mut().zip(pads.as_flattened()).for_each(|(label, pad)| *label ^= *pad);
        Ok((circuit, labels_digest(&run, circuit, &labels)))
    }
}

/// The digest of a circuit's message of step 6.
fn labels_digest(run: &SessionId, circuit: usize, message: &[Block]) -> [u8; 32] {
    run.domain(GARBLER, Step::EvaluatorLabels as u8).at(circuit as u64).digest(bytemuck::cast_slice(message))
}

/// Steps 5 to 8.
pub(in super::super) async fn evaluate<C: Conduct<Step>>(
    evaluator: &mut Evaluator<C>,
    session: &mut Session,
    (prepared, committed): (EvaluatorSeeds, CommitmentsVerified),
    input: &Bits,
) -> Result<FromCircuit, ProtocolError> {
    let messages = exchange_labels(evaluator, session, &prepared, input).await?;
    let verified = verify_labels(&prepared, &committed, &messages)?;
    let chosen = prepared.split.evaluated().next().unwrap_or_default();
    let wires = &prepared.wires[chosen];
    let pairs = messages[chosen].as_chunks::<2>().0.iter().zip(input.iter()).zip(wires.pads.iter());
    let own = pairs.map(|(([zero, one], bit), &pad)| Block::select(bit, *one, *zero) ^ pad);
    let own: Zeroizing<Vec<Block>> = Zeroizing::new(own.collect());
    announce(evaluator, session, &prepared, chosen, verified).await?;
    let commitment = committed.commitments.get(chosen).copied().unwrap_or_default();
    receive_circuit(evaluator, session, prepared.run, chosen, commitment, own).await
}

/// Step 5, and the messages of step 6 as they arrive.
async fn exchange_labels<C: Conduct<Step>>(
    evaluator: &mut Evaluator<C>,
    session: &mut Session,
    prepared: &EvaluatorSeeds,
    input: &Bits,
) -> Result<Vec<Vec<Block>>, ProtocolError> {
    let corrections: BitVec = prepared
        .wires
        .iter()
        .enumerate()
        .flat_map(|(circuit, wires)| {
            let is_evaluated = !prepared.split.is_checked(circuit);
            wires.choices.iter().zip(input.iter()).map(move |(had, bit)| had ^ (bit & is_evaluated))
        })
        .collect();
    let mut bytes = corrections.as_bytes().to_vec();
    evaluator.conduct.touch(Step::InputChoices, 0, &mut bytes);
    session.channel().send_bytes(&bytes).await?;
    let mut messages = vec![vec![Block::ZERO; 2 * input.len()]; prepared.wires.len()];
    for message in messages.iter_mut().filter(|message| !message.is_empty()) {
        receive_blocks(session, message).await?;
    }
    Ok(messages)
}

/// The check of step 6, which does not depend on the input.
fn verify_labels(
    prepared: &EvaluatorSeeds,
    committed: &CommitmentsVerified,
    messages: &[Vec<Block>],
) -> Result<LabelsVerified, Box<Corrupted>> {
    for &(circuit, due) in &committed.labels_due {
        let said = labels_digest(&prepared.run, circuit, &messages[circuit]);
        let comparison = Comparison { check: checks::LABEL_OF_SEED, said, due };
        comparison.verify(prepared.run, circuit, prepared.pads[circuit])?;
    }
    Ok(LabelsVerified(()))
}

/// Step 7: from now on the garbler knows which circuit is evaluated.
async fn announce<C: Conduct<Step>>(
    evaluator: &mut Evaluator<C>,
    session: &mut Session,
    prepared: &EvaluatorSeeds,
    chosen: usize,
    _verified: LabelsVerified,
) -> Result<(), ProtocolError> {
    let witness = CircuitOt::new(&prepared.run, chosen).witness(prepared.pads[chosen]);
    let mut message = [0; CHOSEN_BYTES];
    message[..2].copy_from_slice(&(chosen as u16).to_le_bytes());
    message[2..].copy_from_slice(&witness.to_bytes());
    evaluator.conduct.touch(Step::Chosen, 0, &mut message);
    session.channel().send_bytes(&message).await?;
    Ok(session.channel().flush().await?)
}

/// Step 8: evaluates the circuit as it arrives, and uses the result only if the garbler had committed to this circuit.
async fn receive_circuit<C: Conduct<Step>>(
    evaluator: &mut Evaluator<C>,
    session: &mut Session,
    run: SessionId,
    chosen: usize,
    committed: [u8; COMMITMENT_BYTES],
    own: Zeroizing<Vec<Block>>,
) -> Result<FromCircuit, ProtocolError> {
    let plan = evaluator.plan.clone();
    let blueprint = plan.blueprint().clone();
    let mut garbler = Zeroizing::new(vec![Block::ZERO; blueprint.garbler_wires()]);
    receive_blocks(session, &mut garbler).await?;
    let shared = shared(&plan, &run);
    let (give, mut take) = workers::channel::<Vec<Block>>();
    let work = Work::begin(move || {
        let labels = InputLabels { garbler: &garbler, own: &own };
        let mut evaluation = Evaluation::new(&blueprint, &shared, chosen, labels);
        let mut hash = commitments(&run).at(chosen as u64).parts_hasher();
        while let Some(blocks) = take.blocking_recv() {
            hash.add(bytemuck::cast_slice(&blocks));
            if evaluation.take(&blocks)? {
                return Ok::<_, EvaluateError>(Some((hash.finish(), evaluation.finish(&blocks))));
            }
        }
        // The garbler has gone, and nobody waits for this.
        Ok(None)
    });
    let part_count = plan.blueprint().part_count();
    for part in 0..part_count {
        let mut blocks = vec![Block::ZERO; plan.blueprint().part_blocks(part)];
        receive_blocks(session, &mut blocks).await?;
        give.send(blocks).await.map_err(|_| ProtocolError::WorkerLost)?;
        session.advance(plan.and_count() * (part as u64 + 1) / part_count as u64, plan.and_count());
    }
    drop(give);
    let (digest, evaluated) = work.result().await??.ok_or(ProtocolError::WorkerLost)?;
    if digest != committed {
        return Err(Cheating::in_circuit(checks::COMMITTED_CIRCUIT, chosen).into());
    }
    let Evaluated { garbler_labels_fit, outputs, labels, .. } = evaluated;
    match garbler_labels_fit {
        true => Ok(FromCircuit { run, outputs, labels }),
        false => Err(Cheating::in_circuit(checks::GARBLER_LABEL, chosen).into()),
    }
}
