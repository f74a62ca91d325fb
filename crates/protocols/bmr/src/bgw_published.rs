//! Shares of the rows by BGW, as published (sections 3.2 and 3.3): everything is shared over GF(2^128), the masks too.
//!
//! # Steps
//!
//! | round | `bmr-bgw4` | `bmr-bgw3` | `bmr-bgw2` |
//! |---|---|---|---|
//! | 1 | masks at degree `t`, bits at degree `t` | masks at degree `2 t` | masks at degree `3 t` |
//! | 2 | degree reduction of `lambda_u lambda_v` | the same | |
//! | 3 | degree reduction of `delta^j (...)`, four per gate and slot | | |
//! | last | opening, in [`super::open`] | the same | the same |
//!
//! *Deviation*: `lambda_u lambda_v` is reduced once per gate and not once per row, since the rows differ by sums.

use std::sync::{Mutex, PoisonError};

use garblet_garble::joint::{AndGates, Gate, Quad, walk};
use garblet_net::{Channel, Line, Mesh, NetError};
use garblet_primitives::{Backend, Block, Engine, Prg, QUAD_LANES, gf128};
use zeroize::Zeroizing;

use super::{
    config::Garbling,
    plan::Plan,
    rows,
    secrets::Secrets,
    shamir::{Dealer, weights_128},
    source::{Circuit, RowSource},
};
use garblet_protocol::{MeshSession, error::ProtocolError, session::Watch};

/// The number of blocks that are dealt together.
const PIECE: usize = 4096;

/// The source of rows by BGW, as published.
pub(super) struct BgwPublished {
    /// This party's shares of all deltas, by party.
    pub(super) deltas: Zeroizing<Vec<Block>>,
}

impl RowSource for BgwPublished {
    type Material = ();

    async fn prepare(&mut self, _: &mut MeshSession, _: &Plan, _: &Secrets) -> Result<(), ProtocolError> {
        Ok(())
    }

    async fn rows(
        &mut self,
        mesh: &mut Mesh,
        Circuit { plan, secrets, numbered }: Circuit<'_>,
        _material: (),
        rng: &mut Prg,
        _watch: &Watch<'_>,
    ) -> Result<Vec<Block>, ProtocolError> {
        let (threshold, garbling) = (usize::from(plan.threshold()), plan.config().garbling);
        let mask_degree = match garbling {
            Garbling::Bgw4 => threshold,
            Garbling::Bgw3 | Garbling::Ot => 2 * threshold,
            Garbling::Bgw2 => 3 * threshold,
        };
        let mut masks = vec![Block::ZERO; plan.row_blocks()];
        rows::mask(plan, secrets, numbered, &mut masks);
        let bits = secrets.permutation.iter().map(|bit| Block::from_u128(bit.number().into())).collect();
        let parts =
            [(threshold, bits), (mask_degree, masks)].map(|(degree, secrets)| (degree, Zeroizing::new(secrets)));
        let mut dealt = deal(mesh, parts, rng).await?.into_iter();
        let (bits, masks) = (dealt.next().unwrap_or_default(), dealt.next().unwrap_or_default());
        let weight = weights_128(plan.parties().into())[usize::from(mesh.party())];
        let operands = Operands::of(plan, &bits);
        let mut product = operands.products();
        if garbling != Garbling::Bgw2 {
            product = reduce(mesh, product, weight, threshold, rng).await?;
        }
        let mut rows = shares(plan, &bits[plan.input_count()..], &operands, &product, &self.deltas);
        if garbling == Garbling::Bgw4 {
            rows = reduce(mesh, rows, weight, threshold, rng).await?;
        }
        rows.iter_mut().zip(masks.iter()).for_each(|(row, mask)| *row = gf128::mul(weight, *row ^ *mask));
        // The rows are about to be opened.
        Ok(std::mem::take(&mut *rows))
    }
}

/// The bytes that a party sends to each other party for its rows.
pub(super) fn rows_bytes(plan: &Plan) -> u64 {
    let (rows, gates) = (plan.row_blocks(), plan.and_count());
    let reduced = match plan.config().garbling {
        Garbling::Bgw4 => gates + rows,
        Garbling::Bgw3 | Garbling::Ot => gates,
        Garbling::Bgw2 => 0,
    };
    16 * (plan.base_count() + rows + reduced) as u64
}

/// Shares vectors with everybody, each at its degree, and adds up the shares from all parties.
///
/// *Cost*: one round.
async fn deal<const N: usize>(
    mesh: &mut Mesh,
    parts: [(usize, Zeroizing<Vec<Block>>); N],
    rng: &mut Prg,
) -> Result<Vec<Zeroizing<Vec<Block>>>, ProtocolError> {
    let own = mesh.party();
    let parts = parts.map(|(degree, secrets)| (Mutex::new(Dealer::new(degree, rng)), secrets));
    let sum = |secrets: &Zeroizing<Vec<Block>>| Zeroizing::new(vec![Block::ZERO; secrets.len()]);
    let mut sums: Vec<_> = parts.iter().map(|(_, secrets)| sum(secrets)).collect();
    for ((dealer, secrets), sum) in parts.iter().zip(&mut sums) {
        locked(dealer).share(own, 0, secrets, sum);
    }
    let sums: Vec<Mutex<_>> = sums.into_iter().map(Mutex::new).collect();
    let step = async |peer: u16, mut line: Line, ()| {
        let send = async |channel: &mut Channel| {
            let mut piece = Zeroizing::new(vec![Block::ZERO; PIECE]);
            for (dealer, secrets) in &parts {
                for (k, secrets) in secrets.chunks(PIECE).enumerate() {
                    let piece = &mut piece[..secrets.len()];
                    locked(dealer).share(peer, k * PIECE, secrets, piece);
                    channel.send_bytes(bytemuck::cast_slice(piece)).await?;
                }
            }
            channel.flush().await
        };
        let receive = async |channel: &mut Channel| {
            let mut piece = Zeroizing::new(vec![Block::ZERO; PIECE]);
            for ((_, secrets), sum) in parts.iter().zip(&sums) {
                for at in (0..secrets.len()).step_by(PIECE) {
                    let piece = &mut piece[..PIECE.min(secrets.len() - at)];
                    channel.receive_bytes(bytemuck::cast_slice_mut(piece)).await?;
                    locked(sum)[at..].iter_mut().zip(piece.iter()).for_each(|(sum, share)| *sum ^= *share);
                }
            }
            Ok::<_, NetError>(())
        };
        line.full_duplex(send, receive).await
    };
    mesh.each(mesh.per_peer(|_| ()), step).await?;
    Ok(sums.into_iter().map(|sum| sum.into_inner().unwrap_or_else(PoisonError::into_inner)).collect())
}

/// Locks a mutex, poisoned or not: no computation under the lock can panic half-way and leave bad data behind.
fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Degree reduction (Gennaro, Rabin and Rabin 1998): shares, times their weight, are shared again and added up.
async fn reduce(
    mesh: &mut Mesh,
    mut shares: Zeroizing<Vec<Block>>,
    weight: Block,
    degree: usize,
    rng: &mut Prg,
) -> Result<Zeroizing<Vec<Block>>, ProtocolError> {
    shares.iter_mut().for_each(|share| *share = gf128::mul(weight, *share));
    Ok(deal(mesh, [(degree, shares)], rng).await?.pop().unwrap_or_default())
}

/// This party's shares of the bits of the operands of every gate.
struct Operands<'a> {
    /// Shares of the gates' own bits.
    gates: &'a [Block],
    u: Zeroizing<Vec<Block>>,
    v: Zeroizing<Vec<Block>>,
}

impl<'a> Operands<'a> {
    fn of(plan: &Plan, bits: &'a [Block]) -> Self {
        let (inputs, gates) = bits.split_at(plan.input_count());
        let [u, v] = [(); 2].map(|()| Zeroizing::new(Vec::with_capacity(gates.len())));
        let mut operands = Operands { gates, u, v };
        let carried = inputs.iter().map(|share| [*share; QUAD_LANES]).collect();
        walk(Backend::detect(), plan.schedule(), 1, carried, &mut operands);
        operands
    }

    fn products(&self) -> Zeroizing<Vec<Block>> {
        Zeroizing::new(self.u.iter().zip(self.v.iter()).map(|(u, v)| gf128::mul(*u, *v)).collect())
    }
}

impl AndGates for Operands<'_> {
    type State<E: Engine> = ();

    fn begin<E: Engine>(&self, _e: E) {}

    #[inline(always)]
    fn and<E: Engine>(&mut self, _e: E, _state: &mut (), gate: Gate<'_>, out: &mut [Quad]) {
        // The constant polynomial shares a one.
        let [one_u, one_v] = gate.inverted.map(|inverted| Block::from_u128(inverted.into()));
        self.u.push(gate.a[0][0] ^ one_u);
        self.v.push(gate.b[0][0] ^ one_v);
        out[0][0] = self.gates[gate.index];
    }
}

/// Shares of `delta^j ((lambda_u + alpha)(lambda_v + beta) + lambda_w)`.
fn shares(
    plan: &Plan,
    gates: &[Block],
    operands: &Operands<'_>,
    product: &[Block],
    deltas: &[Block],
) -> Zeroizing<Vec<Block>> {
    let parties = deltas.len();
    let mut rows = Zeroizing::new(vec![Block::ZERO; plan.row_blocks()]);
    for (gate, rows) in rows.chunks_exact_mut(4 * parties).enumerate() {
        let (u, v, sum) = (operands.u[gate], operands.v[gate], product[gate] ^ gates[gate]);
        let bits = [sum, sum ^ u, sum ^ v, sum ^ u ^ v ^ gf128::ONE];
        for (row, bit) in rows.chunks_exact_mut(parties).zip(bits) {
            row.iter_mut().zip(deltas).for_each(|(slot, delta)| *slot = gf128::mul(bit, *delta));
        }
    }
    rows
}
