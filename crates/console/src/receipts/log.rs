//! The receipt file: one process at a time appends to it durably, and replaces a torn last line.

use std::{
    fs::{File, OpenOptions, TryLockError, read_link},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    thread::sleep,
    time::{Duration, Instant},
};

use garblet::{net::check_is_file, store::sync_folder};

pub use super::chain::{Digested, object};
use super::{
    Receipt,
    chain::{self, Fault, Head, LAST, LINE_BYTES_MAX, Link, Tail},
    comparison::Comparison,
    room::{self, RECEIPT_BYTES, reserve},
};
use crate::{
    configuration::make_folder,
    failure::{Failure, reason},
    job::JobDigest,
    output::tell,
    surface::Setting,
    whole_file::folder_of,
};

/// The number of bytes read at once from the end.
const BLOCK_BYTES: u64 = 64 << 10;

/// The longest wait while another program locks the log, and the time between attempts.
const PATIENCE: Duration = Duration::from_secs(10);
const RETRY: Duration = Duration::from_millis(5);

/// The end of a log.
struct End {
    head: Head,
    /// The position after the last receipt.
    place: u64,
    /// Set if that receipt lacks its line end.
    is_open: bool,
}

/// The advice on a log that cannot be extended.
fn damaged() -> String {
    format!(
        "`garblet receipts verify` checks every line; keep the file, and name another one: with {}, or as receipts in a service's configuration",
        Setting::Receipts
    )
}

/// A log of receipts.
pub struct Log {
    path: PathBuf,
    /// The file, which stays open: a receipt is written even when this process can open no more files. A thread that uses it takes this mutex first: the
    /// lock on the file itself is tried at intervals, so a thread could miss it again and again.
    file: Mutex<File>,
}

/// The file of a log, locked until this is dropped.
struct Locked<'a>(MutexGuard<'a, File>);

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // The lock of a file that cannot be unlocked ends with the process.
        let _ = self.0.unlock();
    }
}

impl Log {
    /// Opens a log for writing, or creates it.
    ///
    /// *Errors*: the file cannot be written, has no room for a receipt, or ends in something other than a receipt or the beginning of one.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        make_folder(path)?;
        folder_to_write(path)?;
        let file = opened(path).map_err(|error| Failure::unwritable(path, &error))?;
        let log = Log { path: path.into(), file: Mutex::new(file) };
        log.take_room()?;
        Ok(log)
    }

    /// Takes room on the disk for the receipt of the next run, behind the last complete receipt.
    ///
    /// *Errors*: as [`Log::open`].
    pub(super) fn take_room(&self) -> Result<(), Failure> {
        let mut locked = self.locked(Instant::now())?;
        let file = &mut *locked.0;
        let end = self.end(file)?;
        // Cutting it off later would give away the room behind it.
        self.cut_torn(file, &end)?;
        reserve(file, end.place, RECEIPT_BYTES)
            .map_err(|error| Failure::unwritable(&self.path, &error).hint(room::advice(&error)))
    }

    /// Cuts off an incomplete receipt behind the last one. Returns whether there was one.
    fn cut_torn(&self, file: &File, end: &End) -> Result<bool, Failure> {
        let unwritable = |error: io::Error| Failure::unwritable(&self.path, &error);
        let torn = file.metadata().map_err(unwritable)?.len().saturating_sub(end.place);
        if torn > 0 {
            let (path, number) = (self.path.display(), end.head.number);
            tell(&format!("{path}: cut off {torn} bytes of an incomplete receipt after receipt {number}"));
            file.set_len(end.place).map_err(unwritable)?;
        }
        Ok(torn > 0)
    }

    /// Checks the end of a log as [`Log::open`] does, or that it can be made if there is none. Writes nothing.
    ///
    /// *Errors*: the file cannot be read, written or made, or ends in something other than a receipt or the beginning of one.
    pub(super) fn check(path: &Path) -> Result<(), Failure> {
        let unwritable = |error: io::Error| Failure::unwritable(path, &error);
        match path.metadata() {
            // A link to nowhere, too: the file is made there.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return check_can_be_made(path);
            }
            _ => check_is_file(path).map_err(unwritable)?,
        }
        let file = match OpenOptions::new().read(true).write(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return check_can_be_made(path),
            file => file.map_err(unwritable)?,
        };
        let log = Log { path: path.into(), file: Mutex::new(file) };
        let mut locked = Locked(log.file.lock().unwrap_or_else(PoisonError::into_inner));
        log.lock(&locked.0, Instant::now())?;
        log.end(&mut locked.0).map(drop)
    }

    /// Returns whether the log contains a matching receipt.
    ///
    /// *Errors*: the file cannot be read, or is not a log.
    pub(crate) fn has(&self, is_it: impl Fn(&Receipt) -> bool) -> Result<bool, Failure> {
        let (begin, mut is_there) = (Instant::now(), false);
        let mut file = self.locked(begin)?;
        file.0.rewind().map_err(|error| Failure::unreadable(&self.path, &error))?;
        let read = chain::read(&*file.0, |link, _| is_there |= is_it(&link.receipt));
        read.map_err(|broken| {
            Failure::no_result(format!("{}:{broken}", self.path.display())).hint(broken.fault.hint(damaged()))
        })?;
        Ok(is_there)
    }

    /// Adds a receipt, without its outputs if they make it too long or would use the room for receipts without. Returns its number once it is on disk.
    ///
    /// *Errors*: as [`Log::open`].
    pub fn append(&self, receipt: &Receipt) -> Result<u64, Failure> {
        let unwritable = |error: io::Error| Failure::unwritable(&self.path, &error);
        let begin = Instant::now();
        let mut locked = self.locked(begin)?;
        let file = &mut *locked.0;
        let end = self.end(file)?;
        if self.cut_torn(file, &end)? {
            // This also gave away the room behind it. Without that, the line may still find some.
            let _ = reserve(file, end.place, RECEIPT_BYTES);
        }
        let End { head, place, is_open } = end;
        let (line, next) = self.line_behind(head, receipt)?;
        // Several processes may count on the same room, so outputs use none of it.
        let bytes = line.len() as u64 + 2 + RECEIPT_BYTES;
        let room = receipt.outputs.as_ref().map_or(Ok(()), |_| reserve(file, place, bytes)).map_err(unwritable);
        let mut write = |line: &str| {
            let line = format!("{}{line}\n", if is_open { "\n" } else { "" });
            let written = file.seek(SeekFrom::Start(place)).and_then(|_| file.write_all(line.as_bytes()));
            let written = written.and_then(|()| file.sync_all());
            if written.is_err() {
                // Cut off a partial line now if possible, else when the next one is added.
                let _ = file.set_len(place);
            }
            // For those who counted on the room that was used or cut off. They ask for it themselves before a run, so an error here is none.
            let used = if written.is_ok() { line.len() as u64 } else { 0 };
            let _ = reserve(file, place + used, RECEIPT_BYTES);
            written.map_err(unwritable)
        };
        match room.and_then(|()| write(&line)) {
            Err(failure) if receipt.outputs.is_some() => {
                let (line, next) = self.line_behind(head, &Receipt { outputs: None, ..receipt.clone() })?;
                write(&line)?;
                tell(&format!("warning: outputs left out of the receipt: {}", failure.message));
                Ok(next.number)
            }
            written => written.map(|()| next.number),
        }
    }

    /// The line of a receipt, within the length limit.
    fn line_behind(&self, head: Head, receipt: &Receipt) -> Result<(String, Head), Failure> {
        let behind = |receipt: &Receipt| {
            chain::line_behind(head, receipt).map_err(|error| Failure::unwritable(&self.path, &error.into()))
        };
        let (line, next) = behind(receipt)?;
        match line.len() < LINE_BYTES_MAX {
            true => Ok((line, next)),
            false => {
                tell(&format!(
                    "warning: {}: outputs left out of the receipt: with them it would have {} bytes, at most {LINE_BYTES_MAX} are allowed",
                    self.path.display(),
                    line.len()
                ));
                // Without them it is short.
                behind(&Receipt { outputs: None, ..receipt.clone() })
            }
        }
    }

    /// The file, once no other thread of this process uses it and no other process has it locked. If another file is in its place by then, or none, opens or
    /// creates that one. The caller has waited since `begin`.
    fn locked(&self, begin: Instant) -> Result<Locked<'_>, Failure> {
        let unwritable = |error: io::Error| Failure::unwritable(&self.path, &error);
        loop {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            if !is_at(&file, &self.path).map_err(unwritable)? {
                let is_gone = !self.path.exists();
                *file = opened(&self.path).map_err(unwritable)?;
                if is_gone {
                    tell(&format!(
                        "warning: {}: the log was not there any more: a new one begins",
                        self.path.display()
                    ));
                }
            }
            self.lock(&file, begin)?;
            let locked = Locked(file);
            // It may have been moved away while this waited.
            if is_at(&locked.0, &self.path).map_err(unwritable)? {
                return Ok(locked);
            }
        }
    }

    /// Waits for the lock on the file. Our processes hold it while they write a line; another program may hold it for any time.
    ///
    /// *Errors*: another process still holds it when [`PATIENCE`] since `begin` is over.
    fn lock(&self, file: &File, begin: Instant) -> Result<(), Failure> {
        let mut is_told = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) if begin.elapsed() < PATIENCE => {
                    if begin.elapsed() > PATIENCE / 10 && !std::mem::replace(&mut is_told, true) {
                        let (path, seconds) = (self.path.display(), PATIENCE.as_secs());
                        tell(&format!(
                            "warning: {path}: another program holds its lock; waiting for {seconds} s at most"
                        ));
                    }
                    sleep(RETRY);
                }
                Err(TryLockError::WouldBlock) => {
                    let (path, seconds) = (self.path.display(), PATIENCE.as_secs());
                    let what = format!("{path}: cannot be written: another program has held its lock for {seconds} s");
                    return Err(
                        Failure::no_result(what).hint(format!("`fuser {path}` shows which program has it open"))
                    );
                }
                Err(TryLockError::Error(error)) => return Err(Failure::unwritable(&self.path, &error)),
            }
        }
    }

    /// The end of the log: the last complete receipt, and perhaps a torn one after it.
    fn end(&self, file: &mut File) -> Result<End, Failure> {
        let unreadable = |error| Failure::unreadable(&self.path, &error);
        // It stays so until somebody mends it.
        let broken = |fault: Fault| Failure {
            forbids_more_runs: true,
            ..Failure::no_result(format!("{}: the last line: {fault}", self.path.display())).hint(fault.hint(damaged()))
        };
        let length = file.metadata().map_err(unreadable)?.len();
        let ended = newline_before(file, length).map_err(unreadable)?;
        let mut end = End { head: Head::NONE, place: 0, is_open: false };
        if let Some(at) = ended {
            let begin = newline_before(file, at).map_err(unreadable)?.map_or(0, |before| before + 1);
            let line = piece(file, begin, at).map_err(unreadable)?;
            let (link, digest) = line.and_then(|line| chain::read_line(&line)).map_err(broken)?;
            end = End { head: Head { number: link.number, digest }, place: at + 1, is_open: false };
        }
        let tail = piece(file, end.place, length).map_err(unreadable)?;
        if let Tail::Whole(link, digest) = tail.and_then(|tail| chain::read_tail(&tail, end.head)).map_err(broken)? {
            end = End { head: Head { number: link.number, digest }, place: length, is_open: true };
        }
        match end.head.number {
            LAST.. => Err(broken("no receipt can follow it: it has the greatest number".into())),
            _ => Ok(end),
        }
    }
}

/// Opens a log, or creates it with a durable name, for its owner only.
fn opened(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    let file = match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let file = options.create(true).open(path)?;
            // A link may lead to another folder.
            sync_folder(folder_of(&path.canonicalize()?))?;
            file
        }
        other => other?,
    };
    // Pipes and devices do not store anything.
    check_is_file(path)?;
    Ok(file)
}

/// The most links from a log to another, as in the system.
const LINKS_MAX: usize = 40;

/// The folder in which a log is, or is made: that of the file to which a link leads.
///
/// *Errors*: a link leads to a folder that does not exist; only the folders in the path of the log itself are made.
fn folder_to_write(path: &Path) -> Result<PathBuf, Failure> {
    let mut place = path.to_path_buf();
    for _ in 0..LINKS_MAX {
        let Ok(target) = read_link(&place) else { break };
        place = folder_of(&place).join(target);
    }
    let folder = folder_of(&place);
    if place != path && !folder.exists() {
        let (path, place, folder) = (path.display(), place.display(), folder.display());
        let what =
            format!("{path}: cannot be written: it is a link to {place}, but the folder {folder} does not exist");
        return Err(Failure::no_result(what).hint("make this folder, or let the link name another file"));
    }
    Ok(folder.into())
}

/// Checks that a log that is not there can be made, with the folders that are missing.
///
/// *Errors*: the first folder above it that is there cannot be written, or is no folder.
fn check_can_be_made(path: &Path) -> Result<(), Failure> {
    use rustix::fs::{Access, access};
    let folder = folder_to_write(path)?;
    let above = folder.ancestors().find(|above| above.symlink_metadata().is_ok()).unwrap_or(Path::new("."));
    let writable = match above.metadata() {
        Ok(there) if there.is_dir() => access(above, Access::WRITE_OK | Access::EXEC_OK).map_err(io::Error::from),
        Ok(_) => Err(io::ErrorKind::NotADirectory.into()),
        Err(error) => Err(error),
    };
    writable.map_err(|error| {
        let (path, above) = (path.display(), above.display());
        Failure::no_result(format!("{path}: cannot be made in {above}: {}", reason(&error)))
    })
}

/// Returns whether a path names an open file.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let open = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (open.dev(), open.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The bytes between two positions. The inner error is for more bytes than a line can have.
fn piece(file: &mut File, begin: u64, end: u64) -> io::Result<Result<Vec<u8>, Fault>> {
    if end - begin >= LINE_BYTES_MAX as u64 {
        return Ok(Err(format!("not a receipt: longer than {LINE_BYTES_MAX} bytes").into()));
    }
    let mut bytes = vec![0; (end - begin) as usize];
    file.seek(SeekFrom::Start(begin))?;
    file.read_exact(&mut bytes)?;
    Ok(Ok(bytes))
}

/// The position of the last line end before a position.
fn newline_before(file: &mut File, mut place: u64) -> io::Result<Option<u64>> {
    let mut block = Vec::new();
    while place > 0 {
        let begin = place.saturating_sub(BLOCK_BYTES);
        block.resize((place - begin) as usize, 0);
        file.seek(SeekFrom::Start(begin))?;
        file.read_exact(&mut block)?;
        if let Some(at) = block.iter().rposition(|&byte| byte == b'\n') {
            return Ok(Some(begin + at as u64));
        }
        place = begin;
    }
    Ok(None)
}

/// All receipts of a log, and its end. `holds` are digests of receipts that the log had earlier: if it still has them, nothing before them
/// was cut off.
///
/// *Errors*: the file cannot be read or is not a log; a line was changed, dropped or moved; no receipt has one of the digests.
pub fn read_all(path: &Path, holds: &[JobDigest]) -> Result<(Vec<Digested>, Head), Failure> {
    chain::read_all(&path.display(), opened_to_read(path)?, holds)
}

impl Comparison {
    /// Compares the log files of two parties.
    ///
    /// *Errors*: a file cannot be read or is not a log.
    pub fn of_logs(ours: &Path, theirs: &Path) -> Result<Self, Failure> {
        let all = |path: &Path| {
            let mut links = Vec::new();
            read(path, |link, _| links.push(link)).map(|_| links)
        };
        Ok(Comparison::of(all(ours)?, all(theirs)?))
    }
}

/// Reads a log from the start. Reports a torn line, which is not an error: it is cut off when the next receipt is added.
fn read(path: &Path, each: impl FnMut(Link, [u8; 32])) -> Result<Head, Failure> {
    chain::read_told(&path.display(), opened_to_read(path)?, each)
}

fn opened_to_read(path: &Path) -> Result<File, Failure> {
    File::open(path).map_err(|e| Failure::unreadable(path, &e))
}
