//! Segments: files of sealed pieces, one after another.
//!
//! A segment starts with a head, which only `verify` and people read: magic, the store's number, the segment's number. The pieces follow. Each is sealed under
//! the segment's key, with its place in the file as the nonce, and its kind and identifier as authenticated data. A writer only appends, and an incomplete
//! segment is never continued, so each place is sealed once.

use std::sync::Arc;

use zeroize::Zeroizing;

use crate::error::StoreError;
use crate::kind::KindDigest;
use crate::rows::{Extent, SegmentRow};
use crate::seal::{PieceKey, TAG_BYTES};
use crate::store_dir::{SegmentFile, StoreDir, Syncing};

/// The place of the first piece of a segment.
pub(crate) const HEAD_BYTES: usize = 32;

/// A segment of at least this length gets no more pieces, so space is freed in small units. Tests have many small segments.
pub(crate) const SEGMENT_BYTES: u64 = if cfg!(test) { 1 << 20 } else { 256 << 20 };

/// The approximate size of the units in which sealed bytes are written.
const WRITE_BYTES: usize = 1 << 20;

/// The number of written bytes after which syncing to disk begins, while more is sealed. Tests have small segments.
const AHEAD_BYTES: u64 = if cfg!(test) { 1 << 16 } else { 8 << 20 };

/// The head of a segment.
pub(crate) fn head(store: &[u8; 16], number: u64) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..8].copy_from_slice(b"GARBSEG1");
    head[8..24].copy_from_slice(store);
    head[24..].copy_from_slice(&number.to_le_bytes());
    head
}

/// The context that is authenticated with a piece.
pub(crate) fn context(kind: &KindDigest, id: u64) -> [u8; 40] {
    let mut context = [0; 40];
    context[..32].copy_from_slice(&kind.0);
    context[32..].copy_from_slice(&id.to_le_bytes());
    context
}

/// Appends pieces to one segment.
pub(crate) struct SegmentWriter {
    number: u64,
    key: PieceKey,
    row_key: Zeroizing<[u8; 32]>,
    file: Arc<SegmentFile>,
    /// The place where the buffer will be written.
    offset: u64,
    buffer: Vec<u8>,
    /// The end of the bytes that are being synced to disk.
    ahead: (u64, Option<Syncing>),
}

impl SegmentWriter {
    /// Creates a segment with this number and the key of its row, in the store with this number.
    pub(crate) fn create(
        place: &mut StoreDir,
        store: &[u8; 16],
        number: u64,
        row_key: Zeroizing<[u8; 32]>,
    ) -> Result<Self, StoreError> {
        let file = place.create_segment(number)?;
        let mut buffer = Vec::with_capacity(WRITE_BYTES + WRITE_BYTES / 8);
        buffer.extend_from_slice(&head(store, number));
        Ok(SegmentWriter { number, key: PieceKey::new(&row_key), row_key, file, offset: 0, buffer, ahead: (0, None) })
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The position of the next piece.
    pub(crate) fn end(&self) -> u64 {
        self.offset + self.buffer.len() as u64
    }

    /// Returns whether the segment accepts no more pieces.
    pub(crate) fn is_full(&self) -> bool {
        self.end() >= SEGMENT_BYTES
    }

    /// Appends a piece, whose length was checked.
    pub(crate) fn push(&mut self, kind: &KindDigest, id: u64, piece: &[u8]) -> Result<(), StoreError> {
        let (place, from) = (self.end(), self.buffer.len());
        self.buffer.extend_from_slice(piece);
        self.key.seal(place, &context(kind, id), &mut self.buffer, from);
        if self.buffer.len() >= WRITE_BYTES { self.flush() } else { Ok(()) }
    }

    /// Makes all pieces so far durable. Returns the entry of the segment for the index.
    pub(crate) fn sync(&mut self) -> Result<SegmentRow, StoreError> {
        self.flush()?;
        self.wait()?;
        self.file.sync()?;
        Ok(SegmentRow { key: *self.row_key, bytes: self.offset })
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        if !self.buffer.is_empty() {
            self.file.write(self.offset, &self.buffer)?;
            self.offset += self.buffer.len() as u64;
            self.buffer.clear();
        }
        let (end, syncing) = &self.ahead;
        if self.offset - end >= AHEAD_BYTES && syncing.as_ref().is_none_or(Syncing::is_done) {
            self.wait()?;
            self.ahead = (self.offset, self.file.sync_ahead());
        }
        Ok(())
    }

    fn wait(&mut self) -> Result<(), StoreError> {
        self.ahead.1.take().map_or(Ok(()), Syncing::wait)
    }
}

/// The extents of pieces being appended.
#[derive(Default)]
pub(crate) struct Extents {
    list: Vec<Extent>,
    /// Segment, place and identifier of a piece that would directly follow the last one.
    behind: Option<(u64, u64, u64)>,
}

impl Extents {
    /// Records a piece that is about to be pushed.
    pub(crate) fn add(&mut self, kind: KindDigest, id: u64, len: u32, writer: &SegmentWriter) {
        let (segment, offset) = (writer.number(), writer.end());
        let continues = self.behind == Some((segment, offset, id));
        match self.list.last_mut().filter(|_| continues) {
            Some(extent) => extent.push(len),
            None => {
                let mut extent = Extent::new(kind, segment, id, offset);
                extent.push(len);
                self.list.push(extent);
            }
        }
        self.behind = Some((segment, offset + u64::from(len) + TAG_BYTES as u64, id + 1));
    }

    pub(crate) fn into_list(self) -> Vec<Extent> {
        self.list
    }
}
