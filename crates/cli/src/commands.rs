//! The commands, each with its options and the function that runs it.

use std::{process::ExitCode, sync::LazyLock};

use clap::{Parser, Subcommand};
use garblet::net::WIRE_VERSION;
use garblet_console::{failure::Failure, start};

use crate::{
    bench, child, convert, demo, eval, generate, identities, inspect, jobs, local, plan, prepare, receipt_logs, run,
    serve, store, visit,
};

const EXIT_STATUS: &str = "Exit status: 0 success; 1 no result; 2 the call or one of its files is wrong";

/// The `garblet` command. Returns its exit status.
pub fn main() -> ExitCode {
    survive_long_files();
    start(|cli: Cli| cli.command.run())
}

/// Makes a write beyond the limit on the length of files (`ulimit -f`) an error as every other: the system's signal would end the process, before the result
/// of a run is given. Programs that this process starts have the signal as usual.
fn survive_long_files() {
    #[cfg(unix)]
    if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() {
        use tokio::signal::unix::{SignalKind, signal};
        let too_long = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
        // The handler does nothing, and stays when the runtime ends. If the system has no room for it, all is as before.
        drop(runtime.block_on(async { signal(too_long) }));
    }
}

/// The version, and the number by which peers know whether they understand one another.
fn version() -> &'static str {
    static VERSION: LazyLock<String> =
        LazyLock::new(|| format!("{}, wire version {WIRE_VERSION}", env!("CARGO_PKG_VERSION")));
    &VERSION
}

/// Compute a function of everybody's private inputs, and reveal nothing but its result.
#[derive(Parser)]
#[command(name = "garblet", version = version(), disable_help_subcommand = true, arg_required_else_help = true)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// The subcommands.
#[derive(Subcommand)]
enum Command {
    /// Run two parties on this machine over real sockets, on a real task
    Demo(demo::Options),
    /// Run all parties of a program on this machine, each in its own process
    Local(local::Options),
    /// Run one party, with peers elsewhere
    Run(Box<run::Options>),
    /// Fill a store before the function or its inputs are known
    Prepare(prepare::Options),
    /// Run a service; or keep a store filled, together with a peer; or answer the peer whenever it connects
    Serve(serve::Call),
    /// Leave shares of this client's inputs with two servers, and fetch the result
    Visit(visit::Options),
    /// Compute a program in the clear, for the reference answer
    Eval(eval::Options),
    /// Show ports, owners, gate counts and components of a program, or draw it
    Inspect(inspect::Options),
    /// Show the cost of a program under each protocol: bytes, rounds, time on a link
    Plan(plan::Options),
    /// Write, check and show jobs: files that contain everything the parties of a run agree on
    #[command(subcommand)]
    Job(jobs::JobCommand),
    /// Check, show and compare receipts: the records of runs
    #[command(subcommand)]
    Receipts(receipt_logs::ReceiptsCommand),
    /// Convert a circuit between formats
    Convert(convert::Options),
    /// Create an identity
    Keygen(identities::KeygenOptions),
    /// Show your fingerprint
    Id(identities::IdOptions),
    /// Add, list and remove trusted peers
    #[command(subcommand)]
    Trust(identities::TrustCommand),
    /// Show, check and clean up stores
    #[command(subcommand)]
    Store(store::StoreCommand),
    /// Measure this machine
    #[command(subcommand, after_help = bench::OTHERS)]
    Bench(bench::Bench),
    /// Write manual pages and shell completions to a folder
    #[command(hide = true)]
    Generate(generate::Options),
    /// Run one party of `local`, whose task is read from standard input
    #[command(hide = true)]
    Child,
}

impl Command {
    /// Runs the command.
    ///
    /// *Errors*: the reason for its failure.
    fn run(self) -> Result<(), Failure> {
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
            Command::Job(command) => jobs::run(&command),
            Command::Receipts(command) => receipt_logs::run(&command),
            Command::Convert(options) => convert::run(&options),
            Command::Keygen(options) => identities::keygen(&options),
            Command::Id(options) => identities::show(&options),
            Command::Trust(command) => identities::trust(&command),
            Command::Store(command) => store::run(&command),
            Command::Bench(bench) => bench::run(&bench),
            Command::Child => child::main(),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_version_says_which_peers_fit() {
        let expected = format!("garblet {}, wire version {WIRE_VERSION}\n", env!("CARGO_PKG_VERSION"));
        assert_eq!(Cli::command().render_version(), expected);
    }

    /// The hidden options of a command and its subcommands.
    fn hidden(command: &clap::Command, path: &str) -> Vec<String> {
        let is_hidden =
            |arg: &&clap::Arg| arg.is_hide_set() || arg.get_all_aliases().unwrap_or_default() != shown_names(arg);
        let own = command.get_arguments().filter(is_hidden).map(|arg| format!("{path}: {}", arg.get_id()));
        let below = command.get_subcommands().filter(|below| !below.is_hide_set());
        own.chain(below.flat_map(|below| hidden(below, &format!("{path} {}", below.get_name())))).collect()
    }

    fn shown_names(arg: &clap::Arg) -> Vec<&str> {
        arg.get_visible_aliases().unwrap_or_default()
    }

    #[test]
    fn help_shows_every_option() {
        let all = hidden(&Cli::command(), "garblet");
        // Benchmarks start themselves with hidden options, and what is converted keeps its gates anyway.
        let is_of_users = |path: &&String| !path.starts_with("garblet bench") && *path != "garblet convert: as_it_is";
        let of_users: Vec<&String> = all.iter().filter(is_of_users).collect();
        assert_eq!(of_users, Vec::<&String>::new());
    }
}
