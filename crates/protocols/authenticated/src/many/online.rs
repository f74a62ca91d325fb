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
//! *Locks*: an owner could tell two garblers different masked inputs, and the evaluator would get labels of both. The published protocol broadcasts them, which
//! takes a flow more. Here a garbler's labels come under a stream whose key needs the word of every other garbler, for the digest that *it* heard.

use garblet_circuit::{Bits, OutputWire, Party};
use garblet_garble::joint::{Quad, Seen, TagCheck, evaluate};
use garblet_net::PerPeer;
use garblet_primitives::{Backend, Block, Prg, QUAD_LANES, secrets};
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
    build::{Built, Circuit},
    checks::{INPUT_LABELS, OUTPUT_LABELS, OUTPUT_MASKS, TAGS, Verified, somebody_cheats},
    ground::{DIGEST_BYTES, Ground, check_echo},
    open::{hear, told, told_bytes},
    place::Place,
    plan::Plan,
    wires::{KeptWires, kept_lane, lane_of},
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
        mut built: Built,
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
        let mut kept = std::mem::take(&mut built.masks.kept);
        let values = match &built.circuit {
            None => self.garbler_online(session, plan, &built, &told).await?,
            Some(circuit) => {
                let (values, labels) = self.evaluator_online(session, plan, (&built, circuit), &told).await?;
                kept.labels = labels;
                values
            }
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
        if built.circuit.is_some() {
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

    /// A garbler's part. Returns the outputs that it learns, in order.
    async fn garbler_online(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        built: &Built,
        told_inputs: &Told,
    ) -> Result<Bits, ProtocolError> {
        let (party, tag, evaluator) = (self.party, plan.tag(), plan.evaluator());
        let others: Vec<Party> = plan.garblers().filter(|other| *other != party).collect();
        let locks = others.iter().map(|&other| self.lock(party, other, told_inputs, built.run));
        let lock = Zeroizing::new(locks.fold(Block::ZERO, |sum, lock| sum ^ lock));
        let mut labels: Zeroizing<Vec<Block>> = Zeroizing::new(vec![Block::ZERO; plan.given_count()]);
        Prg::new(*lock).fill_blocks(&mut labels);
        for (label, at) in labels.iter_mut().zip(plan.given()) {
            *label ^= built.labels[at] ^ Block::mask(told_inputs.masked[at]) & self.delta.block();
        }
        let mut keys = Zeroizing::new(Vec::with_capacity(16 * others.len()));
        keys.extend(others.iter().flat_map(|&other| self.lock(other, other, told_inputs, built.run).to_bytes()));
        let outgoing = session.mesh().per_peer(|peer| {
            let masks = if plan.has_tags() { told(tag, built.masks.of_outputs(Party(peer))) } else { Vec::new() };
            match Party(peer) == evaluator {
                true => [bytemuck::cast_slice(&labels), &told_inputs.digest, &keys, &masks[..]].concat(),
                false => masks,
            }
        });
        let count = plan.output_bits(party);
        let learned =
            |peer: Party| if peer == evaluator { handed_over_bytes(plan, party) } else { told_bytes(tag, count) };
        // The evaluator answers when it has the labels of all; what else comes is there by then.
        let mut masks = match &built.parts {
            None => self.exchange(session, Step::InputLabels, outgoing, learned).await?,
            Some(parts) => {
                self.exchange(session, Step::InputLabels, outgoing, |_| 0).await?;
                self.answer(session, plan, (built, parts), told_inputs, learned).await?
            }
        };
        if count == 0 {
            return Ok(Bits::default());
        }
        let Some(message) = masks.get_mut(evaluator.0) else { return Ok(Bits::default()) };
        let of_evaluator = message.split_off(count.div_ceil(8) + DIGEST_BYTES);
        let handed_over = std::mem::replace(message, of_evaluator);
        let (masked, digest) = handed_over.split_at(count.div_ceil(8));
        let masked = Packed::received_of(evaluator, masked, count)?;
        let zero = built.masks.output_labels();
        // Of a constant, too: its label is zero, and another value takes the difference.
        let labels = zero.iter().enumerate().map(|(at, &zero)| zero ^ Block::mask(masked.get(at)) & self.delta.block());
        let expected = self.digest_of_labels(Place::OutputLabels, party, built.run, labels);
        if !secrets::verdict(expected.ct_eq(digest), "authenticated-bmr: whether the labels of outputs fit") {
            return Err(somebody_cheats(OUTPUT_LABELS, "the digest is of other labels"));
        }
        self.unmask(plan, built, &masked, &masks)
    }

    /// The evaluator's part. Returns the outputs that it learns, in order, and all garblers' labels of wires that are kept.
    async fn evaluator_online(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        (built, circuit): (&Built, &Circuit),
        told_inputs: &Told,
    ) -> Result<(Bits, Vec<Vec<Block>>), ProtocolError> {
        let count = plan.output_bits(self.party);
        let bytes = label_bytes(plan);
        let nothing = session.mesh().per_peer(|_| Vec::new());
        let of_masks = if plan.has_tags() { told_bytes(plan.tag(), count) } else { 0 };
        let mut messages = self.exchange(session, Step::InputLabels, nothing, |_| bytes + of_masks).await?;
        let rest = messages.iter_mut().map(|(_, message)| message.split_off(bytes)).collect();
        let mut masks = PerPeer::from_ends(self.party.0, rest);
        let inputs = self.unlock(plan, (&messages, &built.read), told_inputs);
        messages.iter_mut().for_each(|(_, message)| message.zeroize());
        let inputs = inputs?;
        let (wires, verified) = match &built.parts {
            None => self.evaluate(plan, circuit, &inputs)?,
            Some(parts) => {
                let mut seen = Seen::with_room(plan.garbler_count(), plan.and_count());
                let Circuit { seeds, blocks } = circuit;
                let backend = Backend::detect();
                let wires = evaluate(backend, plan.schedule(), seeds, &inputs, blocks, None, Some(&mut seen));
                let (answers, verified) = self.reveal(session, plan, (built, parts), &seen).await?;
                masks = answers;
                (wires, verified)
            }
        };
        let width = plan.slots().len().div_ceil(QUAD_LANES);
        let outgoing =
            session.mesh().per_peer(|peer| self.handed_over(plan, built, (Party(peer), &wires[..], width), &verified));
        self.exchange(session, Step::HandedOver, outgoing, |_| 0).await?;
        let shown = lane_of(plan, (&wires, width), 0, self.party);
        let masked = Packed::collect(count, |at| shown[at].lsb());
        let values = self.unmask(plan, built, &masked, &masks)?;
        Ok((values, (0..plan.garbler_count()).map(|slot| kept_lane(plan, (&wires, width), slot)).collect()))
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

    /// Evaluates, and checks all gates after the last one.
    ///
    /// *Errors*: [`TAGS`].
    fn evaluate(
        &self,
        plan: &Plan,
        circuit: &Circuit,
        inputs: &[Block],
    ) -> Result<(Zeroizing<Vec<Quad>>, Verified), ProtocolError> {
        let mut check = TagCheck::new(self.delta.block(), plan.tag().bytes);
        let Circuit { seeds, blocks } = circuit;
        let wires = evaluate(Backend::detect(), plan.schedule(), seeds, inputs, blocks, Some(&mut check), None);
        let fits = check.difference().ct_eq(&Block::ZERO);
        Ok((wires, Verified::of(fits, TAGS, "the tags of a gate do not fit its labels")?))
    }

    /// The evaluator's message to a garbler.
    fn handed_over(
        &self,
        plan: &Plan,
        built: &Built,
        (to, wires, width): (Party, &[Quad], usize),
        _verified: &Verified,
    ) -> Vec<u8> {
        let (count, slot) = (plan.output_bits(to), plan.slot(to).unwrap_or_default());
        if count == 0 {
            return Vec::new();
        }
        let [shown, labels] = [0, slot].map(|lane| lane_of(plan, (wires, width), lane, to));
        let mut message = Packed::collect(count, |at| shown[at].lsb()).0.clone();
        message.extend_from_slice(&self.digest_of_labels(Place::OutputLabels, to, built.run, labels.iter().copied()));
        message.extend(told(plan.tag(), built.masks.of_outputs(to)));
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
        built: &Built,
        masked: &Packed,
        masks: &PerPeer<Vec<u8>>,
    ) -> Result<Bits, ProtocolError> {
        let own = built.masks.of_outputs(self.party);
        let masks = hear(plan.tag(), own, self.delta.block(), masks, OUTPUT_MASKS)?;
        let mut values = masked.sum(&masks.0);
        for (at, wire) in plan.outputs_of(self.party).enumerate() {
            let inverted = match wire {
                OutputWire::Constant(value) => value,
                OutputWire::Slot(operand) => operand.inverted(),
            };
            values.add(at, inverted);
        }
        Ok(Bits::filled(plan.output_bits(self.party), |own| own.copy_from_slice(&values.0)))
    }
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
