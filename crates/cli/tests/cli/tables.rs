//! Inputs and results as tables.

use std::{io::Write, process::Stdio};

use serde_json::{Value, json};

use crate::invocation::{Folder, Ran, command, finish, garblet};

const ABOVE: &str = "
    struct Offer { id: u16, price: fixed<16, 16> }
    pub fn main(offers: [Offer; ..4], least: fixed<16, 16>) -> [Offer; ..4] {
        let mut found: [Offer; ..4] = [];
        for offer in offers {
            if offer.price > least {
                found.push(offer);
            }
        }
        found
    }";

const OFFERS: &str = "customer_id,town,price\n7,Chur,9.75\n8,Bristol,120\n9,Aarhus,50.5\n";

/// A folder with the program and the other party's input.
fn above(name: &str) -> (Folder, [String; 4]) {
    let folder = Folder::new(name);
    let source = folder.file("above.garble.rs", ABOVE);
    let least = format!("1={}", folder.file("least.json", "{\"least\": 20}"));
    (folder, ["eval".into(), source, "--input".into(), least])
}

fn ran(arguments: &[String], more: &[&str]) -> Ran {
    garblet(&arguments.iter().map(String::as_str).chain(more.iter().copied()).collect::<Vec<_>>())
}

fn fed(arguments: &[String], more: &[&str], input: &str) -> Ran {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).chain(more.iter().copied()).collect();
    let mut child = command(&arguments).stdin(Stdio::piped()).spawn().expect("the command starts");
    child.stdin.take().expect("it is piped").write_all(input.as_bytes()).expect("it reads");
    finish(child)
}

#[test]
fn columns_are_chosen_and_renamed_and_standard_input_is_read() {
    let (folder, eval) = above("columns");
    let expected = "out0 = [{\"id\":8,\"price\":\"120\"},{\"id\":9,\"price\":\"50.5\"}]\n";
    let file = format!("0={}", folder.file("offers.csv", OFFERS));
    let left_out = |name: &str| format!("note: {name}: columns not used by the program: `town`\n");
    let by_file = ran(&eval, &["--input", &file, "--column", "0:id=customer_id"]);
    assert_eq!((&by_file.stdout[..], by_file.stderr), (expected, left_out(&folder.path("offers.csv"))));
    let stdin = ["--input", "0=-", "--input-format", "0=csv", "--column", "0:id=customer_id"];
    let by_stdin = fed(&eval, &stdin, OFFERS);
    assert_eq!((&by_stdin.stdout[..], by_stdin.stderr), (expected, left_out("standard input")));
    let lines = "{\"price\": 9.75, \"id\": 7}\n{\"price\": 120, \"id\": 8}\n{\"id\": 9, \"price\": \"50.5\"}\n";
    assert_eq!(fed(&eval, &["--input", "0=-", "--input-format", "0=jsonl"], lines).stdout, expected);
}

#[test]
fn tables_that_do_not_fit_are_refused_with_row_and_column() {
    let (folder, eval) = above("columns-refused");
    let file = format!("0={}", folder.file("offers.csv", OFFERS));
    let refused = |more: &[&str], message: &str, hint: &str| {
        let ran = ran(&eval, more);
        assert_eq!(ran.status, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(message) && ran.stderr.contains(hint), "{}", ran.stderr);
        assert_eq!(ran.stdout, "");
    };
    refused(
        &["--input", &file],
        "error: column `id` (u16) is missing; there is: customer_id, town, price\n",
        "hint: --column id=COLUMN reads it from a column of another name\n",
    );
    refused(
        &["--input", &file, "--column", "id=customer_id"],
        "error: --column id=customer_id: several parties have inputs here\n",
        "hint: name the party: --column 0:id=customer_id\n",
    );
    refused(
        &["--input", &file, "--column", "0:ids=customer_id", "--column", "0:id=customer_id"],
        "error: column `customer_id` is given for field `ids`, which there is not\n",
        "hint: did you mean `id`?\n",
    );
    refused(
        &["--input", &file, "--column", "0:id=customer_id", "--column", "1:least=most"],
        "least.json is not a table\n",
        "hint: tables are CSV, JSON lines, Arrow and Parquet files\n",
    );
    refused(
        &["--input", "0=-"],
        "error: --input 0=-: the format of standard input is unknown\n",
        "hint: give it, for instance --input-format csv\n",
    );
    let bad = format!("0={}", folder.file("bad.csv", "id,price\n1,2\n70000,3\n"));
    refused(
        &["--input", &bad],
        "error: row 2, column `id`: expected u16, got a number out of range\n",
        "hint: u16 is 0 to 65535\n",
    );
    let open = format!("0={}", folder.file("open.csv", "id,price,note\n1,2,ok\n2,30,\"5 inch\n3,40,ok\n4,50,ok\n"));
    refused(&["--input", &open], "error: a quotation mark opens a cell that is never closed\n", "open.csv:3:6\n");
}

#[test]
fn an_empty_line_is_not_a_missing_cell() {
    let folder = Folder::new("empty-line");
    let groups = format!("0={}", folder.file("groups.csv", "groups\n0\n2\n2\n1\n0\n"));
    let sums = |values: &str| {
        let values = format!("1={}", folder.file("values.csv", values));
        garblet(&["eval", "lib:group-sum(5,3,16)", "--input", &groups, "--input", &values])
    };
    let shifted = sums("values\n10\n20\n\n40\n50\n");
    assert_eq!((shifted.status, &shifted.stdout[..]), (Some(2), ""));
    assert!(shifted.stderr.starts_with("error: expected a row, got an empty line\n"), "{}", shifted.stderr);
    let whole = sums("values\n10\n20\n0\n40\n50\n\n");
    assert!(whole.stdout.starts_with("sums = [60,40,20]\n"), "{}", whole.stderr);
}

#[test]
fn options_without_effect_are_refused() {
    let (folder, eval) = above("twice");
    let file = format!("0={}", folder.file("offers.csv", OFFERS));
    let call = |more: &[&str]| ran(&eval, &[&["--input", &file, "--column", "0:id=customer_id"], more].concat());
    let formats = call(&["--input-format", "0=csv", "--input-format", "0=jsonl"]);
    formats.fails(2, "error: --input-format: party 0 has two formats, expected one\n");
    call(&["--input-format", "json", "--input-format", "csv"])
        .fails(2, "error: --input-format: two formats, expected one\nhint: give party K's format with K=FORMAT\n");
    call(&["--column", "0:id=town"])
        .fails(2, "error: --column: field `id` has two columns, `customer_id` and `town`\n");
    // The party's own format applies, in any order of the options.
    let formats = ["--input-format", "json", "--input-format", "0=csv"];
    for formats in [&formats[..], &[&formats[2..], &formats[..2]].concat()] {
        assert!(call(formats).stdout.starts_with("out0 = [{\"id\":8"));
    }
    // The same if a party gives only its own.
    let run = ["run", &eval[1], "--party", "0", "--insecure-plain-tcp", "--connect", "127.0.0.1:1", "--timeout", "1s"];
    let twice = |more: &[&str]| garblet(&[&run[..], &["--input", &file, "--input"], more].concat());
    twice(&[&file]).fails(
        2,
        "error: --input: party 0 has two files, expected one\nhint: --batch files takes one file per evaluation\n",
    );
    twice(&[&file, "--batch", "rows"]).fails(
        2,
        "error: --input: party 0 has two files, expected one\nhint: --batch files takes one file per evaluation\n",
    );
    let stdin = ["run", &eval[1], "--party", "0", "--insecure-plain-tcp", "--connect", "127.0.0.1:1"];
    let stdin = garblet(&[&stdin[..], &["--batch", "files", "--input", "0=-", "--input", "0=-"]].concat());
    stdin.fails(2, "error: --input: standard input is given twice, expected once\n");
}

#[test]
fn units_of_dates_and_times_are_reported() {
    let folder = Folder::new("units");
    let source = folder.file(
        "seen.garble.rs",
        "pub struct Row { seen: i64, joined: u16 }
         pub fn main(people: [Row; 40], none: bool) -> i64 { people[0].seen }",
    );
    let none = format!("1={}", folder.file("none.json", "{\"none\": false}"));
    let ran = garblet(&["eval", &source, "--input", "0=vectors/tables/people.parquet", "--input", &none]);
    let note = |told: &str| format!("note: vectors/tables/people.parquet: column `{told}\n");
    for told in ["joined` is read as days", "seen` is read as microseconds"] {
        assert!(ran.stderr.contains(&note(told)), "{}", ran.stderr);
    }
    assert_eq!(ran.status, Some(0));
}

#[test]
fn a_parquet_file_from_another_tool_is_read_and_others_are_written() {
    let folder = Folder::new("parquet");
    let source = folder.file(
        "adults.garble.rs",
        "pub struct Person { customer_id: u64, age: u8, vip: bool }
         pub struct Row { id: u64, age: u8 }
         pub fn main(people: [Person; ..64], from: u8) -> [Row; ..64] {
             let mut found: [Row; ..64] = [];
             for person in people {
                 if person.vip & (person.age >= from) {
                     found.push(Row { id: person.customer_id, age: person.age });
                 }
             }
             found
         }",
    );
    let from = format!("1={}", folder.file("from.json", "{\"from\": 50}"));
    let people: Vec<Value> =
        serde_json::from_slice(&std::fs::read("../../vectors/tables/people.json").expect("a file")).expect("JSON");
    let found = people.iter().filter(|p| p["vip"] == true && p["age"].as_u64() >= Some(50));
    let expected: Vec<Value> = found.map(|p| json!({"id": p["customer_id"].to_string(), "age": p["age"]})).collect();
    assert_eq!(expected.len(), 3);
    for file in ["people.parquet", "people.arrow", "people.arrows"] {
        let input = format!("0=vectors/tables/{file}");
        let [arrow, parquet, json] = ["a.arrow", "a.parquet", "a.json"].map(|name| folder.path(name));
        let first = ["eval", &source, "--input", &input, "--input", &from];
        let outputs = ["--output", &arrow, "--output", &parquet, "--output", &json];
        let written = garblet(&[&first[..], &outputs].concat());
        assert_eq!((written.status, &written.stdout[..]), (Some(0), ""), "{}", written.stderr);
        let value: Value = serde_json::from_slice(&std::fs::read(&json).expect("written")).expect("JSON");
        assert_eq!(value, json!({ "out0": expected }), "{file}");
        // Written files can be read back.
        let back = folder.file(
            "back.garble.rs",
            "pub struct Row { id: u64, age: u8 }
             pub fn main(rows: [Row; ..64], none: bool) -> [Row; ..64] { rows }",
        );
        let none = format!("1={}", folder.file("none.json", "{\"none\": false}"));
        for written in [&arrow, &parquet] {
            let input = format!("0={written}");
            let back = garblet(&["eval", &back, "--input", &input, "--input", &none, "--output-format", "jsonl"]);
            let rows: Vec<Value> = back.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
            assert_eq!(rows, expected, "{written} {}", back.stderr);
        }
    }
}

#[test]
fn results_files_are_written_whole_or_not_at_all() {
    let (folder, eval) = above("outputs");
    let file = format!("0={}", folder.file("offers.csv", &OFFERS.replace("customer_id", "id")));
    let csv = folder.path("found.csv");
    let written = ran(&eval, &["--input", &file, "--output", &csv]);
    assert_eq!((written.status, &written.stdout[..]), (Some(0), ""));
    assert_eq!(std::fs::read_to_string(&csv).expect("written"), "id,price\n8,120\n9,50.5\n");
    // A failed run leaves the file unchanged.
    let bad = format!("0={}", folder.file("bad.csv", "id,price\n1,x\n"));
    assert_eq!(ran(&eval, &["--input", &bad, "--output", &csv]).status, Some(2));
    assert_eq!(std::fs::read_to_string(&csv).expect("written"), "id,price\n8,120\n9,50.5\n");
    let nowhere = folder.path("no/where.csv");
    ran(&eval, &["--input", &file, "--output", &nowhere])
        .fails(2, &format!("error: --output {nowhere}: the folder cannot be used: no such file or directory\n"));
    let left: Vec<_> =
        std::fs::read_dir(folder.path(".")).expect("a folder").flatten().map(|e| e.file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with(".tmp")), "{left:?}");
}

#[test]
fn a_file_holds_one_table() {
    let folder = Folder::new("one-table");
    let source = folder.file("two.garble.rs", "pub fn main(a: [u8; 2], b: u8) -> ([u8; 2], u8) { (a, b) }");
    let inputs = [("a", "[1, 2]"), ("b", "3")]
        .map(|(name, value)| folder.file(&format!("{name}.json"), &format!("{{\"{name}\": {value}}}")));
    let inputs = [format!("0={}", inputs[0]), format!("1={}", inputs[1])];
    let eval =
        |more: &[&str]| garblet(&[&["eval", &source, "--input", &inputs[0], "--input", &inputs[1]], more].concat());
    let (all, one) = (folder.path("all.csv"), folder.path("one.csv"));
    eval(&["--output", &all]).fails(
        2,
        "error: a file holds one table, but the outputs are out0, out1\n\
         hint: choose one: --output out0=FILE; or write all as JSON\n",
    );
    let chosen = eval(&["--output", &format!("out0={one}")]);
    assert_eq!(chosen.stdout, "out1 = 3\n");
    assert_eq!(std::fs::read_to_string(&one).expect("written"), "out0\n1\n2\n");
    eval(&["--output", &format!("out2={one}")]).fails(
        2,
        &format!("error: --output out2={one}: the program has no output `out2`\nhint: available: out0, out1\n"),
    );
    eval(&["--output", "out.xls"]).fails(
        2,
        "error: --output out.xls: the extension names no known format\n\
         hint: use .json, .csv, .jsonl, .arrow or .parquet, or give --output-format\n",
    );
    eval(&["--output-format", "arrow"])
        .fails(2, "error: --output-format: standard output is for text\nhint: give --output FILE\n");
}
