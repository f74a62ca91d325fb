//! A session joins a protocol to a channel or a mesh and a generator, and meters it.

use std::{
    num::NonZeroUsize,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use garblet_circuit::Party;
use garblet_net::{Channel, Difference, Hello, Lent, Line, Mesh, NetError, PerPeer, Traffic};
use garblet_primitives::Prg;
use garblet_store::Scratch;

use crate::{
    error::ProtocolError,
    phase::{Meter, Phase, PhaseCosts},
};

/// Hears of the progress of long work.
pub trait Progress: Send {
    /// `gates_done` of `gates_total` AND gates are prepared, garbled or evaluated; `traffic` is the session's so far. A phase
    /// may begin with none again.
    fn advance(&mut self, gates_done: u64, gates_total: u64, traffic: Traffic);

    /// A phase begins or goes on; the first is [`Phase::Setup`], which begins with the hello.
    fn enter(&mut self, phase: Phase) {
        let _ = phase;
    }
}

/// Hears how far a phase is while the mesh is at work.
pub struct Watch<'a> {
    gates: u64,
    /// All work of the phase, in units of its own.
    work: u64,
    heard: Mutex<Heard<'a>>,
}

struct Heard<'a> {
    progress: &'a mut dyn Progress,
    done: u64,
    traffic: Traffic,
}

impl Watch<'_> {
    /// So much more work is done, with so much more traffic.
    pub fn add(&self, work: usize, traffic: Traffic) {
        self.tell(|heard| {
            heard.done += work as u64;
            heard.traffic.bytes_sent += traffic.bytes_sent;
            heard.traffic.bytes_received += traffic.bytes_received;
        });
    }

    /// So much work is done, with this traffic of the session.
    pub fn reach(&self, work: usize, traffic: Traffic) {
        self.tell(|heard| (heard.done, heard.traffic) = (work as u64, traffic));
    }

    fn tell(&self, change: impl FnOnce(&mut Heard<'_>)) {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut heard);
        let share = (u128::from(self.gates) * u128::from(heard.done)).checked_div(self.work.into());
        let traffic = heard.traffic;
        heard.progress.advance(share.map_or(self.gates, |gates| gates as u64), self.gates, traffic);
    }
}

/// Silent progress.
impl Progress for () {
    fn advance(&mut self, _: u64, _: u64, _: Traffic) {}
}

/// The link between a party and its peers: one channel, or a mesh.
pub trait Link: Send + Sized + 'static {
    /// The traffic so far.
    fn traffic(&self) -> Traffic;

    /// Opens a session in [`Phase::Setup`]: all parties say who they are and what they want to run, and must agree.
    ///
    /// *Errors*: [`NetError::Incompatible`] where they do not, naming on what; a peer that is gone.
    fn open(
        self,
        rng: Prg,
        hello: &Hello,
        progress: Box<dyn Progress>,
    ) -> impl Future<Output = Result<Session<Self>, ProtocolError>> + Send;

    /// Ends a session in order.
    ///
    /// *Errors*: a peer that is gone or has more to say.
    fn close(session: Session<Self>) -> impl Future<Output = Result<(), ProtocolError>> + Send;

    /// Ends a session without a result; the peers learn at most whom it blames.
    fn abort(session: Session<Self>, over: &ProtocolError) -> impl Future<Output = ()> + Send;
}

impl Link for Channel {
    fn traffic(&self) -> Traffic {
        self.traffic()
    }

    async fn open(self, rng: Prg, hello: &Hello, progress: Box<dyn Progress>) -> Result<Session<Self>, ProtocolError> {
        Session::open(self, rng, hello, progress).await
    }

    async fn close(session: Session<Self>) -> Result<(), ProtocolError> {
        session.close().await
    }

    async fn abort(session: Session<Self>, _: &ProtocolError) {
        session.abort().await;
    }
}

impl Link for Mesh {
    fn traffic(&self) -> Traffic {
        self.traffic()
    }

    async fn open(self, rng: Prg, hello: &Hello, progress: Box<dyn Progress>) -> Result<Session<Self>, ProtocolError> {
        Session::join(self, rng, hello, progress).await
    }

    async fn close(session: Session<Self>) -> Result<(), ProtocolError> {
        session.close().await
    }

    async fn abort(session: Session<Self>, over: &ProtocolError) {
        session.abort(over).await;
    }
}

/// One party's end of a protocol: the only place below the caller that reads a clock. Two parties share a [`Channel`], more
/// a [`Mesh`].
pub struct Session<C = Channel> {
    channel: C,
    rng: Prg,
    meter: Meter,
    progress: Box<dyn Progress>,
    workers: NonZeroUsize,
    scratch: Option<PathBuf>,
}

/// The number of bytes that a protocol that must keep what it receives has in memory, if there is a folder for the rest.
pub(crate) const KEPT_IN_MEMORY: usize = 16 << 20;

/// One party's end of a protocol of several parties.
pub type MeshSession = Session<Mesh>;

impl<C: Link> Session<C> {
    /// Begins a phase; what follows is counted to it.
    pub fn enter(&mut self, phase: Phase) {
        self.meter.enter(phase, self.channel.traffic());
        self.progress.enter(phase);
    }

    /// The channel or mesh, and the generator, to run a step.
    pub fn parts(&mut self) -> (&mut C, &mut Prg) {
        (&mut self.channel, &mut self.rng)
    }

    /// The generator.
    pub fn rng(&mut self) -> &mut Prg {
        &mut self.rng
    }

    /// The number of threads that work on what does not depend on one another; as many as there are cores, unless that is set.
    pub fn workers(&self) -> usize {
        self.workers.get()
    }

    /// Sets how many threads work.
    pub fn set_workers(&mut self, workers: NonZeroUsize) {
        self.workers = workers;
    }

    /// Sets a folder for what is too large for memory, where protocols have to keep it: sealed under a key that is nowhere
    /// else, in a file that is gone afterwards. Without a folder, it is kept in memory.
    pub fn set_scratch(&mut self, folder: PathBuf) {
        self.scratch = Some(folder);
    }

    /// Room for streams of so many bytes in all.
    ///
    /// *Errors*: a file that cannot be made in the folder.
    pub fn scratch(&mut self, streams: usize, bytes: usize) -> Result<Scratch, ProtocolError> {
        match &self.scratch {
            Some(folder) if bytes > KEPT_IN_MEMORY => {
                Ok(Scratch::in_folder(folder, streams, KEPT_IN_MEMORY, &mut self.rng)?)
            }
            _ => Ok(Scratch::in_memory(streams)),
        }
    }

    /// Tells of progress.
    pub fn advance(&mut self, gates_done: u64, gates_total: u64) {
        self.progress.advance(gates_done, gates_total, self.channel.traffic());
    }

    /// The costs of the phases so far, the current one included.
    pub fn costs(&mut self) -> PhaseCosts {
        self.enter(self.meter.phase());
        self.meter.costs()
    }
}

impl Session<Channel> {
    /// Opens a session in [`Phase::Setup`]: both sides say who they are and what they want to run, and must agree.
    ///
    /// *Errors*: [`NetError::Incompatible`](garblet_net::NetError) on both sides where they do not, naming on what.
    pub async fn open(
        mut channel: Channel,
        rng: Prg,
        hello: &Hello,
        mut progress: Box<dyn Progress>,
    ) -> Result<Self, ProtocolError> {
        let meter = Meter::start(channel.traffic());
        progress.enter(Phase::Setup);
        hello.exchange(&mut channel).await?;
        Ok(Session { channel, rng, meter, progress, workers: cores(), scratch: None })
    }

    /// The channel.
    pub fn channel(&mut self) -> &mut Channel {
        &mut self.channel
    }

    /// Ends the session in order.
    pub async fn close(self) -> Result<(), ProtocolError> {
        self.channel.close().await?;
        Ok(())
    }

    /// Ends the session without a result; the peer learns only that.
    pub async fn abort(self) {
        self.channel.abort().await;
    }
}

impl Session<Mesh> {
    /// Opens a session in [`Phase::Setup`]: all parties say who they are and what they want to run, and must agree.
    ///
    /// *Errors*: a party that disagrees, and on what; the others are told who it is.
    pub async fn join(
        mut mesh: Mesh,
        rng: Prg,
        hello: &Hello,
        mut progress: Box<dyn Progress>,
    ) -> Result<Self, ProtocolError> {
        let meter = Meter::start(mesh.traffic());
        progress.enter(Phase::Setup);
        let greet = async |_: u16, mut line: Line, ()| hello.greet(&mut line).await;
        let judge = async |peer: u16, mut line: Line, theirs: Hello| match hello.judge(theirs, &mut line).await {
            Ok(theirs) if theirs.party == peer => Ok(()),
            Ok(theirs) => {
                let (ours, theirs) = (peer.to_string(), theirs.party.to_string());
                let differences = vec![Difference { field: "party at this end".into(), ours, theirs }];
                Err(NetError::Incompatible { differences })
            }
            Err(error) => Err(error),
        };
        let peers = mesh.per_peer(|_| ());
        // All have said all they have to say before anybody judges, so that nobody is cut short by what another has found.
        let judged = match mesh.each(peers, greet).await {
            Ok(theirs) => mesh.each(theirs, judge).await,
            Err(error) => Err(error),
        };
        match judged {
            Ok(_) => Ok(Session { channel: mesh, rng, meter, progress, workers: cores(), scratch: None }),
            Err(error) => {
                mesh.abort(error.blame()).await;
                Err(error.into())
            }
        }
    }

    /// The mesh.
    pub fn mesh(&mut self) -> &mut Mesh {
        &mut self.channel
    }

    /// The mesh and the generator, and what hears of a phase that has so much work for so many gates.
    pub fn watched(&mut self, gates: usize, work: usize) -> (&mut Mesh, &mut Prg, Watch<'_>) {
        let traffic = self.channel.traffic();
        let heard = Heard { progress: &mut *self.progress, done: 0, traffic };
        let watch = Watch { gates: gates as u64, work: work as u64, heard: Mutex::new(heard) };
        watch.reach(0, traffic);
        (&mut self.channel, &mut self.rng, watch)
    }

    /// Lends a session with one peer, for a protocol of two; [`Session::give_back`] takes it back with what it cost.
    ///
    /// *Errors*: no such peer.
    pub fn lend(&mut self, peer: Party) -> Result<(Session, Lent), ProtocolError> {
        let phase = self.meter.phase();
        self.meter.enter(phase, self.channel.traffic());
        let Some((channel, lent)) = self.channel.lend(peer.0) else {
            let (expected, got) = (format!("0 to {}", self.channel.party_count() - 1), peer.to_string());
            return Err(ProtocolError::Input { what: "peer".into(), expected, got });
        };
        let mut meter = Meter::start(channel.traffic());
        meter.skip_to(phase);
        let progress = std::mem::replace(&mut self.progress, Box::new(()));
        let (rng, scratch) = (Prg::random(&mut self.rng), self.scratch.clone());
        Ok((Session { channel, rng, meter, progress, workers: self.workers, scratch }, lent))
    }

    /// Takes a session back that was lent.
    pub fn give_back(&mut self, session: Session, lent: Lent) {
        let Session { channel, mut meter, progress, .. } = session;
        meter.enter(meter.phase(), channel.traffic());
        self.channel.give_back(channel, lent);
        self.progress = progress;
        self.meter.absorb(meter, self.channel.traffic());
    }

    /// A generator of its own for the step with each peer.
    pub fn rng_per_peer(&mut self) -> PerPeer<Prg> {
        let rng = &mut self.rng;
        self.channel.per_peer(|_| Prg::random(rng))
    }

    /// Ends the session in order.
    pub async fn close(self) -> Result<(), ProtocolError> {
        Ok(self.channel.close().await?)
    }

    /// Ends the session without a result; the others learn only over whom.
    pub async fn abort(self, error: &ProtocolError) {
        self.channel.abort(error.blame()).await;
    }
}

/// The cores of this machine.
fn cores() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}
