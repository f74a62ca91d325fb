//! Faults of a peer or of the network at any message: all parties end with a result or an error: nothing hangs, nothing panics, and no
//! result is wrong where no peer can make it so.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use garblet::{
    Adversary, Bits, Config, Ends, Error, Party, Peer, Plan, Program, Report,
    circuit::evaluate,
    library,
    net::testing::{Fault, PairFault, Transcript, every_fault, intercepted_mesh, intercepted_pair},
};
use rand::{SeedableRng, rngs::StdRng};
use tokio::sync::Semaphore;

use super::{full, inputs, name, own, party_count, samples};

/// The time for which a party waits for a peer where something goes wrong.
const TIMEOUT: Duration = Duration::from_millis(400);
/// The most time that a party may take in all: it waits once for the peer, and once to part from it.
const LIMIT: Duration = Duration::from_secs(20);
/// Runs at the same time: few, so that nobody waits for a processor as long as for a peer.
const AT_ONCE: usize = 8;

fn program() -> Arc<Program> {
    Arc::new(library::find("lib:add(16)").expect("in the library"))
}

/// The links of all parties with a fault between the first two, and what goes between these.
fn faulty(config: &Config, parties: u16, fault: Option<Fault>) -> (Vec<Ends>, Transcript) {
    let timeout = if fault.is_some() { TIMEOUT } else { LIMIT };
    if config.protocol().is_mesh() {
        let fault = fault.map(|fault| PairFault { low: 0, high: 1, fault });
        let (meshes, transcripts) = intercepted_mesh(parties, fault);
        let ends = meshes.into_iter().map(|mut mesh| {
            mesh.set_timeout(timeout);
            mesh.into()
        });
        return (ends.collect(), transcripts.into_iter().next().expect("a first pair").1);
    }
    let (left, right, transcript) = intercepted_pair(fault);
    let ends = [left, right].map(|mut channel| {
        channel.set_timeout(timeout);
        channel.into()
    });
    (ends.into(), transcript)
}

/// A party's whole run of a program.
pub(crate) async fn party(
    party: Party,
    ends: Ends,
    parties: u16,
    config: Config,
    program: Arc<Program>,
) -> Result<Report, Error> {
    let plan = Plan::new(program.clone(), parties, &config)?;
    let rng = StdRng::seed_from_u64(party.0.into());
    let mut peer = Peer::open(&plan, party, ends, rng, Box::new(())).await?;
    let ran = async {
        let prepared = peer.prepare().await?;
        peer.online(prepared, &own(&program, &inputs(&program), party)).await
    };
    match ran.await {
        Ok(report) => peer.close().await.map(|()| report),
        Err(error) => {
            peer.abort(&error).await;
            Err(error)
        }
    }
}

/// The results of all parties with a fault, once there is a place for them.
async fn run_in_turn(places: Arc<Semaphore>, fault: Fault, config: Config) -> Vec<Result<Report, Error>> {
    let _place = places.acquire().await.expect("it stays open");
    run(Some(fault), config).await.0
}

/// The results of all parties, and what went between the first two.
async fn run(fault: Option<Fault>, config: Config) -> (Vec<Result<Report, Error>>, Transcript) {
    let parties = party_count(&config);
    let (ends, transcript) = faulty(&config, parties, fault);
    let running: Vec<_> = (0..parties)
        .zip(ends)
        .map(|(number, ends)| {
            tokio::spawn(tokio::time::timeout(LIMIT, party(Party(number), ends, parties, config.clone(), program())))
        })
        .collect();
    let mut results = Vec::new();
    for (number, party) in running.into_iter().enumerate() {
        let ended = party.await.expect("no panic");
        results.push(ended.unwrap_or_else(|_| panic!("party {number} hangs after {fault:?}, {}", name(&config))));
    }
    (results, transcript)
}

/// Counts panics of threads that no test has of its own: of workers, whose results nobody may be waiting for.
fn worker_panics() -> Arc<AtomicUsize> {
    let (panics, before) = (Arc::new(AtomicUsize::new(0)), std::panic::take_hook());
    let counted = panics.clone();
    std::panic::set_hook(Box::new(move |panic| {
        let thread = std::thread::current();
        if thread.name().is_none_or(|name| name.starts_with("tokio")) {
            counted.fetch_add(1, Ordering::Relaxed);
        }
        before(panic);
    }));
    panics
}

/// One fault of each frame, another one from frame to frame; all of them in the slow form.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_end_every_protocol_and_give_no_wrong_result_where_none_may() {
    let panics = worker_panics();
    let right = evaluate(&program(), &inputs(&program()));
    let places = Arc::new(Semaphore::new(AT_ONCE));
    for config in samples() {
        let (honest, transcript) = run(None, config.clone()).await;
        assert!(honest.iter().all(Result::is_ok), "an honest run succeeds: {}, {honest:?}", name(&config));
        let faults = every_fault(&transcript.frames());
        let kinds = 8;
        let chosen = faults.into_iter().enumerate().filter(|(at, _)| full() || at / kinds % kinds == at % kinds);
        let chosen: Vec<Fault> = chosen.map(|(_, fault)| fault).collect();
        assert!(!chosen.is_empty(), "a run has messages");
        let is_malicious = config.adversary() == Adversary::Malicious;
        let begin = |fault| (fault, tokio::spawn(run_in_turn(places.clone(), fault, config.clone())));
        let runs: Vec<_> = chosen.into_iter().map(begin).collect();
        for (fault, run) in runs {
            for report in run.await.expect("no panic").into_iter().flatten().filter(|_| is_malicious) {
                let is_wrong = |(got, right): (&Option<Bits>, &Bits)| got.as_ref().is_some_and(|got| got != right);
                let wrong = report.outputs.iter().zip(&right).any(is_wrong);
                assert!(!wrong, "{fault:?} gives the {} of {} a wrong result", report.role, name(&config));
            }
        }
    }
    assert_eq!(panics.load(Ordering::Relaxed), 0, "workers panicked");
}
