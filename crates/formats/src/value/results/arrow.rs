//! Results as Arrow and Parquet files.

use std::{
    io::{self, Write},
    sync::Arc,
};

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Decimal128Array, FixedSizeBinaryArray, Float16Array, Float32Array,
    Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, ListArray, RecordBatch, RecordBatchOptions,
    StringArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
    types::{ArrowPrimitiveType, Float16Type, UInt8Type},
};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use garblet_circuit::{Bits, Float, Type};
use parquet::{arrow::ArrowWriter, basic::Compression, file::properties::WriterProperties};
use serde_json::Value;

use super::{Column, PANIC, ResultTable, text};
use crate::value::{float_of_bits, parse::is_text, to_json};

/// A number of a column of binary16.
type Half = <Float16Type as ArrowPrimitiveType>::Native;

/// The most digits of a decimal column.
const MOST_DIGITS: u32 = 38;

/// Writes an Arrow IPC file.
pub(super) fn write_ipc(table: &ResultTable, out: &mut dyn Write) -> io::Result<()> {
    let write = || -> Result<(), ArrowError> {
        let batch = batch(table)?;
        let mut writer = FileWriter::try_new(out, &batch.schema())?;
        writer.write(&batch)?;
        writer.finish()
    };
    write().map_err(io::Error::other)
}

/// Writes a Parquet file.
pub(super) fn write_parquet(table: &ResultTable, out: &mut (dyn Write + Send)) -> io::Result<()> {
    let batch = batch(table).map_err(io::Error::other)?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let write = || {
        let mut writer = ArrowWriter::try_new(out, batch.schema(), Some(properties))?;
        writer.write(&batch)?;
        writer.close()
    };
    write().map(drop).map_err(io::Error::other)
}

fn batch(table: &ResultTable) -> Result<RecordBatch, ArrowError> {
    let mut fields = Vec::new();
    let mut arrays = Vec::new();
    for column in &table.columns {
        let array = array(table, column)?;
        let nullable = table.panics.is_some() || array.is_nullable();
        fields.push(Field::new(&column.name, array.data_type().clone(), nullable));
        arrays.push(array);
    }
    if let Some(panics) = &table.panics {
        fields.push(Field::new(PANIC, DataType::Utf8, true));
        arrays.push(Arc::new(StringArray::from(panics.clone())));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(table.rows));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
}

/// The values of a column, null where a row has none.
fn array(table: &ResultTable, column: &Column) -> Result<ArrayRef, ArrowError> {
    let values = || (0..table.rows).map(|row| table.panic(row).is_none().then(|| column.value(row)));
    macro_rules! integers {
        ($array:ty, $number:ty, $of:expr) => {
            Arc::new(values().map(|value| value.map(|bits| $of(&bits) as $number)).collect::<$array>())
        };
    }
    Ok(match &column.ty {
        Type::Bool => Arc::new(values().map(|value| value.map(|bits| bits.get(0))).collect::<BooleanArray>()),
        Type::Unsigned(..=8) | Type::Bits(..=8) => integers!(UInt8Array, u8, unsigned),
        Type::Unsigned(..=16) | Type::Bits(..=16) => integers!(UInt16Array, u16, unsigned),
        Type::Unsigned(..=32) | Type::Bits(..=32) => integers!(UInt32Array, u32, unsigned),
        Type::Unsigned(..=64) | Type::Bits(..=64) => integers!(UInt64Array, u64, unsigned),
        Type::Signed(..=8) => integers!(Int8Array, i8, signed),
        Type::Signed(..=16) => integers!(Int16Array, i16, signed),
        Type::Signed(..=32) => integers!(Int32Array, i32, signed),
        Type::Signed(..=64) => integers!(Int64Array, i64, signed),
        Type::Fixed(integer, fraction) if digits(*integer, *fraction).is_some() => {
            // n / 2^f is n 5^f / 10^f.
            let scaled = |bits: &Bits| signed(bits) * 5i128.pow(*fraction);
            let array = values().map(|value| value.map(|bits| scaled(&bits))).collect::<Decimal128Array>();
            let precision = digits(*integer, *fraction).unwrap_or(MOST_DIGITS);
            Arc::new(array.with_precision_and_scale(precision as u8, *fraction as i8)?)
        }
        Type::Float(Float::F16) => {
            let halves = values().map(|value| value.map(|bits| Half::from_bits(unsigned(&bits) as u16)));
            Arc::new(halves.collect::<Float16Array>())
        }
        // Arrow has no bfloat16, but every number of it is one of binary32.
        Type::Float(format @ (Float::Bf16 | Float::F32)) => {
            Arc::new(values().map(|value| value.map(|bits| float(*format, &bits) as f32)).collect::<Float32Array>())
        }
        Type::Float(Float::F64) => {
            Arc::new(values().map(|value| value.map(|bits| float(Float::F64, &bits))).collect::<Float64Array>())
        }
        Type::Bytes(1..) => {
            let size = i32::try_from(column.ty.width() / 8).map_err(|error| ArrowError::ExternalError(error.into()))?;
            let bytes = values().map(|value| value.map(|bits| bits.to_bytes()));
            Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(bytes, size)?)
        }
        Type::Bytes(0) => Arc::new(values().map(|value| value.map(|_| [])).collect::<BinaryArray>()),
        // As text they would be read back as the bytes of that text.
        ty if is_text(ty) => {
            let bytes = values().map(|value| bytes_of(&to_json(ty, &value?)));
            Arc::new(ListArray::from_iter_primitive::<UInt8Type, _, _>(bytes))
        }
        ty => Arc::new(values().map(|value| value.map(|bits| text(ty, &bits))).collect::<StringArray>()),
    })
}

/// The elements of an array or a list of bytes; `None` for bits that are not a list.
fn bytes_of(value: &Value) -> Option<Vec<Option<u8>>> {
    Some(value.as_array()?.iter().map(|byte| Some(byte.as_u64()? as u8)).collect())
}

/// The decimal digits of a fixed-point number, before and after the point, if a column can have them.
fn digits(integer: u32, fraction: u32) -> Option<u32> {
    let most = 5u128.checked_pow(fraction)?.checked_mul(1u128.checked_shl(integer + fraction - 1)?)?;
    let digits = most.ilog10() + 1;
    (integer + fraction <= 127 && most <= i128::MAX as u128 && digits <= MOST_DIGITS).then_some(digits)
}

fn float(format: Float, bits: &Bits) -> f64 {
    float_of_bits(format, unsigned(bits) as u64)
}

fn unsigned(bits: &Bits) -> u128 {
    bits.to_u128().unwrap_or_default()
}

/// The number of a two's complement of at most 127 bits.
fn signed(bits: &Bits) -> i128 {
    let number = unsigned(bits) as i128;
    match bits.len().checked_sub(1) {
        Some(sign) if bits.get(sign) => number - (1 << bits.len()),
        _ => number,
    }
}
