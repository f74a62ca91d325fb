//! The build: triples are joined to the function, and the garblers make the circuit for the evaluator.
//!
//! | flow | who | what | bytes |
//! |---|---|---|---|
//! | B1, 1 | all to all | shares of the sums of operands' masks and triples; the masks of the other's inputs | A/4; 1/8 and a tag for each |
//! | B1, 2 | all to all | the proof | 16 |
//! | B2, 1 | garbler to garbler | its part of the tables for the other's difference; tags of the pieces that the other collects | 48 A; 3 tags for each gate of them |
//! | B2, 2 | garbler to evaluator | the seed of its hash key; the sums of its tables, and of the tags that it collects | 16; 48 A; 3 tags for each gate of them |
//!
//! A circuit that is streamed is made online, lot by lot, each in these flows; only the masks of inputs are opened before. The bits of a lot travel with the proofs of
//! the one before, with the parts of the one before that, and with the sums of a fourth: what is opened depends on masks alone, and tables leave once all bits up
//! to theirs are proved. The point of a lot's proofs is a hash of everything that was opened up to there.
//!
//! *Symbols*: `sigma` is the product of the masks of a gate's operands. With a triple `x`, `y`, `z`, `d = lambda_a + x` and `e = lambda_b + y` it is
//! `z + d y + e x + d e`.
//!
//! The published protocol sends all parts of tables to the evaluator, which uses their sums alone. Here garblers add them up: what a garbler changes in
//! a sum it could have changed in its own part.

use std::ops::Range;

use garblet_circuit::Party;
use garblet_garble::joint::{self, GarblerPart, TABLE, Walk, circuit_blocks, place};
use garblet_net::PerPeer;
use garblet_primitives::Block;
use garblet_protocol::{MeshSession, Phase, conduct::Conduct, domain::SessionId, error::ProtocolError};
use zeroize::Zeroizing;

use super::{
    Step,
    checks::{GATE_BITS, INPUT_MASKS},
    ground::{DIGEST_BYTES, Ground},
    messages::Flow,
    open::{hear, point, told, told_bytes, totals},
    place::Place,
    plan::Plan,
    reveal::Parts,
    saved::Read,
    shares::{Shares, Triples, add_public, block_of},
    supply::Supply,
    wires::{KeptWires, Labels, Masks, Wiring, lanes, zero_label_negation},
};
use crate::{
    config::Build,
    opening::{PROOF_BYTES, Packed, Sums},
};

/// Gates whose tags are collected together. Tests have few.
const PIECE: usize = if cfg!(test) { 24 } else { 4096 };

/// A party's build of one run.
pub(super) struct Built {
    /// The session, whose difference everything is made for.
    pub(super) id: SessionId,
    /// The number of the run.
    pub(super) run: u64,
    /// The masks of this party's own inputs.
    pub(super) own_masks: Packed,
    /// A garbler's zero labels of inputs.
    pub(super) labels: Labels,
    /// The wires that are read.
    pub(super) read: KeptWires,
    pub(super) work: Work,
}

/// The circuit of a run, or what it will be made of.
pub(super) enum Work {
    Made(Box<Made>),
    Waiting(Box<Waiting>),
}

/// A circuit that was made ahead.
pub(super) struct Made {
    /// The shares of the masks of outputs.
    pub(super) masks: Masks,
    pub(super) seeds: Vec<Block>,
    /// All gates.
    pub(super) lot: Lot,
}

/// The material of a circuit that is streamed.
pub(super) struct Waiting {
    pub(super) supply: Supply,
    /// The shares of the masks of input bits.
    pub(super) masks: Shares,
    /// The digest of everything that was agreed and opened so far.
    pub(super) agreed: [u8; DIGEST_BYTES],
}

/// A party's part of the circuit of some gates.
pub(super) struct Lot {
    pub(super) gates: Range<usize>,
    /// Its shares of the gates, if these are checked by their masked values.
    pub(super) parts: Option<Parts>,
    /// In that case, a garbler's zero labels of the gates.
    pub(super) labels: Labels,
    /// The evaluator's circuit, by slot: the blocks of garblers, and those of tags; none of a garbler.
    pub(super) circuit: Zeroizing<Vec<Block>>,
}

/// The gates of a lot whose tags a garbler collects, by its slot, as numbers in the lot; none if there are no tags.
fn collected(plan: &Plan, slot: usize, lot: &Range<usize>) -> impl Iterator<Item = usize> + use<> {
    let (first, garblers) = (lot.start, plan.garbler_count());
    (0..if plan.has_tags() { lot.len() } else { 0 }).filter(move |gate| (first + gate) / PIECE % garblers == slot)
}

/// Uniform zero labels, with bit 0 zero.
fn fresh_labels(session: &mut MeshSession, count: usize) -> Labels {
    let mut labels: Labels = Zeroizing::new(vec![Block::ZERO; count]);
    session.rng().fill_blocks(&mut labels);
    labels.iter_mut().for_each(|label| *label = label.with_lsb(false));
    labels
}

impl<K: Conduct<Step>> Ground<K> {
    /// Joins a supply to the function, or to its inputs alone if the circuit is streamed.
    ///
    /// *Errors*: somebody who cheats; the connections'; material that was changed.
    pub(super) async fn build(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        (mut supply, read): (Supply, Read),
    ) -> Result<Built, ProtocolError> {
        self.check_sound()?;
        // Whatever ends this build ends the session.
        self.over = true;
        session.enter(Phase::Build);
        let run = self.runs;
        self.runs += 1;
        let garbles = plan.slot(self.party).is_some();
        let mut labels = fresh_labels(session, if garbles { plan.input_count() } else { 0 });
        let Read { wires: read, marks } = read;
        let agreed = [supply.names(), marks].concat();
        let mut masks = supply.inputs(plan.given_count())?;
        if read.len() > 0 {
            masks = with_read(plan, &masks, &read.shares);
            if let Some(zero) = read.labels.first().filter(|_| garbles) {
                plan.read().zip(zero).for_each(|(at, zero)| labels[at] = *zero);
            }
        }
        let (own_masks, work) = match plan.config().build {
            Build::Ahead => {
                let material = supply.next(plan.and_count())?;
                let opening = Opening { place: Place::GateBits, run, agreed };
                let mut making = Making::new(self, plan, opening, (&masks, &labels));
                let (lot, own_masks) = making.all(self, session, material, &masks).await?;
                let (seeds, masks) = (std::mem::take(&mut making.seeds), making.finish());
                (own_masks, Work::Made(Box::new(Made { masks, seeds, lot })))
            }
            Build::Stream => {
                let (own_masks, agreed) = self.open_inputs(session, plan, &masks, (run, &agreed)).await?;
                (own_masks, Work::Waiting(Box::new(Waiting { supply, masks, agreed })))
            }
        };
        self.over = false;
        Ok(Built { id: self.id, run, own_masks, labels, read, work })
    }

    /// Opens the masks of inputs to their owners, and nothing to all. Returns those of this party's own, and the digest of what was agreed.
    async fn open_inputs(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        masks: &Shares,
        (run, agreed): (u64, &[u8]),
    ) -> Result<(Packed, [u8; DIGEST_BYTES]), ProtocolError> {
        let more = session.mesh().per_peer(|peer| told_inputs(plan, masks, Party(peer)));
        let expected = told_bytes(plan.tag(), plan.input_bits(self.party));
        let nothing = (0, more, expected);
        let (total, told) = self.open_bits(session, Step::GateBits, &Packed::zeros(0), nothing).await?;
        let digest = point(self.common(Place::GateBits, run), agreed, &total);
        let sums: Vec<Sums<'_>> = self.everybody().map(|_| Sums::default()).collect();
        self.prove_bits(session, (Step::GateProof, GATE_BITS), &sums, &total, digest).await?;
        Ok((self.hear_inputs(plan, masks, &told)?, digest))
    }

    /// The masks of this party's inputs, from the others' messages.
    ///
    /// *Errors*: [`INPUT_MASKS`]; malformed bits.
    fn hear_inputs(&self, plan: &Plan, masks: &Shares, told: &PerPeer<Vec<u8>>) -> Result<Packed, ProtocolError> {
        let own = masks.of_party(self.party);
        hear(plan.tag(), plan.inputs_of(self.party).map(|at| own[at]), self.delta.block(), told, INPUT_MASKS)
    }

    /// The shares of the products of operands' masks, from triples and the opened sums.
    fn products_of_masks(&self, mut triples: Triples, opened: &Packed) -> Shares {
        let gates = triples.a.len();
        let Triples { a, b, c } = &mut triples;
        let factors = a.columns().iter().zip(b.columns());
        for ((a, b), c) in factors.zip(c.columns_mut()) {
            for (gate, ((c, a), b)) in c.iter_mut().zip(a).zip(b).enumerate() {
                *c ^= Block::mask(opened.get(gate)) & *b ^ Block::mask(opened.get(gates + gate)) & *a;
            }
        }
        let both = |gate: usize| opened.get(gate) & opened.get(gates + gate);
        add_public(c.columns_mut(), self.party, self.delta.block(), 0..gates, both);
        std::mem::take(c)
    }
}

/// The message that opens the masks of a party's inputs to it, from this party's shares of those of all inputs.
fn told_inputs(plan: &Plan, masks: &Shares, owner: Party) -> Vec<u8> {
    let column = masks.of_party(owner);
    told(plan.tag(), plan.inputs_of(owner).map(|at| column[at]))
}

/// Everything that opened bits hang on.
struct Opening {
    place: Place,
    run: u64,
    /// Everything that was agreed before the first lot; then the digest that has this and all bits up to the last lot.
    agreed: Vec<u8>,
}

/// A circuit that is made lot by lot. Every lot takes four flows: bits, proofs, parts of tables, sums. Those of one lot travel with others of the lots behind it.
pub(super) struct Making<'p> {
    plan: &'p Plan,
    wiring: Wiring<'p>,
    /// The wires of the tables, which carry shares by slot, and a garbler's zero labels.
    tables: Walk<'p>,
    opening: Opening,
    /// The seed of a garbler's hash key, or of those of all garblers, from the first lot on.
    pub(super) seeds: Vec<Block>,
    opened: Option<Opened>,
    garbled: Option<Garbled>,
    summed: Option<Garbled>,
    /// The number of gates before the next lot.
    next: usize,
}

/// The flows of a lot.
pub(super) const FLOWS: usize = 4;

/// A lot whose bits are opened, and not proved yet.
struct Opened {
    gates: Range<usize>,
    triples: Triples,
    masks: Shares,
    operands: [Shares; 2],
    labels: Labels,
    total: Packed,
    digest: [u8; DIGEST_BYTES],
}

impl Opened {
    /// This party's bits.
    fn bits(&self) -> Packed {
        self.sums()[0].bits()
    }

    /// The shares of the opened bits, by party.
    fn sums(&self) -> Vec<Sums<'_>> {
        let Triples { a, b, .. } = &self.triples;
        let sums = |party: Party| {
            let first = Sums::default().and(self.operands[0].of_party(party), a.of_party(party));
            first.and(self.operands[1].of_party(party), b.of_party(party))
        };
        (0..a.columns().len()).map(|party| sums(Party(party as u16))).collect()
    }
}

/// A lot whose gates are garbled, by this party.
struct Garbled {
    lot: Lot,
    /// A garbler's parts of tables and tags for other garblers, by slot; nothing in its own slot.
    parts: Vec<Vec<u8>>,
    /// A garbler's message to the evaluator, with its own part until those of others are added.
    sums: Vec<u8>,
    /// The first byte of the tables there.
    start: usize,
}

/// The masked values that are revealed in a flow, and their bytes from the evaluator.
pub(super) type Revealing = (PerPeer<Vec<u8>>, usize);

impl<'p> Making<'p> {
    /// Begins before the first gate, with the shares of the masks of input bits, and a garbler's zero labels of them.
    fn new<K: Conduct<Step>>(
        ground: &Ground<K>,
        plan: &'p Plan,
        opening: Opening,
        (masks, labels): (&Shares, &Labels),
    ) -> Self {
        let (own, delta) = (ground.party, ground.delta.block());
        let labels = plan.slot(own).map(|_| &labels[..]);
        let wiring = Wiring::new(plan, (own, delta), masks, labels);
        let slots = plan.slots();
        let columns: Vec<&[Block]> = slots.iter().map(|&party| masks.of_party(party)).chain(labels).collect();
        let mut negation = vec![Block::ZERO; slots.len()];
        negation.extend(labels.map(|_| zero_label_negation(delta)));
        let tables = plan.walk(lanes(plan.input_count(), &columns), &negation);
        let (opened, garbled, summed) = (None, None, None);
        Making { plan, wiring, tables, opening, seeds: Vec::new(), opened, garbled, summed, next: 0 }
    }

    /// Goes on with a streamed circuit.
    pub(super) fn streamed<K: Conduct<Step>>(
        ground: &Ground<K>,
        plan: &'p Plan,
        run: u64,
        (waiting, labels): (&Waiting, &Labels),
    ) -> Self {
        let opening = Opening { place: Place::LotBits, run, agreed: waiting.agreed.to_vec() };
        Making::new(ground, plan, opening, (&waiting.masks, labels))
    }

    /// Makes the whole circuit. Also returns the masks of this party's inputs, from shares of those of all inputs.
    ///
    /// *Errors*: somebody who cheats; the connections'.
    async fn all<K: Conduct<Step>>(
        &mut self,
        ground: &mut Ground<K>,
        session: &mut MeshSession,
        material: (Triples, Shares),
        inputs: &Shares,
    ) -> Result<(Lot, Packed), ProtocolError> {
        let told = self.open(ground, session, material, inputs).await?;
        self.step(ground, session, (None, None)).await?;
        let own_masks = ground.hear_inputs(self.plan, inputs, &told)?;
        loop {
            if let (Some(lot), _) = self.step(ground, session, (None, None)).await? {
                return Ok((lot, own_masks));
            }
        }
    }

    /// The first flow of the whole circuit, with shares of the masks of others' inputs.
    async fn open<K: Conduct<Step>>(
        &mut self,
        ground: &mut Ground<K>,
        session: &mut MeshSession,
        material: (Triples, Shares),
        inputs: &Shares,
    ) -> Result<PerPeer<Vec<u8>>, ProtocolError> {
        let (plan, opened) = (self.plan, self.join(ground, session, material));
        let own = opened.bits();
        let more = session.mesh().per_peer(|peer| told_inputs(plan, inputs, Party(peer)));
        let expected = told_bytes(plan.tag(), plan.input_bits(ground.party));
        let bits = 2 * opened.gates.len();
        let (total, told) = ground.open_bits(session, Step::GateBits, &own, (bits, more, expected)).await?;
        self.opened = Some(self.conclude(ground, opened, total));
        Ok(told)
    }

    /// One flow: the bits of the next lot, the proofs of the one before, the parts of tables of the one before that, and the sums of the one before that; and masked
    /// values that are revealed. Returns the lot whose circuit is made now, and the messages of revealed values.
    ///
    /// *Errors*: somebody who cheats; the connections'.
    pub(super) async fn step<K: Conduct<Step>>(
        &mut self,
        ground: &mut Ground<K>,
        session: &mut MeshSession,
        (material, revealing): (Option<(Triples, Shares)>, Option<Revealing>),
    ) -> Result<(Option<Lot>, Option<PerPeer<Vec<u8>>>), ProtocolError> {
        let plan = self.plan;
        let (opened, mut garbled, mut summed) = (self.opened.take(), self.garbled.take(), self.summed.take());
        let next = material.map(|material| self.join(ground, session, material));
        let (mut flow, is_revealing) = (Flow::new(session), revealing.is_some());
        if let Some((messages, bytes)) = revealing {
            let expected = |peer| if peer == plan.evaluator() { bytes } else { 0 };
            flow.add((Step::RevealedGates, &mut ground.conduct), messages, expected);
        }
        if let Some(next) = &next {
            let own = next.bits();
            let messages = session.mesh().per_peer(|_| own.0.clone());
            flow.add((Step::GateBits, &mut ground.conduct), messages, |_| own.0.len());
        }
        if let Some(opened) = &opened {
            let proofs = ground.proofs(&opened.sums(), opened.digest);
            flow.add((Step::GateProof, &mut ground.conduct), proofs, |_| PROOF_BYTES);
        }
        if let Some(garbled) = &mut garbled {
            garbled.send_parts(ground, plan, &mut flow);
        }
        if let Some(summed) = &mut summed {
            summed.send_sums(ground, plan, &mut flow);
        }
        let mut heard = flow.exchange(session).await?;
        let revealed = if is_revealing { heard.next() } else { None };
        let bits = if next.is_some() { heard.next() } else { None };
        // Before the next bits: whoever sends them in a wrong form hides no proof that failed.
        if let Some(opened) = opened
            && let Some(theirs) = heard.next()
        {
            ground.check_proofs(GATE_BITS, (&opened.sums(), &opened.total), opened.digest, &theirs)?;
            self.garbled = Some(self.garble(ground, session, opened));
        }
        if let Some(next) = next
            && let Some(mut theirs) = bits
        {
            let total = totals(&next.bits(), 2 * next.gates.len(), &mut theirs)?;
            self.opened = Some(self.conclude(ground, next, total));
        }
        if let Some(garbled) = garbled
            && let Some(theirs) = heard.next()
        {
            self.summed = Some(garbled.with_parts(&theirs));
        }
        let made = summed.zip(heard.next()).map(|(summed, theirs)| self.circuit(summed, &theirs));
        Ok((made, revealed))
    }

    /// The next lot, joined to its material.
    fn join<K: Conduct<Step>>(
        &mut self,
        ground: &Ground<K>,
        session: &mut MeshSession,
        (triples, masks): (Triples, Shares),
    ) -> Opened {
        let gates = self.next..self.next + masks.len();
        self.next = gates.end;
        let slot = self.plan.slot(ground.party);
        let labels = fresh_labels(session, slot.map_or(0, |_| gates.len()));
        let operands = self.wiring.advance(&masks, slot.map(|_| &labels[..]));
        Opened { gates, triples, masks, operands, labels, total: Packed::zeros(0), digest: [0; DIGEST_BYTES] }
    }

    /// The lot with the totals of its bits.
    fn conclude<K: Conduct<Step>>(&mut self, ground: &Ground<K>, lot: Opened, total: Packed) -> Opened {
        let Opening { place, run, agreed } = &mut self.opening;
        let digest = point(ground.common(*place, *run), agreed, &total);
        *agreed = digest.to_vec();
        Opened { total, digest, ..lot }
    }

    /// This party's part of the gates of a lot, whose opened bits are right.
    fn garble<K: Conduct<Step>>(
        &mut self,
        ground: &Ground<K>,
        session: &mut MeshSession,
        Opened { gates: lot, triples, masks, operands, labels, total, .. }: Opened,
    ) -> Garbled {
        let plan = self.plan;
        let products = ground.products_of_masks(triples, &total);
        let gates = Gates { masks: &masks, products: &products };
        let parts = (!plan.has_tags()).then(|| gates.parts(plan, operands));
        let shares = plan.slots().iter().map(|&party| gates.shares(party)).collect();
        let Some(own) = plan.slot(ground.party) else {
            let mut circuit = Zeroizing::new(vec![Block::ZERO; circuit_blocks(plan.slots().len(), lot.len())]);
            joint::own_shares_of_lot(&mut self.tables, lot.len(), shares, &mut circuit);
            let lot = Lot { gates: lot, parts, labels, circuit };
            return Garbled { lot, parts: Vec::new(), sums: Vec::new(), start: 0 };
        };
        let mut sums = Vec::new();
        if self.seeds.is_empty() {
            // Now that everything that it hashes is fixed.
            let seed = Block::random(session.rng());
            self.seeds.push(seed);
            sums.extend_from_slice(&seed.to_bytes());
        }
        let start = sums.len();
        let (hash_seed, delta) = (self.seeds[0], &ground.delta);
        let part = GarblerPart { hash_seed, delta, own, labels: Some(&labels[..]), shares };
        let mut tables = joint::garble_lot(&mut self.tables, lot.len(), part);
        let tags = if plan.has_tags() { tables.pop().unwrap_or_default() } else { Vec::new() };
        let mut others = Vec::new();
        for (slot, tables) in tables.into_iter().enumerate() {
            let (mut part, bytes) = (Vec::new(), table_bytes(plan, slot, &lot));
            let message = if slot == own { &mut sums } else { &mut part };
            message.reserve_exact(bytes);
            message.extend_from_slice(bytemuck::cast_slice(&tables));
            write_tags(plan, slot, (&lot, &tags), message);
            others.push(part);
        }
        let labels = if plan.has_tags() { Labels::default() } else { labels };
        let lot = Lot { gates: lot, parts, labels, circuit: Zeroizing::default() };
        Garbled { lot, parts: others, sums, start }
    }

    /// The circuit of a lot: the evaluator adds the sums of all garblers to its own part.
    fn circuit(&mut self, Garbled { mut lot, .. }: Garbled, messages: &PerPeer<Vec<u8>>) -> Lot {
        let (plan, count, blocks) = (self.plan, lot.gates.len(), &mut lot.circuit);
        let slots = plan.slots().len();
        let of_garblers = messages.iter().filter(|(_, message)| !message.is_empty());
        for (slot, (_, message)) in of_garblers.enumerate() {
            let (seed, rest) = message.split_at(if lot.gates.start == 0 { 16 } else { 0 });
            if !seed.is_empty() {
                self.seeds.push(block_of(seed));
            }
            let (tables, tags) = rest.split_at(16 * TABLE * count);
            for (at, block) in tables.as_chunks().0.iter().enumerate() {
                blocks[place(slots, slot, at / TABLE, at % TABLE)] ^= Block::from_bytes(*block);
            }
            let collected = collected(plan, slot, &lot.gates).flat_map(|gate| (0..TABLE).map(move |at| (gate, at)));
            for ((gate, block), bytes) in collected.zip(tags.chunks_exact(plan.tag().bytes)) {
                blocks[place(slots, slots - 1, gate, block)] ^= plan.tag().read(bytes);
            }
        }
        lot
    }

    /// The shares of the masks of outputs, after the last gate.
    pub(super) fn finish(self) -> Masks {
        self.wiring.finish()
    }
}

impl Garbled {
    /// Adds the flow of parts of tables.
    fn send_parts<K: Conduct<Step>>(&mut self, ground: &mut Ground<K>, plan: &Plan, flow: &mut Flow) {
        let Garbled { lot, parts, .. } = self;
        let messages = ground.pairs.map_ref(|peer, _| {
            let slot = plan.slot(Party(peer));
            slot.and_then(|slot| parts.get_mut(slot)).map(std::mem::take).unwrap_or_default()
        });
        let bytes = plan.slot(ground.party).map_or(0, |slot| table_bytes(plan, slot, &lot.gates));
        let expected = |peer: Party| if plan.slot(peer).is_some() { bytes } else { 0 };
        flow.add((Step::TableParts, &mut ground.conduct), messages, expected);
    }

    /// Adds the parts of other garblers to this one's sums.
    fn with_parts(mut self, theirs: &PerPeer<Vec<u8>>) -> Self {
        for (_, part) in theirs.iter() {
            self.sums[self.start..].iter_mut().zip(part).for_each(|(sum, byte)| *sum ^= byte);
        }
        self
    }

    /// Adds the flow of sums.
    fn send_sums<K: Conduct<Step>>(&mut self, ground: &mut Ground<K>, plan: &Plan, flow: &mut Flow) {
        let Garbled { lot: Lot { gates, .. }, sums, .. } = self;
        let messages = ground.pairs.map_ref(|peer, _| match plan.slot(Party(peer)) {
            Some(_) => Vec::new(),
            None => std::mem::take(sums),
        });
        let seed = if gates.start == 0 { 16 } else { 0 };
        let is_evaluator = plan.slot(ground.party).is_none();
        let expected = |peer: Party| match plan.slot(peer).filter(|_| is_evaluator) {
            Some(slot) => seed + table_bytes(plan, slot, gates),
            None => 0,
        };
        flow.add((Step::Tables, &mut ground.conduct), messages, expected);
    }
}

/// Bytes of a part of the tables of a lot for a garbler, with those of the tags that it collects.
fn table_bytes(plan: &Plan, slot: usize, lot: &Range<usize>) -> usize {
    16 * TABLE * lot.len() + written_bytes(plan, slot, lot)
}

/// The shares of the masks of all input bits, from those of wires that are read and those of all others.
fn with_read(plan: &Plan, others: &Shares, read: &Shares) -> Shares {
    let mut is_read = vec![false; plan.input_count()];
    plan.read().for_each(|at| is_read[at] = true);
    let column = |(others, read): (&Vec<Block>, &Vec<Block>)| {
        let (mut others, mut read) = (others.iter(), read.iter());
        let next = is_read.iter().filter_map(|is_read| if *is_read { read.next() } else { others.next() });
        let mut column = Vec::with_capacity(is_read.len());
        column.extend(next);
        column
    };
    Shares::of(others.columns().iter().zip(read.columns()).map(column).collect())
}

/// Bytes of the tags of a lot that a garbler collects.
pub(super) fn written_bytes(plan: &Plan, slot: usize, lot: &Range<usize>) -> usize {
    if !plan.has_tags() {
        return 0;
    }
    let garblers = plan.garbler_count();
    let before = |gate: usize| {
        let (pieces, rest) = (gate / PIECE, gate % PIECE);
        let whole = pieces / garblers + usize::from(slot < pieces % garblers);
        whole * PIECE + if slot == pieces % garblers { rest } else { 0 }
    };
    TABLE * plan.tag().bytes * (before(lot.end) - before(lot.start))
}

/// Appends the tags of the gates that a garbler collects, from those of all gates of a lot.
fn write_tags(plan: &Plan, slot: usize, (lot, tags): (&Range<usize>, &[Block]), message: &mut Vec<u8>) {
    let (tag, start) = (plan.tag(), message.len());
    message.resize(start + written_bytes(plan, slot, lot), 0);
    let blocks = collected(plan, slot, lot).flat_map(|gate| &tags[TABLE * gate..TABLE * (gate + 1)]);
    message[start..].chunks_exact_mut(tag.bytes).zip(blocks).for_each(|(to, block)| tag.write(*block, to));
}

/// A party's shares of the results of gates and of products.
struct Gates<'a> {
    masks: &'a Shares,
    products: &'a Shares,
}

impl Gates<'_> {
    /// A party's shares of gates for the evaluator's difference.
    fn parts(&self, plan: &Plan, operands: [Shares; 2]) -> Parts {
        let evaluator = plan.evaluator();
        let [left, right] = operands.each_ref().map(|operand| Zeroizing::new(operand.of_party(evaluator).to_vec()));
        let [results, products] = self.shares(evaluator);
        let rest = results.iter().zip(products).map(|(result, product)| *result ^ *product).collect();
        Parts { left, right, rest: Zeroizing::new(rest) }
    }

    /// The shares of gates for a party's difference.
    fn shares(&self, party: Party) -> [&[Block]; 2] {
        [self.masks.of_party(party), self.products.of_party(party)]
    }
}
