//! `garblet convert`: between circuit formats.

use std::path::{Path, PathBuf};

use garblet::{
    Program,
    formats::{Format, WriteError},
    run_report::ProgramPart,
    synthesis::optimise::{Effort, Goal, optimise_program},
};
use garblet_console::{
    args::ProgramArgs,
    failure::Failure,
    output::{count, tell},
    program,
    whole_file::{self, Readers},
};

/// The options of `garblet convert`.
#[derive(clap::Args)]
#[command(mut_arg("as_it_is", |as_it_is| as_it_is.hide(true)))]
pub(crate) struct Options {
    #[command(flatten)]
    program: ProgramArgs,
    /// The file to write; its extension determines the format: .json, .gbc, .txt or .bristol
    #[arg(value_name = "OUT")]
    out: PathBuf,
    /// The format to write: bristol, bristol-fashion, json or gbc
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Remove AND gates, with this effort: quick, usual (if it is not given) or thorough
    #[arg(
        long,
        value_name = "EFFORT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "usual"
    )]
    optimise: Option<Effort>,
    /// With --optimise: add no layers of AND gates, which are the rounds of gmw
    #[arg(long, requires = "optimise")]
    keep_layers: bool,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let mut args = options.program.clone();
    args.changes.as_it_is = true;
    let mut program = program::load(&args)?;
    options.check_free()?;
    let before = program.counts();
    if let Some(effort) = options.optimise {
        let goal = Goal { keeps_layers: options.keep_layers, ..effort.into() };
        program = optimise_program(&program, goal).map_err(|e| Failure::call(format!("{}: {e}", program.name())))?;
    }
    let after = program.counts();
    write(&program, &options.out, format(options)?)?;
    let changed = |name: &str, before, after| match before == after {
        true => format!("{} {name}", count(after)),
        false => format!("{} {name} (before: {})", count(after), count(before)),
    };
    tell(&format!(
        "wrote {}: {}, {}, {}{}",
        options.out.display(),
        changed("AND", before.and, after.and),
        changed("XOR", before.xor, after.xor),
        changed("NOT", before.not, after.not),
        match ProgramPart::of(&program).garbled_and {
            garbled if garbled == after.and => String::new(),
            garbled => format!("; garbled: {} AND", count(garbled)),
        }
    ));
    Ok(())
}

impl Options {
    /// Refuses to replace an existing file.
    fn check_free(&self) -> Result<(), Failure> {
        // Allow standard output, a file that the shell has just emptied.
        let file = self.out.metadata().is_ok_and(|metadata| metadata.is_file()) && !self.out.starts_with("/dev");
        match file && !self.force {
            true => {
                Err(Failure::call(format!("{}: already exists", self.out.display())).hint("replace it with --force"))
            }
            false => Ok(()),
        }
    }
}

fn format(options: &Options) -> Result<Format, Failure> {
    options.format.or_else(|| Format::of_path(&options.out)).ok_or_else(|| {
        Failure::call(format!("{}: its extension names no known format", options.out.display()))
            .hint("name it .json, .gbc, .txt or .bristol, or give --format")
    })
}

/// Writes the file, which may be the program's own.
fn write(program: &Program, path: &Path, format: Format) -> Result<(), Failure> {
    let written = whole_file::write(path, Readers::Usual, |mut out| format.write(program, &mut out));
    written.map_err(|error| failure(path, &error))
}

fn failure(path: &Path, error: &WriteError) -> Failure {
    match error {
        WriteError::Io(error) => Failure::unwritable(path, error),
        other => Failure::call(format!("{}: {other}", path.display())),
    }
}
