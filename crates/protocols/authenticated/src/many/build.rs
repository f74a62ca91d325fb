//! The build: triples are joined to the function, and the garblers make the circuit for the evaluator.
//!
//! | flow | who | what | bytes |
//! |---|---|---|---|
//! | B1, 1 | all to all | shares of the sums of operands' masks and triples; the masks of the other's inputs | A/4; 1/8 and a tag for each |
//! | B1, 2 | all to all | the proof | 16 |
//! | B2, 1 | garbler to garbler | its part of the tables for the other's difference; tags of the pieces that the other collects | 48 A; 3 tags for each gate of them |
//! | B2, 2 | garbler to evaluator | the seed of its hash key; the sums of its tables, and of the tags that it collects | 16; 48 A; 3 tags for each gate of them |
//!
//! *Symbols*: `sigma` is the product of the masks of a gate's operands. With a triple `x`, `y`, `z`, `d = lambda_a + x` and `e = lambda_b + y` it is
//! `z + d y + e x + d e`.
//!
//! The published protocol sends all parts of tables to the evaluator, which uses their sums alone. Here garblers add them up: what a garbler changes in
//! a sum it could have changed in its own part.

use garblet_circuit::Party;
use garblet_garble::joint::{self, GarblerPart, Quad, TABLE, circuit_blocks, place};
use garblet_net::PerPeer;
use garblet_primitives::{Backend, Block};
use garblet_protocol::{MeshSession, Phase, conduct::Conduct, domain::SessionId, error::ProtocolError};
use zeroize::{Zeroize, Zeroizing};

use super::{
    Step,
    checks::{GATE_BITS, INPUT_MASKS},
    ground::Ground,
    open::{hear, told, told_bytes},
    place::Place,
    plan::Plan,
    reveal::Parts,
    saved::Read,
    shares::block_of,
    shares::{Shares, Supply, Triples, add_public},
    wires::{KeptWires, Labels, Masks, lanes},
};
use crate::opening::{Packed, Sums};

/// Gates whose tags are collected together.
const PIECE: usize = 4096;

/// A party's build of one run.
pub(super) struct Built {
    /// The session, whose difference everything is made for.
    pub(super) id: SessionId,
    /// Its shares of gates, if these are checked by their masked values.
    pub(super) parts: Option<Parts>,
    /// The number of the run.
    pub(super) run: u64,
    /// The shares of all wires' masks, with a garbler's zero labels.
    pub(super) masks: Masks,
    /// The masks of this party's own inputs.
    pub(super) own_masks: Packed,
    /// A garbler's zero labels of inputs, and, if masked values are revealed, of gates.
    pub(super) labels: Labels,
    /// The evaluator's circuit; none of a garbler.
    pub(super) circuit: Option<Circuit>,
    /// The wires that are read.
    pub(super) read: KeptWires,
}

/// The circuit that the evaluator evaluates.
pub(super) struct Circuit {
    /// The seeds of all garblers' hash keys.
    pub(super) seeds: Vec<Block>,
    /// The blocks, by slot: those of garblers, and those of tags.
    pub(super) blocks: Zeroizing<Vec<Block>>,
}

/// The gates whose tags a garbler collects, by its slot; none if there are no tags.
fn collected(plan: &Plan, slot: usize) -> impl Iterator<Item = usize> + use<> {
    let (gates, garblers) = (plan.and_count(), plan.garbler_count());
    (0..if plan.has_tags() { gates } else { 0 }).filter(move |gate| gate / PIECE % garblers == slot)
}

impl<K: Conduct<Step>> Ground<K> {
    /// Joins a supply to the function.
    ///
    /// *Errors*: somebody who cheats; the connections'.
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
        let base = plan.input_count() + plan.and_count();
        let garbles = plan.slot(self.party).is_some();
        let mut labels: Labels = Zeroizing::new(vec![Block::ZERO; if garbles { base } else { 0 }]);
        session.rng().fill_blocks(&mut labels);
        labels.iter_mut().for_each(|label| *label = label.with_lsb(false));
        let Read { wires: read, marks } = read;
        if read.len() > 0 {
            supply.masks = with_read(plan, &supply.masks, &read.shares);
            if let Some(zero) = read.labels.first().filter(|_| !labels.is_empty()) {
                plan.read().zip(zero).for_each(|(at, zero)| labels[at] = *zero);
            }
        }
        let agreed = [supply.names(), marks].concat();
        let own = (self.party, self.delta.block());
        let (operands, masks) = Masks::of(plan, own, &supply.masks, garbles.then(|| &labels[..]));
        let (opened, own_masks) = self.open_masks(session, plan, (&supply, &operands), (run, &agreed)).await?;
        let products = self.products_of_masks(std::mem::take(&mut supply.triples), &opened);
        let gates = Gates { masks: &supply.masks, products: &products };
        let parts = (!plan.has_tags()).then(|| gates.parts(plan, &operands));
        drop(operands);
        let circuit = match plan.slot(self.party) {
            Some(slot) => {
                self.garble(session, plan, (slot, &labels), &gates).await?;
                None
            }
            None => Some(self.receive_circuit(session, plan, &gates).await?),
        };
        if plan.has_tags() {
            labels.iter_mut().skip(plan.input_count()).for_each(Zeroize::zeroize);
            labels.truncate(plan.input_count());
        }
        self.over = false;
        Ok(Built { id: self.id, parts, run, masks, own_masks, labels, circuit, read })
    }

    /// Step B1: opens the sums of operands' masks and triples to all, and the masks of inputs to their owners.
    async fn open_masks(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        (supply, operands): (&Supply, &[Shares; 2]),
        (run, agreed): (u64, &[u8]),
    ) -> Result<(Packed, Packed), ProtocolError> {
        let (tag, Triples { a, b, .. }) = (plan.tag(), &supply.triples);
        let sums = |party: Party| {
            let first = Sums::default().and(operands[0].of_party(party), a.of_party(party));
            first.and(operands[1].of_party(party), b.of_party(party))
        };
        let sums: Vec<Sums<'_>> = self.everybody().map(sums).collect();
        let of_inputs = |owner: Party, of: Party| {
            let column = supply.masks.of_party(of);
            plan.inputs_of(owner).map(|at| column[at])
        };
        let more = session.mesh().per_peer(|peer| told(tag, of_inputs(Party(peer), Party(peer))));
        let bits = sums[0].len();
        let expected = told_bytes(tag, plan.input_bits(self.party));
        let own = sums[0].bits();
        let (total, told) = self.open_bits(session, Step::GateBits, &own, (bits, more, expected)).await?;
        let domain = self.common(Place::GateBits, run);
        self.prove_bits(session, (Step::GateProof, GATE_BITS), &sums, &total, (domain, agreed)).await?;
        let own = of_inputs(self.party, self.party);
        let own_masks = hear(tag, own, self.delta.block(), &told, INPUT_MASKS)?;
        Ok((total, own_masks))
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

    /// Step B2 of a garbler.
    async fn garble(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        (own, labels): (usize, &Labels),
        gates: &Gates<'_>,
    ) -> Result<(), ProtocolError> {
        // Now that everything that it hashes is fixed.
        let hash_seed = Block::random(session.rng());
        let slots = plan.slots();
        let (of_inputs, of_gates) = labels.split_at(plan.input_count());
        let inputs = gates.inputs(plan, &slots, Some(of_inputs));
        let shares = slots.iter().map(|&party| gates.shares(plan, party)).collect();
        let part = GarblerPart { hash_seed, delta: &self.delta, own, labels: Some(of_gates), shares };
        let mut tables = joint::garble(Backend::detect(), plan.schedule(), part, inputs);
        let tags = if plan.has_tags() { tables.pop().unwrap_or_default() } else { Vec::new() };
        let bytes = 16 * tables[own].len() + written_bytes(plan, own);
        let mut part = |head: &[u8], slot: usize| {
            let mut message = Vec::with_capacity(head.len() + 16 * tables[slot].len() + written_bytes(plan, slot));
            message.extend_from_slice(head);
            message.extend_from_slice(bytemuck::cast_slice(&std::mem::take(&mut tables[slot])));
            write_tags(plan, slot, &tags, &mut message);
            message
        };
        let outgoing =
            session.mesh().per_peer(|peer| plan.slot(Party(peer)).map_or_else(Vec::new, |slot| part(&[], slot)));
        let mut sums = part(&hash_seed.to_bytes(), own);
        drop(tags);
        let is_garbler = |peer: Party| if plan.slot(peer).is_some() { bytes } else { 0 };
        let parts = self.exchange(session, Step::TableParts, outgoing, is_garbler).await?;
        for (_, part) in parts.iter() {
            sums[16..].iter_mut().zip(part).for_each(|(sum, byte)| *sum ^= byte);
        }
        drop(parts);
        let outgoing = session.mesh().per_peer(|peer| match plan.slot(Party(peer)) {
            Some(_) => Vec::new(),
            None => std::mem::take(&mut sums),
        });
        self.exchange(session, Step::Tables, outgoing, |_| 0).await?;
        Ok(())
    }

    /// Step B2 of the evaluator.
    async fn receive_circuit(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        gates: &Gates<'_>,
    ) -> Result<Circuit, ProtocolError> {
        let (parties, count, tag) = (plan.slots(), plan.and_count(), plan.tag());
        let slots = parties.len();
        let mut blocks = Zeroizing::new(vec![Block::ZERO; circuit_blocks(slots, count)]);
        let shares = parties.iter().map(|&party| gates.shares(plan, party)).collect();
        let inputs = gates.inputs(plan, &parties, None);
        joint::own_shares(Backend::detect(), plan.schedule(), shares, inputs, &mut blocks);
        let bytes = |peer: Party| plan.slot(peer).map_or(0, |slot| 16 + 16 * TABLE * count + written_bytes(plan, slot));
        let nothing = session.mesh().per_peer(|_| Vec::new());
        let messages: PerPeer<Vec<u8>> = self.exchange(session, Step::Tables, nothing, bytes).await?;
        let mut seeds = Vec::new();
        for (slot, (_, message)) in messages.iter().enumerate() {
            let (seed, rest) = message.split_at(16);
            seeds.push(block_of(seed));
            let (tables, tags) = rest.split_at(16 * TABLE * count);
            for (at, block) in tables.as_chunks().0.iter().enumerate() {
                blocks[place(slots, slot, at / TABLE, at % TABLE)] ^= Block::from_bytes(*block);
            }
            let collected = collected(plan, slot).flat_map(|gate| (0..TABLE).map(move |block| (gate, block)));
            for ((gate, block), bytes) in collected.zip(tags.chunks_exact(tag.bytes)) {
                blocks[place(slots, slots - 1, gate, block)] ^= tag.read(bytes);
            }
        }
        Ok(Circuit { seeds, blocks })
    }
}

/// The shares of the masks of all base wires, from those of wires that are read and those of all others.
fn with_read(plan: &Plan, others: &Shares, read: &Shares) -> Shares {
    let mut is_read = vec![false; plan.input_count() + plan.and_count()];
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

/// Bytes of the tags that a garbler collects.
pub(super) fn written_bytes(plan: &Plan, slot: usize) -> usize {
    if !plan.has_tags() {
        return 0;
    }
    let (pieces, rest, garblers) = (plan.and_count() / PIECE, plan.and_count() % PIECE, plan.garbler_count());
    let whole = pieces / garblers + usize::from(slot < pieces % garblers);
    let gates = whole * PIECE + if slot == pieces % garblers { rest } else { 0 };
    TABLE * plan.tag().bytes * gates
}

/// Appends the tags of the gates that a garbler collects, from those of all gates.
fn write_tags(plan: &Plan, slot: usize, tags: &[Block], message: &mut Vec<u8>) {
    let (tag, start) = (plan.tag(), message.len());
    message.resize(start + written_bytes(plan, slot), 0);
    let blocks = collected(plan, slot).flat_map(|gate| &tags[TABLE * gate..TABLE * (gate + 1)]);
    message[start..].chunks_exact_mut(tag.bytes).zip(blocks).for_each(|(to, block)| tag.write(*block, to));
}

/// A party's shares of base wires and of products.
struct Gates<'a> {
    masks: &'a Shares,
    products: &'a Shares,
}

impl Gates<'_> {
    /// A party's shares of gates for the evaluator's difference.
    fn parts(&self, plan: &Plan, operands: &[Shares; 2]) -> Parts {
        let evaluator = plan.evaluator();
        let [left, right] = operands.each_ref().map(|operand| Zeroizing::new(operand.of_party(evaluator).to_vec()));
        let [results, products] = self.shares(plan, evaluator);
        let rest = results.iter().zip(products).map(|(result, product)| *result ^ *product).collect();
        Parts { left, right, rest: Zeroizing::new(rest) }
    }

    /// The shares of gates for a party's difference.
    fn shares(&self, plan: &Plan, party: Party) -> [&[Block]; 2] {
        [&self.masks.of_party(party)[plan.input_count()..], self.products.of_party(party)]
    }

    /// The values that input wires carry: the shares of every slot, and the zero label, if there are labels.
    fn inputs(&self, plan: &Plan, slots: &[Party], labels: Option<&[Block]>) -> Vec<Quad> {
        let shares = slots.iter().map(|&party| self.masks.of_party(party));
        lanes(plan.input_count(), &shares.chain(labels).collect::<Vec<_>>())
    }
}
