//! `garblet bench yao`.

use crate::failure::Failure;

/// What `garblet bench yao` takes.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// Runs the benchmark.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let _ = options.json;
    Err(Failure::no_result("bench yao: not part of this build"))
}
