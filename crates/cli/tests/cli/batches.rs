//! Batches: a program for every row of tables, or for every file.

use std::fs;

use serde_json::{Value, json};

use crate::{
    identities::pair,
    invocation::{Folder, garblet},
};

const PLAIN: &str = "--insecure-plain-tcp";
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
    // The first line of a listening party is its address, with no note before it.
    let buyer = format!("0={}", folder.file("buyer.csv", BUYER));
    let [left, right] = [&buyer, ROWS[5]].map(|input| {
        [OFFER, "--party", &input[..1], "--batch", "rows", "--input", input, PLAIN, "--output-format", "csv"]
    });
    let (listening, connecting) = pair(&left, &right);
    let expected = "agreed,price,panic\ntrue,110,\nfalse,0,\ntrue,280,\ntrue,80,\n";
    assert_eq!((&listening.stdout[..], &connecting.stdout[..]), (expected, expected), "{}", listening.stderr);
}

#[test]
fn different_numbers_of_rows_are_reported() {
    let folder = Folder::new("rows-differ");
    let short = folder.file("short.csv", "lowest\n1\n2\n");
    let local = ["eval", OFFER, "--batch", "rows", "--input", ROWS[3], "--input", &format!("1={short}")];
    garblet(&local).fails(
        2,
        "note: examples/batch/buyer.csv: columns not used by the program: `lot`, `name`\n\
             error: --batch: party 0 has 4 rows, party 1 has 2\n\
             hint: each row is one evaluation, so all parties need the same number of rows\n",
    );
    let (buyer, short) = (format!("0={}", folder.file("buyer.csv", BUYER)), format!("1={short}"));
    let left = [OFFER, "--party", "0", "--batch", "rows", "--input", &buyer, PLAIN];
    let right = [OFFER, "--party", "1", "--batch", "rows", "--input", &short, PLAIN];
    let (listening, connecting) = pair(&left, &right);
    assert!(listening.stderr.contains("rows: ours 4, theirs 2"), "{}", listening.stderr);
    assert!(connecting.stderr.contains("rows: ours 2, theirs 4"), "{}", connecting.stderr);
}

#[test]
fn a_batch_of_files_sorts_them_by_name() {
    let folder = Folder::new("batch-files");
    let [buyer, seller] = ["buyer", "seller"].map(|name| folder.path(name));
    for (path, port, values) in [(&buyer, "offer", [120, 45, 310]), (&seller, "lowest", [100, 60, 250])] {
        fs::create_dir_all(path).expect("a folder");
        for (name, value) in ["b.json", "c.json", "a.json"].iter().zip(values) {
            fs::write(format!("{path}/{name}"), format!("{{\"{port}\": {value}}}")).expect("a file");
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
    // The folder's files are a, b, c; the seller's keep the given order.
    let expected = "{\"agreed\":true,\"price\":205}\n{\"agreed\":false,\"price\":0}\n{\"agreed\":false,\"price\":0}\n";
    assert_eq!(ran.stdout, expected, "{}", ran.stderr);
    let order = format!("note: {buyer}: 3 files, sorted by name from `a.json` to `c.json`\n");
    assert_eq!(ran.stderr, order);
}

/// A division by rows, of which the second panics, and its inputs.
fn division(folder: &Folder, divisors: &str) -> [String; 3] {
    let source = folder.file("div.garble.rs", "pub fn main(a: u8, b: u8) -> u8 { a / b }");
    let a = format!("0={}", folder.file("a.csv", "a\n10\n9\n30\n"));
    let b = format!("1={}", folder.file("b.csv", &format!("b\n{divisors}")));
    [source, a, b]
}

#[test]
fn only_rows_that_panic_have_no_result() {
    let folder = Folder::new("batch-panics");
    let [source, a, b] = &division(&folder, "2\n0\n3\n");
    for command in ["eval", "local"] {
        let ran = garblet(&[command, source, "--batch", "rows", "--input", a, "--input", b]);
        let lines: Vec<&str> = ran.stdout.lines().collect();
        assert_eq!((lines[0], lines[2], ran.status), ("{\"out0\":5}", "{\"out0\":10}", Some(0)), "{}", ran.stderr);
        assert!(lines[1].starts_with("{\"panic\":\"") && lines[1].contains("div.garble.rs:1:"), "{}", ran.stdout);
        assert!(ran.stderr.contains("warning: 1 of 3 rows have no result; row 2 panicked at "), "{}", ran.stderr);
        // Without checks the quotient by zero would be 255.
        let report = garblet(&[command, source, "--batch", "rows", "--input", a, "--input", b, "--json"]).json();
        assert_eq!(report["outputs"], json!({ "out0": { "value": [5, null, 10] } }), "{command}");
        assert_eq!(report["rows"], 3, "{command}");
        let panicked = report["panicked"].as_object().expect("the rows");
        assert!(panicked.len() == 1 && panicked["2"].as_str().is_some_and(|at| at.contains("division by zero")));
    }
    let out = folder.path("out.csv");
    garblet(&["eval", source, "--batch", "rows", "--input", a, "--input", b, "--output", &out]);
    let csv = fs::read_to_string(&out).expect("written");
    assert!(csv.starts_with("out0,panic\n5,\n,"), "{csv}");
    let log = folder.path("receipts.jsonl");
    let left =
        [source, "--party", "0", "--batch", "rows", "--input", a, PLAIN, "--receipts", &log, "--receipt-outputs"];
    let right = [source, "--party", "1", "--batch", "rows", "--input", b, PLAIN];
    let (listening, _) = pair(&left, &right);
    assert_eq!(listening.status, Some(0), "{}", listening.stderr);
    let receipt: Value = serde_json::from_str(&fs::read_to_string(&log).expect("a log")).expect("one line");
    assert_eq!(receipt["outputs"], json!({ "out0": { "value": [5, null, 10] } }), "{receipt}");
}

#[test]
fn a_batch_whose_rows_all_panic_has_no_result() {
    let folder = Folder::new("batch-all-panic");
    let [source, a, b] = &division(&folder, "0\n0\n0\n");
    let out = folder.path("out.csv");
    for command in ["eval", "local"] {
        let call = [command, source, "--batch", "rows", "--input", a, "--input", b];
        for more in [&["--json"][..], &["--output", &out], &[]] {
            let ran = garblet(&[&call[..], more].concat());
            let expected = format!("error: none of 3 rows has a result; the first panicked at {source}:1:");
            assert!(ran.stderr.starts_with(&expected), "{}", ran.stderr);
            assert_eq!(ran.status, Some(1));
            assert!(!ran.stdout.contains("out0"), "{}", ran.stdout);
        }
    }
    assert!(!fs::exists(&out).expect("a folder"));
}

#[test]
fn impossible_batches_are_refused() {
    let folder = Folder::new("batch-refused");
    let (empty, json) = (folder.file("empty.csv", "offer\n"), folder.file("a.json", "{\"offer\": 1}"));
    let refused = |more: &[&str], stderr: &str| garblet(&[&["eval", OFFER], more].concat()).fails(2, stderr);
    refused(
        &["--batch", "rows", "--input", &format!("0={empty}")],
        "error: --batch: party 0 has no rows, expected at least one\n",
    );
    refused(
        &["--batch", "rows", "--input", &format!("0={json}")],
        &format!(
            "error: --batch rows: {json} is not a table\n\
             hint: tables are CSV, JSON lines, Arrow and Parquet files; --batch files takes one file per evaluation\n"
        ),
    );
    refused(
        &["--batch", "7"],
        "error: --batch 7: party 0 has inputs\nhint: read them with --batch rows or --batch files\n",
    );
    let folder = folder.path(".");
    let ran = garblet(&["eval", OFFER, "--batch", "0", "--input", &format!("0={folder}")]);
    assert!(ran.stderr.contains("expected `rows`, `files`, or a number of rows"), "{}", ran.stderr);
}

#[test]
fn plans_and_prepared_runs_are_for_a_number_of_rows() {
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
