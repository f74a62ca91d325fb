//! `garblet-lab batch`: many rows in one run, against a run for each row, by two processes over loopback TCP.
//!
//! Times are those from the greeting to the result, without the start of the processes, so that the second column is the best
//! that a run for each row could do.

use std::num::{NonZeroU32, NonZeroUsize};

use garblet::Protocol;
use garblet_circuit::{Bits, evaluate};
use garblet_cli::local::{Local, Outcome};
use garblet_console::{
    args::{ProgramArgs, at_least_one},
    failure::Failure,
    inputs::by_owner,
    output::{bytes, count, rate, seconds},
    program,
    report::total,
    settings::Settings,
};
use garblet_net::DEFAULT_TIMEOUT;
use rand::RngExt;
use serde::Serialize;

use crate::page::{Form, Piece};

/// The options of `garblet-lab batch`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The program
    #[arg(long, default_value = "lib:millionaires(32)")]
    program: String,
    /// Rows of the batch
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroU32>, default_value = "100000")]
    batch: NonZeroU32,
    /// The protocol
    #[arg(long, default_value_t)]
    protocol: Protocol,
    /// Run a single row and the batch N times each, and report the medians
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroUsize>, default_value = "3")]
    repeat: NonZeroUsize,
    #[command(flatten)]
    form: Form,
}

#[derive(Serialize)]
struct Measured {
    program: String,
    protocol: &'static str,
    rows: u32,
    batch: Cost,
    single: Cost,
}

/// The cost of a run.
#[derive(Serialize)]
struct Cost {
    session_seconds: f64,
    rows_per_second: f64,
    bytes_per_row: f64,
    rounds: u64,
    peak_rss_bytes: Vec<Option<u64>>,
}

/// Runs the benchmark.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let settings = Settings::of(options.protocol, Vec::new(), DEFAULT_TIMEOUT);
    let protocol = options.protocol.name();
    let [batch, single] = [options.batch.get(), 1].map(|rows| measure(options, &settings, rows));
    let program = options.program.clone();
    let measured = Measured { program, protocol, rows: options.batch.get(), batch: batch?, single: single? };
    options.form.show(&measured, vec![Piece::Facts(measured.facts())])
}

/// The median run of `rows` rows of random inputs, with its results checked against the plain evaluator.
fn measure(options: &Options, settings: &Settings, rows: u32) -> Result<Cost, Failure> {
    let args = ProgramArgs::plain(&options.program).of_rows(Some(rows));
    let program = program::load_quietly(&args)?;
    let parties = settings.parties(&program, None)?;
    let mut rng = rand::rng();
    let mut value = |width: u32| -> Bits { (0..width).map(|_| rng.random()).collect() };
    let values: Vec<Bits> = program.inputs().iter().map(|input| value(input.port.width())).collect();
    let inputs = by_owner(&program, &values, parties);
    let local = Local { args: &args, program: &program, inputs: &inputs, settings, ahead: None, slow: None };
    let outcome = local.repeat(options.repeat.get())?;
    let expected: Vec<Option<Bits>> = evaluate(&program, &values).into_iter().map(Some).collect();
    match outcome.outputs == expected {
        true => Ok(Cost::of(&outcome, rows)),
        false => Err(Failure::no_result(format!("{}: wrong result: this is a bug", args.program))),
    }
}

impl Cost {
    fn of(outcome: &Outcome, rows: u32) -> Self {
        let parts = &outcome.report.per_party;
        let costs: Vec<_> = parts.iter().map(|part| total(&part.phases)).collect();
        let session_seconds = costs.iter().map(|cost| cost.seconds).fold(0.0, f64::max);
        let sent: u64 = costs.iter().map(|cost| cost.communication.bytes_sent).sum();
        Cost {
            session_seconds,
            rows_per_second: f64::from(rows) / session_seconds,
            bytes_per_row: sent as f64 / f64::from(rows),
            rounds: costs.iter().map(|cost| cost.communication.rounds).max().unwrap_or(0),
            peak_rss_bytes: parts.iter().map(|part| part.peak_rss_bytes).collect(),
        }
    }
}

impl Measured {
    fn facts(&self) -> Vec<Vec<String>> {
        let row = |name: &str, of: &dyn Fn(&Cost) -> String| vec![name.into(), of(&self.batch), of(&self.single)];
        let memory = |held: &Option<u64>| held.map_or("unknown".into(), bytes);
        vec![
            vec![format!("{} under {}", self.program, self.protocol), "in a batch".into(), "one by one".into()],
            vec!["rows in a run".into(), count(self.rows.into()), "1".into()],
            row("from the greeting to the result", &|cost| seconds(cost.session_seconds)),
            row("rows per second", &|cost| rate(cost.rows_per_second)),
            row("bytes a row", &|cost| bytes(cost.bytes_per_row as u64)),
            row("rounds", &|cost| cost.rounds.to_string()),
            row("peak memory of each process", &|cost| {
                cost.peak_rss_bytes.iter().map(memory).collect::<Vec<_>>().join(", ")
            }),
        ]
    }
}
