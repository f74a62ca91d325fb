use std::{
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::{Duration, Instant},
};

use garblet_circuit::{Bits, Party, Recipients};
use garblet_net::{Channel, Hello};
use garblet_primitives::{Block, Prg};
use garblet_synthesis::library;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, ReadBuf, duplex, split};

use super::*;
use garblet_protocol::{Role, conduct::Conduct, session::Session};
use garblet_seeded::Split;

#[test]
fn parts_have_their_steps() {
    assert_eq!([0, 1, 2, 3].map(|part| Step::of_part(part, 4)), [Step::Head, Step::Tables, Step::Tables, Step::Tail]);
    assert_eq!([0, 1].map(|part| Step::of_part(part, 2)), [Step::Head, Step::Tail]);
}

/// A trace of the evaluator: the total bytes read at each time, the bytes before the keys of step 4, and the bytes until it announced
/// its split.
#[derive(Default)]
struct Seen {
    reads: Vec<(u64, Instant)>,
    keys_from: u64,
    told_at: u64,
    /// The checked circuits, for [`Traced::leak`].
    checked: Vec<bool>,
}

impl Seen {
    fn total(&self) -> u64 {
        self.reads.last().map_or(0, |(total, _)| *total)
    }

    fn time_of(&self, bytes: u64) -> Instant {
        self.reads[self.reads.partition_point(|(total, _)| *total < bytes).min(self.reads.len() - 1)].1
    }
}

/// The state that the threads of a run share.
type Trace = Arc<Mutex<Seen>>;

/// Bytes of the keys of a circuit.
fn key_bytes(plan: &Plan) -> u64 {
    16 * plan.key_blocks() as u64
}

/// A reader that records when its party reads.
struct Traced<R> {
    inner: R,
    trace: Trace,
    /// The planted delay at the keys of a checked circuit, and their size in bytes.
    leak: Option<(Duration, u64)>,
}

impl<R: AsyncRead + Unpin> AsyncRead for Traced<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        // Less than the keys of a circuit.
        let mut bytes = [0; 4096];
        let most = bytes.len().min(into.remaining());
        let mut read = ReadBuf::new(&mut bytes[..most]);
        let poll = Pin::new(&mut self.inner).poll_read(cx, &mut read);
        if poll.is_ready() {
            into.put_slice(read.filled());
            let mut seen = self.trace.lock().unwrap();
            let before = seen.total();
            let total = before + read.filled().len() as u64;
            if let (Some((longer, keys)), true) = (self.leak, seen.keys_from > 0) {
                let circuit = |total: u64| total.saturating_sub(seen.keys_from) / keys;
                let is_new = circuit(before) != circuit(total);
                if is_new && seen.checked.get(circuit(before) as usize) == Some(&true) {
                    std::thread::sleep(longer);
                }
            }
            seen.reads.push((total, Instant::now()));
        }
        poll
    }
}

/// Follows the protocol and records its progress.
struct Noting(Trace);

impl Conduct<Step> for Noting {
    fn touch(&mut self, step: Step, _index: usize, _bytes: &mut [u8]) {
        let mut seen = self.0.lock().unwrap();
        match step {
            Step::InputChoices => seen.keys_from = seen.total(),
            Step::ToldSplit => seen.told_at = seen.total(),
            _ => {}
        }
    }
}

/// Circuits of a traced run.
const CIRCUITS: u16 = 48;

fn plan() -> Arc<Plan> {
    let mut program = library::find("lib:aes128").unwrap();
    program.set_recipients(0, Recipients::Only(vec![EVALUATOR]));
    let config = Config { circuits: Some(CIRCUITS), ..Config::default() };
    Arc::new(Plan::new(Arc::new(program), config).unwrap())
}

async fn session(channel: Channel, party: Party, seed: u128) -> Session {
    let hello = Hello::new(NAME, party.0, 2, [0; 32]);
    let mut session =
        Session::open(channel, Prg::new(Block::from_u128(2 * seed + u128::from(party.0))), &hello, Box::new(()))
            .await
            .unwrap();
    session.set_workers(std::num::NonZeroUsize::MIN);
    session
}

/// A link, and a planted leak for testing the test.
#[derive(Clone, Copy, Debug, Default)]
struct Conditions {
    /// The time that the link takes for 16 KiB.
    pause: Option<Duration>,
    /// The evaluator's planted delay at the keys of a circuit that it checks.
    leak: Option<Duration>,
}

/// A run that traces the evaluator's reads until it announces its split: for each circuit whether it was checked, and how long after the
/// previous circuit's keys its own were read. The hash and all digests come in one message each, so there is nothing to see between digests.
async fn traced_run(seed: u128, conditions: Conditions) -> Vec<(bool, f64)> {
    let plan = plan();
    let (left, left_end) = duplex(1 << 16);
    let (right, right_end) = duplex(1 << 16);
    let trace = Trace::default();
    let (reader, writer) = split(right);
    let leak = conditions.leak.map(|longer| (longer, key_bytes(&plan)));
    let evaluator = Channel::new(Traced { inner: reader, trace: trace.clone(), leak }, writer);
    let garbler = {
        let (reader, writer) = split(left);
        Channel::new(reader, writer)
    };
    let (mut from_left, mut to_left) = split(left_end);
    let (mut from_right, mut to_right) = split(right_end);
    tokio::spawn(async move { tokio::io::copy(&mut from_right, &mut to_left).await });
    tokio::spawn(async move {
        let mut bytes = vec![0; 16 << 10];
        while let Ok(count @ 1..) = from_left.read(&mut bytes).await {
            if let Some(pause) = conditions.pause {
                tokio::time::sleep(pause).await;
            }
            if to_right.write_all(&bytes[..count]).await.is_err() {
                break;
            }
        }
    });
    let garbler = {
        let plan = plan.clone();
        tokio::spawn(async move {
            let mut session = session(garbler, GARBLER, seed).await;
            let mut role = Garbler::setup(&mut session, plan).await.unwrap();
            let prepared = role.prepare(&mut session).await.unwrap();
            role.online(&mut session, prepared, &[Bits::zeros(128)]).await.unwrap();
            session.close().await.unwrap();
        })
    };
    let mut session = session(evaluator, EVALUATOR, seed).await;
    let mut role = Evaluator::setup_with(&mut session, plan.clone(), Noting(trace.clone())).await.unwrap();
    let prepared = role.prepare(&mut session).await.unwrap();
    let checked: Vec<bool> = (0..plan.circuits()).map(|circuit| prepared.split.is_checked(circuit)).collect();
    trace.lock().unwrap().checked.clone_from(&checked);
    role.online(&mut session, prepared, &[Bits::zeros(128)]).await.unwrap();
    session.close().await.unwrap();
    garbler.await.unwrap();
    let seen = trace.lock().unwrap();
    let (keys, before_split) = (key_bytes(&plan), seen.told_at - seen.keys_from);
    let payload = plan.circuits() as u64 * (keys + 32);
    // Frame headers are far shorter than keys.
    assert!((payload..payload + keys).contains(&before_split), "{before_split} bytes before the split is announced");
    let all_keys = seen.keys_from + plan.circuits() as u64 * keys;
    let behind_keys = seen.reads.iter().filter(|(total, _)| (all_keys + 1..=seen.told_at).contains(total)).count();
    assert!(behind_keys <= 6, "{behind_keys} reads between the keys and the split");
    let end = |circuit: usize| seen.time_of(seen.keys_from + circuit as u64 * keys);
    let delays = (0..plan.circuits()).map(|circuit| (end(circuit + 1) - end(circuit)).as_secs_f64());
    checked.into_iter().zip(delays).collect()
}

/// The difference between the mean delays `lag` circuits after a checked one and after an evaluated one.
fn difference(checked: &[bool], delays: &[f64], lag: usize) -> f64 {
    let mut sums = [(0.0, 0.0); 2];
    for (&checked, &delay) in checked.iter().zip(&delays[lag..]) {
        let (sum, count) = &mut sums[usize::from(checked)];
        (*sum, *count) = (*sum + delay, *count + 1.0);
    }
    (sums[1].0 / sums[1].1 - sums[0].0 / sums[0].1).abs()
}

/// The probability of a difference this large if the delays do not depend on the split, estimated with random splits of the same sizes.
fn permutation_test(runs: &[Vec<(bool, f64)>], lag: usize) -> f64 {
    const SHUFFLES: usize = 20_000;
    let mut rng = Prg::new(Block::from_u128(lag as u128));
    let total = |splits: &[Vec<bool>]| -> f64 {
        let each = runs.iter().zip(splits).map(|(run, split)| {
            let delays: Vec<f64> = run.iter().map(|(_, delay)| *delay).collect();
            difference(split, &delays, lag)
        });
        each.sum()
    };
    let mut splits: Vec<Vec<bool>> = runs.iter().map(|run| run.iter().map(|(checked, _)| *checked).collect()).collect();
    let measured = total(&splits);
    let larger = (0..SHUFFLES).filter(|_| {
        for split in &mut splits {
            let evaluated = split.iter().filter(|checked| !**checked).count();
            let drawn = Split::random(split.len(), evaluated, &mut rng);
            *split = (0..split.len()).map(|circuit| drawn.is_checked(circuit)).collect();
        }
        total(&splits) >= measured
    });
    (larger.count() as f64 + 1.0) / (SHUFFLES as f64 + 1.0)
}

/// The lags at which the permutation test finds that delays of runs with these seeds depend on the split.
async fn refuted(seeds: std::ops::Range<u128>, conditions: Conditions) -> Vec<usize> {
    let mut runs = Vec::new();
    for seed in seeds {
        runs.push(traced_run(seed, conditions).await);
    }
    assert_ne!(runs[0].iter().map(|r| r.0).collect::<Vec<_>>(), runs[1].iter().map(|r| r.0).collect::<Vec<_>>());
    (0..6).filter(|&lag| permutation_test(&runs, lag) <= 1e-4).collect()
}

/// Until the evaluator announces its split, the times of its reads do not show which circuits it checks: neither at the circuit itself nor at the next ones,
/// on a fast link and on a slow one.
///
/// Twelve tests at 10^-4 would accuse an honest evaluator about once in eight hundred runs; a lag counts only if runs with other
/// splits confirm it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn read_times_before_the_split_is_announced_do_not_depend_on_it() {
    for pause in [None, Some(Duration::from_micros(300))] {
        let conditions = Conditions { pause, leak: None };
        let first = refuted(0..3, conditions).await;
        if !first.is_empty() {
            let second = refuted(3..6, conditions).await;
            let both: Vec<_> = first.iter().filter(|lag| second.contains(lag)).collect();
            assert!(both.is_empty(), "delays differ at lags {both:?}, with {conditions:?}");
        }
    }
}

/// The test above would notice an evaluator that takes longer over the keys of circuits that it checks: by half a millisecond, or on a slow link
/// by more than the link hides. On a busy machine, whose noise hides that too, it would notice a longer time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_evaluator_that_leaks_its_split_is_caught() {
    for (pause, leak) in [(None, 500), (Some(Duration::from_micros(300)), 5000)] {
        let mut is_caught = false;
        for times in [1, 4, 16] {
            let conditions = Conditions { pause, leak: Some(Duration::from_micros(times * leak)) };
            is_caught = is_caught || !refuted(0..3, conditions).await.is_empty();
        }
        assert!(is_caught, "nothing is found with a pause of {pause:?}");
    }
}

/// The permutation test by itself: it notices reads that take a twentieth longer after checked circuits.
#[test]
fn the_permutation_test_finds_a_small_difference() {
    let mut rng = Prg::new(Block::ONES);
    let run = |rng: &mut Prg, longer: f64| -> Vec<(bool, f64)> {
        (0..usize::from(CIRCUITS))
            .map(|_| {
                let checked = rng.next_block().lsb();
                let noise = (rng.next_block().to_u128() % 1000) as f64 / 1e4;
                (checked, 1.0 + noise + if checked { longer } else { 0.0 })
            })
            .collect()
    };
    let runs: Vec<_> = (0..3).map(|_| run(&mut rng, 0.05)).collect();
    assert!(permutation_test(&runs, 0) < 1e-4);
    let runs: Vec<_> = (0..3).map(|_| run(&mut rng, 0.0)).collect();
    assert!(permutation_test(&runs, 0) > 1e-4);
}
