//! Inputs that reach outputs unchanged.

use serde_json::json;

use crate::invocation::{Folder, garblet};

#[test]
fn inputs_that_reach_an_output_or_are_unused_are_reported() {
    let folder = Folder::new("reach");
    let told = |source: &str, words: &str| {
        let file = folder.file("f.garble.rs", source);
        for command in ["inspect", "plan"] {
            let ran = garblet(&[command, &file]);
            assert_eq!(ran.status, Some(0), "{}", ran.stderr);
            match words {
                "" => assert!(!ran.stdout.contains("note:"), "{}", ran.stdout),
                words => assert!(ran.stdout.contains(&format!("note: {words}\n")), "{}", ran.stdout),
            }
        }
        garblet(&["inspect", &file, "--json"]).json()["reach"].clone()
    };
    let reach = told("pub fn main(a: u32, b: u32) -> u32 { a }", "a reaches out0 unchanged; b is not used");
    let exposed = json!({"input": "a", "output": "out0", "bits": 32, "of": 32, "form": "unchanged"});
    assert_eq!(reach, json!({"exposed": [exposed], "unused": ["b"]}));
    told("pub fn main(a: u32, b: u32) -> u32 { !b }", "b reaches out0 negated; a is not used");
    told("pub fn main(a: u32, b: u32) -> (u32, u32) { (a + b, b) }", "b reaches out1 unchanged");
    told(
        "pub fn main(a: u32, b: u32) -> u32 { (a << 3) | (b & 0) }",
        "29 of 32 bits of a reach out0, unchanged or negated; b is not used",
    );
    told("pub fn main(a: u8, b: u8) -> [u8; 2] { [a ^ b, b] }", "all 8 bits of b reach out0, moved or negated");
    let reach = told("pub fn main(a: u32, b: u32) -> bool { a < b }", "");
    assert_eq!(reach, json!({"exposed": [], "unused": []}));
}

#[test]
fn checking_a_job_reports_them_too() {
    let folder = Folder::new("reach-job");
    let file = folder.file("f.garble.rs", "pub fn main(a: u32, b: u32) -> u32 { a }");
    let out = folder.path("f.toml");
    let new = garblet(&["job", "new", &file, "--party", "alice", "--party", "bob", "--out", &out]);
    assert_eq!(new.status, Some(0), "{}", new.stderr);
    let checked = garblet(&["job", "check", &out]);
    assert!(checked.stdout.contains("note: a reaches out0 unchanged; b is not used\n"), "{}", checked.stdout);
    let checked = garblet(&["job", "check", &out, "--json"]).json();
    assert_eq!(checked["reach"]["unused"], json!(["b"]));
    let own = garblet(&["plan", &file, "--to", "out0=0", "--json"]).json();
    assert_eq!(own["reach"]["exposed"], json!([]));
}

#[test]
fn gates_that_are_not_garbled_are_reported() {
    let folder = Folder::new("garbled");
    // Of four products, one is dead and one has a constant factor.
    let text = "4 8\n2 1 1\n1 1\n\n1 1 0 2 EQ\n2 1 0 1 3 AND\n2 1 0 2 4 AND\n4 2 0 1 1 3 5 7 MAND\n";
    let file = folder.file("g.txt", text);
    let ran = garblet(&["inspect", &file, "--as-it-is"]);
    assert!(
        ran.stdout.contains("garbled: 2 AND; without gates that constants decide"),
        "{} {}",
        ran.stdout,
        ran.stderr
    );
    assert_eq!(garblet(&["inspect", &file, "--as-it-is", "--json"]).json()["program"]["garbled_and"], 2);
    let plan = garblet(&["plan", &file, "--as-it-is", "--protocol", "yao"]);
    assert!(plan.stdout.contains("garbled: 2 AND;"), "{} {}", plan.stdout, plan.stderr);
    let all = garblet(&["inspect", "lib:add(8)"]);
    assert!(all.status == Some(0) && !all.stdout.contains("garbled:"), "{}", all.stdout);
}

#[test]
fn many_components_of_a_source_are_grouped_by_line() {
    let folder = Folder::new("grouped");
    let source = "pub fn main(a: [u32; 4], b: [u32; 4]) -> u32 {\n    let mut s = 0u32;\n    for i in 0..4usize {\n        if a[i] < b[i] { s = s + a[i] * b[i]; } else { s = s ^ b[i]; }\n    }\n    s / 3u32\n}\n";
    let ran = garblet(&["inspect", &folder.file("f.garble.rs", source), "--panics", "off"]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let table = ran.stdout.split("\n\n").nth(2).expect("components");
    let names: Vec<&str> = table.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    let mut once = names.clone();
    once.dedup();
    assert_eq!(names, once, "{}", ran.stdout);
}
