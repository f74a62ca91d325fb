//! Both parties of the experiments: two threads, joined by loopback TCP.

use std::sync::Arc;

use garblet::{
    Bits, Communication, Phase, PhaseCosts,
    lego::{self, Checks, Config, Constructor, Evaluator, Order, Plan},
    store::{Store, StoreKey},
};
use garblet_circuit::{Program, evaluate};
use garblet_cli::bench::loopback::{join, open, own, random_values};
use garblet_console::{
    failure::Failure,
    hints::{explain, store_failure},
};
use garblet_net::{Channel, Hello, SimulatedLink};
use tokio::sync::Barrier;

/// The name of the benchmark to the peer.
const BENCH: &str = "bench lego";

/// The job of both threads: to fill a pool, then to run one function after another from it.
#[derive(Clone)]
pub(super) struct Job {
    pub(super) config: Config,
    pub(super) order: Order,
    pub(super) programs: Vec<Arc<Program>>,
    pub(super) link: Option<SimulatedLink>,
}

/// The measurements of the evaluator.
pub(super) struct Measured {
    pub(super) setup: Part,
    pub(super) independent: Part,
    /// The bytes of that by the formula, for as many checked components as there were.
    pub(super) independent_formula: u64,
    /// The numbers of components that were checked.
    pub(super) checks: Checks,
    /// Of each program.
    pub(super) runs: Vec<Run>,
}

pub(super) struct Run {
    pub(super) taking: Part,
    pub(super) dependent: Part,
    pub(super) online: Part,
}

/// Time, and what the constructor sent.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) seconds: f64,
    pub(super) communication: Communication,
}

impl Part {
    fn between(phase: Phase, before: &PhaseCosts, after: &PhaseCosts) -> Self {
        let (before, after) = (before.of(phase), after.of(phase));
        let (then, now) = (before.communication, after.communication);
        Part {
            seconds: after.seconds - before.seconds,
            communication: Communication {
                bytes_sent: now.bytes_sent - then.bytes_sent,
                bytes_received: now.bytes_received - then.bytes_received,
                rounds: now.rounds - then.rounds,
            },
        }
    }
}

/// Runs a job, with stores on disk.
pub(super) fn run(job: &Job) -> Result<Measured, Failure> {
    let folder = tempfile::tempdir().map_err(Failure::no_result)?;
    let store = |name: &str| {
        let key = StoreKey::generate(&mut rand::rng());
        Store::create(&folder.path().join(name), &key, &mut rand::rng()).map_err(|e| store_failure(&e))
    };
    let (mine, theirs) = (store("constructor")?, store("evaluator")?);
    let values: Vec<Vec<Bits>> = job.programs.iter().map(|program| random_values(program)).collect();
    let (values, start) = (&values, &Barrier::new(2));
    let constructor = async move |channel| construct((channel, mine), job, values, start).await;
    let evaluator = async move |channel| evaluate_all((channel, theirs), job, values, start).await;
    Ok(join(job.link, constructor, evaluator)?.1)
}

async fn construct(
    (channel, store): (Channel, Store),
    job: &Job,
    values: &[Vec<Bits>],
    start: &Barrier,
) -> Result<(), Failure> {
    let failed = |e| explain(&e);
    let mut session = open(BENCH, channel, 0).await?;
    let session_ref = &mut session;
    let mut role = Constructor::meet(session_ref, job.config, store, "bench").await.map_err(failed)?;
    role.fill(session_ref, &job.order).await.map_err(failed)?;
    for (program, values) in job.programs.iter().zip(values) {
        let plan = Arc::new(Plan::new(program.clone(), job.config).map_err(failed)?);
        let mut prepared = role.prepare(session_ref, plan).await.map_err(failed)?;
        start.wait().await;
        role.build(session_ref, &mut prepared).await.map_err(failed)?;
        start.wait().await;
        role.online(session_ref, prepared, &own(program, values, 0)).await.map_err(failed)?;
    }
    session.close().await.map_err(failed)
}

async fn evaluate_all(
    (channel, store): (Channel, Store),
    job: &Job,
    values: &[Vec<Bits>],
    start: &Barrier,
) -> Result<Measured, Failure> {
    let failed = |e| explain(&e);
    let mut session = open(BENCH, channel, 1).await?;
    let session_ref = &mut session;
    let none = PhaseCosts::default();
    let mut role = Evaluator::meet(session_ref, job.config, store, "bench").await.map_err(failed)?;
    let checks = role.fill(session_ref, &job.order).await.map_err(failed)?;
    let filled = session_ref.costs();
    let mut measured = Measured {
        setup: Part::between(Phase::Setup, &none, &filled),
        independent: Part::between(Phase::Prepare, &none, &filled),
        independent_formula: formula(job, checks)?,
        checks,
        runs: Vec::new(),
    };
    for (program, values) in job.programs.iter().zip(values) {
        let plan = Arc::new(Plan::new(program.clone(), job.config).map_err(failed)?);
        let before = session_ref.costs();
        let mut prepared = role.prepare(session_ref, plan).await.map_err(failed)?;
        let taken = session_ref.costs();
        start.wait().await;
        session_ref.enter(Phase::Build);
        let begun = session_ref.costs();
        role.build(session_ref, &mut prepared).await.map_err(failed)?;
        let built = session_ref.costs();
        start.wait().await;
        session_ref.enter(Phase::Online);
        let waited = session_ref.costs();
        let outputs = role.online(session_ref, prepared, &own(program, values, 1)).await.map_err(failed)?;
        let done = session_ref.costs();
        measured.runs.push(Run {
            taking: Part::between(Phase::Prepare, &before, &taken),
            dependent: Part::between(Phase::Build, &begun, &built),
            online: Part::between(Phase::Online, &waited, &done),
        });
        let expected = evaluate(program, values).into_iter().map(Some);
        if !outputs.into_iter().eq(expected) {
            return Err(Failure::no_result("a wrong result: this is a bug"));
        }
    }
    session.close().await.map_err(failed)?;
    Ok(measured)
}

/// The bytes that the constructor sends before a function is known, by formula. The program does not matter.
fn formula(job: &Job, checks: Checks) -> Result<u64, Failure> {
    let hellos = [0, 1].map(|party| Hello::new(BENCH, party, 2, [0; 32]));
    let plan = Plan::new(job.programs[0].clone(), job.config).map_err(|e| explain(&e))?;
    let stated = lego::communication(&plan, &job.order, lego::EVALUATOR, Phase::Prepare, &hellos, checks);
    Ok(stated.bytes_received)
}
