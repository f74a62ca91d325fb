//! Files that may change while the process runs.

use std::{fs, path::Path, time::SystemTime};

/// A file's state, used to notice changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The time of its last change.
    pub modified: SystemTime,
    bytes: u64,
    file: u64,
}

impl Mark {
    /// The current state of a file; `None` if it does not exist.
    pub fn of(file: &Path) -> Option<Self> {
        let metadata = fs::metadata(file).ok()?;
        let modified = metadata.modified().ok()?;
        let file = std::os::unix::fs::MetadataExt::ino(&metadata);
        Some(Mark { modified, bytes: metadata.len(), file })
    }
}
