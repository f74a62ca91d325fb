//! Any bytes as a program in the binary form, or refused. What is read is written in the same bytes.

use garblet_formats::{Format, front_end::FrontEnds};

pub fn run(bytes: &[u8]) {
    match FrontEnds::standard().read("p.gbc", &mut &*bytes) {
        Ok(program) => {
            let mut again = Vec::new();
            Format::Binary.write(&program, &mut again).expect("what was read can be written");
            assert_eq!(again, bytes);
        }
        Err(diagnostics) => assert!(!diagnostics.render().is_empty()),
    }
}
