//! `garblet convert`: between circuit formats.

use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use garblet_circuit::{
    Program,
    formats::{Format, WriteError},
    optimise::optimise_program,
};

use crate::{args::ProgramArgs, failure::Failure, output::count, program};

/// What `garblet convert` takes.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    program: ProgramArgs,
    /// The file to write; its extension says the format: .json, .txt or .bristol
    #[arg(value_name = "OUT")]
    out: PathBuf,
    /// The format to write: bristol, bristol-fashion or json
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Leave out what computes nothing new: constants, duplicates, dead gates
    #[arg(long)]
    optimise: bool,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let mut program = program::load(&options.program)?;
    let before = program.stats();
    if options.optimise {
        program = optimise_program(&program).map_err(|e| Failure::call(format!("{}: {e}", program.name())))?;
    }
    let after = program.stats();
    write(&program, &options.out, format(options)?)?;
    let changed = |name: &str, before, after| match before == after {
        true => format!("{} {name}", count(after)),
        false => format!("{} {name} (before: {})", count(after), count(before)),
    };
    eprintln!(
        "wrote {}: {}, {}, {}",
        options.out.display(),
        changed("AND", before.and, after.and),
        changed("XOR", before.xor, after.xor),
        changed("NOT", before.not, after.not)
    );
    Ok(())
}

fn format(options: &Options) -> Result<Format, Failure> {
    options.format.or_else(|| Format::of_path(&options.out)).ok_or_else(|| {
        Failure::call(format!("{}: its extension says no format", options.out.display()))
            .hint("name it .json, .txt or .bristol, or give --format")
    })
}

/// Writes the file. One that is there already, perhaps the program's own, stays as it is until all of the new one is
/// written; a link, a pipe or a device is written to in place.
fn write(program: &Program, path: &Path, format: Format) -> Result<(), Failure> {
    let replaced = fs::symlink_metadata(path).map_or(true, |metadata| metadata.is_file());
    if !replaced {
        return write_to(path, program, format).map_err(|error| failure(path, &error));
    }
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let partial = Path::new(&partial);
    let written = write_to(partial, program, format).and_then(|()| Ok(fs::rename(partial, path)?));
    written.map_err(|error| {
        // What is left of it is of no use.
        let _ = fs::remove_file(partial);
        failure(path, &error)
    })
}

fn write_to(path: &Path, program: &Program, format: Format) -> Result<(), WriteError> {
    let mut file = BufWriter::new(File::create(path)?);
    format.write(program, &mut file)?;
    Ok(file.flush()?)
}

fn failure(path: &Path, error: &WriteError) -> Failure {
    match error {
        WriteError::Io(error) => Failure::unwritable(path, error),
        other => Failure::call(format!("{}: {other}", path.display())),
    }
}
