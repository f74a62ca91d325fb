//! The `garblet` command: secure computation of programs from the shell.
//!
//! Exit status: 0 done; 1 the computation ended without a result; 2 the call or its files are wrong. Errors go to
//! standard error as `error: ...` and, where something can be done about it, `hint: ...`.

mod args;
mod bench;
#[allow(dead_code)]
mod failure;
#[allow(dead_code)]
mod output;

use std::process::ExitCode;

use clap::Parser;

use crate::{
    args::{Cli, Command},
    failure::Failure,
};

fn main() -> ExitCode {
    match dispatch(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            failure.status.into()
        }
    }
}

fn dispatch(command: Command) -> Result<(), Failure> {
    match command {
        Command::Bench(bench) => bench::run(&bench),
    }
}
