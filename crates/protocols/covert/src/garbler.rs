//! Party 0: garbles all circuits.

use std::sync::Arc;

use garblet_circuit::Bits;

use super::{GARBLER, NAME, Step, al07, config::Form, ots::Sender, output, plan::Plan, seeds};
use garblet_protocol::{
    Role, Security,
    conduct::{Common, Conduct, Honest},
    domain::SessionId,
    error::ProtocolError,
    party_io,
    phase::Phase,
    session::Session,
};
use garblet_seeded::{Blueprint, OutputLabels};

/// The garbler of a session.
pub struct Garbler<C = Honest> {
    pub(super) plan: Arc<Plan>,
    id: SessionId,
    pub(super) ot: Sender,
    runs: u64,
    pub(super) conduct: Common<C>,
}

/// The garbler's preparation of one run, which consumes it.
pub struct GarblerPrepared(Material);

enum Material {
    Seeds(seeds::GarblerSeeds),
    Al07(al07::GarblerWires),
}

/// The labels that decode the garbler's output from the evaluated circuit.
pub(super) struct Evaluated {
    pub(super) run: SessionId,
    /// The labels of all outputs.
    pub(super) outputs: OutputLabels,
}

impl Garbler {
    /// Step 1.
    ///
    /// *Errors*: an OT receiver caught cheating; the connection's.
    pub async fn setup(session: &mut Session, plan: Arc<Plan>) -> Result<Self, ProtocolError> {
        Garbler::setup_with(session, plan, Honest).await
    }
}

impl<C: Conduct<Step>> Garbler<C> {
    /// Step 1, for a garbler with this conduct.
    ///
    /// *Errors*: as [`Garbler::setup`].
    pub async fn setup_with(session: &mut Session, plan: Arc<Plan>, conduct: C) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let (channel, rng) = session.parts();
        let id = SessionId::agree(channel, rng, NAME, plan.program().digest(), GARBLER).await?;
        let conduct = Common::new(conduct);
        let ot = Sender::setup(session, &plan, &id, &conduct).await?;
        Ok(Garbler { plan, id, ot, runs: 0, conduct })
    }
}

impl<C: Conduct<Step>> Role for Garbler<C> {
    type Prepared = GarblerPrepared;
    const NAME: &'static str = "garbler";

    fn security(&self) -> Security {
        self.plan.security()
    }

    /// Steps 2 to 4.
    ///
    /// *Errors*: an OT receiver caught cheating; the connection's.
    async fn prepare(&mut self, session: &mut Session) -> Result<GarblerPrepared, ProtocolError> {
        session.enter(Phase::Prepare);
        let run = self.id.run(self.runs);
        self.runs += 1;
        Ok(GarblerPrepared(match self.plan.config().form {
            Form::Seeds => {
                let seeds = seeds::prepare_garbler(self, session, run).await?;
                session.enter(Phase::Build);
                seeds::commit(self, session, &seeds).await?;
                Material::Seeds(seeds)
            }
            Form::Al07 => Material::Al07(al07::prepare_garbler(self, session, run).await?),
        }))
    }

    /// Steps 5 to 9.
    ///
    /// *Shape*: `values` are the garbler's inputs in program order. Returns one entry per program output, `None` where the
    /// garbler is not a recipient.
    ///
    /// *Errors*: inputs that do not fit; an evaluator caught cheating; the connection's.
    async fn online(
        &mut self,
        session: &mut Session,
        prepared: GarblerPrepared,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        let input = party_io::own_input(self.plan.program(), GARBLER, values)?;
        session.enter(Phase::Online);
        let evaluated = match prepared.0 {
            Material::Seeds(prepared) => seeds::garble(self, session, prepared, &input).await?,
            Material::Al07(prepared) => al07::garble(self, session, prepared, &input).await?,
        };
        let mut message = vec![0; output::message_bytes(&self.plan)];
        session.channel().receive_bytes(&mut message).await?;
        session.channel().flush().await?;
        let Evaluated { run, outputs } = evaluated;
        let output = output::verify(&self.plan, &run, &outputs, &message)?;
        Ok(self.plan.deal(GARBLER, &output.into_bits()))
    }
}

impl<C: Conduct<Step>> Garbler<C> {
    /// The blueprint from which a circuit is garbled.
    pub(super) fn blueprint_of(&self, circuit: usize) -> Result<Arc<Blueprint>, ProtocolError> {
        match self.conduct.program(circuit) {
            None => Ok(self.plan.blueprint().clone()),
            Some(program) => Ok(Plan::new(program, self.plan.config())?.blueprint().clone()),
        }
    }
}
