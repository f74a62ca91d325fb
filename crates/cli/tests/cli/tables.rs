//! Inputs and results as tables, and batches.

use std::{io::Write, process::Stdio};

use serde_json::{Value, json};

use crate::{
    identities::pair,
    invocation::{Folder, Ran, command, finish, garblet},
};

const PLAIN: &str = "--insecure-plain-tcp";

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
    let left_out = |name: &str| format!("note: {name}: left out, since nothing takes them: `town`\n");
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
        "error: --column id=customer_id: several parties give inputs here\n",
        "hint: say whose it is: --column 0:id=customer_id\n",
    );
    refused(
        &["--input", &file, "--column", "0:ids=customer_id", "--column", "0:id=customer_id"],
        "error: column `customer_id` is given for field `ids`, which there is not\n",
        "hint: did you mean `id`?\n",
    );
    refused(
        &["--input", &file, "--column", "0:id=customer_id", "--column", "1:least=most"],
        "least.json is no table\n",
        "hint: tables are CSV, JSON lines, Arrow and Parquet files\n",
    );
    refused(
        &["--input", "0=-"],
        "error: --input 0=-: the format of standard input is not known\n",
        "hint: name it, for instance --input-format csv\n",
    );
    let bad = format!("0={}", folder.file("bad.csv", "id,price\n1,2\n70000,3\n"));
    refused(
        &["--input", &bad],
        "error: row 2, column `id`: expected u16, got 70000, which is out of range\n",
        "hint: u16 is 0 to 65535\n",
    );
}

#[test]
fn a_parquet_file_of_another_tool_is_read_and_others_are_written() {
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
        // What was written is read again.
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
fn results_go_to_files_whole_or_not_at_all() {
    let (folder, eval) = above("outputs");
    let file = format!("0={}", folder.file("offers.csv", &OFFERS.replace("customer_id", "id")));
    let csv = folder.path("found.csv");
    let written = ran(&eval, &["--input", &file, "--output", &csv]);
    assert_eq!((written.status, &written.stdout[..]), (Some(0), ""));
    assert_eq!(std::fs::read_to_string(&csv).expect("written"), "id,price\n8,120\n9,50.5\n");
    // A run that fails leaves the file as it was.
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
        "error: a file holds one table, the outputs are out0, out1\n\
         hint: choose one: --output out0=FILE; or write all as JSON\n",
    );
    let chosen = eval(&["--output", &format!("out0={one}")]);
    assert_eq!(chosen.stdout, "out1 = 3\n");
    assert_eq!(std::fs::read_to_string(&one).expect("written"), "out0\n1\n2\n");
    eval(&["--output", &format!("out2={one}")]).fails(
        2,
        &format!("error: --output out2={one}: the program has no output `out2`\nhint: there is: out0, out1\n"),
    );
    eval(&["--output", "out.xls"]).fails(
        2,
        "error: --output out.xls: the ending says no format\n\
         hint: end it in .json, .csv, .jsonl, .arrow or .parquet, or give --output-format\n",
    );
    eval(&["--output-format", "arrow"])
        .fails(2, "error: --output-format: standard output is for text\nhint: give --output FILE\n");
}

const OFFER: &str = "examples/batch/offer.garble.rs";
const ROWS: [&str; 6] =
    ["--batch", "rows", "--input", "0=examples/batch/buyer.csv", "--input", "1=examples/batch/seller.jsonl"];
const BUYER: &str = "offer\n120\n45\n310\n80\n";
const DEALS: &str = "{\"agreed\":true,\"price\":110}\n{\"agreed\":false,\"price\":0}\n\
                     {\"agreed\":true,\"price\":280}\n{\"agreed\":true,\"price\":80}\n";

#[test]
fn a_batch_of_rows_is_one_run() {
    for command in ["eval", "local"] {
        let ran = garblet(&[&[command, OFFER], &ROWS[..]].concat());
        assert_eq!((ran.status, &ran.stdout[..]), (Some(0), DEALS), "{}", ran.stderr);
    }
    let several = [&["local", OFFER, "--protocol", "bmr", "--parties", "3"], &ROWS[..], &["--json"]].concat();
    let report = garblet(&several).json();
    assert_eq!(report["rows"], 4);
    assert_eq!(report["outputs"]["price"]["value"], json!([110, 0, 280, 80]));
    let folder = Folder::new("batch-rows");
    // The first line of a party that listens says where, with no note before it.
    let buyer = format!("0={}", folder.file("buyer.csv", BUYER));
    let [left, right] = [&buyer, ROWS[5]].map(|input| {
        [OFFER, "--party", &input[..1], "--batch", "rows", "--input", input, PLAIN, "--output-format", "csv"]
    });
    let (listening, connecting) = pair(&left, &right);
    let expected = "agreed,price,panic\ntrue,110,\nfalse,0,\ntrue,280,\ntrue,80,\n";
    assert_eq!((&listening.stdout[..], &connecting.stdout[..]), (expected, expected), "{}", listening.stderr);
}

#[test]
fn parties_with_other_numbers_of_rows_are_told() {
    let folder = Folder::new("rows-differ");
    let short = folder.file("short.csv", "lowest\n1\n2\n");
    let local = ["eval", OFFER, "--batch", "rows", "--input", ROWS[3], "--input", &format!("1={short}")];
    garblet(&local).fails(
        2,
        "note: examples/batch/buyer.csv: left out, since nothing takes them: `lot`, `name`\n\
             error: --batch: party 0 has 4 rows, party 1 has 2\n\
             hint: a row is one evaluation, so all parties have the same number\n",
    );
    let (buyer, short) = (format!("0={}", folder.file("buyer.csv", BUYER)), format!("1={short}"));
    let left = [OFFER, "--party", "0", "--batch", "rows", "--input", &buyer, PLAIN];
    let right = [OFFER, "--party", "1", "--batch", "rows", "--input", &short, PLAIN];
    let (listening, connecting) = pair(&left, &right);
    assert!(listening.stderr.contains("rows: ours 4, theirs 2"), "{}", listening.stderr);
    assert!(connecting.stderr.contains("rows: ours 2, theirs 4"), "{}", connecting.stderr);
}

#[test]
fn a_batch_of_files_takes_them_by_name() {
    let folder = Folder::new("batch-files");
    let [buyer, seller] = ["buyer", "seller"].map(|name| folder.path(name));
    for (path, port, values) in [(&buyer, "offer", [120, 45, 310]), (&seller, "lowest", [100, 60, 250])] {
        std::fs::create_dir_all(path).expect("a folder");
        for (name, value) in ["b.json", "c.json", "a.json"].iter().zip(values) {
            std::fs::write(format!("{path}/{name}"), format!("{{\"{port}\": {value}}}")).expect("a file");
        }
    }
    let inputs = [
        format!("0={buyer}"),
        format!("1={seller}/b.json"),
        format!("1={seller}/a.json"),
        format!("1={seller}/c.json"),
    ];
    let files = inputs[1..].iter().flat_map(|input| ["--input", input]);
    let first = ["eval", OFFER, "--batch", "files", "--input", &inputs[0]];
    let ran = garblet(&first.into_iter().chain(files).collect::<Vec<_>>());
    // The folder's are a, b, c; those of the seller as they were given.
    let expected = "{\"agreed\":true,\"price\":205}\n{\"agreed\":false,\"price\":0}\n{\"agreed\":false,\"price\":0}\n";
    assert_eq!(ran.stdout, expected, "{}", ran.stderr);
}

#[test]
fn rows_that_panic_have_no_result_and_the_others_have() {
    let folder = Folder::new("batch-panics");
    let source = folder.file("div.garble.rs", "pub fn main(a: u8, b: u8) -> u8 { a / b }");
    let a = format!("0={}", folder.file("a.csv", "a\n8\n9\n10\n"));
    let b = format!("1={}", folder.file("b.csv", "b\n2\n0\n5\n"));
    for command in ["eval", "local"] {
        let ran = garblet(&[command, &source, "--batch", "rows", "--input", &a, "--input", &b]);
        let lines: Vec<&str> = ran.stdout.lines().collect();
        assert_eq!((lines[0], lines[2], ran.status), ("{\"out0\":4}", "{\"out0\":2}", Some(0)), "{}", ran.stderr);
        assert!(lines[1].starts_with("{\"panic\":\"") && lines[1].contains("div.garble.rs:1:"), "{}", ran.stdout);
        assert!(ran.stderr.contains("warning: 1 of 3 rows have no result; row 2 panicked at "), "{}", ran.stderr);
    }
    let out = folder.path("out.csv");
    garblet(&["eval", &source, "--batch", "rows", "--input", &a, "--input", &b, "--output", &out]);
    let csv = std::fs::read_to_string(&out).expect("written");
    assert!(csv.starts_with("out0,panic\n4,\n,"), "{csv}");
}

#[test]
fn batches_that_cannot_be_are_refused() {
    let folder = Folder::new("batch-refused");
    let (empty, json) = (folder.file("empty.csv", "offer\n"), folder.file("a.json", "{\"offer\": 1}"));
    let refused = |more: &[&str], stderr: &str| garblet(&[&["eval", OFFER], more].concat()).fails(2, stderr);
    refused(
        &["--batch", "rows", "--input", &format!("0={empty}")],
        "error: --batch: party 0 has no rows, expected one at least\n",
    );
    refused(
        &["--batch", "rows", "--input", &format!("0={json}")],
        &format!(
            "error: --batch rows: {json} is no table\n\
             hint: rows are those of CSV, JSON lines, Arrow and Parquet files; --batch files takes a file for each evaluation\n"
        ),
    );
    refused(&["--batch", "7"], "error: --batch 7: party 0 has inputs\nhint: --batch rows or files reads them\n");
    let folder = folder.path(".");
    let ran = garblet(&["eval", OFFER, "--batch", "0", "--input", &format!("0={folder}")]);
    assert!(ran.stderr.contains("expected rows, files, or how many rows there are"), "{}", ran.stderr);
}

#[test]
fn a_plan_and_prepared_runs_are_of_so_many_rows() {
    let plan = |rows: &str| garblet(&["plan", OFFER, "--protocol", "gmw", "--batch", rows, "--json"]).json();
    let (one, ten) = (plan("1"), plan("10"));
    assert_eq!(ten["program"]["and"].as_u64(), one["program"]["and"].as_u64().map(|and| 10 * and));
    assert_eq!(ten["program"]["and_depth"], one["program"]["and_depth"]);
    let folder = Folder::new("batch-prepared");
    let (store, key) = (folder.path("stores"), folder.path("key"));
    let stored = ["local", OFFER, "--protocol", "bmr", "--store", &store, "--store-key", &key];
    let prepared = garblet(&[&stored[..], &["--prepare", "1", "--batch", "4"]].concat());
    assert_eq!(prepared.status, Some(0), "{}", prepared.stderr);
    let ran = garblet(&[&stored[..], &ROWS[..]].concat());
    assert_eq!(ran.stdout, DEALS, "{}", ran.stderr);
    let again = garblet(&[&stored[..], &ROWS[..]].concat());
    assert_eq!(again.status, Some(1));
    assert!(again.stderr.contains(" --batch 4 "), "{}", again.stderr);
}
