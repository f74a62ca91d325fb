//! Atomic writing of files.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::Path,
    time::Duration,
};

use garblet::store::sync_folder;

/// The beginning of a draft's name.
const DRAFT: &str = ".garblet-";

/// The age of a draft below which its writer may not have locked it yet.
const FRESH: Duration = Duration::from_secs(60);

/// The users who may read a new file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Only its owner, even if others could read the file that it replaces.
    Owner,
    /// The same as for every other file that the user creates.
    Usual,
}

/// Writes a file durably. An existing file stays unchanged until the new one is complete, which nobody else can read before; its group and permissions
/// are preserved as far as this user may set them. Links, pipes and devices are written in place, except with [`Readers::Owner`].
///
/// *Errors*: those of `fill`; no space or permission; a read-only file. The old file then stays.
pub fn write<E: From<io::Error>>(
    path: &Path,
    readers: Readers,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), E>,
) -> Result<(), E> {
    let there = fs::symlink_metadata(path).ok();
    if readers == Readers::Usual && there.as_ref().is_some_and(|there| !there.is_file()) {
        return filled(&File::create(path)?, fill);
    }
    let there = there.filter(|_| readers == Readers::Usual);
    if let Some(there) = &there {
        if there.permissions().readonly() {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied).into());
        }
        // Do not replace a file that could not be written either.
        File::options().write(true).open(path)?;
    }
    let mut draft = tempfile::Builder::new();
    #[cfg(unix)]
    if readers == Readers::Usual && there.is_none() {
        draft.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    let draft = draft.prefix(DRAFT).tempfile_in(folder_of(path))?;
    // The lock ends with this process, however it ends. Without locks, `sweep` leaves all drafts.
    let _ = draft.as_file().try_lock();
    filled(draft.as_file(), fill)?;
    if let Some(there) = there {
        give_permissions(draft.as_file(), path, &there)?;
    }
    draft.as_file().sync_all()?;
    draft.persist(path).map_err(|error| error.error)?;
    Ok(sync_folder(folder_of(path))?)
}

/// Removes the drafts in a folder whose writers were killed, and returns their number. Each writer locks its draft, so those of running processes stay.
///
/// *Errors*: those of the folder. A draft that cannot be removed stays.
pub fn sweep(folder: &Path) -> io::Result<usize> {
    let mut removed = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_name().as_encoded_bytes().starts_with(DRAFT.as_bytes()) || !entry.file_type()?.is_file() {
            continue;
        }
        let is_left = |file: &File| {
            let of_file = file.metadata().ok().filter(fs::Metadata::is_file);
            let age = of_file.and_then(|there| there.modified().ok()?.elapsed().ok());
            age.is_some_and(|age| age > FRESH) && file.try_lock().is_ok()
        };
        // The lock is held until the file is gone.
        if let Ok(file) = open_draft(&entry.path())
            && is_left(&file)
            && fs::remove_file(entry.path()).is_ok()
        {
            removed += 1;
        }
    }
    Ok(removed)
}

/// Opens a draft to lock it. Others may write its folder: it follows no link and waits for no pipe that has taken its place.
fn open_draft(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
    }
    options.read(true).open(path)
}

/// Gives a file the group and the permissions of the one at `path`. If it cannot have that group, or if the old file had an access list, removes all
/// permissions except the owner's.
#[cfg(unix)]
fn give_permissions(file: &File, path: &Path, there: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let is_of_group = file.metadata()?.gid() == there.gid() || fchown(file, None, Some(there.gid())).is_ok();
    let mode = there.permissions().mode() & if is_of_group && !has_list(path) { 0o777 } else { 0o700 };
    file.set_permissions(PermissionsExt::from_mode(mode))
}

/// Returns whether a file has an access list, whose mask then replaces the group's permissions.
#[cfg(target_os = "linux")]
pub(crate) fn has_list(path: &Path) -> bool {
    // An existing list does not fit the empty buffer.
    let read = rustix::fs::getxattr(path, ACCESS_LIST, &mut [0u8; 1]);
    !matches!(read, Err(rustix::io::Errno::NODATA | rustix::io::Errno::OPNOTSUPP))
}

#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) fn has_list(_: &Path) -> bool {
    false
}

/// The extended attribute with a file's access list.
#[cfg(target_os = "linux")]
const ACCESS_LIST: &str = "system.posix_acl_access";

#[cfg(not(unix))]
fn give_permissions(file: &File, _: &Path, there: &fs::Metadata) -> io::Result<()> {
    file.set_permissions(there.permissions())
}

/// The folder that contains a file.
pub fn folder_of(path: &Path) -> &Path {
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
    fn a_failed_write_leaves_the_old_file() {
        let scratch = tempfile::tempdir().expect("a folder");
        let path = scratch.path().join("kept");
        let write = |text: &'static [u8], result: io::Result<()>| {
            super::write(&path, Readers::Usual, |out| out.write_all(text).and(result))
        };
        write(b"first", Ok(())).expect("written");
        write(b"half", Err(io::Error::other("no more"))).expect_err("it is incomplete");
        assert_eq!(fs::read(&path).expect("it exists"), b"first");
        assert_eq!(fs::read_dir(scratch.path()).expect("a folder").count(), 1, "no draft is left");
        write(b"second", Ok(())).expect("written");
        assert_eq!(fs::read(&path).expect("it exists"), b"second");
    }

    #[cfg(unix)]
    #[test]
    fn permissions_stay_except_for_private_files() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let scratch = tempfile::tempdir().expect("a folder");
        let [path, link] = ["kept", "link"].map(|name| scratch.path().join(name));
        let mode = |path: &Path| fs::symlink_metadata(path).expect("it exists").permissions().mode() & 0o777;
        let write = |path: &Path, readers| {
            super::write(path, readers, |out| out.write_all(b"text")).expect("written");
            mode(path)
        };
        fs::write(&path, "old").expect("written");
        for kept in [0o640, 0o600, 0o664] {
            fs::set_permissions(&path, PermissionsExt::from_mode(kept)).expect("it is ours");
            let drafted = |out: &mut (dyn Write + Send)| {
                let names = fs::read_dir(scratch.path())?.map(|entry| entry.map(|entry| entry.path()));
                let drafts = names.collect::<io::Result<Vec<_>>>()?.into_iter().filter(|name| *name != path);
                assert_eq!(
                    drafts.map(|draft| mode(&draft)).collect::<Vec<_>>(),
                    [0o600],
                    "nobody can read it before it is complete"
                );
                out.write_all(b"text")
            };
            super::write(&path, Readers::Usual, drafted).expect("written");
            assert_eq!(mode(&path), kept);
        }
        symlink(&path, &link).expect("a link");
        write(&link, Readers::Usual);
        assert!(fs::symlink_metadata(&link).expect("it exists").is_symlink());
        assert_eq!(write(&path, Readers::Owner), 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn the_group_stays() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
        let scratch = tempfile::tempdir().expect("a folder");
        let path = scratch.path().join("kept");
        fs::write(&path, "old").expect("written");
        fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).expect("it is ours");
        // Only the superuser can give a file to any group, so only it can test that the group stays.
        let group = fs::metadata(&path).expect("it exists").gid() + 1;
        let may = chown(&path, None, Some(group)).is_ok();
        super::write(&path, Readers::Usual, |out| out.write_all(b"new")).expect("written");
        let there = fs::metadata(&path).expect("it exists");
        let expected = if may { group } else { group - 1 };
        assert_eq!((there.gid(), there.permissions().mode() & 0o777), (expected, 0o640));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_access_list_does_not_become_a_group_permission() {
        use std::os::unix::fs::PermissionsExt;
        let scratch = tempfile::tempdir().expect("a folder");
        let path = scratch.path().join("kept");
        fs::write(&path, "old").expect("written");
        // Version 2: the owner may read and write, user 12 may read, the group and others nothing; the mask is read.
        let entries: [(u16, u16, u32); 5] =
            [(1, 6, u32::MAX), (2, 4, 12), (4, 0, u32::MAX), (0x10, 4, u32::MAX), (0x20, 0, u32::MAX)];
        let entry = |(tag, bits, id): (u16, u16, u32)| {
            [&tag.to_le_bytes()[..], &bits.to_le_bytes(), &id.to_le_bytes()].concat()
        };
        let list = [&2u32.to_le_bytes()[..], &entries.map(entry).concat()].concat();
        let mode = || fs::metadata(&path).expect("it exists").permissions().mode() & 0o777;
        match rustix::fs::setxattr(&path, ACCESS_LIST, &list, rustix::fs::XattrFlags::empty()) {
            Ok(()) => assert_eq!(mode(), 0o640, "the mask looks like a group permission"),
            // Not every file system has access lists.
            Err(error) => return assert_eq!(error, rustix::io::Errno::OPNOTSUPP),
        }
        super::write(&path, Readers::Usual, |out| out.write_all(b"new")).expect("written");
        assert_eq!(mode(), 0o600);
    }

    #[test]
    fn drafts_of_killed_writers_are_removed_and_those_of_running_ones_stay() {
        let scratch = tempfile::tempdir().expect("a folder");
        let [left, fresh, other] = [".garblet-left", ".garblet-fresh", "other"].map(|name| scratch.path().join(name));
        let age = |path: &Path| {
            let file = File::options().write(true).open(path).expect("there");
            file.set_modified(std::time::SystemTime::now() - 2 * FRESH).expect("ours");
        };
        [&left, &fresh, &other].into_iter().for_each(|path| fs::write(path, "half").expect("written"));
        [&left, &other].into_iter().for_each(|path| age(path));
        super::write(&scratch.path().join("kept"), Readers::Owner, |out| {
            out.write_all(b"text")?;
            let names = fs::read_dir(scratch.path())?.map(|entry| entry.map(|entry| entry.path()));
            let names = names.collect::<io::Result<Vec<_>>>()?;
            let [own] = &names.iter().filter(|name| ![&left, &fresh, &other].contains(name)).collect::<Vec<_>>()[..]
            else {
                panic!("one draft is being written: {names:?}");
            };
            age(own);
            assert_eq!(sweep(scratch.path())?, 1, "only the one that nobody writes");
            io::Result::Ok(())
        })
        .expect("its draft is still there");
        assert_eq!([&left, &fresh, &other].map(|path| path.exists()), [false, true, true]);
        assert_eq!(fs::read(scratch.path().join("kept")).expect("written"), b"text");
    }

    /// As if a link or a pipe took the place of a draft between the look at the folder and the opening.
    #[cfg(target_os = "linux")]
    #[test]
    fn no_link_is_followed_and_no_pipe_waited_for_in_place_of_a_draft() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let scratch = tempfile::tempdir().expect("a folder");
        let [file, link, pipe] = ["file", "link", "pipe"].map(|name| scratch.path().join(name));
        fs::write(&file, "text").expect("written");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
        assert!(open_draft(&file).is_ok() && open_draft(&link).is_err());
        assert!(open_draft(&pipe).is_ok_and(|pipe| !pipe.metadata().expect("there").is_file()), "without waiting");
    }

    #[test]
    fn a_read_only_file_stays() {
        let scratch = tempfile::tempdir().expect("a folder");
        let path = scratch.path().join("kept");
        fs::write(&path, "old").expect("written");
        let mut permissions = fs::metadata(&path).expect("it exists").permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).expect("it is ours");
        let error = super::write(&path, Readers::Usual, |out| out.write_all(b"new")).expect_err("refused");
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(fs::read(&path).expect("it exists"), b"old");
        assert_eq!(fs::read_dir(scratch.path()).expect("a folder").count(), 1);
    }
}
