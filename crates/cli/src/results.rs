//! Writes results to standard output or to files.

use std::{
    io::Write,
    path::{Path, PathBuf},
    str::FromStr,
};

use garblet::{
    Bits, Program,
    circuit::{Output, Port, Type},
    formats::value::{self, ResultTable, TableFormat},
    row_panics,
};
use garblet_console::{
    failure::{Failure, reason},
    output::print,
    report::{outputs_text, results},
    whole_file::{self, Readers, folder_of},
};
use serde_json::{Map, Value};

/// The options that say where results go.
#[derive(clap::Args)]
pub(crate) struct OutputArgs {
    /// Write results to a file: all outputs, or the output NAME, as JSON or as a table in CSV, JSON lines, Arrow or Parquet
    #[arg(long = "output", value_name = "[NAME=]FILE")]
    files: Vec<OutputFile>,
    /// The format of results [default: by the file's ending]
    #[arg(long = "output-format", value_name = "FORMAT")]
    format: Option<OutputFormat>,
}

/// `[NAME=]FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OutputFile {
    name: Option<String>,
    path: PathBuf,
}

impl FromStr for OutputFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_name = |name: &str| !name.is_empty() && !name.contains(['/', '\\', '.']);
        match text.split_once('=') {
            Some((name, path)) if is_name(name) && !path.is_empty() => {
                Ok(OutputFile { name: Some(name.into()), path: path.into() })
            }
            _ => Ok(OutputFile { name: None, path: text.into() }),
        }
    }
}

/// A format of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputFormat {
    /// One value: an object of outputs by name, or for a batch an array of them.
    Json,
    Table(TableFormat),
}

impl OutputFormat {
    fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "json" => Some(OutputFormat::Json),
            _ => TableFormat::of_path(path).map(OutputFormat::Table),
        }
    }
}

impl FromStr for OutputFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "json" => Ok(OutputFormat::Json),
            _ => text.parse().map(OutputFormat::Table).map_err(|()| {
                let tables: Vec<&str> = TableFormat::ALL.iter().map(|(_, endings)| endings[0]).collect();
                format!("unknown format `{text}`, expected json, {}", tables.join(", "))
            }),
        }
    }
}

/// An output, and its value if known.
type Known<'a> = Vec<(&'a Output, Option<&'a Bits>)>;

impl OutputArgs {
    /// Checks before a run that its results can be written as requested; `learned` tells which outputs will be known.
    ///
    /// *Errors*: unknown names, outputs that will not be known, unsuitable formats.
    pub(crate) fn check(
        &self,
        program: &Program,
        batch: bool,
        learned: impl Fn(&Output) -> bool,
    ) -> Result<(), Failure> {
        let all: Vec<&Output> = garblet::results(program).map(|(_, output)| output).collect();
        let outputs: Known = all.iter().filter(|output| learned(output)).map(|output| (*output, None)).collect();
        for file in &self.files {
            let format = self.format_of(&file.path)?;
            if let OutputFormat::Table(format) = format {
                format.check_built(&file.path.display().to_string()).map_err(Failure::diagnosed)?;
            }
            std::fs::metadata(folder_of(&file.path)).map_err(|error| {
                let path = file.path.display();
                Failure::call(format!("--output {path}: the folder cannot be used: {}", reason(&error)))
            })?;
            if let Some(name) = &file.name
                && !outputs.iter().any(|(output, _)| output.port.name == *name)
            {
                let is_one = all.iter().any(|output| output.port.name == *name);
                let why = if is_one { "no party here learns output" } else { "the program has no output" };
                let known: Vec<&str> = outputs.iter().map(|(output, _)| &output.port.name[..]).collect();
                let message = format!("--output {name}={}: {why} `{name}`", file.path.display());
                return Err(Failure::call(message).hint(format!("available: {}", known.join(", "))));
            }
            if matches!(format, OutputFormat::Table(_)) && !batch {
                rows_of(&chosen(&outputs, file))?;
            }
        }
        match (&self.files[..], self.format) {
            ([], Some(OutputFormat::Table(format))) if !is_text(format) => {
                Err(Failure::call("--output-format: standard output is for text").hint("give --output FILE"))
            }
            ([], Some(OutputFormat::Table(_))) if !batch => rows_of(&outputs).map(drop),
            _ => Ok(()),
        }
    }

    /// Writes the results to files, and prints the rest.
    ///
    /// *Errors*: a file cannot be written; it then stays unchanged.
    pub(crate) fn give(&self, program: &Program, outputs: &[Option<Bits>]) -> Result<(), Failure> {
        self.write_files(program, outputs)?;
        let is_written = |name: &String| self.files.iter().any(|file| file.name.as_ref().is_none_or(|own| own == name));
        let left = program.outputs().iter().zip(outputs);
        let left: Vec<Option<Bits>> =
            left.map(|(output, bits)| bits.clone().filter(|_| !is_written(&output.port.name))).collect();
        let known: Known = results(program, &left).map(|(output, bits)| (output, Some(bits))).collect();
        let lines = program.notes().rows.map(|_| OutputFormat::Table(TableFormat::JsonLines));
        let asked = self.format.filter(|_| self.files.is_empty());
        match asked.or(lines) {
            _ if known.is_empty() => Ok(()),
            Some(format) => {
                let mut text = Vec::new();
                let unwritable = |e: &std::io::Error| Failure::no_result(format!("the results cannot be written: {e}"));
                write((program, outputs), &known, format, &mut text).map_err(|e| e.failure(unwritable))?;
                print(&String::from_utf8_lossy(&text))
            }
            None => print(&outputs_text(program, &left)),
        }
    }

    /// Writes the results to files.
    ///
    /// *Errors*: as [`OutputArgs::give`].
    pub(crate) fn write_files(&self, program: &Program, outputs: &[Option<Bits>]) -> Result<(), Failure> {
        let known: Known = results(program, outputs).map(|(output, bits)| (output, Some(bits))).collect();
        for file in &self.files {
            let format = self.format_of(&file.path)?;
            let fill = |out: &mut (dyn Write + Send)| write((program, outputs), &chosen(&known, file), format, out);
            whole_file::write(&file.path, Readers::Usual, fill)
                .map_err(|unwritten| unwritten.failure(|error| Failure::unwritable(&file.path, error)))?;
        }
        Ok(())
    }

    fn format_of(&self, path: &Path) -> Result<OutputFormat, Failure> {
        self.format.or_else(|| OutputFormat::of_path(path)).ok_or_else(|| {
            Failure::call(format!("--output {}: the extension names no known format", path.display()))
                .hint("use .json, .csv, .jsonl, .arrow or .parquet, or give --output-format")
        })
    }
}

/// The reason that a results file was not written.
enum Unwritten {
    Result(Failure),
    File(std::io::Error),
}

impl Unwritten {
    fn failure(self, of_file: impl FnOnce(&std::io::Error) -> Failure) -> Failure {
        match self {
            Unwritten::Result(failure) => failure,
            Unwritten::File(error) => of_file(&error),
        }
    }
}

impl From<std::io::Error> for Unwritten {
    fn from(error: std::io::Error) -> Self {
        Unwritten::File(error)
    }
}

impl From<Failure> for Unwritten {
    fn from(failure: Failure) -> Self {
        Unwritten::Result(failure)
    }
}

fn is_text(format: TableFormat) -> bool {
    matches!(format, TableFormat::Csv | TableFormat::JsonLines)
}

/// The outputs that go to a file.
fn chosen<'a>(outputs: &Known<'a>, file: &OutputFile) -> Known<'a> {
    let goes = |output: &Output| file.name.as_ref().is_none_or(|name| *name == output.port.name);
    outputs.iter().filter(|(output, _)| goes(output)).copied().collect()
}

/// The output whose elements are the rows of a table; `None` if the run's outputs form one row.
///
/// *Errors*: several outputs, some with their own rows.
fn rows_of<'a>(outputs: &Known<'a>) -> Result<Option<(&'a Output, Option<&'a Bits>)>, Failure> {
    let is_table = |output: &Output| matches!(output.port.ty, Type::Array(..) | Type::List(..));
    match outputs[..] {
        [one] => Ok(Some(one).filter(|(output, _)| is_table(output))),
        _ => match outputs.iter().find(|(output, _)| is_table(output)) {
            None => Ok(None),
            Some((output, _)) => {
                let names: Vec<&str> = outputs.iter().map(|(output, _)| &output.port.name[..]).collect();
                Err(Failure::call(format!("a file holds one table, but the outputs are {}", names.join(", ")))
                    .hint(format!("choose one: --output {}=FILE; or write all as JSON", output.port.name)))
            }
        },
    }
}

/// Writes the known outputs among all outputs of a run.
fn write(
    (program, outputs): (&Program, &[Option<Bits>]),
    known: &Known,
    format: OutputFormat,
    out: &mut (dyn Write + Send),
) -> Result<(), Unwritten> {
    let rows = program.notes().rows;
    let runs = || {
        let columns: Vec<(&str, &Type, &Bits)> = known
            .iter()
            .filter_map(|(output, bits)| match (&output.port.ty, rows) {
                (Type::Array(each, _), Some(_)) => Some((&output.port.name[..], &**each, (*bits)?)),
                (ty, _) => Some((&output.port.name[..], ty, (*bits)?)),
            })
            .collect();
        let count = rows.unwrap_or(1);
        let table = match &columns[..] {
            // If the output is a record, its fields are the columns.
            [(name, ty @ Type::Record(_), bits)] => {
                ResultTable::of_elements(&Port::new(*name, Type::Array(Box::new((*ty).clone()), count)), bits)
            }
            _ => None,
        };
        let table = table.unwrap_or_else(|| ResultTable::of_runs(columns.into_iter(), count as usize));
        match row_panics(program, outputs) {
            Some(panics) => table.with_panics(panics),
            None => table,
        }
    };
    let written = match (format, rows) {
        (OutputFormat::Json, Some(_)) => writeln!(out, "{:#}", runs().objects().collect::<Value>()),
        (OutputFormat::Json, None) => {
            let member = |(output, bits): &(&Output, Option<&Bits>)| {
                bits.map(|bits| (output.port.name.clone(), value::to_json(&output.port.ty, bits)))
            };
            writeln!(out, "{:#}", Value::Object(known.iter().filter_map(member).collect::<Map<_, _>>()))
        }
        (OutputFormat::Table(format), Some(_)) => runs().write(format, out),
        (OutputFormat::Table(format), None) => match rows_of(known)? {
            Some((output, Some(bits))) => {
                let none = || Failure::no_result(format!("output `{}` is not a list of its type", output.port.name));
                ResultTable::of_elements(&output.port, bits).ok_or_else(none)?.write(format, out)
            }
            _ => runs().write(format, out),
        },
    };
    Ok(written?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_before_the_file_selects_an_output() {
        let of = |text: &str| text.parse::<OutputFile>().map(|file| (file.name, file.path.display().to_string()));
        assert_eq!(of("a.csv"), Ok((None, "a.csv".into())));
        assert_eq!(of("matches=a.csv"), Ok((Some("matches".into()), "a.csv".into())));
        assert_eq!(of("./x=y.csv"), Ok((None, "./x=y.csv".into())));
        assert_eq!(
            "xls".parse::<OutputFormat>().unwrap_err(),
            "unknown format `xls`, expected json, csv, jsonl, arrow, parquet"
        );
    }
}
