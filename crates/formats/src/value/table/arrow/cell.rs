//! One cell of an Arrow array, by the type that the program has.

use arrow_array::{
    Array, ArrayRef, StructArray,
    cast::AsArray,
    types::{
        Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DurationMicrosecondType,
        DurationMillisecondType, DurationNanosecondType, DurationSecondType, Float16Type, Float32Type, Float64Type,
        Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
        Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
        TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
    },
};
use arrow_schema::{DataType, FieldRef, TimeUnit};
use garblet_circuit::{Bits, Type, diagnostic::Diagnostic};

use crate::value::{
    fixed, float_of_bits, list,
    parse::is_text,
    read_value,
    table::{text_cell, typed_text},
};

/// The value of a cell.
///
/// *Errors*: a null, a number that the type does not have, and columns of other types.
pub(super) fn bits(array: &ArrayRef, row: usize, ty: &Type) -> Result<Bits, Diagnostic> {
    if array.is_null(row) {
        return Err(wrong(format!("expected {ty}, got null"))
            .hint("there are no missing values: leave out the row, or fill it in"));
    }
    if let Some(integer) = integer(array, row) {
        return read_value("", &integer.to_string(), ty);
    }
    match array.data_type() {
        DataType::Boolean => read_value("", &array.as_boolean().value(row).to_string(), ty),
        DataType::Float16 => float(array.as_primitive::<Float16Type>().value(row).into(), ty),
        DataType::Float32 => float(array.as_primitive::<Float32Type>().value(row).into(), ty),
        DataType::Float64 => float(array.as_primitive::<Float64Type>().value(row), ty),
        DataType::Decimal32(..) => decimal(&array.as_primitive::<Decimal32Type>().value_as_string(row), ty),
        DataType::Decimal64(..) => decimal(&array.as_primitive::<Decimal64Type>().value_as_string(row), ty),
        DataType::Decimal128(..) => decimal(&array.as_primitive::<Decimal128Type>().value_as_string(row), ty),
        DataType::Decimal256(..) => decimal(&array.as_primitive::<Decimal256Type>().value_as_string(row), ty),
        DataType::Utf8 => text(array.as_string::<i32>().value(row), ty),
        DataType::LargeUtf8 => text(array.as_string::<i64>().value(row), ty),
        DataType::Utf8View => text(array.as_string_view().value(row), ty),
        DataType::Binary => binary(array.as_binary::<i32>().value(row), ty),
        DataType::LargeBinary => binary(array.as_binary::<i64>().value(row), ty),
        DataType::BinaryView => binary(array.as_binary_view().value(row), ty),
        DataType::FixedSizeBinary(_) => binary(array.as_fixed_size_binary().value(row), ty),
        DataType::List(_) => elements(&array.as_list::<i32>().value(row), ty),
        DataType::LargeList(_) => elements(&array.as_list::<i64>().value(row), ty),
        DataType::FixedSizeList(..) => elements(&array.as_fixed_size_list().value(row), ty),
        DataType::Struct(_) => record(array.as_struct(), row, ty),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            // The keys of one row: those of all, for each of them, would take quadratic time.
            let key = integer(dictionary.keys(), row).and_then(|key| usize::try_from(key).ok());
            let key = key.filter(|key| *key < dictionary.values().len());
            bits(dictionary.values(), key.ok_or_else(|| wrong("a key is not in its dictionary".into()))?, ty)
        }
        other => Err(wrong(format!("expected {ty}, got a column of type {other}, which is not supported"))),
    }
}

fn wrong(message: String) -> Diagnostic {
    Diagnostic::new("", message)
}

/// The columns in one of this name and type whose integers have a unit, with it.
pub(super) fn units(name: &str, ty: &DataType) -> Vec<(String, &'static str)> {
    let of = |unit: &TimeUnit| match unit {
        TimeUnit::Second => "seconds",
        TimeUnit::Millisecond => "milliseconds",
        TimeUnit::Microsecond => "microseconds",
        TimeUnit::Nanosecond => "nanoseconds",
    };
    let unit = match ty {
        DataType::Date32 => "days",
        DataType::Date64 => "milliseconds",
        DataType::Time32(unit) | DataType::Time64(unit) | DataType::Timestamp(unit, _) | DataType::Duration(unit) => {
            of(unit)
        }
        DataType::Dictionary(_, values) => return units(name, values),
        DataType::List(element) | DataType::LargeList(element) | DataType::FixedSizeList(element, _) => {
            return units(name, element.data_type());
        }
        DataType::Struct(fields) => {
            let of = |field: &FieldRef| units(&format!("{name}.{}", field.name()), field.data_type());
            return fields.iter().flat_map(of).collect();
        }
        _ => return Vec::new(),
    };
    vec![(name.into(), unit)]
}

/// The integer that is stored, of columns that store integers.
fn integer(array: &dyn Array, row: usize) -> Option<i128> {
    macro_rules! of {
        ($kind:ty) => {
            i128::from(array.as_primitive::<$kind>().value(row))
        };
    }
    Some(match array.data_type() {
        DataType::Int8 => of!(Int8Type),
        DataType::Int16 => of!(Int16Type),
        DataType::Int32 => of!(Int32Type),
        DataType::Int64 => of!(Int64Type),
        DataType::UInt8 => of!(UInt8Type),
        DataType::UInt16 => of!(UInt16Type),
        DataType::UInt32 => of!(UInt32Type),
        DataType::UInt64 => of!(UInt64Type),
        DataType::Date32 => of!(Date32Type),
        DataType::Date64 => of!(Date64Type),
        DataType::Time32(TimeUnit::Second) => of!(Time32SecondType),
        DataType::Time32(TimeUnit::Millisecond) => of!(Time32MillisecondType),
        DataType::Time64(TimeUnit::Microsecond) => of!(Time64MicrosecondType),
        DataType::Time64(TimeUnit::Nanosecond) => of!(Time64NanosecondType),
        DataType::Timestamp(TimeUnit::Second, _) => of!(TimestampSecondType),
        DataType::Timestamp(TimeUnit::Millisecond, _) => of!(TimestampMillisecondType),
        DataType::Timestamp(TimeUnit::Microsecond, _) => of!(TimestampMicrosecondType),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => of!(TimestampNanosecondType),
        DataType::Duration(TimeUnit::Second) => of!(DurationSecondType),
        DataType::Duration(TimeUnit::Millisecond) => of!(DurationMillisecondType),
        DataType::Duration(TimeUnit::Microsecond) => of!(DurationMicrosecondType),
        DataType::Duration(TimeUnit::Nanosecond) => of!(DurationNanosecondType),
        _ => return None,
    })
}

fn text(text: &str, ty: &Type) -> Result<Bits, Diagnostic> {
    // Unlike a cell of a text file it already has a type, and is a value even if empty.
    if is_text(ty) { typed_text(text, ty) } else { text_cell(text, ty) }
}

fn binary(bytes: &[u8], ty: &Type) -> Result<Bits, Diagnostic> {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    read_value("", &format!("{{\"hex\": \"{digits}\"}}"), ty)
}

/// A floating-point number, which the type must have.
fn float(number: f64, ty: &Type) -> Result<Bits, Diagnostic> {
    if let Type::Float(format) = ty {
        let bits = read_value("", &format!("\"{number:?}\""), ty)?;
        let same = float_of_bits(*format, bits.to_u128().unwrap_or_default() as u64);
        return if same == number || number.is_nan() { Ok(bits) } else { Err(inexact(ty)) };
    }
    let places = if let Type::Fixed(_, fraction) = ty { *fraction } else { 0 };
    // Multiplying by a power of two is exact.
    match (number * 2f64.powi(places as i32)).fract() == 0.0 {
        true => read_value("", &format!("{number:.*}", places as usize), ty),
        false => Err(inexact(ty)),
    }
}

/// A decimal number, which the type must have.
fn decimal(text: &str, ty: &Type) -> Result<Bits, Diagnostic> {
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text };
    let bits = match ty {
        Type::Fixed(..) => read_value("", text, ty)?,
        _ if text.contains('.') => return Err(inexact(ty)),
        _ => return read_value("", text, ty),
    };
    match ty {
        Type::Fixed(_, fraction) if fixed::to_text(&bits, *fraction) != text => Err(inexact(ty)),
        _ => Ok(bits),
    }
}

fn inexact(ty: &Type) -> Diagnostic {
    let error = wrong(format!("expected {ty}, got a number that is not exactly one"));
    match ty {
        Type::Fixed(_, fraction) => error.hint(format!(
            "{ty} has the multiples of 2^-{fraction}: round in the tool that writes the file, or write CSV, whose numbers are rounded to the nearest"
        )),
        _ => error,
    }
}

/// The elements of an array, a list or a byte string.
fn elements(values: &ArrayRef, ty: &Type) -> Result<Bits, Diagnostic> {
    let got = values.len();
    let exactly = |expected: u32| match got == expected as usize {
        true => Ok(()),
        false => Err(wrong(format!("expected {ty}, got {got} elements"))),
    };
    let byte = Type::Unsigned(8);
    let element = match ty {
        Type::Array(element, expected) => exactly(*expected).map(|()| &**element)?,
        // Their number is a secret.
        Type::List(_, most) if got > *most as usize => return Err(wrong(format!("expected {ty}, got more elements"))),
        Type::List(element, _) => element,
        Type::Bytes(expected) => exactly(*expected).map(|()| &byte)?,
        _ => return Err(wrong(format!("expected {ty}, got a list"))),
    };
    let mut all = Bits::default();
    for k in 0..got {
        all.append(&bits(values, k, element).map_err(|error| within(&format!("[{k}]"), error))?);
    }
    Ok(match ty {
        Type::List(_, most) => list::pad(got, &all, ty, *most),
        _ => all,
    })
}

/// The fields of a record by name.
fn record(fields: &StructArray, row: usize, ty: &Type) -> Result<Bits, Diagnostic> {
    let Type::Record(wanted) = ty else { return Err(wrong(format!("expected {ty}, got a structure"))) };
    if let Some(other) = fields.column_names().iter().find(|name| !wanted.iter().any(|(known, _)| known == *name)) {
        return Err(
            wrong(format!("there is no field `{other}`")).suggest(other, wanted.iter().map(|(name, _)| name.as_str()))
        );
    }
    let mut all = Bits::default();
    for (name, ty) in wanted {
        let Some(field) = fields.column_by_name(name) else {
            return Err(wrong(format!("field `{name}` ({ty}) is missing")));
        };
        all.append(&bits(field, row, ty).map_err(|error| within(&format!(".{name}"), error))?);
    }
    Ok(all)
}

/// An error of a value within another one.
fn within(path: &str, error: Diagnostic) -> Diagnostic {
    let message = error.message.strip_prefix("value").unwrap_or(&error.message);
    let message = message.strip_prefix(": ").unwrap_or(message);
    let joint = if message.starts_with(['[', '.']) { "" } else { ": " };
    Diagnostic { message: format!("{path}{joint}{message}"), ..error }
}
