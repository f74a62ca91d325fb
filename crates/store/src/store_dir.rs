//! The folder of a store's files, or its replacement in memory.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use crate::error::StoreError;
use crate::fail_points::FailPoints;
use crate::locked::LockedFile;

/// The most files of a store that are open at the same time.
const OPEN_FILES_MAX: usize = 64;

const LOCK: &str = "lock";
const INDEX: &str = "index.sqlite";
const SEGMENTS: &str = "segments";

/// The extension of temporary files without a store.
pub(crate) const SCRATCH_EXTENSION: &str = "scratch";

/// The name of a file that marks an unfinished store.
const UNFINISHED: &str = "unfinished";

/// The files of a store, and the lock on them.
pub(crate) struct StoreDir {
    root: Root,
    open: HashMap<u64, Arc<SegmentFile>>,
    steps: FailPoints,
}

enum Root {
    /// A folder, and its lock file.
    Folder {
        path: PathBuf,
        _lock: LockedFile,
    },
    Memory,
}

impl StoreDir {
    /// Memory.
    pub(crate) fn memory() -> Self {
        StoreDir { root: Root::Memory, open: HashMap::new(), steps: FailPoints::default() }
    }

    /// Creates a folder that only its owner can use, with an empty index. Call [`finish`](StoreDir::finish) afterwards.
    ///
    /// *Errors*: [`StoreError::Exists`] unless the folder is new, empty, or the remains of a crash in this function.
    pub(crate) fn create(folder: &Path, steps: FailPoints) -> Result<Self, StoreError> {
        let failed = io_error("cannot create", folder);
        make_folder(folder, &steps).map_err(&failed)?;
        check_mode(folder, &fs::metadata(folder).map_err(&failed)?, 0o700)?;
        let unfinished = folder.join(UNFINISHED);
        let check = || match unfinished.exists() || is_empty(folder).map_err(&failed)? {
            true => Ok(()),
            false => Err(StoreError::Exists { folder: folder.into() }),
        };
        check()?;
        let lock = lock(folder, &steps)?;
        // Another process may have created one meanwhile.
        check()?;
        if !unfinished.exists() {
            steps.pass("creation").map_err(&failed)?;
            new_file(&unfinished).map_err(&failed)?;
        }
        remove_contents(folder).map_err(&failed)?;
        make_folder(&folder.join(SEGMENTS), &steps).map_err(&failed)?;
        new_file(&folder.join(INDEX)).map_err(&failed)?;
        steps.pass("creation").map_err(&failed)?;
        let root = Root::Folder { path: folder.into(), _lock: lock };
        Ok(StoreDir { root, open: HashMap::new(), steps })
    }

    /// Marks the store in the new folder as complete.
    pub(crate) fn finish(&self) -> Result<(), StoreError> {
        let Root::Folder { path, .. } = &self.root else { return Ok(()) };
        let failed = io_error("cannot create", path);
        self.steps.pass("creation").map_err(&failed)?;
        fs::remove_file(path.join(UNFINISHED)).map_err(&failed)?;
        sync_folder(path).map_err(&failed)
    }

    /// Checks that there is a store in a folder.
    ///
    /// *Errors*: [`StoreError::Missing`]; [`StoreError::Io`] if it cannot be read whether there is one.
    pub(crate) fn find(folder: &Path) -> Result<fs::Metadata, StoreError> {
        let there = |path: &Path| match fs::metadata(path) {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(io_error("cannot read", path)(source)),
        };
        if let Some(metadata) = there(folder)?.filter(fs::Metadata::is_dir)
            && there(&folder.join(INDEX))?.is_some_and(|index| index.is_file())
            && there(&folder.join(UNFINISHED))?.is_none()
        {
            return Ok(metadata);
        }
        Err(StoreError::Missing { folder: folder.into() })
    }

    /// Opens and locks a folder.
    ///
    /// *Errors*: [`StoreError::Missing`], [`StoreError::InUse`], [`StoreError::Exposed`], [`StoreError::Linked`].
    pub(crate) fn open(folder: &Path, steps: FailPoints) -> Result<Self, StoreError> {
        let place = StoreDir::hold(folder, steps)?;
        check_no_link(&folder.join(SEGMENTS))?;
        Ok(place)
    }

    /// Locks a folder, whatever its segments are.
    fn hold(folder: &Path, steps: FailPoints) -> Result<Self, StoreError> {
        let metadata = StoreDir::find(folder)?;
        check_mode(folder, &metadata, 0o700)?;
        let lock = lock(folder, &steps)?;
        let root = Root::Folder { path: folder.into(), _lock: lock };
        Ok(StoreDir { root, open: HashMap::new(), steps })
    }

    /// Removes a store with all its contents, even if it cannot be opened. Of a link in it, only the link is removed.
    ///
    /// *Errors*: as [`open`](StoreDir::open), but of links only for that of the lock; or a folder that holds something else.
    pub(crate) fn remove(folder: &Path) -> Result<(), StoreError> {
        let place = StoreDir::hold(folder, FailPoints::default())?;
        let failed = io_error("cannot remove", folder);
        remove_contents(folder).map_err(&failed)?;
        fs::remove_file(folder.join(LOCK)).map_err(&failed)?;
        drop(place);
        // Foreign files in the folder stay, and so does the folder.
        let _ = fs::remove_dir(folder);
        Ok(())
    }

    /// The folder, or a name for memory.
    pub(crate) fn folder(&self) -> &Path {
        match &self.root {
            Root::Folder { path, .. } => path,
            Root::Memory => Path::new("memory"),
        }
    }

    /// The file of the index, if it is not in memory.
    pub(crate) fn index(&self) -> Option<PathBuf> {
        match &self.root {
            Root::Folder { path, .. } => Some(path.join(INDEX)),
            Root::Memory => None,
        }
    }

    pub(crate) fn steps(&self) -> &FailPoints {
        &self.steps
    }

    /// Creates the file of a new segment.
    pub(crate) fn create_segment(&mut self, number: u64) -> Result<Arc<SegmentFile>, StoreError> {
        let path = self.segment_path(number);
        let failed = io_error("cannot create", &path);
        self.steps.pass("segment creation").map_err(&failed)?;
        let contents = match &self.root {
            Root::Folder { .. } => Contents::Disk(new_file(&path).map_err(&failed)?),
            Root::Memory => Contents::Memory(Vec::new()),
        };
        let file = SegmentFile { contents: Mutex::new(contents), path, steps: self.steps.clone() };
        Ok(self.keep(number, Arc::new(file)))
    }

    /// Creates the file of a [`Scratch`](crate::Scratch); `None` in memory.
    pub(crate) fn create_scratch(&mut self, number: u64) -> Result<Option<Arc<SegmentFile>>, StoreError> {
        let Root::Folder { .. } = self.root else { return Ok(None) };
        let file = self.create_segment(number)?;
        self.open.remove(&number);
        Ok(Some(file))
    }

    /// The file of a segment; `None` if it is missing.
    pub(crate) fn segment(&mut self, number: u64) -> Result<Option<Arc<SegmentFile>>, StoreError> {
        if let Some(file) = self.open.get(&number) {
            return Ok(Some(file.clone()));
        }
        let path = self.segment_path(number);
        let file = match open_no_link(&path, &mut OpenOptions::new(), "cannot open") {
            Ok(file) => file,
            Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let file = SegmentFile { contents: Mutex::new(Contents::Disk(file)), path, steps: self.steps.clone() };
        Ok(Some(self.keep(number, Arc::new(file))))
    }

    /// Makes the names of new segments durable.
    pub(crate) fn sync_names(&self) -> Result<(), StoreError> {
        let Root::Folder { path, .. } = &self.root else { return Ok(()) };
        let path = path.join(SEGMENTS);
        let failed = io_error("cannot write", &path);
        self.steps.pass("names").map_err(&failed)?;
        sync_folder(&path).map_err(failed)
    }

    /// Removes the file of an unused segment. If that fails, the next opening tries again.
    pub(crate) fn remove_segment(&mut self, number: u64) {
        self.open.remove(&number);
        if let Root::Folder { .. } = self.root
            && self.steps.pass("segment removal").is_ok()
        {
            let _ = fs::remove_file(self.segment_path(number));
        }
    }

    /// Removes the remains of a crash: all files except segments that are `is_known`.
    pub(crate) fn remove_leftovers(&self, is_known: impl Fn(u64) -> bool) -> Result<(), StoreError> {
        let Root::Folder { path, .. } = &self.root else { return Ok(()) };
        let folder = path.join(SEGMENTS);
        let failed = io_error("cannot read", &folder);
        for entry in fs::read_dir(&folder).map_err(&failed)? {
            let entry = entry.map_err(&failed)?;
            let name = entry.file_name();
            let number = name.to_str().and_then(|n| n.strip_suffix(".seg")).and_then(|n| n.parse::<u64>().ok());
            if number.is_some_and(|number| !is_known(number)) {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(())
    }

    fn segment_path(&self, number: u64) -> PathBuf {
        self.folder().join(SEGMENTS).join(format!("{number:08}.seg"))
    }

    fn keep(&mut self, number: u64, file: Arc<SegmentFile>) -> Arc<SegmentFile> {
        if matches!(self.root, Root::Folder { .. }) && self.open.len() >= OPEN_FILES_MAX {
            self.open.clear();
        }
        self.open.insert(number, file.clone());
        file
    }
}

/// The file of a segment.
pub(crate) struct SegmentFile {
    contents: Mutex<Contents>,
    path: PathBuf,
    steps: FailPoints,
}

/// A file that is being synced. Wait for it: the system reports a failure only once.
#[must_use]
pub(crate) struct Syncing {
    thread: JoinHandle<io::Result<()>>,
    path: PathBuf,
}

impl Syncing {
    pub(crate) fn is_done(&self) -> bool {
        self.thread.is_finished()
    }

    pub(crate) fn wait(self) -> Result<(), StoreError> {
        let done = self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        done.map_err(io_error("cannot write", &self.path))
    }
}

enum Contents {
    Disk(File),
    Memory(Vec<u8>),
}

impl SegmentFile {
    /// A temporary file in a folder, without a store. *Unique*: the number, in the folder.
    ///
    /// Its name is removed at once if the system allows that, so a crash leaves nothing behind.
    pub(crate) fn alone(folder: &Path, number: u64) -> Result<Arc<Self>, StoreError> {
        let path = folder.join(format!("garblet-{number:016x}")).with_extension(SCRATCH_EXTENSION);
        let file = new_file(&path).map_err(io_error("cannot create", &path))?;
        let file = SegmentFile { contents: Mutex::new(Contents::Disk(file)), path, steps: FailPoints::default() };
        file.remove();
        Ok(Arc::new(file))
    }

    /// Fills `bytes` from `offset` on, or fewer of them if the file ends before.
    pub(crate) fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<usize, StoreError> {
        let read = match &mut *self.contents() {
            Contents::Disk(file) => read_at(file, offset, bytes),
            Contents::Memory(contents) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX).min(contents.len());
                let len = bytes.len().min(contents.len() - start);
                bytes[..len].copy_from_slice(&contents[start..start + len]);
                Ok(len)
            }
        };
        read.map_err(io_error("cannot read", &self.path))
    }

    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), StoreError> {
        let failed = io_error("cannot write", &self.path);
        if let Err(error) = self.steps.pass("segment write") {
            // The state after a crash in the middle of the write.
            let _ = self.write_bytes(offset, &bytes[..bytes.len() / 2]);
            return Err(failed(error));
        }
        self.write_bytes(offset, bytes).map_err(failed)
    }

    /// Overwrites bytes with zeros, as far as the file has them.
    pub(crate) fn wipe(&self, offset: u64, len: usize) -> Result<(), StoreError> {
        let end = match &*self.contents() {
            Contents::Disk(file) => file.metadata().map_err(io_error("cannot read", &self.path))?.len(),
            Contents::Memory(contents) => contents.len() as u64,
        };
        let len = len.min(usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX));
        if len > 0 { self.write(offset, &vec![0; len]) } else { Ok(()) }
    }

    /// Makes all written bytes durable.
    pub(crate) fn sync(&self) -> Result<(), StoreError> {
        let failed = io_error("cannot write", &self.path);
        self.steps.pass("segment sync").map_err(&failed)?;
        match &*self.contents() {
            Contents::Disk(file) => file.sync_data().map_err(failed),
            Contents::Memory(_) => Ok(()),
        }
    }

    /// Starts to sync all written bytes while more are written. `None` in memory, or if no thread can be started:
    /// [`sync`](SegmentFile::sync) makes everything durable in any case.
    pub(crate) fn sync_ahead(&self) -> Option<Syncing> {
        let Contents::Disk(file) = &*self.contents() else { return None };
        let file = file.try_clone().ok()?;
        let thread = thread::Builder::new().name("store sync".into()).spawn(move || file.sync_data()).ok()?;
        Some(Syncing { thread, path: self.path.clone() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the file. If that fails, the next opening tries again.
    pub(crate) fn remove(&self) {
        let _ = fs::remove_file(&self.path);
    }

    fn write_bytes(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        match &mut *self.contents() {
            Contents::Disk(file) => {
                file.seek(SeekFrom::Start(offset))?;
                file.write_all(bytes)
            }
            Contents::Memory(contents) => {
                let start = usize::try_from(offset).map_err(|_| io::ErrorKind::OutOfMemory)?;
                let end = start.checked_add(bytes.len()).ok_or(io::ErrorKind::OutOfMemory)?;
                if contents.len() < end {
                    contents.resize(end, 0);
                }
                contents[start..end].copy_from_slice(bytes);
                Ok(())
            }
        }
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Checks that only the owner has access to a file or folder.
///
/// *Errors*: [`StoreError::Exposed`].
pub(crate) fn check_mode(path: &Path, metadata: &fs::Metadata, expected: u32) -> Result<(), StoreError> {
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777;
        if mode & 0o077 != 0 {
            return Err(StoreError::Exposed { path: path.into(), mode, expected });
        }
    }
    #[cfg(not(unix))]
    let _ = (path, metadata, expected);
    Ok(())
}

fn read_at(file: &mut File, offset: u64, mut bytes: &mut [u8]) -> io::Result<usize> {
    file.seek(SeekFrom::Start(offset))?;
    let wanted = bytes.len();
    while !bytes.is_empty() {
        match file.read(bytes) {
            Ok(0) => break,
            Ok(read) => bytes = &mut bytes[read..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(wanted - bytes.len())
}

fn lock(folder: &Path, steps: &FailPoints) -> Result<LockedFile, StoreError> {
    let path = folder.join(LOCK);
    let failed = io_error("cannot lock", &path);
    let mut options = OpenOptions::new();
    options.create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = open_no_link(&path, &mut options, "cannot lock")?;
    let mut file = LockedFile::lock(file).map_err(&failed)?.map_err(|file| {
        let mut text = String::new();
        let _ = file.take(16).read_to_string(&mut text);
        StoreError::InUse { folder: folder.into(), process: text.trim().parse().ok() }
    })?;
    // Only for the message above; the lock is the operating system's.
    steps.pass("lock").map_err(&failed)?;
    file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(failed)?;
    Ok(file)
}

/// Checks that a file of a store is not a link, by which opening a store that somebody made would change another file.
///
/// *Errors*: [`StoreError::Linked`].
pub(crate) fn check_no_link(path: &Path) -> Result<(), StoreError> {
    match fs::symlink_metadata(path) {
        Ok(there) if there.is_symlink() => Err(StoreError::Linked { path: path.into() }),
        _ => Ok(()),
    }
}

/// Opens a file of a store to read and to write it. Where the system can, it refuses a link in the same step.
///
/// *Errors*: [`StoreError::Linked`].
fn open_no_link(path: &Path, options: &mut OpenOptions, doing: &'static str) -> Result<File, StoreError> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    #[cfg(not(unix))]
    check_no_link(path)?;
    let opened = options.read(true).write(true).open(path);
    opened.map_err(|source| check_no_link(path).err().unwrap_or_else(|| io_error(doing, path)(source)))
}

/// Returns whether a folder is empty, except for the lock of a process that is about to create a store there.
fn is_empty(folder: &Path) -> io::Result<bool> {
    fs::read_dir(folder)?.try_fold(true, |is_empty, entry| Ok(is_empty && entry?.file_name() == LOCK))
}

/// Removes index and segments.
fn remove_contents(folder: &Path) -> io::Result<()> {
    let gone = |result: io::Result<()>| match result {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    gone(fs::remove_dir_all(folder.join(SEGMENTS)))?;
    let beside = ["-wal", "-shm", "-journal", ""].map(|suffix| folder.join(format!("{INDEX}{suffix}")));
    beside.iter().try_for_each(|path| gone(fs::remove_file(path)))
}

/// Makes the names in a folder durable.
///
/// *Errors*: those of the file system.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(path)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Makes the name of a file or folder durable.
pub(crate) fn sync_name(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => sync_folder(Path::new(".")),
        Some(parent) => sync_folder(parent),
        None => Ok(()),
    }
}

/// Creates a folder and all missing folders above it. The name of each is durable before anything is created in it.
pub(crate) fn make_folder(path: &Path, steps: &FailPoints) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
    for folder in missing.into_iter().rev() {
        builder.create(folder)?;
        steps.pass("folder")?;
        sync_name(folder)?;
    }
    builder.create(path)
}

fn new_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn io_error(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> StoreError + use<> {
    let path = path.to_path_buf();
    move |source| StoreError::Io { doing, path: path.clone(), source }
}
