//! A file under a lock of the operating system.

use std::fs::{File, TryLockError};
use std::ops::{Deref, DerefMut};
use std::process;

/// A file locked by this process. Dropping it unlocks the file, and so does the end of the process and all its forked copies, in any way.
///
/// Closing the file would not be enough: a child process that is being started holds all files of its parent until its program runs.
pub(crate) struct LockedFile {
    file: File,
    /// The process that locked it. A copy in a forked process is not a lock and does not release its parent's.
    process: u32,
}

impl LockedFile {
    /// Locks a file, or returns it if another process holds the lock.
    ///
    /// *Errors*: those of the file system.
    pub(crate) fn lock(file: File) -> std::io::Result<Result<Self, File>> {
        match file.try_lock() {
            Ok(()) => Ok(Ok(LockedFile { file, process: process::id() })),
            Err(TryLockError::WouldBlock) => Ok(Err(file)),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        if self.process == process::id() {
            // This cannot fail for an open file, and closing also unlocks it soon.
            let _ = self.file.unlock();
        }
    }
}

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

impl DerefMut for LockedFile {
    fn deref_mut(&mut self) -> &mut File {
        &mut self.file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_held_by_a_child_is_unlocked_but_not_by_a_forked_copy() {
        let folder = tempfile::tempdir().expect("a folder");
        let open = || File::create(folder.path().join("lock")).expect("made");
        let lock = || LockedFile::lock(open()).expect("no error");
        let Ok(first) = lock() else { panic!("it is unlocked") };
        assert!(lock().is_err());

        // The state of a child between its fork and its program.
        let inherited = first.try_clone().expect("open");
        drop(LockedFile { file: first.try_clone().expect("open"), process: process::id() + 1 });
        assert!(lock().is_err(), "a forked copy unlocked it");
        drop(first);
        assert!(lock().is_ok(), "the child holds it");
        drop(inherited);
    }
}
