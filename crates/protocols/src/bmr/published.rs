//! Shares of the rows by OT, as published: Protocol 3.1 with free XOR, with three string OTs (section 3.1.3) that are
//! correlated (section 3.1.4).
//!
//! # Steps
//!
//! | step | what | where |
//! |---|---|---|
//! | 1 | for each gate and ordered pair a bit OT: shares of `lambda_u lambda_v` | [`bit_products`] |
//! | 2 | shares of `lambda_uvw` and of its two forms with one operand inverted | [`row_bits`] |
//! | 3 | for each of these and ordered pair a string OT: shares of its product with `R^j` | [`string_products`] |
//! | 4 | row 11 is the sum of the other three and `R^j` | [`rows`] |
//!
//! *Deviation*: the correlated OTs come from our extension, whose delta happens to be `R^j`; what the paper does with any
//! delta is done with it, that is, hashed and corrected by a payload.

use garblet_circuit::Party;
use garblet_net::{Mesh, PerPeer};
use garblet_ot::Choices;
use garblet_primitives::{Block, OtHash};

use super::{
    pairs::{Count, PairHashes, PairOts, correct, exchange_bits},
    plan::Plan,
    secrets::Secrets,
};
use crate::error::ProtocolError;

/// String OTs of a gate: rows 00, 01 and 10.
const STRINGS: usize = 3;

/// The OTs that every party receives, bit OTs first; no choice is known before the circuit is.
pub(super) fn count(plan: &Plan) -> Count {
    Count { chosen: 0, later: (1 + STRINGS) * plan.and_count() }
}

/// This party's shares of the rows of every gate.
///
/// *Shape*: as [`super::rows`]. *Unique*: `first_gate` as gate numbers are. *Cost*: four rounds.
pub(super) async fn rows(
    mesh: &mut Mesh,
    plan: &Plan,
    secrets: &Secrets,
    hashes: PerPeer<PairHashes>,
    mut ots: PerPeer<PairOts>,
    first_gate: u64,
) -> Result<Vec<Block>, ProtocolError> {
    let bits = OperandBits::of(plan, secrets);
    let product = bit_products(mesh, plan, secrets, &hashes, &mut ots, &bits, first_gate).await?;
    let choices = row_bits(plan, secrets, &bits, &product);
    string_products(mesh, plan, secrets, &hashes, &mut ots, &choices, first_gate).await
}

/// This party's permutation bits of the operands of every gate, with inversions as party 0's own.
struct OperandBits {
    u: Vec<bool>,
    v: Vec<bool>,
}

impl OperandBits {
    fn of(plan: &Plan, secrets: &Secrets) -> Self {
        let inverts = secrets.party == Party(0);
        let mut bits = OperandBits { u: Vec::new(), v: Vec::new() };
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
) -> [Vec<Block>; 3] {
    let zero = ots.q.0[range.clone()].to_vec();
    let one = zero.iter().map(|q| *q ^ offset).collect();
    let chosen = ots.t.0[range].to_vec();
    let hash = |hash: &OtHash, mut blocks: Vec<Block>| {
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
    first_gate: u64,
) -> Result<Vec<bool>, ProtocolError> {
    let (gates, offset) = (plan.and_count(), secrets.offset.block());
    let u: Choices = bits.u.iter().copied().collect();
    choose(mesh, ots, 0..gates, &u, offset).await?;
    let mut product: Vec<bool> = bits.u.iter().zip(&bits.v).map(|(u, v)| u & v).collect();
    let mut messages = mesh.per_peer(|_| Choices::default());
    let tweak = (1 + STRINGS as u64) * first_gate;
    for (((_, message), (_, hashes)), (_, ots)) in messages.iter_mut().zip(hashes.iter()).zip(ots.iter()) {
        let [zero, one, chosen] = pads(hashes, ots, 0..gates, offset, tweak);
        *message = zero.iter().zip(&one).zip(&bits.v).map(|((zero, one), v)| zero.lsb() ^ one.lsb() ^ v).collect();
        for ((product, zero), chosen) in product.iter_mut().zip(zero).zip(chosen) {
            *product ^= zero.lsb() ^ chosen.lsb();
        }
    }
    let messages = exchange_bits(mesh, &messages, gates).await?;
    for (_, message) in messages.iter() {
        let terms = message.iter().zip(&bits.u);
        product.iter_mut().zip(terms).for_each(|(product, (message, u))| *product ^= message & u);
    }
    Ok(product)
}

/// Step 2: of every gate this party's shares of the bits of rows 00, 01 and 10.
fn row_bits(plan: &Plan, secrets: &Secrets, bits: &OperandBits, product: &[bool]) -> Choices {
    let row_bits = |gate: usize| {
        let sum = product[gate] ^ secrets.permutation.get(plan.input_count() + gate);
        [sum, sum ^ bits.u[gate], sum ^ bits.v[gate]]
    };
    (0..plan.and_count()).flat_map(row_bits).collect()
}

/// Steps 3 and 4.
async fn string_products(
    mesh: &mut Mesh,
    plan: &Plan,
    secrets: &Secrets,
    hashes: &PerPeer<PairHashes>,
    ots: &mut PerPeer<PairOts>,
    choices: &Choices,
    first_gate: u64,
) -> Result<Vec<Block>, ProtocolError> {
    let (parties, own) = (usize::from(plan.parties()), usize::from(secrets.party.0));
    let (range, offset) = (plan.and_count()..(1 + STRINGS) * plan.and_count(), secrets.offset.block());
    choose(mesh, ots, range.clone(), choices, offset).await?;
    let mut rows = vec![Block::ZERO; plan.row_blocks()];
    // String OT `3 g + r` is slot `j` of row `r` of gate `g`.
    let place = |ot: usize, slot: usize| (4 * (ot / STRINGS) + ot % STRINGS) * parties + slot;
    for (ot, bit) in choices.iter().enumerate() {
        rows[place(ot, own)] ^= offset & Block::mask(bit);
    }
    let mut payloads = mesh.per_peer(|_| Vec::new());
    // Tweaks of bit OTs and string OTs of all runs follow one another; the last of a run's string OTs is below the next run's.
    let tweak = (1 + STRINGS as u64) * first_gate + plan.and_count() as u64;
    for (((peer, payload), (_, hashes)), (_, ots)) in payloads.iter_mut().zip(hashes.iter()).zip(ots.iter()) {
        let [zero, one, chosen] = pads(hashes, ots, range.clone(), offset, tweak);
        *payload = zero.iter().zip(&one).map(|(zero, one)| *zero ^ *one ^ offset).collect::<Vec<Block>>();
        for (ot, (zero, chosen)) in zero.into_iter().zip(chosen).enumerate() {
            rows[place(ot, own)] ^= zero;
            rows[place(ot, peer.into())] ^= chosen;
        }
    }
    let mut received = mesh.per_peer(|_| vec![Block::ZERO; range.len()]);
    mesh.exchange(
        &payloads.as_ref().map(|_, payload| bytemuck::cast_slice::<Block, u8>(payload)),
        &mut received.as_mut().map(|_, payload| bytemuck::cast_slice_mut::<Block, u8>(payload)),
    )
    .await?;
    for (peer, payload) in received.iter() {
        for (ot, (payload, bit)) in payload.iter().zip(choices.iter()).enumerate() {
            rows[place(ot, peer.into())] ^= *payload & Block::mask(bit);
        }
    }
    for gate in rows.chunks_exact_mut(4 * parties) {
        let (three, last) = gate.split_at_mut(STRINGS * parties);
        for (slot, last) in last.iter_mut().enumerate() {
            *last = three[slot] ^ three[parties + slot] ^ three[2 * parties + slot];
        }
        last[own] ^= offset;
    }
    Ok(rows)
}
