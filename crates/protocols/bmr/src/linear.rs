//! Shares of the rows by OT, our form: two correlated OTs per gate and ordered pair, with the party's delta.
//!
//! # Steps
//!
//! 1. A party's permutation bits of base wires are its choices in OTs with every other party
//!    ([`Pairs::extend`](super::pairs::Pairs::extend)). For party `j` that makes shares of `lambda_w delta^j`: its own is
//!    `lambda^j_w delta^j` plus the sum of all `q`, another party's is its `t`. They are linear, so every wire has them.
//! 2. [`products`]: the rows of the first operand of a gate, hashed, share `lambda^i_u lambda^j_v` for one bit: `j`
//!    sends `H(q) + H(q + delta^j) + lambda^j_v`, and `i` has `H(t) + lambda^i_u` times that bit. With it every party has a share of
//!    `lambda_u lambda_v`.
//! 3. These shares are the choices of a second OT per gate ([`correct`]), which makes shares of `lambda_u lambda_v delta^j`.
//! 4. [`shares`]: rows are sums, `delta^j ((lambda_u + alpha)(lambda_v + beta) + lambda_w) = delta^j lambda_u lambda_v + beta delta^j
//!    lambda_u + alpha delta^j lambda_v + alpha beta delta^j + delta^j lambda_w`. An inverted operand swaps its two values.
//!
//! Every gate has its own OTs for its product, so the part of a party's share that an active row shows is uniform, given the
//! sum of all shares.

use garblet_circuit::Party;
use garblet_net::{Mesh, PerPeer, Traffic};
use garblet_ot::BitVec;
use garblet_primitives::{Backend, Bit, Block, Engine, Prg, QUAD_LANES};
use zeroize::Zeroizing;

use super::{
    pairs::{Count, PairHashes, PairOts, Pairs, correct, exchange_bits},
    plan::Plan,
    rows::{self, MOST_QUADS},
    secrets::Secrets,
    source::{Circuit, RowSource},
    wires::{AndGates, Gate, Quad, walk},
};
use garblet_protocol::{MeshSession, error::ProtocolError, session::Watch};

/// The batch of gates that are hashed together.
const BATCH: usize = 256;

/// The OTs that each party receives: its inputs and gates with its permutation bits as choices, products later.
pub(super) fn count(plan: &Plan, party: u16) -> Count {
    let own = plan.input_bits(Party(party));
    Count { chosen: own + plan.and_count(), later: plan.and_count() }
}

/// The source of rows by OT, our form.
pub(super) struct Linear(pub(super) Box<Pairs>);

impl RowSource for Linear {
    type Material = PerPeer<PairOts>;

    async fn prepare(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        secrets: &Secrets,
    ) -> Result<Self::Material, ProtocolError> {
        self.0.extend(session, plan.and_count(), &secrets.shared_bits(plan), |party| count(plan, party), true).await
    }

    /// *Cost*: two rounds; two bits per gate and ordered pair.
    async fn rows(
        &mut self,
        mesh: &mut Mesh,
        circuit: Circuit<'_>,
        mut ots: PerPeer<PairOts>,
        _rng: &mut Prg,
        watch: &Watch<'_>,
    ) -> Result<Vec<Block>, ProtocolError> {
        let Circuit { plan, secrets, numbered } = circuit;
        let (sums, messages) = products(circuit, &self.0.hashes(), &ots, watch);
        let answers = exchange_bits(mesh, &messages, plan.and_count()).await?;
        let product = sums.finish(&answers)?;
        let mut corrections = mesh.per_peer(|_| BitVec::default());
        for ((_, corrections), (_, ots)) in corrections.iter_mut().zip(ots.iter()) {
            *corrections = ots.later.xor(&product)?;
        }
        let corrections = exchange_bits(mesh, &corrections, plan.and_count()).await?;
        for ((_, ots), (peer, corrections)) in ots.iter_mut().zip(corrections.iter()) {
            correct(&mut ots.q.0[count(plan, peer).chosen..], corrections, secrets.delta.block());
        }
        let mut rows = shares(plan, secrets, &product, ots);
        rows::mask(plan, secrets, numbered, &mut rows);
        Ok(rows)
    }
}

/// A party's parts of the products `lambda_u lambda_v` before the others' messages arrive.
struct Sums {
    u: BitVec,
    v: BitVec,
    /// The sum of its hashes.
    hashed: BitVec,
}

impl Sums {
    /// The party's share of every product, from the messages of all others.
    fn finish(&self, messages: &PerPeer<BitVec>) -> Result<BitVec, ProtocolError> {
        let mut factor = self.v.clone();
        for (_, message) in messages.iter() {
            factor = factor.xor(message)?;
        }
        let product = self.u.as_bytes().iter().zip(factor.as_bytes()).map(|(u, factor)| u & factor).collect();
        Ok(BitVec::from_bytes(product, self.u.len())?.xor(&self.hashed)?)
    }
}

/// Step 2: hashes the rows of every gate's first operand. Also returns the messages to all others.
fn products(
    Circuit { plan, secrets, numbered }: Circuit<'_>,
    hashes: &PerPeer<PairHashes>,
    ots: &PerPeer<PairOts>,
    watch: &Watch<'_>,
) -> (Sums, PerPeer<BitVec>) {
    let peers = hashes.party_count() as usize - 1;
    let width = (1 + 2 * peers).div_ceil(QUAD_LANES);
    let mut inputs = vec![[Block::ZERO; QUAD_LANES]; width * plan.input_count()];
    let mut put = |at: usize, place: usize, block| inputs[width * at..][..width].as_flattened_mut()[place] = block;
    for at in 0..plan.input_count() {
        put(at, 0, Block::mask(secrets.permutation.get(at)));
    }
    for (p, (peer, ots)) in ots.iter().enumerate() {
        let theirs = plan.inputs_of(Party(peer)).zip(&ots.q.0);
        theirs.for_each(|(at, q)| put(at, 1 + p, *q));
        plan.inputs_of(secrets.party).zip(&ots.t.0).for_each(|(at, t)| put(at, 1 + peers + p, *t));
    }
    let own = plan.input_bits(secrets.party);
    let pairs = ots.iter().zip(hashes.iter()).map(|((peer, ots), (_, hashes))| Pair {
        q: &ots.q.0[plan.input_bits(Party(peer))..][..plan.and_count()],
        t: &ots.t.0[own..][..plan.and_count()],
        hashes,
        sent: Zeroizing::new(Vec::with_capacity(BATCH)),
        received: Zeroizing::new(Vec::with_capacity(BATCH)),
        message: Vec::with_capacity(plan.and_count()),
    });
    let permutation = (plan.input_count()..plan.base_count()).map(|at| secrets.permutation.get(at)).collect();
    let gates = plan.and_count();
    let mut products = Products {
        delta: secrets.delta.block(),
        permutation,
        pairs: pairs.collect(),
        bits: [Vec::with_capacity(gates), Vec::with_capacity(gates), vec![false; gates]].map(Zeroizing::new),
        first_gate: numbered.first,
        hashed: 0,
        watch,
    };
    walk(Backend::detect(), plan.schedule(), width, inputs, &mut products);
    products.hash();
    let mut messages = products.pairs.iter().map(|pair| pair.message.iter().copied().collect());
    let messages = hashes.map_ref(|_, _| messages.next().unwrap_or_default());
    let [u, v, hashed] = products.bits.map(|bits| bits.iter().copied().collect());
    (Sums { u, v, hashed }, messages)
}

/// The state for one other party while the products are made.
struct Pair<'a> {
    /// Rows of the gates' outputs, as sender and receiver.
    q: &'a [Block],
    t: &'a [Block],
    hashes: &'a PairHashes,
    /// Rows of first operands that are waiting to be hashed.
    sent: Zeroizing<Vec<Block>>,
    received: Zeroizing<Vec<Block>>,
    message: Vec<bool>,
}

/// Wires that carry the permutation bit in block 0, then the rows as sender by peer, then those as receiver.
struct Products<'a, 'w> {
    delta: Block,
    permutation: BitVec,
    pairs: Vec<Pair<'a>>,
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
        let (a, out) = (gate.a.as_flattened(), out.as_flattened_mut());
        self.bits[0].push(a[0].lsb());
        self.bits[1].push(gate.b[0][0].lsb());
        out[0] = Block::mask(self.permutation.get(gate.index));
        let peers = self.pairs.len();
        for (p, pair) in self.pairs.iter_mut().enumerate() {
            pair.sent.push(a[1 + p]);
            pair.received.push(a[1 + peers + p]);
            out[1 + p] = pair.q[gate.index];
            out[1 + peers + p] = pair.t[gate.index];
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
        let [_, v, sums] = &mut self.bits;
        let gates = self.hashed..v.len();
        let tweak = self.first_gate + gates.start as u64;
        for pair in &mut self.pairs {
            let mut other: Zeroizing<Vec<Block>> = Zeroizing::new(pair.sent.iter().map(|q| *q ^ self.delta).collect());
            pair.hashes.sent.hash_batch(tweak, &mut pair.sent);
            pair.hashes.sent.hash_batch(tweak, &mut other);
            pair.hashes.received.hash_batch(tweak, &mut pair.received);
            let ours = pair.sent.iter().zip(other.iter()).zip(pair.received.iter());
            for (gate, ((zero, one), received)) in gates.clone().zip(ours) {
                pair.message.push(zero.lsb() ^ one.lsb() ^ v[gate]);
                sums[gate] ^= zero.lsb() ^ received.lsb();
            }
            pair.sent.clear();
            pair.received.clear();
        }
        self.watch.add(gates.len(), Traffic::default());
        self.hashed = gates.end;
    }
}

/// Step 4.
fn shares(plan: &Plan, secrets: &Secrets, product: &BitVec, ots: PerPeer<PairOts>) -> Vec<Block> {
    let (parties, own) = (usize::from(plan.parties()), usize::from(secrets.party.0));
    let delta = secrets.delta.block();
    let width = parties.div_ceil(QUAD_LANES);
    let mut inputs = vec![[Block::ZERO; QUAD_LANES]; width * plan.input_count()];
    let mut add = |at: usize, slot: usize, block| inputs[width * at..][..width].as_flattened_mut()[slot] ^= block;
    for at in 0..plan.input_count() {
        add(at, own, delta & Block::mask(secrets.permutation.get(at)));
    }
    let masked = |bits: &mut dyn ExactSizeIterator<Item = Bit>| {
        Zeroizing::new(bits.map(|bit| delta & Block::mask(bit)).collect::<Vec<Block>>())
    };
    let mut own_gates = masked(&mut (plan.input_count()..plan.base_count()).map(|at| secrets.permutation.get(at)));
    let mut own_products = masked(&mut product.iter());
    for (peer, ots) in ots.iter() {
        let (theirs, peer_slot) = (Party(peer), usize::from(peer));
        plan.inputs_of(theirs).zip(&ots.q.0).for_each(|(at, q)| add(at, own, *q));
        plan.inputs_of(secrets.party).zip(&ots.t.0).for_each(|(at, t)| add(at, peer_slot, *t));
        let (gates, products) = ots.q.0[plan.input_bits(theirs)..].split_at(plan.and_count());
        own_gates.iter_mut().zip(gates).for_each(|(sum, q)| *sum ^= *q);
        own_products.iter_mut().zip(products).for_each(|(sum, q)| *sum ^= *q);
    }
    let inputs_before = plan.input_bits(secrets.party);
    let received: Vec<&[Block]> = ots.iter().map(|(_, ots)| &ots.t.0[inputs_before..]).collect();
    let (mut of_gates, mut of_products): (Vec<&[Block]>, Vec<&[Block]>) =
        received.iter().map(|t| t.split_at(plan.and_count())).unzip();
    of_gates.insert(own, &own_gates);
    of_products.insert(own, &own_products);
    let mut own_delta = [[Block::ZERO; QUAD_LANES]; MOST_QUADS];
    own_delta.as_flattened_mut()[own] = delta;
    let mut rows = vec![Block::ZERO; plan.row_blocks()];
    let mut shares = Shares { own_delta, of_gates, of_products, rows: &mut rows };
    walk(Backend::detect(), plan.schedule(), width, inputs, &mut shares);
    rows
}

/// Wires that carry, in block `j`, the share of `lambda delta^j`.
struct Shares<'a> {
    /// `delta^i` in this party's slot.
    own_delta: [Quad; MOST_QUADS],
    /// The shares of `lambda_w delta^j` and of `lambda_u lambda_v delta^j` of every gate, by slot.
    of_gates: Vec<&'a [Block]>,
    of_products: Vec<&'a [Block]>,
    rows: &'a mut [Block],
}

impl AndGates for Shares<'_> {
    type State<E: Engine> = ();

    fn begin<E: Engine>(&self, _e: E) {}

    #[inline(always)]
    fn and<E: Engine>(&mut self, _e: E, _state: &mut (), gate: Gate<'_>, out: &mut [Quad]) {
        let parties = self.of_gates.len();
        let rows = &mut self.rows[4 * parties * gate.index..][..4 * parties];
        let (u, v, out) = (gate.a.as_flattened(), gate.b.as_flattened(), out.as_flattened_mut());
        let [invert_u, invert_v] = gate.inverted.map(usize::from);
        let place = |alpha: usize, beta: usize, j: usize| (2 * (alpha ^ invert_u) + (beta ^ invert_v)) * parties + j;
        for j in 0..parties {
            out[j] = self.of_gates[j][gate.index];
            let sum = out[j] ^ self.of_products[j][gate.index];
            rows[place(0, 0, j)] = sum;
            rows[place(0, 1, j)] = sum ^ u[j];
            rows[place(1, 0, j)] = sum ^ v[j];
            rows[place(1, 1, j)] = sum ^ u[j] ^ v[j] ^ self.own_delta[j / QUAD_LANES][j % QUAD_LANES];
        }
    }
}
