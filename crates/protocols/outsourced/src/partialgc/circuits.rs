//! All circuits of a run: the generator garbles them on several threads; the cloud evaluates all, and regenerates those that it checks.

use std::sync::Arc;

use garblet_circuit::Bits;
use garblet_garble::EvaluateError;
use garblet_primitives::Block;
use garblet_protocol::{
    bulk::{receive_blocks, send_blocks},
    domain::{Domain, PartsHasher, SessionId},
    error::ProtocolError,
    session::Session,
    workers::{self, Work},
};
use garblet_seeded::{Buffers, Evaluated, Evaluation, InputLabels, Part, Secrets, Shared, Split, Stream, lanes};
use tokio::sync::mpsc;
use zeroize::Zeroizing;

use super::{binding::ClientHashes, config::Reuse, gates, kept::Labels, oot, plan::Plan, split};

/// The identifiers of a run and of all runs together.
#[derive(Clone, Copy)]
pub(crate) struct Ids {
    pub(crate) run: SessionId,
    pub(crate) life: SessionId,
}

/// The secrets of a circuit, from its seed and both labels of each value that it reads.
pub(crate) fn secrets(plan: &Plan, ids: &Ids, circuit: usize, root: Block, read: &[[Block; 2]]) -> Secrets {
    let mut secrets = Secrets::of_seed(plan.blueprint(), split::seed(&ids.run, circuit, root));
    if plan.config().reuse == Reuse::Labels {
        secrets.delta = split::delta(&ids.life, circuit, root);
        plan.read_wires().zip(read).for_each(|(wire, pair)| secrets.evaluator[wire] = pair[0]);
    }
    secrets
}

/// The partial gates of a circuit, if it has any.
pub(crate) fn partial_gates(plan: &Plan, ids: &Ids, circuit: usize, read: &[[Block; 2]], secrets: &Secrets) -> Vec<u8> {
    match plan.config().reuse {
        Reuse::Labels => Vec::new(),
        Reuse::PartialGates => {
            let mut to = Zeroizing::new(Vec::with_capacity(plan.read_bits()));
            to.extend(plan.read_wires().map(|wire| secrets.evaluator[wire]));
            gates::garble(&ids.run, circuit, read, (&to, secrets.delta.block()))
        }
    }
}

/// Bytes of the partial gates of a circuit.
pub(crate) fn partial_gates_bytes(plan: &Plan) -> usize {
    match plan.config().reuse {
        Reuse::Labels => 0,
        Reuse::PartialGates => gates::GATE_BYTES * plan.read_bits(),
    }
}

/// Pairs of labels of kept outputs, in the order of the state, from labels of all outputs.
fn kept_pairs(plan: &Plan, first: &[Box<[Block]>], second: Option<&[Box<[Block]>]>) -> Vec<[Block; 2]> {
    let Some((_, outputs)) = plan.keeps() else { return Vec::new() };
    // A vector that grew would leave copies of labels behind.
    let mut pairs = Vec::with_capacity(outputs.iter().map(|&output| first[output].len()).sum());
    for &output in outputs {
        let second = |bit: usize| second.map_or(Block::ZERO, |second| second[output][bit]);
        pairs.extend(first[output].iter().enumerate().map(|(bit, &label)| [label, second(bit)]));
    }
    pairs
}

/// Circuits in order, from those of several threads.
fn in_order(circuits: Vec<(usize, Vec<[Block; 2]>)>) -> Labels {
    let circuits = Zeroizing::new(circuits);
    let mut order: Vec<&(usize, Vec<[Block; 2]>)> = circuits.iter().collect();
    order.sort_unstable_by_key(|(circuit, _)| *circuit);
    let mut all = Zeroizing::new(Vec::with_capacity(order.iter().map(|(_, pairs)| pairs.len()).sum()));
    order.into_iter().for_each(|(_, pairs)| all.extend_from_slice(pairs));
    all
}

/// Circuits to garble.
pub(crate) struct ToGarble {
    pub(crate) plan: Arc<Plan>,
    pub(crate) shared: Shared,
    pub(crate) secrets: Vec<Secrets>,
}

/// Garbles all circuits on all workers and sends them. `see` sees each part before it is sent. Returns the labels of kept outputs.
///
/// *Errors*: a worker that panicked; the connection's.
pub(crate) async fn send(
    session: &mut Session,
    of: Arc<ToGarble>,
    see: impl Fn(&mut Part),
) -> Result<Labels, ProtocolError> {
    let (workers, circuits) = (session.workers(), of.plan.circuits());
    let (part_count, ands) = (of.plan.blueprint().part_count(), of.plan.and_count());
    let buffers = Arc::new(Buffers::default());
    let (mut parts, mut work) = (Vec::new(), Vec::new());
    for worker in 0..workers {
        let (give, take) = workers::channel();
        let (of, buffers) = (of.clone(), buffers.clone());
        work.push(Work::begin(move || of.garble(worker, workers, &buffers, &give)));
        parts.push(take);
    }
    for (circuit, part) in lanes::order(circuits, part_count) {
        let made = parts[lanes::worker_of(circuit, workers)].recv().await;
        let mut made: Part = made.ok_or(ProtocolError::WorkerLost)?;
        see(&mut made);
        send_blocks(session, made.blocks()).await?;
        buffers.give_back(made.into_buffer());
        if part + 1 == part_count {
            session.advance((circuit as u64 + 1) * ands, circuits as u64 * ands);
        }
    }
    session.channel().flush().await?;
    let mut kept = Vec::with_capacity(circuits);
    for work in work {
        kept.extend(work.result().await?);
    }
    Ok(in_order(kept))
}

impl ToGarble {
    /// Garbles the circuits of one worker, group by group, in the order in which their parts are sent.
    fn garble(
        &self,
        worker: usize,
        workers: usize,
        buffers: &Buffers,
        give: &mpsc::Sender<Part>,
    ) -> Vec<(usize, Vec<[Block; 2]>)> {
        let blueprint = self.plan.blueprint();
        let mut kept = Vec::new();
        for group in lanes::groups(self.plan.circuits()) {
            let own = group.filter(|&circuit| lanes::worker_of(circuit, workers) == worker);
            let stream = |circuit: usize| Stream::new(blueprint, &self.shared, circuit, &self.secrets[circuit]);
            let mut streams: Vec<(usize, Stream<'_>)> = own.map(|circuit| (circuit, stream(circuit))).collect();
            for part in 0..blueprint.part_count() {
                for (circuit, stream) in &mut streams {
                    let mut buffer = buffers.take();
                    stream.next_part(&mut buffer);
                    if give.blocking_send(Part::new(blueprint, *circuit, part, buffer)).is_err() {
                        return kept;
                    }
                }
            }
            for (circuit, stream) in streams {
                let outputs = stream.into_outputs();
                kept.push((circuit, kept_pairs(&self.plan, &outputs.zero, Some(&outputs.one))));
            }
        }
        kept
    }
}

/// The cloud's knowledge of a circuit before it arrives.
pub(crate) struct Taken {
    /// The labels of all of the evaluator's wires; noise for a checked circuit.
    pub(crate) labels: Zeroizing<Vec<Block>>,
    /// The labels of the generator's wires; noise for a checked circuit.
    pub(crate) garbler: Zeroizing<Vec<Block>>,
    /// The keys of the givers' orders; noise for an evaluated circuit.
    pub(crate) orders: Zeroizing<Vec<Block>>,
    /// For each giver, whether the label of every wire opens the commitment at its place.
    pub(crate) opens: Vec<bool>,
    /// For each giver, whether the key of blinds and the key of the order match their digests.
    pub(crate) keys_fit: Vec<[bool; 2]>,
    /// The digest of all commitments, and the partial gates.
    pub(crate) commitments: [u8; 32],
    pub(crate) gates: Vec<u8>,
}

/// A circuit that was evaluated.
pub(crate) struct Examined {
    pub(crate) circuit: usize,
    pub(crate) digest: [u8; 32],
    pub(crate) garbler_labels_fit: bool,
    /// The hashes of clients' wires.
    pub(crate) client_hashes: Bits,
    /// *Secret*: whether they are right.
    pub(crate) outputs: Bits,
    kept: Vec<[Block; 2]>,
}

/// A checked circuit, regenerated.
pub(crate) struct Remade {
    pub(crate) circuit: usize,
    pub(crate) digest: [u8; 32],
    pub(crate) commitments_fit: bool,
    pub(crate) hashes_fit: bool,
    pub(crate) gates_fit: bool,
    kept: Vec<[Block; 2]>,
}

/// The cloud's knowledge of all circuits.
pub(crate) struct Examining {
    pub(crate) plan: Arc<Plan>,
    pub(crate) shared: Shared,
    pub(crate) ids: Ids,
    /// The domains of the digests of circuits and of commitments.
    pub(crate) digests: [Domain; 2],
    /// The hashes of clients' wires, and for each circuit the select bits that the generator sent for them.
    pub(crate) hashes: ClientHashes,
    pub(crate) select_bits: Vec<Bits>,
    pub(crate) taken: Vec<Taken>,
    /// Both labels of each value to read.
    pub(crate) read: Labels,
    /// The keys from which circuits are derived; meaningless for evaluated ones.
    pub(crate) roots: Zeroizing<Vec<Block>>,
    pub(crate) buffers: Buffers,
}

impl Examining {
    /// Both labels of each value that a circuit reads.
    fn read_by(&self, circuit: usize) -> &[[Block; 2]] {
        let bits = self.plan.read_bits();
        &self.read[circuit * bits..(circuit + 1) * bits]
    }

    /// Evaluates circuits part by part until there are no more.
    fn examine(&self, mut parts: mpsc::Receiver<Part>) -> Result<Vec<Examined>, EvaluateError> {
        let mut lanes: Vec<Lane<'_>> = Vec::new();
        let mut done = Vec::new();
        while let Some(part) = parts.blocking_recv() {
            let at = lanes.iter().position(|lane| lane.evaluation.circuit() == part.circuit);
            let at = at.unwrap_or_else(|| {
                lanes.push(Lane::new(self, part.circuit));
                lanes.len() - 1
            });
            if lanes[at].take(part.blocks())? {
                done.push(lanes.swap_remove(at).finish(self, part.blocks()));
            }
            self.buffers.give_back(part.into_buffer());
        }
        Ok(done)
    }

    /// The hashes of clients' wires in a circuit; noise for a checked one.
    fn client_hashes(&self, circuit: usize) -> Bits {
        let bits = self.hashes.select_bits(&self.plan, &self.taken[circuit].labels);
        bits.iter().zip(self.select_bits[circuit].iter()).map(|(bit, of_zero)| bit ^ of_zero).collect()
    }

    /// Regenerates a checked circuit, with everything sent before it.
    pub(crate) fn remake(&self, circuit: usize) -> Remade {
        let (plan, root, read, taken) = (&self.plan, self.roots[circuit], self.read_by(circuit), &self.taken[circuit]);
        let secrets = secrets(plan, &self.ids, circuit, root, read);
        let mut hash = self.digests[1].at(circuit as u64).hasher();
        for (giver, &order) in plan.givers().iter().zip(taken.orders.iter()) {
            let expected = oot::expected_commitments(&self.ids.run, giver, circuit, &secrets, order);
            hash.add(bytemuck::cast_slice(&expected));
        }
        let hashes_fit = self.hashes.select_bits(plan, &secrets.evaluator) == self.select_bits[circuit];
        let gates_fit = partial_gates(plan, &self.ids, circuit, read, &secrets) == taken.gates;
        let mut stream = Stream::new(plan.blueprint(), &self.shared, circuit, &secrets);
        let mut parts = self.digests[0].at(circuit as u64).parts_hasher();
        let mut buffer = self.buffers.take();
        while let Some(blocks) = stream.next_part(&mut buffer) {
            parts.add(bytemuck::cast_slice(blocks));
        }
        self.buffers.give_back(buffer);
        let outputs = stream.into_outputs();
        let kept = kept_pairs(plan, &outputs.zero, Some(&outputs.one));
        let commitments_fit = hash.finish() == taken.commitments;
        Remade { circuit, digest: parts.finish(), commitments_fit, hashes_fit, gates_fit, kept }
    }
}

/// Receives all circuits, and evaluates each as it arrives, needed or not.
///
/// *Errors*: the connection's.
pub(crate) async fn receive(session: &mut Session, examining: &Arc<Examining>) -> Result<Vec<Examined>, ProtocolError> {
    let (plan, workers) = (examining.plan.clone(), session.workers());
    let (mut inboxes, mut work) = (Vec::new(), Vec::new());
    for _ in 0..workers {
        let (give, take) = workers::channel::<Part>();
        let examining = examining.clone();
        work.push(Work::begin(move || examining.examine(take)));
        inboxes.push(give);
    }
    let (blueprint, circuits) = (plan.blueprint(), plan.circuits());
    for (circuit, part) in lanes::order(circuits, blueprint.part_count()) {
        let mut buffer = examining.buffers.take();
        receive_blocks(session, blueprint.room_for(part, &mut buffer)).await?;
        let part = Part::new(blueprint, circuit, part, buffer);
        let sent = inboxes[lanes::worker_of(circuit, workers)].send(part).await;
        sent.map_err(|_| ProtocolError::WorkerLost)?;
        session.advance(circuit as u64 * plan.and_count(), circuits as u64 * plan.and_count());
    }
    drop(inboxes);
    let mut examined = Vec::with_capacity(circuits);
    for work in work {
        examined.extend(work.result().await??);
    }
    Ok(examined)
}

/// The labels of kept outputs, of all circuits; from the regenerated circuit if it was checked.
pub(crate) fn kept(split: &Split, examined: Vec<Examined>, remade: Vec<Remade>) -> Labels {
    let evaluated = examined.into_iter().filter(|of| !split.is_checked(of.circuit)).map(|of| (of.circuit, of.kept));
    in_order(evaluated.chain(remade.into_iter().map(|of| (of.circuit, of.kept))).collect())
}

/// A circuit whose parts are arriving.
struct Lane<'e> {
    hash: PartsHasher,
    evaluation: Evaluation<'e>,
}

impl<'e> Lane<'e> {
    fn new(of: &'e Examining, circuit: usize) -> Self {
        let Taken { labels, garbler, .. } = &of.taken[circuit];
        let labels = InputLabels { garbler, own: labels };
        let evaluation = Evaluation::new(of.plan.blueprint(), &of.shared, circuit, labels);
        Lane { hash: of.digests[0].at(circuit as u64).parts_hasher(), evaluation }
    }

    /// Takes the next part; returns whether it was the last.
    fn take(&mut self, blocks: &[Block]) -> Result<bool, EvaluateError> {
        self.hash.add(bytemuck::cast_slice(blocks));
        self.evaluation.take(blocks)
    }

    /// Takes the tail again: decodes the outputs.
    fn finish(self, of: &Examining, tail: &[Block]) -> Examined {
        let circuit = self.evaluation.circuit();
        let Evaluated { garbler_labels_fit, outputs, labels } = self.evaluation.finish(tail);
        let kept = kept_pairs(&of.plan, &labels, None);
        let client_hashes = of.client_hashes(circuit);
        Examined { circuit, digest: self.hash.finish(), garbler_labels_fit, client_hashes, outputs, kept }
    }
}
