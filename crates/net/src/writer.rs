//! The sending half of a channel: frames onto a byte stream, small ones together, large ones without a copy.

use std::io;
use std::io::IoSlice;
use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::clock::timeout;
use crate::error::NetError;
use crate::frame::{BULK_FRAME_BYTES_MAX, HEADER_BYTES, Header};
use crate::pace::Pace;
use crate::watch::{Direction, Watched, look};

/// Pieces from this size on leave without a copy, in one system call with what is staged.
const DIRECT_BYTES: usize = 16 << 10;

/// Staged bytes that are sent without waiting for a flush.
const STAGED_BYTES: usize = 64 << 10;

/// The step that this party waits in when the peer does not read.
const DOING: &str = "for the peer to read what we send";

/// Writes frames to a byte stream.
pub(crate) struct FrameWriter {
    stream: Box<dyn AsyncWrite + Send + Unpin>,
    /// Whole frames, and perhaps the header of the piece being written: at most `STAGED_BYTES + DIRECT_BYTES` and a
    /// header. After a dropped write, also its remaining bytes.
    staged: Vec<u8>,
    /// Staged bytes that must leave before anything else: the rest of a partly sent frame.
    torn: usize,
    /// The start of the header of the last staged frame, if that is a bulk frame, which may grow until it leaves.
    open_bulk: Option<usize>,
    /// Set if the stream was written to since the last flush.
    dirty: bool,
    /// Set if this party aborts.
    aborts: bool,
    pub(crate) pace: Pace,
    pub(crate) header_bytes: u64,
    pub(crate) watched: Option<Watched>,
}

impl FrameWriter {
    pub(crate) fn new(stream: impl AsyncWrite + Send + Unpin + 'static, timeout: Duration) -> Self {
        let staged = Vec::with_capacity(STAGED_BYTES + DIRECT_BYTES + HEADER_BYTES);
        FrameWriter {
            stream: Box::new(stream),
            staged,
            torn: 0,
            open_bulk: None,
            dirty: false,
            aborts: false,
            pace: Pace::new(timeout),
            header_bytes: 0,
            watched: None,
        }
    }

    /// Sends or stages a frame with a payload that is not bulk data.
    pub(crate) async fn frame(&mut self, header: Header, payload: &[u8]) -> Result<(), NetError> {
        self.watch(|direction| {
            if header != Header::Close {
                direction.header(&header.encode());
                direction.payload(payload);
            }
        })?;
        self.stage_header(header);
        self.payload(payload).await
    }

    /// Sends or stages a piece of the bulk stream.
    pub(crate) async fn bulk(&mut self, bytes: &[u8]) -> Result<(), NetError> {
        self.watch(|direction| direction.bulk(bytes))?;
        for piece in bytes.chunks(BULK_FRAME_BYTES_MAX) {
            if !self.grow_open_bulk(piece.len()) {
                let at = self.staged.len();
                self.stage_header(Header::Bulk { bytes: piece.len() as u32 });
                self.open_bulk = Some(at);
            }
            self.payload(piece).await?;
        }
        Ok(())
    }

    /// Makes the staged bulk frame longer, if the last staged frame is one and has room.
    fn grow_open_bulk(&mut self, more: usize) -> bool {
        let Some(at) = self.open_bulk else { return false };
        let staged = self.staged.len() - at - HEADER_BYTES;
        if staged + more > BULK_FRAME_BYTES_MAX {
            return false;
        }
        let header = Header::Bulk { bytes: (staged + more) as u32 }.encode();
        self.staged[at..at + HEADER_BYTES].copy_from_slice(&header);
        true
    }

    fn stage_header(&mut self, header: Header) {
        self.open_bulk = None;
        self.staged.extend_from_slice(&header.encode());
        self.header_bytes += HEADER_BYTES as u64;
    }

    async fn payload(&mut self, payload: &[u8]) -> Result<(), NetError> {
        if payload.len() >= DIRECT_BYTES {
            return self.write_out(payload).await;
        }
        self.staged.extend_from_slice(payload);
        if self.staged.len() >= STAGED_BYTES { self.write_out(&[]).await } else { Ok(()) }
    }

    /// Writes the staged bytes and then `tail`. Bytes that have not left when this fails or is dropped stay staged.
    async fn write_out(&mut self, tail: &[u8]) -> Result<(), NetError> {
        self.open_bulk = None;
        self.dirty = true;
        self.pace.begin();
        let mut leaving = Leaving { writer: self, tail, done: 0 };
        leaving.leave().await
    }

    /// Adds to what was sent, unless the run was given up; then nothing is sent but word of that, which does not count.
    ///
    /// *Errors*: [`NetError::GivenUp`].
    fn watch(&self, add: impl FnOnce(&mut Direction)) -> Result<(), NetError> {
        let Some(watched) = &self.watched else { return Ok(()) };
        let mut direction = look(watched);
        match direction.is_cut() {
            false => add(&mut direction),
            true if self.aborts => {}
            true => return Err(NetError::GivenUp),
        }
        Ok(())
    }

    /// Sends all staged bytes.
    pub(crate) async fn flush(&mut self) -> Result<(), NetError> {
        self.watch(|_| ())?;
        if !self.staged.is_empty() {
            self.write_out(&[]).await?;
        }
        if self.dirty {
            self.pace.begin();
            match self.pace.wait(self.stream.flush(), |_| 0).await {
                Ok(Ok(())) => self.dirty = false,
                Ok(Err(source)) => return Err(NetError::from_io(source, DOING)),
                Err(late) => return Err(late.error(DOING.into())),
            }
        }
        Ok(())
    }

    /// Discards staged frames that have not begun to leave, since this party aborts.
    pub(crate) fn discard(&mut self) {
        self.aborts = true;
        self.staged.truncate(self.torn);
        self.open_bulk = None;
    }

    /// Ends the stream in this direction; a peer that is already gone is not an error.
    pub(crate) async fn shutdown(&mut self) {
        let _ = timeout(self.pace.timeout, self.stream.shutdown()).await;
    }
}

/// The staged bytes, and bytes after them, being written.
struct Leaving<'a> {
    writer: &'a mut FrameWriter,
    tail: &'a [u8],
    /// Bytes that have left.
    done: usize,
}

impl Leaving<'_> {
    async fn leave(&mut self) -> Result<(), NetError> {
        let FrameWriter { stream, staged, pace, .. } = &mut *self.writer;
        let moved = |result: &io::Result<usize>| result.as_ref().copied().unwrap_or(0);
        while self.done < staged.len() + self.tail.len() {
            let first = &staged[self.done.min(staged.len())..];
            let rest = &self.tail[self.done.saturating_sub(staged.len())..];
            let wrote = if first.is_empty() {
                pace.wait(stream.write(rest), moved).await
            } else {
                pace.wait(stream.write_vectored(&[IoSlice::new(first), IoSlice::new(rest)]), moved).await
            };
            match wrote {
                Ok(Ok(0)) => return Err(NetError::PeerClosed { doing: DOING.into() }),
                Ok(Ok(count)) => self.done += count,
                Ok(Err(source)) => return Err(NetError::from_io(source, DOING)),
                Err(late) => return Err(late.error(DOING.into())),
            }
        }
        Ok(())
    }
}

impl Drop for Leaving<'_> {
    /// Keeps the unsent bytes: without them, the peer would take the next data for the rest of a frame.
    fn drop(&mut self) {
        let staged = &mut self.writer.staged;
        let gone = self.done.min(staged.len());
        staged.drain(..gone);
        staged.extend_from_slice(&self.tail[self.done - gone..]);
        if self.done > 0 {
            self.writer.torn = staged.len();
        }
    }
}
