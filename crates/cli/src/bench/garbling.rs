//! `garblet bench garbling`.

use crate::failure::Failure;

/// What `garblet bench garbling` takes.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// Runs the benchmark.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let _ = options.json;
    Err(Failure::no_result("bench garbling: not part of this build"))
}
