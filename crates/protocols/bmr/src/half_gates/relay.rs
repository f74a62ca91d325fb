//! The messages of a build after the products: choices of second OTs and parts of tables, then the sums for the evaluator.

use std::sync::{Mutex, MutexGuard, PoisonError};

use garblet_net::{Channel, Line, Mesh, NetError, PerPeer};
use garblet_ot::{BitVec, OtError};
use garblet_primitives::Block;

use super::{TABLE, evaluator, garbler};
use crate::{
    linear::count,
    pairs::{CORRECTIONS, PairOts, correct},
    plan::Plan,
    shares::own_products,
    source::Circuit,
};
use garblet_circuit::Party;
use garblet_protocol::error::ProtocolError;

/// Blocks that are received together: whole gates.
const PIECE: usize = 6 * 512;

/// Blocks of a gate that a garbler sends the evaluator; with two parties the third is a bit.
pub(super) fn sent_blocks(plan: &Plan) -> usize {
    if plan.slots() == 1 { TABLE - 1 } else { TABLE }
}

/// Steps 3 and 4 of a garbler. *Unique*: the seed serves one circuit.
///
/// *Cost*: one round; the others' choices, and three blocks per gate to every other party. With two parties two blocks and a bit.
pub(super) async fn garble(
    mesh: &mut Mesh,
    Circuit { plan, secrets, .. }: Circuit<'_>,
    product: &BitVec,
    ots: &mut PerPeer<PairOts>,
    hash_seed: Block,
) -> Result<(), ProtocolError> {
    let alone = plan.slots() == 1;
    let own = plan.slot(secrets.party).unwrap_or_default();
    // Alone, labels come from the tables, which need the evaluator's choices.
    let mut parts = if alone { vec![Vec::new()] } else { garbler::tables(plan, secrets, hash_seed, ots, None) };
    let mut sums = std::mem::take(&mut parts[own]);
    exchange(mesh, plan, secrets.delta.block(), product, &parts, &mut sums, ots).await?;
    let own_products = own_products(plan, secrets, product, ots);
    if alone {
        sums = garbler::tables(plan, secrets, hash_seed, ots, Some(&own_products)).swap_remove(own);
    } else {
        sums.chunks_exact_mut(TABLE).zip(own_products.iter()).for_each(|(table, share)| table[TABLE - 1] ^= *share);
    }
    let (blocks, selects) = split(plan, sums);
    let evaluator = plan.evaluator();
    let step = async |peer: u16, mut line: Line, ()| {
        if Party(peer) == evaluator {
            line.send_bytes(&hash_seed.to_bytes()).await?;
            line.send_bytes(bytemuck::cast_slice(&blocks)).await?;
            selects.send(&mut line).await?;
            line.flush().await?;
        }
        Ok::<_, OtError>(())
    };
    mesh.each(mesh.per_peer(|_| ()), step).await?;
    Ok(())
}

/// Sends every other garbler this party's choices and part of its tables, and adds what comes.
async fn exchange(
    mesh: &mut Mesh,
    plan: &Plan,
    delta: Block,
    product: &BitVec,
    parts: &[Vec<Block>],
    sums: &mut [Block],
    ots: &mut PerPeer<PairOts>,
) -> Result<(), ProtocolError> {
    let gates = plan.and_count();
    let sums = Mutex::new(sums);
    let step = async |peer: u16, mut line: Line, ots: &mut PairOts| {
        let slot = plan.slot(Party(peer));
        let PairOts { q, later, .. } = ots;
        let send = async |channel: &mut Channel| {
            if let Some(slot) = slot {
                later.xor(product)?.send(channel).await?;
                channel.send_bytes(bytemuck::cast_slice(&parts[slot])).await?;
                channel.flush().await?;
            }
            Ok::<_, OtError>(())
        };
        let receive = async |channel: &mut Channel| {
            let corrections = BitVec::receive(channel, gates, CORRECTIONS).await?;
            let add = |at: usize, part: &[Block]| {
                locked(&sums)[at..].iter_mut().zip(part).for_each(|(sum, block)| *sum ^= *block);
            };
            if slot.is_some() {
                receive_blocks(channel, TABLE * gates, add).await?;
            }
            Ok(corrections)
        };
        let ((), corrections) = line.full_duplex(send, receive).await?;
        correct(&mut q.0[count(plan, peer).chosen..], &corrections, delta);
        Ok::<_, OtError>(())
    };
    mesh.each(ots.as_mut(), step).await?;
    Ok(())
}

/// The blocks for the evaluator, and the bits that take the place of third blocks, if any.
fn split(plan: &Plan, sums: Vec<Block>) -> (Vec<Block>, BitVec) {
    if plan.slots() > 1 {
        return (sums, BitVec::default());
    }
    let tables = sums.as_chunks::<TABLE>().0;
    (
        tables.iter().flat_map(|[first, second, _]| [*first, *second]).collect(),
        tables.iter().map(|table| table[2].lsb()).collect(),
    )
}

/// Steps 3 and 4 of the evaluator: its circuit.
///
/// *Cost*: one round; its choices to every garbler.
pub(super) async fn receive(
    mesh: &mut Mesh,
    Circuit { plan, secrets, .. }: Circuit<'_>,
    product: &BitVec,
    ots: &PerPeer<PairOts>,
) -> Result<Vec<Block>, ProtocolError> {
    let send = async |_, mut line: Line, ots: &PairOts| {
        ots.later.xor(product)?.send(&mut line).await?;
        Ok::<_, OtError>(line.flush().await?)
    };
    mesh.each(ots.as_ref(), send).await?;
    // While the garblers are at work.
    let circuit = Mutex::new(evaluator::own_shares(plan, secrets, ots));
    let (gates, slots, blocks) = (plan.and_count(), plan.slots(), sent_blocks(plan));
    let receive = async |peer: u16, mut line: Line, ()| {
        let slot = plan.slot(Party(peer)).unwrap_or_default();
        let mut seed = [Block::ZERO];
        line.receive_bytes(bytemuck::cast_slice_mut(&mut seed)).await?;
        locked(&circuit)[slot] = seed[0];
        let add = |at: usize, tables: &[Block]| {
            let mut circuit = locked(&circuit);
            for (table, gate) in tables.chunks_exact(blocks).zip(at / blocks..) {
                for (k, block) in table.iter().enumerate() {
                    circuit[evaluator::place(slots, slot, gate, k)] ^= *block;
                }
            }
        };
        receive_blocks(&mut line, blocks * gates, add).await?;
        if slots == 1 {
            let selects = BitVec::receive(&mut line, gates, "select bits").await?;
            let mut circuit = locked(&circuit);
            for (gate, select) in selects.iter().enumerate() {
                circuit[evaluator::place(slots, slot, gate, 2)] ^= garbler::NEGATION & Block::mask(select);
            }
        }
        Ok::<_, OtError>(())
    };
    mesh.each(mesh.per_peer(|_| ()), receive).await?;
    Ok(circuit.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Receives so many blocks, in pieces of whole gates with their places.
async fn receive_blocks(
    channel: &mut Channel,
    blocks: usize,
    mut take: impl FnMut(usize, &[Block]),
) -> Result<(), NetError> {
    let mut piece = vec![Block::ZERO; PIECE.min(blocks)];
    for at in (0..blocks).step_by(PIECE) {
        let piece = &mut piece[..PIECE.min(blocks - at)];
        channel.receive_bytes(bytemuck::cast_slice_mut(piece)).await?;
        take(at, piece);
    }
    Ok(())
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
