//! Half gates for one evaluator, made by all other parties: `form=half-gates`.
//!
//! *Source*: the garbling of Wang, Ranellucci and Katz (CCS 2017) with the half gates of Yang, Wang and Zhang (CCS 2020), without what
//! authenticates shares; that parties add up tables for one another is our own.
//!
//! The evaluator `E` is [`Plan::evaluator`]; the other parties garble, each with a delta of its own. The mask `lambda_w` of a wire is the sum of
//! shares of all parties, `E`'s too. `E` sees public values `x + lambda` and one active label of each garbler.
//!
//! # Steps
//!
//! 1. A party's mask bits are its choices in OTs with every garbler. For garbler `j` that makes shares of `lambda_w delta^j`: see
//!    [`shares`](super::shares).
//! 2. [`products`]: shares of `sigma = lambda_a lambda_b`. They are the choices of a second OT per gate and garbler, so that there are
//!    shares of `sigma delta^j` too.
//! 3. [`garbler`]: garbler `i` makes three blocks per gate for its own delta, and three for that of each other garbler `j`, which it sends to `j`.
//! 4. [`relay`]: garbler `j` adds those of all as they come, and sends `E` the sum: three blocks per gate. `E` adds its own shares.
//! 5. [`evaluator`]: online, `E` evaluates; [`online`] has the messages.
//!
//! # Tables
//!
//! `S_j[x]` is party `i`'s share of `x delta^j`, `H_{j,0}` and `H_{j,1}` garbler `i`'s hash under the two tweaks of a gate for delta `j`, and
//! `L` its zero labels. Party `i`'s part of what garbler `j` sends is
//!
//! | | |
//! |---|---|
//! | first | `H_{j,0}(L_a) + H_{j,0}(L_a + delta^i) + S_j[lambda_b]` |
//! | second | `H_{j,1}(L_b) + H_{j,1}(L_b + delta^i) + S_j[lambda_a]`, and `L_a` if `j = i` |
//! | third | `H_{j,0}(L_a) + H_{j,1}(L_b) + S_j[sigma + lambda_c]`, and `L_c` if `j = i` |
//!
//! and `E`'s is the same without hashes and labels. `L_c` is random with bit 0 clear, so that bit 0 of an active label is the public value. An
//! inversion keeps the mask; it adds `delta + 1` to a zero label and 1 to an active label.
//!
//! With two parties there is one garbler and nothing to add up: `L_c` is the third block with bit 0 cleared, and that bit takes its place.
//!
//! # Tweaks and keys
//!
//! Every garbler has a hash key of its own for each circuit. With `T` garblers, hash `t` of gate `g` for delta `j` has tweak `2 (T g + j) + t`, counted from
//! the last change of the key ([`keys`]).

mod evaluator;
mod garbler;
mod keys;
mod online;
mod relay;

pub(super) use self::{
    evaluator::{circuit_blocks, evaluate},
    online::finish,
};

use garblet_net::{Mesh, PerPeer};
use garblet_primitives::{Block, Prg};

use super::{
    linear::count,
    pairs::{PairOts, Pairs},
    plan::Plan,
    products,
    secrets::Secrets,
    source::{Circuit, RowSource},
};
use garblet_circuit::Party;
use garblet_protocol::{MeshSession, error::ProtocolError, phase::Phase, session::Watch};

/// Blocks of a gate for one delta.
const TABLE: usize = 3;

/// The source of tables.
pub(super) struct HalfGates(pub(super) Box<Pairs>);

impl RowSource for HalfGates {
    type Material = PerPeer<PairOts>;

    async fn prepare(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        secrets: &Secrets,
    ) -> Result<Self::Material, ProtocolError> {
        self.0.extend(session, plan.and_count(), &secrets.shared_bits(plan), |party| count(plan, party), true).await
    }

    /// *Cost*: three rounds; see [`bytes`].
    async fn rows(
        &mut self,
        mesh: &mut Mesh,
        circuit: Circuit<'_>,
        ots: PerPeer<PairOts>,
        rng: &mut Prg,
        watch: &Watch<'_>,
    ) -> Result<Vec<Block>, ProtocolError> {
        let product = products::shares(mesh, circuit, &self.0.hashes(), &ots, watch).await?;
        match circuit.plan.slot(circuit.secrets.party) {
            Some(_) => relay::garble(mesh, circuit, &product, &ots, rng.next_block()).await.map(|()| Vec::new()),
            None => relay::receive(mesh, circuit, &product, &ots).await,
        }
    }
}

/// The bytes of a build that one party sends another.
pub(super) fn bytes(plan: &Plan, from: Party, to: Party) -> u64 {
    let packed = plan.and_count().div_ceil(8) as u64;
    let corrections = if plan.slot(to).is_some() { packed } else { 0 };
    let table = if plan.slots() == 1 { 2 } else { TABLE };
    let selects = if plan.slots() == 1 { packed } else { 0 };
    let tables = 16 * (table * plan.and_count()) as u64;
    let tables = match (plan.slot(from), plan.slot(to)) {
        (Some(_), Some(_)) => tables,
        // With the hash key.
        (Some(_), None) => 16 + tables + selects,
        (None, _) => 0,
    };
    products::bytes(plan, from, to) + corrections + tables
}

/// The waits of a party after having sent, as far as there are gates.
pub(super) fn rounds(plan: &Plan, party: Party, phase: Phase) -> u64 {
    let garbles = plan.slot(party).is_some();
    let among_garblers = garbles && plan.slots() > 1;
    match phase {
        // For hellos; base OTs, two rounds as their receiver and one as the other; greetings.
        Phase::Setup => 2 + 2 * u64::from(garbles) + u64::from(!garbles || among_garblers),
        Phase::Prepare => u64::from(among_garblers),
        // For products, corrections and sums; the last are the evaluator's alone.
        Phase::Build => 1 + u64::from(!garbles || among_garblers),
        // For public values, and the evaluator's word; the evaluator has nothing to say before it has all labels.
        Phase::Online => 1 + u64::from(garbles && plan.evaluates(party)),
    }
}
