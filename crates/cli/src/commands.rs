//! The commands, each with its options and the function that runs it.

use clap::{Parser, Subcommand};

use crate::{
    bench, child, convert, demo, eval, failure::Failure, generate, identity, inspect, job::command as job, local, plan,
    prepare, receipts::command as receipts, run, serve, store, visit,
};

const EXIT_STATUS: &str = "Exit status: 0 done; 1 ended without a result; 2 the call or one of its files is wrong";

/// Compute a function of everybody's private inputs, and reveal nothing but its result.
#[derive(Parser)]
#[command(name = "garblet", version, disable_help_subcommand = true, arg_required_else_help = true)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The subcommands.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Two parties on this machine do a real job over real sockets
    Demo(demo::Options),
    /// Run every party of a program as its own process on this machine
    Local(local::Options),
    /// Run one party, against peers elsewhere
    Run(run::Options),
    /// Fill a store, before a function is known or before its inputs are
    Prepare(prepare::Options),
    /// Run a service; or keep a store filled, together with a peer, or answer the peer whenever it comes
    Serve(serve::Call),
    /// Leave shares of this client's inputs with two servers, and have the result
    Visit(visit::Options),
    /// Compute a program in the clear: the reference answer
    Eval(eval::Options),
    /// Show ports, owners, gate counts and components of a program, or draw it
    Inspect(inspect::Options),
    /// Show what a program would cost under each protocol: bytes, rounds, time on a link
    Plan(plan::Options),
    /// Write, check and show jobs: files that say the whole agreement of a run
    #[command(subcommand)]
    Job(job::JobCommand),
    /// Check, show and compare receipts: what was kept of every run
    #[command(subcommand)]
    Receipts(receipts::ReceiptsCommand),
    /// Convert a circuit between formats
    Convert(convert::Options),
    /// Make an identity
    Keygen(identity::KeygenOptions),
    /// Show one's own fingerprint
    Id(identity::IdOptions),
    /// Say which peers to trust
    #[command(subcommand)]
    Trust(identity::TrustCommand),
    /// Show, check and tidy up what was prepared
    #[command(subcommand)]
    Store(store::StoreCommand),
    /// Measure one part on this machine
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Write manual pages and completions into a folder
    #[command(hide = true)]
    Generate(generate::Options),
    /// One party of `local`: its job comes on standard input
    #[command(hide = true)]
    Child,
}

impl Command {
    /// Runs the command.
    ///
    /// *Errors*: the reason why it ends without having done its work.
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self {
            Command::Demo(options) => demo::run(&options),
            Command::Local(options) => local::run(&options),
            Command::Run(options) => run::run(&options),
            Command::Prepare(options) => prepare::run(&options),
            Command::Serve(options) => serve::run(&options),
            Command::Visit(options) => visit::run(&options),
            Command::Eval(options) => eval::run(&options),
            Command::Generate(options) => generate::run(&options),
            Command::Inspect(options) => inspect::run(&options),
            Command::Plan(options) => plan::run(&options),
            Command::Job(command) => job::run(&command),
            Command::Receipts(command) => receipts::run(&command),
            Command::Convert(options) => convert::run(&options),
            Command::Keygen(options) => identity::keygen(&options),
            Command::Id(options) => identity::show(&options),
            Command::Trust(command) => identity::trust(&command),
            Command::Store(command) => store::run(&command),
            Command::Bench(bench) => bench::run(&bench),
            Command::Child => child::main(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
