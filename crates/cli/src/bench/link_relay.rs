//! `garblet bench link-relay`: a plain TCP relay with the behaviour of a simulated link.

use crate::failure::Failure;

/// What `garblet bench link-relay` takes.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Address to listen on
    listen: String,
    /// Address to relay to
    target: String,
    /// One-way latency and rate, as 33ms,50mbit
    #[arg(long, value_name = "LATENCY,RATE")]
    link: String,
}

/// Runs the relay until it is stopped.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let _ = (&options.listen, &options.target, &options.link);
    Err(Failure::no_result("bench link-relay: not part of this build"))
}
