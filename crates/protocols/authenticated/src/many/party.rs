//! A party: the phases of a run.

use std::sync::Arc;

use garblet_circuit::{Bits, Party};
use garblet_net::Mesh;
use garblet_protocol::{
    MeshSession, Phase, ProtocolError, Role, Security,
    conduct::{Conduct, Honest},
};

use super::{Step, build::Built, ground::Ground, plan::Plan, shares::Supply};

/// A party of a session.
pub struct Member<K = Honest> {
    plan: Arc<Plan>,
    ground: Ground<K>,
}

/// A party's preparation of one run, which consumes it.
pub struct Prepared(Built);

impl<K: Conduct<Step>> Member<K> {
    /// Sets a party up.
    ///
    /// *Errors*: a party that misbehaves; the connections'.
    pub async fn set_up(
        session: &mut MeshSession,
        plan: Arc<Plan>,
        party: Party,
        conduct: K,
    ) -> Result<Self, ProtocolError> {
        let ground = Ground::set_up(session, &plan, party, conduct).await?;
        Ok(Member { plan, ground })
    }

    /// Makes the triples and masks of a run.
    async fn draw(&mut self, session: &mut MeshSession) -> Result<Supply, ProtocolError> {
        session.enter(Phase::Prepare);
        let (ands, masks) = self.plan.amounts();
        let mut supply = Supply::with_room(self.plan.parties(), ands, masks);
        let mut done = 0;
        for (batch, masks) in self.plan.batches() {
            // Batches may have some more than is needed.
            let triples = batch.map_or(0, |batch| (batch.triples as usize).min(ands - done));
            self.ground.make(session, (batch, triples, masks as usize), &mut supply).await?;
            done += triples;
            session.advance(done as u64, ands as u64);
        }
        Ok(supply)
    }
}

impl<K: Conduct<Step>> Role<Mesh> for Member<K> {
    type Prepared = Prepared;
    const NAME: &'static str = "party";

    fn security(&self) -> Security {
        self.plan.stated_security()
    }

    async fn prepare(&mut self, session: &mut MeshSession) -> Result<Prepared, ProtocolError> {
        self.ground.check_sound()?;
        let supply = self.draw(session).await?;
        Ok(Prepared(self.ground.build(session, &self.plan, supply).await?))
    }

    async fn online(
        &mut self,
        session: &mut MeshSession,
        prepared: Prepared,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        self.ground.compute(session, &self.plan, prepared.0, values).await
    }
}
