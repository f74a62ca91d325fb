//! The book's table of errors has all that there are.

const BOOK: &str = include_str!("../../../../docs/src/library.md");

/// The variants of an enum in a source.
fn variants<'a>(source: &'a str, name: &str) -> Vec<&'a str> {
    let (_, body) = source.split_once(&format!("pub enum {name} {{\n")).expect("the enum is there");
    let (body, _) = body.split_once("\n}\n").expect("it ends");
    let lines = body.lines().filter_map(|line| line.strip_prefix("    "));
    let named = lines.filter(|line| line.starts_with(|first: char| first.is_ascii_uppercase()));
    named.filter_map(|line| line.split(['(', ' ', ',']).next()).collect()
}

#[test]
fn every_error_is_in_the_book_with_what_to_do() {
    let cells = |line: &'static str| line.strip_prefix("| ").and_then(|row| row.split(" | ").next());
    let known: Vec<&str> = BOOK.lines().filter_map(cells).flat_map(|cell| cell.split(", ")).collect();
    for (source, name, least) in [
        (include_str!("../../../protocol/src/error.rs"), "ProtocolError", 15),
        (include_str!("../../../net/src/error.rs"), "NetError", 15),
    ] {
        let variants = variants(source, name);
        assert!(variants.len() >= least, "{name}: {variants:?}");
        for variant in variants {
            assert!(
                known.contains(&&*format!("`{variant}`")),
                "docs/src/library.md does not say what to do on {name}::{variant}"
            );
        }
    }
}
