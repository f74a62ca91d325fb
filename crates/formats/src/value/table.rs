//! Tables in users' files: a row for each element of an array, or for each run of a batch.
//!
//! A column has the value of a field. Columns may come in any order; a field may be read from a column of another name; columns
//! that no field reads are ignored and reported. A field that is a record may be one column, or one for each of its own fields, as
//! `address.zip`. A cell is a value as in JSON; in CSV, Arrow and Parquet, texts need no quotation marks. The cells of bytes are texts,
//! including blanks and quotation marks; in CSV, those that begin with a bracket, or for `bytes` with `0x`, are JSON values.

#[cfg(feature = "arrow")]
mod arrow;
mod columns;
mod csv;
mod json_lines;
mod quotes;

use std::{path::Path, str::FromStr};

use garblet_circuit::{
    Bits, Port, Type,
    diagnostic::{Diagnostic, Diagnostics},
};

use self::columns::Columns;
use super::{
    parse::{FRACTION_HINT, is_text},
    read_value,
};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// A file format of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Comma-separated values: the first line names the columns.
    Csv,
    /// JSON lines: an object for each row.
    JsonLines,
    /// Arrow IPC: a file, or a stream.
    Arrow,
    /// Parquet.
    Parquet,
}

impl TableFormat {
    /// All formats, with the endings of their files; the first one is the format's name.
    pub const ALL: &[(TableFormat, &[&str])] = &[
        (TableFormat::Csv, &["csv"]),
        (TableFormat::JsonLines, &["jsonl", "ndjson"]),
        (TableFormat::Arrow, &["arrow", "arrows", "feather", "ipc"]),
        (TableFormat::Parquet, &["parquet"]),
    ];

    /// Checks that this build reads and writes the format: Arrow and Parquet need the feature `arrow`.
    ///
    /// *Errors*: a format that it lacks, with the name of the file that needs it.
    pub fn check_built(self, file: &str) -> Result<(), Diagnostic> {
        self.check_in_build(file, cfg!(feature = "arrow"))
    }

    /// The same for a build with or without Arrow and Parquet.
    fn check_in_build(self, file: &str, has_arrow: bool) -> Result<(), Diagnostic> {
        match self {
            TableFormat::Csv | TableFormat::JsonLines => Ok(()),
            _ if has_arrow => Ok(()),
            TableFormat::Arrow | TableFormat::Parquet => {
                let hint = "build the command with `--features parquet`, or use CSV or JSON lines";
                Err(Diagnostic::new(file, "this build has no Arrow and Parquet").hint(hint))
            }
        }
    }

    /// The format for a file's extension.
    pub fn of_path(path: &Path) -> Option<TableFormat> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        ending.parse().ok()
    }
}

impl FromStr for TableFormat {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let found = TableFormat::ALL.iter().find(|(_, endings)| endings.contains(&text));
        found.map(|(format, _)| *format).ok_or(())
    }
}

/// The column that a field is read from, if it has another name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// The field, or `field.inner`.
    pub field: String,
    /// The column.
    pub column: String,
}

/// A table that has not been read yet.
#[derive(Clone, Copy)]
pub struct Table<'a> {
    /// The file's name, for messages.
    pub file: &'a str,
    /// Its format.
    pub format: TableFormat,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Columns whose names are not those of fields.
    pub renamed: &'a [Renamed],
}

/// The values of a table, and the columns that were left out.
pub struct FromTable<T> {
    /// The values.
    pub values: T,
    /// Columns that no field read, in order.
    pub ignored: Vec<String>,
    /// The units of columns of dates, times and durations, which are read as the integers that they are stored as.
    pub units: Vec<(String, &'static str)>,
    /// The line of each row, in files that have lines.
    pub lines: Vec<u64>,
}

/// The rows of a table, in bits.
struct Rows {
    /// The rows that were read, one after another.
    bits: Bits,
    /// The number of all rows, read or not.
    count: u64,
    ignored: Vec<String>,
    units: Vec<(String, &'static str)>,
    lines: Vec<u64>,
}

impl Table<'_> {
    /// Reads the value of an array or a list: a row for each element. A list may have fewer than it has room for.
    ///
    /// For an array of records there is a column for each field; for other arrays there is one column, named like the port.
    ///
    /// *Errors*: a port that is neither, a column that is missing, another number of rows than elements, more than a list has
    /// room for, and cells that are not values of their field's type, many at once.
    pub fn port(&self, port: &Port) -> Result<FromTable<Bits>, Diagnostics> {
        let (Type::Array(element, count) | Type::List(element, count)) = &port.ty else {
            let message = format!("a table is for an array, input `{}` is {}", port.name, port.ty);
            return Err(Diagnostic::new(self.file, message).hint("give the input as JSON").into());
        };
        let wanted = match &**element {
            Type::Record(fields) => fields.iter().map(|(name, ty)| (name.as_str(), ty)).collect(),
            other => vec![(port.name.as_str(), other)],
        };
        let Rows { bits, count: rows, ignored, units, lines } = self.read(wanted, (*count).into())?;
        let is_list = matches!(port.ty, Type::List(..));
        let most = u64::from(*count);
        if rows > most || rows < most && !is_list {
            // The length of a list is a part of its value.
            let (least, got) = if is_list { ("at most ", "more".into()) } else { ("", rows.to_string()) };
            let message = format!("input `{}` is {}, expected {least}{count} rows, got {got}", port.name, port.ty);
            let error = Diagnostic::new(self.file, message);
            return Err(match self.format {
                TableFormat::Csv => error.hint("the first line, which names the columns, is not a row").into(),
                _ => error.into(),
            });
        }
        let values = if is_list { super::list::pad(rows as usize, &bits, &port.ty, *count) } else { bits };
        Ok(FromTable { values, ignored, units, lines })
    }

    /// Reads the values of inputs for many runs: a row for each run, with a column for each input. The columns of one input that is
    /// a record are its fields. The values of an input are those of all rows, one after another.
    ///
    /// *Errors*: as [`Table::port`], and too many rows to number.
    pub fn rows(&self, ports: &[&Port]) -> Result<FromTable<(u32, Vec<Bits>)>, Diagnostics> {
        let wanted = match ports {
            [Port { ty: Type::Record(fields), .. }] => fields.iter().map(|(name, ty)| (name.as_str(), ty)).collect(),
            _ => ports.iter().map(|port| (port.name.as_str(), &port.ty)).collect(),
        };
        let Rows { bits, count, ignored, units, lines } = self.read(wanted, u32::MAX.into())?;
        let too_many = || Diagnostic::new(self.file, format!("{count} rows, expected at most {}", u32::MAX));
        let count = u32::try_from(count).map_err(|_| too_many())?;
        let width: usize = ports.iter().map(|port| port.width() as usize).sum();
        let mut start = 0;
        let mut values = Vec::with_capacity(ports.len());
        for port in ports {
            let own = port.width() as usize;
            let mut all = Bits::with_capacity(own * count as usize);
            (0..count as usize).for_each(|row| all.append(&bits.slice(row * width + start, own)));
            values.push(all);
            start += own;
        }
        Ok(FromTable { values: (count, values), ignored, units, lines })
    }

    fn read(&self, wanted: Vec<(&str, &Type)>, most: u64) -> Result<Rows, Diagnostics> {
        let mut columns = Columns::new(self.file, self.renamed, wanted, most);
        match self.format {
            TableFormat::Csv => csv::read(self.file, self.text()?, &mut columns)?,
            TableFormat::JsonLines => json_lines::read(self.file, self.text()?, &mut columns)?,
            #[cfg(feature = "arrow")]
            TableFormat::Arrow => arrow::read_ipc(self.file, self.bytes, &mut columns)?,
            #[cfg(feature = "arrow")]
            TableFormat::Parquet => arrow::read_parquet(self.file, self.bytes, &mut columns)?,
            #[cfg(not(feature = "arrow"))]
            TableFormat::Arrow | TableFormat::Parquet => self.format.check_built(self.file)?,
        }
        columns.finish()
    }

    fn text(&self) -> Result<&str, Diagnostic> {
        let text = std::str::from_utf8(self.bytes);
        let text = text.map_err(|_| Diagnostic::new(self.file, "it is not UTF-8 text"))?;
        // Some editors and spreadsheets begin a text like this.
        Ok(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text))
    }
}

/// The value of a cell without a type: numbers, Booleans, arrays and objects as in JSON, everything else as a string. Blanks
/// around it are left out, unless it is a text.
fn text_cell(text: &str, ty: &Type) -> Result<Bits, Diagnostic> {
    let text = if is_text(ty) { text } else { text.trim() };
    if text.is_empty() && ty.width() > 0 {
        return Err(Diagnostic::new("", format!("expected {ty}, got an empty cell")));
    }
    let is_json = match ty {
        _ if is_text(ty) => text.starts_with(['[', '{']),
        Type::Array(..) | Type::List(..) | Type::Record(_) | Type::Enum(_) => text.starts_with(['[', '{', '"']),
        // The spelling of other tools.
        Type::Bool if ["true", "false"].iter().any(|known| known.eq_ignore_ascii_case(text)) => {
            return read_value("", &text.to_ascii_lowercase(), ty);
        }
        _ => serde_json::from_str::<serde_json::Value>(text).is_ok(),
    };
    let value = match (is_json, ty) {
        (true, _) => read_value("", text, ty),
        (false, Type::Bytes(_)) if !text.starts_with("0x") => typed_text(text, ty),
        (false, _) => read_value("", &serde_json::Value::from(text).to_string(), ty),
    };
    // JSON's forms do not apply in a cell.
    value.map_err(|error| match cell_hint(text, ty) {
        Some(hint) if !error.message.ends_with("out of range") => error.hint(hint),
        _ => error,
    })
}

/// The hint about a number in a cell, where JSON's forms do not apply.
fn cell_hint(text: &str, ty: &Type) -> Option<&'static str> {
    let is_number = text.replace(',', ".").parse::<f64>().is_ok();
    let has_fraction = is_number && text.contains(['.', ',', 'e', 'E']);
    match ty {
        Type::Bits(_) | Type::Unsigned(_) | Type::Signed(_) if has_fraction => Some(FRACTION_HINT),
        Type::Bits(_) | Type::Unsigned(_) | Type::Signed(_) => Some("write a whole number"),
        Type::Fixed(..) if text.contains(',') && is_number => Some("write a decimal point, such as 1.25"),
        _ => None,
    }
}

/// The value of a text, for types that have texts as values.
fn typed_text(text: &str, ty: &Type) -> Result<Bits, Diagnostic> {
    read_value("", &serde_json::json!({ "text": text }).to_string(), ty)
}

#[cfg(test)]
mod tests;
