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
//! The tables are those of [`joint`](garblet_garble::joint), without tags. With two parties there is one garbler and nothing to add up: a bit is sent in
//! place of each third block.

mod evaluator;
mod garbler;
mod online;
mod relay;

pub(super) use self::{
    evaluator::{circuit_blocks, evaluate},
    online::finish,
};

use garblet_garble::joint::TABLE;
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
        Phase::Prepare if plan.is_silent() => match plan.slot(party) {
            // It answers a coin, and corrects its choices.
            None => 1,
            Some(_) if plan.slots() == 1 => 2,
            Some(slot) => 3 + u64::from(slot + 1 < plan.slots()),
        },
        Phase::Prepare => u64::from(among_garblers),
        // For products, corrections and sums; the last are the evaluator's alone.
        Phase::Build => 1 + u64::from(!garbles || among_garblers),
        // For public values, and the evaluator's word; the evaluator has nothing to say before it has all labels.
        Phase::Online => 1 + u64::from(garbles && plan.evaluates(party)),
    }
}
