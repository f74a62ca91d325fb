//! The start and end of a program: its arguments, its exit status, and failure messages.

use std::{ffi::OsString, process::ExitCode};

use clap::Parser;

use crate::{failure::Failure, output::print_failure};

/// Runs the command in this process's arguments. Returns the exit status.
pub fn start<C: Parser>(run: impl FnOnce(C) -> Result<(), Failure>) -> ExitCode {
    let call = match C::try_parse_from(arguments(std::env::args_os())) {
        Ok(call) => call,
        Err(mut error) => {
            // An option of another command is not a value: do not suggest `-- --option`.
            error.remove(clap::error::ContextKind::Suggested);
            if error.use_stderr() {
                print_failure(&Failure::from(&error));
            }
            error.exit()
        }
    };
    match run(call) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            print_failure(&failure);
            failure.status.into()
        }
    }
}

/// The arguments, with `garblet help COMMAND` turned into `garblet COMMAND --help`, which users of other tools expect.
fn arguments(given: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut all: Vec<OsString> = given.collect();
    if all.get(1).is_some_and(|first| first == "help") {
        all.remove(1);
        all.push("--help".into());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_is_asked_for_in_either_way() {
        let of = |line: &str| arguments(line.split(' ').map(Into::into)).join(std::ffi::OsStr::new(" "));
        assert_eq!(of("garblet help"), "garblet --help");
        assert_eq!(of("garblet help job new"), "garblet job new --help");
        assert_eq!(of("garblet job help"), "garblet job help");
    }
}
