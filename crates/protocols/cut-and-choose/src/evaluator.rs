//! Party 1: checks some circuits and evaluates the others.

use crate::checks;
use std::sync::Arc;

use garblet_circuit::Bits;
use garblet_ot::{BitVec, MaliciousCotReceiver, RotReceiver, Rows};
use garblet_primitives::Block;
use zeroize::Zeroizing;

use super::{
    NAME, Step,
    config::Form,
    examine::{Examination, Examining, Keys, Remade},
    lp07,
    others::{Dealing, InputRows, Nothing},
    plan::Plan,
};
use garblet_protocol::{
    Role, Security,
    bulk::{receive_bits, receive_blocks, send_blocks},
    checks::{Cheating, LastMessageSent, Majority, Unverified},
    conduct::{Conduct, Honest},
    domain::SessionId,
    error::ProtocolError,
    party_io::{self, EVALUATOR, GARBLER},
    phase::Phase,
    session::Session,
    workers::{self, Divided, Work},
};
use garblet_seeded::{
    Buffers, InputHash, Part, Shared, Split, digests::DIGEST_BYTES, encoding::Encoding, lanes, wires::Pads,
};

/// The evaluator of a session.
pub struct Evaluator<C = Honest> {
    pub(super) plan: Arc<Plan>,
    id: SessionId,
    ot: RotReceiver<MaliciousCotReceiver>,
    runs: u64,
    pub(super) conduct: C,
}

/// The evaluator's preparation of one run, which consumes it.
pub struct EvaluatorPrepared {
    run: SessionId,
    encoding: Encoding,
    /// The random choices of the OTs for the wires of the encoded input, and the pads.
    wires: (BitVec, Zeroizing<Vec<Block>>),
    /// The rows of these OTs.
    rows: Rows,
    /// The circuits to check, and the pad of each circuit.
    pub(super) split: Split,
    cuts: Zeroizing<Vec<Block>>,
}

/// Proof that the checked circuits were correct; only [`verify_checked`] makes it.
struct CheckedCircuitsVerified(());

/// Proof that all circuits passed their checks; only [`verify_evaluated`] makes it.
struct CircuitsVerified(Vec<Unverified<Bits>>);

impl Evaluator {
    /// Step 1.
    ///
    /// *Errors*: those of [`MaliciousCotReceiver::setup`].
    pub async fn setup(session: &mut Session, plan: Arc<Plan>) -> Result<Self, ProtocolError> {
        Evaluator::setup_with(session, plan, Honest).await
    }
}

impl<C: Conduct<Step>> Evaluator<C> {
    /// Step 1, for an evaluator with this conduct.
    ///
    /// *Errors*: as [`Evaluator::setup`].
    pub async fn setup_with(session: &mut Session, plan: Arc<Plan>, conduct: C) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let (channel, rng) = session.parts();
        let id = SessionId::agree(channel, rng, NAME, plan.original().digest(), EVALUATOR).await?;
        let config = plan.config();
        let ot = MaliciousCotReceiver::setup(channel, rng, config.ot_width, config.sigma()).await?;
        Ok(Evaluator { plan, id, ot: RotReceiver::new(ot), runs: 0, conduct })
    }
}

impl<C: Conduct<Step>> Role for Evaluator<C> {
    type Prepared = EvaluatorPrepared;
    const NAME: &'static str = "evaluator";

    fn security(&self) -> Security {
        self.plan.security()
    }

    /// Step 2: random OTs for the wires of the encoded input and for the circuits; chooses which circuits to check.
    ///
    /// *Errors*: an OT sender caught cheating; the connection's.
    async fn prepare(&mut self, session: &mut Session) -> Result<EvaluatorPrepared, ProtocolError> {
        session.enter(Phase::Prepare);
        let (wires, circuits) = (self.plan.blueprint().evaluator_wires(), self.plan.cut_ots());
        let (choices, mut pads, mut rows) = self.ot.extend_with_rows(session.channel(), wires + circuits).await?;
        rows.truncate(wires);
        let cuts = Zeroizing::new(pads.split_off(wires));
        let seed = session.rng().next_block();
        // Where coins decide which circuits are checked, there is nothing to choose.
        let split = Split::random(circuits, self.plan.evaluated(), session.rng());
        send_blocks(session, &[seed]).await?;
        let corrections = split.choices().xor(&choices.slice(wires..wires + circuits))?;
        self.send_choices(session, Step::SplitChoices, &corrections).await?;
        session.channel().flush().await?;
        let run = self.id.run(self.runs);
        self.runs += 1;
        let encoding = self.plan.encoding(seed);
        Ok(EvaluatorPrepared { run, encoding, wires: (choices.slice(0..wires), pads), rows, split, cuts })
    }

    /// Steps 3 to 9.
    ///
    /// *Shape*: `values` are the evaluator's inputs in program order. Returns one entry per program output, `None` where the
    /// evaluator is not a recipient.
    ///
    /// *Errors*: inputs that do not fit; a garbler caught cheating; the connection's.
    async fn online(
        &mut self,
        session: &mut Session,
        prepared: EvaluatorPrepared,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        self.online_for_others(session, prepared, values, &mut Nothing).await
    }
}

impl<C: Conduct<Step>> Evaluator<C> {
    /// The same, where others deal bits to both parties, see [`crate::others`].
    ///
    /// *Errors*: also those of `dealing`.
    pub async fn online_for_others(
        &mut self,
        session: &mut Session,
        prepared: EvaluatorPrepared,
        values: &[Bits],
        dealing: &mut impl Dealing,
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        let input = party_io::own_input(self.plan.original(), EVALUATOR, values)?;
        session.enter(Phase::Online);
        let EvaluatorPrepared { run, encoding, wires: (random, pads), rows, split, cuts } = prepared;
        let (choices, corrections) = encoding.choose(&input, &random);
        self.send_choices(session, Step::InputChoices, &corrections).await?;
        let keys = self.receive_keys(session, &run, &choices, &pads, &cuts).await?;
        let verified = match self.plan.config().form {
            Form::Oblivious => {
                dealing.settle(session, InputRows::of_evaluator(rows, &encoding)).await?;
                self.challenge(session, &run, (encoding, choices), keys, &split, dealing).await?
            }
            Form::Lp07 => CircuitsVerified(lp07::examine(self, session, &run, encoding, keys, choices).await?),
        };
        self.finish(session, verified).await
    }

    /// Steps 5 to 7. As soon as the hash is known, separate threads regenerate the circuits to check.
    async fn challenge(
        &mut self,
        session: &mut Session,
        run: &SessionId,
        (encoding, choices): (Encoding, BitVec),
        keys: Vec<Keys>,
        split: &Split,
        dealing: &mut impl Dealing,
    ) -> Result<CircuitsVerified, ProtocolError> {
        let mut challenge = [session.rng().next_block()];
        self.conduct.touch(Step::Challenge, 0, bytemuck::cast_slice_mut(&mut challenge));
        send_blocks(session, &challenge).await?;
        let parts = dealing.hashes(session).await?;
        let hash = self.plan.universal_hash(challenge[0]);
        let value = receive_bits(session, hash.rows()).await?;
        let labels = run.domain(GARBLER, Step::Head as u8);
        let shared = Shared::new(labels, encoding, InputHash::new(hash, value).with_parts(parts));
        let (digests, buffers) = (run.domain(GARBLER, Step::CircuitDigest as u8), Buffers::default());
        let plan = self.plan.clone();
        let examining = Arc::new(Examining { plan, shared, digests, keys, choices, buffers });
        let remaking = examining.clone();
        let remade = Divided::begin(session.workers(), split.checked(), move |circuit| remaking.remade(circuit));
        let mut digests = vec![[0; DIGEST_BYTES]; self.plan.circuits()];
        session.channel().receive_bytes(digests.as_flattened_mut()).await?;
        // With the digests the evidence is complete: a garbler that leaves now is named all the same.
        let examined = self.ask_for_circuits(session, &examining, split, dealing).await;
        let checked = verify_checked(&digests, &remade.results().await?)?;
        Ok(verify_evaluated(&digests, examined?, checked)?)
    }

    /// Steps 6b and 6c.
    async fn ask_for_circuits(
        &mut self,
        session: &mut Session,
        examining: &Arc<Examining>,
        split: &Split,
        dealing: &mut impl Dealing,
    ) -> Result<Vec<Examination>, ProtocolError> {
        dealing.agree(session).await?;
        self.send_choices(session, Step::ToldSplit, split.choices()).await?;
        session.channel().flush().await?;
        self.receive_circuits(session, examining, split).await
    }

    async fn send_choices(&mut self, session: &mut Session, step: Step, choices: &BitVec) -> Result<(), ProtocolError> {
        let mut bytes = choices.as_bytes().to_vec();
        self.conduct.touch(step, 0, &mut bytes);
        Ok(session.channel().send_bytes(&bytes).await?)
    }

    /// Step 4: decrypts, for each circuit, the labels of the evaluator's choices, and both other parts with the one key, which is
    /// right for one of them. The steps taken do not depend on which.
    async fn receive_keys(
        &mut self,
        session: &mut Session,
        run: &SessionId,
        choices: &BitVec,
        pads: &[Block],
        cuts: &[Block],
    ) -> Result<Vec<Keys>, ProtocolError> {
        let domain = run.domain(GARBLER, Step::EvaluatorLabels as u8);
        let mut pads = Pads::of_receiver(domain, pads, choices);
        let domain = run.domain(GARBLER, Step::GarblerLabels as u8);
        let mut message = vec![Block::ZERO; self.plan.key_blocks()];
        let mut all = Vec::with_capacity(self.plan.circuits());
        for circuit in 0..self.plan.circuits() {
            receive_blocks(session, &mut message).await?;
            let (labels, rest) = message.split_at(2 * choices.len());
            let own = pads.decrypt(labels, choices, circuit);
            let Some(&cut) = cuts.get(circuit) else {
                all.push(Keys { own, garbler: Zeroizing::default(), seed: Zeroizing::new(Block::ZERO) });
                continue;
            };
            let (labels, seed) = rest.split_at(self.plan.blueprint().garbler_wires());
            let of_branch = |branch: u8| domain.at(circuit as u64).branch(branch).stream(cut);
            let mut garbler = Zeroizing::new(vec![Block::ZERO; labels.len()]);
            of_branch(0).fill_blocks(&mut garbler);
            garbler.iter_mut().zip(labels).for_each(|(label, &sent)| *label ^= sent);
            let seed = of_branch(1).next_block() ^ seed.first().copied().unwrap_or_default();
            all.push(Keys { own, garbler, seed: Zeroizing::new(seed) });
        }
        Ok(all)
    }

    /// Step 6c: evaluates circuits as they arrive.
    async fn receive_circuits(
        &mut self,
        session: &mut Session,
        examining: &Arc<Examining>,
        split: &Split,
    ) -> Result<Vec<Examination>, ProtocolError> {
        let plan = self.plan.clone();
        let workers = session.workers();
        let (mut inboxes, mut examinations) = (Vec::new(), Vec::new());
        for _ in 0..workers {
            let (give, take) = workers::channel::<Part>();
            let examining = examining.clone();
            examinations.push(Work::begin(move || examining.examine(take)));
            inboxes.push(give);
        }
        let circuits: Vec<usize> = split.evaluated().collect();
        let part_count = plan.blueprint().part_count();
        for (at, part) in lanes::order(circuits.len(), part_count) {
            let mut buffer = examining.buffers.take();
            receive_blocks(session, plan.blueprint().room_for(part, &mut buffer)).await?;
            let part = Part::new(plan.blueprint(), circuits[at], part, buffer);
            let is_last = part.part + 1 == part_count;
            let sent = inboxes[lanes::worker_of(at, workers)].send(part).await;
            sent.map_err(|_| ProtocolError::WorkerLost)?;
            if is_last {
                session.advance((at as u64 + 1) * plan.and_count(), circuits.len() as u64 * plan.and_count());
            }
        }
        drop(inboxes);
        let mut examined = Vec::with_capacity(circuits.len());
        for work in examinations {
            examined.extend(work.result().await??);
        }
        Ok(examined)
    }

    /// Steps 8 and 9: takes the result of most evaluated circuits; hands over the garbler's part before it reports whether there was
    /// a majority.
    async fn finish(
        &mut self,
        session: &mut Session,
        CircuitsVerified(results): CircuitsVerified,
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        let majority = Majority::of(results, session.rng()).ok_or(ProtocolError::WorkerLost)?;
        let (total, message) = (self.plan.blueprint().evaluator_outputs(), self.plan.message_bits());
        let mut bytes = majority.value().slice(total - message, message).to_bytes();
        self.conduct.touch(Step::Result, 0, &mut bytes);
        session.channel().send_bytes(&bytes).await?;
        session.channel().flush().await?;
        let result = majority.settle(LastMessageSent::stated())?;
        Ok(self.plan.evaluator_result(&result.slice(0, total - message)))
    }
}

/// Step 7: checked circuits have the digests that follow from their seeds, and match the evaluator's labels. It uses nothing received after
/// the split is announced.
///
/// Whether this fails does not depend on the evaluator's input, see [`checks::LABEL_OF_SEED`].
fn verify_checked(digests: &[[u8; DIGEST_BYTES]], remade: &[Remade]) -> Result<CheckedCircuitsVerified, Cheating> {
    for remade in remade {
        if digests.get(remade.circuit) != Some(&remade.digest) {
            return Err(Cheating::in_circuit(checks::CIRCUIT_OF_SEED, remade.circuit));
        }
        if !remade.own_labels_fit {
            return Err(Cheating::in_circuit(checks::LABEL_OF_SEED, remade.circuit));
        }
    }
    Ok(CheckedCircuitsVerified(()))
}

/// Step 7: evaluated circuits match their digests, and the garbler's labels in them add up to the labels of its hash.
///
/// This does not depend on the evaluator's input either.
fn verify_evaluated(
    digests: &[[u8; DIGEST_BYTES]],
    evaluated: Vec<Examination>,
    _checked: CheckedCircuitsVerified,
) -> Result<CircuitsVerified, Cheating> {
    if let Some(other) = evaluated.iter().find(|e| digests.get(e.circuit) != Some(&e.digest)) {
        return Err(Cheating::in_circuit(checks::COMMITTED_CIRCUIT, other.circuit));
    }
    match evaluated.iter().find(|examination| !examination.garbler_labels_fit) {
        Some(examination) => Err(Cheating::in_circuit(checks::GARBLER_INPUT, examination.circuit)),
        None => Ok(CircuitsVerified(evaluated.into_iter().map(|e| Unverified::new(e.outputs)).collect())),
    }
}
