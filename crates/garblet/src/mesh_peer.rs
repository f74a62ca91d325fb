//! One of several parties' end of a run.

use std::sync::Arc;

use garblet_circuit::{Bits, Party, Program};
use garblet_net::Mesh;
use garblet_primitives::Prg;
use garblet_protocols::{MeshSession, Progress};
use rand::CryptoRng;

use crate::{
    config::Config,
    mesh_role::{MeshMaterial, MeshPlan, MeshRole},
    peer::{Error, Peer, Prepared, Report, hello},
    role::foreign_material,
};

/// One of several parties that has agreed with all others on program and parameters, and is set up.
///
/// [`MeshPeer::prepare`] may be called any number of times, ahead of inputs; each [`MeshPrepared`] serves one
/// [`MeshPeer::online`].
pub struct MeshPeer {
    session: MeshSession,
    role: MeshRole,
}

/// What one of several parties has prepared for one run.
pub struct MeshPrepared(MeshMaterial);

impl MeshPeer {
    /// Agrees with all peers and sets up (phase `setup`).
    ///
    /// The generator seeds the session's own; nothing else is random.
    ///
    /// *Errors*: a program or number of parties that the protocol cannot run, a protocol of two parties; a peer that
    /// disagrees, misbehaves or is gone, by its number.
    pub async fn join(
        program: Arc<Program>,
        mesh: Mesh,
        config: Config,
        rng: &mut impl CryptoRng,
        progress: Box<dyn Progress>,
    ) -> Result<Self, Error> {
        let (party, count) = (Party(mesh.party()), mesh.party_count());
        let plan = match MeshPlan::new(program.clone(), count, &config) {
            Ok(plan) => plan,
            Err(error) => {
                mesh.abort(None).await;
                return Err(error);
            }
        };
        let hello = hello(&program, party, count, &config);
        let mut session = MeshSession::join(mesh, Prg::random(rng), &hello, progress).await?;
        match MeshRole::setup(&mut session, plan).await {
            Ok(role) => Ok(MeshPeer { session, role }),
            Err(error) => {
                session.abort(&error).await;
                Err(error)
            }
        }
    }

    /// Prepares one run (phases `prepare` and `build`).
    ///
    /// *Errors*: a peer that misbehaves or is gone, by its number.
    pub async fn prepare(&mut self) -> Result<MeshPrepared, Error> {
        self.role.prepare(&mut self.session).await.map(MeshPrepared)
    }

    /// Runs once (phase `online`) and reports.
    ///
    /// *Shape*: `inputs` are the values of the program inputs that this party owns, in program order.
    ///
    /// *Errors*: inputs that do not fit, a peer that misbehaves or is gone, by its number.
    pub async fn online(&mut self, prepared: MeshPrepared, inputs: &[Bits]) -> Result<Report, Error> {
        let outputs = self.role.online(&mut self.session, prepared.0, inputs).await?;
        let (party, security) = (Party(self.session.mesh().party()), self.role.security());
        Ok(Report { party, role: MeshRole::NAME, outputs, phases: self.session.costs(), security })
    }

    /// Ends the session in order; all parties do.
    ///
    /// *Errors*: a peer that is gone or has more to say.
    pub async fn close(self) -> Result<(), Error> {
        self.session.close().await
    }

    /// Ends the session without a result; the others learn only over whom.
    pub async fn abort(self, over: &Error) {
        self.session.abort(over).await;
    }
}

/// One party, of two or of several: for those who take any protocol.
pub enum AnyPeer {
    /// One of two.
    Two(Box<Peer>),
    /// One of several.
    Many(Box<MeshPeer>),
}

/// What [`AnyPeer`] has prepared for one run.
pub enum AnyPrepared {
    /// One of two parties.
    Two(Prepared),
    /// One of several.
    Many(MeshPrepared),
}

impl AnyPeer {
    /// As [`Peer::prepare`] and [`MeshPeer::prepare`].
    pub async fn prepare(&mut self) -> Result<AnyPrepared, Error> {
        match self {
            AnyPeer::Two(peer) => peer.prepare().await.map(AnyPrepared::Two),
            AnyPeer::Many(peer) => peer.prepare().await.map(AnyPrepared::Many),
        }
    }

    /// As [`Peer::online`] and [`MeshPeer::online`].
    pub async fn online(&mut self, prepared: AnyPrepared, inputs: &[Bits]) -> Result<Report, Error> {
        match (self, prepared) {
            (AnyPeer::Two(peer), AnyPrepared::Two(prepared)) => peer.online(prepared, inputs).await,
            (AnyPeer::Many(peer), AnyPrepared::Many(prepared)) => peer.online(prepared, inputs).await,
            _ => Err(foreign_material()),
        }
    }

    /// As [`Peer::close`] and [`MeshPeer::close`].
    pub async fn close(self) -> Result<(), Error> {
        match self {
            AnyPeer::Two(peer) => peer.close().await,
            AnyPeer::Many(peer) => peer.close().await,
        }
    }

    /// As [`Peer::abort`] and [`MeshPeer::abort`].
    pub async fn abort(self, over: &Error) {
        match self {
            AnyPeer::Two(peer) => peer.abort().await,
            AnyPeer::Many(peer) => peer.abort(over).await,
        }
    }
}
