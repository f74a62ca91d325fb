//! The commands of the laboratory in the README and in the book do what the text says: as those of `garblet`, of which the command's own
//! test of the book tells more.

#![cfg(unix)]

#[path = "../../cli/tests/book/blocks.rs"]
mod blocks;

/// The program whose commands are run.
const NAME: &str = "garblet-lab";
const PROGRAM: &str = env!("CARGO_BIN_EXE_garblet-lab");

#[test]
fn the_commands_of_the_readme_and_the_book_print_what_the_text_says() {
    blocks::assert_texts_hold();
}

#[test]
fn every_benchmark_is_in_its_chapter() {
    blocks::assert_in_reference("docs/src/laboratory.md");
}
