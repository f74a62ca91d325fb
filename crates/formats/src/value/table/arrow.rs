//! Arrow and Parquet files.
//!
//! Columns have types of their own here, and nothing is rounded: a decimal or floating-point number that the
//! program's type does not have is refused. Strings are texts, for types that have texts. Dates and times are the integers that they are stored as,
//! and their units are reported.
//!
//! The decoders panic on some damaged files, which is caught here. Compressed Arrow files are refused: their decoder allocates whatever
//! the file says. So is a stream without its end, which may have been cut off.

mod cell;
#[cfg(test)]
mod tests;

use std::{
    cell::Cell,
    io::Cursor,
    panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook},
    sync::Once,
};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, Schema};
use bytes::Bytes;
use garblet_circuit::diagnostic::{Diagnostic, Diagnostics};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::columns::Columns;

/// The first bytes of an Arrow file; a stream has none.
const FILE_MAGIC: &[u8] = b"ARROW1";

/// The last bytes of an Arrow stream. Without them a stream that was cut off between two batches looks like a whole one.
const STREAM_END: &[u8] = &[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// The rows of a Parquet file that are decoded at a time.
const PARQUET_ROWS: usize = 4096;

const DAMAGED: &str = "it is damaged";

thread_local! {
    /// Set while this thread decodes: a panic then counts as an error in the file.
    static DECODES: Cell<bool> = const { Cell::new(false) };
}

/// Decodes a file; `None` if the decoders panicked, as they do on some damaged files.
fn guarded<T>(decode: impl FnOnce() -> T) -> Option<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |panic| {
            if !DECODES.get() {
                others(panic);
            }
        }));
    });
    DECODES.set(true);
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    DECODES.set(false);
    decoded.ok()
}

/// Reads all rows of an Arrow IPC file or stream.
///
/// *Errors*: bytes that are neither, columns that are missing, and cells.
pub(super) fn read_ipc(file: &str, bytes: &[u8], columns: &mut Columns) -> Result<(), Diagnostics> {
    let wrong = |error: ArrowError| malformed(file, "Arrow IPC", &error);
    guarded(|| match bytes.starts_with(FILE_MAGIC) {
        true => {
            let reader = FileReader::try_new(Cursor::new(bytes), None).map_err(wrong)?;
            read(&reader.schema(), reader.map(|batch| batch.map_err(wrong)), columns)
        }
        false => {
            let mut reader = StreamReader::try_new(bytes, None).map_err(wrong)?;
            let schema = reader.schema();
            // The reader takes the end of the bytes for the stream's end, and ignores whatever follows the stream.
            let batches = || {
                let rest = *reader.get_ref();
                let end = || match rest {
                    STREAM_END => None,
                    _ if rest.starts_with(STREAM_END) => Some("there are bytes after the end of the stream"),
                    _ => Some("the stream has no end"),
                };
                match reader.next() {
                    Some(batch) => Some(batch.map_err(wrong)),
                    None => end().map(|missing| Err(malformed(file, "Arrow IPC", &missing))),
                }
            };
            read(&schema, std::iter::from_fn(batches), columns)
        }
    })
    .unwrap_or_else(|| Err(malformed(file, "Arrow IPC", &DAMAGED).into()))
}

/// Reads all rows of a Parquet file.
///
/// *Errors*: as [`read_ipc`].
pub(super) fn read_parquet(file: &str, bytes: &[u8], columns: &mut Columns) -> Result<(), Diagnostics> {
    guarded(|| {
        let builder = ParquetRecordBatchReaderBuilder::try_new(Bytes::copy_from_slice(bytes));
        let reader = builder.and_then(|builder| builder.with_batch_size(PARQUET_ROWS).build());
        let reader = reader.map_err(|error| malformed(file, "Parquet", &error))?;
        let schema = arrow_array::RecordBatchReader::schema(&reader);
        read(&schema, reader.map(|batch| batch.map_err(|error| malformed(file, "Parquet", &error))), columns)
    })
    .unwrap_or_else(|| Err(malformed(file, "Parquet", &DAMAGED).into()))
}

fn read(
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch, Diagnostic>>,
    columns: &mut Columns,
) -> Result<(), Diagnostics> {
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    columns.name(&names, None)?;
    let wanted = schema.fields().iter().enumerate().filter(|(place, _)| columns.reads(*place));
    let units = wanted.flat_map(|(_, field)| cell::units(field.name(), field.data_type())).collect();
    columns.set_units(units);
    for batch in batches {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            if columns.next() {
                let cell = |place, ty: &_| cell::bits(batch.column(place), row, ty);
                columns.row(|place, ty| cell(place, ty).map_err(|error| Diagnostic { place: None, ..error }))?;
            }
        }
    }
    Ok(())
}

fn malformed(file: &str, format: &str, error: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::new(file, format!("cannot be read as {format}: {error}"))
}
