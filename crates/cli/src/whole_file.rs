//! Files that are written whole or not at all.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::Path,
};

use garblet::store::sync_folder;

/// The users who may read a file that was not there before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readers {
    /// Its owner alone, also if others could read the one in its place.
    Owner,
    /// As of every other file that the user makes.
    Usual,
}

/// Writes a file, durably. One that is there already stays as it is until all of the new one is written, and so do its permissions; a link, a pipe or a
/// device is written to in place, but not for its owner alone.
///
/// *Errors*: those of `fill`, no place, no right; what was there before stays then.
pub(crate) fn write<E: From<io::Error>>(
    path: &Path,
    readers: Readers,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), E>,
) -> Result<(), E> {
    let there = fs::symlink_metadata(path).ok();
    if readers == Readers::Usual && there.as_ref().is_some_and(|there| !there.is_file()) {
        return filled(&File::create(path)?, fill);
    }
    let mut draft = tempfile::Builder::new();
    #[cfg(unix)]
    if readers == Readers::Usual {
        draft.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    let draft = draft.prefix(".garblet-").tempfile_in(folder_of(path))?;
    filled(draft.as_file(), fill)?;
    if let Some(there) = there.filter(|_| readers == Readers::Usual) {
        draft.as_file().set_permissions(there.permissions())?;
    }
    draft.as_file().sync_all()?;
    draft.persist(path).map_err(|error| error.error)?;
    Ok(sync_folder(folder_of(path))?)
}

/// The folder in which a file lies.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn filled<E: From<io::Error>>(
    file: &File,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), E>,
) -> Result<(), E> {
    let mut file = BufWriter::new(file);
    fill(&mut file)?;
    Ok(file.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_filled_leaves_the_file_that_was_there() {
        let scratch = tempfile::tempdir().expect("a folder");
        let path = scratch.path().join("kept");
        let write = |text: &'static [u8], result: io::Result<()>| {
            super::write(&path, Readers::Usual, |out| out.write_all(text).and(result))
        };
        write(b"first", Ok(())).expect("written");
        write(b"half", Err(io::Error::other("no more"))).expect_err("it is not whole");
        assert_eq!(fs::read(&path).expect("it is there"), b"first");
        assert_eq!(fs::read_dir(scratch.path()).expect("a folder").count(), 1, "no draft is left");
        write(b"second", Ok(())).expect("written");
        assert_eq!(fs::read(&path).expect("it is there"), b"second");
    }

    #[cfg(unix)]
    #[test]
    fn permissions_stay_but_for_a_file_of_its_owner() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let scratch = tempfile::tempdir().expect("a folder");
        let [path, link] = ["kept", "link"].map(|name| scratch.path().join(name));
        let write = |path: &Path, readers| {
            super::write(path, readers, |out| out.write_all(b"text")).expect("written");
            fs::symlink_metadata(path).expect("it is there").permissions().mode() & 0o777
        };
        fs::write(&path, "old").expect("written");
        fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).expect("it is ours");
        assert_eq!(write(&path, Readers::Usual), 0o640);
        symlink(&path, &link).expect("a link");
        write(&link, Readers::Usual);
        assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
        assert_eq!(write(&path, Readers::Owner), 0o600);
    }
}
