//! One file of inputs, in whatever format it is.

use std::{ffi::OsStr, io::Read, path::Path, str::FromStr};

use garblet_circuit::{Input, InputId, Party, Program};
use garblet_formats::value::{self, FromTable, Renamed, Table, TableFormat};

use super::{PartyInputs, fasta};
use crate::{
    args::{InputArgs, pair},
    failure::Failure,
    output::tell,
};

/// The largest input file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 30;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// The format of an input file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputFormat {
    /// `{"port": value}`.
    Json,
    /// A sequence of nucleotides.
    Fasta,
    /// Rows.
    Table(TableFormat),
}

impl InputFormat {
    /// The format that a file's ending asks for, JSON if nothing else.
    fn of_path(path: &Path) -> Self {
        match path.extension().and_then(OsStr::to_str) {
            Some("fasta" | "fa" | "fna") => InputFormat::Fasta,
            _ => TableFormat::of_path(path).map_or(InputFormat::Json, InputFormat::Table),
        }
    }
}

impl FromStr for InputFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "json" => Ok(InputFormat::Json),
            "fasta" => Ok(InputFormat::Fasta),
            _ => text.parse().map(InputFormat::Table).map_err(|()| {
                let tables: Vec<&str> = TableFormat::ALL.iter().map(|(_, endings)| endings[0]).collect();
                format!("unknown format `{text}`, expected json, {} or fasta", tables.join(", "))
            }),
        }
    }
}

/// `[K=]FORMAT`: the format of party K's inputs, or of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FormatOf {
    party: Option<Party>,
    format: InputFormat,
}

impl FromStr for FormatOf {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (party, format) = match text.split_once('=') {
            Some((party, format)) => (Some(read_party(party)?), format),
            None => (None, text),
        };
        Ok(FormatOf { party, format: format.parse()? })
    }
}

/// `[K:]FIELD=COLUMN`: the column that a field of party K's table is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ColumnOf {
    party: Option<Party>,
    renamed: Renamed,
}

impl FromStr for ColumnOf {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (field, column) = pair(text, "FIELD=COLUMN, for instance id=customer_id, or K:FIELD=COLUMN")?;
        let (party, field) = match field.split_once(':') {
            Some((party, field)) => (Some(read_party(party)?), field.into()),
            None => (None, field),
        };
        Ok(ColumnOf { party, renamed: Renamed { field, column } })
    }
}

fn read_party(text: &str) -> Result<Party, String> {
    text.parse().map(Party).map_err(|_| format!("`{text}` is no party, expected a number from 0 on"))
}

/// A file of a party, to be read as the options say.
pub(super) struct Source<'a> {
    pub(super) party: Party,
    /// `-` is standard input.
    pub(super) path: &'a Path,
    name: String,
    format: InputFormat,
    renamed: Vec<Renamed>,
}

impl<'a> Source<'a> {
    /// A party's file.
    ///
    /// *Errors*: standard input without a format, and names of columns for what is no table, or for nobody knows whose.
    pub(super) fn new(party: Party, path: &'a Path, args: &InputArgs) -> Result<Self, Failure> {
        let stdin = path == Path::new("-");
        let name = if stdin { "standard input".into() } else { path.display().to_string() };
        let of_party = |of: Option<Party>| of.is_none_or(|of| of == party);
        let asked = args.formats.iter().find(|of| of_party(of.party)).map(|of| of.format);
        let format = match asked {
            Some(format) => format,
            None if stdin => {
                return Err(Failure::call(format!("--input {party}=-: the format of standard input is not known"))
                    .hint("name it, for instance --input-format csv"));
            }
            None => InputFormat::of_path(path),
        };
        let named = args.columns.iter().filter(|of| of_party(of.party));
        let renamed: Vec<Renamed> = named.map(|of| of.renamed.clone()).collect();
        let source = Source { party, path, name, format, renamed };
        let several = args.inputs.iter().any(|other| other.party != party);
        if let Some(ColumnOf { renamed: Renamed { field, column }, .. }) =
            args.columns.iter().find(|of| of.party.is_none() && several)
        {
            return Err(Failure::call(format!("--column {field}={column}: several parties give inputs here"))
                .hint(format!("say whose it is: --column {party}:{field}={column}")));
        }
        match (&source.renamed[..], format) {
            ([Renamed { field, column }, ..], InputFormat::Json | InputFormat::Fasta) => {
                Err(Failure::call(format!("--column {field}={column}: {} is no table", source.name))
                    .hint("tables are CSV, JSON lines, Arrow and Parquet files"))
            }
            _ => Ok(source),
        }
    }

    /// Reads the values of all inputs that the party owns.
    ///
    /// *Errors*: a file that cannot be read, and whatever is wrong in it.
    pub(super) fn read(&self, program: &Program, own: &[(usize, &Input)]) -> Result<PartyInputs, Failure> {
        let bytes = self.bytes()?;
        match self.format {
            InputFormat::Json => {
                value::read_inputs(program, self.party, &self.name, self.text(&bytes)?).map_err(Failure::diagnosed)
            }
            InputFormat::Fasta => fasta::read(&self.name, own, self.text(&bytes)?),
            InputFormat::Table(format) => {
                let [(at, input)] = own else {
                    let (party, count) = (self.party, own.len());
                    let message = format!("{}: a table is for one input, party {party} has {count}", self.name);
                    return Err(Failure::call(message).hint("give the inputs as JSON"));
                };
                let table = self.table(format, &bytes).port(&input.port).map_err(Failure::diagnosed)?;
                Ok(vec![(InputId(*at as u32), self.told(table))])
            }
        }
    }

    fn table<'t>(&'t self, format: TableFormat, bytes: &'t [u8]) -> Table<'t> {
        Table { file: &self.name, format, bytes, renamed: &self.renamed }
    }

    /// The values of a table, after saying what was left out.
    fn told<T>(&self, FromTable { values, ignored }: FromTable<T>) -> T {
        if !ignored.is_empty() {
            let columns: Vec<String> = ignored.iter().map(|name| format!("`{name}`")).collect();
            tell(&format!("note: {}: left out, since nothing takes them: {}", self.name, columns.join(", ")));
        }
        values
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
        let text = text.map_err(|_| Failure::call(format!("{}: cannot be read: it is no text in UTF-8", self.name)))?;
        // Some editors and spreadsheets begin a text so.
        Ok(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_and_columns_are_read_with_and_without_a_party() {
        let of = |text: &str| text.parse::<FormatOf>().map(|of| (of.party.map(|p| p.0), of.format));
        assert_eq!(of("csv"), Ok((None, InputFormat::Table(TableFormat::Csv))));
        assert_eq!(of("1=parquet"), Ok((Some(1), InputFormat::Table(TableFormat::Parquet))));
        assert_eq!(of("ndjson"), Ok((None, InputFormat::Table(TableFormat::JsonLines))));
        assert_eq!(of("xls").unwrap_err(), "unknown format `xls`, expected json, csv, jsonl, arrow, parquet or fasta");
        let column = |text: &str| {
            text.parse::<ColumnOf>().map(|of| (of.party.map(|p| p.0), of.renamed.field, of.renamed.column))
        };
        assert_eq!(column("id=customer id"), Ok((None, "id".into(), "customer id".into())));
        assert_eq!(column("0:a.zip=x=y"), Ok((Some(0), "a.zip".into(), "x=y".into())));
        assert_eq!(column("b:a=x").unwrap_err(), "`b` is no party, expected a number from 0 on");
        assert!(column("id").unwrap_err().starts_with("expected FIELD=COLUMN"));
    }
}
