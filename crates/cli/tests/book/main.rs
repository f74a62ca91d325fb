//! The commands of the README and of the book do what the text says.
//!
//! The test runs every fenced block ```` ```console ````, line by line, in a scratch folder with a copy of `examples`. The shell runs
//! `$ COMMAND`; a command that ends in `&` continues in the background until the end of its block. The lines after a command are
//! its output on both standard streams: `...` stands for any text within a line, and alone on a line for any lines; without
//! lines, the output does not matter. A command whose output has a line `error: ` must fail, any other must succeed. A block
//! ```` ```LANGUAGE file=NAME ```` is a file that the reader writes. `cargo` commands are only looked up. A block with a command of
//! Yosys is left out, loudly, if Yosys is not installed.
//!
//! `UPDATE_BOOK=1` updates the output of every `--help` in the book instead of checking it.

#![cfg(unix)]

mod blocks;

use std::fs;

use blocks::{assert_in_reference, assert_texts_hold, root, texts};

/// The tested program.
const NAME: &str = "garblet";
const PROGRAM: &str = env!("CARGO_BIN_EXE_garblet");

#[test]
fn the_commands_of_the_readme_and_the_book_print_what_the_text_says() {
    assert_texts_hold();
}

#[test]
fn every_command_is_in_the_reference() {
    assert_in_reference("docs/src/reference.md");
}

#[test]
fn the_table_of_circuits_matches_the_library() {
    let rows = |path: &str, prefix: &str| -> Vec<String> {
        let text = fs::read_to_string(root().join(path)).expect("a text of the repository");
        // The table of layers has whole names.
        let is_member = |line: &&str| line.starts_with("| `") && !line.starts_with("| `lib:");
        text.lines().filter_map(|line| line.strip_prefix(prefix)).filter(is_member).map(String::from).collect()
    };
    let library = rows("crates/synthesis/src/library.rs", "//! ");
    assert_eq!(rows("docs/src/circuits.md", ""), library);
    assert!(library.len() > 10, "{library:?}");
}

/// The library runs the examples of its chapter as tests.
#[test]
fn the_rust_example_of_the_readme_is_in_the_librarys_chapter() {
    let text = |path: &str| fs::read_to_string(root().join(path)).expect("a text of the repository");
    let readme = text("README.md");
    let shown: Vec<&str> =
        readme.split("```rust\n").skip(1).filter_map(|rest| rest.split_once("```")).map(|b| b.0).collect();
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert!(text("docs/src/library.md").contains(&format!("```rust\n{}```\n", shown[0])), "{}", shown[0]);
}

#[test]
fn every_chapter_is_in_the_summary_and_no_link_is_dead() {
    let summary = fs::read_to_string(root().join("docs/src/SUMMARY.md")).expect("the summary");
    for path in texts() {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let outside = ["SUMMARY.md", "README.md"].contains(&name.as_str());
        assert!(outside || summary.contains(&format!("({name})")), "{name} is not in the summary");
        let text = fs::read_to_string(&path).expect("a text");
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|t| !t.contains("://")) {
            let file = target.split('#').next().unwrap_or(target);
            let found = path.parent().expect("a folder").join(file);
            assert!(file.is_empty() || found.exists(), "{}: {target} leads nowhere", path.display());
        }
    }
}
