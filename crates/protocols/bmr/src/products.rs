//! Shares of `lambda_u lambda_v` of every gate, by hashed rows of correlated OTs.
//!
//! Every party multiplies its own bits, and each pair the mixed products. The rows of an operand are linear, so that every wire has them: `q`
//! with party `j`, which sends the OTs, and `t = q + lambda^i_u delta^j` with party `i`. Then `j` sends `H(q) + H(q + delta^j) + lambda^j_v`, and
//! `i` has `H(t) + lambda^i_u` times that: both share `lambda^i_u lambda^j_v` at the price of a bit.
//!
//! Where both have a delta, each sends for the rows of first operands. Where one has none, the other sends for both operands.

use garblet_circuit::Party;
use garblet_garble::joint::{AndGates, Gate, Quad, walk};
use garblet_net::{Mesh, PerPeer, Traffic};
use garblet_ot::{BitVec, PadHash};
use garblet_primitives::{Backend, Block, Engine, QUAD_LANES};
use zeroize::Zeroizing;

use super::{
    pairs::{PairHashes, PairOts, bits_of_peer},
    plan::Plan,
    source::Circuit,
};
use garblet_protocol::{error::ProtocolError, session::Watch};

/// The batch of gates that are hashed together.
const BATCH: usize = 256;

/// The first tweaks of the rows of first and of second operands, to which gate numbers are added; no gate has so large a number.
const FIRST_TWEAKS: [u64; 2] = [0, 1 << 62];

/// The operands whose rows serve the products of a sender and a receiver of OTs.
fn operands(plan: &Plan, sender: u16, receiver: u16) -> &'static [usize] {
    match [sender, receiver].map(|party| plan.slot(Party(party)).is_some()) {
        [false, _] => &[],
        [true, true] => &[0],
        [true, false] => &[0, 1],
    }
}

/// The bytes that one party sends another.
pub(super) fn bytes(plan: &Plan, from: Party, to: Party) -> u64 {
    (operands(plan, from.0, to.0).len() * plan.and_count().div_ceil(8)) as u64
}

/// This party's share of the product at every gate.
///
/// *Cost*: one round; a bit per gate and operand. *Unique*: gates by their numbers.
pub(super) async fn shares(
    mesh: &mut Mesh,
    circuit: Circuit<'_>,
    hashes: &PerPeer<PairHashes>,
    ots: &PerPeer<PairOts>,
    watch: &Watch<'_>,
) -> Result<BitVec, ProtocolError> {
    let Circuit { plan, secrets, .. } = circuit;
    let (own, gates) = (secrets.party.0, plan.and_count());
    let (sums, messages) = sums(circuit, hashes, ots, watch);
    let messages = messages.map(|_, lanes| lanes.iter().flat_map(BitVec::as_bytes).copied().collect::<Vec<u8>>());
    let mut incoming = mesh.per_peer(|peer| vec![0; bytes(plan, Party(peer), secrets.party) as usize]);
    mesh.exchange(&messages, &mut incoming).await?;
    let mut product = sums.hashed;
    let mut factors = [sums.bits[1].clone(), BitVec::zeros(gates)];
    for (peer, message) in incoming {
        for (operand, lane) in operands(plan, peer, own).iter().zip(message.chunks(gates.div_ceil(8).max(1))) {
            factors[*operand] = factors[*operand].xor(&bits_of_peer(peer, lane.to_vec(), gates)?)?;
        }
    }
    for (bits, factor) in sums.bits.iter().zip(&factors) {
        let terms = bits.as_bytes().iter().zip(factor.as_bytes()).map(|(bits, factor)| bits & factor).collect();
        product = product.xor(&BitVec::from_bytes(terms, gates)?)?;
    }
    Ok(product)
}

/// A party's parts of the products before the others' messages.
struct Sums {
    /// The bits of both operands.
    bits: [BitVec; 2],
    /// The sum of its hashes.
    hashed: BitVec,
}

/// Hashes the rows of every gate's operands. Returns also the messages to all others, one for each operand.
fn sums(
    Circuit { plan, secrets, numbered }: Circuit<'_>,
    hashes: &PerPeer<PairHashes>,
    ots: &PerPeer<PairOts>,
    watch: &Watch<'_>,
) -> (Sums, PerPeer<Vec<BitVec>>) {
    let (own, gates) = (secrets.party, plan.and_count());
    let directions =
        hashes.iter().map(|(_, hashes)| usize::from(hashes.sent.is_some()) + usize::from(hashes.received.is_some()));
    let width = (1 + directions.sum::<usize>()).div_ceil(QUAD_LANES);
    let mut inputs = vec![[Block::ZERO; QUAD_LANES]; width * plan.input_count()];
    let mut put = |at: usize, place: usize, block| inputs[width * at..][..width].as_flattened_mut()[place] = block;
    for at in 0..plan.input_count() {
        put(at, 0, Block::mask(secrets.permutation.get(at)));
    }
    let mut products = Products {
        delta: secrets.delta.block(),
        permutation: (plan.input_count()..plan.base_count()).map(|at| secrets.permutation.get(at)).collect(),
        rows: Vec::new(),
        sent: Vec::new(),
        received: Vec::new(),
        bits: [Vec::with_capacity(gates), Vec::with_capacity(gates), vec![false; gates]].map(Zeroizing::new),
        first_gate: numbered.first,
        hashed: 0,
        watch,
    };
    let pairs = || ots.iter().zip(hashes.iter()).map(|((peer, ots), (_, hashes))| (peer, ots, hashes));
    for (peer, ots, hash) in pairs().filter_map(|(peer, ots, hashes)| Some((peer, ots, hashes.sent.as_ref()?))) {
        products.rows.push(&ots.q.0[plan.input_bits(Party(peer))..][..gates]);
        let place = products.rows.len();
        plan.inputs_of(Party(peer)).zip(&ots.q.0).for_each(|(at, q)| put(at, place, *q));
        let lane = |operand: &usize| Lane::new(hash, peer, place, *operand, gates);
        products.sent.extend(operands(plan, own.0, peer).iter().map(lane));
    }
    for (peer, ots, hash) in pairs().filter_map(|(peer, ots, hashes)| Some((peer, ots, hashes.received.as_ref()?))) {
        products.rows.push(&ots.t.0[plan.input_bits(own)..][..gates]);
        let place = products.rows.len();
        plan.inputs_of(own).zip(&ots.t.0).for_each(|(at, t)| put(at, place, *t));
        let lane = |operand: &usize| Lane::new(hash, peer, place, *operand, 0);
        products.received.extend(operands(plan, peer, own.0).iter().map(lane));
    }
    walk(Backend::detect(), plan.schedule(), width, inputs, &mut products);
    products.hash();
    let mut messages = hashes.map_ref(|_, _| Vec::new());
    for lane in &products.sent {
        if let Some(message) = messages.get_mut(lane.peer) {
            message.push(lane.message.iter().copied().collect());
        }
    }
    let [u, v, hashed] = products.bits.map(|bits| bits.iter().copied().collect());
    (Sums { bits: [u, v], hashed }, messages)
}

/// The rows of one operand of every gate with one other party, in one direction.
struct Lane<'a> {
    hash: &'a PadHash,
    peer: u16,
    /// The block of a wire that is the row.
    place: usize,
    operand: usize,
    /// Rows that wait to be hashed.
    waiting: Zeroizing<Vec<Block>>,
    /// The bits for the peer; none of rows as receiver.
    message: Vec<bool>,
}

impl<'a> Lane<'a> {
    fn new(hash: &'a PadHash, peer: u16, place: usize, operand: usize, message_bits: usize) -> Self {
        let waiting = Zeroizing::new(Vec::with_capacity(BATCH));
        Lane { hash, peer, place, operand, waiting, message: Vec::with_capacity(message_bits) }
    }
}

/// Wires that carry the permutation bit in block 0, then the rows as sender by peer, then those as receiver.
struct Products<'a, 'w> {
    delta: Block,
    permutation: BitVec,
    /// Rows of the gates' outputs, for each block of a wire after the first.
    rows: Vec<&'a [Block]>,
    sent: Vec<Lane<'a>>,
    received: Vec<Lane<'a>>,
    /// The bits of both operands of every gate, and the sum of hashes.
    bits: [Zeroizing<Vec<bool>>; 3],
    first_gate: u64,
    /// The number of gates hashed so far.
    hashed: usize,
    watch: &'a Watch<'w>,
}

impl AndGates for Products<'_, '_> {
    type State<E: Engine> = ();

    fn begin<E: Engine>(&self, _e: E) {}

    #[inline(always)]
    fn and<E: Engine>(&mut self, _e: E, _state: &mut (), gate: Gate<'_>, out: &mut [Quad]) {
        let (operands, out) = ([gate.a.as_flattened(), gate.b.as_flattened()], out.as_flattened_mut());
        for (bits, operand) in self.bits.iter_mut().zip(operands) {
            bits.push(operand[0].lsb());
        }
        out[0] = Block::mask(self.permutation.get(gate.index));
        for (out, rows) in out[1..].iter_mut().zip(&self.rows) {
            *out = rows[gate.index];
        }
        for lane in self.sent.iter_mut().chain(&mut self.received) {
            lane.waiting.push(operands[lane.operand][lane.place]);
        }
        if self.bits[0].len() - self.hashed == BATCH {
            self.hash();
        }
    }
}

impl Products<'_, '_> {
    /// Hashes the waiting rows.
    #[inline(never)]
    fn hash(&mut self) {
        let [u, v, sums] = &mut self.bits;
        let gates = self.hashed..v.len();
        let first_tweak = |lane: &Lane<'_>| FIRST_TWEAKS[lane.operand] + self.first_gate + gates.start as u64;
        for lane in &mut self.sent {
            let tweak = first_tweak(lane);
            let mut other: Zeroizing<Vec<Block>> =
                Zeroizing::new(lane.waiting.iter().map(|q| *q ^ self.delta).collect());
            lane.hash.hash_batch(tweak, &mut lane.waiting);
            lane.hash.hash_batch(tweak, &mut other);
            let factor = if lane.operand == 0 { &*v } else { &*u };
            for (gate, (zero, one)) in gates.clone().zip(lane.waiting.iter().zip(other.iter())) {
                lane.message.push(zero.lsb() ^ one.lsb() ^ factor[gate]);
                sums[gate] ^= zero.lsb();
            }
            lane.waiting.clear();
        }
        for lane in &mut self.received {
            let tweak = first_tweak(lane);
            lane.hash.hash_batch(tweak, &mut lane.waiting);
            gates.clone().zip(lane.waiting.iter()).for_each(|(gate, hash)| sums[gate] ^= hash.lsb());
            lane.waiting.clear();
        }
        self.watch.add(gates.len(), Traffic::default());
        self.hashed = gates.end;
    }
}
