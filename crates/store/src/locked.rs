//! A file under a lock of the operating system.

use std::fs::{File, TryLockError};
use std::ops::{Deref, DerefMut};
use std::process;

/// A file that nobody else has locked. It is unlocked when this is dropped, or when its process and all forked copies have ended in any way.
///
/// Closing it would not be enough: a process that is being started holds all files of its parent until its program runs.
pub(crate) struct LockedFile {
    file: File,
    /// The process that locked it. A copy in a forked process is no lock, and does not release its parent's.
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
            // It cannot fail for a file that is open; closed, it is unlocked soon.
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
    fn what_a_child_still_holds_is_unlocked_and_what_a_forked_copy_drops_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let open = || File::create(folder.path().join("lock")).expect("made");
        let lock = || LockedFile::lock(open()).expect("no error");
        let Ok(first) = lock() else { panic!("locked by nobody") };
        assert!(lock().is_err());

        // As a child has it between its fork and its program.
        let inherited = first.try_clone().expect("open");
        drop(LockedFile { file: first.try_clone().expect("open"), process: process::id() + 1 });
        assert!(lock().is_err(), "a forked copy unlocked it");
        drop(first);
        assert!(lock().is_ok(), "the child holds it");
        drop(inherited);
    }
}
