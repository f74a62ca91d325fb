//! A party of a session: its side of the protocol, and the plan that it runs.

use std::{marker::PhantomData, sync::Arc};

use garblet_circuit::Bits;
use garblet_protocol::{
    Phase, Role, Security, Session,
    conduct::{Conduct, Honest},
    error::ProtocolError,
    party_io,
};

use crate::{
    Step,
    build::{GateShares, InputMasks},
    config::Build,
    ground::{Ground, Secrets},
    online::{evaluator::EvaluatorSide, garbler::GarblerSide},
    plan::Plan,
    shares::Triples,
    side::{Read, Side, Waiting, Work},
    supply::Supply,
};

/// Party 0: garbles.
pub type Garbler<C = Honest> = Participant<GarblerSide, C>;
/// Party 1: evaluates.
pub type Evaluator<C = Honest> = Participant<EvaluatorSide, C>;

/// A party of a session.
pub struct Participant<S, C> {
    ground: Ground<C>,
    plan: Arc<Plan>,
    side: PhantomData<S>,
}

/// A party's preparation of one run, which consumes it.
pub struct Prepared<B>(Work<B>);

impl<S: Side, C: Conduct<Step>> Participant<S, C> {
    /// Sets up OTs in both directions.
    ///
    /// *Errors*: a peer that cheats; the connection's.
    pub async fn setup(session: &mut Session, plan: Arc<Plan>, conduct: C) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let secrets = Secrets::set_up(session, S::PARTY, plan.config()).await?;
        let ground = Ground::agree(session, &secrets, S::PARTY, plan.config(), conduct).await?;
        Ok(Participant { ground, plan, side: PhantomData })
    }

    /// Makes what a run takes.
    async fn supply(&mut self, session: &mut Session) -> Result<Supply, ProtocolError> {
        let mut supply = Supply::default();
        let ands = self.plan.and_count();
        let mut done = 0;
        for (batch, masks) in self.plan.batches() {
            supply.add(self.ground.make(session, batch, masks as usize).await?);
            done += batch.map_or(0, |batch| batch.triples);
            session.advance(done.min(ands), ands);
        }
        Ok(supply)
    }
}

impl<S: Side, C: Conduct<Step>> Role for Participant<S, C> {
    type Prepared = Prepared<S::Built>;

    const NAME: &'static str = S::NAME;

    fn security(&self) -> Security {
        self.plan.security(self.ground.cheating)
    }

    async fn prepare(&mut self, session: &mut Session) -> Result<Prepared<S::Built>, ProtocolError> {
        session.enter(Phase::Prepare);
        let mut supply = self.supply(session).await?;
        let (plan, read) = (self.plan.clone(), Read::default());
        session.enter(Phase::Build);
        if plan.config().build == Build::Ahead {
            let built = S::build(&mut self.ground, session, &plan, supply, &read).await?;
            return Ok(Prepared(Work::Built(built)));
        }
        let inputs = InputMasks::new(&plan, supply.inputs(&plan));
        let (gates, triples) = (GateShares::default(), Triples::default());
        let (_, own_masks) = self.ground.open_masks(session, &gates, &triples, Some(&inputs)).await?;
        let run = self.ground.next_run();
        Ok(Prepared(Work::Waiting(Box::new(Waiting { supply, inputs, own_masks, read, run }))))
    }

    async fn online(
        &mut self,
        session: &mut Session,
        Prepared(work): Prepared<S::Built>,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        let plan = self.plan.clone();
        let own = party_io::own_input(plan.program(), S::PARTY, values)?;
        session.enter(Phase::Online);
        let (outputs, _) = S::compute(&mut self.ground, session, &plan, work, &own).await?;
        Ok(outputs)
    }
}
