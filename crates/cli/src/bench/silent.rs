//! Silent OT in `garblet bench ot`: what each role computes by itself, and the bytes of both.

use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use garblet::net::memory_pair;
use garblet_console::output;
use garblet_ot::{
    CorrelatedReceiver, CorrelatedSender, CotReceiver, CotSender, Direction, LpnSet, MaliciousCotReceiver,
    MaliciousCotSender, OtError, SilentCotReceiver, SilentCotSender, StatisticalSecurity, Width,
};
use garblet_primitives::{Block, Delta, Prg};
use serde_json::{Value, json};

/// The parameter sets by name.
pub(super) const SETS: [(&str, LpnSet); 2] = [("default", LpnSet::DEFAULT), ("large", LpnSet::LARGE)];

const DIRECTION: Direction = Direction { sender: 0, receiver: 1 };

/// Silent OT with one set of parameters.
pub(super) struct Line {
    set: &'static str,
    checked: bool,
    /// Seconds per OT of the sender's work, and of the receiver's.
    seconds: [f64; 2],
    pub(super) bytes_measured: f64,
    pub(super) bytes_formula: f64,
}

impl Line {
    fn kind(&self) -> &'static str {
        if self.checked { "checked" } else { "semi-honest" }
    }

    /// Seconds per OT of the role that needs more.
    pub(super) fn slower_seconds(&self) -> f64 {
        self.seconds[0].max(self.seconds[1])
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "set": self.set,
            "kind": self.kind(),
            "sender_ots_per_second": 1.0 / self.seconds[0],
            "receiver_ots_per_second": 1.0 / self.seconds[1],
            "bytes_per_ot": self.bytes_measured,
            "bytes_per_ot_formula": self.bytes_formula,
        })
    }
}

/// The table of these lines.
pub(super) fn rows(lines: &[Line]) -> Vec<Vec<String>> {
    let head = ["silent", "kind", "sender's OT/s", "receiver's OT/s", "bytes/OT"];
    let row = |line: &Line| {
        vec![
            line.set.into(),
            line.kind().into(),
            output::rate(1.0 / line.seconds[0]),
            output::rate(1.0 / line.seconds[1]),
            format!("{:.4}", line.bytes_measured),
        ]
    };
    std::iter::once(head.map(String::from).to_vec()).chain(lines.iter().map(row)).collect()
}

/// Batches of `n` OTs, each drawn to the end; the fastest of `repeat` counts. The first stock comes from SoftSpoken, outside the measurement.
pub(super) async fn measured(name: &'static str, set: LpnSet, n: usize, repeat: u32) -> Result<[Line; 2], OtError> {
    let (mut a, mut b) = (Prg::new(Block::ZERO), Prg::new(Block::ONES));
    let (delta, width, sigma) = (Delta::random(&mut a), Width::Eight, StatisticalSecurity::Eighty);
    let (mut ours, mut theirs) = memory_pair();
    let base = tokio::join!(
        CotSender::setup(&mut ours, &mut a, &delta, width),
        CotReceiver::setup(&mut theirs, &mut b, width)
    );
    let (sender, receiver) = (base.0?, base.1?);
    let silent = tokio::join!(
        SilentCotSender::setup(&mut ours, &mut a, sender, set, DIRECTION),
        SilentCotReceiver::setup(&mut theirs, &mut b, receiver, set, DIRECTION)
    );
    let semi_honest = line((name, set), false, (silent.0?, silent.1?), [ours, theirs], n, repeat).await?;
    let (mut ours, mut theirs) = memory_pair();
    let base = tokio::join!(
        MaliciousCotSender::setup(&mut ours, &mut a, &delta, width, sigma),
        MaliciousCotReceiver::setup(&mut theirs, &mut b, width, sigma)
    );
    let (sender, receiver) = (base.0?, base.1?);
    let silent = tokio::join!(
        SilentCotSender::setup(&mut ours, &mut a, sender, set, DIRECTION),
        SilentCotReceiver::setup(&mut theirs, &mut b, receiver, set, DIRECTION)
    );
    let checked = line((name, set), true, (silent.0?, silent.1?), [ours, theirs], n, repeat).await?;
    Ok([semi_honest, checked])
}

async fn line(
    (name, set): (&'static str, LpnSet),
    checked: bool,
    (mut sender, mut receiver): (impl CorrelatedSender, impl CorrelatedReceiver),
    [mut ours, mut theirs]: [garblet::net::Channel; 2],
    n: usize,
    repeat: u32,
) -> Result<Line, OtError> {
    let before = ours.traffic();
    let mut shortest = [Duration::MAX; 2];
    for _ in 0..repeat {
        let mut times = [Duration::ZERO; 2];
        let [of_sender, of_receiver] = &mut times;
        let (sent, received) = tokio::join!(
            timed(of_sender, sender.extend(&mut ours, n)),
            timed(of_receiver, receiver.extend_random(&mut theirs, n))
        );
        sent?;
        received?;
        shortest.iter_mut().zip(times).for_each(|(shortest, time)| *shortest = time.min(*shortest));
    }
    let moved = ours.traffic() - before;
    Ok(Line {
        set: name,
        checked,
        seconds: shortest.map(|time| time.as_secs_f64() / n as f64),
        bytes_measured: (moved.bytes_sent + moved.bytes_received) as f64 / f64::from(repeat) / n as f64,
        bytes_formula: set.batch_bytes(n as u64, checked).iter().sum::<u64>() as f64 / n as f64,
    })
}

/// Adds up the time in which a future computes, without the time in which it waits.
async fn timed<T>(time: &mut Duration, future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    std::future::poll_fn(|context| {
        let begin = Instant::now();
        let polled: Poll<T> = future.as_mut().poll(context);
        *time += begin.elapsed();
        polled
    })
    .await
}
