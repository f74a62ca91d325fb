//! Files that may change while the process runs.

use std::{fs, path::Path, time::SystemTime};

/// The state of a file by which a change is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The time of its last change.
    pub modified: SystemTime,
    bytes: u64,
    file: u64,
}

impl Mark {
    /// The state of a file now; none if it is not there.
    pub fn of(file: &Path) -> Option<Self> {
        let metadata = fs::metadata(file).ok()?;
        let modified = metadata.modified().ok()?;
        let file = std::os::unix::fs::MetadataExt::ino(&metadata);
        Some(Mark { modified, bytes: metadata.len(), file })
    }
}
