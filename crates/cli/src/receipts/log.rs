//! The file of receipts: it is added to by one process at a time, durably, and goes on behind a line that was torn.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use super::{
    Receipt,
    chain::{self, Head, LINE_BYTES_MAX},
};
use crate::{configuration::make_folder, failure::Failure, output::tell};

/// Bytes that are read at once from the end.
const BLOCK_BYTES: u64 = 64 << 10;

/// A log of receipts.
pub(crate) struct Log {
    path: PathBuf,
}

impl Log {
    /// A log that can be added to; it is made if there is none.
    ///
    /// *Errors*: a file that cannot be written, or whose last line is no receipt.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        make_folder(path)?;
        let log = Log { path: path.into() };
        let mut file = log.locked()?;
        log.tail(&mut file)?;
        Ok(log)
    }

    /// Adds a receipt. When this returns, it is on the disk, and has this number.
    ///
    /// *Errors*: as [`Log::open`].
    pub(crate) fn append(&self, receipt: &Receipt) -> Result<u64, Failure> {
        let unwritable = |error: io::Error| Failure::unwritable(&self.path, &error);
        let mut file = self.locked()?;
        let (head, end) = self.tail(&mut file)?;
        let torn = file.metadata().map_err(unwritable)?.len() - end;
        if torn > 0 {
            tell(&format!(
                "{}: cut off {torn} bytes of a receipt that was not written to its end, behind receipt {}",
                self.path.display(),
                head.number
            ));
            file.set_len(end).map_err(unwritable)?;
        }
        let (line, head) = chain::line_behind(head, receipt).map_err(|error| unwritable(error.into()))?;
        if line.len() >= LINE_BYTES_MAX {
            let what =
                format!("{}: a receipt of {} bytes, at most {LINE_BYTES_MAX} can be", self.path.display(), line.len());
            return Err(Failure::no_result(what).hint("leave --receipt-outputs out"));
        }
        let written = file.seek(SeekFrom::Start(end)).and_then(|_| file.write_all(format!("{line}\n").as_bytes()));
        written.and_then(|()| file.sync_all()).map_err(|error| {
            // A part of a line is cut off now if that can be, else when the next one is added.
            let _ = file.set_len(end);
            unwritable(error)
        })?;
        Ok(head.number)
    }

    /// Opens the file when no other process has it. It is made with a durable name, for its owner alone.
    fn locked(&self) -> Result<File, Failure> {
        let unwritable = |error: io::Error| Failure::unwritable(&self.path, &error);
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = match options.open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let file = options.create(true).open(&self.path).map_err(unwritable)?;
                sync_folder(&self.path).map_err(unwritable)?;
                file
            }
            other => other.map_err(unwritable)?,
        };
        // Others have it for as long as a line takes.
        file.lock().map_err(unwritable)?;
        Ok(file)
    }

    /// The last receipt that was written to its end, and the place behind it.
    fn tail(&self, file: &mut File) -> Result<(Head, u64), Failure> {
        let (line, end) = last_line(file).map_err(|error| Failure::unreadable(&self.path, &error))?;
        if end == 0 {
            return Ok((Head::NONE, 0));
        }
        let damaged = |what: String| {
            Failure::no_result(format!("{}: the last line: {what}", self.path.display()))
                .hint("`garblet receipts verify` looks at every line; keep the file, and begin another with --receipts")
        };
        let line =
            line.ok_or_else(|| damaged(format!("it is no receipt: it is longer than {LINE_BYTES_MAX} bytes")))?;
        let text = String::from_utf8(line).map_err(|_| damaged("it is no receipt: it is no text in UTF-8".into()))?;
        let (link, digest) = chain::read_line(&text).map_err(damaged)?;
        Ok((Head { number: link.number, digest }, end))
    }
}

/// The last line that has an end, without that, and the place behind it; no line if it is too long.
fn last_line(file: &mut File) -> io::Result<(Option<Vec<u8>>, u64)> {
    let length = file.metadata()?.len();
    let Some(end) = newline_before(file, length)? else { return Ok((None, 0)) };
    let begin = newline_before(file, end)?.map_or(0, |at| at + 1);
    if end - begin >= LINE_BYTES_MAX as u64 {
        return Ok((None, end + 1));
    }
    let mut line = vec![0; (end - begin) as usize];
    file.seek(SeekFrom::Start(begin))?;
    file.read_exact(&mut line)?;
    Ok((Some(line), end + 1))
}

/// The place of the last line end before a place.
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

/// Makes the name of a new file durable.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
