//! Steps 2 to 8 of the evaluator.

use crate::checks;
use std::sync::Arc;

use garblet_circuit::Bits;
use garblet_ot::BitVec;
use garblet_primitives::{Block, Prg};
use zeroize::Zeroizing;

use super::{
    super::{
        GARBLER, Step,
        comparison::{ChosenLabels, Comparison},
        evaluator::{Evaluator, FromCircuit},
        plan::Plan,
    },
    shared,
};
use garblet_protocol::{
    bulk::{receive_blocks, send_blocks},
    checks::{Cheating, Corrupted, Suspected},
    conduct::Conduct,
    domain::SessionId,
    error::ProtocolError,
    session::Session,
    workers::Divided,
};
use garblet_seeded::{
    Evaluated, Evaluation, InputLabels, Secrets, Shared, Split, Stream, encoding::Encoding, lanes, wires::Pads,
};

/// The evaluator's preparation.
pub(in super::super) struct EvaluatorWires {
    run: SessionId,
    encoding_seed: Block,
    encoding: Encoding,
    /// The random choices of the OTs for the wires of the encoded input, and the pads.
    random: BitVec,
    pads: Zeroizing<Vec<Block>>,
    /// The evaluated circuit.
    split: Split,
}

/// The evaluator's part of all circuits when it announces which one it evaluates.
struct Received {
    /// The labels of its encoded wires, for each circuit.
    own: Vec<Zeroizing<Vec<Block>>>,
    /// The hash of each circuit.
    hashes: Vec<[u8; 32]>,
    /// The circuit to evaluate.
    parts: Vec<Vec<Block>>,
}

/// Proof that all circuits but one were opened and match their seeds; only [`verify`] makes it.
struct CircuitsVerified(());

/// Step 2.
pub(in super::super) async fn prepare<C: Conduct<Step>>(
    evaluator: &mut Evaluator<C>,
    session: &mut Session,
    run: SessionId,
) -> Result<EvaluatorWires, ProtocolError> {
    let plan = evaluator.plan.clone();
    let (random, pads) = evaluator.ot.extend(session, &run, plan.blueprint().evaluator_wires()).await?;
    let split = Split::random(plan.circuits(), 1, session.rng());
    let encoding_seed = session.rng().next_block();
    send_blocks(session, &[encoding_seed]).await?;
    session.channel().flush().await?;
    let encoding = plan.config().encoding_of(plan.evaluator_bits(), encoding_seed);
    Ok(EvaluatorWires { run, encoding_seed, encoding, random, pads, split })
}

/// Steps 3 to 8.
pub(in super::super) async fn evaluate<C: Conduct<Step>>(
    evaluator: &mut Evaluator<C>,
    session: &mut Session,
    prepared: EvaluatorWires,
    input: &Bits,
) -> Result<FromCircuit, ProtocolError> {
    let choices = choose(evaluator, session, &prepared, input).await?;
    let own = receive_labels(session, &prepared, &choices, &evaluator.plan).await?;
    let mut received = receive_circuits(evaluator, session, &prepared, own).await?;
    let chosen = prepared.split.evaluated().next().unwrap_or_default();
    let mut message = (chosen as u16).to_le_bytes();
    evaluator.conduct.touch(Step::Chosen, 0, &mut message);
    session.channel().send_bytes(&message).await?;
    let plan = evaluator.plan.clone();
    let (seeds, garbler) = receive_openings(session, &plan).await?;
    let shared = Arc::new(shared(&plan, &prepared.run, prepared.encoding_seed));
    let own = received.own[chosen].clone();
    let parts = std::mem::take(&mut received.parts);
    let workers = (session.workers(), session.rng());
    let verified = verify(workers, &plan, &shared, &prepared, received, &seeds, &choices).await?;
    let labels = InputLabels { garbler: &garbler, own: &own };
    let evaluated = evaluate_circuit(&plan, &shared, chosen, labels, &parts, verified)?;
    let Evaluated { garbler_labels_fit, outputs, labels, .. } = evaluated;
    match garbler_labels_fit {
        true => Ok(FromCircuit { run: prepared.run, outputs, labels }),
        false => Err(Cheating::in_circuit(checks::GARBLER_LABEL, chosen).into()),
    }
}

/// Step 3: the wires of the encoded input; the choices of the input's bits are corrected to fit the others.
async fn choose<C: Conduct<Step>>(
    evaluator: &mut Evaluator<C>,
    session: &mut Session,
    prepared: &EvaluatorWires,
    input: &Bits,
) -> Result<BitVec, ProtocolError> {
    let (choices, corrections) = prepared.encoding.choose(input, &prepared.random);
    let mut bytes = corrections.as_bytes().to_vec();
    evaluator.conduct.touch(Step::InputChoices, 0, &mut bytes);
    session.channel().send_bytes(&bytes).await?;
    Ok(choices)
}

/// Step 4.
async fn receive_labels(
    session: &mut Session,
    prepared: &EvaluatorWires,
    choices: &BitVec,
    plan: &Plan,
) -> Result<Vec<Zeroizing<Vec<Block>>>, ProtocolError> {
    let domain = prepared.run.domain(GARBLER, Step::EvaluatorLabels as u8);
    let mut pads = Pads::of_receiver(domain, &prepared.pads, choices);
    let mut message = vec![Block::ZERO; 2 * choices.len()];
    let mut all = Vec::with_capacity(plan.circuits());
    for circuit in 0..plan.circuits() {
        receive_blocks(session, &mut message).await?;
        all.push(pads.decrypt(&message, choices, circuit));
    }
    Ok(all)
}

/// Step 5: hashes all circuits, whichever is evaluated.
async fn receive_circuits<C: Conduct<Step>>(
    evaluator: &Evaluator<C>,
    session: &mut Session,
    prepared: &EvaluatorWires,
    own: Vec<Zeroizing<Vec<Block>>>,
) -> Result<Received, ProtocolError> {
    let (plan, blueprint) = (&evaluator.plan, evaluator.plan.blueprint());
    let (circuits, part_count) = (plan.circuits(), blueprint.part_count());
    let mut hashes: Vec<_> = (0..circuits).map(|circuit| domain(&prepared.run, circuit).hasher()).collect();
    let mut parts = Vec::with_capacity(part_count);
    for (circuit, part) in lanes::order(circuits, part_count) {
        let mut blocks = vec![Block::ZERO; blueprint.part_blocks(part)];
        receive_blocks(session, &mut blocks).await?;
        hashes[circuit].add(bytemuck::cast_slice(&blocks));
        if !prepared.split.is_checked(circuit) {
            parts.push(blocks);
        }
        if part + 1 == part_count {
            session.advance((circuit as u64 + 1) * plan.and_count(), circuits as u64 * plan.and_count());
        }
    }
    Ok(Received { own, hashes: hashes.into_iter().map(|hash| hash.finish()).collect(), parts })
}

/// The domain of a circuit's hash.
fn domain(run: &SessionId, circuit: usize) -> garblet_protocol::domain::Domain {
    run.domain(GARBLER, Step::Commitment as u8).at(circuit as u64)
}

/// The first half of step 7: receives the seeds of the other circuits and the garbler's labels for the one to evaluate.
///
/// *Errors*: [`Suspected`] for any failure of the connection.
async fn receive_openings(
    session: &mut Session,
    plan: &Plan,
) -> Result<(Vec<Block>, Zeroizing<Vec<Block>>), ProtocolError> {
    let mut seeds = vec![Block::ZERO; plan.circuits() - 1];
    let mut garbler = Zeroizing::new(vec![Block::ZERO; plan.blueprint().garbler_wires()]);
    let received = async {
        session.channel().receive_bytes(bytemuck::cast_slice_mut(&mut seeds)).await?;
        session.channel().receive_bytes(bytemuck::cast_slice_mut(&mut garbler)).await
    };
    received.await.map_err(|source| Suspected { source })?;
    Ok((seeds, garbler))
}

/// A circuit to check.
struct CircuitCheck {
    circuit: usize,
    seed: Block,
    hash: [u8; 32],
    own: Zeroizing<Vec<Block>>,
    /// The generator of the randomness that hides labels in evidence.
    rng: Prg,
}

/// The second half of step 7: regenerates the opened circuits, on all workers.
async fn verify(
    (workers, rng): (usize, &mut Prg),
    plan: &Arc<Plan>,
    shared: &Arc<Shared>,
    prepared: &EvaluatorWires,
    received: Received,
    seeds: &[Block],
    choices: &BitVec,
) -> Result<CircuitsVerified, ProtocolError> {
    let Received { own, hashes, .. } = received;
    let mut check = |(circuit, &seed): (usize, &Block)| CircuitCheck {
        circuit,
        seed,
        hash: hashes[circuit],
        own: own[circuit].clone(),
        rng: Prg::random(rng),
    };
    let checks: Vec<CircuitCheck> = prepared.split.checked().zip(seeds).map(&mut check).collect();
    let (plan, shared, run, choices) = (plan.clone(), shared.clone(), prepared.run, choices.clone());
    let run = move |mut check: CircuitCheck| check.run(&plan, &shared, run, &choices);
    for result in Divided::begin(workers, checks.into_iter(), run).results().await? {
        result?;
    }
    Ok(CircuitsVerified(()))
}

impl CircuitCheck {
    fn run(&mut self, plan: &Plan, shared: &Shared, run: SessionId, choices: &BitVec) -> Result<(), Box<Corrupted>> {
        let CircuitCheck { circuit, seed, hash: said, ref own, ref mut rng } = *self;
        let secrets = Secrets::of_seed(plan.blueprint(), seed);
        let mut stream = Stream::new(plan.blueprint(), shared, circuit, &secrets);
        let mut hash = domain(&run, circuit).hasher();
        let mut room = Vec::new();
        while let Some(blocks) = stream.next_part(&mut room) {
            hash.add(bytemuck::cast_slice(blocks));
        }
        Comparison { check: checks::CIRCUIT_OF_SEED, said, due: hash.finish() }.verify(run, circuit, seed)?;
        ChosenLabels { run, circuit, seed, choices, got: own }.verify(&secrets, rng)
    }
}

/// Step 8.
fn evaluate_circuit(
    plan: &Plan,
    shared: &Shared,
    circuit: usize,
    labels: InputLabels<'_>,
    parts: &[Vec<Block>],
    _verified: CircuitsVerified,
) -> Result<Evaluated, ProtocolError> {
    Ok(Evaluation::new(plan.blueprint(), shared, circuit, labels).of_parts(parts)?)
}
