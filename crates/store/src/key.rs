//! The key that encrypts a store, and its file.

use std::fs;
#[cfg(feature = "database")]
use std::io::Write;
use std::io::{self, Read};
use std::path::Path;

use rand_core::CryptoRng;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::error::StoreError;
use crate::store_dir::check_mode;
#[cfg(feature = "database")]
use crate::store_dir::sync_name;

/// Bytes of a key, and of its file.
pub(crate) const KEY_BYTES: usize = 32;

/// The beginning of the name of a key's draft, which a killed process may leave behind.
#[cfg(feature = "database")]
const DRAFT: &str = ".garblet-key-";

/// The key that encrypts stores. *Secret*; wiped on drop.
///
/// One key may serve any number of stores: each derives its own from it.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct StoreKey(pub(crate) [u8; KEY_BYTES]);

impl StoreKey {
    /// A new key.
    pub fn generate(rng: &mut impl CryptoRng) -> Self {
        let mut key = StoreKey([0; KEY_BYTES]);
        rng.fill_bytes(&mut key.0);
        key
    }

    /// Writes the key to a new file that only its owner can read (mode 600). The file has its name once it is whole and on disk.
    ///
    /// *Errors*: [`StoreError::Io`], also if the file exists: another store may need its contents.
    #[cfg(feature = "database")]
    pub fn save(&self, path: &Path) -> Result<(), StoreError> {
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let written = || {
            // Its mode is 600, and it is removed if it does not get the name.
            let mut draft = tempfile::Builder::new().prefix(DRAFT).tempfile_in(folder)?;
            // Drafts that nobody has locked are removed as left over.
            let _ = draft.as_file().try_lock();
            draft.write_all(&self.0)?;
            draft.as_file().sync_all()?;
            match draft.persist_noclobber(path) {
                Err(failed) if cannot_name(&failed.error) => self.write_new(path)?,
                named => drop(named?),
            }
            sync_name(path)
        };
        written().map_err(|source| StoreError::Io { doing: "cannot write", path: path.into(), source })
    }

    /// Writes the key to a new file under its final name, for a file system that can give a written file no name unless that is free. A crash meanwhile
    /// leaves a file that is too short, which is refused as a key.
    #[cfg(feature = "database")]
    fn write_new(&self, path: &Path) -> io::Result<()> {
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        // It is ours, as nobody else could make it.
        let written = file.write_all(&self.0).and_then(|()| file.sync_all());
        written.inspect_err(|_| drop(fs::remove_file(path)))
    }

    /// Reads a key that [`save`](StoreKey::save) wrote, or any file of 32 random bytes.
    ///
    /// *Errors*: [`StoreError::KeyMissing`]; [`StoreError::Exposed`] if others on this machine may read it;
    /// [`StoreError::KeyMalformed`] if it has another length.
    pub fn load(path: &Path) -> Result<Self, StoreError> {
        let failed = |source: io::Error| match (source.kind(), fs::read_link(path)) {
            (io::ErrorKind::NotFound, Err(_)) => StoreError::KeyMissing { path: path.into() },
            (io::ErrorKind::NotFound, Ok(target)) => {
                let source = io::Error::other(format!("it is a link to {}, which does not exist", target.display()));
                StoreError::Io { doing: "cannot read", path: path.into(), source }
            }
            _ => StoreError::Io { doing: "cannot read", path: path.into(), source },
        };
        let file = fs::File::open(path).map_err(failed)?;
        let there = file.metadata().map_err(failed)?;
        if there.is_dir() {
            return Err(failed(io::Error::other("it is a folder, expected a file")));
        }
        check_mode(path, &there, 0o600)?;
        let mut bytes = Zeroizing::new(Vec::with_capacity(KEY_BYTES + 1));
        file.take(KEY_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
        let malformed = |got: String| StoreError::KeyMalformed { path: path.into(), got };
        if bytes.len() > KEY_BYTES {
            return Err(malformed("more".into()));
        }
        let key = bytes.as_slice().try_into().map_err(|_| malformed(format!("{} bytes", bytes.len())))?;
        Ok(StoreKey(key))
    }

    /// Reads the key from a file, or creates it there. Of several that do so at once, one creates it.
    ///
    /// *Errors*: as [`load`](StoreKey::load) and [`save`](StoreKey::save).
    #[cfg(feature = "database")]
    pub fn load_or_create(path: &Path, rng: &mut impl CryptoRng) -> Result<Self, StoreError> {
        match StoreKey::load(path) {
            Err(StoreError::KeyMissing { .. }) => {}
            result => return result,
        }
        let key = StoreKey::generate(rng);
        match key.save(path) {
            Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => StoreKey::load(path),
            saved => saved.map(|()| key),
        }
    }
}

/// Returns whether a file system could not give a file a name only if it is free: it has neither such a renaming nor hard links.
#[cfg(feature = "database")]
fn cannot_name(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported)
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;
    use rand::{SeedableRng, rngs::StdRng};

    #[test]
    fn a_saved_key_loads_is_private_and_is_never_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store.key");
        let mut rng = StdRng::seed_from_u64(1);
        let made = StoreKey::load_or_create(&path, &mut rng).expect("made");
        let again = StoreKey::load_or_create(&path, &mut rng).expect("read");
        assert!(made.0 == again.0 && made.0 != [0; 32]);
        assert!(matches!(StoreKey::generate(&mut rng).save(&path), Err(StoreError::Io { .. })));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o604)).expect("ours");
            let error = StoreKey::load(&path).err().expect("exposed");
            assert!(error.to_string().contains("mode 604, expected 600"), "{error}");
            assert!(matches!(error, StoreError::Exposed { expected: 0o600, .. }));
        }
    }

    /// As on a file system that renames no file without replacing another, and has no hard links.
    #[test]
    fn a_key_that_is_written_under_its_name_is_private_and_overwrites_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store.key");
        let keys = [1, 2].map(|seed| StoreKey::generate(&mut StdRng::seed_from_u64(seed)));
        keys[0].write_new(&path).expect("written");
        let again = keys[1].write_new(&path).expect_err("it is there");
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        assert!(StoreKey::load(&path).expect("private").0 == keys[0].0);
        assert!(cannot_name(&io::ErrorKind::Unsupported.into()) && !cannot_name(&again));
    }

    #[test]
    #[cfg(unix)]
    fn a_link_to_nowhere_and_a_folder_are_named_as_such() {
        let folder = tempfile::tempdir().expect("a folder");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("nowhere", &link).expect("a link");
        let failed = |path: &Path| {
            StoreKey::load_or_create(path, &mut StdRng::seed_from_u64(0)).err().expect("refused").to_string()
        };
        let says = failed(&link);
        assert!(says.ends_with("it is a link to nowhere, which does not exist"), "{says}");
        let says = failed(folder.path());
        assert!(says.ends_with("it is a folder, expected a file"), "{says}");
    }

    #[test]
    fn a_malformed_key_is_explained() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = StoreKey::load(&folder.path().join("none")).err().expect("missing");
        assert!(matches!(error, StoreError::KeyMissing { .. }), "{error}");
        for (len, got) in [(0, "got 0 bytes"), (31, "got 31 bytes"), (33, "got more"), (9999, "got more")] {
            let path = folder.path().join(format!("{len}"));
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            options.open(&path).and_then(|mut file| file.write_all(&vec![7; len])).expect("written");
            let error = StoreKey::load(&path).err().expect("no key");
            assert!(error.to_string().ends_with(got), "{error}");
        }
    }

    #[test]
    fn all_who_create_a_key_at_once_have_the_same() {
        let folder = tempfile::tempdir().expect("a folder");
        for round in 0..40 {
            let path = folder.path().join(format!("key{round}"));
            let make = |seed| StoreKey::load_or_create(&path, &mut StdRng::seed_from_u64(seed)).map(|key| key.0);
            let keys = std::thread::scope(|scope| {
                [0, 1, 2, 3, 4, 5].map(|seed| scope.spawn(move || make(seed))).map(|made| made.join())
            });
            let keys: Vec<_> = keys.into_iter().map(|key| key.expect("no panic").expect("a key")).collect();
            assert!(keys.iter().all(|key| *key == keys[0]));
        }
        // Drafts got their names or are gone.
        assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 40);
    }

    #[test]
    #[cfg(unix)]
    fn keys_of_another_length_are_refused_from_files_and_pipes() {
        let folder = tempfile::tempdir().expect("a folder");
        for len in [0, 31, 33, 45, 64, 65, 98] {
            let bytes = vec![7; len];
            let path = folder.path().join(format!("key{len}"));
            fs::write(&path, &bytes).expect("written");
            fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("ours");
            let (reader, mut writer) = io::pipe().expect("a pipe");
            writer.write_all(&bytes).expect("room for it");
            drop(writer);
            let pipe = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
            for path in [path.as_path(), Path::new(&pipe)] {
                let made = StoreKey::load_or_create(path, &mut StdRng::seed_from_u64(0));
                assert!(matches!(made, Err(StoreError::KeyMalformed { .. })), "{len} bytes from {}", path.display());
            }
        }
    }
}
