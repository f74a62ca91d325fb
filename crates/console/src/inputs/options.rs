//! The options for inputs.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    str::FromStr,
};

use garblet::{
    Bits, Party,
    circuit::InputId,
    formats::value::{KeyForm, KeyHash, Renamed, TableFormat},
};

use super::arrange::ArrangeArgs;
use crate::{
    args::{pair, read_party},
    failure::Failure,
};

/// One party's inputs, in the program's order.
pub type PartyInputs = Vec<(InputId, Bits)>;

/// The inputs.
#[derive(clap::Args, Clone, Default)]
pub struct InputArgs {
    /// Read the inputs of party K from a file: JSON {"port": value}; or for an array, a table in CSV, JSON lines, Arrow or Parquet, or FASTA; - is standard input
    #[arg(long = "input", value_name = "K=FILE")]
    pub inputs: Vec<InputFile>,
    /// Read a field from this column of the table; K: is needed if several parties give inputs
    #[arg(long = "column", value_name = "[K:]FIELD=COLUMN")]
    pub columns: Vec<ColumnOf>,
    /// The format of the inputs; K= limits it to one party [default: by the file's ending]
    #[arg(long = "input-format", value_name = "[K=]FORMAT")]
    pub formats: Vec<FormatOf>,
    /// Evaluate the program many times in one run: for each row of the tables, or for each file (several files, or a folder); N if this party has no inputs
    #[arg(long, value_name = "rows|files|N")]
    pub batch: Option<Batch>,
    /// The order and length of lists.
    #[command(flatten)]
    pub arrange: ArrangeArgs,
    /// Accept texts as the keys of lists, normalise them and hash them: text, email or uuid; between parties a job sets this
    #[arg(long, value_name = "FORM")]
    pub hash_keys: Option<KeyForm>,
    /// The agreed hash of keys.
    #[arg(skip)]
    pub keys: Option<KeyHash>,
}

/// The source of a batch's evaluations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batch {
    /// One per row of a table.
    Rows,
    /// One per file.
    Files,
    /// This number, because the other parties have the inputs.
    Count(u32),
}

impl FromStr for Batch {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "rows" => Ok(Batch::Rows),
            "files" => Ok(Batch::Files),
            _ => match text.parse() {
                Ok(0) | Err(_) => Err("expected `rows`, `files`, or a number of rows".into()),
                Ok(rows) => Ok(Batch::Count(rows)),
            },
        }
    }
}

/// `K=FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// The party that gives the inputs.
    pub party: Party,
    /// The file.
    pub path: PathBuf,
}

impl FromStr for InputFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (party, path) = pair(text, "K=FILE, for instance 0=alice.json")?;
        Ok(InputFile { party: read_party(&party)?, path: path.into() })
    }
}

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
    /// The format for a file's extension, by default JSON.
    pub(super) fn of_path(path: &Path) -> Self {
        match path.extension().and_then(OsStr::to_str) {
            Some("fasta" | "fa" | "fna") => InputFormat::Fasta,
            Some("tsv") => InputFormat::Table(TableFormat::Csv),
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

/// `[K=]FORMAT`: the format of party K's inputs, or of all inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatOf {
    pub(super) party: Option<Party>,
    pub(super) format: InputFormat,
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

/// `[K:]FIELD=COLUMN`: the column that holds a field of party K's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnOf {
    pub(super) party: Option<Party>,
    pub(super) renamed: Renamed,
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

/// Checks that no party's format is given twice.
///
/// *Errors*: one is.
pub(super) fn check_formats(formats: &[FormatOf]) -> Result<(), Failure> {
    let repeated = |at: &usize| formats[..*at].iter().any(|other| other.party == formats[*at].party);
    match (0..formats.len()).find(repeated).map(|at| formats[at].party) {
        None => Ok(()),
        Some(None) => {
            Err(Failure::call("--input-format: two formats, expected one").hint("give party K's format with K=FORMAT"))
        }
        Some(Some(party)) => Err(Failure::call(format!("--input-format: party {party} has two formats, expected one"))),
    }
}

/// Checks that no field has two columns.
///
/// *Errors*: one has.
pub(super) fn check_columns(columns: &[ColumnOf]) -> Result<(), Failure> {
    let meets = |a: &ColumnOf, b: &ColumnOf| a.party.is_none() || b.party.is_none() || a.party == b.party;
    for (at, column) in columns.iter().enumerate() {
        let field = &column.renamed.field;
        if let Some(other) = columns[..at].iter().find(|other| other.renamed.field == *field && meets(other, column)) {
            let columns = [&other.renamed.column, &column.renamed.column];
            let message = format!("--column: field `{field}` has two columns, `{}` and `{}`", columns[0], columns[1]);
            return Err(Failure::call(message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_batches_are_read() {
        assert_eq!("1=a=b.json".parse(), Ok(InputFile { party: Party(1), path: "a=b.json".into() }));
        assert_eq!("=a.json".parse::<InputFile>().unwrap_err(), "expected K=FILE, for instance 0=alice.json");
        assert_eq!("70000=a".parse::<InputFile>().unwrap_err(), "`70000` is no party, expected a number from 0 on");
        assert_eq!("rows".parse(), Ok(Batch::Rows));
        assert_eq!("7".parse(), Ok(Batch::Count(7)));
        for wrong in ["0", "-1", "row", "4294967296"] {
            assert_eq!(wrong.parse::<Batch>().unwrap_err(), "expected `rows`, `files`, or a number of rows");
        }
    }

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
