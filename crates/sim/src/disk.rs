//! A party's disk: its store, the records elsewhere, and copies that are put back.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use garblet_primitives::Prg;
use garblet_protocol::kept;
use garblet_store::{State, Store, StoreError, StoreKey, testing::open_hooked};

use crate::{bug::Bug, founded::Contents, line::Presence};

/// The end of a disk's service.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Failure {
    /// The process dies at this write, counted from the opening of the store.
    Dies(u64),
    /// This write and all later ones fail.
    Fails(u64),
}

/// A party's disk.
pub(crate) struct Disk {
    folder: PathBuf,
    key: StoreKey,
    copies: usize,
}

impl Disk {
    pub(crate) fn new(folder: PathBuf, rng: &mut Prg) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        Ok(Disk { folder, key: StoreKey::generate(rng), copies: 0 })
    }

    /// A disk with a store that was set up before.
    pub(crate) fn founded(folder: PathBuf, (key, contents): &(StoreKey, Contents)) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        contents.write(&folder)?;
        Ok(Disk { folder, key: key.clone(), copies: 0 })
    }

    /// The key and everything else.
    pub(crate) fn contents(&self) -> io::Result<(StoreKey, Contents)> {
        Ok((self.key.clone(), Contents::of(&self.folder)?))
    }

    fn store(&self) -> PathBuf {
        self.folder.join("store")
    }

    fn records(&self) -> PathBuf {
        self.folder.join("records")
    }

    /// Opens the store, or creates one, and holds it against its record.
    ///
    /// *Errors*: those of the store; the failure.
    pub(crate) fn open(
        &self,
        rng: &mut Prg,
        (failure, party): (Option<Failure>, &Arc<Presence>),
        bug: Option<Bug>,
    ) -> Result<Store, StoreError> {
        let (writes, party) = (AtomicU64::new(0), party.clone());
        let hook = move |step: &str| {
            let write = writes.fetch_add(1, Ordering::Relaxed);
            let failed = || Err(io::Error::other(format!("failed at {step}")));
            match failure {
                Some(Failure::Dies(at)) if write >= at => {
                    party.end();
                    failed()
                }
                Some(Failure::Fails(at)) if write >= at => failed(),
                _ => Ok(()),
            }
        };
        let mut store = open_hooked(&self.store(), &self.key, rng, hook)?;
        if bug != Some(Bug::NoRecord) {
            let _ = store.record_in(&self.records())?;
        }
        match bug {
            Some(Bug::ForgetsCounts) => kept::allow(&mut store).map_err(|_| StoreError::Broken)?,
            Some(Bug::KeepsAtOnce) => keep_pending(&mut store)?,
            _ => {}
        }
        Ok(store)
    }

    /// Opens a copy of the store beside a copy of its record, as an owner looks at them: what the store has to mend is left to the next meeting. `None` if there
    /// is no store.
    ///
    /// *Errors*: those of the store.
    pub(crate) fn look(&self, rng: &mut Prg, bug: Option<Bug>) -> io::Result<Option<Result<Store, StoreError>>> {
        if !self.store().exists() {
            return Ok(None);
        }
        let beside = Disk { folder: self.folder.join("look"), key: self.key.clone(), copies: 0 };
        Disk::swap([self.store(), self.records()], [beside.store(), beside.records()])?;
        Ok(Some(beside.open(rng, (None, &Presence::new(None)), bug)))
    }

    /// The number of copies.
    pub(crate) fn copies(&self) -> usize {
        self.copies
    }

    /// Copies the store; nothing if there is none.
    pub(crate) fn copy(&mut self) -> io::Result<()> {
        if self.store().exists() {
            copy(&self.store(), &self.folder.join(format!("copy {}", self.copies)))?;
            self.copies += 1;
        }
        Ok(())
    }

    /// Puts a copy back in place of the store. The records stay.
    pub(crate) fn put_back(&self, number: usize) -> io::Result<()> {
        self.remove()?;
        copy(&self.folder.join(format!("copy {number}")), &self.store())
    }

    /// Removes the store.
    pub(crate) fn remove(&self) -> io::Result<()> {
        if self.store().exists() { fs::remove_dir_all(self.store()) } else { Ok(()) }
    }

    /// Remembers store and records as they are.
    pub(crate) fn remember(&self) -> io::Result<()> {
        Disk::swap([self.store(), self.records()], ["before", "records before"].map(|name| self.folder.join(name)))
    }

    /// Puts back what was remembered: a disk that has lost its last writes.
    pub(crate) fn forget_since(&self) -> io::Result<()> {
        Disk::swap(["before", "records before"].map(|name| self.folder.join(name)), [self.store(), self.records()])
    }

    fn swap(from: [PathBuf; 2], to: [PathBuf; 2]) -> io::Result<()> {
        from.iter().zip(&to).try_for_each(|(from, to)| {
            if to.exists() {
                fs::remove_dir_all(to)?;
            }
            copy(from, to)
        })
    }
}

/// Keeps at once what is pending, as before the end of a run was agreed on.
fn keep_pending(store: &mut Store) -> Result<(), StoreError> {
    let pending = kept::pending_place("");
    let all: Vec<(String, State)> = store
        .states()
        .filter_map(|(place, state)| {
            let name = place.strip_prefix(&pending)?;
            Some((kept::place(name), State { version: state.version, bytes: state.bytes.clone() }))
        })
        .collect();
    if all.is_empty() { Ok(()) } else { store.replace_states(all, |place| place.starts_with(&pending)) }
}

/// Tells whether a store was given up: nothing is left of its secrets, or its record says so.
pub(crate) fn is_given_up(opened: &Result<Store, StoreError>) -> bool {
    let all = [garblet_authenticated::NAME, garblet_authenticated::many::NAME];
    match opened {
        Ok(store) => all.into_iter().filter_map(|name| store.state(name)).any(|secrets| secrets.bytes.is_empty()),
        Err(error) => matches!(error, StoreError::GivenUp { .. }),
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if !from.exists() {
        return Ok(());
    }
    fs::create_dir_all(to)?;
    fs::set_permissions(to, fs::metadata(from)?.permissions())?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.path().is_dir() { copy(&entry.path(), &to)? } else { fs::copy(entry.path(), &to).map(drop)? }
    }
    Ok(())
}
