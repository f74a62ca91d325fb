//! Tables in texts: rows become elements, and whatever does not fit is refused with its place.

use proptest::prelude::*;

use super::*;

fn people(count: u32) -> Port {
    let kind = Type::Enum(vec![("Guest".into(), vec![]), ("Member".into(), vec![Type::Unsigned(4)])]);
    let fields = vec![
        ("age".into(), Type::Unsigned(7)),
        ("balance".into(), Type::Signed(8)),
        ("code".into(), Type::Array(Box::new(Type::Unsigned(8)), 2)),
        ("kind".into(), kind),
    ];
    Port::new("people", Type::Array(Box::new(Type::Record(fields)), count))
}

fn record(fields: &[(&str, Type)]) -> Type {
    Type::Record(fields.iter().map(|(name, ty)| (name.to_string(), ty.clone())).collect())
}

fn renamed(pairs: &[(&str, &str)]) -> Vec<Renamed> {
    pairs.iter().map(|(field, column)| Renamed { field: field.to_string(), column: column.to_string() }).collect()
}

/// The value as JSON, and the columns that were ignored.
fn read(port: &Port, (format, text): (TableFormat, &str), names: &[(&str, &str)]) -> Result<(String, String), String> {
    let file = if format == TableFormat::Csv { "t.csv" } else { "t.jsonl" };
    let table = Table { file, format, bytes: text.as_bytes(), renamed: &renamed(names) };
    let FromTable { values, ignored, .. } = table.port(port).map_err(|errors| {
        let line = |error: &Diagnostic| match &error.hint {
            Some(hint) => format!("{error} ({hint})"),
            None => error.to_string(),
        };
        errors.iter().map(line).collect::<Vec<_>>().join("\n")
    })?;
    Ok((super::super::to_json(&port.ty, &values).to_string(), ignored.join(",")))
}

fn csv(port: &Port, text: &str) -> Result<String, String> {
    read(port, (TableFormat::Csv, text), &[]).map(|(values, _)| values)
}

fn lines(port: &Port, text: &str) -> Result<String, String> {
    read(port, (TableFormat::JsonLines, text), &[]).map(|(values, _)| values)
}

const ROWS: &str = r#"[{"age":42,"balance":-3,"code":[97,98],"kind":"Guest"},{"age":127,"balance":4,"code":[1,2],"kind":{"Member":[5]}}]"#;

#[test]
fn rows_become_elements() {
    let text = "kind, age,code,balance\nGuest,42,ab,-3\n\"{\"\"Member\"\": 5}\",0x7f,\"[1, 2]\",\"4\"\n";
    assert_eq!(csv(&people(2), text).unwrap(), ROWS);
    assert_eq!(csv(&people(2), &format!("\u{feff}{text}")).unwrap(), ROWS);
    assert_eq!(csv(&people(0), "age,balance,code,kind\n").unwrap(), "[]");
    let text = concat!(
        r#"{"kind": "Guest", "age": 42, "code": "ab", "balance": -3}"#,
        "\r\n",
        r#"{"age": "0x7f", "balance": 4, "code": [1, 2], "kind": {"Member": 5}}"#,
    );
    assert_eq!(lines(&people(2), text).unwrap(), ROWS);
    assert_eq!(lines(&people(0), "").unwrap(), "[]");
}

#[test]
fn tables_of_other_tools_are_read() {
    let element = Type::Record(["a", "x"].map(|name| (name.to_string(), Type::Unsigned(8))).to_vec());
    let port = Port::new("rows", Type::Array(Box::new(element), 3));
    let semicolons = csv(&port, include_str!("../../../../../vectors/circuits/foreign/semicolon.csv")).unwrap();
    assert_eq!(semicolons, r#"[{"a":1,"x":2},{"a":2,"x":3},{"a":3,"x":4}]"#);
    let tabs = csv(&port, include_str!("../../../../../vectors/circuits/foreign/tabs.csv")).unwrap();
    assert_eq!(tabs, r#"[{"a":1,"x":2},{"a":2,"x":1},{"a":3,"x":1}]"#);
}

#[test]
fn semicolons_and_tabs_separate_cells_too() {
    let expected =
        csv(&people(2), "age,balance,kind,code\n42,-3,Guest,ab\n127,4,\"{\"\"Member\"\": 5}\",\"[1, 2]\"\n").unwrap();
    for separator in [";", "\t"] {
        let text =
            ["age", "balance", "kind", "code"].join(separator) + "\r\n" + &["42", "-3", "Guest", "ab"].join(separator);
        let text = text + "\n" + &["127", "4", "\"{\"\"Member\"\": 5}\"", "\"[1, 2]\""].join(separator) + "\n";
        assert_eq!(csv(&people(2), &text).unwrap(), expected, "{separator:?}");
        let wrong = text.replace("127", "128");
        let place = "t.csv:3:1: row 2, column `age`: expected u7, got a number out of range (u7 is 0 to 127)";
        assert_eq!(csv(&people(2), &wrong).unwrap_err(), place, "{separator:?}");
        let wrong = text.replace("-3", "-300");
        assert!(
            csv(&people(2), &wrong).unwrap_err().starts_with("t.csv:2:4: row 1, column `balance`"),
            "{separator:?}"
        );
        let short = format!("age{separator}balance\n1\n");
        assert!(csv(&people(1), &short).unwrap_err().starts_with("t.csv:1:1: column `code`"), "{separator:?}");
    }
    let port = Port::new("a", Type::List(Box::new(record(&[("a;b", Type::Unsigned(4)), ("c", Type::Unsigned(4))])), 3));
    assert_eq!(csv(&port, "\"a;b\",c\n1,2\n").unwrap(), r#"[{"a;b":1,"c":2}]"#);
    assert_eq!(csv(&port, "a;b,c\n1,2\n").unwrap(), r#"[{"a;b":1,"c":2}]"#);
    let error = csv(&people(1), "age;\"kind\" ;balance;code\n").unwrap_err();
    assert!(error.contains("expected a semicolon or the end of the line after a cell"), "{error}");
}

#[test]
fn a_cell_that_is_no_number_is_told_what_to_write_there() {
    let hint = |ty: Type, cell: &str| {
        let port = Port::new("n", Type::Array(Box::new(ty), 1));
        let error = csv(&port, &format!("n\n{cell}\n")).unwrap_err();
        error.rsplit_once(" (").map(|(_, hint)| hint.trim_end_matches(')').to_string())
    };
    for cell in ["10.5", "\"10,5\"", "1e3", "-0.5"] {
        for ty in [Type::Unsigned(8), Type::Signed(8), Type::Bits(8)] {
            assert_eq!(hint(ty, cell).as_deref(), Some(FRACTION_HINT.trim_end_matches(')')), "{cell}");
        }
    }
    assert_eq!(hint(Type::Unsigned(8), "ten").as_deref(), Some("write a whole number"));
    assert_eq!(hint(Type::Unsigned(8), "256").as_deref(), Some("u8 is 0 to 255"));
    assert_eq!(hint(Type::Fixed(8, 8), "\"1,25\"").as_deref(), Some("write a decimal point, such as 1.25"));
    let json = read_value("v", "10.5", &Type::Unsigned(8)).unwrap_err();
    assert_eq!(json.hint.as_deref(), Some(FRACTION_HINT));
}

#[test]
fn plain_arrays_have_one_column() {
    let port = Port::new("ids", Type::Array(Box::new(Type::Unsigned(4)), 3));
    assert_eq!(csv(&port, "ids\n1\n2\n15\n").unwrap(), "[1,2,15]");
    assert_eq!(lines(&port, "{\"ids\": 1}\n2\n{\"n\": 0, \"ids\": 15}\n").unwrap(), "[1,2,15]");
    assert_eq!(
        csv(&Port::new("id", Type::Unsigned(4)), "id\n1\n").unwrap_err(),
        "t.csv: a table is for an array, input `id` is u4 (give the input as JSON)"
    );
    let flags = Port::new("flags", Type::Array(Box::new(Type::Bool), 4));
    assert_eq!(csv(&flags, "flags\nTrue\nfalse\nFALSE\n1\n").unwrap(), "[true,false,false,true]");
}

#[test]
fn columns_are_chosen_renamed_and_left_out() {
    let port = Port::new(
        "offers",
        Type::List(Box::new(record(&[("id", Type::Unsigned(4)), ("price", Type::Fixed(4, 4))])), 3),
    );
    let names = [("id", "customer_id")];
    let expected = (r#"[{"id":3,"price":"-1.5625"},{"id":4,"price":"2"}]"#.to_string(), "id,town".to_string());
    let text = "price,id,customer_id,town\n-1.55,9,3,Chur\n\"2\",9,4,Bristol\n";
    assert_eq!(read(&port, (TableFormat::Csv, text), &names).unwrap(), expected);
    let text = "{\"price\": -1.55, \"customer_id\": 3, \"id\": 9}\n{\"town\": null, \"id\": 1, \"customer_id\": 4, \"price\": \"2\"}\n";
    assert_eq!(read(&port, (TableFormat::JsonLines, text), &names).unwrap(), expected);
    let refused = |text: &str, names: &[(&str, &str)]| read(&port, (TableFormat::Csv, text), names).unwrap_err();
    assert_eq!(
        refused("price,id\n", &names),
        "t.csv:1:1: column `customer_id` (u4) is missing; columns: price, id (--column id=COLUMN reads it from a column of another name)"
    );
    assert_eq!(
        refused("prices,id\n", &[]),
        "t.csv:1:1: column `price` (fixed<4, 4>) is missing; columns: prices, id (--column price=prices reads it from a column of another name)"
    );
    assert_eq!(
        refused("price,id\n", &[("prise", "cost")]),
        "t.csv:1:1: column `cost` is given for field `prise`, which does not exist (did you mean `price`?)"
    );
    assert_eq!(refused("id,price,id\n", &[]), "t.csv:1:1: column `id` appears twice");
    assert_eq!(
        refused("price,no\n1,99\n", &[("id", "no")]),
        "t.csv:2:3: row 1, column `no` (field `id`): expected u4, got a number out of range (u4 is 0 to 15)"
    );
    let text = "{\"price\": 1, \"id\": 2}\n{\"price\": 1}\n";
    let error = read(&port, (TableFormat::JsonLines, text), &[]).unwrap_err();
    assert!(error.starts_with("t.jsonl:2:1: column `id` (u4) is missing; columns: price"), "{error}");
}

#[test]
fn records_in_records_are_one_column_or_several() {
    let address = record(&[("zip", Type::Unsigned(16)), ("door", record(&[("floor", Type::Signed(4))]))]);
    let port = Port::new("p", Type::Array(Box::new(record(&[("id", Type::Unsigned(4)), ("address", address)])), 1));
    let expected = r#"[{"address":{"door":{"floor":-1},"zip":1000},"id":3}]"#;
    let whole = "id,address\n3,\"{\"\"zip\"\": 1000, \"\"door\"\": {\"\"floor\"\": -1}}\"\n";
    for text in [
        whole,
        "address.door.floor,id,address.zip\n-1,3,1000\n",
        "id,address.zip,address.door\n3,1000,\"{\"\"floor\"\": -1}\"\n",
    ] {
        assert_eq!(csv(&port, text).unwrap(), expected, "{text}");
    }
    assert_eq!(lines(&port, r#"{"id": 3, "address": {"zip": 1000, "door": {"floor": -1}}}"#).unwrap(), expected);
    let names = [("address.zip", "postcode"), ("address.door.floor", "floor")];
    let text = "id,postcode,floor\n3,1000,-1\n";
    assert_eq!(read(&port, (TableFormat::Csv, text), &names).unwrap().0, expected);
    let error = csv(&port, "id,address.zip\n3,1\n").unwrap_err();
    assert!(error.starts_with("t.csv:1:1: column `address.door` ({floor: i4}) is missing"), "{error}");
}

#[test]
fn another_number_of_rows_is_refused() {
    let list = Port::new("ids", Type::List(Box::new(Type::Unsigned(4)), 2));
    assert_eq!(csv(&list, "ids\n").unwrap(), "[]");
    assert_eq!(
        csv(&list, "ids\n1\n2\n3\n99\n").unwrap_err(),
        "t.csv: input `ids` is [u4; ..2], expected at most 2 rows, got more (the first line, which names the columns, is not a row)"
    );
    assert_eq!(
        lines(&list, "1\n2\n3\n").unwrap_err(),
        "t.jsonl: input `ids` is [u4; ..2], expected at most 2 rows, got more"
    );
    let array = Port::new("ids", Type::Array(Box::new(Type::Unsigned(4)), 2));
    assert!(csv(&array, "ids\n1\n").unwrap_err().starts_with("t.csv: input `ids` is [u4; 2], expected 2 rows, got 1"));
}

#[test]
fn every_mismatch_names_its_place() {
    for (text, expected) in [
        ("128,1,ab,Guest", "t.csv:2:1: row 1, column `age`: expected u7, got a number out of range"),
        ("12,x,ab,Guest", "t.csv:2:4: row 1, column `balance`: expected i8, got a string"),
        ("12,1,abc,Guest", "t.csv:2:6: row 1, column `code`: expected [u8; 2], that is 2 bytes of UTF-8, got more"),
        ("12,1,ab,Gast", "t.csv:2:9: row 1, column `kind`: expected a variant, got another name"),
        ("12,1,,Guest", "t.csv:2:6: row 1, column `code`: expected [u8; 2], got an empty cell"),
        ("12,1", "t.csv:2:1: expected 4 cells, got 2"),
    ] {
        let error = csv(&people(1), &format!("age,balance,code,kind\n{text}\n")).unwrap_err();
        assert!(error.starts_with(expected), "{text:?}: {error}");
    }
    let errors = csv(&people(2), "age,balance,code,kind\n128,1,ab,Guest\n1,128,ab,Guest\n").unwrap_err();
    assert_eq!(errors.lines().count(), 2);
    let many = csv(&people(99), &format!("age,balance,code,kind\n{}", "x,x,ab,Guest\n".repeat(99))).unwrap_err();
    assert_eq!(many.lines().count(), 20);
    for (line, expected) in [
        (
            r#"{"age": 128, "balance": 1, "code": "ab", "kind": "Guest"}"#,
            "t.jsonl:3:9: row 2, column `age`: expected u7, got a number out of range",
        ),
        (
            r#"{"age": null, "balance": 1, "code": "ab", "kind": "Guest"}"#,
            "t.jsonl:3:9: row 2, column `age`: expected u7, got null",
        ),
        (r#"{"age": 1, "age": 2}"#, "t.jsonl:3:12: row: `age` appears twice"),
        ("[1, 2]", "t.jsonl:3:1: row: expected an object, got an array"),
        ("{", "t.jsonl:3:1: not JSON: "),
    ] {
        let good = r#"{"age": 1, "balance": 1, "code": "ab", "kind": "Guest"}"#;
        let error = lines(&people(3), &format!("\n{good}\n{line}\n{good}\n")).unwrap_err();
        assert!(error.starts_with(expected), "{line}: {error}");
    }
    let latin = Table { file: "l.csv", format: TableFormat::Csv, bytes: b"age\n\xe9\n", renamed: &[] };
    let error = latin.port(&people(1)).err().expect("no UTF-8").to_string();
    assert_eq!(error, "l.csv: it is not UTF-8 text");
}

#[test]
fn quotation_marks_that_open_or_close_no_cell_are_refused() {
    let list = Port::new("key", Type::List(Box::new(Type::Unsigned(8)), 8));
    let text = "key,note\n1,ok\n2,\"5 inch\n3,ok\n4,ok\n";
    let keys = |text: &str| csv(&list, text).unwrap_err();
    assert_eq!(
        keys(text),
        "t.csv:3:3: a quotation mark opens a cell that is never closed (inside a cell in quotation marks, write two for one; \
         elsewhere one is enough)"
    );
    assert!(keys("key\n\"ab\ncd\n").starts_with("t.csv:2:1: a quotation mark opens a cell that is never closed"));
    assert!(keys("key\n\"12\"34\n").starts_with("t.csv:2:1: expected a comma or the end of the line after a cell"));
    assert!(keys("note, \"key\"\n1,2\n").starts_with("t.csv:1:7: a quotation mark with blanks before it opens no"));
    let texts = keys_of(&[]).0;
    let read = csv(&texts, "note,key\n5\" inch,\"a\n,\"\"\"\n").unwrap();
    assert_eq!(read, "[[97,10,44,34]]");
}

#[test]
fn an_empty_line_is_no_row_and_stands_for_none() {
    let list = Port::new("n", Type::List(Box::new(Type::Unsigned(8)), 8));
    let hint = "there are no missing values: leave out the";
    let refused = csv(&list, "n\n10\n20\n\n40\n").unwrap_err();
    assert_eq!(refused, format!("t.csv:4:1: expected a row, got an empty line ({hint} row, or fill it in)"));
    assert_eq!(csv(&list, "\nn\n10\n20\n\n\r\n").unwrap(), "[10,20]");
    // A row of several cells cannot be empty.
    assert_eq!(csv(&list, "n,m\r\r\n10,1\r\r\n20,2\r\r\n").unwrap(), "[10,20]");
    for text in ["n\n10\n  \n40\n", "n\n10\n\"\"\n40\n", "n,m\n10,1\n,\n40,4\n"] {
        let refused = csv(&list, text).unwrap_err();
        assert!(refused.ends_with("row 2, column `n`: expected u8, got an empty cell"), "{refused}");
    }
    let refused = lines(&list, "10\n20\n \n40\n").unwrap_err();
    assert_eq!(refused, format!("t.jsonl:3:1: expected a row, got an empty line ({hint} line, or fill it in)"));
    assert_eq!(lines(&list, "\n10\n{\"n\": 20}\n\n\n").unwrap(), "[10,20]");
}

/// Cells of lists of bytes and what they are: in CSV, and as a string of JSON lines.
const TEXTS: [(&str, &str, &str); 7] = [
    (" ab", "\" ab\"", "\" ab\""),
    (" ab", " ab", "\" ab\""),
    ("\u{a0}ab ", "\u{a0}ab ", "\"\u{a0}ab \""),
    ("\"ab\"", "\"\"\"ab\"\"\"", r#""\"ab\"""#),
    ("0x61", "0x61", "\"0x61\""),
    ("  ", "  ", "\"  \""),
    ("true", "true", "\"true\""),
];

/// The bits of a list of the bytes of each text.
pub(in crate::value) fn keys_of(texts: &[&str]) -> (Port, Bits) {
    let port = Port::new("key", Type::List(Box::new(Type::List(Box::new(Type::Unsigned(8)), 8)), 4));
    let json = serde_json::json!(texts.iter().map(|text| text.as_bytes()).collect::<Vec<_>>());
    let bits = read_value("", &json.to_string(), &port.ty).expect("lists of bytes");
    (port, bits)
}

#[test]
fn a_text_is_the_same_bytes_in_every_format() {
    for (text, cell, string) in TEXTS {
        let (port, expected) = keys_of(&[text]);
        for (format, file) in
            [(TableFormat::Csv, format!("key\n{cell}\n")), (TableFormat::JsonLines, format!("{{\"key\": {string}}}\n"))]
        {
            let read = Table { file: "t", format, bytes: file.as_bytes(), renamed: &[] }.port(&port);
            assert!(read.is_ok_and(|read| read.values == expected), "{file:?}");
        }
    }
    // CSV has no types: what begins with a bracket is JSON there.
    let list = keys_of(&[]).0;
    assert_eq!(csv(&list, "key\n[1]\n\"{\"\"text\"\": \"\"[1]\"\"}\"\n").unwrap(), "[[1],[91,49,93]]");
    assert_eq!(lines(&list, "{\"key\": [1]}\n{\"key\": \"[1]\"}\n").unwrap(), "[[1],[91,49,93]]");
    // Numbers, Booleans and variants are what they are with blanks around them, too.
    let kind = Type::Enum(vec![("Guest".into(), vec![])]);
    let row = record(&[("n", Type::Signed(8)), ("p", Type::Fixed(4, 4)), ("b", Type::Bool), ("k", kind)]);
    let rows = Port::new("rows", Type::Array(Box::new(row), 1));
    let read = csv(&rows, "n,p,b,k\n -3 ,\u{a0}1.5,\" True \", Guest\n").unwrap();
    assert_eq!(read, r#"[{"b":true,"k":"Guest","n":-3,"p":"1.5"}]"#);
}

#[test]
fn a_number_is_no_byte_string() {
    let keys = Port::new("key", Type::Array(Box::new(Type::Bytes(16)), 1));
    let refused = lines(&keys, "{\"key\": 1234567890123456}\n").unwrap_err();
    assert!(refused.starts_with("t.jsonl:1:9: row 1, column `key`: expected bytes16, got a number ("), "{refused}");
    assert_eq!(csv(&keys, "key\n1234567890123456\n").unwrap(), r#"[{"hex":"31323334353637383930313233343536"}]"#);
    let bytes = Port::new("key", Type::Array(Box::new(Type::Bytes(1)), 1));
    assert_eq!(lines(&bytes, "{\"key\": 7}\n").unwrap(), r#"[{"hex":"07"}]"#);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(rows in "[a-z0-9é,\"{}\\[\\]:x \n-]{0,60}", header: bool) {
        let names = if header { "age,balance,code,kind\n" } else { "" };
        let text = format!("{names}{rows}");
        for (format, _) in TableFormat::ALL {
            let table = Table { file: "t", format: *format, bytes: text.as_bytes(), renamed: &[] };
            if let Ok(read) = table.port(&people(2)) {
                prop_assert_eq!(read.values.len() as u64, people(2).ty.width());
            }
        }
    }
}

#[test]
fn a_build_without_arrow_and_parquet_says_so_and_how_to_get_them() {
    for (format, endings) in TableFormat::ALL {
        let file = format!("sales.{}", endings[0]);
        assert_eq!(format.check_in_build(&file, true), Ok(()));
        match format {
            TableFormat::Csv | TableFormat::JsonLines => assert_eq!(format.check_in_build(&file, false), Ok(())),
            TableFormat::Arrow | TableFormat::Parquet => {
                let lacks = format.check_in_build(&file, false).expect_err("it is not there");
                assert_eq!(
                    lacks.render(),
                    format!(
                        "this build has no Arrow and Parquet\n --> {file}\n\
                         hint: build the command with `--features parquet`, or use CSV or JSON lines\n"
                    )
                );
            }
        }
        // This build has them or not, and both reading and writing ask.
        assert_eq!(format.check_built(&file), format.check_in_build(&file, cfg!(feature = "arrow")));
    }
}

#[cfg(not(feature = "arrow"))]
#[test]
fn a_build_without_them_reads_and_writes_no_such_file() {
    let table = Table { file: "sales.parquet", format: TableFormat::Parquet, bytes: b"PAR1", renamed: &[] };
    let refused = table.port(&people(1)).map(drop).expect_err("it is not there");
    assert!(refused.render().starts_with("this build has no Arrow and Parquet\n"), "{refused:?}");
}
