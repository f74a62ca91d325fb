//! One party's part in a run, and in filling a store: meeting the others, the library's protocol, the result with its cost.

use std::time::Duration;

use garblet::{
    Bits, Ends, Error, Filled, NotPrepared, Order, Party, Peer, Plan, Stock,
    circuit::InputId,
    net::Fingerprint,
    run_report::{CpuSeconds, PartyPart},
    store::Store,
};

pub use crate::met::{Outcome, Watched};
use crate::{
    cpu::{Begins, CpuBar, CpuClock},
    failure::Failure,
    hints::explain,
    progress::Bar,
    report::peak_rss_bytes,
    settings::Settings,
    stock::{Folder, Source},
};

/// The longest wait, at the end of [`block_on`], for work in the background that cannot be aborted.
const LEAVING: Duration = Duration::from_secs(10);

/// One party's part in a run.
pub struct Task<'a> {
    /// The program made ready for the protocol.
    pub plan: Plan,
    /// This party's number.
    pub party: Party,
    /// This party's inputs.
    pub inputs: Vec<(InputId, Bits)>,
    /// The protocol and its parameters.
    pub settings: &'a Settings,
    /// Set to show progress.
    pub progress: bool,
    /// The time to read, build and prepare the program.
    pub loaded: Duration,
    /// The source of prepared material; with `None`, the run prepares what it needs.
    pub source: Option<Source>,
    /// The step once all parties agree; an error ends the run there.
    pub begins: Option<Begins>,
}

impl Task<'_> {
    fn open_stock(&self) -> Result<Option<Stock>, Failure> {
        let config = self.settings.config()?;
        self.source.as_ref().map(|source| source.open(&config, self.plan.parties())).transpose()
    }
}

impl Outcome {
    /// The result of a run with these parties. `load` is the time to make the program ready.
    pub fn new(
        outcome: garblet::Outcome,
        cpu_seconds: Option<CpuSeconds>,
        load: Duration,
        met: Vec<(u16, Option<Fingerprint>)>,
    ) -> Self {
        let outcome = Outcome::of(outcome, met);
        let (peak_rss_bytes, load_seconds) = (peak_rss_bytes(), Some(load.as_secs_f64()));
        Outcome { part: PartyPart { peak_rss_bytes, cpu_seconds, load_seconds, ..outcome.part }, ..outcome }
    }
}

/// Computes with the others, meeting them once this party is ready.
///
/// *Errors*: any end without a result.
pub fn compute(task: Task<'_>, met: impl Future<Output = Result<Ends, Failure>>) -> Result<Outcome, Failure> {
    block_on(async {
        // Do this before meeting the others, so that a mistake is reported at once.
        let stock = task.open_stock()?;
        let ends = met.await?;
        converse(task, ends, stock).await
    })
}

/// The same as [`compute`], watching the channels' traffic even if the run ends without a result. `ready` is a last step before anything is sent.
///
/// *Errors*: as [`compute`], and those of `ready`.
pub fn compute_watched(
    task: Task<'_>,
    met: impl Future<Output = Result<Ends, Failure>>,
    watched: &mut Watched,
    ready: impl FnOnce() -> Result<(), Failure>,
) -> Result<Outcome, Failure> {
    block_on(async {
        let stock = task.open_stock()?;
        let mut ends = met.await?;
        watched.begin(&mut ends, task.party);
        if let Err(failure) = ready() {
            match ends {
                Ends::Channel(channel) => channel.abort().await,
                Ends::Mesh(mesh) => mesh.abort(None).await,
            }
            return Err(failure);
        }
        converse(task, ends, stock).await
    })
}

/// Fills a store together with those of the others, meeting them once the order is known to be correct.
///
/// *Errors*: any failure. Everything done until then is kept.
pub fn fill(
    settings: &Settings,
    party: Party,
    parties: u16,
    folder: &Folder,
    met: impl Future<Output = Result<Ends, Failure>>,
    (below, progress): (u8, bool),
) -> Result<Filled, Failure> {
    fill_measured(settings, party, parties, folder, met, (below, progress)).map(|(filled, _)| filled)
}

/// The same, with the processor time of each phase if the system reports it.
///
/// *Errors*: as [`fill`].
pub fn fill_measured(
    settings: &Settings,
    party: Party,
    parties: u16,
    folder: &Folder,
    met: impl Future<Output = Result<Ends, Failure>>,
    (below, progress): (u8, bool),
) -> Result<(Filled, Option<CpuSeconds>), Failure> {
    let config = settings.config()?;
    let order = folder.order(&config, parties)?;
    block_on(async {
        let ends = met.await?;
        fill_met((settings, party, parties), (folder, order), ends, (below, progress)).await
    })
}

/// Fills a store together with connected peers, which fill theirs.
///
/// *Errors*: as [`fill`].
pub async fn fill_with(
    settings: &Settings,
    party: Party,
    parties: u16,
    folder: &Folder,
    ends: Ends,
    below: u8,
) -> Result<Filled, Failure> {
    let config = settings.config()?;
    let order = folder.order(&config, parties)?;
    fill_met((settings, party, parties), (folder, order), ends, (below, false)).await.map(|(filled, _)| filled)
}

/// Fills a store together with those of connected peers. Opens the store only now, so that other processes can use it until then.
async fn fill_met(
    (settings, party, parties): (&Settings, Party, u16),
    (folder, order): (&Folder, Option<Order>),
    ends: Ends,
    (below, progress): (u8, bool),
) -> Result<(Filled, Option<CpuSeconds>), Failure> {
    let config = settings.config()?;
    let mut stock = folder.open(order, (&config, parties), Store::open_or_create)?;
    stock.job.clone_from(&settings.job);
    let cpu = CpuClock::start();
    let bar = Box::new(CpuBar::new(Bar::new(progress), cpu.clone(), None));
    let filled = garblet::fill(stock, party, ends, &config, below, rand::rng(), bar).await;
    filled.map(|filled| (filled, cpu.seconds())).map_err(|e| explain(&e))
}

/// Computes with connected peers.
///
/// *Errors*: as [`compute`].
pub async fn compute_with(task: Task<'_>, ends: Ends) -> Result<Outcome, Failure> {
    let stock = task.open_stock()?;
    converse(task, ends, stock).await
}

/// The same with an open store, or with none.
///
/// *Errors*: as [`compute`].
pub async fn compute_opened(task: Task<'_>, ends: Ends, stock: Option<Stock>) -> Result<Outcome, Failure> {
    converse(task, ends, stock).await
}

/// Runs a future to its end on one thread: garbling and evaluating keep one core busy, and the peer has its own process.
pub fn block_on<T>(future: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    let runtime = runtime.map_err(|e| Failure::no_result(format!("cannot start the runtime: {e}")))?;
    let ended = runtime.block_on(future);
    // A name that is looked up, or a configuration that is compiled, must not keep the process from ending.
    runtime.shutdown_timeout(LEAVING);
    ended
}

async fn converse(task: Task<'_>, ends: Ends, stock: Option<Stock>) -> Result<Outcome, Failure> {
    let cpu = CpuClock::start();
    let bar = Box::new(CpuBar::new(Bar::new(task.progress), cpu.clone(), task.begins));
    let inputs: Vec<Bits> = task.inputs.into_iter().map(|(_, bits)| bits).collect();
    let (rng, party, met) = (rand::rng(), task.party, ends.others(task.party));
    let peer = match stock {
        Some(stock) => Peer::open_with(&task.plan, party, ends, stock, rng, bar).await,
        None => Peer::open(&task.plan, party, ends, rng, bar).await,
    };
    let peer = peer.map_err(|e| explain(&e))?;
    match peer.finish(&inputs).await {
        Ok(outcome) => Ok(Outcome::new(outcome, cpu.seconds(), task.loaded + cpu.before_hello(), met)),
        Err(error) => {
            let failure = explain(&error);
            match (&error, task.source.as_ref().and_then(Source::again)) {
                (Error::NotPrepared(NotPrepared::NoRun { .. }), Some(again)) => {
                    Err(failure.hint(format!("prepare more, with all parties: {again}")))
                }
                _ => Err(failure),
            }
        }
    }
}
