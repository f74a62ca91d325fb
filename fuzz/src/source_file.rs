//! Any bytes as a source of the function language.

use garblet_formats::front_end::FrontEnds;
use garblet_lang::{Language, Options};

pub fn run(bytes: &[u8]) {
    let options = Options { effort: 1 << 18, panics: bytes.len().is_multiple_of(2), ..Options::default() };
    match FrontEnds::standard().with(Language { options }).read("main.garble.rs", &mut &*bytes) {
        Ok(program) => drop(program.digest()),
        Err(diagnostics) => assert!(!diagnostics.render().is_empty()),
    }
}
