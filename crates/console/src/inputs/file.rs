//! One file of inputs, in any format.

use std::{io::Read, path::Path};

use garblet::{
    Party, Program,
    circuit::{Input, InputId, Port},
    formats::value::{self, FromTable, Renamed, Table, TableFormat, Unfit, line_of_row},
};

use super::{
    arrange::Unread,
    fasta,
    options::{ColumnOf, InputArgs, InputFormat, PartyInputs},
};
use crate::{failure::Failure, output::tell};

/// The largest accepted input file, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 30;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// The inputs that a party owns, with their indices.
pub(super) fn own(program: &Program, party: Party) -> Vec<(usize, &Input)> {
    program.inputs().iter().enumerate().filter(|(_, input)| input.owner == party).collect()
}

/// The inputs of a party without a file.
///
/// *Errors*: the party needs one.
pub(super) fn none(party: Party, own: &[(usize, &Input)]) -> Result<PartyInputs, Failure> {
    let names: Vec<String> = own.iter().map(|(_, i)| format!("`{}` ({})", i.port.name, i.port.ty)).collect();
    match names.is_empty() {
        true => Ok(Vec::new()),
        false => Err(Failure::call(format!("the inputs of party {party} are missing: {}", names.join(", ")))
            .hint(format!("give --input {party}=FILE.json"))),
    }
}

/// A party's file, to be read by the options.
pub(super) struct Source<'a> {
    pub(super) party: Party,
    /// `-` is standard input.
    pub(super) path: &'a Path,
    name: String,
    format: InputFormat,
    renamed: Vec<Renamed>,
    args: &'a InputArgs,
}

impl<'a> Source<'a> {
    /// A party's file.
    ///
    /// *Errors*: standard input without a format; column names for a file that is not a table, or without a party where several have tables.
    pub(super) fn new(party: Party, path: &'a Path, args: &'a InputArgs) -> Result<Self, Failure> {
        let stdin = path == Path::new("-");
        let name = if stdin { "standard input".into() } else { path.display().to_string() };
        let of_party = |of: Option<Party>| of.is_none_or(|of| of == party);
        let of = |party: Option<Party>| args.formats.iter().find(|of| of.party == party);
        let format = match of(Some(party)).or_else(|| of(None)) {
            Some(asked) => asked.format,
            None if stdin => {
                return Err(Failure::call(format!("--input {party}=-: the format of standard input is unknown"))
                    .hint("give it, for instance --input-format csv"));
            }
            None => InputFormat::of_path(path),
        };
        let named = args.columns.iter().filter(|of| of_party(of.party));
        let renamed: Vec<Renamed> = named.map(|of| of.renamed.clone()).collect();
        let source = Source { party, path, name, format, renamed, args };
        let several = args.inputs.iter().any(|other| other.party != party);
        if let Some(ColumnOf { renamed: Renamed { field, column }, .. }) =
            args.columns.iter().find(|of| of.party.is_none() && several)
        {
            return Err(Failure::call(format!("--column {field}={column}: several parties have inputs here"))
                .hint(format!("name the party: --column {party}:{field}={column}")));
        }
        match (&source.renamed[..], format) {
            ([Renamed { field, column }, ..], InputFormat::Json | InputFormat::Fasta) => {
                Err(Failure::call(format!("--column {field}={column}: {} is not a table", source.name))
                    .hint("tables are CSV, JSON lines, Arrow and Parquet files"))
            }
            _ => Ok(source),
        }
    }

    /// Reads the values of all inputs that the party owns.
    ///
    /// *Errors*: the file cannot be read; any mistake in it.
    pub(super) fn read(&self, program: &Program, own: &[(usize, &Input)]) -> Result<PartyInputs, Unread> {
        let bytes = self.bytes()?;
        match self.format {
            InputFormat::Json => of_json(program, self.party, (&self.name, self.text(&bytes)?), self.args),
            InputFormat::Fasta => Ok(fasta::read(&self.name, own, self.text(&bytes)?)?),
            InputFormat::Table(format) => {
                let [(at, input)] = own else {
                    let (party, count) = (self.party, own.len());
                    let message = format!("{}: a table is for one input, party {party} has {count}", self.name);
                    return Err(Failure::call(message).hint("give the inputs as JSON").into());
                };
                let texts = with_texts(program, self.args)?;
                let port = texts.as_ref().map_or(&input.port, |texts| &texts.inputs()[*at].port);
                let table = self.table(format, &bytes).port(port).map_err(Failure::diagnosed)?;
                let (values, lines) = self.told(table);
                let line = |unfit: &Unfit| lines.get(unfit.row - 1).copied();
                arranged(program, &self.name, vec![(InputId(*at as u32), values)], self.args, line)
            }
        }
    }

    /// Reads the values of all inputs that the party owns, one row of a table per evaluation.
    ///
    /// *Errors*: as [`Source::read`]; the file is not a table.
    pub(super) fn read_rows(&self, program: &Program, own: &[(usize, &Input)]) -> Result<(PartyInputs, u32), Failure> {
        let InputFormat::Table(format) = self.format else {
            return Err(Failure::call(format!("--batch rows: {} is not a table", self.name)).hint(
                "tables are CSV, JSON lines, Arrow and Parquet files; --batch files takes one file per evaluation",
            ));
        };
        let bytes = self.bytes()?;
        let texts = with_texts(program, self.args)?;
        let all = texts.as_ref().unwrap_or(program).inputs();
        let ports: Vec<&Port> = own.iter().map(|(at, _)| &all[*at].port).collect();
        let table = self.table(format, &bytes).rows(&ports).map_err(Failure::diagnosed)?;
        let ((rows, values), lines) = self.told(table);
        let ids = own.iter().map(|(at, _)| InputId(*at as u32));
        let line = |unfit: &Unfit| lines.get(unfit.run.unwrap_or(1) - 1).copied();
        let inputs = arranged(program, &self.name, ids.zip(values).collect(), self.args, line);
        let inputs = inputs.map_err(Unread::failure)?;
        Ok((inputs, rows))
    }

    fn table<'t>(&'t self, format: TableFormat, bytes: &'t [u8]) -> Table<'t> {
        Table { file: &self.name, format, bytes, renamed: &self.renamed }
    }

    /// The values of a table and the lines of its rows. Prints which columns were left out and the units of numbers.
    fn told<T>(&self, FromTable { values, ignored, units, lines }: FromTable<T>) -> (T, Vec<u64>) {
        if !ignored.is_empty() {
            let columns: Vec<String> = ignored.iter().map(|name| format!("`{name}`")).collect();
            tell(&format!("note: {}: columns not used by the program: {}", self.name, columns.join(", ")));
        }
        for (column, unit) in units {
            tell(&format!("note: {}: column `{column}` is read as {unit}", self.name));
        }
        (values, lines)
    }

    fn bytes(&self) -> Result<Vec<u8>, Failure> {
        let unreadable = |error: std::io::Error| match self.path == Path::new("-") {
            true => Failure::call(format!("standard input: cannot be read: {}", crate::failure::reason(&error))),
            false => Failure::unreadable(self.path, &error),
        };
        let mut bytes = Vec::new();
        let mut reader: Box<dyn Read> = match self.path == Path::new("-") {
            true => Box::new(std::io::stdin().lock()),
            false => Box::new(std::fs::File::open(self.path).map_err(unreadable)?),
        };
        reader.by_ref().take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        match bytes.len() as u64 <= FILE_BYTES_MAX {
            true => Ok(bytes),
            false => Err(Failure::call(format!("{}: more than {FILE_BYTES_MAX} bytes", self.name))),
        }
    }

    fn text<'t>(&self, bytes: &'t [u8]) -> Result<&'t str, Failure> {
        let text = std::str::from_utf8(bytes);
        let text = text.map_err(|_| Failure::call(format!("{}: cannot be read: not UTF-8 text", self.name)))?;
        // Some editors and spreadsheets write this byte order mark.
        Ok(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text))
    }
}

/// The inputs of a party from JSON text.
///
/// *Errors*: any mistake in it.
pub fn of_json(
    program: &Program,
    party: Party,
    (name, text): (&str, &str),
    args: &InputArgs,
) -> Result<PartyInputs, Unread> {
    let texts = with_texts(program, args)?;
    let read = value::read_inputs(texts.as_ref().unwrap_or(program), party, name, text);
    let line = |unfit: &Unfit| line_of_row(text, &unfit.input, unfit.row);
    arranged(program, name, read.map_err(Failure::diagnosed)?, args, line)
}

/// The program with text keys where keys are hashed, if any are.
fn with_texts(program: &Program, args: &InputArgs) -> Result<Option<Program>, Failure> {
    let texts = args.keys.as_ref().map(|keys| keys.texts(program)).transpose();
    texts.map_err(|error| Failure::call(format!("--hash-keys: {error}")))
}

/// The inputs with text keys hashed, and with lists in order where the program relies on it.
fn arranged(
    program: &Program,
    name: &str,
    mut inputs: PartyInputs,
    args: &InputArgs,
    line: impl Fn(&Unfit) -> Option<u64>,
) -> Result<PartyInputs, Unread> {
    let hashed = args.keys.as_ref().map_or(Ok(()), |keys| keys.hash(program, &mut inputs));
    hashed.map_err(|unfit| args.arrange.unread(&unfit, name, line(&unfit)))?;
    args.arrange.arrange(name, program, &mut inputs, line)?;
    Ok(inputs)
}
