//! The purpose of a store's material.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::StoreError;

/// The purpose of a store: the peer, role, protocol and library that it was filled for. It may not be used for anything else.
///
/// All are texts, so that a difference can be printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// The peer: its fingerprint, or another name where peers have no identities.
    pub peer: String,
    /// This party's role, for instance `garbler`.
    pub role: String,
    /// The protocol, its version, and the parameters that the material depends on.
    pub protocol: String,
    /// The digest of the library, or empty where there is none.
    pub library: String,
}

impl Binding {
    /// Checks that the store was filled for this purpose.
    ///
    /// *Errors*: [`StoreError::OtherBinding`] with the first difference.
    pub(crate) fn check(&self, stored: &Binding, folder: &Path) -> Result<(), StoreError> {
        let fields = [
            ("peer", &self.peer, &stored.peer),
            // Roles of different protocols cannot be compared.
            ("protocol", &self.protocol, &stored.protocol),
            ("role", &self.role, &stored.role),
            ("library", &self.library, &stored.library),
        ];
        match fields.into_iter().find(|(_, expected, got)| expected != got) {
            None => Ok(()),
            Some((what, expected, got)) => Err(StoreError::OtherBinding {
                folder: folder.into(),
                what,
                expected: expected.clone(),
                got: got.clone(),
            }),
        }
    }
}
