use std::{
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::{Duration, Instant},
};

use garblet_circuit::{Bits, Party, Recipients, library};
use garblet_net::{Channel, Hello};
use garblet_primitives::{Block, Prg};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, ReadBuf, duplex, split};

use super::*;
use crate::{role::Role, session::Session};

#[test]
fn parts_have_their_steps() {
    assert_eq!([0, 1, 2, 3].map(|part| Step::of_part(part, 4)), [Step::Head, Step::Tables, Step::Tables, Step::Tail]);
    assert_eq!([0, 1].map(|part| Step::of_part(part, 2)), [Step::Head, Step::Tail]);
}

/// When how many bytes had been read in all.
type Trace = Arc<Mutex<Vec<(u64, Instant)>>>;

/// A reader that notes when the party behind it reads.
struct Traced<R> {
    inner: R,
    trace: Trace,
}

impl<R: AsyncRead + Unpin> AsyncRead for Traced<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        let before = into.filled().len();
        let poll = Pin::new(&mut self.inner).poll_read(cx, into);
        if poll.is_ready() {
            let mut trace = self.trace.lock().unwrap();
            let total = trace.last().map_or(0, |(total, _)| *total) + (into.filled().len() - before) as u64;
            trace.push((total, Instant::now()));
        }
        poll
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

/// A run whose evaluator's reads are traced: for each circuit whether it was checked, and how long after the part before its
/// last one was read. `pause` is how long the link takes for 16 KiB.
async fn traced_run(seed: u128, pause: Option<Duration>) -> Vec<(bool, f64)> {
    let plan = plan();
    let (left, left_end) = duplex(1 << 16);
    let (right, right_end) = duplex(1 << 16);
    let trace = Trace::default();
    let (reader, writer) = split(right);
    let evaluator = Channel::new(Traced { inner: reader, trace: trace.clone() }, writer);
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
            if let Some(pause) = pause {
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
    let mut role = Evaluator::setup(&mut session, plan.clone()).await.unwrap();
    let prepared = role.prepare(&mut session).await.unwrap();
    let checked: Vec<bool> = (0..plan.circuits()).map(|circuit| prepared.split.is_checked(circuit)).collect();
    role.online(&mut session, prepared, &[Bits::zeros(128)]).await.unwrap();
    session.close().await.unwrap();
    garbler.await.unwrap();
    let trace = trace.lock().unwrap();
    let order: Vec<(usize, usize)> =
        crate::seeded::lanes::order(plan.circuits(), plan.blueprint().part_count()).collect();
    let ends = part_ends(&plan, &order, trace.last().map_or(0, |(total, _)| *total));
    let delay = |at: usize| (time_of(&trace, ends[at]) - time_of(&trace, ends[at - 1])).as_secs_f64();
    // The part of tables is the second of three.
    let mut delays: Vec<(usize, f64)> = order
        .iter()
        .enumerate()
        .filter(|(_, (_, part))| *part == 1)
        .map(|(at, (circuit, _))| (*circuit, delay(at)))
        .collect();
    delays.sort_by_key(|(circuit, _)| *circuit);
    checked.into_iter().zip(delays).map(|(checked, (_, delay))| (checked, delay)).collect()
}

/// Where the parts of circuits end in the stream, counted back from its end; frame headers are far shorter than parts.
fn part_ends(plan: &Plan, order: &[(usize, usize)], total: u64) -> Vec<u64> {
    let mut end = total;
    let mut ends: Vec<u64> = order
        .iter()
        .rev()
        .map(|(_, part)| {
            let here = end;
            end -= 16 * plan.blueprint().part_blocks(*part) as u64;
            here
        })
        .collect();
    ends.reverse();
    ends
}

fn time_of(trace: &[(u64, Instant)], bytes: u64) -> Instant {
    trace[trace.partition_point(|(total, _)| *total < bytes).min(trace.len() - 1)].1
}

/// The difference of mean delays `lag` circuits after a checked and after an evaluated one.
fn difference(checked: &[bool], delays: &[f64], lag: usize) -> f64 {
    let mut sums = [(0.0, 0.0); 2];
    for (&checked, &delay) in checked.iter().zip(&delays[lag..]) {
        let (sum, count) = &mut sums[usize::from(checked)];
        (*sum, *count) = (*sum + delay, *count + 1.0);
    }
    (sums[1].0 / sums[1].1 - sums[0].0 / sums[0].1).abs()
}

/// How likely a difference as large is if the delays have nothing to do with the split: by random splits of the same sizes.
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
            for i in (1..split.len()).rev() {
                split.swap(i, crate::seeded::below(i as u64 + 1, &mut rng) as usize);
            }
        }
        total(&splits) >= measured
    });
    (larger.count() as f64 + 1.0) / (SHUFFLES as f64 + 1.0)
}

/// The lags at which delays of runs with these seeds depend on the split, as far as the permutation test can tell.
async fn refuted(seeds: std::ops::Range<u128>, pause: Option<Duration>) -> Vec<usize> {
    let mut runs = Vec::new();
    for seed in seeds {
        runs.push(traced_run(seed, pause).await);
    }
    assert_ne!(runs[0].iter().map(|r| r.0).collect::<Vec<_>>(), runs[1].iter().map(|r| r.0).collect::<Vec<_>>());
    (0..6).filter(|&lag| permutation_test(&runs, lag) <= 1e-4).collect()
}

/// When the evaluator reads says nothing of which circuits it checks: not at the circuit itself nor at the next ones, on a fast
/// link and on a slow one.
///
/// Twelve tests at 10^-4 would be wrong about an honest evaluator once in some hundred runs; a lag counts only if it is refuted
/// by runs with other splits too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn read_times_do_not_depend_on_the_split() {
    for pause in [None, Some(Duration::from_micros(300))] {
        let first = refuted(0..3, pause).await;
        if !first.is_empty() {
            let second = refuted(3..6, pause).await;
            let both: Vec<_> = first.iter().filter(|lag| second.contains(lag)).collect();
            assert!(both.is_empty(), "delays so many circuits later differ: {both:?}, on a link with pause {pause:?}");
        }
    }
}

/// The test above would notice: if reading took a twentieth longer after checked circuits, it would be called refuted.
#[test]
fn the_permutation_test_finds_a_small_difference() {
    let mut rng = Prg::new(Block::ONES);
    let run = |rng: &mut Prg, longer: f64| -> Vec<(bool, f64)> {
        (0..usize::from(CIRCUITS))
            .map(|_| {
                let checked = rng.next_block().lsb();
                let noise = crate::seeded::below(1000, rng) as f64 / 1e4;
                (checked, 1.0 + noise + if checked { longer } else { 0.0 })
            })
            .collect()
    };
    let runs: Vec<_> = (0..3).map(|_| run(&mut rng, 0.05)).collect();
    assert!(permutation_test(&runs, 0) < 1e-4);
    let runs: Vec<_> = (0..3).map(|_| run(&mut rng, 0.0)).collect();
    assert!(permutation_test(&runs, 0) > 1e-4);
}
