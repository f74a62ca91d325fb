//! JSON lines: a line for each row, an object with the columns.

use garblet_circuit::diagnostic::{Diagnostic, Diagnostics, Place};
use jsonc_parser::ast::Value;

use super::columns::Columns;
use crate::{json::JsonText, value::Reader};

/// Reads all rows. Empty lines before the first row and after the last are ignored.
///
/// *Errors*: an empty line between rows, a line that is not an object, columns that are missing, and cells.
pub(super) fn read(file: &str, text: &str, columns: &mut Columns) -> Result<(), Diagnostics> {
    let mut last = None;
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        if let Some(last) = last.replace(at).filter(|last| last + 1 < at) {
            let error = Diagnostic::new(file, "expected a row, got an empty line");
            let error = error.at(Place::in_line(last as u64 + 2, "", 0..0));
            return Err(error.hint("there are no missing values: leave out the line, or fill it in").into());
        }
        if !columns.next() {
            continue;
        }
        let number = at as u64 + 1;
        columns.stands_in(number);
        let placed = |error: Diagnostic| in_line(error, number, line);
        let json = JsonText { file, text: line };
        let value = json.parse().map_err(placed)?;
        let reader = Reader { json };
        // A row of one value needs no name for it.
        if let Some(field) = columns.only().filter(|field| !has_member(&value, columns.column_of(field))) {
            columns.name(&[columns.column_of(field)], None)?;
            columns.row(|_, ty| reader.value("value", &value, ty).map_err(placed))?;
            continue;
        }
        let members = json.members(&value, "row").map_err(placed)?;
        let names: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
        columns.name(&names, Some(&Place::in_line(number, line, 0..line.len())))?;
        columns.row(|place, ty| reader.value("value", &members[place].1.value, ty).map_err(placed))?;
    }
    Ok(())
}

fn has_member(value: &Value, name: &str) -> bool {
    matches!(value, Value::Object(object) if object.properties.iter().any(|property| property.name.as_str() == name))
}

/// A diagnostic about a line, which is read by itself, in its file.
fn in_line(mut error: Diagnostic, number: u64, line: &str) -> Diagnostic {
    match &mut error.place {
        Some(place) => place.line = number,
        None => error.place = Some(Box::new(Place::in_line(number, line, 0..line.len()))),
    }
    error
}
