//! Inputs of a batch: one row of a table, or one file, per evaluation.

use std::path::{Path, PathBuf};

use garblet::{
    Bits, Party, Program,
    circuit::{Input, InputId},
};

use super::{
    arrange::Unread,
    file::{self, Source},
    options::{Batch, InputArgs, PartyInputs},
};
use crate::{failure::Failure, output::tell};

/// Reads the inputs of parties for all rows of a batch: each input holds the values of all rows in turn.
///
/// *Errors*: the parties' numbers of rows differ; no rows; any mistake in a file.
pub(super) fn read(
    program: &Program,
    args: &InputArgs,
    batch: Batch,
    parties: impl Iterator<Item = Party>,
) -> Result<(Vec<PartyInputs>, u32), Failure> {
    let mut all = Vec::new();
    let mut known: Option<(Party, u32)> = None;
    for party in parties {
        let own = file::own(program, party);
        let (inputs, rows) = of_party(program, args, batch, (party, &own))?;
        all.push(inputs);
        match (known, rows) {
            (Some((first, before)), Some(rows)) if before != rows => {
                let message = format!("--batch: party {first} has {before} rows, party {party} has {rows}");
                return Err(Failure::call(message)
                    .hint("each row is one evaluation, so all parties need the same number of rows"));
            }
            (None, Some(0)) => {
                return Err(Failure::call(format!("--batch: party {party} has no rows, expected at least one")));
            }
            (None, Some(rows)) => known = Some((party, rows)),
            _ => (),
        }
    }
    let none = || Failure::call("--batch: no party here has inputs").hint("give the number of rows: --batch N");
    Ok((all, known.ok_or_else(none)?.1))
}

/// One party's inputs, and their number of rows if it has any.
fn of_party(
    program: &Program,
    args: &InputArgs,
    batch: Batch,
    (party, own): (Party, &[(usize, &Input)]),
) -> Result<(PartyInputs, Option<u32>), Failure> {
    let mut paths = args.inputs.iter().filter(|input| input.party == party).map(|input| input.path.as_path());
    match batch {
        Batch::Count(rows) if own.is_empty() => Ok((Vec::new(), Some(rows))),
        Batch::Count(rows) => Err(Failure::call(format!("--batch {rows}: party {party} has inputs"))
            .hint("read them with --batch rows or --batch files")),
        Batch::Rows => match paths.next() {
            Some(path) => {
                let (inputs, rows) = Source::new(party, path, args)?.read_rows(program, own)?;
                Ok((inputs, Some(rows)))
            }
            None => Ok((file::none(party, own)?, None)),
        },
        Batch::Files => {
            let mut files = Vec::new();
            for path in paths {
                add(path, &mut files)?;
            }
            match files.is_empty() {
                false => of_files(program, args, &files, (party, own)),
                true => Ok((file::none(party, own)?, None)),
            }
        }
    }
}

/// The inputs in files, in turn.
fn of_files(
    program: &Program,
    args: &InputArgs,
    files: &[PathBuf],
    (party, own): (Party, &[(usize, &Input)]),
) -> Result<(PartyInputs, Option<u32>), Failure> {
    let ids = own.iter().map(|(at, _)| InputId(*at as u32));
    let mut all: PartyInputs = ids.map(|id| (id, Bits::default())).collect();
    for file in files {
        let one = Source::new(party, file, args)?.read(program, own).map_err(Unread::failure)?;
        all.iter_mut().zip(&one).for_each(|((_, values), (_, value))| values.append(value));
    }
    let too_many = |_| Failure::call(format!("--batch files: {} files, expected at most {}", files.len(), u32::MAX));
    Ok((all, Some(u32::try_from(files.len()).map_err(too_many)?)))
}

/// Adds a file, or all files of a folder except hidden ones, sorted by name.
fn add(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    if !path.is_dir() {
        files.push(path.into());
        return Ok(());
    }
    let unreadable = |error: std::io::Error| Failure::unreadable(path, &error);
    let mut inner = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?.path();
        let hidden = entry.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if entry.is_file() && !hidden {
            inner.push(entry);
        }
    }
    if inner.is_empty() {
        return Err(Failure::call(format!("{}: the folder has no files, expected one per evaluation", path.display())));
    }
    inner.sort_unstable();
    if let [first, .., last] = &inner[..] {
        let (count, folder) = (inner.len(), path.display());
        let [first, last] = [first, last].map(|file| file.file_name().unwrap_or_default().to_string_lossy());
        tell(&format!("note: {folder}: {count} files, sorted by name from `{first}` to `{last}`"));
    }
    files.append(&mut inner);
    Ok(())
}
