//! The file of what a client keeps between visits.

use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
};

use garblet::outsourced::agreement::Agreement;
use garblet_client::{Identity, Server};

use super::kept::Kept;
use crate::{
    configuration::{in_configuration, make_folder},
    failure::Failure,
    output::tell,
    whole_file::{self, Readers},
};

/// A client's memory, in a file that one process uses at a time.
pub(super) struct Memory {
    path: PathBuf,
    /// The lock on the file, held for the lifetime of the memory.
    _lock: File,
    pub(super) kept: Kept,
}

impl Memory {
    /// Opens a client's memory for these servers, at first empty. Waits while another process uses it.
    ///
    /// *Errors*: the file cannot be read, or holds something else.
    pub(super) fn open(named: Option<&Path>, agreement: &Agreement, client: &str) -> Result<Self, Failure> {
        let servers = Server::BOTH.map(|server| format!("{:?}", agreement.server(server))[..16].to_string());
        let name = format!("receipts/{}-{:?}.json", servers.concat(), Identity::of_client(client));
        let path = in_configuration(named, &name)?;
        make_folder(&path)?;
        let beside = lock_of(&path);
        // Whatever has this name keeps what it holds.
        let opened = File::options().write(true).create(true).truncate(false).open(&beside);
        let lock = opened.and_then(locked).map_err(|error| Failure::unwritable(&beside, &error))?;
        let kept = match std::fs::read_to_string(&path) {
            Ok(text) => Kept::read(&path, &text)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Kept::default(),
            Err(error) => return Err(Failure::unreadable(&path, &error)),
        };
        Ok(Memory { path, _lock: lock, kept })
    }

    /// Writes the whole file atomically.
    ///
    /// *Errors*: a file that cannot be written.
    pub(super) fn write(&self) -> Result<(), Failure> {
        let failed = |error: std::io::Error| Failure::unwritable(&self.path, &error);
        let text = self.kept.text().map_err(|error| failed(error.into()))?;
        // A counter may be used only after all of this is durable.
        whole_file::write(&self.path, Readers::Owner, |out| out.write_all(text.as_bytes())).map_err(failed)
    }
}

/// The lock file of a file: with all of its name, so that no other file has the same.
fn lock_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// Waits for the lock on a file, and says so if another process holds it.
fn locked(file: File) -> std::io::Result<File> {
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            tell("another visit of this client is under way: waiting for its end");
            file.lock().map(|()| file)
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}
