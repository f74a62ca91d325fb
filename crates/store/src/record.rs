//! The record of a store outside its folder: its last change, in a file that an old copy of the folder contradicts.
//!
//! The record of a store lies in a folder of the caller's choice, under the store's number, and names the last change of it, authenticated under
//! the store's key. Whenever something is taken or given up, a meeting is agreed on, or a state is kept, the change gets a random name: first the index
//! is changed, durably, then the record, durably, and only then does anything leave that depends on it. The index knows the name of the change before as
//! well. So wherever a process is killed the record names one of the two, and an index that knows neither was put back, or is a copy of one that
//! went on; of two copies that have both gone on from what is recorded, the first that is opened is recorded, and the other knows no more of it.
//! Batches and compaction change the index alone, without a name: who undoes them has less, and nothing twice.
//!
//! A record has two halves, in blocks of their own, of which the older is overwritten in place, so that one that is torn leaves the other: that
//! takes one wait for the disk. The file is locked as long as the store is open: a copy of the folder beside it, under the same number, is told apart by that.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::fail_points::FailPoints;
use crate::locked::LockedFile;
use crate::rows::Head;
use crate::store::Store;
use crate::store_dir::{make_folder, sync_folder, sync_name};

/// The bytes of a half: how often a store was changed, the name of the last change, and what authenticates both.
const HALF_BYTES: usize = 8 + 16 + 32;

/// The distance from the beginning of one half to that of the other: disks write no more at once.
const APART: usize = 4096;

/// The past of a store: known or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Past {
    /// The store is new, or as it was recorded.
    Known,
    /// There is no record of a store that was used before, or none that can be read: it was made without one, or on another machine, or it was put
    /// back together with its record's folder. From now on there is one.
    Unknown,
}

/// The content of a half of a record: how often the store was changed, and the name of the last change.
type Half = (u64, [u8; 16]);

/// The open record of a store.
pub(crate) struct Record {
    file: LockedFile,
    path: PathBuf,
    /// The half that is overwritten next.
    older: usize,
}

impl Store {
    /// Holds the store against the record of it in a folder, which is made if there is none, and keeps the record from now on.
    ///
    /// The folder is to be where no copy of the store's folder brings it back: not within it, nor in the same backup. Any number of stores
    /// have their records in one.
    ///
    /// *Errors*: [`StoreError::Restored`] if the store is older than its record; [`StoreError::Forked`] if it is not, and yet does not know the change
    /// that was recorded last; [`StoreError::CopyInUse`] if a copy of it is open.
    pub fn record_in(&mut self, folder: &Path) -> Result<Past, StoreError> {
        self.hold_against(folder, true)
    }

    /// The same, but begins no record of a store that has been used without one: it is as unknown the next time.
    ///
    /// *Errors*: as [`Store::record_in`].
    pub fn known_record_in(&mut self, folder: &Path) -> Result<Past, StoreError> {
        self.hold_against(folder, false)
    }

    fn hold_against(&mut self, folder: &Path, begins: bool) -> Result<Past, StoreError> {
        let path = folder.join(self.id());
        let failed = failed(&path);
        make_folder(folder, self.dir.steps()).map_err(&failed)?;
        let Ok(file) = LockedFile::lock(open(&path).map_err(&failed)?).map_err(&failed)? else {
            return Err(StoreError::CopyInUse { folder: self.folder().into(), record: path });
        };
        let mut bytes = Vec::new();
        (&*file).take((APART + HALF_BYTES) as u64).read_to_end(&mut bytes).map_err(&failed)?;
        let halves = [0, APART].map(|place| self.recorded(bytes.get(place..)?));
        let known = halves.into_iter().flatten().max();
        let Head { changes, last, before, .. } = self.head;
        // More changes too, so that of two halves the newer is known.
        let goes_on =
            |(expected, name)| (name == last && changes >= expected) || (name == before && changes > expected);
        if let Some((expected, _)) = known.filter(|known| !goes_on(*known)) {
            let folder = self.folder().to_path_buf();
            return Err(match expected > changes {
                true => StoreError::Restored { folder, record: path, expected, got: changes },
                false => StoreError::Forked { folder, record: path },
            });
        }
        let is_unused = self.head.binding.is_none() && self.kinds.is_empty() && self.states.is_empty();
        if known.is_none() && !is_unused && !begins {
            return Ok(Past::Unknown);
        }
        if known.is_none() {
            // Before anything is recorded, so that a record that is known has a durable name, wherever an earlier opening was killed.
            let synced = self.dir.steps().pass("record name").and_then(|()| sync_folder(folder));
            synced.and_then(|()| sync_name(folder)).map_err(&failed)?;
        }
        let record = Record { file, path, older: usize::from(halves[0] > halves[1]) };
        self.record = Some(record);
        if known.is_none_or(|(_, name)| name != last) {
            self.write_record()?;
        }
        Ok(if known.is_some() || is_unused { Past::Known } else { Past::Unknown })
    }

    /// Brings the record, if one is kept, up to the index.
    pub(crate) fn write_record(&mut self) -> Result<(), StoreError> {
        let Some(record) = &mut self.record else { return Ok(()) };
        let recorded = [&self.head.changes.to_le_bytes()[..], &self.head.last].concat();
        let half = [&recorded[..], &self.index.sealer().record_mark(&recorded)].concat();
        record.write(&half, self.dir.steps()).map_err(failed(&record.path)).inspect_err(|_| self.index.give_up())
    }

    /// The content of a half of a record, if it is whole.
    fn recorded(&self, half: &[u8]) -> Option<Half> {
        let (recorded, mark) = half.get(..HALF_BYTES)?.split_at(8 + 16);
        let (changes, name) = recorded.split_first_chunk()?;
        let is_whole = self.index.sealer().record_mark(recorded) == mark;
        Some((u64::from_le_bytes(*changes), name.try_into().ok()?)).filter(|_| is_whole)
    }
}

impl Record {
    fn write(&mut self, half: &[u8], steps: &FailPoints) -> io::Result<()> {
        let place = SeekFrom::Start((self.older * APART) as u64);
        if let Err(error) = steps.pass("record") {
            // What a crash in the middle of the write would leave.
            self.file.seek(place).and_then(|_| self.file.write_all(&half[..HALF_BYTES / 2]))?;
            return Err(error);
        }
        self.file.seek(place)?;
        self.file.write_all(half)?;
        self.file.sync_data()?;
        self.older = 1 - self.older;
        steps.pass("recorded")
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn failed(path: &Path) -> impl Fn(io::Error) -> StoreError + use<> {
    let path = path.to_path_buf();
    move |source| StoreError::Io { doing: "cannot keep a record of the store in", path: path.clone(), source }
}
