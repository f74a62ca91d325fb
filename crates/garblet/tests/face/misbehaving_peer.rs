//! Whatever a peer or the network does at any message of a run, both parties end with a result or an error: nothing
//! hangs, nothing panics.

use std::{sync::Arc, time::Duration};

use garblet::{
    Bits, Build, Config, Error, Party, Peer, Plan, Program, Report, library,
    net::{
        Channel,
        testing::{Direction, Fault, FaultKind, Frame, FrameKind, Transcript, every_fault, intercepted_pair},
    },
};
use rand::{SeedableRng, rngs::StdRng};

const TIMEOUT: Duration = Duration::from_millis(400);
/// The most time that a party may take in all: it waits once for the peer, and once to part from it.
const LIMIT: Duration = Duration::from_secs(20);

fn program() -> Arc<Program> {
    Arc::new(library::find("lib:millionaires(16)").unwrap())
}

fn config(build: Build) -> Config {
    let mut config = Config::default();
    config.get_mut::<garblet::yao::Yao>().unwrap().build = build;
    config
}

fn input(party: u16) -> Bits {
    Bits::from_u128(77 + u128::from(party), 16)
}

async fn party(party: u16, mut channel: Channel, config: Config, timeout: Duration) -> Result<Report, Error> {
    channel.set_timeout(timeout);
    let mut rng = StdRng::seed_from_u64(party.into());
    let mut peer =
        Peer::open(&Plan::new(program(), 2, &config)?, Party(party), channel, &mut rng, Box::new(())).await?;
    let prepared = peer.prepare().await?;
    let report = peer.online(prepared, &[input(party)]).await?;
    peer.close().await?;
    Ok(report)
}

/// Both parties' results, and what went over the wire.
async fn run(fault: Option<Fault>, config: Config) -> ([Result<Report, Error>; 2], Transcript) {
    let (left, right, transcript) = intercepted_pair(fault);
    let timeout = if fault.is_some() { TIMEOUT } else { LIMIT };
    let garbler = tokio::spawn(tokio::time::timeout(LIMIT, party(0, left, config.clone(), timeout)));
    let evaluator = tokio::spawn(tokio::time::timeout(LIMIT, party(1, right, config, timeout)));
    let name = format!("{fault:?}");
    let garbler = garbler.await.expect("no panic").unwrap_or_else(|_| panic!("the garbler hangs after {name}"));
    let evaluator = evaluator.await.expect("no panic").unwrap_or_else(|_| panic!("the evaluator hangs after {name}"));
    ([garbler, evaluator], transcript)
}

async fn honest(config: Config) -> Vec<Frame> {
    let (reports, transcript) = run(None, config).await;
    assert!(reports.iter().all(Result::is_ok), "an honest run succeeds");
    transcript.frames()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fault_at_every_message_ends_both_parties() {
    for build in [Build::Stream, Build::Ahead] {
        let frames = honest(config(build)).await;
        let faults = every_fault(&frames);
        assert!(faults.len() > 50, "a run has several messages each way");
        let runs: Vec<_> = faults.iter().map(|&f| (f, tokio::spawn(run(Some(f), config(build))))).collect();
        for (fault, run) in runs {
            let ([garbler, evaluator], _) = run.await.expect("no panic");
            // A flipped bit in a label or a table is not noticed by semi-honest parties, nor what follows a farewell.
            let frame = frames.iter().filter(|f| f.direction == fault.direction).nth(fault.frame).unwrap();
            let harmless = match fault.kind {
                FaultKind::Flip(_) => true,
                FaultKind::Repeat => frame.kind == FrameKind::Close,
                _ => false,
            };
            assert!(harmless || garbler.is_err() || evaluator.is_err(), "{fault:?} of {:?} went unnoticed", frame.kind);
        }
    }
}

#[tokio::test]
async fn the_party_that_loses_its_peer_says_so() {
    let frames = honest(config(Build::Stream)).await;
    let last_forth = frames.iter().filter(|f| f.direction == Direction::Forth).count() - 2;
    let fault = Fault { direction: Direction::Forth, frame: last_forth, kind: FaultKind::Cut };
    let ([_, evaluator], _) = run(Some(fault), config(Build::Stream)).await;
    let error = evaluator.unwrap_err().to_string();
    assert!(error.contains("closed"), "{error}");
    let fault = Fault { kind: FaultKind::Stall, ..fault };
    let ([_, evaluator], _) = run(Some(fault), config(Build::Stream)).await;
    let error = evaluator.unwrap_err().to_string();
    assert!(error.contains("waited"), "{error}");
}

/// The same seeds give the same bytes on the wire. Which ones is in the golden transcripts.
#[tokio::test]
async fn a_run_is_a_function_of_its_seeds() {
    let digest = |frames: &[Frame]| {
        let mut hasher = blake3::Hasher::new();
        for direction in [Direction::Forth, Direction::Back] {
            for frame in frames.iter().filter(|f| f.direction == direction) {
                hasher.update(&frame.payload);
            }
        }
        hasher.finalize().to_hex()[..32].to_string()
    };
    let [first, second] = [honest(config(Build::Stream)).await, honest(config(Build::Stream)).await];
    assert_eq!(digest(&first), digest(&second));
}
