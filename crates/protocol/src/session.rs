//! A session joins a protocol to a channel or mesh and to a random generator, and measures it.

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

/// Receives the progress of long work.
pub trait Progress: Send {
    /// `gates_done` of `gates_total` AND gates are prepared, garbled or evaluated; `traffic` is the session's so far. The count may start again in
    /// each phase.
    fn advance(&mut self, gates_done: u64, gates_total: u64, traffic: Traffic);

    /// A phase begins or continues. The first is [`Phase::Setup`], which begins with the hello.
    fn enter(&mut self, phase: Phase) {
        let _ = phase;
    }

    /// All parties have said hello and agree. Nothing that depends on a secret has been sent yet.
    ///
    /// *Errors*: [`Declined`] ends the session here.
    fn agreed(&mut self) -> Result<(), Declined> {
        Ok(())
    }
}

/// This party refuses to begin what all have agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this party did not begin the run")]
pub struct Declined;

/// Receives the progress of a phase while the mesh is in use.
pub struct Watch<'a> {
    gates: u64,
    /// The work of the whole phase, in units of the phase.
    work: u64,
    heard: Mutex<Heard<'a>>,
}

struct Heard<'a> {
    progress: &'a mut dyn Progress,
    done: u64,
    traffic: Traffic,
}

impl Watch<'_> {
    /// Adds work and traffic to the progress.
    pub fn add(&self, work: usize, traffic: Traffic) {
        self.tell(|heard| {
            heard.done += work as u64;
            heard.traffic.bytes_sent += traffic.bytes_sent;
            heard.traffic.bytes_received += traffic.bytes_received;
        });
    }

    /// Sets the work done so far, and the session's traffic so far.
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

/// Ignores the progress.
impl Progress for () {
    fn advance(&mut self, _: u64, _: u64, _: Traffic) {}
}

/// The link between a party and its peers: one channel, or a mesh.
pub trait Link: Send + Sized + 'static {
    /// The traffic so far.
    fn traffic(&self) -> Traffic;

    /// Opens a session in [`Phase::Setup`]: the parties exchange hellos, and must agree on what to run.
    ///
    /// *Errors*: [`NetError::Incompatible`] with all differences; a peer that is gone.
    fn open(
        self,
        rng: Prg,
        hello: &Hello,
        progress: Box<dyn Progress>,
    ) -> impl Future<Output = Result<Session<Self>, ProtocolError>> + Send;

    /// Closes a session after a result.
    ///
    /// *Errors*: a peer that is gone or has more to say.
    fn close(session: Session<Self>) -> impl Future<Output = Result<(), ProtocolError>> + Send;

    /// Ends a session without a result. The peers learn at most which party it blames.
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

/// One party's end of a protocol, and the only place below the caller that reads a clock. Two parties share a [`Channel`], more parties a [`Mesh`].
pub struct Session<C = Channel> {
    channel: C,
    rng: Prg,
    meter: Meter,
    progress: Box<dyn Progress>,
    workers: NonZeroUsize,
    scratch: Option<PathBuf>,
    hellos: Vec<Hello>,
}

/// The most bytes of kept data that a protocol holds in memory, if a folder takes the rest.
pub(crate) const KEPT_IN_MEMORY: usize = 16 << 20;

/// One party's end of a protocol of several parties.
pub type MeshSession = Session<Mesh>;

impl<C: Link> Session<C> {
    /// Begins a phase, to which all costs count from now on.
    pub fn enter(&mut self, phase: Phase) {
        self.meter.enter(phase, self.channel.traffic());
        self.progress.enter(phase);
    }

    /// The channel or mesh, and the generator.
    pub fn parts(&mut self) -> (&mut C, &mut Prg) {
        (&mut self.channel, &mut self.rng)
    }

    /// The generator.
    pub fn rng(&mut self) -> &mut Prg {
        &mut self.rng
    }

    /// The hellos of the other parties, in their order.
    pub fn hellos(&self) -> &[Hello] {
        &self.hellos
    }

    /// The number of threads for independent work; by default one per core.
    pub fn workers(&self) -> usize {
        self.workers.get()
    }

    /// Sets the number of threads.
    pub fn set_workers(&mut self, workers: NonZeroUsize) {
        self.workers = workers;
    }

    /// Sets a folder for data that is too large for memory. Protocols write it to a temporary file, encrypted under a key that is only in memory.
    /// Without a folder, all data stays in memory.
    pub fn set_scratch(&mut self, folder: PathBuf) {
        self.scratch = Some(folder);
    }

    /// Room for streams of `bytes` bytes together.
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

    /// Reports progress.
    pub fn advance(&mut self, gates_done: u64, gates_total: u64) {
        self.progress.advance(gates_done, gates_total, self.channel.traffic());
    }

    /// The costs of the phases so far, including the current one.
    pub fn costs(&mut self) -> PhaseCosts {
        self.enter(self.meter.phase());
        self.meter.costs()
    }
}

impl Session<Channel> {
    /// Opens a session in [`Phase::Setup`]: both sides exchange hellos, and must agree on what to run.
    ///
    /// *Errors*: [`NetError::Incompatible`](garblet_net::NetError) on both sides, with all differences.
    pub async fn open(
        mut channel: Channel,
        rng: Prg,
        hello: &Hello,
        mut progress: Box<dyn Progress>,
    ) -> Result<Self, ProtocolError> {
        let meter = Meter::start(channel.traffic());
        progress.enter(Phase::Setup);
        let theirs = hello.exchange(&mut channel).await?;
        if let Err(declined) = progress.agreed() {
            channel.abort().await;
            return Err(declined.into());
        }
        Ok(Session { channel, rng, meter, progress, workers: cores(), scratch: None, hellos: vec![theirs] })
    }

    /// The channel.
    pub fn channel(&mut self) -> &mut Channel {
        &mut self.channel
    }

    /// Closes the session after a result.
    pub async fn close(self) -> Result<(), ProtocolError> {
        self.channel.close().await?;
        Ok(())
    }

    /// Ends the session without a result. The peer learns nothing else.
    pub async fn abort(self) {
        self.channel.abort().await;
    }
}

impl Session<Mesh> {
    /// Opens a session in [`Phase::Setup`]: the parties exchange hellos, and must agree on what to run.
    ///
    /// *Errors*: a party that disagrees, with the differences; the others learn which party it is.
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
            Ok(theirs) if theirs.party == peer => Ok(theirs),
            Ok(theirs) => {
                let (ours, theirs) = (peer.to_string(), theirs.party.to_string());
                let differences = vec![Difference { field: "party at this end".into(), ours, theirs }];
                Err(NetError::Incompatible { differences })
            }
            Err(error) => Err(error),
        };
        let peers = mesh.per_peer(|_| ());
        // Everybody finishes sending before anybody judges, so nobody is cut short by another's finding.
        let judged = match mesh.each(peers, greet).await {
            Ok(theirs) => mesh.each(theirs, judge).await,
            Err(error) => Err(error),
        };
        match judged {
            Ok(theirs) => match progress.agreed() {
                Ok(()) => {
                    let hellos = theirs.iter().map(|(_, theirs)| theirs.clone()).collect();
                    Ok(Session { channel: mesh, rng, meter, progress, workers: cores(), scratch: None, hellos })
                }
                Err(declined) => {
                    mesh.abort(None).await;
                    Err(declined.into())
                }
            },
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

    /// The mesh, the generator, and the progress of a phase with this much work for this number of gates.
    pub fn watched(&mut self, gates: usize, work: usize) -> (&mut Mesh, &mut Prg, Watch<'_>) {
        let traffic = self.channel.traffic();
        let heard = Heard { progress: &mut *self.progress, done: 0, traffic };
        let watch = Watch { gates: gates as u64, work: work as u64, heard: Mutex::new(heard) };
        watch.reach(0, traffic);
        (&mut self.channel, &mut self.rng, watch)
    }

    /// Lends a session with one peer, for a protocol of two parties. [`Session::give_back`] returns it and counts its cost.
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
        let hellos = Vec::new();
        Ok((Session { channel, rng, meter, progress, workers: self.workers, scratch, hellos }, lent))
    }

    /// Takes a lent session back.
    pub fn give_back(&mut self, session: Session, lent: Lent) {
        let Session { channel, mut meter, progress, .. } = session;
        meter.enter(meter.phase(), channel.traffic());
        self.channel.give_back(channel, lent);
        self.progress = progress;
        self.meter.absorb(meter, self.channel.traffic());
    }

    /// A separate generator for the step with each peer.
    pub fn rng_per_peer(&mut self) -> PerPeer<Prg> {
        let rng = &mut self.rng;
        self.channel.per_peer(|_| Prg::random(rng))
    }

    /// Closes the session after a result.
    pub async fn close(self) -> Result<(), ProtocolError> {
        Ok(self.channel.close().await?)
    }

    /// Ends the session without a result. The others learn only which party it blames.
    pub async fn abort(self, error: &ProtocolError) {
        self.channel.abort(error.blame()).await;
    }
}

/// The cores of this machine.
fn cores() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}
