//! Both parties of the experiments: two threads, joined by loopback TCP.

use std::{sync::Arc, time::Instant};

use garblet::{
    Bits, GarblingConfig, Phase, Role, SchemeKind, Session,
    components::{Config, Evaluator, Garbler, Library, Linking, Material, Rehearsal, scmc},
    store::Store,
    yao,
};
use garblet_circuit::{Program, evaluate};
use garblet_cli::bench::loopback::{join, open, own, random_values};
use garblet_console::{
    failure::Failure,
    hints::{explain, net_failure, store_failure},
    output::seconds,
};
use garblet_garble as garble;
use garblet_net::{Channel, SimulatedLink};
use garblet_primitives::{Block, Delta, Prg};
use garblet_synthesis::library;
use rand::RngExt;
use serde::Serialize;
use serde_json::json;
use tokio::sync::Barrier;

use super::experiments::{Experiment, library_for};
use crate::page::{Form, Piece};

/// The name of the benchmark to the peer.
pub(super) const BENCH: &str = "bench compgc";

const WAYS: [(&str, Linking); 3] =
    [("standard", Linking::Standard), ("keyed", Linking::Keyed), ("template", Linking::Cheapest)];

/// The median run of a function.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) links: &'static str,
    pub(super) online_seconds: f64,
    pub(super) inputs_seconds: f64,
    pub(super) bytes_received: u64,
    pub(super) rounds: u64,
}

/// All runs, by experiment.
pub(super) struct Measured {
    pub(super) runs: Vec<Vec<Run>>,
    pub(super) prepare_seconds: f64,
    pub(super) prepare_bytes: u64,
}

/// Evaluation alone.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Evaluation {
    /// Opening prepared links, which are one AES call per wire, without a peer.
    pub(super) opening_seconds: f64,
    /// Evaluating components whose links are open.
    pub(super) linked_seconds: f64,
    /// Evaluating the same gates as one circuit.
    pub(super) flat_seconds: f64,
}

/// The job of both threads.
#[derive(Clone)]
struct Job {
    experiments: Arc<Vec<(Arc<Program>, Vec<Bits>)>>,
    garbling: GarblingConfig,
    repeat: u32,
    /// Asynchronous, because a simulated link delivers in the background.
    start: Arc<Barrier>,
    library: Library,
}

/// Runs all experiments with every way of linking, and naively.
pub(super) fn run_all(
    experiments: &[Experiment],
    link: Option<SimulatedLink>,
    scheme: SchemeKind,
    repeat: u32,
) -> Result<Measured, Failure> {
    let all: Vec<_> = experiments.iter().map(|e| (e.program.clone(), random_values(&e.program))).collect();
    let job = Job {
        experiments: Arc::new(all),
        garbling: GarblingConfig { scheme, ..Default::default() },
        repeat,
        start: Arc::new(Barrier::new(2)),
        // With the program as with the inputs.
        library: library_for(2 * u64::from(repeat))?,
    };
    let (mine, theirs) = (job.clone(), job);
    let garbler = async move |channel| garbler(channel, mine).await;
    let evaluator = async move |channel| evaluator(channel, theirs).await;
    Ok(join(link, garbler, evaluator)?.1)
}

fn memory() -> Result<Store, Failure> {
    Store::in_memory(&mut rand::rng()).map_err(|e| store_failure(&e))
}

fn config(job: &Job) -> Config {
    Config { garbling: job.garbling, ..Config::default() }
}

async fn garbler(channel: Channel, job: Job) -> Result<(), Failure> {
    let mut session = open(BENCH, channel, 0).await?;
    garble_all(&mut session, job).await?;
    session.close().await.map_err(|e| explain(&e))
}

async fn garble_all(session: &mut Session, job: Job) -> Result<(), Failure> {
    let failed = |e| explain(&e);
    let material = Arc::new(Material::new(job.library.clone(), job.garbling));
    let mut role = Garbler::setup(session, material, config(&job), memory()?, "bench").await.map_err(failed)?;
    role.prepare(session, 100).await.map_err(failed)?;
    for (program, values) in job.experiments.iter() {
        let values = own(program, values, 0);
        for (_, linking) in WAYS {
            role.set_linking(linking);
            for _ in 0..job.repeat {
                job.start.wait().await;
                let prepared = role.build(session, program).await.map_err(failed)?;
                role.online(session, prepared, &values).await.map_err(failed)?;
                let prepared = role.build(session, program).await.map_err(failed)?;
                job.start.wait().await;
                role.online(session, prepared, &values).await.map_err(failed)?;
            }
        }
        let plan = yao::Plan::new(program.clone(), yao::Config { garbling: job.garbling, ..Default::default() });
        let mut naive = yao::Garbler::setup(session, Arc::new(plan.map_err(failed)?)).await.map_err(failed)?;
        for _ in 0..job.repeat {
            let prepared = naive.prepare(session).await.map_err(failed)?;
            job.start.wait().await;
            naive.online(session, prepared, &values).await.map_err(failed)?;
        }
    }
    Ok(())
}

async fn evaluator(channel: Channel, job: Job) -> Result<Measured, Failure> {
    let mut session = open(BENCH, channel, 1).await?;
    let measured = evaluate_all(&mut session, job).await?;
    session.close().await.map_err(|e| explain(&e))?;
    Ok(measured)
}

async fn evaluate_all(session: &mut Session, job: Job) -> Result<Measured, Failure> {
    let failed = |e| explain(&e);
    let material = Arc::new(Material::new(job.library.clone(), job.garbling));
    let begin = Instant::now();
    let mut role = Evaluator::setup(session, material, config(&job), memory()?, "bench").await.map_err(failed)?;
    role.prepare(session, 100).await.map_err(failed)?;
    let prepare_seconds = begin.elapsed().as_secs_f64();
    let prepare_bytes = session.costs().prepare.communication.bytes_received;
    let mut runs = Vec::new();
    for (program, values) in job.experiments.iter() {
        let expected: Vec<Option<Bits>> = evaluate(program, values).into_iter().map(Some).collect();
        let values = own(program, values, 1);
        let mut of_program = Vec::new();
        for (links, linking) in WAYS {
            role.set_linking(linking);
            let mut times = Vec::new();
            for _ in 0..job.repeat {
                job.start.wait().await;
                let before = session.costs();
                let outputs = role.run(session, program, &values).await.map_err(failed)?;
                let at_once = Run::between(links, before, session.costs());
                check(&outputs, &expected)?;
                let prepared = role.build(session, program).await.map_err(failed)?;
                job.start.wait().await;
                let before = session.costs();
                let outputs = role.online(session, prepared, &values).await.map_err(failed)?;
                let from_inputs = Run::between(links, before, session.costs());
                times.push(Run { inputs_seconds: from_inputs.online_seconds, ..at_once });
                check(&outputs, &expected)?;
            }
            of_program.push(median(times));
        }
        let plan = yao::Plan::new(program.clone(), yao::Config { garbling: job.garbling, ..Default::default() });
        let mut naive = yao::Evaluator::setup(session, Arc::new(plan.map_err(failed)?)).await.map_err(failed)?;
        let mut times = Vec::new();
        for _ in 0..job.repeat {
            let prepared = naive.prepare(session).await.map_err(failed)?;
            session.channel().flush().await.map_err(|e| net_failure(&e))?;
            job.start.wait().await;
            let before = session.costs();
            let outputs = naive.online(session, prepared, &values).await.map_err(failed)?;
            times.push(Run::between("naive", before, session.costs()));
            check(&outputs, &expected)?;
        }
        of_program.push(median(times));
        runs.push(of_program);
    }
    Ok(Measured { runs, prepare_seconds, prepare_bytes })
}

impl Run {
    fn between(links: &'static str, before: garblet::PhaseCosts, after: garblet::PhaseCosts) -> Self {
        let mut run = Run { links, online_seconds: 0.0, inputs_seconds: 0.0, bytes_received: 0, rounds: 0 };
        for phase in [Phase::Build, Phase::Online] {
            let (before, after) = (before.of(phase), after.of(phase));
            run.online_seconds += after.seconds - before.seconds;
            run.bytes_received += after.communication.bytes_received - before.communication.bytes_received;
            run.rounds += after.communication.rounds - before.communication.rounds;
        }
        run.inputs_seconds = run.online_seconds;
        run
    }
}

/// The median by each of both times.
fn median(mut runs: Vec<Run>) -> Run {
    runs.sort_by(|a, b| a.inputs_seconds.total_cmp(&b.inputs_seconds));
    let inputs_seconds = runs[runs.len() / 2].inputs_seconds;
    runs.sort_by(|a, b| a.online_seconds.total_cmp(&b.online_seconds));
    Run { inputs_seconds, ..runs[runs.len() / 2] }
}

fn check(outputs: &[Option<Bits>], expected: &[Option<Bits>]) -> Result<(), Failure> {
    match outputs == expected {
        true => Ok(()),
        false => Err(Failure::no_result("a wrong result: this is a bug")),
    }
}

/// Times evaluation alone: linked in the cheapest way, and as one circuit.
pub(super) fn evaluation(experiment: &Experiment, scheme: SchemeKind) -> Result<Evaluation, Failure> {
    const PASSES: usize = 101;
    let garbling = GarblingConfig { scheme, ..Default::default() };
    let mut rng = rand::rng();
    let program = &experiment.program;
    let values = random_values(program);
    let material = Material::new(library_for(1)?, garbling);
    let rehearsal = Rehearsal::new(material, program.clone(), Linking::Cheapest, &values, &mut rng);
    let mut rehearsal = rehearsal.map_err(|e| explain(&e))?;
    let expected = evaluate(program, &values);
    let flat = Flat::new(program, garbling, &mut rng)?;
    let mut best = Evaluation { opening_seconds: f64::MAX, linked_seconds: f64::MAX, flat_seconds: f64::MAX };
    for _ in 0..PASSES {
        let begin = Instant::now();
        rehearsal.open().map_err(|e| explain(&e))?;
        best.opening_seconds = best.opening_seconds.min(begin.elapsed().as_secs_f64());
        let begin = Instant::now();
        let outputs = rehearsal.evaluate();
        best.linked_seconds = best.linked_seconds.min(begin.elapsed().as_secs_f64());
        if outputs != expected {
            return Err(Failure::no_result("a wrong result: this is a bug"));
        }
        // The masks again: the links are closed.
        rehearsal.open().map_err(|e| explain(&e))?;
        best.flat_seconds = best.flat_seconds.min(flat.evaluate()?);
    }
    Ok(best)
}

/// A program as one garbled circuit.
struct Flat {
    program: Program,
    schedules: garble::Schedules,
    garbling: GarblingConfig,
    hash: Block,
    tables: Vec<u8>,
}

impl Flat {
    fn new(program: &Program, garbling: GarblingConfig, rng: &mut rand::rngs::ThreadRng) -> Result<Self, Failure> {
        let program = program.flattened().map_err(Failure::no_result)?;
        let schedules = garble::Schedules::new(&program);
        let (delta, seeds) = (Delta::random(rng), garble::Seeds::random(rng));
        let mut flat = Flat { program, schedules, garbling, hash: seeds.hash, tables: Vec::new() };
        let Flat { program, schedules, tables, .. } = &mut flat;
        let labels = labels_of(program);
        let mut garbler = garble::Garbler::new(program, schedules, garbling, &delta, seeds, 0, labels);
        while garbler.garble_chunk(tables) {}
        drop(garbler);
        Ok(flat)
    }

    /// Evaluates, and says how long it took.
    fn evaluate(&self) -> Result<f64, Failure> {
        let labels = labels_of(&self.program);
        let begin = Instant::now();
        let mut evaluator = garble::Evaluator::new(&self.program, &self.schedules, self.garbling, self.hash, 0, labels);
        let mut rest = &self.tables[..];
        while evaluator.next_chunk_bytes() > 0 {
            let (chunk, later) = rest.split_at(evaluator.next_chunk_bytes());
            evaluator.evaluate_chunk(chunk).map_err(Failure::no_result)?;
            rest = later;
        }
        std::hint::black_box(evaluator.into_outputs());
        Ok(begin.elapsed().as_secs_f64())
    }
}

/// Labels of a program's inputs.
fn labels_of(program: &Program) -> Vec<Box<[Block]>> {
    let mut labels = Prg::new(Block::ONES);
    program.inputs().iter().map(|i| (0..i.port.width()).map(|_| labels.next_block()).collect()).collect()
}

/// Links two rounds of AES as published, and attacks them.
pub(super) fn published_attack(form: &Form) -> Result<(), Failure> {
    let component = library::component("aes-round").map_err(Failure::no_result)?;
    let mut rng = rand::rng();
    let first: Vec<bool> = (0..256).map(|_| rng.random()).collect();
    let key: Vec<bool> = (0..128).map(|_| rng.random()).collect();
    let blocks = scmc::Blocks { component: &component, width: 128 };
    let (view, delta) = scmc::publish(&blocks, &first, &key, &mut rng);
    let begin = Instant::now();
    let learned = scmc::attack(&blocks, &view);
    let seconds_taken = begin.elapsed().as_secs_f64();
    let found_delta = learned.as_ref().is_some_and(|learned| learned.delta == delta.to_u128());
    let found_key = learned.is_some_and(|learned| learned.key.as_deref() == Some(&first[128..]));
    let value = json!({
        "delta_recovered": found_delta,
        "round_key_recovered": found_key,
        "seconds": seconds_taken,
        "aes_online_bytes": scmc::online_bytes(1408, 9, 128),
    });
    let said = |found| if found { "recovered" } else { "not found" };
    let text = format!(
        "two rounds of AES, linked by one label for 128 wires as published\nfrom what the evaluator sees, in {}:\n\
         difference of all labels: {}\nthe garbler's round key: {}\n",
        seconds(seconds_taken),
        said(found_delta),
        said(found_key)
    );
    form.show(&value, vec![Piece::Words(text)])
}
