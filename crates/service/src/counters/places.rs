//! The places of a service's counters.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use garblet::store::{Store, StoreError};
use garblet_console::{configuration::in_configuration, failure::Failure, hints::store_failure};

use super::real;

/// The places where counters are, and where this machine remembers that they exist.
pub(super) struct Places {
    pub(super) path: PathBuf,
    pub(super) known: [PathBuf; 2],
}

impl Places {
    /// *Errors*: the folder cannot be read.
    pub(super) fn of(folder: &Path, records: &Path) -> Result<Self, Failure> {
        let path = real(folder).map_err(|error| Failure::unreadable(folder, &error))?.join("counters");
        // Also compare by the configured name: a link in the folder's place may lead to other counters, or to none.
        let named = std::path::absolute(folder).map_err(|error| Failure::unreadable(folder, &error))?.join("counters");
        let known = [&path, &named].map(|path| {
            records.join(format!("counters-{}", blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex()))
        });
        Ok(Places { path, known })
    }

    /// The advice on counters that cannot be used.
    pub(super) fn hint(&self) -> String {
        // Without a link both are the same. One that cannot be read is there.
        let known: BTreeSet<_> = self.known.iter().filter(|known| known.try_exists().unwrap_or(true)).collect();
        let records = known.iter().map(|known| format!(" and {}", known.display()));
        let anew = "restore their latest state; to start again from zero, and forget all counts, remove";
        format!("{anew} {}{}", self.path.display(), records.collect::<String>())
    }

    /// Checks that counters that were there still are, with their key. Returns whether there are any.
    ///
    /// *Errors*: one of them is gone or cannot be read.
    pub(super) fn check(&self, key: Option<&Path>) -> Result<bool, Failure> {
        let are_there = match Store::find(&self.path) {
            Ok(()) => true,
            Err(StoreError::Missing { .. }) => false,
            Err(error) => return Err(store_failure(&error)),
        };
        for known in self.known.iter().filter(|_| !are_there) {
            if known.try_exists().map_err(|error| Failure::unreadable(known, &error))? {
                let what = format!("{}: this service's counters are gone", self.path.display());
                return Err(Failure::no_result(what).hint(self.hint()));
            }
        }
        let key = in_configuration(key, "store.key")?;
        if are_there && !key.try_exists().map_err(|error| Failure::unreadable(&key, &error))? {
            let what = format!("{}: no such key, but {} was made with one", key.display(), self.path.display());
            return Err(Failure::no_result(what).hint(format!("restore the key, or {}", self.hint())));
        }
        Ok(are_there)
    }
}
