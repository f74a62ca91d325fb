//! Columns: the one that a field is read from, and the rows that they make.

use garblet_circuit::{
    Bits, Type,
    diagnostic::{Diagnostic, Diagnostics, Place, clip, nearest},
};

use super::{Renamed, Rows};

/// The most cells with an error that are reported.
const MOST_ERRORS: usize = 20;

/// The most columns that are named in a message.
const MOST_NAMES: usize = 20;

/// The requested fields, and what has been read of them.
pub(super) struct Columns<'a> {
    file: &'a str,
    renamed: &'a [Renamed],
    wanted: Vec<(&'a str, &'a Type)>,
    /// The most rows that are read; more are counted.
    most: u64,
    /// The names of the columns that `leaves` is for.
    header: Option<Vec<String>>,
    leaves: Vec<Leaf>,
    bits: Bits,
    rows: u64,
    ignored: Vec<String>,
    units: Vec<(String, &'static str)>,
    lines: Vec<u64>,
    wrong: Vec<Diagnostic>,
}

/// A field that is one cell of each row.
struct Leaf {
    path: String,
    ty: Type,
    place: usize,
}

/// A search for the columns of fields.
struct Search<'a, 'h> {
    file: &'a str,
    renamed: &'a [Renamed],
    header: &'h [&'h str],
    place: Option<&'h Place>,
    leaves: Vec<Leaf>,
    /// The fields that were looked for.
    seen: Vec<String>,
    wrong: Vec<Diagnostic>,
}

impl<'a> Columns<'a> {
    /// Nothing read yet of fields of these names and types.
    pub(super) fn new(file: &'a str, renamed: &'a [Renamed], wanted: Vec<(&'a str, &'a Type)>, most: u64) -> Self {
        let (leaves, bits, ignored, units, lines, wrong) = Default::default();
        Columns { file, renamed, wanted, most, header: None, leaves, bits, rows: 0, ignored, units, lines, wrong }
    }

    /// Finds the fields among columns of these names, which the next rows have; the place is where they are named.
    ///
    /// *Errors*: a field without a column, or with two.
    pub(super) fn name(&mut self, header: &[&str], place: Option<&Place>) -> Result<(), Diagnostics> {
        if self.header.as_ref().is_some_and(|known| known == header) {
            return Ok(());
        }
        let (leaves, seen, wrong) = (Vec::new(), Vec::new(), Vec::new());
        let mut search = Search { file: self.file, renamed: self.renamed, header, place, leaves, seen, wrong };
        for (name, ty) in &self.wanted {
            search.find(name, ty);
        }
        search.check_renamed();
        Diagnostics::check(search.wrong)?;
        self.leaves = search.leaves;
        for (place, name) in header.iter().enumerate() {
            let name = shown(name);
            if !self.leaves.iter().any(|leaf| leaf.place == place) && !self.ignored.contains(&name) {
                self.ignored.push(name);
            }
        }
        self.header = Some(header.iter().map(|name| (*name).into()).collect());
        Ok(())
    }

    /// The one requested field, if it is one cell by itself.
    pub(super) fn only(&self) -> Option<&'a str> {
        match self.wanted[..] {
            [(name, Type::Record(_))] if !self.renamed.iter().any(|r| r.field == name) => None,
            [(name, _)] => Some(name),
            _ => None,
        }
    }

    /// The column that the field is read from if it is one cell.
    pub(super) fn column_of<'f>(&self, field: &'f str) -> &'f str
    where
        'a: 'f,
    {
        column(self.renamed, field)
    }

    /// Returns whether a field is read from the column at that place.
    #[cfg(feature = "arrow")]
    pub(super) fn reads(&self, place: usize) -> bool {
        self.leaves.iter().any(|leaf| leaf.place == place)
    }

    /// Records the units of columns that are read.
    #[cfg(feature = "arrow")]
    pub(super) fn set_units(&mut self, units: Vec<(String, &'static str)>) {
        self.units = units.into_iter().map(|(name, unit)| (shown(&name), unit)).collect();
    }

    /// Counts a row. Returns whether to read it.
    pub(super) fn next(&mut self) -> bool {
        self.rows += 1;
        self.rows <= self.most
    }

    /// Records the line of the row that was counted last.
    pub(super) fn stands_in(&mut self, line: u64) {
        self.lines.push(line);
    }

    /// Reads the row that was counted last, cell by cell at their places.
    ///
    /// *Errors*: too many cells that cannot be read.
    pub(super) fn row(&mut self, cell: impl Fn(usize, &Type) -> Result<Bits, Diagnostic>) -> Result<(), Diagnostics> {
        for leaf in &self.leaves {
            match cell(leaf.place, &leaf.ty) {
                Ok(value) => self.bits.append(&value),
                Err(error) => {
                    let name = &self.header.as_deref().unwrap_or_default()[leaf.place];
                    let of = if *name == leaf.path { String::new() } else { format!(" (field `{}`)", leaf.path) };
                    let message = error.message.strip_prefix("value").unwrap_or(&error.message);
                    let message = message.strip_prefix(": ").unwrap_or(message);
                    let message = format!("row {}, column `{}`{of}: {message}", self.rows, shown(name));
                    self.wrong.push(Diagnostic { file: self.file.into(), message, ..error });
                }
            }
        }
        match self.wrong.len() < MOST_ERRORS {
            true => Ok(()),
            false => Diagnostics::check(std::mem::take(&mut self.wrong)),
        }
    }

    /// The rows.
    ///
    /// *Errors*: the cells that could not be read.
    pub(super) fn finish(self) -> Result<Rows, Diagnostics> {
        Diagnostics::check(self.wrong)?;
        Ok(Rows { bits: self.bits, count: self.rows, ignored: self.ignored, units: self.units, lines: self.lines })
    }
}

impl Search<'_, '_> {
    /// Finds a field: one column, or one for each field of a record.
    fn find(&mut self, path: &str, ty: &Type) {
        let wanted = column(self.renamed, path);
        let mut places = self.header.iter().enumerate().filter(|(_, name)| **name == wanted).map(|(place, _)| place);
        let (first, again) = (places.next(), places.next().is_some());
        self.seen.push(path.into());
        match (first, ty) {
            _ if again => {
                let error = self.error(format!("column `{}` appears twice", shown(wanted)));
                self.wrong.push(error);
            }
            (Some(place), _) => self.leaves.push(Leaf { path: path.into(), ty: ty.clone(), place }),
            (None, Type::Record(fields)) if self.is_spread(path) => {
                fields.iter().for_each(|(name, ty)| self.find(&format!("{path}.{name}"), ty));
            }
            (None, _) => {
                let error = self.missing(path, wanted, ty);
                self.wrong.push(error);
            }
        }
    }

    fn error(&self, message: String) -> Diagnostic {
        let error = Diagnostic::new(self.file, message);
        match self.place {
            Some(place) => error.at(place.clone()),
            None => error,
        }
    }

    /// Returns whether a record's fields have columns of their own.
    fn is_spread(&self, path: &str) -> bool {
        let inner = |name: &str| name.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
        self.header.iter().any(|name| inner(name)) || self.renamed.iter().any(|renamed| inner(&renamed.field))
    }

    fn missing(&self, path: &str, wanted: &str, ty: &Type) -> Diagnostic {
        let names: Vec<String> = self.header.iter().take(MOST_NAMES).map(|name| shown(name)).collect();
        let more = if self.header.len() > names.len() { ", .." } else { "" };
        let has = if names.is_empty() { "none".into() } else { names.join(", ") };
        let message = format!("column `{}` ({ty}) is missing; columns: {has}{more}", shown(wanted));
        let near = nearest(wanted, self.header).map_or("COLUMN".into(), shown);
        self.error(message).hint(format!("--column {path}={near} reads it from a column of another name"))
    }

    /// Checks for column names that are given to fields that do not exist.
    fn check_renamed(&mut self) {
        for Renamed { field, column } in self.renamed {
            if !self.seen.contains(field) {
                let message =
                    format!("column `{}` is given for field `{}`, which does not exist", shown(column), shown(field));
                let error = self.error(message).suggest(field, self.seen.iter().map(String::as_str));
                self.wrong.push(error);
            }
        }
    }
}

fn column<'n>(renamed: &'n [Renamed], path: &'n str) -> &'n str {
    renamed.iter().find(|renamed| renamed.field == path).map_or(path, |renamed| &renamed.column)
}

/// A name of the file, fit for a message.
fn shown(name: &str) -> String {
    clip(&name.replace(garblet_circuit::diagnostic::controls_terminal, "\u{fffd}"))
}
