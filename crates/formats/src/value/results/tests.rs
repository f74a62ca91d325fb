//! Results as tables read back as they were.

use garblet_circuit::{Float, random::small_type};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::*;
use crate::value::{FromTable, Table};

fn written(table: &ResultTable, format: TableFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    table.write(format, &mut bytes).expect("memory");
    bytes
}

fn text_of(table: &ResultTable, format: TableFormat) -> String {
    String::from_utf8(written(table, format)).expect("text")
}

fn record(fields: &[(&str, Type)]) -> Type {
    Type::Record(fields.iter().map(|(name, ty)| (name.to_string(), ty.clone())).collect())
}

#[test]
fn arrays_and_lists_are_rows() {
    let address = record(&[("zip", Type::Unsigned(8)), ("ok", Type::Bool)]);
    let element = record(&[("id", Type::Signed(8)), ("at", address), ("price", Type::Fixed(4, 4))]);
    let port = Port::new("offers", Type::List(Box::new(element), 3));
    let value = crate::value::read_value(
        "v",
        r#"[{"id": -3, "at": {"zip": 7, "ok": true}, "price": 1.5}, {"id": 4, "at": {"zip": 9, "ok": false}, "price": -2}]"#,
        &port.ty,
    );
    let table = ResultTable::of_elements(&port, &value.expect("a value")).expect("a list");
    assert_eq!(text_of(&table, TableFormat::Csv), "id,at.zip,at.ok,price\n-3,7,true,1.5\n4,9,false,-2\n");
    assert_eq!(
        text_of(&table, TableFormat::JsonLines),
        "{\"id\":-3,\"at\":{\"zip\":7,\"ok\":true},\"price\":\"1.5\"}\n{\"id\":4,\"at\":{\"zip\":9,\"ok\":false},\"price\":\"-2\"}\n"
    );
    let port = Port::new("ids", Type::Array(Box::new(Type::Unsigned(4)), 2));
    let table = ResultTable::of_elements(&port, &"10000100".parse().unwrap()).expect("an array");
    assert_eq!(text_of(&table, TableFormat::Csv), "ids\n1\n2\n");
    assert!(ResultTable::of_elements(&Port::new("id", Type::Unsigned(4)), &Bits::zeros(4)).is_none());
}

#[test]
fn a_row_that_panicked_has_a_reason_and_no_result() {
    let values: Bits = "10000100".parse().unwrap();
    let table = ResultTable::of_runs([("y", &Type::Unsigned(4), &values)].into_iter(), 2);
    let table = table.with_panics(vec![None, Some("f:1:2: overflow".into())]);
    assert_eq!(text_of(&table, TableFormat::Csv), "y,panic\n1,\n,f:1:2: overflow\n");
    assert_eq!(text_of(&table, TableFormat::JsonLines), "{\"y\":1}\n{\"panic\":\"f:1:2: overflow\"}\n");
    #[cfg(feature = "arrow")]
    for format in [TableFormat::Arrow, TableFormat::Parquet] {
        let bytes = written(&table, format);
        let port = Port::new("rows", Type::Array(Box::new(record(&[("y", Type::Unsigned(4))])), 2));
        let error = Table { file: "t", format, bytes: &bytes, renamed: &[] }.port(&port).err().expect("a null");
        assert_eq!(error.to_string(), "t: row 2, column `y`: expected u4, got null");
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(seed: u64) {
        let rng = &mut StdRng::seed_from_u64(seed);
        let fields = rng.random_range(1..5);
        let field = |rng: &mut StdRng| match rng.random_range(0..8) {
            0 => Type::Unsigned(rng.random_range(1..130)),
            1 => Type::Signed(rng.random_range(1..130)),
            2 => Type::Fixed(rng.random_range(1..80), rng.random_range(0..60)),
            3 => Type::Bits(rng.random_range(1..70)),
            4 => Type::Bytes(rng.random_range(0..5)),
            5 => Type::Array(Box::new(Type::Unsigned(8)), rng.random_range(1..4)),
            6 => Type::Float(Float::ALL[rng.random_range(0..Float::ALL.len())]),
            _ => small_type(rng, 1),
        };
        let element = Type::Record((0..fields).map(|k| (format!("f{k}"), field(rng))).collect());
        let rows = rng.random_range(0..5);
        let port = Port::new("rows", Type::Array(Box::new(element), rows));
        let value: Bits = (0..port.ty.width()).map(|_| rng.random()).collect();
        // All NaNs are written alike.
        prop_assume!(!to_json(&port.ty, &value).to_string().contains("NaN"));
        let table = ResultTable::of_elements(&port, &value).expect("an array");
        let is_built = |format: &TableFormat| {
            cfg!(feature = "arrow") || !matches!(format, TableFormat::Arrow | TableFormat::Parquet)
        };
        for (format, _) in TableFormat::ALL.iter().filter(|(format, _)| is_built(format)) {
            let bytes = written(&table, *format);
            let read = Table { file: "t", format: *format, bytes: &bytes, renamed: &[] }.port(&port);
            let FromTable { values, ignored, .. } = read.map_err(|errors| TestCaseError::fail(errors.to_string()))?;
            prop_assert!(ignored.is_empty());
            prop_assert_eq!(values.to_string(), value.to_string(), "{} as {:?}", &port.ty, format);
        }
    }

    #[test]
    fn rows_are_split_among_inputs(seed: u64) {
        let rng = &mut StdRng::seed_from_u64(seed);
        let ports: Vec<Port> = (0..rng.random_range(1..4)).map(|k| Port::new(format!("in{k}"), small_type(rng, 1))).collect();
        let rows = rng.random_range(1..6u32);
        let values: Vec<Bits> =
            ports.iter().map(|port| (0..port.ty.width() * u64::from(rows)).map(|_| rng.random()).collect()).collect();
        let columns = ports.iter().zip(&values).map(|(port, value)| (port.name.as_str(), &port.ty, value));
        let table = ResultTable::of_runs(columns, rows as usize);
        let bytes = written(&table, TableFormat::JsonLines);
        let ports: Vec<&Port> = ports.iter().collect();
        let text = match &ports[..] {
            [Port { name, ty: Type::Record(_), .. }] => {
                // The fields of the one input are the columns.
                let rows = String::from_utf8_lossy(&bytes).lines().map(|line| {
                    serde_json::from_str::<Value>(line).expect("an object")[name].to_string()
                }).collect::<Vec<_>>();
                rows.join("\n").into_bytes()
            }
            _ => bytes,
        };
        prop_assume!(!text.starts_with(b"["));
        let read = Table { file: "t", format: TableFormat::JsonLines, bytes: &text, renamed: &[] }.rows(&ports);
        let read = read.map_err(|errors| TestCaseError::fail(errors.to_string()))?;
        prop_assert_eq!(read.values.0, rows);
        prop_assert!(read.values.1 == values);
    }
}
