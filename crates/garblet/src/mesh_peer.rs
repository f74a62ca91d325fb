//! One of several parties' end of a run.

use std::sync::Arc;

use garblet_circuit::{Bits, Party, Program};
use garblet_net::{Hello, Mesh, STEP};
use garblet_primitives::Prg;
use garblet_protocols::{
    MeshSession, Progress,
    runs::{Purpose, RunStore},
};
use garblet_store::Store;
use rand::CryptoRng;

use crate::{
    config::Config,
    mesh_role::{MeshMaterial, MeshPlan, MeshRole, StoredRuns},
    peer::{Error, Outcome, Peer, Report, describing, hello},
    supply::{Filled, Supply},
};

/// One of several parties that has agreed with all others on program and parameters, and is set up.
///
/// [`MeshPeer::prepare`] may be called any number of times, ahead of inputs; each [`MeshPrepared`] serves one
/// [`MeshPeer::online`]. All parties use them in the same order, which is checked before anything depends on it. After an error of either, or where its
/// future was dropped, parties may be out of step: all that is left is [`MeshPeer::abort`].
pub struct MeshPeer {
    session: MeshSession,
    role: MeshRole,
    /// Whether a step has begun and has not succeeded.
    over: bool,
    /// The same in all that was prepared here.
    origin: Arc<()>,
}

/// Material that one of several parties has prepared for one run of this session.
pub struct MeshPrepared {
    material: MeshMaterial,
    origin: Arc<()>,
}

impl MeshPeer {
    /// Agrees with all peers and sets up (phase `setup`).
    ///
    /// The generator seeds the session's own, as with [`Peer::open`](crate::Peer::open).
    ///
    /// *Errors*: a program or number of parties that the protocol cannot run, a protocol of two parties; a peer that
    /// disagrees, misbehaves or is gone, by its number.
    pub fn join(
        program: Arc<Program>,
        mesh: Mesh,
        config: Config,
        mut rng: impl CryptoRng,
        progress: Box<dyn Progress>,
    ) -> impl Future<Output = Result<Self, Error>> + Send {
        MeshPeer::join_seeded(program, mesh, config, Prg::random(&mut rng), progress)
    }

    async fn join_seeded(
        program: Arc<Program>,
        mesh: Mesh,
        config: Config,
        rng: Prg,
        progress: Box<dyn Progress>,
    ) -> Result<Self, Error> {
        let joining = Joining::new(program, &mesh, config);
        let (mut session, plan) = joining.open(mesh, |hello| hello, rng, progress).await?;
        match MeshRole::new(&mut session, plan, None).await {
            Ok(role) => Ok(MeshPeer { session, role, over: false, origin: Arc::default() }),
            Err(error) => {
                session.abort(&error).await;
                Err(error)
            }
        }
    }

    /// The same with runs that were prepared by [`fill_runs`] and kept in a store.
    ///
    /// *Errors*: also stores that were not filled together, or for something else.
    pub fn join_supplied(
        program: Arc<Program>,
        mesh: Mesh,
        config: Config,
        supply: Supply,
        mut rng: impl CryptoRng,
        progress: Box<dyn Progress>,
    ) -> impl Future<Output = Result<Self, Error>> + Send {
        MeshPeer::join_supplied_seeded(program, mesh, config, supply, Prg::random(&mut rng), progress)
    }

    async fn join_supplied_seeded(
        program: Arc<Program>,
        mesh: Mesh,
        config: Config,
        supply: Supply,
        rng: Prg,
        progress: Box<dyn Progress>,
    ) -> Result<Self, Error> {
        let joining = Joining::new(program, &mesh, config);
        let Supply { store, peer, fill_first: top_up, .. } = joining.check(supply)?;
        let greet = |hello: Hello| hello.with("runs", "from a store").with("top-up", if top_up { "yes" } else { "no" });
        let (mut session, plan) = joining.open(mesh, greet, rng, progress).await?;
        let role = async {
            let runs = joining.meet(&mut session, store, &peer).await?;
            MeshRole::new(&mut session, plan, Some(StoredRuns { runs, top_up })).await
        };
        match role.await {
            Ok(role) => Ok(MeshPeer { session, role, over: false, origin: Arc::default() }),
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
        self.begin()?;
        let material = self.role.prepare(&mut self.session).await?;
        self.over = false;
        Ok(MeshPrepared { material, origin: self.origin.clone() })
    }

    /// Runs once (phase `online`) and reports.
    ///
    /// *Shape*: `inputs` are the values of the program inputs that this party owns, in program order.
    ///
    /// *Errors*: inputs that do not fit, a peer that misbehaves, is gone or is at another run, by its number.
    pub async fn online(&mut self, prepared: MeshPrepared, inputs: &[Bits]) -> Result<Report, Error> {
        self.begin()?;
        let MeshPrepared { material, origin } = prepared;
        if !Arc::ptr_eq(&origin, &self.origin) {
            let [what, expected, got] = ["prepared material", "this session's", "another session's"].map(Into::into);
            return Err(Error::Input { what, expected, got });
        }
        let outputs = self.role.online(&mut self.session, material, inputs).await?;
        self.over = false;
        let (party, security) = (Party(self.session.mesh().party()), self.role.security());
        Ok(Report { party, role: MeshRole::NAME, outputs, phases: self.session.costs(), security })
    }

    /// Begins a step: the session is over unless it succeeds.
    fn begin(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.over, true) { Err(Error::Over) } else { Ok(()) }
    }

    /// Prepares and runs once, and ends the session: in order if there is a result, else by giving up.
    ///
    /// *Errors*: those of [`MeshPeer::prepare`] and [`MeshPeer::online`]; what goes wrong after the result is in [`Outcome::closing`].
    pub async fn finish(mut self, inputs: &[Bits]) -> Result<Outcome, Error> {
        let ran = match self.prepare().await {
            Ok(prepared) => self.online(prepared, inputs).await,
            Err(error) => Err(error),
        };
        match ran {
            Ok(report) => Ok(Outcome { report, closing: self.close().await.err() }),
            Err(error) => {
                self.abort(&error).await;
                Err(error)
            }
        }
    }

    /// Ends the session in order; all parties do. A result that was reported before is final, whatever this comes to;
    /// [`MeshPeer::finish`] keeps the two together.
    ///
    /// *Errors*: a peer that is gone or has more to say; a session that is over, which is aborted.
    pub async fn close(self) -> Result<(), Error> {
        if self.over {
            self.abort(&Error::Over).await;
            return Err(Error::Over);
        }
        self.session.close().await
    }

    /// Ends the session without a result; the others learn only over whom.
    pub async fn abort(self, over: &Error) {
        self.session.abort(over).await;
    }
}

/// Fills a store, together with those of all others, until there are `count` runs of a program.
///
/// *Errors*: as [`MeshPeer::join_supplied`]; a run that is too large to be kept. What was done until then is kept.
pub fn fill_runs(
    program: Arc<Program>,
    mesh: Mesh,
    config: Config,
    supply: Supply,
    count: u64,
    mut rng: impl CryptoRng,
    progress: Box<dyn Progress>,
) -> impl Future<Output = Result<Filled, Error>> + Send {
    fill_runs_seeded(program, mesh, config, supply, count, Prg::random(&mut rng), progress)
}

async fn fill_runs_seeded(
    program: Arc<Program>,
    mesh: Mesh,
    config: Config,
    supply: Supply,
    count: u64,
    rng: Prg,
    progress: Box<dyn Progress>,
) -> Result<Filled, Error> {
    let joining = Joining::new(program, &mesh, config);
    let Supply { store, peer, .. } = joining.check(supply)?;
    let greet = |hello: Hello| hello.with(STEP, "prepare").with("count", count);
    let (mut session, plan) = joining.open(mesh, greet, rng, progress).await?;
    let fill = async {
        plan.check_size(joining.party)?;
        let mut runs = joining.meet(&mut session, store, &peer).await?;
        if runs.ready() < count {
            let mut role = MeshRole::new(&mut session, plan.clone(), None).await?;
            while runs.ready() < count {
                let material = role.prepare(&mut session).await?;
                plan.keep(joining.party, &material, &mut runs)?;
            }
        }
        Ok(runs)
    };
    match fill.await {
        Ok(runs) => {
            let (phases, lost) = (session.costs(), runs.lost());
            session.close().await?;
            Ok(Filled { store: runs.into_store(), lost, phases })
        }
        Err(error) => {
            session.abort(&error).await;
            Err(error)
        }
    }
}

/// A party that is about to agree with the others.
struct Joining {
    program: Arc<Program>,
    config: Config,
    party: Party,
    count: u16,
}

impl Joining {
    fn new(program: Arc<Program>, mesh: &Mesh, config: Config) -> Self {
        Joining { program, config, party: Party(mesh.party()), count: mesh.party_count() }
    }

    /// A supply of runs.
    fn check(&self, supply: Supply) -> Result<Supply, Error> {
        supply.contents.check(&self.config)?;
        Ok(supply)
    }

    /// Says hello to all, with what `greet` adds.
    async fn open(
        &self,
        mesh: Mesh,
        greet: impl FnOnce(Hello) -> Hello,
        rng: Prg,
        progress: Box<dyn Progress>,
    ) -> Result<(MeshSession, MeshPlan), Error> {
        match MeshPlan::new(self.program.clone(), self.count, &self.config) {
            Ok(plan) => {
                let hello = hello(self.program.digest(), self.party, self.count, &self.config);
                let hello = greet(describing(hello, self.program.clone()));
                Ok((MeshSession::join(mesh, rng, &hello, progress).await?, plan))
            }
            Err(error) => {
                mesh.abort(None).await;
                Err(error)
            }
        }
    }

    /// All stores keep what all have.
    async fn meet(&self, session: &mut MeshSession, store: Store, peers: &str) -> Result<RunStore, Error> {
        let parameters = self.config.parameters();
        let parameters = parameters.iter().map(|(name, value)| format!(", {name} {value}"));
        let protocol = format!("{}{}", self.config.protocol, parameters.collect::<String>());
        RunStore::meet(session, store, &Purpose { program: &self.program, protocol, peers }).await
    }
}

/// One party, of two or of several: for those who take any protocol.
pub enum AnyPeer {
    /// One of two.
    Two(Box<Peer>),
    /// One of several.
    Many(Box<MeshPeer>),
}

impl AnyPeer {
    /// As [`Peer::finish`] and [`MeshPeer::finish`].
    pub async fn finish(self, inputs: &[Bits]) -> Result<Outcome, Error> {
        match self {
            AnyPeer::Two(peer) => peer.finish(inputs).await,
            AnyPeer::Many(peer) => peer.finish(inputs).await,
        }
    }
}
