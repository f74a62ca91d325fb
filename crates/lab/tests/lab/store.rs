//! The benchmark of stores, and the page of a benchmark.

use crate::invocation::{Folder, garblet as lab};

#[test]
fn the_benchmark_says_what_the_store_costs() {
    let folder = Folder::new("store-bench");
    let place = folder.path("bench");
    let page = folder.path("page.html");
    let arguments = ["store", "--pieces", "50", "--bytes", "2000", "--json", "--folder", &place, "--report", &page];
    let ran = lab(&arguments);
    let page = std::fs::read_to_string(page).expect("it was written");
    assert!(page.contains("<h1>garblet-lab store --pieces 50 "), "{page}");
    assert!(page.contains("<p>50 pieces of 2,000 bytes") && page.contains(&ran.stdout.trim().replace('"', "&quot;")));
    let measured = ran.json();
    assert_eq!(measured["store_bytes"], 32 + 50 * 2016);
    for what in ["plain_file", "fill", "verify", "take"] {
        assert!(measured["seconds"][what].as_f64().expect("a number") > 0.0, "{measured}");
    }
    assert_eq!(std::fs::read_dir(&place).expect("a folder").count(), 0, "it tidies up");
}
