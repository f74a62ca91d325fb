//! Shares of the rows by OT, our form: two correlated OTs per gate and ordered pair, with the party's delta.
//!
//! # Steps
//!
//! 1. A party's permutation bits of base wires are its choices in OTs with every other party
//!    ([`Pairs::extend`](super::pairs::Pairs::extend)). For party `j` that makes shares of `lambda_w delta^j`: its own is
//!    `lambda^j_w delta^j` plus the sum of all `q`, another party's is its `t`. They are linear, so every wire has them.
//! 2. [`products`]: the rows of the first operand of a gate, hashed, share `lambda^i_u lambda^j_v` at the price of a bit. With it every
//!    party has a share of `lambda_u lambda_v`.
//! 3. These shares are the choices of a second OT per gate ([`correct`]), which makes shares of `lambda_u lambda_v delta^j`.
//! 4. [`shares`]: rows are sums, `delta^j ((lambda_u + alpha)(lambda_v + beta) + lambda_w) = delta^j lambda_u lambda_v + beta delta^j
//!    lambda_u + alpha delta^j lambda_v + alpha beta delta^j + delta^j lambda_w`. An inverted operand swaps its two values.
//!
//! Every gate has its own OTs for its product, so the part of a party's share that an active row shows is uniform, given the
//! sum of all shares.

use garblet_circuit::Party;
use garblet_garble::joint::{AndGates, Gate, Quad, walk};
use garblet_net::{Mesh, PerPeer};
use garblet_ot::BitVec;
use garblet_primitives::{Backend, Block, Engine, Prg, QUAD_LANES};

use super::{
    pairs::{Count, PairOts, Pairs, correct, exchange_bits},
    plan::Plan,
    products,
    rows::{self, MOST_QUADS},
    secrets::Secrets,
    shares::{of_inputs, own_gates, own_products},
    source::{Circuit, RowSource},
};
use garblet_protocol::{MeshSession, error::ProtocolError, session::Watch};

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
        let product = products::shares(mesh, circuit, &self.0.hashes(), &ots, watch).await?;
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

/// Step 4.
fn shares(plan: &Plan, secrets: &Secrets, product: &BitVec, ots: PerPeer<PairOts>) -> Vec<Block> {
    let (parties, own) = (usize::from(plan.parties()), usize::from(secrets.party.0));
    let inputs = of_inputs(plan, secrets, &ots, parties.div_ceil(QUAD_LANES));
    let width = parties.div_ceil(QUAD_LANES);
    let [own_gates, own_products] = [own_gates(plan, secrets, &ots), own_products(plan, secrets, product, &ots)];
    let inputs_before = plan.input_bits(secrets.party);
    let received: Vec<&[Block]> = ots.iter().map(|(_, ots)| &ots.t.0[inputs_before..]).collect();
    let (mut of_gates, mut of_products): (Vec<&[Block]>, Vec<&[Block]>) =
        received.iter().map(|t| t.split_at(plan.and_count())).unzip();
    of_gates.insert(own, &own_gates);
    of_products.insert(own, &own_products);
    let mut own_delta = [[Block::ZERO; QUAD_LANES]; MOST_QUADS];
    own_delta.as_flattened_mut()[own] = secrets.delta.block();
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
