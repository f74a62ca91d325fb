//! Opening the joint garbled circuit: from every party's masked share of the rows to the rows themselves.

use std::sync::{Mutex, PoisonError};

use garblet_circuit::Party;
use garblet_net::{Line, Mesh};
use garblet_primitives::Block;

use super::{config::Form, plan::Plan};
use garblet_protocol::error::ProtocolError;

/// Opens shares that add up to the rows.
///
/// In our form, every party adds up the shares of its part of the gates and sends everybody the sum: `128 (n - 1)` bytes per
/// gate and party, in two rounds. As published, everybody sends all shares to everybody: `64 n (n - 1)` bytes, in one.
pub(super) async fn open(mesh: &mut Mesh, plan: &Plan, mut shares: Vec<Block>) -> Result<Vec<Block>, ProtocolError> {
    match plan.form() {
        Form::Linear => {
            let grain = 16 * plan.gate_blocks();
            mesh.reduce_scatter(bytemuck::cast_slice_mut(&mut shares), grain).await?;
            mesh.all_gather(bytemuck::cast_slice_mut(&mut shares), grain).await?;
            Ok(shares)
        }
        Form::Published(_) => broadcast(mesh, shares).await,
        // The evaluator's tables, which it has already.
        Form::HalfGates => Ok(shares),
    }
}

/// The bytes that a party sends to open the circuit.
pub(super) fn open_bytes(plan: &Plan, party: Party) -> u64 {
    let (parties, all) = (u64::from(plan.parties()), 16 * plan.row_blocks());
    match plan.form() {
        Form::Linear => {
            let own = garblet_net::share_of(all, 16 * plan.gate_blocks(), plan.parties(), party.0).len();
            (all - own) as u64 + own as u64 * (parties - 1)
        }
        Form::Published(_) => all as u64 * (parties - 1),
        Form::HalfGates => 0,
    }
}

async fn broadcast(mesh: &mut Mesh, shares: Vec<Block>) -> Result<Vec<Block>, ProtocolError> {
    let bytes: &[u8] = bytemuck::cast_slice(&shares);
    let sum = Mutex::new(shares.clone());
    let step = async |_, mut line: Line, ()| {
        let add = |at: usize, piece: &[u8]| {
            let mut sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
            let sum: &mut [u8] = bytemuck::cast_slice_mut(&mut sum);
            sum[at..].iter_mut().zip(piece).for_each(|(sum, byte)| *sum ^= byte);
        };
        line.exchange_pieces(bytes, bytes.len(), add).await
    };
    mesh.each(mesh.per_peer(|_| ()), step).await?;
    Ok(sum.into_inner().unwrap_or_else(PoisonError::into_inner))
}
