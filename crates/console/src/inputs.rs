//! Inputs from users: one file per party, or many for a batch.

mod arrange;
mod batch;
mod fasta;
mod file;
mod keys;
mod options;

use std::path::Path;

use garblet::{Bits, Party, Program, circuit::InputId};

pub use self::{
    arrange::{ArrangeArgs, Unread, tell_arranged},
    fasta::nucleotides,
    file::of_json,
    keys::tell_price,
    options::{Batch, InputArgs, InputFile, PartyInputs},
};
use crate::failure::Failure;

/// The inputs of every party below `parties`, and the number of rows if it is a batch.
///
/// *Errors*: a party lacks a file that it needs; a file is for a party without inputs or an unknown one; batches differ in
/// length; any mistake in a file.
pub fn of_all(program: &Program, args: &InputArgs, parties: u16) -> Result<(Vec<PartyInputs>, Option<u32>), Failure> {
    check_parties(args, parties)?;
    let (inputs, rows) = match args.batch {
        None => ((0..parties).map(|p| of_party(program, args, Party(p))).collect::<Result<Vec<_>, _>>()?, None),
        Some(batch) => {
            let (inputs, rows) = batch::read(program, args, batch, (0..parties).map(Party))?;
            (inputs, Some(rows))
        }
    };
    args.arrange.check(program, inputs.iter().flatten().map(|(id, _)| *id))?;
    Ok((inputs, rows))
}

/// The values of all inputs, grouped by the parties that own them.
pub fn by_owner(program: &Program, values: &[Bits], parties: u16) -> Vec<PartyInputs> {
    let of = |party: u16| {
        let all = program.inputs().iter().zip(values).enumerate();
        let own = all.filter(|(_, (input, _))| input.owner == Party(party));
        own.map(|(number, (_, value))| (InputId(number as u32), value.clone())).collect()
    };
    (0..parties).map(of).collect()
}

/// The inputs of one party, for one evaluation.
///
/// *Errors*: as [`of_all`].
pub fn of_party(program: &Program, args: &InputArgs, party: Party) -> Result<PartyInputs, Failure> {
    of_party_or_unread(program, args, party).map_err(Unread::failure)
}

/// The same as [`of_party`], with an error that says if its text quotes the inputs.
///
/// *Errors*: as [`of_all`].
pub fn of_party_or_unread(program: &Program, args: &InputArgs, party: Party) -> Result<PartyInputs, Unread> {
    let own = file::own(program, party);
    match args.inputs.iter().find(|i| i.party == party) {
        Some(file) => file::Source::new(party, &file.path, args)?.read(program, &own),
        None => Ok(file::none(party, &own)?),
    }
}

/// The inputs of this process's party, and the number of rows if it is a batch.
///
/// *Errors*: as [`of_all`]; a file for another party.
pub fn of_this_party(program: &Program, args: &InputArgs, party: Party) -> Result<(PartyInputs, Option<u32>), Failure> {
    if let Some(other) = args.inputs.iter().find(|i| i.party != party) {
        let message = format!("--input {}={}: this is party {party}", other.party, other.path.display());
        return Err(Failure::call(message).hint("give only this party's inputs; the other parties give theirs"));
    }
    check_repeats(args)?;
    let (inputs, rows) = match args.batch {
        None => (of_party(program, args, party)?, None),
        Some(batch) => {
            let (inputs, rows) = batch::read(program, args, batch, std::iter::once(party))?;
            (inputs.concat(), Some(rows))
        }
    };
    args.arrange.check(program, inputs.iter().map(|(id, _)| *id))?;
    Ok((inputs, rows))
}

fn check_parties(args: &InputArgs, parties: u16) -> Result<(), Failure> {
    match args.inputs.iter().find(|file| file.party.0 >= parties) {
        Some(InputFile { party, path }) => Err(Failure::call(format!(
            "--input {party}={}: there are {parties} parties, 0 to {}",
            path.display(),
            parties - 1
        ))),
        None => check_repeats(args),
    }
}

/// Refuses repeated options of which only one could apply.
fn check_repeats(args: &InputArgs) -> Result<(), Failure> {
    for (at, file) in args.inputs.iter().enumerate() {
        if args.batch != Some(Batch::Files) && args.inputs[..at].iter().any(|f| f.party == file.party) {
            return Err(Failure::call(format!("--input: party {} has two files, expected one", file.party))
                .hint("--batch files takes one file per evaluation"));
        }
        let is_stdin = |file: &InputFile| file.path == Path::new("-");
        if is_stdin(file) && args.inputs[..at].iter().any(is_stdin) {
            return Err(Failure::call("--input: standard input is given twice, expected once"));
        }
    }
    options::check_formats(&args.formats)?;
    options::check_columns(&args.columns)
}
