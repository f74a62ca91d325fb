//! `garblet convert`: between circuit formats.

use std::{
    fs::{self, File, Permissions},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use garblet_circuit::Program;
use garblet_formats::{Format, WriteError};
use garblet_synthesis::optimise::optimise_program;

use crate::{args::ProgramArgs, failure::Failure, output::count, program};

/// The options of `garblet convert`.
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
    /// Replace the file if it is there already
    #[arg(long)]
    force: bool,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let mut program = program::load(&options.program)?;
    options.check_free()?;
    let before = program.counts();
    if options.optimise {
        program = optimise_program(&program).map_err(|e| Failure::call(format!("{}: {e}", program.name())))?;
    }
    let after = program.counts();
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

impl Options {
    /// Refuses to replace a file that somebody may still want.
    fn check_free(&self) -> Result<(), Failure> {
        // Standard output may be such a file, which the shell has emptied.
        let file = self.out.metadata().is_ok_and(|metadata| metadata.is_file()) && !self.out.starts_with("/dev");
        match file && !self.force {
            true => Err(Failure::call(format!("{}: is there already", self.out.display())).hint("--force replaces it")),
            false => Ok(()),
        }
    }
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
    let there = fs::symlink_metadata(path);
    let written = match &there {
        Ok(metadata) if !metadata.is_file() => {
            File::create(path).map_err(WriteError::Io).and_then(|file| write_to(file, program, format))
        }
        _ => replace(program, path, format, there.ok().map(|metadata| metadata.permissions())),
    };
    written.map_err(|error| failure(path, &error))
}

/// Writes a file of no other's name in the same folder, and then gives it the name.
fn replace(program: &Program, path: &Path, format: Format, kept: Option<Permissions>) -> Result<(), WriteError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    // Of a new file, as for every other file that the user makes.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut partial = builder.prefix(".garblet-").tempfile_in(folder)?;
    write_to(partial.as_file_mut(), program, format)?;
    if let Some(kept) = kept {
        partial.as_file().set_permissions(kept)?;
    }
    partial.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn write_to(file: impl Write, program: &Program, format: Format) -> Result<(), WriteError> {
    let mut file = BufWriter::new(file);
    format.write(program, &mut file)?;
    Ok(file.flush()?)
}

fn failure(path: &Path, error: &WriteError) -> Failure {
    match error {
        WriteError::Io(error) => Failure::unwritable(path, error),
        other => Failure::call(format!("{}: {other}", path.display())),
    }
}
