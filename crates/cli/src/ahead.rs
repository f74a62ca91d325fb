//! Prepared material for a run with every party on this machine.

use std::path::PathBuf;

use garblet::{OrderRequest, Party, SavedValues, meet::mark_without_identities};
use garblet_console::stock::{Folder, Source};
use serde::{Deserialize, Serialize};

/// Prepared material for a run on this machine.
#[derive(Clone, Serialize, Deserialize)]
pub enum Ahead {
    /// Components in memory, as listed in a library.
    Library(PathBuf),
    /// Material in stores.
    Stores(Stores),
}

/// The location of all parties' stores.
#[derive(Clone, Serialize, Deserialize)]
pub struct Stores {
    /// The folder of all stores.
    pub folder: PathBuf,
    /// The file of the key that encrypts them.
    pub key: Option<PathBuf>,
    /// Lets a run prepare what they lack.
    pub top_up: bool,
    /// Creates missing stores.
    pub make: bool,
    /// The command that prepares more, if there is one.
    pub again: Option<String>,
    /// The values that the run takes from the stores and leaves there.
    pub saved: SavedValues,
}

impl Stores {
    /// The store of a party of `parties`.
    pub(crate) fn store_of(&self, party: Party, parties: u16, order: OrderRequest) -> Folder {
        let (path, peer) = (self.folder.join(format!("party-{party}")), mark_without_identities(parties));
        // All parties belong to one user, so they hide nothing from each other.
        Folder { order, path, key: self.key.clone(), peer, recorded: false, again: self.again.clone() }
    }

    /// The source of a party's prepared material.
    pub(crate) fn source(&self, party: Party, parties: u16) -> Source {
        let folder = self.store_of(party, parties, OrderRequest::default());
        Source::Store { folder, top_up: self.top_up, make: self.make, retries: None }
    }
}

impl Ahead {
    /// The values that a run takes from stores and leaves there.
    pub(crate) fn saved(&self) -> SavedValues {
        match self {
            Ahead::Library(_) => SavedValues::default(),
            Ahead::Stores(stores) => stores.saved.clone(),
        }
    }
}
