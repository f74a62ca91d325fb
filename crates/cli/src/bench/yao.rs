//! `garblet bench yao`: a long computation by two processes over loopback TCP, compared with this machine's bound.
//!
//! The bound is 1 / (1/g + 1/t): each process garbles or evaluates every AND once, at the slower in-memory rate g, and
//! its table is moved once, at the rate t at which a single thread writes and reads the same bytes over loopback TCP.
//! One call measures all of them.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    time::Instant,
};

use garblet::{
    Bits, Program,
    circuit::{InputId, evaluate},
};
use garblet_console::{
    args::{ProgramArgs, at_least_one},
    failure::Failure,
    inputs::PartyInputs,
    output::{bytes, count, rate, seconds},
    program,
    report::total,
    settings::Settings,
};
use serde::Serialize;

use crate::{
    bench::{Engine, Form, Piece, aes_chains::Chains, garbling},
    local::{Local, Outcome},
};

const TABLE_BYTES_PER_AND: f64 = 32.0;
/// The bytes that one thread writes before it reads them; they fit a socket's buffer.
const PIECE_BYTES: usize = 64 << 10;
/// Bytes moved to find the loopback rate.
const LOOPBACK_BYTES: usize = 1 << 30;

/// The options of `garblet bench yao`.
#[derive(clap::Args)]
pub struct Options {
    /// AES-128 blocks; 6,400 AND gates each
    #[arg(long, value_name = "N", default_value = "2000", value_parser = clap::value_parser!(u32).range(1..))]
    blocks: u32,
    #[command(flatten)]
    chains: Chains,
    /// Repeat N times and report the median
    #[arg(long, value_name = "N", value_parser = at_least_one::<std::num::NonZeroUsize>, default_value = "3")]
    repeat: std::num::NonZeroUsize,
    /// Start one AES-128 N times from cold and report the median
    #[arg(long, value_name = "N", value_parser = at_least_one::<std::num::NonZeroUsize>, default_value = "11")]
    cold_starts: std::num::NonZeroUsize,
}

#[derive(Serialize)]
struct Measured {
    engine: &'static str,
    blocks: u32,
    chains: u32,
    and: u64,
    /// The time from the start of the processes to the last result.
    seconds: f64,
    /// The longer of the two parties' times from the greeting to the result.
    session_seconds: f64,
    and_per_second: f64,
    garble_and_per_second: f64,
    evaluate_and_per_second: f64,
    loopback_bytes_per_second: f64,
    bound_and_per_second: f64,
    fraction_of_bound: f64,
    bytes_per_and: f64,
    peak_rss_bytes: Vec<Option<u64>>,
    cold_start_seconds: f64,
}

/// Runs the benchmark.
pub fn run(options: &Options, form: &impl Form) -> Result<(), Failure> {
    let measured = measure(options)?;
    form.show(&measured, vec![Piece::Facts(measured.facts())])
}

fn measure(options: &Options) -> Result<Measured, Failure> {
    let args = ProgramArgs::plain(&options.chains.circuit(options.blocks)?);
    let program = program::load(&args)?;
    let outcome = run_checked(&args, &program, options.repeat.get())?;
    let cold_args = ProgramArgs::plain("lib:aes128");
    let cold = run_checked(&cold_args, &program::load(&cold_args)?, options.cold_starts.get())?;
    let loopback = loopback_rate().map_err(|e| Failure::no_result(format!("loopback TCP: {e}")))?;
    let [garble, evaluate] = garbling::default_rates(options.chains)?;

    let ands = outcome.report.program.and;
    let costs: Vec<_> = outcome.report.per_party.iter().map(|p| total(&p.phases)).collect();
    let session_seconds = costs.iter().map(|c| c.seconds).fold(0.0, f64::max);
    let moved: u64 = costs.iter().map(|c| c.communication.bytes_sent).sum();
    let slower = garble.min(evaluate);
    let bound = 1.0 / (1.0 / slower + TABLE_BYTES_PER_AND / loopback);
    let achieved = ands as f64 / session_seconds;
    Ok(Measured {
        engine: Engine::name(),
        blocks: options.blocks,
        chains: options.chains.chains,
        and: ands,
        seconds: outcome.seconds,
        session_seconds,
        and_per_second: achieved,
        garble_and_per_second: garble,
        evaluate_and_per_second: evaluate,
        loopback_bytes_per_second: loopback,
        bound_and_per_second: bound,
        fraction_of_bound: achieved / bound,
        bytes_per_and: moved as f64 / ands as f64,
        peak_rss_bytes: outcome.report.per_party.iter().map(|p| p.peak_rss_bytes).collect(),
        cold_start_seconds: cold.seconds,
    })
}

/// The median run, with its result checked against the plain evaluator.
fn run_checked(args: &ProgramArgs, program: &Program, times: usize) -> Result<Outcome, Failure> {
    let bytes = |width: u32, of: usize| (0..width as usize / 8).map(|i| (of + i) as u8).collect::<Vec<u8>>();
    let inputs = program.inputs().iter().enumerate();
    let inputs: Vec<Bits> = inputs.map(|(k, input)| Bits::from_bytes(&bytes(input.port.width(), 0x11 * k))).collect();
    let expected: Vec<Option<Bits>> = evaluate(program, &inputs).into_iter().map(Some).collect();
    let inputs: Vec<PartyInputs> =
        inputs.into_iter().enumerate().map(|(k, bits)| vec![(InputId(k as u32), bits)]).collect();
    let settings = Settings::standard(None);
    let outcome =
        Local { args, program, inputs: &inputs, settings: &settings, ahead: None, slow: None }.repeat(times)?;
    match outcome.outputs == expected {
        true => Ok(outcome),
        false => Err(Failure::no_result(format!("{}: wrong result: this is a bug", args.program))),
    }
}

/// Bytes per second that one thread moves over loopback TCP when it writes and reads them all itself.
fn loopback_rate() -> std::io::Result<f64> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut sender = TcpStream::connect(listener.local_addr()?)?;
    let (mut receiver, _) = listener.accept()?;
    sender.set_nodelay(true)?;
    let sent = vec![0x5a; PIECE_BYTES];
    let mut received = vec![0; PIECE_BYTES];
    let begin = Instant::now();
    for _ in 0..LOOPBACK_BYTES / PIECE_BYTES {
        sender.write_all(&sent)?;
        receiver.read_exact(&mut received)?;
    }
    Ok(LOOPBACK_BYTES as f64 / begin.elapsed().as_secs_f64())
}

impl Measured {
    fn facts(&self) -> Vec<Vec<String>> {
        let per_second = |ands: f64| format!("{} AND/s", rate(ands));
        let memory = |bytes_held: &Option<u64>| bytes_held.map_or("unknown".into(), bytes);
        let peaks: Vec<String> = self.peak_rss_bytes.iter().map(memory).collect();
        let rows = [
            ("engine", self.engine.into()),
            ("AND gates", count(self.and)),
            ("end to end", seconds(self.session_seconds)),
            ("with the start of the processes", seconds(self.seconds)),
            ("rate", per_second(self.and_per_second)),
            ("garbling in memory", per_second(self.garble_and_per_second)),
            ("evaluating in memory", per_second(self.evaluate_and_per_second)),
            ("loopback TCP, one thread", format!("{}/s", bytes(self.loopback_bytes_per_second as u64))),
            ("bound 1 / (1/g + 1/t)", per_second(self.bound_and_per_second)),
            ("part of the bound", format!("{:.0} %", self.fraction_of_bound * 100.0)),
            ("bytes per AND gate", format!("{:.2}", self.bytes_per_and)),
            ("peak memory of each process", peaks.join(", ")),
            ("one AES-128 from a cold start", seconds(self.cold_start_seconds)),
        ];
        rows.into_iter().map(|(name, value)| vec![name.into(), value]).collect()
    }
}
