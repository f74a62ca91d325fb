//! `garblet eval`: computes a program in the clear.

use std::collections::BTreeMap;

use garblet::{
    Bits,
    circuit::evaluate,
    panicked_rows,
    run_report::{ProgramPart, digest_text, outputs_json},
};
use garblet_console::{
    args::ProgramArgs,
    failure::Failure,
    inputs::{self, InputArgs},
    output::print_json,
    program,
    report::check_panics,
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::results::OutputArgs;

/// The options of `garblet eval`.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// The object of `--json`.
#[derive(Serialize)]
struct Report {
    outputs: Map<String, Value>,
    /// Rows without a result, numbered from 1, each with the place and reason of its panic.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    panicked: BTreeMap<usize, String>,
    program: ProgramPart,
    program_digest: String,
    /// The rows of a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<u32>,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let program = program::load(&options.program)?;
    options.output.check(&program, options.inputs.batch.is_some(), |_| true)?;
    let args = options.inputs.with_keys(None, &program, true)?;
    let (inputs, rows) = inputs::of_all(&program, &args, program.party_count())?;
    let program = program::batch(program, rows)?;
    let mut inputs = inputs.concat();
    inputs.sort_by_key(|(id, _)| *id);
    let inputs: Vec<Bits> = inputs.into_iter().map(|(_, bits)| bits).collect();
    let outputs: Vec<Option<Bits>> = evaluate(&program, &inputs).into_iter().map(Some).collect();
    check_panics(&program, &outputs)?;
    match options.json {
        true => {
            options.output.write_files(&program, &outputs)?;
            print_json(&Report {
                program: ProgramPart::of(&program),
                program_digest: digest_text(&program),
                rows,
                panicked: panicked_rows(&program, &outputs),
                outputs: outputs_json(&program, &outputs),
            })
        }
        false => options.output.give(&program, &outputs),
    }
}
