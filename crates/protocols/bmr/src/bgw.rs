//! Shares of the rows by BGW, our form, for an honest majority.
//!
//! # Steps
//!
//! 1. Permutation bits and deltas are shared by Shamir's scheme over GF(2^8), a delta as sixteen elements: a byte per bit
//!    and party ([`share_bits`]).
//! 2. [`products`]: every party multiplies its shares of `lambda_u` and `lambda_v`. `bmr-bgw3` reduces the degree: shares of
//!    the product, times their weights, are shared again and added up. `bmr-bgw2` skips this.
//! 3. [`shares`]: every party multiplies its share of a row's bit by its weighted share of `delta^j`, which is an additive share of
//!    `delta^j ((lambda_u + alpha)(lambda_v + beta) + lambda_w)`; the masks of the rows are never shared.
//! 4. [`hide`]: these are not uniform, so shares of zero are added, from generators that each pair of parties has in
//!    common. Only one of a gate's rows is ever seen without its masks, so the same shares serve all four.
//!
//! With shares of bits and deltas of degree `t`, rows have degree `2 t`, or `3 t` in `bmr-bgw2`, which `n` points
//! determine.

use garblet_circuit::Party;
use garblet_garble::joint::{AndGates, Gate, Quad, walk};
use garblet_net::{Mesh, PerPeer};
use garblet_primitives::{Backend, Bit, Block, Engine, Prg, QUAD_LANES, gf256};
use zeroize::Zeroizing;

use super::{
    config::Garbling,
    plan::Plan,
    rows,
    secrets::Secrets,
    shamir::{share_bytes, weights_256},
    source::{Circuit, RowSource},
};
use garblet_protocol::{MeshSession, error::ProtocolError, session::Watch};

/// The batch of gates whose shares of zero are made together.
const BATCH: usize = 64;

/// This party's shares of the permutation bits of base wires.
pub(super) struct SharedBits(Zeroizing<Vec<u8>>);

/// Step 1 for permutation bits. Only its owner shares the bits of an input; everybody shares the bits of gates.
///
/// *Cost*: one round; a byte per own input bit and gate to every other party.
async fn share_bits(
    mesh: &mut Mesh,
    plan: &Plan,
    secrets: &Secrets,
    rng: &mut Prg,
) -> Result<SharedBits, ProtocolError> {
    let bits: Zeroizing<Vec<u8>> = Zeroizing::new(secrets.shared_bits(plan).iter().map(Bit::number).collect());
    let shares = share_bytes(&bits, plan.threshold().into(), plan.parties().into(), rng);
    let (inputs, gates) = (plan.input_count(), plan.and_count());
    let mut sums = Zeroizing::new(vec![0; plan.base_count()]);
    let mut add = |party: u16, share: &[u8]| {
        let party = Party(party);
        plan.inputs_of(party).zip(share).for_each(|(at, share)| sums[at] = *share);
        let of_gates = &share[plan.input_bits(party)..];
        sums[inputs..].iter_mut().zip(of_gates).for_each(|(sum, share)| *sum ^= share);
    };
    let theirs = |peer| plan.input_bits(Party(peer)) + gates;
    let mut incoming = mesh.per_peer(|peer| Zeroizing::new(vec![0; theirs(peer)]));
    mesh.exchange(&mesh.per_peer(|peer| &shares[usize::from(peer)][..]), &mut incoming).await?;
    add(mesh.party(), &shares[usize::from(mesh.party())]);
    incoming.iter().for_each(|(peer, share)| add(peer, share));
    Ok(SharedBits(sums))
}

/// The bytes that a party sends to each other party for [`share_bits`].
pub(super) fn share_bits_bytes(plan: &Plan, party: Party) -> u64 {
    (plan.input_bits(party) + plan.and_count()) as u64
}

/// The source of rows by BGW, our form.
pub(super) struct Bgw {
    /// This party's shares of all deltas, by party, weighted so that their products are additive shares.
    deltas: Zeroizing<Vec<Block>>,
    /// Generators of shares of zero, in common with each other party.
    zeros: PerPeer<Prg>,
}

impl Bgw {
    /// The source of party `own` with its shares of all deltas and the generators it has in common with each other party.
    pub(super) fn new(deltas: &[Block], own: u16, zeros: PerPeer<Prg>) -> Self {
        let weight = weights_256(deltas.len())[usize::from(own)];
        let deltas = deltas.iter().map(|delta| gf256::Multiples::new(*delta).times(weight)).collect();
        Bgw { deltas: Zeroizing::new(deltas), zeros }
    }
}

impl RowSource for Bgw {
    type Material = SharedBits;

    async fn prepare(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        secrets: &Secrets,
    ) -> Result<SharedBits, ProtocolError> {
        let gates = plan.and_count();
        let (mesh, rng, watch) = session.watched(gates, gates);
        let bits = share_bits(mesh, plan, secrets, rng).await?;
        watch.reach(gates, mesh.traffic());
        Ok(bits)
    }

    /// *Cost*: `bmr-bgw3` one round and a byte per gate and other party, `bmr-bgw2` nothing.
    async fn rows(
        &mut self,
        mesh: &mut Mesh,
        Circuit { plan, secrets, numbered }: Circuit<'_>,
        bits: SharedBits,
        rng: &mut Prg,
        _watch: &Watch<'_>,
    ) -> Result<Vec<Block>, ProtocolError> {
        let operands = Operands::of(plan, &bits);
        let product = products(mesh, plan, &operands, rng).await?;
        let mut rows = shares(plan, &bits, &operands, &product, &self.deltas);
        hide(plan, &mut self.zeros, &mut rows);
        rows::mask(plan, secrets, numbered, &mut rows);
        Ok(rows)
    }
}

/// This party's shares of the bits of the operands of every gate.
struct Operands {
    /// Shares of the gates' own bits.
    gates: Zeroizing<Vec<u8>>,
    u: Zeroizing<Vec<u8>>,
    v: Zeroizing<Vec<u8>>,
}

impl Operands {
    fn of(plan: &Plan, bits: &SharedBits) -> Self {
        let (inputs, gates) = bits.0.split_at(plan.input_count());
        let carried = inputs.iter().map(|share| [Block::from_u128(u128::from(*share)); QUAD_LANES]).collect();
        let [u, v] = [(); 2].map(|()| Zeroizing::new(Vec::with_capacity(gates.len())));
        let mut operands = Operands { gates: Zeroizing::new(gates.to_vec()), u, v };
        walk(Backend::detect(), plan.schedule(), 1, carried, &mut operands);
        operands
    }
}

impl AndGates for Operands {
    type State<E: Engine> = ();

    fn begin<E: Engine>(&self, _e: E) {}

    #[inline(always)]
    fn and<E: Engine>(&mut self, _e: E, _state: &mut (), gate: Gate<'_>, out: &mut [Quad]) {
        // The constant polynomial shares a one.
        let [one_u, one_v] = gate.inverted.map(u8::from);
        self.u.push(gate.a[0][0].halves()[0] as u8 ^ one_u);
        self.v.push(gate.b[0][0].halves()[0] as u8 ^ one_v);
        out[0][0] = Block::from_u128(self.gates[gate.index].into());
    }
}

/// Step 2.
async fn products(
    mesh: &mut Mesh,
    plan: &Plan,
    operands: &Operands,
    rng: &mut Prg,
) -> Result<Zeroizing<Vec<u8>>, ProtocolError> {
    let mut product = Zeroizing::new(vec![0; plan.and_count()]);
    gf256::add_products(&mut product, &operands.u, &operands.v);
    if plan.config().garbling == Garbling::Bgw2 {
        return Ok(product);
    }
    let (parties, own) = (usize::from(plan.parties()), usize::from(mesh.party()));
    let zeros = vec![0; plan.and_count()];
    gf256::scale_add(&mut product, weights_256(parties)[own], &zeros);
    let shares = share_bytes(&product, plan.threshold().into(), parties, rng);
    let mut incoming = mesh.per_peer(|_| Zeroizing::new(vec![0; plan.and_count()]));
    mesh.exchange(&mesh.per_peer(|peer| &shares[usize::from(peer)][..]), &mut incoming).await?;
    product.copy_from_slice(&shares[own]);
    for (_, share) in incoming.iter() {
        product.iter_mut().zip(share.iter()).for_each(|(sum, share)| *sum ^= share);
    }
    Ok(product)
}

/// Step 3.
fn shares(plan: &Plan, bits: &SharedBits, operands: &Operands, product: &[u8], deltas: &[Block]) -> Vec<Block> {
    let parties = deltas.len();
    let mut rows = vec![Block::ZERO; plan.row_blocks()];
    let gates = &bits.0[plan.input_count()..];
    for (slot, delta) in deltas.iter().enumerate() {
        let delta = gf256::Multiples::new(*delta);
        for (gate, rows) in rows.chunks_exact_mut(4 * parties).enumerate() {
            let (u, v, sum) = (operands.u[gate], operands.v[gate], product[gate] ^ gates[gate]);
            let bits = [sum, sum ^ u, sum ^ v, sum ^ u ^ v ^ 1];
            for (row, bit) in rows.chunks_exact_mut(parties).zip(bits) {
                row[slot] = delta.times(bit);
            }
        }
    }
    rows
}

/// Step 4: adds shares of zero, the same to all rows of a gate.
fn hide(plan: &Plan, zeros: &mut PerPeer<Prg>, rows: &mut [Block]) {
    let parties = usize::from(plan.parties());
    let mut masks = Zeroizing::new(vec![Block::ZERO; BATCH * parties]);
    for gates in rows.chunks_mut(BATCH * 4 * parties) {
        let masks = &mut masks[..gates.len() / 4];
        for (_, stream) in zeros.iter_mut() {
            stream.fill_blocks(masks);
            for (gate, masks) in gates.chunks_exact_mut(4 * parties).zip(masks.chunks_exact(parties)) {
                for row in gate.chunks_exact_mut(parties) {
                    row.iter_mut().zip(masks).for_each(|(slot, mask)| *slot ^= *mask);
                }
            }
        }
    }
}
