//! One party: all parties do the same.

use std::sync::Arc;

use garblet_circuit::{Bits, Party};
use garblet_net::{Line, PerPeer};
use garblet_primitives::Prg;

use super::layers::Evaluation;
use super::outputs;
use super::pair::{InputSeeds, Pair};
use super::plan::{Form, Plan};
use super::prepare::{self, BitOts, Triples};
use crate::{
    error::ProtocolError,
    interface,
    phase::Phase,
    run_id::{RunExchanges, RunId},
    session::MeshSession,
};

/// One party of a session.
pub struct Player {
    plan: Arc<Plan>,
    pairs: PerPeer<Pair>,
    runs_done: u64,
}

/// What a party has prepared for one run; a run consumes it, so it is used at most once.
pub struct Prepared {
    pub(super) run: RunId,
    pub(super) material: Material,
    pub(super) inputs: PerPeer<InputSeeds>,
}

pub(super) enum Material {
    Triples(Triples),
    BitOts(PerPeer<BitOts>),
}

impl Player {
    /// Step 1.
    pub async fn setup(session: &mut MeshSession, plan: Arc<Plan>) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let (own, width) = (session.mesh().party(), plan.config().ot_width);
        let rngs = session.rng_per_peer();
        let step = async |peer: u16, mut line: Line, rng: Prg| Pair::setup(&mut line, rng, width, own < peer).await;
        let pairs = session.mesh().each(rngs, step).await?;
        Ok(Player { plan, pairs, runs_done: 0 })
    }

    /// Steps 2 and 3: whatever can be done before the inputs are known.
    pub async fn prepare(&mut self, session: &mut MeshSession) -> Result<Prepared, ProtocolError> {
        session.enter(Phase::Prepare);
        let count = self.plan.and_count();
        let material = match self.plan.config().form {
            Form::Triples => Material::Triples(prepare::triples(session, &mut self.pairs, count).await?),
            Form::Choi2012 => Material::BitOts(prepare::bit_ots(session, &mut self.pairs, count).await?),
        };
        let run = RunId::Prepared(self.runs_done);
        self.runs_done += 1;
        Ok(Prepared { run, material, inputs: self.pairs.as_mut().map(|_, pair| pair.input_seeds()) })
    }

    /// Steps 4 to 6.
    ///
    /// *Shape*: `values` are this party's inputs in program order. Returns one entry per program output, none where this
    /// party is no recipient.
    ///
    /// *Errors*: also [`ProtocolError::OtherRun`] of a peer, before a second message is sent.
    pub async fn online(
        &mut self,
        session: &mut MeshSession,
        prepared: Prepared,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        prepared.online(&self.plan, session, values).await
    }
}

impl Prepared {
    /// Steps 4 to 6, as [`Player::online`]: nothing of the session in which this was prepared is needed.
    pub async fn online(
        self,
        plan: &Plan,
        session: &mut MeshSession,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        let own = Party(session.mesh().party());
        let input = interface::own_input(plan.program(), own, values)?;
        session.enter(Phase::Online);
        let shares = self.share_inputs(plan, own, input);
        let mut exchanges = RunExchanges::new(self.run);
        let shares = Evaluation::new(plan, own, &shares).run(session, &mut exchanges, &self.material).await?;
        outputs::reveal(session, &mut exchanges, plan, &shares).await
    }

    /// Step 4: this party's shares of all inputs, joined in program order.
    fn share_inputs(&self, plan: &Plan, own: Party, mut input: Bits) -> Bits {
        let program = plan.program();
        let mut shares = self.inputs.map_ref(|peer, seeds| {
            let ours = seeds.share_of_ours(input.len());
            let theirs = seeds.share_of_theirs(interface::input_bits(program, Party(peer)));
            (ours, theirs)
        });
        for (_, (ours, _)) in shares.iter() {
            ours.iter().enumerate().filter(|(_, bit)| *bit).for_each(|(at, _)| input.set(at, !input.get(at)));
        }
        let mut taken = vec![0; plan.parties().into()];
        let mut all = Bits::default();
        for port in program.inputs() {
            let (owner, width) = (port.owner, port.port.width() as usize);
            let from = match shares.get_mut(owner.0) {
                Some((_, theirs)) if owner != own => theirs,
                _ => &mut input,
            };
            let at = &mut taken[usize::from(owner.0)];
            all.append(&from.slice(*at, width));
            *at += width;
        }
        all
    }
}
