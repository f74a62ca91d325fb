//! Any bytes as a program file.

use garblet_formats::front_end::FrontEnds;

pub fn run(bytes: &[u8]) {
    match FrontEnds::standard().read("program.json", &mut &*bytes) {
        Ok(program) => drop(program.digest()),
        Err(diagnostics) => assert!(!diagnostics.render().is_empty()),
    }
}
