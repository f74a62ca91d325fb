//! The online phase: one round trip with tags, two with revealed values, and half a one more where a garbler learns something.
//!
//! | flow | who | what | bytes |
//! |---|---|---|---|
//! | O1 | all to all | the run's number; masked inputs | 8; 1/8 a bit |
//! | O2 | garbler to evaluator | labels of all inputs, under a lock; a digest of the masked inputs; keys to the other garblers' locks | 16 a bit; 32; 16 each |
//! | O2, or with O4 | all but the evaluator to every recipient | shares of the masks of its outputs, with tags | 1/8 and a tag a bit |
//! | O3 | evaluator | evaluates, and checks all gates by their tags | |
//! | O4 | with `check=reveal` in place of that: see `reveal` | | |
//! | O5 | evaluator to every garbler that learns something | masked outputs; a digest of their labels; its shares of their masks | 1/8 a bit; 32; 1/8 and a tag a bit |
//!
//! A circuit that is streamed is made after O2, lot by lot, and evaluated as it comes. Shares of the masks of outputs leave after the last lot, where they would leave with O2.
//!
//! *Locks*: an owner could tell two garblers different masked inputs, and the evaluator would get labels of both. The published protocol broadcasts them, which
//! takes a flow more. Here a garbler's labels come under a stream whose key needs the word of every other garbler, for the digest that *it* heard.

use garblet_circuit::{Bits, Party};
use garblet_garble::joint::{Quad, Seen, TagCheck, Walk, evaluate_lot, lanes_of_labels};
use garblet_net::PerPeer;
use garblet_primitives::{Block, Prg, QUAD_LANES, secrets};
use garblet_protocol::{
    MeshSession, Phase,
    bulk::check_padding_of,
    conduct::Conduct,
    error::ProtocolError,
    party_io,
    protocol::foreign_material,
    run_id::{RunExchanges, RunId},
};
use subtle::{Choice, ConstantTimeEq};
use zeroize::{Zeroize, Zeroizing};

use super::{
    Step,
    build::{Built, FLOWS, Lot, Made, Making, Revealing, Waiting, Work},
    checks::{INPUT_LABELS, OUTPUT_LABELS, OUTPUT_MASKS, TAGS, Verified, somebody_cheats},
    ground::{DIGEST_BYTES, Ground, check_echo},
    open::{hear, told, told_bytes},
    place::Place,
    plan::Plan,
    reveal::{Heard, Revealed, message_bytes},
    wires::{KeptWires, Labels, Masks, kept_lane, lane_of},
};
use crate::opening::Packed;

/// Bytes of the evaluator's message to a garbler.
pub(super) fn handed_over_bytes(plan: &Plan, to: Party) -> usize {
    match plan.output_bits(to) {
        0 => 0,
        bits => bits.div_ceil(8) + DIGEST_BYTES + told_bytes(plan.tag(), bits),
    }
}

/// Bytes of a garbler's labels of all inputs that are given, the digest, and the keys of locks.
pub(super) fn label_bytes(plan: &Plan) -> usize {
    16 * plan.given_count() + DIGEST_BYTES + 16 * (plan.garbler_count() - 1)
}

/// The masked values of all inputs, in the order of base wires, and their digest.
pub(super) struct Told {
    pub(super) masked: Vec<bool>,
    digest: [u8; DIGEST_BYTES],
}

impl<K: Conduct<Step>> Ground<K> {
    /// Computes once. Returns the outputs that this party learns, and the wires of those that are kept.
    ///
    /// *Errors*: somebody who cheats; another run than the others'; inputs that do not fit; the connections'.
    pub(super) async fn compute_and_keep(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        built: Built,
        values: &[Bits],
    ) -> Result<(Vec<Option<Bits>>, KeptWires), ProtocolError> {
        let own = party_io::own_input(plan.program(), self.party, values)?;
        self.check_sound()?;
        if built.id != self.id {
            return Err(foreign_material());
        }
        // Whatever ends this run ends the session.
        self.over = true;
        session.enter(Phase::Online);
        let told = self.tell_inputs(session, plan, &built, own).await?;
        let (values, kept) = match plan.slot(self.party) {
            Some(_) => self.garbler_online(session, plan, built, &told).await?,
            None => self.evaluator_online(session, plan, built, &told).await?,
        };
        let gates = plan.and_count() as u64;
        session.advance(gates, gates);
        self.over = false;
        Ok((party_io::deal_outputs(plan.program(), self.party, &mut values.iter()), kept))
    }

    /// Flow O1.
    async fn tell_inputs(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        built: &Built,
        mut own: Bits,
    ) -> Result<Told, ProtocolError> {
        self.conduct.input(0, &mut own);
        let masked = own.iter().enumerate().map(|(at, bit)| bit ^ built.own_masks.get(at)).collect::<Bits>().to_bytes();
        let mut outgoing = session.mesh().per_peer(|_| masked.clone());
        outgoing.iter_mut().for_each(|(peer, told)| self.conduct.touch(Step::MaskedInputs, peer.into(), told));
        let mesh = session.mesh();
        let mut incoming = mesh.per_peer(|peer| vec![0; plan.input_bits(Party(peer)).div_ceil(8)]);
        RunExchanges::new(RunId::Prepared(built.run)).exchange(mesh, &outgoing, &mut incoming).await?;
        let mut all = vec![false; plan.input_count()];
        let mut hasher = self.common(Place::Told, built.run).hasher();
        for party in self.everybody() {
            let bytes = incoming.get(party.0).unwrap_or(&masked);
            if party != self.party {
                check_padding_of(party, bytes, plan.input_bits(party))?;
            }
            hasher.add(bytes);
            for (bit, at) in plan.inputs_of(party).enumerate() {
                all[at] = bytes[bit / 8] >> (bit % 8) & 1 == 1;
            }
        }
        // Only the evaluator knows those of wires that are read.
        if plan.slot(self.party).is_none() {
            let labels = built.read.labels.first().into_iter().flatten();
            plan.read().zip(labels).for_each(|(at, label)| all[at] = label.lsb());
        }
        Ok(Told { masked: all, digest: hasher.finish() })
    }

    /// The part of the lock of garbler `of` that this garbler and `peer`, one of which it is, have in common, for the masked inputs that this one heard.
    fn lock(&self, of: Party, peer: Party, told: &Told, run: u64) -> Block {
        let Some(pair) = self.pairs.get(peer.0) else { return Block::ZERO };
        let mut secret = Zeroizing::new([0; 16 + DIGEST_BYTES]);
        secret[..16].copy_from_slice(&pair.seed.to_bytes());
        secret[16..].copy_from_slice(&told.digest);
        Block::from_digest(&self.domain(of, Place::Lock, run).digest(&*secret))
    }

    /// A garbler's labels of all inputs that are given, under its lock, with the digest of the masked inputs and the keys of the others' locks.
    fn locked_labels(&self, plan: &Plan, built: &Built, told_inputs: &Told) -> Vec<u8> {
        let (party, run) = (self.party, built.run);
        let others: Vec<Party> = plan.garblers().filter(|other| *other != party).collect();
        let locks = others.iter().map(|&other| self.lock(party, other, told_inputs, run));
        let lock = Zeroizing::new(locks.fold(Block::ZERO, |sum, lock| sum ^ lock));
        let mut labels: Zeroizing<Vec<Block>> = Zeroizing::new(vec![Block::ZERO; plan.given_count()]);
        Prg::new(*lock).fill_blocks(&mut labels);
        for (label, at) in labels.iter_mut().zip(plan.given()) {
            *label ^= built.labels[at] ^ Block::mask(told_inputs.masked[at]) & self.delta.block();
        }
        let mut keys = Zeroizing::new(Vec::with_capacity(16 * others.len()));
        keys.extend(others.iter().flat_map(|&other| self.lock(other, other, told_inputs, run).to_bytes()));
        [bytemuck::cast_slice(&labels), &told_inputs.digest, &keys[..]].concat()
    }

    /// A garbler's part. Returns the outputs that it learns, in order, and the wires of those that are kept.
    async fn garbler_online(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        built: Built,
        told_inputs: &Told,
    ) -> Result<(Bits, KeptWires), ProtocolError> {
        let labels = self.locked_labels(plan, &built, told_inputs);
        let Built { run, labels: zero, work, .. } = built;
        let heard = (!plan.has_tags()).then(|| self.hear_nothing(plan, run));
        let (mut masks, messages) = match work {
            Work::Made(made) => self.serve_made(session, plan, *made, (labels, heard), (told_inputs, &zero)).await?,
            Work::Waiting(waiting) => {
                self.serve_streamed(session, plan, (run, *waiting), (labels, heard), (told_inputs, &zero)).await?
            }
        };
        let values = self.handed_outputs(plan, (run, &masks), messages)?;
        Ok((values, std::mem::take(&mut masks.kept)))
    }

    /// A garbler's part up to the last messages, once its circuit is made. Returns its shares of the masks of outputs, and these messages.
    async fn serve_made(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        Made { masks, lot, .. }: Made,
        (labels, heard): (Vec<u8>, Option<Heard<'_>>),
        inputs: (&Told, &Labels),
    ) -> Result<(Masks, PerPeer<Vec<u8>>), ProtocolError> {
        let learned = self.learned(plan);
        // The evaluator answers when it has the labels of all; what else comes is there by then.
        let Some(mut heard) = heard else {
            let outgoing = session.mesh().per_peer(|to| match Party(to) == plan.evaluator() {
                true => [&labels[..], &told_masks(plan, &masks, to)].concat(),
                false => told_masks(plan, &masks, to),
            });
            let messages = self.exchange(session, Step::InputLabels, outgoing, learned).await?;
            return Ok((masks, messages));
        };
        self.send_labels(session, plan, labels).await?;
        let (nothing, bytes) = to_be_revealed(session, plan, &lot);
        let expected = |peer| if peer == plan.evaluator() { bytes } else { 0 };
        let revealed = self.exchange(session, Step::RevealedGates, nothing, expected).await?;
        self.hear(&mut heard, &lot, inputs, &revealed)?;
        let messages = self.answer(session, heard, &masks, learned).await?;
        Ok((masks, messages))
    }

    /// The same of a garbler that makes its circuit now.
    async fn serve_streamed(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        (run, mut waiting): (u64, Waiting),
        (labels, mut heard): (Vec<u8>, Option<Heard<'_>>),
        inputs: (&Told, &Labels),
    ) -> Result<(Masks, PerPeer<Vec<u8>>), ProtocolError> {
        let learned = self.learned(plan);
        self.send_labels(session, plan, labels).await?;
        let mut making = Making::streamed(self, plan, run, (&waiting, inputs.1));
        let mut made: Option<Lot> = None;
        for next in steps(plan) {
            let material = next.map(|gates| waiting.supply.next(gates)).transpose()?;
            let revealing = made.as_ref().map(|lot| to_be_revealed(session, plan, lot));
            let (lot, revealed) = making.step(self, session, (material, revealing)).await?;
            if let (Some(heard), Some(lot), Some(revealed)) = (&mut heard, &made, revealed) {
                self.hear(heard, lot, inputs, &revealed)?;
            }
            report(session, plan, lot.as_ref());
            made = lot.filter(|_| heard.is_some());
        }
        let masks = making.finish();
        let messages = match heard {
            Some(heard) => self.answer(session, heard, &masks, learned).await?,
            None => {
                let outgoing = session.mesh().per_peer(|to| told_masks(plan, &masks, to));
                self.exchange(session, Step::OutputMasks, outgoing, learned).await?
            }
        };
        Ok((masks, messages))
    }

    /// Bytes of the last message that a garbler gets of each other party.
    fn learned<'p>(&self, plan: &'p Plan) -> impl Fn(Party) -> usize + use<'p, K> {
        let own = self.party;
        move |peer| match peer == plan.evaluator() {
            true => handed_over_bytes(plan, own),
            false => told_bytes(plan.tag(), plan.output_bits(own)),
        }
    }

    /// Sends the evaluator a garbler's labels, alone.
    async fn send_labels(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        mut labels: Vec<u8>,
    ) -> Result<(), ProtocolError> {
        let outgoing = session.mesh().per_peer(|to| match Party(to) == plan.evaluator() {
            true => std::mem::take(&mut labels),
            false => Vec::new(),
        });
        self.exchange(session, Step::InputLabels, outgoing, |_| 0).await?;
        Ok(())
    }

    /// The outputs that a garbler learns, from the last messages of all others.
    ///
    /// *Errors*: [`OUTPUT_LABELS`], [`OUTPUT_MASKS`]; malformed bits.
    fn handed_outputs(
        &self,
        plan: &Plan,
        (run, masks): (u64, &Masks),
        mut messages: PerPeer<Vec<u8>>,
    ) -> Result<Bits, ProtocolError> {
        let (evaluator, count) = (plan.evaluator(), plan.output_bits(self.party));
        let Some(message) = messages.get_mut(evaluator.0).filter(|_| count > 0) else { return Ok(Bits::default()) };
        let of_evaluator = message.split_off(count.div_ceil(8) + DIGEST_BYTES);
        let handed_over = std::mem::replace(message, of_evaluator);
        let (masked, digest) = handed_over.split_at(count.div_ceil(8));
        let masked = Packed::received_of(evaluator, masked, count)?;
        let zero = masks.output_labels();
        // Of a constant, too: its label is zero, and another value takes the difference.
        let labels = zero.iter().enumerate().map(|(at, &zero)| zero ^ Block::mask(masked.get(at)) & self.delta.block());
        let expected = self.digest_of_labels(Place::OutputLabels, self.party, run, labels);
        if !secrets::verdict(expected.ct_eq(digest), "authenticated-bmr: whether the labels of outputs fit") {
            return Err(somebody_cheats(OUTPUT_LABELS, "the digest is of other labels"));
        }
        self.unmask(plan, masks, &masked, &messages)
    }

    /// The evaluator's part. Returns the outputs that it learns, in order, and the wires of those that are kept.
    async fn evaluator_online(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        built: Built,
        told_inputs: &Told,
    ) -> Result<(Bits, KeptWires), ProtocolError> {
        let Built { run, read, work, .. } = built;
        let count = plan.output_bits(self.party);
        let bytes = label_bytes(plan);
        let nothing = session.mesh().per_peer(|_| Vec::new());
        let is_made = matches!(work, Work::Made(_));
        let of_masks = if plan.has_tags() { told_bytes(plan.tag(), count) } else { 0 };
        let with_labels = bytes + if is_made { of_masks } else { 0 };
        let mut messages = self.exchange(session, Step::InputLabels, nothing, |_| with_labels).await?;
        let rest = messages.iter_mut().map(|(_, message)| message.split_off(bytes)).collect();
        let told_masks = PerPeer::from_ends(self.party.0, rest);
        let inputs = self.unlock(plan, (&messages, &read), told_inputs);
        messages.iter_mut().for_each(|(_, message)| message.zeroize());
        let mut evaluation = Evaluation::new(self, plan, run, &inputs?);
        let mut verdict = None;
        let (mut masks, told_masks) = match work {
            Work::Made(made) => {
                let Made { masks, seeds, lot } = *made;
                if let Some(messages) = evaluation.lot(self, session, (&seeds, &lot, &read)) {
                    self.exchange(session, Step::RevealedGates, messages, |_| 0).await?;
                }
                (masks, told_masks)
            }
            Work::Waiting(waiting) => {
                let masks = self.evaluate_streamed(session, (run, *waiting), &mut evaluation, &read).await?;
                // Judged before anybody is heard again: whoever leaves now hides no check that failed.
                let judged = evaluation.check.take().map(|check| verified_by_tags(Some(check))).transpose();
                let nothing = session.mesh().per_peer(|_| Vec::new());
                let told_masks = self.exchange(session, Step::OutputMasks, nothing, |_| of_masks).await;
                verdict = judged?;
                (masks, told_masks?)
            }
        };
        let Evaluation { walk, check, revealed, .. } = evaluation;
        let (told_masks, verified) = match (check, revealed) {
            (_, Some(revealed)) => self.judge(session, plan, revealed).await?,
            (check, None) => (told_masks, verdict.map_or_else(|| verified_by_tags(check), Ok)?),
        };
        let (outputs, width) = (walk.into_outputs(), plan.slots().len().div_ceil(QUAD_LANES));
        let outgoing = session
            .mesh()
            .per_peer(|peer| self.handed_over(plan, (run, &masks), (Party(peer), &outputs[..], width), &verified));
        self.exchange(session, Step::HandedOver, outgoing, |_| 0).await?;
        let shown = lane_of(plan, (&outputs, width), 0, self.party);
        let masked = Packed::collect(count, |at| shown[at].lsb());
        let values = self.unmask(plan, &masks, &masked, &told_masks)?;
        let mut kept = std::mem::take(&mut masks.kept);
        kept.labels = (0..plan.garbler_count()).map(|slot| kept_lane(plan, (&outputs, width), slot)).collect();
        Ok((values, kept))
    }

    /// Makes and evaluates a circuit lot by lot. Returns the evaluator's shares of the masks of outputs.
    async fn evaluate_streamed(
        &mut self,
        session: &mut MeshSession,
        (run, mut waiting): (u64, Waiting),
        evaluation: &mut Evaluation<'_>,
        read: &KeptWires,
    ) -> Result<Masks, ProtocolError> {
        let plan = evaluation.plan;
        let mut making = Making::streamed(self, plan, run, (&waiting, &Labels::default()));
        let mut revealing = None;
        for next in steps(plan) {
            let material = next.map(|gates| waiting.supply.next(gates)).transpose()?;
            let revealed = revealing.take().map(|messages| (messages, 0));
            let (lot, _) = making.step(self, session, (material, revealed)).await?;
            report(session, plan, lot.as_ref());
            revealing = lot.and_then(|lot| evaluation.lot(self, session, (&making.seeds, &lot, read)));
        }
        Ok(making.finish())
    }

    /// The labels of all inputs, wire by wire, from the garblers' messages.
    ///
    /// *Errors*: [`ECHO`](super::checks::ECHO), [`INPUT_LABELS`].
    fn unlock(
        &self,
        plan: &Plan,
        (messages, read): (&PerPeer<Vec<u8>>, &KeptWires),
        told_inputs: &Told,
    ) -> Result<Zeroizing<Vec<Block>>, ProtocolError> {
        let (inputs, garblers) = (plan.given_count(), plan.garbler_count());
        let digests = messages.iter().map(|(_, message)| &message[16 * inputs..16 * inputs + DIGEST_BYTES]);
        check_echo(&told_inputs.digest, digests, "the masked inputs")?;
        let messages: Vec<&[u8]> = messages.iter().map(|(_, message)| &message[..]).collect();
        let mut all: Zeroizing<Vec<Block>> = Zeroizing::new(vec![Block::ZERO; plan.input_count() * garblers]);
        let mut fits = Choice::from(1);
        for slot in 0..garblers {
            let given = unlocked(&messages, slot, inputs);
            let read = read.labels.get(slot).into_iter().flatten();
            for (at, label) in plan.given().zip(given.iter()).chain(plan.read().zip(read)) {
                all[garblers * at + slot] = *label;
                fits &= Choice::from(u8::from(label.lsb() == told_inputs.masked[at]));
            }
        }
        match secrets::verdict(fits, "authenticated-bmr: whether labels of inputs fit") {
            true => Ok(all),
            false => Err(somebody_cheats(INPUT_LABELS, "bit 0 of a label is not the masked bit")),
        }
    }

    /// The evaluator's message to a garbler.
    fn handed_over(
        &self,
        plan: &Plan,
        (run, masks): (u64, &Masks),
        (to, outputs, width): (Party, &[Quad], usize),
        _verified: &Verified,
    ) -> Vec<u8> {
        let (count, slot) = (plan.output_bits(to), plan.slot(to).unwrap_or_default());
        if count == 0 {
            return Vec::new();
        }
        let [shown, labels] = [0, slot].map(|lane| lane_of(plan, (outputs, width), lane, to));
        let mut message = Packed::collect(count, |at| shown[at].lsb()).0.clone();
        message.extend_from_slice(&self.digest_of_labels(Place::OutputLabels, to, run, labels.iter().copied()));
        message.extend(told(plan.tag(), masks.of_outputs(to)));
        message
    }

    /// The digest of labels of a garbler: of its outputs, or of all gates.
    pub(super) fn digest_of_labels(
        &self,
        place: Place,
        of: Party,
        run: u64,
        labels: impl Iterator<Item = Block>,
    ) -> [u8; DIGEST_BYTES] {
        let mut hasher = self.domain(of, place, run).hasher();
        labels.for_each(|label| hasher.add(&label.to_bytes()));
        hasher.finish()
    }

    /// The outputs from their masked values and all shares of their masks.
    ///
    /// *Errors*: [`OUTPUT_MASKS`].
    fn unmask(
        &self,
        plan: &Plan,
        own: &Masks,
        masked: &Packed,
        told: &PerPeer<Vec<u8>>,
    ) -> Result<Bits, ProtocolError> {
        let masks = hear(plan.tag(), own.of_outputs(self.party), self.delta.block(), told, OUTPUT_MASKS)?;
        let mut values = masked.sum(&masks.0);
        plan.outputs_of(self.party).enumerate().for_each(|(at, bit)| values.add(at, plan.is_negated(bit)));
        Ok(Bits::filled(plan.output_bits(self.party), |own| own.copy_from_slice(&values.0)))
    }
}

/// The message that opens the masks of its outputs to a party.
fn told_masks(plan: &Plan, masks: &Masks, to: u16) -> Vec<u8> {
    told(plan.tag(), masks.of_outputs(Party(to)))
}

/// The evaluator's walk along the active labels of all garblers, and what it finds on the way.
struct Evaluation<'p> {
    plan: &'p Plan,
    walk: Walk<'p>,
    /// With tags, the check of all gates.
    check: Option<TagCheck>,
    /// Otherwise, what was revealed.
    revealed: Option<Revealed>,
}

impl<'p> Evaluation<'p> {
    /// Begins with the active labels of all input bits.
    fn new<K: Conduct<Step>>(ground: &Ground<K>, plan: &'p Plan, run: u64, labels: &[Block]) -> Self {
        let (garblers, slots) = (plan.garbler_count(), plan.slots().len());
        let mut negation = vec![Block::from_u128(1); garblers];
        negation.resize(slots, Block::ZERO);
        let walk = plan.walk(lanes_of_labels((garblers, slots), labels), &negation);
        let check = plan.has_tags().then(|| TagCheck::new(ground.delta.block(), plan.tag().bytes));
        let revealed = (!plan.has_tags()).then(|| ground.reveal_nothing(plan, run));
        Evaluation { plan, walk, check, revealed }
    }

    /// Evaluates the next gates. Returns the messages that reveal them, if gates are checked by these.
    fn lot<K: Conduct<Step>>(
        &mut self,
        ground: &Ground<K>,
        session: &mut MeshSession,
        (seeds, lot, read): (&[Block], &Lot, &KeptWires),
    ) -> Option<PerPeer<Vec<u8>>> {
        let Evaluation { plan, walk, check, revealed } = self;
        let gates = lot.gates.len();
        let (Some(revealed), Some(parts)) = (revealed, &lot.parts) else {
            evaluate_lot(walk, gates, seeds, &lot.circuit, check.as_mut(), None);
            return None;
        };
        let mut seen = Seen::with_room(plan.garbler_count(), gates);
        evaluate_lot(walk, gates, seeds, &lot.circuit, None, Some(&mut seen));
        Some(ground.reveal(session, plan, revealed, (parts, lot, read, &seen)))
    }
}

/// The gates of the next lot, for every flow of a streamed circuit: none after the last lot.
fn steps(plan: &Plan) -> impl Iterator<Item = Option<usize>> {
    let after = FLOWS - 1 + usize::from(!plan.has_tags());
    plan.lots().into_iter().map(|lot| Some(lot.len())).chain(std::iter::repeat_n(None, after))
}

/// Reports a lot that is made.
fn report(session: &mut MeshSession, plan: &Plan, lot: Option<&Lot>) {
    if let Some(lot) = lot {
        session.advance(lot.gates.end as u64, plan.and_count() as u64);
    }
}

/// A garbler's messages where a lot is revealed, which are empty, and the bytes of the evaluator's.
fn to_be_revealed(session: &mut MeshSession, plan: &Plan, lot: &Lot) -> Revealing {
    let nothing = session.mesh().per_peer(|_| Vec::new());
    (nothing, message_bytes(plan, lot.gates.start, lot.gates.len()))
}

/// The verdict on all gates by their tags, after the last one.
///
/// *Errors*: [`TAGS`].
fn verified_by_tags(check: Option<TagCheck>) -> Result<Verified, ProtocolError> {
    let fits = check.map_or(Choice::from(0), |check| check.difference().ct_eq(&Block::ZERO));
    Verified::of(fits, TAGS, "the tags of a gate do not fit its labels")
}

/// The labels of `inputs` inputs of the garbler in a slot, from the messages of all garblers.
pub(super) fn unlocked(messages: &[&[u8]], slot: usize, inputs: usize) -> Zeroizing<Vec<Block>> {
    let keys_at = 16 * inputs + DIGEST_BYTES;
    // Garbler `other` has this one's key after those of all that come before this one, itself left out.
    let keys = messages.iter().enumerate().filter(|(other, _)| *other != slot).map(|(other, message)| {
        let place = slot - usize::from(slot > other);
        block_of_at(message, keys_at + 16 * place)
    });
    let lock = Zeroizing::new(keys.fold(Block::ZERO, |sum, key| sum ^ key));
    let mut labels = Zeroizing::new(vec![Block::ZERO; inputs]);
    Prg::new(*lock).fill_blocks(&mut labels);
    labels.iter_mut().enumerate().for_each(|(at, label)| *label ^= block_of_at(messages[slot], 16 * at));
    labels
}

fn block_of_at(message: &[u8], at: usize) -> Block {
    super::shares::block_of(&message[at..at + 16])
}
