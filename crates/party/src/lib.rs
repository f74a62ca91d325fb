//! One of two parties, for JavaScript: a page computes with a peer, `garblet run --listen ws://HOST:PORT`, which trusts it no more than any other peer.
//!
//! Or it is a client of two servers, in `visit`.
//!
//! The whole protocol is here, with TLS and pinned identities, so a relay learns nothing. JavaScript has the WebSocket
//! (`web/party/worker.js`), the clock and the randomness. Every error is an `Error` of JavaScript with a `hint`. A panic ends the worker and notifies the page.

mod code;
mod error;
mod identity;
mod job;
mod numbers;
mod program;
mod receipt;
mod run;
mod surface;
mod visit;
mod wire;
mod words;

use wasm_bindgen::prelude::wasm_bindgen;

use code::Code;
use error::{coded, failed};

pub use identity::Identity;
pub use job::Job;
pub use program::Program;
pub use receipt::{compare_receipts, read_receipts};
pub use run::{Run, run_together};
pub use visit::Visitor;
pub use wire::Wire;

/// Installs the panic handler. It runs when the module is loaded.
#[wasm_bindgen(start)]
pub fn start() {
    garblet_console::surface::speak_of(surface::SURFACE);
    std::panic::set_hook(Box::new(|bug| {
        wasm_bindgen::throw_val(coded(failed(&format!("a bug in Garblet: {bug}"), "please report it"), Code::Bug));
    }));
}

/// Panics as a bug in a run would, so that pages can test how they react.
#[wasm_bindgen(js_name = panicForTest)]
pub async fn panic_for_test() {
    panic!("on purpose");
}

/// The version of this package.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").into()
}
