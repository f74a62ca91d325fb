//! Comma-separated values: the first line names the columns, each further line is a row. Semicolons or tabs may replace commas, as the
//! first line shows.

use csv::{ErrorKind, ReaderBuilder, StringRecord};
use garblet_circuit::diagnostic::{Diagnostic, Diagnostics, Place};

use super::{
    columns::Columns,
    quotes::{self, Misplaced},
};

/// Reads all rows. An empty line after the last row, or among rows of several cells, is not a row.
///
/// *Errors*: quotation marks that open or close no cell, an empty line in the place of a row of one cell, columns that are missing,
/// lines with another number of cells than the first, and cells.
pub(super) fn read(file: &str, text: &str, columns: &mut Columns) -> Result<(), Diagnostics> {
    let table = Text { file, text, separator: separator(text) };
    let empty = quotes::check(text, table.separator).map_err(|misplaced| table.misplaced(misplaced))?;
    let mut reader =
        ReaderBuilder::new().delimiter(table.separator).trim(csv::Trim::Headers).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| table.malformed(&error))?.clone();
    let names: Vec<&str> = header.iter().collect();
    if let (Some(empty), [_]) = (empty, &names[..]) {
        let error = Diagnostic::new(file, "expected a row, got an empty line").at(Place::in_text(text, empty));
        return Err(error.hint("there are no missing values: leave out the row, or fill it in").into());
    }
    let line = table.line(1);
    columns.name(&names, Some(&Place::in_line(1, line, 0..line.len())))?;
    for row in reader.records() {
        let row = row.map_err(|error| table.malformed(&error))?;
        if columns.next() {
            columns.stands_in(table.number(&row));
            columns.row(|place, ty| {
                let cell = row.get(place).unwrap_or_default();
                let value = super::text_cell(cell, ty);
                value.map_err(|error| Diagnostic { place: None, ..error }.at(table.place(&row, place)))
            })?;
        }
    }
    Ok(())
}

/// A CSV text, for messages.
struct Text<'a> {
    file: &'a str,
    text: &'a str,
    separator: u8,
}

/// The character between cells: the only one among commas, semicolons and tabs that the first line has outside of quotation marks, else a comma.
fn separator(text: &str) -> u8 {
    let line = text.lines().find(|line| !line.is_empty()).unwrap_or_default();
    let (mut quoted, mut found) = (false, [false; SEPARATORS.len()]);
    for byte in line.bytes() {
        quoted ^= byte == b'"';
        let known = SEPARATORS.iter().position(|(separator, _)| *separator == byte).filter(|_| !quoted);
        known.into_iter().for_each(|place| found[place] = true);
    }
    let mut all = SEPARATORS.iter().zip(found).filter(|(_, found)| *found).map(|((separator, _), _)| *separator);
    match (all.next(), all.next()) {
        (Some(one), None) => one,
        _ => b',',
    }
}

/// The characters that may separate cells, with their names.
const SEPARATORS: [(u8, &str); 3] = [(b',', "comma"), (b';', "semicolon"), (b'\t', "tab")];

impl Text<'_> {
    fn line(&self, number: u64) -> &str {
        self.text.lines().nth(number as usize - 1).unwrap_or_default()
    }

    /// The number of a row's first line: empty lines before it belong to it.
    fn number(&self, row: &StringRecord) -> u64 {
        let Some(position) = row.position() else { return 1 };
        let before = self.text.as_bytes().get(position.byte() as usize..).unwrap_or_default();
        let empty =
            before.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).filter(|byte| **byte == b'\n').count();
        position.line().max(1) + empty as u64
    }

    /// A cell's place: cells are searched in the row's first line one after another.
    fn place(&self, row: &StringRecord, column: usize) -> Place {
        let number = self.number(row);
        let line = self.line(number);
        let mut at = 0..0;
        for (k, cell) in row.iter().enumerate().take(column + 1) {
            let from = match line[at.end..].find(char::from(self.separator)) {
                Some(separator) if k > 0 => at.end + separator + 1,
                _ => at.end,
            };
            let cell = cell.trim();
            match line[from..].find(cell) {
                Some(found) => at = from + found..from + found + cell.len(),
                None => break,
            }
        }
        Place::in_line(number, line, at)
    }

    fn misplaced(&self, misplaced: Misplaced) -> Diagnostic {
        let name = SEPARATORS.iter().find(|(separator, _)| *separator == self.separator).map_or("", |(_, name)| name);
        let behind = format!("expected a {name} or the end of the line after a cell in quotation marks");
        let (message, at, hint) = match misplaced {
            Misplaced::Open(at) => (
                "a quotation mark opens a cell that is never closed",
                at,
                "inside a cell in quotation marks, write two for one; elsewhere one is enough",
            ),
            Misplaced::Behind(at) => (&behind[..], at, "inside a cell in quotation marks, write two for one"),
            Misplaced::Blank(at) => {
                ("a quotation mark with blanks before it opens no cell", at, "leave out the blanks")
            }
        };
        Diagnostic::new(self.file, message).at(Place::in_text(self.text, at)).hint(hint)
    }

    fn malformed(&self, error: &csv::Error) -> Diagnostic {
        match error.kind() {
            ErrorKind::UnequalLengths { pos: Some(position), expected_len, len } => {
                let number = position.line().max(1);
                let line = self.line(number);
                Diagnostic::new(self.file, format!("expected {expected_len} cells, got {len}"))
                    .at(Place::in_line(number, line, 0..line.len()))
                    .hint("every line has as many cells as the first one, which names the columns")
            }
            _ => Diagnostic::new(self.file, format!("is not CSV: {error}")),
        }
    }
}
