//! What differs between the protocols of several parties behind [`MeshPeer`](crate::MeshPeer).

use std::sync::Arc;

use garblet_circuit::{Bits, Program};
use garblet_protocols::{MeshSession, ProtocolError, Security, bmr, gmw};

use crate::{
    config::{Config, Protocol},
    role::foreign_material,
};

/// A program made ready for a protocol of several parties.
pub(crate) enum MeshPlan {
    Gmw(Arc<gmw::Plan>),
    Bmr(Arc<bmr::Plan>),
}

/// One party of such a protocol that is set up; all parties do the same.
pub(crate) enum MeshRole {
    Gmw(gmw::Player, Arc<gmw::Plan>),
    Bmr(Box<bmr::JointParty>, Arc<bmr::Plan>),
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
}

impl MeshRole {
    /// What a party is called in reports.
    pub(crate) const NAME: &str = "party";

    pub(crate) async fn setup(session: &mut MeshSession, plan: MeshPlan) -> Result<Self, ProtocolError> {
        match plan {
            MeshPlan::Gmw(plan) => Ok(MeshRole::Gmw(gmw::Player::setup(session, plan.clone()).await?, plan)),
            MeshPlan::Bmr(plan) => {
                let party = bmr::JointParty::setup(session, plan.clone()).await?;
                Ok(MeshRole::Bmr(Box::new(party), plan))
            }
        }
    }

    pub(crate) fn security(&self) -> Security {
        match self {
            MeshRole::Gmw(_, plan) => plan.security(),
            MeshRole::Bmr(_, plan) => plan.security(),
        }
    }

    pub(crate) async fn prepare(&mut self, session: &mut MeshSession) -> Result<MeshMaterial, ProtocolError> {
        match self {
            MeshRole::Gmw(player, _) => Ok(MeshMaterial::Gmw(player.prepare(session).await?)),
            MeshRole::Bmr(party, _) => Ok(MeshMaterial::Bmr(Box::new(party.prepare(session).await?))),
        }
    }

    pub(crate) async fn online(
        &mut self,
        session: &mut MeshSession,
        material: MeshMaterial,
        inputs: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        match (self, material) {
            (MeshRole::Gmw(player, _), MeshMaterial::Gmw(prepared)) => player.online(session, prepared, inputs).await,
            (MeshRole::Bmr(party, _), MeshMaterial::Bmr(prepared)) => party.online(session, *prepared, inputs).await,
            _ => Err(foreign_material()),
        }
    }
}
