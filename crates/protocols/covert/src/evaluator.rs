//! Party 1: checks all circuits but one and evaluates that one.

use std::sync::Arc;

use garblet_circuit::Bits;
use garblet_primitives::Block;
use zeroize::Zeroizing;

use super::{EVALUATOR, NAME, Step, al07, config::Form, ots::Receiver, output, plan::Plan, seeds};
use garblet_protocol::{
    Role, Security,
    checks::Corrupted,
    conduct::{Conduct, Honest},
    domain::SessionId,
    error::ProtocolError,
    party_io,
    phase::Phase,
    session::Session,
};

/// The evaluator of a session.
pub struct Evaluator<C = Honest> {
    pub(super) plan: Arc<Plan>,
    id: SessionId,
    pub(super) ot: Receiver,
    runs: u64,
    pub(super) conduct: C,
    /// The finding against the garbler, from any run.
    corrupted: Option<Box<Corrupted>>,
}

/// The evaluator's preparation of one run, which consumes it.
pub struct EvaluatorPrepared(Material);

enum Material {
    Seeds(seeds::EvaluatorSeeds, seeds::CommitmentsVerified),
    Al07(al07::EvaluatorWires),
}

/// The result of the evaluated circuit.
pub(super) struct FromCircuit {
    pub(super) run: SessionId,
    /// The evaluator's outputs.
    pub(super) outputs: Bits,
    /// The labels of all outputs.
    pub(super) labels: Zeroizing<Vec<Box<[Block]>>>,
}

impl Evaluator {
    /// Step 1.
    ///
    /// *Errors*: an OT sender caught cheating; the connection's.
    pub async fn setup(session: &mut Session, plan: Arc<Plan>) -> Result<Self, ProtocolError> {
        Evaluator::setup_with(session, plan, Honest).await
    }
}

impl<C: Conduct<Step>> Evaluator<C> {
    /// Step 1, for an evaluator with this conduct.
    ///
    /// *Errors*: as [`Evaluator::setup`].
    pub async fn setup_with(session: &mut Session, plan: Arc<Plan>, mut conduct: C) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let (channel, rng) = session.parts();
        let id = SessionId::agree(channel, rng, NAME, plan.program().digest(), EVALUATOR).await?;
        let ot = Receiver::setup(session, &plan, &id, &mut conduct).await?;
        Ok(Evaluator { plan, id, ot, runs: 0, conduct, corrupted: None })
    }
}

impl<C: Conduct<Step>> Role for Evaluator<C> {
    type Prepared = EvaluatorPrepared;
    const NAME: &'static str = "evaluator";

    fn security(&self) -> Security {
        self.plan.security()
    }

    /// Steps 2 to 4.
    ///
    /// *Errors*: a garbler found [`Corrupted`], now or before; an OT sender caught cheating; the connection's.
    async fn prepare(&mut self, session: &mut Session) -> Result<EvaluatorPrepared, ProtocolError> {
        self.refuse_corrupted()?;
        session.enter(Phase::Prepare);
        let run = self.id.run(self.runs);
        self.runs += 1;
        Ok(EvaluatorPrepared(match self.plan.config().form {
            Form::Seeds => {
                let seeds = seeds::prepare_evaluator(self, session, run).await?;
                session.enter(Phase::Build);
                let checked = seeds::check_commitments(self, session, &seeds).await;
                Material::Seeds(seeds, self.latched(checked)?)
            }
            Form::Al07 => Material::Al07(al07::prepare_evaluator(self, session, run).await?),
        }))
    }

    /// Steps 5 to 9.
    ///
    /// *Shape*: `values` are the evaluator's inputs in program order. Returns one entry per program output, `None` where the
    /// evaluator is not a recipient.
    ///
    /// *Errors*: inputs that do not fit; [`Corrupted`], now or before; a garbler caught cheating otherwise;
    /// [`Suspected`](garblet_protocol::checks::Suspected); the connection's.
    async fn online(
        &mut self,
        session: &mut Session,
        prepared: EvaluatorPrepared,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        self.refuse_corrupted()?;
        let input = party_io::own_input(self.plan.program(), EVALUATOR, values)?;
        session.enter(Phase::Online);
        let evaluated = match prepared.0 {
            Material::Seeds(prepared, committed) => seeds::evaluate(self, session, (prepared, committed), &input).await,
            Material::Al07(prepared) => al07::evaluate(self, session, prepared, &input).await,
        };
        let FromCircuit { run, outputs, labels } = self.latched(evaluated)?;
        let mut message = output::message(&self.plan, &run, &labels);
        self.conduct.touch(Step::Result, 0, &mut message);
        session.channel().send_bytes(&message).await?;
        session.channel().flush().await?;
        Ok(self.plan.deal(EVALUATOR, &outputs))
    }
}

impl<C: Conduct<Step>> Evaluator<C> {
    /// Refuses to go on with a garbler that was caught.
    fn refuse_corrupted(&self) -> Result<(), ProtocolError> {
        match &self.corrupted {
            Some(corrupted) => Err(corrupted.clone().into()),
            None => Ok(()),
        }
    }

    /// Remembers a finding against the garbler.
    fn latched<T>(&mut self, result: Result<T, ProtocolError>) -> Result<T, ProtocolError> {
        if let Err(ProtocolError::Corrupted(corrupted)) = &result {
            self.corrupted = Some(corrupted.clone());
        }
        result
    }
}
