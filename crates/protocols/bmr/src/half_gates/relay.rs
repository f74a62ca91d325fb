//! The messages of a build after the products: choices of second OTs and parts of tables, then the sums for the evaluator.
//!
//! A garbler sends the sum of a piece as soon as the parts of that piece have come from all, so the evaluator hears from it all the time.

use std::sync::{Mutex, MutexGuard, PoisonError};

use garblet_garble::joint::{TABLE, place};
use garblet_net::{Channel, Line, Mesh, NetError, PerPeer};
use garblet_ot::{BitVec, OtError};
use garblet_primitives::{Bit, Block};
use tokio::sync::Notify;

use super::{evaluator, garbler};
use crate::{
    pairs::{CORRECTIONS, PairOts, correct},
    plan::Plan,
    shares::own_products,
    source::Circuit,
};
use garblet_circuit::Party;
use garblet_protocol::error::ProtocolError;

/// Gates whose tables are received together.
const PIECE: usize = 1024;

/// Blocks of a gate that a garbler sends the evaluator; with two parties the third is a bit.
pub(super) fn sent_blocks(plan: &Plan) -> usize {
    if plan.slots() == 1 { TABLE - 1 } else { TABLE }
}

/// Steps 3 and 4 of a garbler. *Unique*: the seed serves one circuit.
///
/// *Cost*: one round; the others' choices, and three blocks per gate to every other party. With two parties two blocks and a bit.
pub(super) async fn garble(
    mesh: &mut Mesh,
    circuit: Circuit<'_>,
    product: &BitVec,
    ots: &PerPeer<PairOts>,
    hash_seed: Block,
) -> Result<(), ProtocolError> {
    let Circuit { plan, secrets, .. } = circuit;
    let mut products = own_products(plan, secrets, product, ots);
    if plan.slots() == 1 {
        return garble_alone(mesh, circuit, &mut products, ots, hash_seed).await;
    }
    let mut parts = garbler::tables(plan, secrets, hash_seed, ots, &products);
    let own = plan.slot(secrets.party).unwrap_or_default();
    let sums = Sums {
        delta: secrets.delta.block(),
        gates: plan.and_count(),
        state: Mutex::new(State { tables: std::mem::take(&mut parts[own]), added: mesh.per_peer(|_| 0) }),
        changed: Notify::new(),
    };
    let step = async |peer: u16, mut line: Line, ots: &PairOts| {
        let slot = plan.slot(Party(peer));
        let send = async |channel: &mut Channel| match slot {
            Some(slot) => {
                ots.later.xor(product)?.send(channel).await?;
                channel.send_bytes(bytemuck::cast_slice(&parts[slot])).await?;
                Ok::<_, OtError>(channel.flush().await?)
            }
            None => {
                channel.send_bytes(&hash_seed.to_bytes()).await?;
                Ok(sums.send(channel).await?)
            }
        };
        let receive = async |channel: &mut Channel| sums.add_parts(channel, peer, slot.is_some()).await;
        line.full_duplex(send, receive).await.map(|_| ())
    };
    mesh.each(ots.as_ref(), step).await?;
    Ok(())
}

/// The only garbler's steps: its labels come from the tables, which need the evaluator's choices.
async fn garble_alone(
    mesh: &mut Mesh,
    Circuit { plan, secrets, .. }: Circuit<'_>,
    products: &mut [Block],
    ots: &PerPeer<PairOts>,
    hash_seed: Block,
) -> Result<(), ProtocolError> {
    let receive = async |_, mut line: Line, ()| BitVec::receive(&mut line, plan.and_count(), CORRECTIONS).await;
    for (_, corrections) in mesh.each(mesh.per_peer(|_| ()), receive).await? {
        correct(products, &corrections, secrets.delta.block());
    }
    let tables = garbler::tables(plan, secrets, hash_seed, ots, products).swap_remove(0);
    let tables = tables.as_chunks::<TABLE>().0;
    let blocks: Vec<Block> = tables.iter().flat_map(|[first, second, _]| [*first, *second]).collect();
    let selects: BitVec = tables.iter().map(|table| table[2].lsb()).collect();
    let send = async |_, mut line: Line, ()| {
        line.send_bytes(&hash_seed.to_bytes()).await?;
        line.send_bytes(bytemuck::cast_slice(&blocks)).await?;
        selects.send(&mut line).await?;
        Ok::<_, OtError>(line.flush().await?)
    };
    mesh.each(mesh.per_peer(|_| ()), send).await?;
    Ok(())
}

/// The sums that a garbler sends the evaluator, while parts of them come.
struct Sums {
    delta: Block,
    gates: usize,
    state: Mutex<State>,
    /// Told whenever parts have come.
    changed: Notify,
}

struct State {
    /// Three blocks for each gate, of this garbler's delta.
    tables: Vec<Block>,
    /// The number of gates to which each other party's part has been added.
    added: PerPeer<usize>,
}

impl Sums {
    /// Receives a party's choices, and a garbler's part of the tables, and adds them.
    async fn add_parts(&self, channel: &mut Channel, peer: u16, garbles: bool) -> Result<(), OtError> {
        let corrections = BitVec::receive(channel, self.gates, CORRECTIONS).await?;
        let choose = |(table, choice): (&mut [Block], Bit)| table[TABLE - 1] ^= self.delta & Block::mask(choice);
        locked(&self.state).tables.chunks_exact_mut(TABLE).zip(corrections.iter()).for_each(choose);
        let add = |gate: usize, part: &[Block]| {
            let mut state = locked(&self.state);
            state.tables[TABLE * gate..].iter_mut().zip(part).for_each(|(sum, block)| *sum ^= *block);
            drop(state);
            self.reach(peer, gate + part.len() / TABLE);
        };
        if garbles {
            receive_tables(channel, TABLE, self.gates, add).await?;
        }
        self.reach(peer, self.gates);
        Ok(())
    }

    fn reach(&self, peer: u16, gates: usize) {
        if let Some(added) = locked(&self.state).added.get_mut(peer) {
            *added = gates;
        }
        self.changed.notify_one();
    }

    /// Sends the evaluator every sum once all parts of it are there.
    async fn send(&self, channel: &mut Channel) -> Result<(), NetError> {
        let mut sent = 0;
        loop {
            channel.flush().await?;
            let piece = loop {
                if let Some(piece) = self.ready(sent) {
                    break piece;
                }
                self.changed.notified().await;
            };
            channel.send_bytes(bytemuck::cast_slice(&piece)).await?;
            sent += piece.len() / TABLE;
            if sent == self.gates {
                return channel.flush().await;
            }
        }
    }

    /// The next sums after the first so many gates; none if parts of them are missing.
    fn ready(&self, sent: usize) -> Option<Vec<Block>> {
        let state = locked(&self.state);
        let whole = state.added.iter().map(|(_, added)| *added).min().unwrap_or_default();
        let end = whole.min(sent + PIECE);
        (end > sent || whole == self.gates).then(|| state.tables[TABLE * sent..TABLE * end].to_vec())
    }
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
        let add = |first: usize, tables: &[Block]| {
            let mut circuit = locked(&circuit);
            let sums = &mut circuit[slots..];
            for (table, gate) in tables.chunks_exact(blocks).zip(first..) {
                for (k, block) in table.iter().enumerate() {
                    sums[place(slots, slot, gate, k)] ^= *block;
                }
            }
        };
        receive_tables(&mut line, blocks, gates, add).await?;
        if slots == 1 {
            let selects = BitVec::receive(&mut line, gates, "select bits").await?;
            let mut circuit = locked(&circuit);
            let sums = &mut circuit[slots..];
            for (gate, select) in selects.iter().enumerate() {
                sums[place(slots, slot, gate, TABLE - 1)] ^= Block::ZERO.with_lsb(select);
            }
        }
        Ok::<_, OtError>(())
    };
    mesh.each(mesh.per_peer(|_| ()), receive).await?;
    Ok(circuit.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Receives so many blocks for each gate, in pieces of whole gates with the number of the first.
async fn receive_tables(
    channel: &mut Channel,
    blocks: usize,
    gates: usize,
    mut take: impl FnMut(usize, &[Block]),
) -> Result<(), NetError> {
    let mut piece = vec![Block::ZERO; blocks * PIECE.min(gates)];
    for first in (0..gates).step_by(PIECE) {
        let piece = &mut piece[..blocks * PIECE.min(gates - first)];
        channel.receive_bytes(bytemuck::cast_slice_mut(piece)).await?;
        take(first, piece);
    }
    Ok(())
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
