//! The record of a store outside its folder: a file that names its last change, which an old copy of the folder does not know.
//!
//! The record lies in a folder of the caller's choice, under the store's number. It names the store's last change, authenticated under the store's key.
//! Each change that takes or discards pieces, agrees on a meeting or keeps a state gets a random name. The index is changed durably first, then the record,
//! and only then is anything sent that depends on the change. The index also knows the name of the previous change. So wherever a process is killed, the
//! record names one of the two. An index that knows neither was restored from a backup, or is a copy of a store that has been used since. If two copies have
//! both been used since the recorded change, the one that is opened first is recorded, and the other is refused.
//! Batches and compaction change only the index, without a name: undoing them loses pieces, but gives none out twice.
//!
//! After the two halves there may be a mark that the store was given up, for a store that could not be written when its peer was caught cheating.
//!
//! A record has two halves, in separate disk blocks. The older half is overwritten in place, so an interrupted write leaves the other one. That takes
//! one wait for the disk. The file is locked while the store is open, which detects a copy of the folder in use under the same number.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::fail_points::FailPoints;
use crate::locked::LockedFile;
use crate::rows::{Head, State};
use crate::store::Store;
use crate::store_dir::{make_folder, sync_folder, sync_name};

/// Bytes of a half: the number of changes, the name of the last change, and the authentication of both.
const HALF_BYTES: usize = 8 + 16 + 32;

/// The distance between the beginnings of the halves: the largest unit that disks write at once.
const APART: usize = 4096;

/// The place of the mark of a store that was given up, after both halves, and its beginning.
const GIVEN_UP: usize = 2 * APART;
const MARK: &[u8; 8] = b"given up";
const MARK_BYTES: usize = MARK.len() + 32;

/// The past of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Past {
    /// The store is new, or agrees with its record.
    Known,
    /// The store was used before and has no readable record: it was used without one or on another machine, or it was restored together with the folder
    /// of its record. From now on there is one.
    Unknown,
}

/// The content of a half of a record: the number of changes, and the name of the last one.
type Half = (u64, [u8; 16]);

/// The open record of a store.
pub(crate) struct Record {
    file: LockedFile,
    path: PathBuf,
    /// The half to overwrite next.
    older: usize,
}

impl Store {
    /// Compares the store with its record in a folder, which is created if it does not exist, and keeps the record up to date from now on.
    ///
    /// The folder must lie where no copy of the store's folder restores it: neither inside it nor in the same backup. One folder can hold the records of any
    /// number of stores.
    ///
    /// *Errors*: [`StoreError::Restored`] if the store is older than its record; [`StoreError::Forked`] if it is not older, and yet does not know the last
    /// recorded change; [`StoreError::CopyInUse`] if a copy of it is open; [`StoreError::GivenUp`] if it was [given up](Store::give_up).
    pub fn record_in(&mut self, folder: &Path) -> Result<Past, StoreError> {
        self.hold_against(folder, true)
    }

    /// The same, but begins no record of a store that has been used without one, so its past is unknown the next time as well.
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
        (&*file).take((GIVEN_UP + MARK_BYTES) as u64).read_to_end(&mut bytes).map_err(&failed)?;
        if bytes.get(GIVEN_UP..) == Some(&self.given_up_mark()[..]) {
            return Err(StoreError::GivenUp { folder: self.folder().into(), record: path });
        }
        if bytes.len() < GIVEN_UP + MARK_BYTES {
            // The mark has its room from the beginning, since the disk may be full when it is written.
            let rest = vec![0; GIVEN_UP + MARK_BYTES - bytes.len()];
            (&*file).write_all(&rest).and_then(|()| file.sync_all()).map_err(&failed)?;
        }
        let halves = [0, APART].map(|place| self.recorded(bytes.get(place..)?));
        let known = halves.into_iter().flatten().max();
        let Head { changes, last, before, .. } = self.head;
        // Also compare the number of changes, to find the newer half.
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
            // Before anything is recorded, so that a known record has a durable name wherever an earlier opening was killed.
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

    /// Gives the store up forever: its peer was caught cheating and must not get another chance with the same secrets. First `state` replaces the secrets under `name`, so the store is useless even if this
    /// process ends in between. Then all states whose name `is_gone` and all pieces are removed. If the state cannot be written, for instance because the disk is full, the record is marked instead: from
    /// then on [`Store::record_in`] refuses the store and every copy of it.
    ///
    /// *Errors*: the store's, if it has no record; both errors, if the record cannot be written either.
    pub fn give_up(&mut self, name: &str, state: State, is_gone: impl Fn(&str) -> bool) -> Result<(), StoreError> {
        if let Err(store) = self.set_state(name, state) {
            return match self.mark_given_up() {
                Ok(true) => Ok(()),
                Ok(false) => Err(store),
                Err(record) => Err(StoreError::NotMarked { store: Box::new(store), record: Box::new(record) }),
            };
        }
        self.remove_states(is_gone)?;
        self.clear().map(drop)
    }

    /// Marks in the record, durably, that the store is given up forever. Returns whether there is a record.
    ///
    /// *Errors*: the record cannot be written.
    pub(crate) fn mark_given_up(&mut self) -> Result<bool, StoreError> {
        let mark = self.given_up_mark();
        let Some(record) = &mut self.record else { return Ok(false) };
        record.put(GIVEN_UP, &mark, self.dir.steps()).map_err(failed(&record.path))?;
        Ok(true)
    }

    /// The mark, authenticated under the store's key.
    fn given_up_mark(&self) -> Vec<u8> {
        [&MARK[..], &self.index.sealer().record_mark(MARK)].concat()
    }

    /// Brings the record, if there is one, up to date with the index.
    pub(crate) fn write_record(&mut self) -> Result<(), StoreError> {
        let Some(record) = &mut self.record else { return Ok(()) };
        let recorded = [&self.head.changes.to_le_bytes()[..], &self.head.last].concat();
        let half = [&recorded[..], &self.index.sealer().record_mark(&recorded)].concat();
        record.write(&half, self.dir.steps()).map_err(failed(&record.path)).inspect_err(|_| self.index.give_up())
    }

    /// The content of a half of a record, if it is complete.
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
            // The state after a crash in the middle of the write.
            self.file.seek(place).and_then(|_| self.file.write_all(&half[..HALF_BYTES / 2]))?;
            return Err(error);
        }
        self.file.seek(place)?;
        self.file.write_all(half)?;
        self.file.sync_data()?;
        self.older = 1 - self.older;
        steps.pass("recorded")
    }

    /// Writes bytes outside the halves.
    fn put(&mut self, place: usize, bytes: &[u8], steps: &FailPoints) -> io::Result<()> {
        steps.pass("given up")?;
        self.file.seek(SeekFrom::Start(place as u64))?;
        self.file.write_all(bytes)?;
        self.file.sync_data()
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
