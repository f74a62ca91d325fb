//! The material that is prepared before a run with every party on this machine.

use std::path::PathBuf;

use garblet::{OrderRequest, Party};
use serde::{Deserialize, Serialize};

use crate::{
    stock::{Folder, Source},
    way::without_identities,
};

/// The material that is prepared before a run on this machine.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum Ahead {
    /// With components: what a library says, in memory.
    Library(PathBuf),
    /// With several parties: runs, in stores.
    Runs(Runs),
}

/// The place where the runs of all parties are.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Runs {
    /// The folder of all stores.
    pub(crate) folder: PathBuf,
    pub(crate) key: Option<PathBuf>,
    pub(crate) top_up: bool,
    /// The command that prepares more.
    pub(crate) again: String,
}

impl Runs {
    /// The store of a party of `parties`.
    pub(crate) fn store_of(&self, party: Party, parties: u16, order: OrderRequest) -> Folder {
        let (path, peer) = (self.folder.join(format!("party-{party}")), without_identities(parties));
        // All parties are one user's, and nobody has anything to hide from another.
        Folder { order, path, key: self.key.clone(), peer, recorded: false, again: Some(self.again.clone()) }
    }

    /// The source of a party's runs.
    pub(crate) fn source(&self, party: Party, parties: u16) -> Source {
        Source::Store { folder: self.store_of(party, parties, OrderRequest::default()), top_up: self.top_up }
    }
}
