//! `garblet bench ot`: base OT, its extension against bare stretching, transposition and hashing, and silent OT.

use std::time::{Duration, Instant};

use garblet::net::{Channel, memory_pair};
use garblet_console::{failure::Failure, output};
use garblet_ot::{
    BitVec, CorrelatedReceiver, CorrelatedSender, CotReceiver, CotSender, MaliciousCotReceiver, MaliciousCotSender,
    OtError, RotReceiver, RotSender, StatisticalSecurity, Width, base,
};
use garblet_primitives::{Aes128, Block, Delta, OtHash, Prg, transpose};
use serde_json::{Value, json};

use crate::bench::{Engine, Form, Piece, silent};

/// The options of `garblet bench ot`.
#[derive(clap::Args)]
pub struct Options {
    /// OTs per pass
    #[arg(long, value_name = "N", default_value_t = 1 << 20, value_parser = clap::value_parser!(u32).range(128..=1 << 26))]
    ots: u32,
    /// Repeat N times and report the fastest
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    repeat: u32,
}

/// One kind of OT at one width.
struct Line {
    width: Width,
    kind: &'static str,
    /// Seconds per OT of both sides' work on one thread.
    seconds: f64,
    /// The same for bare stretching, transposition and hashing of the same number of bytes.
    bare_seconds: f64,
    bytes_measured: f64,
    bytes_formula: f64,
}

/// Runs the benchmark.
///
/// *Errors*: standard output cannot be written.
pub fn run(options: &Options, form: &impl Form) -> Result<(), Failure> {
    let failed = |e: OtError| Failure::no_result(format!("bench ot: {e}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|e| Failure::no_result(format!("cannot start the runtime: {e}")))?;
    let repeat = options.repeat;
    let base = fastest(repeat, || runtime.block_on(base_ots())).map_err(failed)?;
    let mut lines = Vec::new();
    for width in Width::ALL {
        let extended = runtime.block_on(extensions(width, options.ots as usize, repeat)).map_err(failed)?;
        let checks =
            StatisticalSecurity::ALL.map(|sigma| runtime.block_on(checked(width, sigma, &extended[0], options)));
        lines.extend(extended);
        for line in checks {
            lines.push(line.map_err(failed)?);
        }
    }
    let mut silent_lines = Vec::new();
    for (name, set) in silent::SETS {
        let measured = runtime.block_on(silent::measured(name, set, options.ots as usize, repeat));
        silent_lines.extend(measured.map_err(failed)?);
    }
    let value = json!({
        "bench": "ot",
        "engine": Engine::name(),
        "threads": 1,
        "ots": options.ots,
        "base": { "ots": base::BASE_OTS, "seconds": base.as_secs_f64(), "bytes": base::SENDER_BYTES + base::RECEIVER_BYTES },
        "extension": lines.iter().map(Line::to_json).collect::<Vec<_>>(),
        "silent": silent_lines.iter().map(silent::Line::to_json).collect::<Vec<_>>(),
    });
    let base =
        format!("{} base OTs, both sides on one thread: {}\n\n", base::BASE_OTS, output::seconds(base.as_secs_f64()));
    let tables = [Piece::Table(rows(&lines)), Piece::Words("\n".into()), Piece::Table(silent::rows(&silent_lines))];
    form.show(&value, [Engine::line(), Piece::Words(base)].into_iter().chain(tables).collect())
}

/// Correlated OTs per second and role: of each width, half of both roles' time; of silent OT, by the slower role.
///
/// *Errors*: as [`run`].
pub(super) fn rates(repeat: u32) -> Result<[f64; 4], Failure> {
    const OTS: usize = 1 << 19;
    let failed = |e: OtError| Failure::no_result(format!("bench rates: {e}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|e| Failure::no_result(format!("cannot start the runtime: {e}")))?;
    let mut rates = [0.0; 4];
    for (rate, width) in rates.iter_mut().zip(Width::ALL) {
        let [correlated, _] = runtime.block_on(extensions(width, OTS, repeat)).map_err(failed)?;
        *rate = 2.0 / correlated.seconds;
    }
    let [(name, set), _] = silent::SETS;
    let [semi_honest, _] = runtime.block_on(silent::measured(name, set, OTS, repeat)).map_err(failed)?;
    rates[3] = 1.0 / semi_honest.slower_seconds();
    Ok(rates)
}

impl Line {
    fn to_json(&self) -> Value {
        json!({
            "width": self.width.bits(),
            "kind": self.kind,
            "ots_per_second": 1.0 / self.seconds,
            "bare_ots_per_second": 1.0 / self.bare_seconds,
            "of_bare": self.bare_seconds / self.seconds,
            "bytes_per_ot": self.bytes_measured,
            "bytes_per_ot_formula": self.bytes_formula,
        })
    }
}

fn rows(lines: &[Line]) -> Vec<Vec<String>> {
    let head = ["k", "kind", "OT/s, both sides on one thread", "of bare", "bytes/OT"];
    let row = |line: &Line| {
        vec![
            line.width.bits().to_string(),
            line.kind.into(),
            output::rate(1.0 / line.seconds),
            format!("{:.0} %", 100.0 * line.bare_seconds / line.seconds),
            format!("{:.3}", line.bytes_measured),
        ]
    };
    std::iter::once(head.map(String::from).to_vec()).chain(lines.iter().map(row)).collect()
}

/// The shortest of several timed runs.
fn fastest(repeat: u32, mut run: impl FnMut() -> Result<Duration, OtError>) -> Result<Duration, OtError> {
    (0..repeat).map(|_| run()).try_fold(Duration::MAX, |shortest, time| Ok(shortest.min(time?)))
}

/// Base OTs, including the check of the answer, with both sides on this thread.
async fn base_ots() -> Result<Duration, OtError> {
    let (mut ours, mut theirs) = memory_pair();
    let (mut a, mut b) = (Prg::new(Block::ZERO), Prg::new(Block::ONES));
    let choices = BitVec::random(base::BASE_OTS, &mut b);
    let begin = Instant::now();
    let sender = async {
        let challenged = base::send(&mut ours, &mut a).await?;
        challenged.check_answer(&mut ours).await
    };
    let receiver = async {
        let chosen = base::receive(&mut theirs, &choices, &mut b).await?;
        theirs.flush().await?;
        Ok::<_, OtError>(chosen)
    };
    let (sent, chosen) = tokio::join!(sender, receiver);
    sent?;
    chosen?;
    Ok(begin.elapsed())
}

/// Correlated and random OTs of one width; the random ones in room that is used again, as protocols that extend often have it.
async fn extensions(width: Width, n: usize, repeat: u32) -> Result<[Line; 2], OtError> {
    let (mut ours, mut theirs) = memory_pair();
    let (mut a, mut b) = (Prg::new(Block::ZERO), Prg::new(Block::ONES));
    let delta = Delta::random(&mut a);
    let setup = tokio::join!(
        CotSender::setup(&mut ours, &mut a, &delta, width),
        CotReceiver::setup(&mut theirs, &mut b, width)
    );
    let (mut sender, mut receiver) = (setup.0?, setup.1?);
    let before = ours.traffic();
    let mut times = [Duration::MAX; 2];
    for _ in 0..repeat {
        times[0] = times[0].min(correlated(&mut sender, &mut receiver, [&mut ours, &mut theirs], n).await?);
    }
    let received = (ours.traffic() - before).bytes_received as f64;
    let (mut sender, mut receiver) = (RotSender::new(sender), RotReceiver::new(receiver));
    let (mut pads, mut chosen) = Default::default();
    for _ in 0..repeat {
        let begin = Instant::now();
        let made = tokio::join!(sender.extend_into(&mut ours, n, pads), receiver.extend_into(&mut theirs, n, chosen));
        (pads, chosen) = (made.0?, made.1?.1);
        times[1] = times[1].min(begin.elapsed());
    }
    let bare = bare(width, n, repeat);
    let line = |kind, i: usize| Line {
        width,
        kind,
        seconds: times[i].as_secs_f64() / n as f64,
        bare_seconds: bare[i],
        bytes_measured: received / f64::from(repeat) / n as f64,
        bytes_formula: width.extension_bytes(n as u64) as f64 / n as f64,
    };
    Ok([line("correlated", 0), line("random", 1)])
}

/// Correlated OTs of one width with the consistency checks for malicious security; `plain` is the line without them.
async fn checked(width: Width, sigma: StatisticalSecurity, plain: &Line, options: &Options) -> Result<Line, OtError> {
    let (n, repeat) = (options.ots as usize, options.repeat);
    let (mut ours, mut theirs) = memory_pair();
    let (mut a, mut b) = (Prg::new(Block::ZERO), Prg::new(Block::ONES));
    let delta = Delta::random(&mut a);
    let setup = tokio::join!(
        MaliciousCotSender::setup(&mut ours, &mut a, &delta, width, sigma),
        MaliciousCotReceiver::setup(&mut theirs, &mut b, width, sigma)
    );
    let (mut sender, mut receiver) = (setup.0?, setup.1?);
    let before = ours.traffic();
    let mut shortest = Duration::MAX;
    for _ in 0..repeat {
        shortest = shortest.min(correlated(&mut sender, &mut receiver, [&mut ours, &mut theirs], n).await?);
    }
    let moved = ours.traffic() - before;
    let formula: u64 = width.malicious_extension_bytes(n as u64, sigma).iter().sum();
    Ok(Line {
        width,
        kind: match sigma {
            StatisticalSecurity::Forty => "checked, 40 bits",
            StatisticalSecurity::Eighty => "checked, 80 bits",
        },
        seconds: shortest.as_secs_f64() / n as f64,
        bare_seconds: plain.bare_seconds,
        bytes_measured: (moved.bytes_sent + moved.bytes_received) as f64 / f64::from(repeat) / n as f64,
        bytes_formula: formula as f64 / n as f64,
    })
}

async fn correlated(
    sender: &mut impl CorrelatedSender,
    receiver: &mut impl CorrelatedReceiver,
    [ours, theirs]: [&mut Channel; 2],
    n: usize,
) -> Result<Duration, OtError> {
    let begin = Instant::now();
    let made = tokio::join!(sender.extend(ours, n), receiver.extend_random(theirs, n));
    made.0?;
    made.1?;
    Ok(begin.elapsed())
}

/// Seconds per correlated and per random OT for the bare work of both sides: the same number of stream bytes, two transpositions of 128 bits,
/// and for random OT three hash calls.
fn bare(width: Width, n: usize, repeat: u32) -> [f64; 2] {
    const SQUARES: usize = 60;
    const OTS: usize = 128 * SQUARES;
    let key = Aes128::new(Block::ONES);
    let mut row = vec![Block::ZERO; SQUARES];
    let columns = vec![0; 128 * 16 * SQUARES];
    let mut blocks = vec![Block::ZERO; OTS];
    let hash = OtHash::new(Block::ONES);
    let leaves = width.trees() * (2 * width.leaves() - 1);
    let passes = repeat as usize * n.div_ceil(OTS);
    let mut shortest = [Duration::MAX; 2];
    for _ in 0..passes {
        let begin = Instant::now();
        for _ in 0..leaves {
            key.keystream(0, &mut row);
        }
        transpose(&columns, &mut blocks);
        transpose(&columns, &mut blocks);
        shortest[0] = shortest[0].min(begin.elapsed());
        for _ in 0..3 {
            hash.hash_batch(0, &mut blocks);
        }
        shortest[1] = shortest[1].min(begin.elapsed());
    }
    shortest.map(|time| time.as_secs_f64() / OTS as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_and_kind_is_measured_and_bytes_are_the_formula() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        assert!(runtime.block_on(base_ots()).unwrap() > Duration::ZERO);
        for width in Width::ALL {
            let options = Options { ots: 1000, repeat: 2 };
            let plain = runtime.block_on(extensions(width, 1000, 2)).unwrap();
            let checks = StatisticalSecurity::ALL
                .map(|sigma| runtime.block_on(checked(width, sigma, &plain[0], &options)).unwrap());
            for line in plain.into_iter().chain(checks) {
                let json = line.to_json();
                assert!(json["ots_per_second"].as_f64().is_some_and(|rate| rate.is_finite() && rate > 0.0));
                assert!(json["of_bare"].as_f64().is_some_and(|share| share > 0.0));
                assert_eq!(json["bytes_per_ot"], json["bytes_per_ot_formula"]);
            }
        }
    }

    #[test]
    fn silent_ot_is_measured_for_both_roles_and_bytes_are_the_formula() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let (name, set) = silent::SETS[0];
        for line in runtime.block_on(silent::measured(name, set, 5000, 2)).unwrap() {
            let json = line.to_json();
            for rate in ["sender_ots_per_second", "receiver_ots_per_second"] {
                assert!(json[rate].as_f64().is_some_and(|rate| rate.is_finite() && rate > 0.0));
            }
            assert_eq!(line.bytes_measured, line.bytes_formula);
        }
    }
}
