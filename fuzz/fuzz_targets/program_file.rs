//! Any bytes as a program file.
#![no_main]

use garblet_formats::front_end::FrontEnds;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match FrontEnds::standard().read("program.json", &mut &*bytes) {
        Ok(program) => drop(program.digest()),
        Err(diagnostics) => assert!(!diagnostics.render().is_empty()),
    }
});
