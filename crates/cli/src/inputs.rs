//! Inputs as users give them: one file per party.

mod fasta;
mod file;

use std::path::Path;

use garblet_circuit::{Bits, Input, InputId, Party, Program};

use self::file::Source;
pub(crate) use self::{
    fasta::nucleotides,
    file::{ColumnOf, FormatOf},
};
use crate::{
    args::{InputArgs, InputFile},
    failure::Failure,
};

/// One party's inputs, in the program's order.
pub(crate) type PartyInputs = Vec<(InputId, Bits)>;

/// The inputs of every party below `parties`.
///
/// *Errors*: a party without the file that it needs, a file for a party that has no inputs or does not exist, and
/// whatever is wrong in a file.
pub(crate) fn of_all(program: &Program, args: &InputArgs, parties: u16) -> Result<Vec<PartyInputs>, Failure> {
    check_parties(args, parties)?;
    (0..parties).map(|p| of_party(program, args, Party(p))).collect()
}

/// The values of all inputs, dealt out to the parties that own these.
pub(crate) fn by_owner(program: &Program, values: &[Bits], parties: u16) -> Vec<PartyInputs> {
    let of = |party: u16| {
        let all = program.inputs().iter().zip(values).enumerate();
        let own = all.filter(|(_, (input, _))| input.owner == Party(party));
        own.map(|(number, (_, value))| (InputId(number as u32), value.clone())).collect()
    };
    (0..parties).map(of).collect()
}

/// The inputs of one party.
///
/// *Errors*: as [`of_all`].
pub(crate) fn of_party(program: &Program, args: &InputArgs, party: Party) -> Result<PartyInputs, Failure> {
    let own: Vec<(usize, &Input)> = program.inputs().iter().enumerate().filter(|(_, i)| i.owner == party).collect();
    let Some(file) = args.inputs.iter().find(|i| i.party == party) else {
        let names: Vec<String> = own.iter().map(|(_, i)| format!("`{}` ({})", i.port.name, i.port.ty)).collect();
        return match names.is_empty() {
            true => Ok(Vec::new()),
            false => Err(Failure::call(format!("party {party} has no inputs, it needs {}", names.join(", ")))
                .hint(format!("give --input {party}=FILE.json"))),
        };
    };
    Source::new(party, &file.path, args)?.read(program, &own)
}

/// The inputs of the party that this process is.
///
/// *Errors*: also a file for another party.
pub(crate) fn of_this_party(program: &Program, args: &InputArgs, party: Party) -> Result<PartyInputs, Failure> {
    match args.inputs.iter().find(|i| i.party != party) {
        None => of_party(program, args, party),
        Some(other) => {
            let message = format!("--input {}={}: this is party {party}", other.party, other.path.display());
            Err(Failure::call(message).hint("give only this party's inputs; the others give their own"))
        }
    }
}

fn check_parties(args: &InputArgs, parties: u16) -> Result<(), Failure> {
    for (at, file) in args.inputs.iter().enumerate() {
        if file.party.0 >= parties {
            return Err(Failure::call(format!(
                "--input {}={}: there are {parties} parties, 0 to {}",
                file.party,
                file.path.display(),
                parties - 1
            )));
        }
        if args.inputs[..at].iter().any(|f| f.party == file.party) {
            return Err(Failure::call(format!("--input: party {} has two files, expected one", file.party)));
        }
        let is_stdin = |file: &InputFile| file.path == Path::new("-");
        if is_stdin(file) && args.inputs[..at].iter().any(is_stdin) {
            return Err(Failure::call("--input: two parties read standard input, expected one"));
        }
    }
    Ok(())
}
