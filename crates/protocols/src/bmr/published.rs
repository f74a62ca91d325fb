//! Shares of the rows by OT, as published: Protocol 3.1 with free XOR, with three string OTs (section 3.1.3) that are
//! correlated (section 3.1.4), or, to measure what these gain, without: see [`Ladder`].
//!
//! # Steps
//!
//! | step | what | where |
//! |---|---|---|
//! | 1 | for each gate and ordered pair a bit OT: shares of `lambda_u lambda_v` | [`bit_products`] |
//! | 2 | shares of `lambda_uvw` and of its two forms with one operand inverted; of that with both, if it has an OT | [`row_bits`] |
//! | 3 | for each of these and ordered pair a string OT: shares of its product with `R^j` | [`Strings`] |
//! | 4 | row 11 is the sum of the other three and `R^j`; with an OT of its own, `R^j` is added | [`Strings`] |
//!
//! *Deviation*: the correlated OTs come from our extension, whose delta happens to be `R^j`; what the paper does with any
//! delta is done with it, that is, hashed and corrected by a payload.

use garblet_circuit::Party;
use garblet_net::{Mesh, PerPeer};
use garblet_ot::Choices;
use garblet_primitives::{Block, OtHash, Prg};
use zeroize::Zeroizing;

use super::{
    config::Ladder,
    pairs::{Count, PairHashes, PairOts, correct, exchange_bits},
    plan::Plan,
    secrets::Secrets,
};
use crate::error::ProtocolError;

/// The OTs that every party receives, bit OTs first; no choice is known before the circuit is.
pub(super) fn count(plan: &Plan, ladder: Ladder) -> Count {
    Count { chosen: 0, later: (1 + ladder.strings()) * plan.and_count() }
}

/// What a party sends each other in string OTs.
pub(super) fn payload_bytes(plan: &Plan, ladder: Ladder) -> usize {
    size_of::<Block>() * ladder.strings() * plan.and_count() * if ladder.chooses() { 2 } else { 1 }
}

/// Which gates, and how.
#[derive(Clone, Copy)]
pub(super) struct Gates {
    pub(super) ladder: Ladder,
    /// The number of the first.
    pub(super) first: u64,
}

/// This party's shares of the rows of every gate.
///
/// *Shape*: as [`super::rows`]. *Unique*: gates by their numbers. *Cost*: four rounds.
pub(super) async fn rows(
    mesh: &mut Mesh,
    plan: &Plan,
    secrets: &Secrets,
    hashes: PerPeer<PairHashes>,
    mut ots: PerPeer<PairOts>,
    gates: Gates,
    rng: &mut Prg,
) -> Result<Vec<Block>, ProtocolError> {
    let bits = OperandBits::of(plan, secrets);
    // Tweaks of bit OTs and string OTs of all runs follow one another; the last of a run's string OTs is below the next run's.
    let tweak = (1 + gates.ladder.strings() as u64) * gates.first;
    let product = bit_products(mesh, plan, secrets, &hashes, &mut ots, &bits, tweak).await?;
    let choices = row_bits(plan, secrets, &bits, &product, gates.ladder);
    let tweak = tweak + plan.and_count() as u64;
    let strings = Strings { plan, secrets, ladder: gates.ladder, hashes: &hashes, choices: &choices, tweak };
    strings.products(mesh, &mut ots, rng).await
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
    choices: &Choices,
    offset: Block,
) -> Result<(), ProtocolError> {
    let mut corrections = mesh.per_peer(|_| Choices::default());
    for ((_, corrections), (_, ots)) in corrections.iter_mut().zip(ots.iter()) {
        *corrections = ots.later.slice(range.clone()).xor(choices)?;
    }
    let corrections = exchange_bits(mesh, &corrections, range.len()).await?;
    for ((_, ots), (_, corrections)) in ots.iter_mut().zip(corrections.iter()) {
        correct(&mut ots.q.0[range.clone()], corrections, offset);
    }
    Ok(())
}

/// Both pads of the sender of OTs, and the chosen one of their receiver.
fn pads(
    hashes: &PairHashes,
    ots: &PairOts,
    range: std::ops::Range<usize>,
    offset: Block,
    tweak: u64,
) -> [Zeroizing<Vec<Block>>; 3] {
    let zero = ots.q.0[range.clone()].to_vec();
    let one = zero.iter().map(|q| *q ^ offset).collect();
    let chosen = ots.t.0[range].to_vec();
    let hash = |hash: &OtHash, blocks: Vec<Block>| {
        let mut blocks = Zeroizing::new(blocks);
        hash.hash_batch(tweak, &mut blocks);
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
) -> Result<Zeroizing<Vec<bool>>, ProtocolError> {
    let (gates, offset) = (plan.and_count(), secrets.offset.block());
    let u: Choices = bits.u.iter().copied().collect();
    choose(mesh, ots, 0..gates, &u, offset).await?;
    let mut product: Zeroizing<Vec<bool>> =
        Zeroizing::new(bits.u.iter().zip(bits.v.iter()).map(|(u, v)| u & v).collect());
    let mut messages = mesh.per_peer(|_| Choices::default());
    for (((_, message), (_, hashes)), (_, ots)) in messages.iter_mut().zip(hashes.iter()).zip(ots.iter()) {
        let [zero, one, chosen] = pads(hashes, ots, 0..gates, offset, tweak);
        *message =
            zero.iter().zip(one.iter()).zip(bits.v.iter()).map(|((zero, one), v)| zero.lsb() ^ one.lsb() ^ v).collect();
        for ((product, zero), chosen) in product.iter_mut().zip(zero.iter()).zip(chosen.iter()) {
            *product ^= zero.lsb() ^ chosen.lsb();
        }
    }
    let messages = exchange_bits(mesh, &messages, gates).await?;
    for (_, message) in messages.iter() {
        let terms = message.iter().zip(bits.u.iter());
        product.iter_mut().zip(terms).for_each(|(product, (message, u))| *product ^= message & u);
    }
    Ok(product)
}

/// Step 2: of every gate this party's shares of the bits of rows 00, 01 and 10, and of row 11 but for a one.
fn row_bits(plan: &Plan, secrets: &Secrets, bits: &OperandBits, product: &[bool], ladder: Ladder) -> Choices {
    let row_bits = |gate: usize| {
        let sum = product[gate] ^ secrets.permutation.get(plan.input_count() + gate);
        let (u, v) = (bits.u[gate], bits.v[gate]);
        [sum, sum ^ u, sum ^ v, sum ^ u ^ v].into_iter().take(ladder.strings())
    };
    (0..plan.and_count()).flat_map(row_bits).collect()
}

/// Steps 3 and 4.
struct Strings<'a> {
    plan: &'a Plan,
    secrets: &'a Secrets,
    ladder: Ladder,
    hashes: &'a PerPeer<PairHashes>,
    choices: &'a Choices,
    /// Of the first OT.
    tweak: u64,
}

impl Strings<'_> {
    async fn products(
        &self,
        mesh: &mut Mesh,
        ots: &mut PerPeer<PairOts>,
        rng: &mut Prg,
    ) -> Result<Vec<Block>, ProtocolError> {
        let (gates, strings) = (self.plan.and_count(), self.ladder.strings());
        let (range, offset) = (gates..(1 + strings) * gates, self.secrets.offset.block());
        choose(mesh, ots, range.clone(), self.choices, offset).await?;
        let own = usize::from(self.secrets.party.0);
        let mut rows = vec![Block::ZERO; self.plan.row_blocks()];
        for (ot, bit) in self.choices.iter().enumerate() {
            rows[self.place(ot, own)] ^= offset & Block::mask(bit);
        }
        let mut payloads = mesh.per_peer(|_| Vec::new());
        for (((peer, payload), (_, hashes)), (_, ots)) in payloads.iter_mut().zip(self.hashes.iter()).zip(ots.iter()) {
            let pads = pads(hashes, ots, range.clone(), offset, self.tweak);
            *payload = self.send(peer, pads, &mut rows, rng);
        }
        let mut received = mesh.per_peer(|_| vec![Block::ZERO; payload_bytes(self.plan, self.ladder) / 16]);
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
        let strings = self.ladder.strings();
        (4 * (ot / strings) + ot % strings) * usize::from(self.plan.parties()) + slot
    }

    /// What goes to a peer, for whose choices it gets the product with `R^j`; adds this party's shares, and the pads that it
    /// has as receiver.
    fn send(
        &self,
        peer: u16,
        [zero, one, chosen]: [Zeroizing<Vec<Block>>; 3],
        rows: &mut [Block],
        rng: &mut Prg,
    ) -> Vec<Block> {
        let (own, offset) = (usize::from(self.secrets.party.0), self.secrets.offset.block());
        let mut payload = Vec::with_capacity(payload_bytes(self.plan, self.ladder) / 16);
        for (ot, ((zero, one), chosen)) in zero.iter().zip(one.iter()).zip(chosen.iter()).enumerate() {
            if self.ladder.chooses() {
                let share = rng.next_block();
                payload.extend([*zero ^ share, *one ^ share ^ offset]);
                rows[self.place(ot, own)] ^= share;
            } else {
                payload.push(*zero ^ *one ^ offset);
                rows[self.place(ot, own)] ^= *zero;
            }
            rows[self.place(ot, peer.into())] ^= *chosen;
        }
        payload
    }

    /// Adds what has come from a peer.
    fn receive(&self, peer: u16, payload: &[Block], rows: &mut [Block]) {
        for (ot, bit) in self.choices.iter().enumerate() {
            rows[self.place(ot, peer.into())] ^= match self.ladder.chooses() {
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
            for (slot, last) in last.iter_mut().enumerate().filter(|_| self.ladder.strings() == 3) {
                *last = three[slot] ^ three[parties + slot] ^ three[2 * parties + slot];
            }
            last[own] ^= self.secrets.offset.block();
        }
    }
}
