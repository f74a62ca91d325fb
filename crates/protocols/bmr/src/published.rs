//! Shares of the rows by OT, as published: Protocol 3.1 with free XOR, with three string OTs (section 3.1.3) that are
//! correlated (section 3.1.4), or without these, to measure their gain: see [`Optimisations`].
//!
//! # Steps
//!
//! | step | what | where |
//! |---|---|---|
//! | 1 | for each gate and ordered pair a bit OT: shares of `lambda_u lambda_v` | [`bit_products`] |
//! | 2 | shares of `lambda_uvw` and of its two forms with one operand inverted; also of the form with both, if it has its own OT | [`row_bits`] |
//! | 3 | for each of these and ordered pair a string OT: shares of its product with `delta^j` | [`Strings`] |
//! | 4 | row 11 is the sum of the other three and `delta^j`; with an OT of its own, `delta^j` is added | [`Strings`] |
//!
//! *Deviation*: the correlated OTs come from our extension, whose delta happens to be the sender's `delta^j`; they are hashed and corrected
//! by a payload, as in the paper with any delta.

use garblet_circuit::Party;
use garblet_net::{Mesh, PerPeer};
use garblet_ot::{BitVec, PadHash};
use garblet_primitives::{Bit, Block, Prg};
use zeroize::Zeroizing;

use super::{
    config::Optimisations,
    pairs::{Count, PairHashes, PairOts, Pairs, correct, exchange_bits},
    plan::Plan,
    rows,
    secrets::Secrets,
    source::{Circuit, RowSource},
};
use garblet_protocol::{MeshSession, error::ProtocolError, session::Watch};

/// The OTs that every party receives, bit OTs first; all choices depend on the circuit.
pub(super) fn count(plan: &Plan, optimisations: Optimisations) -> Count {
    Count { chosen: 0, later: (1 + optimisations.strings()) * plan.and_count() }
}

/// Bytes that a party sends to each other party in string OTs.
pub(super) fn payload_bytes(plan: &Plan, optimisations: Optimisations) -> usize {
    size_of::<Block>() * optimisations.strings() * plan.and_count() * if optimisations.chooses() { 2 } else { 1 }
}

/// The source of rows by OT, as published.
pub(super) struct Published {
    pub(super) pairs: Box<Pairs>,
    pub(super) optimisations: Optimisations,
}

impl RowSource for Published {
    type Material = PerPeer<PairOts>;

    async fn prepare(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        _secrets: &Secrets,
    ) -> Result<Self::Material, ProtocolError> {
        let (count, both_ways) = (count(plan, self.optimisations), self.optimisations == Optimisations::BothWays);
        self.pairs.extend(session, plan.and_count(), &BitVec::default(), |_| count, both_ways).await
    }

    /// *Cost*: four rounds.
    async fn rows(
        &mut self,
        mesh: &mut Mesh,
        Circuit { plan, secrets, numbered }: Circuit<'_>,
        mut ots: PerPeer<PairOts>,
        rng: &mut Prg,
        _watch: &Watch<'_>,
    ) -> Result<Vec<Block>, ProtocolError> {
        let (hashes, optimisations) = (self.pairs.hashes(), self.optimisations);
        let bits = OperandBits::of(plan, secrets);
        // Tweaks of the bit OTs and string OTs of all runs follow one another; a run's last string OT comes before the next run's first.
        let tweak = (1 + optimisations.strings() as u64) * numbered.first;
        let product = bit_products(mesh, plan, secrets, &hashes, &mut ots, &bits, tweak).await?;
        let choices = row_bits(plan, secrets, &bits, &product, optimisations);
        let tweak = tweak + plan.and_count() as u64;
        let strings = Strings { plan, secrets, optimisations, hashes: &hashes, choices: &choices, tweak };
        let mut rows = strings.products(mesh, &mut ots, rng).await?;
        rows::mask(plan, secrets, numbered, &mut rows);
        Ok(rows)
    }
}

/// This party's permutation bits of the operands of every gate, with inversions as party 0's own.
struct OperandBits {
    u: Zeroizing<Vec<bool>>,
    v: Zeroizing<Vec<bool>>,
}

impl OperandBits {
    fn of(plan: &Plan, secrets: &Secrets) -> Self {
        let inverts = secrets.party == Party(0);
        let [u, v] = [(); 2].map(|()| Zeroizing::new(Vec::with_capacity(plan.and_count())));
        let mut bits = OperandBits { u, v };
        secrets.carried_bits(plan, |[u, v], [invert_u, invert_v]| {
            bits.u.push(u ^ (invert_u & inverts));
            bits.v.push(v ^ (invert_v & inverts));
        });
        bits
    }
}

/// Exchanges the corrections that make `choices` the choices of the OTs in `range`.
async fn choose(
    mesh: &mut Mesh,
    ots: &mut PerPeer<PairOts>,
    range: std::ops::Range<usize>,
    choices: &BitVec,
    delta: Block,
) -> Result<(), ProtocolError> {
    let mut corrections = mesh.per_peer(|_| BitVec::default());
    for ((_, corrections), (_, ots)) in corrections.iter_mut().zip(ots.iter()) {
        *corrections = ots.later.slice(range.clone()).xor(choices)?;
    }
    let corrections = exchange_bits(mesh, &corrections, range.len()).await?;
    for ((_, ots), (_, corrections)) in ots.iter_mut().zip(corrections.iter()) {
        correct(&mut ots.q.0[range.clone()], corrections, delta);
    }
    Ok(())
}

/// Both pads of the sender of OTs, and the chosen one of their receiver; nothing of a direction that has no OTs.
fn pads(
    hashes: &PairHashes,
    ots: &PairOts,
    range: std::ops::Range<usize>,
    delta: Block,
    tweak: u64,
) -> [Zeroizing<Vec<Block>>; 3] {
    let zero = ots.q.0[range.clone()].to_vec();
    let one = zero.iter().map(|q| *q ^ delta).collect();
    let chosen = ots.t.0[range].to_vec();
    let hash = |hash: &Option<PadHash>, blocks: Vec<Block>| {
        let mut blocks = Zeroizing::new(blocks);
        match hash {
            Some(hash) => hash.hash_batch(tweak, &mut blocks),
            None => blocks.clear(),
        }
        blocks
    };
    [hash(&hashes.sent, zero), hash(&hashes.sent, one), hash(&hashes.received, chosen)]
}

/// Step 1.
async fn bit_products(
    mesh: &mut Mesh,
    plan: &Plan,
    secrets: &Secrets,
    hashes: &PerPeer<PairHashes>,
    ots: &mut PerPeer<PairOts>,
    bits: &OperandBits,
    tweak: u64,
) -> Result<Zeroizing<Vec<Bit>>, ProtocolError> {
    let (gates, delta) = (plan.and_count(), secrets.delta.block());
    let u: BitVec = bits.u.iter().copied().collect();
    choose(mesh, ots, 0..gates, &u, delta).await?;
    let mut product: Zeroizing<Vec<Bit>> =
        Zeroizing::new(bits.u.iter().zip(bits.v.iter()).map(|(u, v)| Bit::from(u & v)).collect());
    let mut messages = mesh.per_peer(|_| BitVec::default());
    for (((_, message), (_, hashes)), (_, ots)) in messages.iter_mut().zip(hashes.iter()).zip(ots.iter()) {
        let [zero, one, chosen] = pads(hashes, ots, 0..gates, delta, tweak);
        *message =
            zero.iter().zip(one.iter()).zip(bits.v.iter()).map(|((zero, one), v)| zero.lsb() ^ one.lsb() ^ v).collect();
        for ((product, zero), chosen) in product.iter_mut().zip(zero.iter()).zip(chosen.iter()) {
            *product ^= zero.lsb() ^ chosen.lsb();
        }
    }
    let messages = exchange_bits(mesh, &messages, gates).await?;
    for (_, message) in messages.iter() {
        let terms = message.iter().zip(bits.u.iter());
        product.iter_mut().zip(terms).for_each(|(product, (message, &u))| *product ^= message & u);
    }
    Ok(product)
}

/// Step 2: this party's shares, for every gate, of the bits of rows 00, 01 and 10, and of row 11 up to an added one.
fn row_bits(
    plan: &Plan,
    secrets: &Secrets,
    bits: &OperandBits,
    product: &[Bit],
    optimisations: Optimisations,
) -> BitVec {
    let row_bits = |gate: usize| {
        let sum = product[gate] ^ secrets.permutation.get(plan.input_count() + gate);
        let (u, v) = (bits.u[gate], bits.v[gate]);
        [sum, sum ^ u, sum ^ v, sum ^ u ^ v].into_iter().take(optimisations.strings())
    };
    (0..plan.and_count()).flat_map(row_bits).collect()
}

/// Steps 3 and 4.
struct Strings<'a> {
    plan: &'a Plan,
    secrets: &'a Secrets,
    optimisations: Optimisations,
    hashes: &'a PerPeer<PairHashes>,
    choices: &'a BitVec,
    /// The tweak of the first OT.
    tweak: u64,
}

impl Strings<'_> {
    async fn products(
        &self,
        mesh: &mut Mesh,
        ots: &mut PerPeer<PairOts>,
        rng: &mut Prg,
    ) -> Result<Vec<Block>, ProtocolError> {
        let (gates, strings) = (self.plan.and_count(), self.optimisations.strings());
        let (range, delta) = (gates..(1 + strings) * gates, self.secrets.delta.block());
        choose(mesh, ots, range.clone(), self.choices, delta).await?;
        let own = usize::from(self.secrets.party.0);
        let mut rows = vec![Block::ZERO; self.plan.row_blocks()];
        for (ot, bit) in self.choices.iter().enumerate() {
            rows[self.place(ot, own)] ^= delta & Block::mask(bit);
        }
        let mut payloads = mesh.per_peer(|_| Vec::new());
        for (((peer, payload), (_, hashes)), (_, ots)) in payloads.iter_mut().zip(self.hashes.iter()).zip(ots.iter()) {
            let pads = pads(hashes, ots, range.clone(), delta, self.tweak);
            *payload = self.send(peer, pads, &mut rows, rng);
        }
        let mut received = mesh.per_peer(|_| vec![Block::ZERO; payload_bytes(self.plan, self.optimisations) / 16]);
        mesh.exchange(
            &payloads.as_ref().map(|_, payload| bytemuck::cast_slice::<Block, u8>(payload)),
            &mut received.as_mut().map(|_, payload| bytemuck::cast_slice_mut::<Block, u8>(payload)),
        )
        .await?;
        for (peer, payload) in received.iter() {
            self.receive(peer, payload, &mut rows);
        }
        self.add_last_rows(&mut rows);
        Ok(rows)
    }

    /// String OT `s g + r` is slot `j` of row `r` of gate `g`.
    fn place(&self, ot: usize, slot: usize) -> usize {
        let strings = self.optimisations.strings();
        (4 * (ot / strings) + ot % strings) * usize::from(self.plan.parties()) + slot
    }

    /// The payload for a peer, whose choices it multiplies by `delta^j`; adds this party's shares, and its pads as receiver.
    fn send(
        &self,
        peer: u16,
        [zero, one, chosen]: [Zeroizing<Vec<Block>>; 3],
        rows: &mut [Block],
        rng: &mut Prg,
    ) -> Vec<Block> {
        let (own, delta) = (usize::from(self.secrets.party.0), self.secrets.delta.block());
        let mut payload = Vec::with_capacity(payload_bytes(self.plan, self.optimisations) / 16);
        for (ot, ((zero, one), chosen)) in zero.iter().zip(one.iter()).zip(chosen.iter()).enumerate() {
            if self.optimisations.chooses() {
                let share = rng.next_block();
                payload.extend([*zero ^ share, *one ^ share ^ delta]);
                rows[self.place(ot, own)] ^= share;
            } else {
                payload.push(*zero ^ *one ^ delta);
                rows[self.place(ot, own)] ^= *zero;
            }
            rows[self.place(ot, peer.into())] ^= *chosen;
        }
        payload
    }

    /// Adds the payload of a peer.
    fn receive(&self, peer: u16, payload: &[Block], rows: &mut [Block]) {
        for (ot, bit) in self.choices.iter().enumerate() {
            rows[self.place(ot, peer.into())] ^= match self.optimisations.chooses() {
                // Both are read, so that memory does not tell which.
                true => payload[2 * ot] ^ (payload[2 * ot] ^ payload[2 * ot + 1]) & Block::mask(bit),
                false => payload[ot] & Block::mask(bit),
            };
        }
    }

    /// Step 4.
    fn add_last_rows(&self, rows: &mut [Block]) {
        let (parties, own) = (usize::from(self.plan.parties()), usize::from(self.secrets.party.0));
        for gate in rows.chunks_exact_mut(4 * parties) {
            let (three, last) = gate.split_at_mut(3 * parties);
            for (slot, last) in last.iter_mut().enumerate().filter(|_| self.optimisations.strings() == 3) {
                *last = three[slot] ^ three[parties + slot] ^ three[2 * parties + slot];
            }
            last[own] ^= self.secrets.delta.block();
        }
    }
}
