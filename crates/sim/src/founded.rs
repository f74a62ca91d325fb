//! Stores that an earlier meeting has set up: most histories begin with them, since a set-up takes a third of the time of a history that begins without.

use std::{
    collections::BTreeMap,
    fs::{self, Permissions},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use garblet_store::StoreKey;

/// Everything in a folder.
pub(crate) struct Contents(Vec<(PathBuf, Permissions, Option<Vec<u8>>)>);

/// The stores of all parties, each with its records, its key first.
pub(crate) type Founded = Vec<(StoreKey, Contents)>;

impl Contents {
    /// The contents of a folder; nothing if there is none.
    pub(crate) fn of(folder: &Path) -> io::Result<Self> {
        let mut all = Vec::new();
        add(folder, Path::new(""), &mut all)?;
        Ok(Contents(all))
    }

    /// Writes them into a folder.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        for (path, permissions, bytes) in &self.0 {
            let path = folder.join(path);
            match bytes {
                Some(bytes) => fs::write(&path, bytes)?,
                None => fs::create_dir_all(&path)?,
            }
            fs::set_permissions(&path, permissions.clone())?;
        }
        Ok(())
    }
}

fn add(folder: &Path, at: &Path, all: &mut Vec<(PathBuf, Permissions, Option<Vec<u8>>)>) -> io::Result<()> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder.join(at))? {
        names.push(at.join(entry?.file_name()));
    }
    names.sort_unstable();
    for name in names {
        let path = folder.join(&name);
        let permissions = fs::metadata(&path)?.permissions();
        if path.is_dir() {
            all.push((name.clone(), permissions, None));
            add(folder, &name, all)?;
        } else {
            all.push((name, permissions, Some(fs::read(&path)?)));
        }
    }
    Ok(())
}

/// The stores of this name, which are made once in the life of this process: the same for all histories, whichever comes first.
pub(crate) fn founded(name: String, make: impl FnOnce() -> io::Result<Founded>) -> io::Result<Arc<Founded>> {
    static ALL: Mutex<BTreeMap<String, Arc<Founded>>> = Mutex::new(BTreeMap::new());
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(founded) = all.get(&name) {
        return Ok(founded.clone());
    }
    let founded = Arc::new(make()?);
    all.insert(name, founded.clone());
    Ok(founded)
}
