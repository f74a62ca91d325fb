//! The client of outsourced runs for JavaScript: a thin layer over [`garblet_client`].
//!
//! JavaScript has the connections, the clock, the storage and the randomness (`web/garblet-client.js`). Every error is an `Error` of
//! JavaScript with a `hint`. A panic becomes an error too: otherwise a promise that waits for this code would wait forever.

mod error;
mod job;
mod visit;

use garblet_circuit::Bits;
use garblet_client::{Identity, Invitation as Invited, Receipt as Kept};
use wasm_bindgen::prelude::wasm_bindgen;
use zeroize::Zeroizing;

use error::{Thrown, failed, wrong};

pub use job::{Job, Port, State};
pub use visit::{Outcome, Visit};

/// Installs the panic handler. It runs when the module is loaded.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|bug| {
        let hint = "reload the page; what was kept is not lost. Please report this";
        wasm_bindgen::throw_val(failed(&format!("a bug in Garblet: {bug}"), hint));
    }));
}

/// Panics as a bug would, so that pages can test how they react.
#[wasm_bindgen(js_name = panicForTest)]
pub fn panic_for_test() {
    panic!("on purpose");
}

/// The version of this package.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").into()
}

/// The invitation of a client by a server. *Secret*.
#[wasm_bindgen]
pub struct Invitation(Invited);

#[wasm_bindgen]
impl Invitation {
    /// Reads the line that the server printed.
    pub fn parse(text: String) -> Result<Invitation, Thrown> {
        let text = Zeroizing::new(text);
        Invited::from_text(&text).map(Invitation).map_err(|error| failed(&error, error.hint()))
    }

    /// The server's name, for people.
    #[wasm_bindgen(getter, js_name = serverName)]
    pub fn server_name(&self) -> String {
        self.0.server_name.clone()
    }

    /// The name that the server has for the client.
    #[wasm_bindgen(getter, js_name = clientName)]
    pub fn client_name(&self) -> String {
        self.0.client_name.clone()
    }

    /// The 32 bytes by which jobs name the server.
    #[wasm_bindgen(getter)]
    pub fn server(&self) -> Vec<u8> {
        self.0.server.0.to_vec()
    }

    /// The 32 bytes by which jobs name the client.
    #[wasm_bindgen(getter)]
    pub fn identity(&self) -> Vec<u8> {
        self.0.identity().0.to_vec()
    }
}

/// The receipt that a client keeps between runs, so that servers cannot go back to an earlier version.
#[wasm_bindgen]
#[derive(Clone)]
pub struct Receipt(Kept);

#[wasm_bindgen]
impl Receipt {
    /// The receipt of a client that has seen nothing of a state; the name is empty for jobs without one.
    pub fn first(state: &str) -> Receipt {
        Receipt(Kept::first(state))
    }

    /// Reads what [`Receipt::encode`] wrote.
    pub fn decode(bytes: &[u8]) -> Result<Receipt, Thrown> {
        Kept::decode(bytes).map(Receipt).map_err(|error| failed(&error, error.hint()))
    }

    /// The bytes. Keep them.
    pub fn encode(&self) -> Vec<u8> {
        self.0.encode()
    }

    /// The name of the state.
    #[wasm_bindgen(getter)]
    pub fn state(&self) -> String {
        self.0.state().into()
    }

    /// The last version that the client saw, 0 for none.
    #[wasm_bindgen(getter)]
    pub fn version(&self) -> u64 {
        self.0.version()
    }

    /// The last counter that the client used.
    #[wasm_bindgen(getter)]
    pub fn counter(&self) -> u64 {
        self.0.counter()
    }

    /// The same, with this counter marked as used unless a higher one was. A client with receipts in several places counts
    /// from the clock.
    #[wasm_bindgen(js_name = withCounter)]
    pub fn with_counter(&self, counter: u64) -> Receipt {
        Receipt(self.0.clone().with_counter(counter))
    }
}

/// The identity of 32 bytes.
fn identity(bytes: &[u8]) -> Result<Identity, Thrown> {
    array(bytes, "identity").map(Identity)
}

/// Exactly 32 bytes.
fn array(bytes: &[u8], what: &str) -> Result<[u8; 32], Thrown> {
    let wrong_length =
        |_| wrong(&format!("{what}: expected 32 bytes, got {}", bytes.len()), "give a Uint8Array of 32 bytes");
    bytes.try_into().map_err(wrong_length)
}

/// Bits from JavaScript's bytes of 0 and 1.
fn bits(bytes: &[u8]) -> Result<Bits, Thrown> {
    match bytes.iter().position(|byte| *byte > 1) {
        None => Ok(bytes.iter().map(|byte| *byte == 1).collect()),
        Some(at) => Err(wrong(&format!("bit {at}: expected 0 or 1, got another number"), "give a number for each bit")),
    }
}

/// Bits for JavaScript, in memory that is wiped after JavaScript has copied them.
fn bytes(bits: &Bits) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(bits.iter().map(u8::from).collect())
}
