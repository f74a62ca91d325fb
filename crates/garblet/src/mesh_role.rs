//! What differs between the protocols of several parties behind [`MeshPeer`](crate::MeshPeer), and where runs come from.

use std::sync::Arc;

use garblet_circuit::{Bits, Party, Program};
use garblet_protocols::{
    MeshSession, Phase, ProtocolError, Security, bmr, gmw,
    runs::{self, RunStore},
};

use crate::{
    config::{Config, Protocol},
    role::foreign_material,
};

/// A program made ready for a protocol of several parties.
#[derive(Clone)]
pub(crate) enum MeshPlan {
    Gmw(Arc<gmw::Plan>),
    Bmr(Arc<bmr::Plan>),
}

/// One party of such a protocol; all parties do the same.
pub(crate) struct MeshRole {
    plan: MeshPlan,
    /// None as long as nothing has to be prepared.
    party: Option<SetUp>,
    stored: Option<StoredRuns>,
}

/// A store of runs, which come from there.
pub(crate) struct StoredRuns {
    pub(crate) runs: RunStore,
    /// Whether a run is prepared where the stores have none.
    pub(crate) top_up: bool,
}

/// A party that is set up to prepare.
enum SetUp {
    Gmw(gmw::Player),
    Bmr(Box<bmr::JointParty>),
}

/// What such a party has prepared for one run.
pub(crate) enum MeshMaterial {
    Gmw(gmw::Prepared),
    Bmr(Box<bmr::Prepared>),
}

impl MeshPlan {
    /// Makes a program ready for so many parties.
    ///
    /// *Errors*: a protocol of two; what the protocol cannot run.
    pub(crate) fn new(program: Arc<Program>, parties: u16, config: &Config) -> Result<Self, ProtocolError> {
        match config.protocol {
            Protocol::Gmw => Ok(MeshPlan::Gmw(Arc::new(gmw::Plan::new(program, parties, config.gmw)?))),
            Protocol::Bmr(garbling) => {
                let config = bmr::Config { garbling, ..config.bmr };
                Ok(MeshPlan::Bmr(Arc::new(bmr::Plan::new(program, parties, config)?)))
            }
            Protocol::Yao | Protocol::Components | Protocol::Covert | Protocol::CutAndChoose | Protocol::Lego => {
                let what = "peers".into();
                let expected = format!("a channel to one, which {} runs over", config.protocol);
                Err(ProtocolError::Input { what, expected, got: "a mesh".into() })
            }
        }
    }

    /// Refuses what cannot be kept in a store.
    ///
    /// *Errors*: a run that is too large.
    pub(crate) fn check_size(&self, party: Party) -> Result<(), ProtocolError> {
        match self {
            MeshPlan::Gmw(plan) => runs::check_size::<gmw::Prepared>(plan, party, gmw::NAME, plan.program()),
            MeshPlan::Bmr(plan) => {
                let name = plan.config().garbling.name();
                runs::check_size::<bmr::Prepared>(plan, party, name, plan.program())
            }
        }
    }

    async fn set_up(&self, session: &mut MeshSession) -> Result<SetUp, ProtocolError> {
        Ok(match self {
            MeshPlan::Gmw(plan) => SetUp::Gmw(gmw::Player::setup(session, plan.clone()).await?),
            MeshPlan::Bmr(plan) => SetUp::Bmr(Box::new(bmr::JointParty::setup(session, plan.clone()).await?)),
        })
    }

    /// Takes a run from the store.
    fn take(&self, party: Party, runs: &mut RunStore) -> Result<MeshMaterial, ProtocolError> {
        Ok(match self {
            MeshPlan::Gmw(plan) => MeshMaterial::Gmw(runs.take::<gmw::Prepared>(plan, party)?.1),
            MeshPlan::Bmr(plan) => MeshMaterial::Bmr(Box::new(runs.take::<bmr::Prepared>(plan, party)?.1)),
        })
    }

    /// Keeps a run in the store.
    pub(crate) fn keep(&self, party: Party, material: &MeshMaterial, runs: &mut RunStore) -> Result<(), ProtocolError> {
        match (self, material) {
            (MeshPlan::Gmw(plan), MeshMaterial::Gmw(run)) => runs.keep::<gmw::Prepared>(plan, party, run),
            (MeshPlan::Bmr(plan), MeshMaterial::Bmr(run)) => runs.keep::<bmr::Prepared>(plan, party, run),
            _ => Err(foreign_material()),
        }
    }
}

impl MeshRole {
    /// What a party is called in reports.
    pub(crate) const NAME: &str = "party";

    /// A party that prepares by itself, and is set up for it; or one whose runs come from a store, and which is set up if
    /// there are none.
    pub(crate) async fn new(
        session: &mut MeshSession,
        plan: MeshPlan,
        stored: Option<StoredRuns>,
    ) -> Result<Self, ProtocolError> {
        let party = if stored.is_none() { Some(plan.set_up(session).await?) } else { None };
        Ok(MeshRole { plan, party, stored })
    }

    pub(crate) fn security(&self) -> Security {
        match &self.plan {
            MeshPlan::Gmw(plan) => plan.security(),
            MeshPlan::Bmr(plan) => plan.security(),
        }
    }

    /// What one run needs: from the store, or prepared now.
    pub(crate) async fn prepare(&mut self, session: &mut MeshSession) -> Result<MeshMaterial, ProtocolError> {
        if let Some(StoredRuns { runs, top_up }) = &mut self.stored
            && (runs.ready() > 0 || !*top_up)
        {
            session.enter(Phase::Prepare);
            return self.plan.take(Party(session.mesh().party()), runs);
        }
        let party = match &mut self.party {
            Some(party) => party,
            none => none.insert(self.plan.set_up(session).await?),
        };
        match party {
            SetUp::Gmw(player) => Ok(MeshMaterial::Gmw(player.prepare(session).await?)),
            SetUp::Bmr(party) => Ok(MeshMaterial::Bmr(Box::new(party.prepare(session).await?))),
        }
    }

    pub(crate) async fn online(
        &mut self,
        session: &mut MeshSession,
        material: MeshMaterial,
        inputs: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        match (&self.plan, material) {
            (MeshPlan::Gmw(plan), MeshMaterial::Gmw(run)) => run.online(plan, session, inputs).await,
            (MeshPlan::Bmr(plan), MeshMaterial::Bmr(run)) => run.online(plan, session, inputs).await,
            _ => Err(foreign_material()),
        }
    }
}
