//! Results as tables: a row for each element of an array, or for each row of a batch.

#[cfg(feature = "arrow")]
mod arrow;

use std::io::{self, Write};

use garblet_circuit::{Bits, Port, Type};
use serde_json::{Map, Value, json};

use super::{TableFormat, to_json, to_json_text};

/// The column that says why a row has no result.
const PANIC: &str = "panic";

/// Results, to be written as a table.
///
/// Written as CSV, Arrow or Parquet, a record has a column for each of its fields, as `address.zip`. There, and in JSON lines, everything
/// is written as [`Table`](super::Table) reads it. Arrow and Parquet have columns of types of their own for integers of up to 64 bits,
/// Booleans, fixed-point numbers of up to 38 digits (as decimals), byte strings, and arrays and lists of bytes (null where bits are no
/// list); everything else is text, as in CSV.
pub struct ResultTable {
    columns: Vec<Column>,
    /// The reason why each row has no result, if it has none. No column if every row must have one.
    panics: Option<Vec<Option<String>>>,
    rows: usize,
}

/// A column: the values of all rows one after another.
struct Column {
    name: String,
    ty: Type,
    values: Bits,
}

impl Column {
    fn value(&self, row: usize) -> Bits {
        let width = self.ty.width() as usize;
        self.values.slice(row * width, width)
    }
}

impl ResultTable {
    /// The elements of an array or a list; `None` if the value is neither.
    pub fn of_elements(port: &Port, value: &Bits) -> Option<Self> {
        let (element, rows, start) = match &port.ty {
            Type::Array(element, count) => (element, *count as usize, 0),
            Type::List(element, most) => {
                let start = Type::count_width(*most) as usize;
                let count = usize::try_from(value.slice(0, start).to_u128()?).ok()?;
                (element, Some(count).filter(|count| *count <= *most as usize)?, start)
            }
            _ => return None,
        };
        let values = value.slice(start, rows * element.width() as usize);
        let columns = match &**element {
            Type::Record(fields) if !fields.is_empty() => fields_of(fields, &values, rows),
            _ => vec![Column { name: port.name.clone(), ty: (**element).clone(), values }],
        };
        Some(ResultTable { columns, panics: None, rows })
    }

    /// A row for each run of a batch, with a column for each output; of one run, one row.
    ///
    /// # Panics
    /// If values are not as wide as the ports of this many rows.
    pub fn of_runs<'a>(outputs: impl Iterator<Item = (&'a str, &'a Type, &'a Bits)>, rows: usize) -> Self {
        let column = |(name, ty, values): (&str, &Type, &Bits)| {
            assert_eq!(values.len() as u64, ty.width() * rows as u64, "values of output `{name}`");
            Column { name: name.into(), ty: ty.clone(), values: values.clone() }
        };
        ResultTable { columns: outputs.map(column).collect(), panics: None, rows }
    }

    /// The same, with the reason for each row without a result.
    ///
    /// # Panics
    /// If there is not one for each row.
    pub fn with_panics(self, panics: Vec<Option<String>>) -> Self {
        assert_eq!(panics.len(), self.rows, "a reason or none for each row");
        ResultTable { panics: Some(panics), ..self }
    }

    /// Each row as an object.
    pub fn objects(&self) -> impl Iterator<Item = Value> + '_ {
        (0..self.rows).map(|row| match self.panic(row) {
            Some(reason) => json!({ PANIC: reason }),
            None => {
                let member = |column: &Column| (column.name.clone(), to_json(&column.ty, &column.value(row)));
                Value::Object(self.columns.iter().map(member).collect::<Map<_, _>>())
            }
        })
    }

    /// A row as an object, with its columns in order.
    fn line(&self, row: usize) -> String {
        match self.panic(row) {
            Some(reason) => json!({ PANIC: reason }).to_string(),
            None => {
                let member = |column: &Column| {
                    format!("{}:{}", json!(column.name), to_json_text(&column.ty, &column.value(row)))
                };
                format!("{{{}}}", self.columns.iter().map(member).collect::<Vec<_>>().join(","))
            }
        }
    }

    /// Writes the table.
    ///
    /// *Errors*: the writer's, and columns of one name.
    pub fn write(&self, format: TableFormat, out: &mut (dyn Write + Send)) -> io::Result<()> {
        match format {
            TableFormat::Csv => self.write_csv(out),
            TableFormat::JsonLines => (0..self.rows).try_for_each(|row| writeln!(out, "{}", self.line(row))),
            #[cfg(feature = "arrow")]
            TableFormat::Arrow => arrow::write_ipc(&self.flat(), out),
            #[cfg(feature = "arrow")]
            TableFormat::Parquet => arrow::write_parquet(&self.flat(), out),
            #[cfg(not(feature = "arrow"))]
            TableFormat::Arrow | TableFormat::Parquet => {
                format.check_built("").map_err(|lacks| io::Error::new(io::ErrorKind::Unsupported, lacks.message))
            }
        }
    }

    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let flat = self.flat();
        let mut writer = csv::Writer::from_writer(out);
        let panic = flat.panics.is_some().then_some(PANIC);
        writer.write_record(flat.columns.iter().map(|column| column.name.as_str()).chain(panic))?;
        for row in 0..flat.rows {
            let reason = flat.panic(row);
            let cells = flat.columns.iter().map(|column| match reason {
                Some(_) => String::new(),
                None => text(&column.ty, &column.value(row)),
            });
            let panic = flat.panics.iter().map(|_| reason.unwrap_or_default().to_string());
            writer.write_record(cells.chain(panic))?;
        }
        writer.flush()
    }

    fn panic(&self, row: usize) -> Option<&str> {
        self.panics.as_ref()?[row].as_deref()
    }

    /// The same without records in columns.
    fn flat(&self) -> ResultTable {
        let mut columns = Vec::new();
        self.columns.iter().for_each(|column| spread(column, self.rows, &mut columns));
        ResultTable { columns, panics: self.panics.clone(), rows: self.rows }
    }
}

/// Columns of the fields of a record.
fn fields_of(fields: &[(String, Type)], values: &Bits, rows: usize) -> Vec<Column> {
    let width: usize = fields.iter().map(|(_, ty)| ty.width() as usize).sum();
    let mut start = 0;
    let mut columns = Vec::with_capacity(fields.len());
    for (name, ty) in fields {
        let own = ty.width() as usize;
        let mut column = Bits::with_capacity(own * rows);
        (0..rows).for_each(|row| column.append(&values.slice(row * width + start, own)));
        columns.push(Column { name: name.clone(), ty: ty.clone(), values: column });
        start += own;
    }
    columns
}

/// Adds a column; one for each field, if it is of records.
fn spread(column: &Column, rows: usize, columns: &mut Vec<Column>) {
    match &column.ty {
        Type::Record(fields) if !fields.is_empty() => {
            for field in fields_of(fields, &column.values, rows) {
                let name = format!("{}.{}", column.name, field.name);
                spread(&Column { name, ..field }, rows, columns);
            }
        }
        ty => columns.push(Column { name: column.name.clone(), ty: ty.clone(), values: column.values.clone() }),
    }
}

/// A value as a cell of CSV.
fn text(ty: &Type, value: &Bits) -> String {
    match to_json(ty, value) {
        Value::String(text) => text,
        _ => to_json_text(ty, value),
    }
}

#[cfg(test)]
mod tests;
