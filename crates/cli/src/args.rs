//! What can be said on the command line.

use clap::{Parser, Subcommand};

use crate::bench;

/// Compute a function of everybody's private inputs, and reveal nothing but its result.
#[derive(Parser)]
#[command(name = "garblet", version, disable_help_subcommand = true, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The subcommands.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Measure one part on this machine
    #[command(subcommand)]
    Bench(bench::Bench),
}
