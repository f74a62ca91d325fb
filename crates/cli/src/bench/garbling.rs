//! `garblet bench garbling`: garbling and evaluating in memory, on one thread, against the bare hash calls and XORs.

use std::time::{Duration, Instant};

use garblet::Program;
use garblet_console::{failure::Failure, output};
use garblet_garble::{CHUNK_ANDS, Evaluator, Garbler, GarblingConfig, HashKind, Schedules, SchemeKind, Seeds};
use garblet_primitives::{Backend, Block, Delta, Prg, RAW_BLOCKS, raw_xors};
use serde_json::{Value, json};

use crate::bench::{Form, Piece, aes_chains::Chains};

/// The options of `garblet bench garbling`.
#[derive(clap::Args)]
pub struct Options {
    /// AES-128 blocks per pass
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    blocks: u32,
    #[command(flatten)]
    chains: Chains,
    /// Repeat N times and report the fastest
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: u32,
    /// Measure only this scheme
    #[arg(long)]
    scheme: Option<SchemeKind>,
    /// Measure only this hash
    #[arg(long)]
    hash: Option<HashKind>,
    /// Measure every engine that this processor has, not only the fastest
    #[arg(long, conflicts_with = "engine")]
    all_engines: bool,
}

/// Seconds per AND gate.
struct Measured {
    garble: f64,
    evaluate: f64,
    /// Seconds of the same number of bare hash calls and XORs.
    bound: [f64; 2],
    hash_call: f64,
    xor: f64,
}

/// Runs the benchmark.
///
/// *Errors*: standard output cannot be written.
pub fn run(options: &Options, form: &impl Form) -> Result<(), Failure> {
    let program = options.chains.program(options.blocks)?;
    let schedules = Schedules::new(&program);
    let mut results: Vec<Line> = Vec::new();
    for backend in if options.all_engines { Backend::available() } else { vec![Backend::detect()] } {
        for &scheme in SchemeKind::ALL.iter().filter(|&&s| options.scheme.is_none_or(|only| only == s)) {
            for &hash in HashKind::ALL.iter().filter(|&&h| options.hash.is_none_or(|only| only == h)) {
                let config = GarblingConfig { scheme, hash };
                let backend = config.backend(backend);
                let measured = |(b, c, _): &Line| (*b, *c) == (backend, config);
                if !results.iter().any(measured) {
                    results.push((backend, config, measure(&program, &schedules, config, backend, options.repeat)));
                }
            }
        }
    }
    let value = json!({
        "bench": "garbling",
        "threads": 1,
        "blocks": options.blocks,
        "chains": options.chains.chains,
        "and": program.stats().and,
        "xor": program.stats().xor,
        "results": results.iter().map(to_json).collect::<Vec<_>>(),
    });
    form.show(&value, vec![Piece::Table(rows(&results))])
}

/// One line of the result.
type Line = (Backend, GarblingConfig, Measured);

fn to_json((backend, config, m): &Line) -> Value {
    let side = |seconds: f64, bound: f64| json!({ "and_per_second": 1.0 / seconds, "bound_and_per_second": 1.0 / bound, "of_bound": bound / seconds });
    json!({
        "scheme": config.scheme.name(),
        "hash": config.hash.name(),
        "engine": backend.name(),
        "bytes_per_and": config.bytes_per_and(),
        "hash_call_ns": m.hash_call * 1e9,
        "xor_ns": m.xor * 1e9,
        "garble": side(m.garble, m.bound[0]),
        "evaluate": side(m.evaluate, m.bound[1]),
    })
}

fn rows(results: &[Line]) -> Vec<Vec<String>> {
    let head = ["scheme", "hash", "engine", "bytes/AND", "garble AND/s", "of bound", "evaluate AND/s", "of bound"];
    let row = |(backend, config, m): &Line| {
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        vec![
            config.scheme.to_string(),
            config.hash.to_string(),
            backend.to_string(),
            format!("{:.3}", config.bytes_per_and()),
            output::rate(1.0 / m.garble),
            percent(m.bound[0] / m.garble),
            output::rate(1.0 / m.evaluate),
            percent(m.bound[1] / m.evaluate),
        ]
    };
    std::iter::once(head.map(String::from).to_vec()).chain(results.iter().map(row)).collect()
}

/// AND gates garbled and evaluated per second with the default scheme and hash.
///
/// *Errors*: as [`run`].
pub(super) fn default_rates(chains: Chains) -> Result<[f64; 2], Failure> {
    rates_of(chains, GarblingConfig::default(), 20)
}

/// The same of any scheme and hash, in four chains side by side.
///
/// *Errors*: as [`run`].
pub(super) fn rates(config: GarblingConfig, repeat: u32) -> Result<[f64; 2], Failure> {
    rates_of(Chains { chains: 4 }, config, repeat)
}

fn rates_of(chains: Chains, config: GarblingConfig, repeat: u32) -> Result<[f64; 2], Failure> {
    let program = chains.program(25 * chains.chains)?;
    let ands = program.stats().and as f64;
    Ok(fastest(&program, &Schedules::new(&program), config, repeat).map(|seconds| ands / seconds))
}

/// Seconds of garbling and of evaluating a program on one thread, chunk by chunk in the cache, each in the fastest of some passes.
pub fn fastest(program: &Program, schedules: &Schedules, config: GarblingConfig, repeat: u32) -> [f64; 2] {
    fastest_on(config.backend(Backend::detect()), program, schedules, config, repeat)
}

fn fastest_on(
    backend: Backend,
    program: &Program,
    schedules: &Schedules,
    config: GarblingConfig,
    repeat: u32,
) -> [f64; 2] {
    let passes = (0..repeat).map(|_| pass(program, schedules, config, backend));
    let fastest = passes.reduce(|fastest, next| (fastest.0.min(next.0), fastest.1.min(next.1)));
    let (garble, evaluate) = fastest.unwrap_or_default();
    [garble, evaluate].map(|time| time.as_secs_f64())
}

fn measure(
    program: &Program,
    schedules: &Schedules,
    config: GarblingConfig,
    backend: Backend,
    repeat: u32,
) -> Measured {
    let stats = program.stats();
    let ands = stats.and as f64;
    let (hash_call, xor) = bare(config.hash, backend, repeat);
    let bound = config.scheme.hash_calls().map(|calls| calls as f64 * hash_call + stats.xor as f64 / ands * xor);
    let [garble, evaluate] = fastest_on(backend, program, schedules, config, repeat).map(|seconds| seconds / ands);
    Measured { garble, evaluate, bound, hash_call, xor }
}

/// Garbles and evaluates once, chunk by chunk: the time of each.
fn pass(program: &Program, schedules: &Schedules, config: GarblingConfig, backend: Backend) -> (Duration, Duration) {
    // Labels and seeds do not affect the time.
    let mut rng = Prg::new(Block::ZERO);
    let delta = Delta::random(&mut rng);
    let mut labels = |width: u32| (0..width).map(|_| config.zero_label(rng.next_block())).collect::<Box<[Block]>>();
    let zero: Vec<Box<[Block]>> = program.inputs().iter().map(|input| labels(input.port.width())).collect();
    let seeds = Seeds::random(&mut rng);
    let hash = seeds.hash;
    let mut garbler = Garbler::new(program, schedules, config, &delta, seeds, 0, zero.clone()).with_backend(backend);
    let mut evaluator = Evaluator::new(program, schedules, config, hash, 0, zero).with_backend(backend);
    let mut tables = vec![0; config.chunk_bytes(CHUNK_ANDS)];
    let (mut garble, mut evaluate) = (Duration::ZERO, Duration::ZERO);
    loop {
        let chunk = &mut tables[..garbler.next_chunk_bytes()];
        let begin = Instant::now();
        let more = garbler.garble_chunk_into(chunk);
        let between = Instant::now();
        // The chunk has the length that both sides derive from the program.
        let _ = evaluator.evaluate_chunk(chunk);
        garble += between - begin;
        evaluate += between.elapsed();
        if !more {
            return (garble, evaluate);
        }
    }
}

/// Seconds of a bare hash call and of a bare XOR.
fn bare(hash: HashKind, backend: Backend, repeat: u32) -> (f64, f64) {
    const ROUNDS: usize = 400;
    let mut blocks = [Block::ONES; RAW_BLOCKS];
    let mut slots = [Block::ONES; 3 * RAW_BLOCKS];
    let fastest = |work: &mut dyn FnMut()| {
        let times = (0..2 * repeat).map(|_| {
            let begin = Instant::now();
            work();
            begin.elapsed()
        });
        times.min().unwrap_or_default().as_secs_f64() / (ROUNDS * RAW_BLOCKS) as f64
    };
    (fastest(&mut || hash.raw_calls(backend, &mut blocks, ROUNDS)), fastest(&mut || raw_xors(&mut slots, ROUNDS)))
}

#[cfg(test)]
mod tests {
    use garblet::library;

    use super::*;

    #[test]
    fn every_scheme_and_hash_is_measured() {
        let program = library::find("aes128-chain(1)").unwrap();
        let schedules = Schedules::new(&program);
        for &scheme in SchemeKind::ALL {
            let config = GarblingConfig { scheme, hash: HashKind::Rekeyed };
            let measured = measure(&program, &schedules, config, Backend::detect(), 1);
            let json = to_json(&(Backend::detect(), config, measured));
            for side in ["garble", "evaluate"] {
                assert!(json[side]["and_per_second"].as_f64().is_some_and(|rate| rate.is_finite() && rate > 0.0));
                assert!(json[side]["of_bound"].as_f64().is_some_and(|share| share > 0.0));
            }
        }
    }

    #[test]
    fn rates_are_from_the_fastest_pass_per_and() {
        let measured = Measured { garble: 1e-8, evaluate: 5e-9, bound: [7e-9, 4e-9], hash_call: 1e-9, xor: 5e-10 };
        let json = to_json(&(Backend::PORTABLE, GarblingConfig::default(), measured));
        assert_eq!(json["garble"]["of_bound"].as_f64().map(|v| (v * 100.0).round()), Some(70.0));
        assert_eq!(json["evaluate"]["of_bound"].as_f64().map(|v| (v * 100.0).round()), Some(80.0));
        assert_eq!(json["scheme"], "half-gates");
        assert_eq!(json["bytes_per_and"], 32.0);
    }
}
