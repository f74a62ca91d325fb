//! The `garblet` command: secure computation of programs from the shell.
//!
//! Exit status: 0 done; 1 the computation ended without a result; 2 the call or its files are wrong. Errors go to
//! standard error as `error: ...` and, where something can be done about it, `hint: ...`.

mod agreement;
mod ahead;
mod args;
mod bench;
mod child;
mod commands;
mod configuration;
mod convert;
mod cpu;
mod demo;
mod eval;
mod failure;
mod generate;
mod hex;
mod hints;
mod identity;
mod inputs;
mod inspect;
mod job;
mod local;
mod meeting;
mod output;
mod plan;
mod prepare;
mod program;
mod progress;
mod receipts;
mod record;
mod report;
mod results;
mod run;
mod serve;
mod session;
mod settings;
mod slow;
mod stock;
mod store;
mod visit;
mod way;
mod whole_file;
mod written;

use std::process::ExitCode;

use clap::Parser;

use crate::{commands::Cli, failure::Failure};

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
    match command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            output::print_failure(&failure);
            failure.status.into()
        }
    }
}
