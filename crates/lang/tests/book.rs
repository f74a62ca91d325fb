//! The costs that the book states are those of the compiler.

use garblet_formats::front_end::FrontEnds;
use garblet_lang::{Language, Options};

const CHAPTER: &str = include_str!("../../../docs/src/language.md");

fn and_count(source: &str, panics: bool) -> u64 {
    let options = Options { panics, ..Options::default() };
    let program = FrontEnds::standard().with(Language { options }).read("row.garble.rs", &mut source.as_bytes());
    program.unwrap_or_else(|e| panic!("{source}: {e}")).stats().and
}

#[test]
fn every_row_of_the_table_of_costs() {
    let mut rows = 0;
    let mut wrong = String::new();
    for row in CHAPTER.lines().filter(|line| line.starts_with("| ") && line.contains("` | `")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(|cell| cell.trim().trim_matches('`')).collect();
        let [_, parameters, expression, result, checked, unchecked] = cells[..] else { panic!("{row}") };
        let source = format!("pub fn main({parameters}) -> {result} {{ {expression} }}");
        let stated = [checked, unchecked].map(|number| number.replace(',', "").parse::<u64>().unwrap());
        let counted = [true, false].map(|panics| and_count(&source, panics));
        if counted != stated {
            wrong += &format!("{counted:?}: {row}\n");
        }
        rows += 1;
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(rows >= 20, "{rows} rows");
}
