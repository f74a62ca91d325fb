//! Any bytes as a source of the function language.
//!
//! What the parser and type checker do in their own thread is not ours: their panics are errors of the source here.
#![no_main]

use std::sync::Once;

use garblet_circuit::front_end::FrontEnds;
use garblet_lang::{Language, Options};
use libfuzzer_sys::fuzz_target;

static HOOK: Once = Once::new();

fuzz_target!(|bytes: &[u8]| {
    HOOK.call_once(|| {
        let abort = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if std::thread::current().name() != Some("parser") {
                abort(info);
            }
        }));
    });
    let options = Options { effort: 1 << 18, panics: bytes.len() % 2 == 0, ..Options::default() };
    match FrontEnds::standard().with(Language { options }).read("main.garble.rs", &mut &*bytes) {
        Ok(program) => drop(program.digest()),
        Err(diagnostics) => assert!(!diagnostics.render().is_empty()),
    }
});
