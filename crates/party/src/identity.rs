//! Identities.

use wasm_bindgen::prelude::wasm_bindgen;
use zeroize::Zeroizing;

use crate::{
    code::Code,
    error::{Thrown, coded, failed},
};

/// A key that a party keeps and proves to its peers. *Secret*.
#[wasm_bindgen]
pub struct Identity(pub(crate) garblet::net::Identity);

#[wasm_bindgen]
impl Identity {
    /// A new identity.
    pub fn generate() -> Identity {
        Identity(garblet::net::Identity::generate(&mut rand::rng()))
    }

    /// Reads the text that [`Identity::to_pem`] and `garblet keygen` write.
    #[wasm_bindgen(js_name = fromPem)]
    pub fn from_pem(pem: String) -> Result<Identity, Thrown> {
        let read = garblet::net::Identity::from_pem(&Zeroizing::new(pem));
        let hint = "give the text of the file that `garblet keygen` writes, or what `generateIdentity` returns";
        read.map(Identity).map_err(|got| {
            let what = format!("no identity: expected an Ed25519 private key in PEM, got {got}");
            coded(failed(&what, hint), Code::Identity)
        })
    }

    /// The key as text. *Secret*.
    #[wasm_bindgen(js_name = toPem)]
    pub fn to_pem(&self) -> String {
        self.0.to_pem().to_string()
    }

    /// The fingerprint by which peers know it.
    #[wasm_bindgen(getter)]
    pub fn fingerprint(&self) -> String {
        self.0.fingerprint().to_string()
    }
}
