//! Files that pyarrow wrote (`vectors/tables.py`), and bytes that nothing wrote.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use arrow_array::{ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringArray, types::Int32Type};
use arrow_ipc::{
    MetadataVersion,
    writer::{IpcWriteOptions, StreamWriter},
};
use arrow_schema::{Field, Schema};
use garblet_circuit::{Bits, Port, Type};
use rand::{RngExt, SeedableRng, rngs::StdRng};

use crate::value::{FromTable, Table, TableFormat, read_value, table::tests::keys_of};

const FILES: [&str; 4] = ["people.parquet", "people-gzip.parquet", "people.arrow", "people.arrows"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/tables")
}

fn record(fields: &[(&str, Type)]) -> Type {
    Type::Record(fields.iter().map(|(name, ty)| (name.to_string(), ty.clone())).collect())
}

/// The columns of `people`, but for one that nobody asks for.
fn person() -> Type {
    let cities = ["Aarhus", "Bristol", "Chur"].map(|city| (city.to_string(), vec![]));
    record(&[
        ("age", Type::Unsigned(7)),
        ("city", Type::Enum(cities.to_vec())),
        ("customer_id", Type::Unsigned(40)),
        ("offset", Type::Signed(6)),
        ("vip", Type::Bool),
        ("price", Type::Fixed(8, 8)),
        ("weight", Type::Fixed(4, 3)),
        ("half", Type::Fixed(8, 1)),
        ("joined", Type::Unsigned(16)),
        ("seen", Type::Signed(64)),
        ("code", Type::Bytes(4)),
        ("key", Type::Bytes(2)),
        ("marks", Type::List(Box::new(Type::Unsigned(8)), 2)),
        ("address", record(&[("zip", Type::Unsigned(16)), ("floor", Type::Signed(4))])),
    ])
}

fn read(port: &Port, name: &str, bytes: &[u8]) -> Result<FromTable<Bits>, String> {
    let format = TableFormat::of_path(Path::new(name)).expect("a table's name");
    let table = Table { file: name, format, bytes, renamed: &[] };
    table.port(port).map_err(|errors| errors.to_string())
}

fn file(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).expect("a file of the repository")
}

#[test]
fn what_pyarrow_wrote_is_read() {
    let text = String::from_utf8(file("people.json")).expect("JSON");
    for ty in [Type::Array(Box::new(person()), 40), Type::List(Box::new(person()), 64)] {
        let port = Port::new("people", ty);
        let expected = read_value("people.json", &text, &port.ty).expect("the same values");
        for name in FILES {
            let FromTable { values, ignored, units, .. } =
                read(&port, name, &file(name)).unwrap_or_else(|error| panic!("{error}"));
            assert!(values == expected, "{name}");
            assert_eq!(ignored, ["remark"], "{name}");
            assert_eq!(units, [("joined".into(), "days"), ("seen".into(), "microseconds")], "{name}");
        }
    }
    let few = Port::new("people", Type::List(Box::new(person()), 39));
    let error = read(&few, "people.parquet", &file("people.parquet")).err().expect("one too many");
    assert!(error.ends_with("expected at most 39 rows, got more"), "{error}");
}

#[test]
fn what_does_not_fit_names_row_and_column() {
    let odd = file("odd.arrow");
    for (column, ty, expected) in [
        ("age", Type::Unsigned(8), "odd.arrow: row 2, column `age`: expected u8, got null"),
        (
            "price",
            Type::Fixed(8, 8),
            "odd.arrow: row 2, column `price`: expected fixed<8, 8>, got a number that is not exactly one",
        ),
        (
            "price",
            Type::Unsigned(8),
            "odd.arrow: row 1, column `price`: expected u8, got a number that is not exactly one",
        ),
        (
            "weight",
            Type::Fixed(8, 8),
            "odd.arrow: row 3, column `weight`: expected fixed<8, 8>, got a number that is not exactly one",
        ),
        (
            "weight",
            Type::Fixed(8, 1),
            "odd.arrow: row 2, column `weight`: expected fixed<8, 1>, got a number that is not exactly one",
        ),
        ("wide", Type::Unsigned(8), "odd.arrow: row 3, column `wide`: expected u8, got a number out of range"),
        ("wide", Type::Bool, "odd.arrow: row 2, column `wide`: expected bool, got a number out of range"),
        ("name", Type::Unsigned(8), "odd.arrow: row 1, column `name`: expected u8, got a string"),
        (
            "name",
            Type::Bytes(1),
            "odd.arrow: row 2, column `name`: expected bytes1, that is 1 bytes of UTF-8, got more",
        ),
        ("span", Type::Unsigned(8), "odd.arrow: row 1, column `span`: expected u8, got a column of type"),
        (
            "surname",
            Type::Unsigned(8),
            "odd.arrow: column `surname` (u8) is missing; columns: age, price, weight, wide, name, span",
        ),
    ] {
        let port = Port::new("rows", Type::Array(Box::new(record(&[(column, ty)])), 3));
        let error = read(&port, "odd.arrow", &odd).err().expect("what does not fit");
        assert!(error.starts_with(expected), "{error}");
    }
    let port = Port::new("people", Type::List(Box::new(person()), 40));
    for (name, compression) in [("people-zstd.parquet", "zstd"), ("people.feather", "lz4")] {
        let error = read(&port, name, &file(name)).err().expect("another compression");
        assert!(error.contains("cannot be read as ") && error.contains(compression), "{error}");
    }
}

#[test]
fn numbers_that_are_exact_are_taken() {
    let odd = file("odd.arrow");
    let port = Port::new("rows", Type::Array(Box::new(record(&[("wide", Type::Fixed(12, 4))])), 3));
    let read = read(&port, "odd.arrow", &odd).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        crate::value::to_json(&port.ty, &read.values).to_string(),
        r#"[{"wide":"1"},{"wide":"2"},{"wide":"300"}]"#
    );
}

/// A file of one column, in so many batches.
fn stream(name: &str, batches: &[ArrayRef]) -> Vec<u8> {
    let field = Field::new(name, batches[0].data_type().clone(), false);
    let padded = IpcWriteOptions::try_new(8, false, MetadataVersion::V5).expect("options");
    let schema = Schema::new(vec![field]);
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), &schema, padded).expect("memory");
    for column in batches {
        let batch = RecordBatch::try_from_iter([(name, column.clone())]).expect("a batch");
        writer.write(&batch).expect("memory");
    }
    writer.finish().expect("memory");
    writer.into_inner().expect("memory")
}

fn file_of(name: &str, column: &ArrayRef, format: TableFormat) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter([(name, column.clone())]).expect("a batch");
    let mut bytes = Vec::new();
    match format {
        TableFormat::Parquet => {
            let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).expect("memory");
            writer.write(&batch).expect("memory");
            writer.close().expect("memory");
        }
        _ => return stream(name, std::slice::from_ref(column)),
    }
    bytes
}

#[test]
fn a_stream_is_read_to_its_end_and_nothing_is_behind_it() {
    let port = Port::new("n", Type::List(Box::new(Type::Signed(8)), 16));
    let [first, second, none]: [ArrayRef; 3] =
        [vec![5, 6, -1], vec![7], vec![]].map(|values| Arc::new(Int32Array::from(values)) as ArrayRef);
    let whole = stream("n", &[first.clone(), second]);
    let one = stream("n", &[first]);
    let json = |bytes: &[u8]| {
        read(&port, "n.arrows", bytes).map(|read| crate::value::to_json(&port.ty, &read.values).to_string())
    };
    assert_eq!(json(&whole).unwrap(), "[5,6,-1,7]");
    assert_eq!(json(&stream("n", &[none])).unwrap(), "[]");
    // The last value of a batch looks like an end.
    let cut = &one[..one.len() - 8];
    assert!(cut.ends_with(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]) && whole.starts_with(cut));
    assert_eq!(json(cut).unwrap_err(), "n.arrows: cannot be read as Arrow IPC: the stream has no end");
    let behind = "n.arrows: cannot be read as Arrow IPC: there are bytes after the end of the stream";
    for more in [&one[..], &[0]] {
        assert_eq!(json(&[&one, more].concat()).unwrap_err(), behind);
    }
}

#[test]
fn a_large_column_of_a_dictionary_is_read() {
    let rows = 200_000;
    let port = Port::new("n", Type::List(Box::new(Type::Unsigned(2)), rows));
    let values: Vec<String> = (0..rows).map(|row| (row % 3).to_string()).collect();
    let column: DictionaryArray<Int32Type> = values.iter().map(|text| text.as_str()).collect();
    let read = read(&port, "n.arrows", &stream("n", &[Arc::new(column)])).unwrap_or_else(|error| panic!("{error}"));
    let expected = read_value("", &format!("[{}]", values.join(",")), &port.ty).expect("numbers");
    assert!(read.values == expected);
}

#[test]
fn strings_are_the_bytes_of_texts() {
    for text in ["", " ab", "\u{a0}ab", "\"ab\"", "[1]", "0x61", "{\"a\":1}"] {
        let (port, expected) = keys_of(&[text]);
        let bytes = Port::new("key", Type::Array(Box::new(Type::Bytes(text.len() as u32)), 1));
        let columns: [ArrayRef; 2] = [
            Arc::new(StringArray::from(vec![text])),
            Arc::new([text].into_iter().collect::<DictionaryArray<Int32Type>>()),
        ];
        for (column, name) in columns.iter().flat_map(|column| [(column, "t.arrows"), (column, "t.parquet")]) {
            let format = TableFormat::of_path(Path::new(name)).expect("a table's name");
            let file = file_of("key", column, format);
            let list = read(&port, name, &file).unwrap_or_else(|error| panic!("{error}"));
            assert!(list.values == expected, "{text:?}");
            let string = read(&bytes, name, &file).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(string.values.to_bytes(), text.as_bytes());
        }
    }
}

#[test]
fn damaged_files_are_read_or_refused() {
    let full = std::env::var_os("GARBLET_TEST_FULL").is_some();
    let port = Port::new("people", Type::List(Box::new(person()), 64));
    let rng = &mut StdRng::seed_from_u64(22);
    for name in FILES {
        let whole = file(name);
        let step = if full { 7 } else { whole.len() / 150 };
        for end in (0..whole.len()).step_by(step) {
            assert!(end + 16 >= whole.len() || read(&port, name, &whole[..end]).is_err(), "{name}: {end} bytes");
        }
        for _ in 0..if full { 3_000 } else { 300 } {
            let mut damaged = whole.clone();
            for _ in 0..rng.random_range(1..4) {
                let at = rng.random_range(0..damaged.len());
                damaged[at] ^= 1 << rng.random_range(0..8);
            }
            if let Ok(read) = read(&port, name, &damaged) {
                assert_eq!(read.values.len() as u64, port.ty.width(), "{name}");
            }
        }
    }
}
