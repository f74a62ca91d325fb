//! The `garblet` command: secure computation of programs from the shell.
//!
//! Exit status: 0 done; 1 the computation ended without a result; 2 the call or its files are wrong. Errors go to
//! standard error as `error: ...` and, where something can be done about it, `hint: ...`.

mod args;
mod bench;
mod child;
mod convert;
mod cpu;
mod demo;
mod eval;
mod failure;
mod identity;
mod inputs;
mod inspect;
mod local;
mod output;
mod plan;
mod prepare;
mod program;
mod progress;
mod record;
mod report;
mod run;
mod serve;
mod session;
mod stock;
mod store;
mod way;

use std::process::ExitCode;

use clap::Parser;

use crate::{
    args::{Cli, Command},
    failure::Failure,
};

fn main() -> ExitCode {
    let command = match Cli::try_parse() {
        Ok(cli) => cli.command,
        Err(error) => {
            if error.use_stderr() {
                output::print_failure(&Failure::from(&error));
            }
            error.exit()
        }
    };
    match dispatch(command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            output::print_failure(&failure);
            failure.status.into()
        }
    }
}

fn dispatch(command: Command) -> Result<(), Failure> {
    match command {
        Command::Demo(options) => demo::run(&options),
        Command::Local(options) => local::run(&options),
        Command::Run(options) => run::run(&options),
        Command::Prepare(options) => prepare::run(&options),
        Command::Serve(options) => serve::run(&options),
        Command::Eval(options) => eval::run(&options),
        Command::Inspect(options) => inspect::run(&options),
        Command::Plan(options) => plan::run(&options),
        Command::Convert(options) => convert::run(&options),
        Command::Keygen(options) => identity::keygen(&options),
        Command::Id(options) => identity::show(&options),
        Command::Trust(command) => identity::trust(&command),
        Command::Store(command) => store::run(&command),
        Command::Bench(bench) => bench::run(&bench),
        Command::Child => child::main(),
    }
}
