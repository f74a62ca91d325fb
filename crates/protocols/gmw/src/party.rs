//! One party: all parties do the same.

use std::sync::Arc;

use garblet_circuit::{Bits, Party, Program, ScheduleDigest};
use garblet_net::{Hello, Line, PerPeer};
use garblet_primitives::Prg;

use super::cost::communication;
use super::layers::Evaluation;
use super::outputs;
use super::pair::{InputSeeds, Pair};
use super::plan::Plan;
use super::prepare::Material;
use garblet_protocol::{
    Security,
    error::ProtocolError,
    party_io,
    phase::{Communication, Phase},
    run_id::{RunExchanges, RunId},
    session::MeshSession,
};
use garblet_runs::joint::JointParty;

/// One party of a session.
pub struct GmwParty {
    plan: Arc<Plan>,
    pairs: PerPeer<Pair>,
    runs_done: u64,
}

/// A party's preparation of one run, which consumes it.
pub struct Prepared {
    pub(super) run: RunId,
    pub(super) material: Material,
    pub(super) inputs: PerPeer<InputSeeds>,
}

impl JointParty for GmwParty {
    type Plan = Plan;
    type Prepared = Prepared;

    fn program(plan: &Plan) -> &Program {
        plan.program()
    }

    fn schedule(plan: &Plan) -> ScheduleDigest {
        plan.layers().digest()
    }

    fn parties(plan: &Plan) -> u16 {
        plan.parties()
    }

    fn security(plan: &Plan) -> Security {
        plan.security()
    }

    fn cost(plan: &Plan, party: Party, phase: Phase, hellos: &[Hello]) -> Communication {
        communication(plan, party, phase, hellos)
    }

    /// Step 1.
    async fn setup(session: &mut MeshSession, plan: Arc<Plan>) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let (own, source) = (session.mesh().party(), plan.source);
        let rngs = session.rng_per_peer();
        let step = async |peer: u16, mut line: Line, rng: Prg| Pair::setup(&mut line, rng, source, [own, peer]).await;
        let pairs = session.mesh().each(rngs, step).await?;
        Ok(GmwParty { plan, pairs, runs_done: 0 })
    }

    /// Steps 2 and 3: all work that can be done before the inputs are known.
    async fn prepare(&mut self, session: &mut MeshSession) -> Result<Prepared, ProtocolError> {
        session.enter(Phase::Prepare);
        let material = Material::prepare(session, &mut self.pairs, &self.plan).await?;
        let run = RunId::Prepared(self.runs_done);
        self.runs_done += 1;
        Ok(Prepared { run, material, inputs: self.pairs.as_mut().map(|_, pair| pair.input_seeds()) })
    }

    /// Steps 4 to 6.
    ///
    /// *Shape*: `values` are this party's inputs in program order. Returns one entry per program output, none if this
    /// party is not a recipient.
    ///
    /// *Errors*: also [`ProtocolError::OtherRun`] of a peer, before a second message is sent.
    async fn online(
        prepared: Prepared,
        plan: &Plan,
        session: &mut MeshSession,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        let own = Party(session.mesh().party());
        let input = party_io::own_input(plan.program(), own, values)?;
        session.enter(Phase::Online);
        let shares = prepared.share_inputs(plan, own, input);
        let mut exchanges = RunExchanges::new(prepared.run);
        let shares = Evaluation::new(plan, own, &shares).run(session, &mut exchanges, &prepared.material).await?;
        outputs::reveal(session, &mut exchanges, plan, &shares).await
    }
}

impl Prepared {
    /// Step 4: this party's shares of all inputs, joined in program order.
    fn share_inputs(&self, plan: &Plan, own: Party, mut input: Bits) -> Bits {
        let program = plan.program();
        let mut shares = self.inputs.map_ref(|peer, seeds| {
            let ours = seeds.share_of_ours(input.len());
            let theirs = seeds.share_of_theirs(party_io::input_bits(program, Party(peer)));
            (ours, theirs)
        });
        for (_, (ours, _)) in shares.iter() {
            ours.iter().enumerate().for_each(|(at, bit)| input.set(at, input.get(at) ^ bit));
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
