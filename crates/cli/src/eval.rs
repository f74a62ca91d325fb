//! `garblet eval`: a program in the clear.

use garblet_circuit::{Bits, evaluate};
use serde_json::json;

use crate::{
    args::{InputArgs, ProgramArgs},
    failure::Failure,
    inputs,
    output::{print, print_json},
    program,
    record::digest_text,
    report::{ProgramPart, check_panics, outputs_json, outputs_text},
};

/// The options of `garblet eval`.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    inputs: InputArgs,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let program = program::load(&options.program)?;
    let mut inputs = inputs::of_all(&program, &options.inputs, program.party_count())?.concat();
    inputs.sort_by_key(|(id, _)| *id);
    let inputs: Vec<Bits> = inputs.into_iter().map(|(_, bits)| bits).collect();
    let outputs: Vec<Option<Bits>> = evaluate(&program, &inputs).into_iter().map(Some).collect();
    check_panics(&program, &outputs)?;
    match options.json {
        true => print_json(&json!({
            "program": ProgramPart::of(&program),
            "program_digest": digest_text(&program),
            "outputs": outputs_json(&program, &outputs),
        })),
        false => print(&outputs_text(&program, &outputs)),
    }
}
