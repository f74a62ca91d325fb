//! `garblet-lab joint`: what one of many parties computes to garble and to evaluate jointly, in memory, on one thread,
//! against bare double-key hash calls and bare OT.
//!
//! Offline all parties run on this thread by turns, over channels in memory; the time of all, divided by their number, is one
//! party's. *Bare* is what that party cannot do without: for each AND gate and other party two correlated OTs each way, at the
//! rate of OTs alone, and `4 n` masks per gate at the rate of hash calls alone. The form is `linear`.

use std::{sync::Arc, time::Instant};

use futures_util::future::try_join_all;
use garblet::{
    Error, MeshSession, Width,
    bmr::{self, BmrParty, Config, Plan, Rehearsal},
    runs::joint::JointParty,
};
use garblet_console::{failure::Failure, hints::explain, output::rate, session::block_on};
use garblet_net::{Hello, Mesh, memory_pair};
use garblet_ot::{CorrelatedReceiver, CorrelatedSender, CotReceiver, CotSender, OtError};
use garblet_primitives::{Backend, Block, Delta, Prg, RAW_BLOCKS, raw_joint_hashes};
use garblet_synthesis::library;
use serde::Serialize;

use crate::page::{Form, Piece};

/// The options of `garblet-lab joint`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The circuit
    #[arg(long, default_value = "lib:aes128")]
    program: String,
    /// Numbers of parties
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_value = "3,5,7,9,11,13")]
    parties: Vec<u16>,
    /// Repeat N times and report the fastest
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: u32,
    #[command(flatten)]
    form: Form,
}

#[derive(Serialize)]
struct Measured {
    bench: &'static str,
    program: String,
    and: usize,
    threads: u32,
    results: Vec<Line>,
}

/// One number of parties.
#[derive(Serialize)]
struct Line {
    parties: u16,
    bare_hash_per_second: f64,
    evaluate_and_per_second: f64,
    evaluate_hash_per_second: f64,
    evaluate_of_bare: f64,
    mask_and_per_second: f64,
    mask_hash_per_second: f64,
    mask_of_bare: f64,
    /// Processor time of one party before inputs are known, set-up apart, by AND gates and other parties.
    offline_nanoseconds_per_and_and_pair: f64,
    bare_ot_per_second: f64,
    /// The same if there were bare OT and bare hash calls only.
    offline_bare_nanoseconds_per_and_and_pair: f64,
    offline_of_bare: f64,
}

/// OTs that are made at a time to measure their rate.
const OTS: usize = 1 << 17;

/// Runs the benchmark.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let program = library::find(&options.program).map_err(|error| Failure::call(format!("--program: {error}")))?;
    let program = Arc::new(program);
    let mut measured =
        Measured { bench: "joint", program: options.program.clone(), and: 0, threads: 1, results: Vec::new() };
    for &parties in &options.parties {
        let config = Config { form: bmr::Form::Linear, ..Config::default() };
        let plan = Plan::new(program.clone(), parties, config)
            .map_err(|error| Failure::call(format!("--parties {parties}: {error}")))?;
        measured.and = plan.and_count();
        measured.results.push(measure(&Arc::new(plan), options.repeat)?);
    }
    options.form.show(&measured, vec![Piece::Table(measured.table())])
}

fn measure(plan: &Arc<Plan>, repeat: u32) -> Result<Line, Failure> {
    let mut rehearsal = Rehearsal::new(plan, &mut Prg::new(Block::ONES));
    let mut blocks = [Block::ONES; RAW_BLOCKS];
    let (parties, ands) = (f64::from(plan.parties()), plan.and_count() as f64);
    let calls = ands * parties * parties;
    let rounds = (calls as usize).div_ceil(RAW_BLOCKS);
    let [mut bare, mut evaluate, mut mask, mut offline, mut ot] = [f64::INFINITY; 5];
    // In turn, so that what else the machine does falls on all alike.
    for _ in 0..repeat {
        bare = bare.min(seconds(|| raw_joint_hashes(Backend::detect(), &mut blocks, rounds)));
        evaluate = evaluate.min(seconds(|| {
            std::hint::black_box(rehearsal.evaluate());
        }));
        mask = mask.min(seconds(|| rehearsal.mask()));
    }
    // In a loop of their own, since they drive what the others work on out of the caches.
    for _ in 0..repeat {
        ot = ot.min(block_on(ot_seconds(plan.config().width()))? / OTS as f64);
        offline = offline.min(block_on(offline_seconds(plan))? / parties);
    }
    let bare = (rounds * RAW_BLOCKS) as f64 / bare;
    let [evaluated, masked] = [calls / evaluate, 4.0 * ands * parties / mask];
    let pairs = ands * (parties - 1.0);
    // A party's two ends of the OTs with another cost what both ends of the OTs in one direction cost.
    let [offline, least] = [offline / pairs, 2.0 * ot + 4.0 * parties / (parties - 1.0) / bare].map(|s| s * 1e9);
    Ok(Line {
        parties: plan.parties(),
        bare_hash_per_second: bare,
        evaluate_and_per_second: ands / evaluate,
        evaluate_hash_per_second: evaluated,
        evaluate_of_bare: evaluated / bare,
        mask_and_per_second: ands / mask,
        mask_hash_per_second: masked,
        mask_of_bare: masked / bare,
        offline_nanoseconds_per_and_and_pair: offline,
        bare_ot_per_second: 1.0 / ot,
        offline_bare_nanoseconds_per_and_and_pair: least,
        offline_of_bare: least / offline,
    })
}

/// The seconds that all parties together take to prepare and build.
async fn offline_seconds(plan: &Arc<Plan>) -> Result<f64, Failure> {
    let (program, count) = (plan.program(), plan.parties());
    let setup = async |mesh: Mesh| {
        let hello = Hello::new("joint", mesh.party(), count, program.digest());
        let rng = Prg::new(Block::from_u128(mesh.party().into()));
        let mut session = MeshSession::join(mesh, rng, &hello, Box::new(())).await?;
        let party = BmrParty::setup(&mut session, plan.clone()).await?;
        Ok((session, party))
    };
    let parties = try_join_all(Mesh::memory(count).into_iter().map(setup)).await.map_err(|e: Error| explain(&e))?;
    let begin = Instant::now();
    let prepare = async |(mut session, mut party): (MeshSession, BmrParty)| {
        let prepared = party.prepare(&mut session).await?;
        Ok((session, prepared))
    };
    let prepared = try_join_all(parties.into_iter().map(prepare)).await;
    prepared.map(|_| begin.elapsed().as_secs_f64()).map_err(|e: Error| explain(&e))
}

/// The seconds that both ends take for correlated OTs.
async fn ot_seconds(width: Width) -> Result<f64, Failure> {
    let (mut ours, mut theirs) = memory_pair();
    let (mut a, mut b) = (Prg::new(Block::ZERO), Prg::new(Block::ONES));
    let delta = Delta::random(&mut a);
    let both = tokio::try_join!(
        CotSender::setup(&mut ours, &mut a, &delta, width),
        CotReceiver::setup(&mut theirs, &mut b, width)
    );
    let (mut sender, mut receiver) = both.map_err(Failure::no_result)?;
    let begin = Instant::now();
    let receive = async {
        let received = receiver.extend_random(&mut theirs, OTS).await?;
        theirs.flush().await?;
        Ok(received)
    };
    let done = tokio::try_join!(sender.extend(&mut ours, OTS), receive);
    done.map(|_| begin.elapsed().as_secs_f64()).map_err(|e: OtError| Failure::no_result(e))
}

fn seconds(work: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    work();
    begin.elapsed().as_secs_f64()
}

impl Measured {
    fn table(&self) -> Vec<Vec<String>> {
        let evaluate = ["parties", "bare hash/s", "evaluate AND/s", "hash/s", "of bare"];
        let garble = ["mask AND/s", "hash/s", "of bare", "bare OT/s", "offline per AND and pair", "bare", "of bare"];
        let time = |nanoseconds: f64| format!("{nanoseconds:.1} ns");
        let percent = |part: f64| format!("{:.0} %", 100.0 * part);
        let row = |line: &Line| {
            vec![
                line.parties.to_string(),
                rate(line.bare_hash_per_second),
                rate(line.evaluate_and_per_second),
                rate(line.evaluate_hash_per_second),
                percent(line.evaluate_of_bare),
                rate(line.mask_and_per_second),
                rate(line.mask_hash_per_second),
                percent(line.mask_of_bare),
                rate(line.bare_ot_per_second),
                time(line.offline_nanoseconds_per_and_and_pair),
                time(line.offline_bare_nanoseconds_per_and_and_pair),
                percent(line.offline_of_bare),
            ]
        };
        let mut rows = vec![evaluate.into_iter().chain(garble).map(String::from).collect()];
        rows.extend(self.results.iter().map(row));
        rows
    }
}
