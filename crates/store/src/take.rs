//! Taking pieces from a store, each once.

use std::collections::VecDeque;
use std::sync::Arc;

use zeroize::{Zeroize, Zeroizing};

use crate::edit::{Edit, Fate};
use crate::error::StoreError;
use crate::ids::{IdSet, PieceId};
use crate::kind::Kind;
use crate::rows::{Location, Stretch};
use crate::seal::PieceKey;
use crate::segment::context;
use crate::store::Store;
use crate::store_dir::SegmentFile;

/// The number of sealed bytes to read at once, unless a piece is longer.
const READ_BYTES: usize = 1 << 20;

/// A piece that was taken. *Secret*; wiped on drop.
pub struct Piece {
    /// The identifier.
    pub id: PieceId,
    /// The bytes of the piece.
    pub bytes: Zeroizing<Vec<u8>>,
}

/// Pieces of one kind that were taken. They are gone from the store; read them once, in ascending order.
///
/// Reading overwrites them on disk, and dropping this overwrites the rest. An error of the iterator concerns one piece, and
/// the rest can still be read: [`StoreError::Damaged`] for a piece that was changed on disk.
pub struct Taken {
    kind: Kind,
    ids: IdSet,
    spans: VecDeque<Span>,
    /// The sealed bytes of the first span, once they are read.
    sealed: Option<Sealed>,
}

/// Adjacent pieces of one segment.
struct Span {
    segment: u64,
    /// The segment's file; `None` if it is missing.
    file: Option<Arc<SegmentFile>>,
    key: Arc<PieceKey>,
    /// The start of the span.
    offset: u64,
    bytes: usize,
    stretches: VecDeque<Stretch>,
    /// Set to overwrite the pieces: they are gone forever, but the key of the segment still exists.
    overwrite: bool,
}

impl Store {
    /// Takes the available pieces of a kind with the smallest identifiers.
    ///
    /// *Errors*: [`StoreError::NotEnough`]. Then nothing is taken.
    pub fn take_next(&mut self, kind: &Kind, count: u64) -> Result<Taken, StoreError> {
        let available = self.kinds.get(&kind.digest()).map(|row| &row.available);
        let ids = available.map(|ids| ids.first(count)).unwrap_or_default();
        if ids.len() < count {
            return Err(StoreError::NotEnough { kind: kind.clone(), wanted: count, available: ids.len() });
        }
        self.take(kind, &ids)
    }

    /// Takes these pieces of a kind.
    ///
    /// *Errors*: [`StoreError::NotThere`]. Then nothing is taken.
    pub fn take(&mut self, kind: &Kind, ids: &IdSet) -> Result<Taken, StoreError> {
        let mut taken = self.take_all(&[(kind.clone(), ids.clone())])?;
        taken.pop().ok_or(StoreError::Broken)
    }

    /// Takes pieces of several kinds in one change. They are returned in the order of the request.
    ///
    /// When this returns, they are taken durably, and no crash brings them back. *Cost*: waits for the disk once.
    ///
    /// *Errors*: [`StoreError::NotThere`], also for pieces requested twice. Then nothing is taken.
    pub fn take_all(&mut self, request: &[(Kind, IdSet)]) -> Result<Vec<Taken>, StoreError> {
        let mut edit = Edit::new(self);
        let mut taken = Vec::with_capacity(request.len());
        for (kind, ids) in request {
            let digest = kind.digest();
            let missing = match edit.kind(self, digest) {
                Some(row) => ids.difference(&row.available),
                None => ids.clone(),
            };
            if !missing.is_empty() {
                return Err(StoreError::NotThere { kind: kind.clone(), missing });
            }
            taken.push(self.locate(kind, ids)?);
            edit.withdraw(self, digest, ids, Fate::Consumed);
        }
        self.apply(edit)?;
        for span in taken.iter_mut().flat_map(|taken| &mut taken.spans) {
            span.overwrite = self.segments.contains_key(&span.segment);
        }
        Ok(taken)
    }

    /// Discards those of these pieces that are available, and returns their number.
    pub fn drop_pieces(&mut self, kind: &Kind, ids: &IdSet) -> Result<u64, StoreError> {
        let Some(row) = self.kinds.get(&kind.digest()) else { return Ok(0) };
        let lost = row.available.intersection(ids);
        self.drop_lost(&[(kind.clone(), lost.clone())], |_| {})?;
        Ok(lost.len())
    }

    /// Discards every piece, and returns their number. Counts and states stay, and identifiers continue.
    pub fn clear(&mut self) -> Result<u64, StoreError> {
        let rows = self.kinds.values().filter(|row| !row.available.is_empty());
        let all: Vec<_> = rows.map(|row| (row.kind.clone(), row.available.clone())).collect();
        self.drop_lost(&all, |_| {})?;
        Ok(all.iter().map(|(_, ids)| ids.len()).sum())
    }

    /// Discards available pieces, in one change with that of `more`.
    pub(crate) fn drop_lost(&mut self, lost: &[(Kind, IdSet)], more: impl FnOnce(&mut Edit)) -> Result<(), StoreError> {
        let mut edit = Edit::new(self);
        let mut dropped = Vec::new();
        for (kind, ids) in lost {
            dropped.push(self.locate(kind, ids)?);
            edit.withdraw(self, kind.digest(), ids, Fate::Dropped);
        }
        more(&mut edit);
        self.apply(edit)?;
        for span in dropped.iter_mut().flat_map(|taken| &mut taken.spans) {
            span.overwrite = self.segments.contains_key(&span.segment);
        }
        Ok(())
    }

    /// Available pieces, for reading without overwriting.
    pub(crate) fn locate(&mut self, kind: &Kind, ids: &IdSet) -> Result<Taken, StoreError> {
        let digest = kind.digest();
        let mut places: Vec<(u64, Vec<Stretch>)> = Vec::new();
        for extent in self.extents_of(digest, ids) {
            places.push((extent.segment, extent.stretches(ids)));
        }
        let mut spans = VecDeque::new();
        for (segment, stretches) in places {
            let file = self.dir.segment(segment)?;
            let row = &self.segments.get(&segment).ok_or(StoreError::Broken)?.row;
            let key = Arc::new(PieceKey::new(&row.key));
            for mut stretch in stretches {
                while stretch.count > 0 {
                    match spans.back_mut().filter(|span: &&mut Span| span.continues_at(segment, &stretch.next)) {
                        Some(span) => span.push(&mut stretch),
                        None => spans.push_back(Span::new(segment, file.clone(), key.clone(), &mut stretch)),
                    }
                }
            }
        }
        Ok(Taken { kind: kind.clone(), ids: ids.clone(), spans, sealed: None })
    }
}

impl Taken {
    /// The kind of the pieces.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The identifiers of the pieces that were taken.
    pub fn ids(&self) -> &IdSet {
        &self.ids
    }

    /// All pieces at once.
    ///
    /// *Errors*: [`StoreError::Damaged`] if one of them was changed.
    pub fn read_all(self) -> Result<Vec<Piece>, StoreError> {
        self.collect()
    }

    /// Calls `visit` with every piece, in ascending order, without copying it.
    ///
    /// *Errors*: the first piece that was changed.
    pub fn each(mut self, visit: impl FnMut(PieceId, &[u8])) -> Result<(), StoreError> {
        self.show(u64::MAX, visit)
    }

    /// Calls `visit` with the next `count` pieces, or all if there are fewer.
    ///
    /// *Errors*: the first piece that was changed.
    pub fn show(&mut self, count: u64, mut visit: impl FnMut(PieceId, &[u8])) -> Result<(), StoreError> {
        for _ in 0..count {
            let Some(piece) = self.open_next() else { break };
            let (id, bytes) = piece?;
            visit(id, bytes);
        }
        Ok(())
    }

    /// Opens the next piece in place.
    fn open_next(&mut self) -> Option<Result<(PieceId, &mut [u8]), StoreError>> {
        let location = loop {
            if let Some(location) = self.spans.front_mut()?.next_location() {
                break location;
            }
            self.spans.pop_front();
            self.sealed = None;
        };
        let span = self.spans.front_mut()?;
        if self.sealed.is_none() {
            match span.read() {
                Ok(sealed) => self.sealed = Some(Sealed(sealed)),
                Err(error) => return Some(Err(error)),
            }
        }
        let opened = span.open(&self.kind, &location, &mut self.sealed.as_mut()?.0);
        Some(opened.map(|bytes| (PieceId(location.id), bytes)))
    }
}

impl Iterator for Taken {
    type Item = Result<Piece, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let piece = self.open_next()?.map(|(id, bytes)| {
            let piece = Piece { id, bytes: Zeroizing::new(bytes.to_vec()) };
            wipe(bytes);
            piece
        });
        Some(piece)
    }
}

/// The bytes that a span holds, opened piece by piece; wiped on drop.
struct Sealed(Vec<u8>);

impl Drop for Sealed {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// Wipes bytes word by word, since there are many.
fn wipe(bytes: &mut [u8]) {
    let (head, words, tail) = bytemuck::pod_align_to_mut::<u8, u128>(bytes);
    head.zeroize();
    words.zeroize();
    tail.zeroize();
}

impl Span {
    /// Takes the first pieces of a stretch.
    fn new(segment: u64, file: Option<Arc<SegmentFile>>, key: Arc<PieceKey>, stretch: &mut Stretch) -> Self {
        let offset = stretch.next.offset;
        let mut span = Span { segment, file, key, offset, bytes: 0, stretches: VecDeque::new(), overwrite: false };
        span.push(stretch);
        span
    }

    fn continues_at(&self, segment: u64, location: &Location) -> bool {
        let is_behind = (segment, location.offset) == (self.segment, self.offset + self.bytes as u64);
        is_behind && self.bytes + location.sealed_len() <= READ_BYTES
    }

    /// Takes one piece from a stretch, and more as long as they can be read at once.
    fn push(&mut self, stretch: &mut Stretch) {
        let each = stretch.next.sealed_len();
        let count = (READ_BYTES.saturating_sub(self.bytes) / each).max(1).min(stretch.count as usize);
        self.stretches.push_back(Stretch { count: count as u64, ..*stretch });
        self.bytes += count * each;
        stretch.next.id += count as u64;
        stretch.next.offset += (count * each) as u64;
        stretch.count -= count as u64;
    }

    fn next_location(&mut self) -> Option<Location> {
        while let Some(stretch) = self.stretches.front_mut() {
            match stretch.next() {
                None => self.stretches.pop_front(),
                location => return location,
            };
        }
        None
    }

    /// Reads the bytes on disk and overwrites them.
    fn read(&mut self) -> Result<Vec<u8>, StoreError> {
        let Some(file) = &self.file else { return Ok(Vec::new()) };
        let mut sealed = vec![0; self.bytes];
        let len = file.read(self.offset, &mut sealed)?;
        sealed.truncate(len);
        self.bytes = len;
        self.wipe();
        Ok(sealed)
    }

    /// Opens a piece in place, in the bytes of [`read`](Span::read).
    fn open<'s>(&self, kind: &Kind, location: &Location, sealed: &'s mut [u8]) -> Result<&'s mut [u8], StoreError> {
        let id = location.id;
        let from = usize::try_from(location.offset - self.offset).unwrap_or(usize::MAX);
        let bytes = from.checked_add(location.sealed_len()).and_then(|end| sealed.get_mut(from..end));
        let opened = bytes.ok_or("is cut off").and_then(|bytes| {
            self.key.open(location.offset, &context(&kind.digest(), id), bytes).map_err(|_| "was changed")
        });
        opened.map_err(|what| {
            let place = match &self.file {
                Some(file) => format!("{} from byte {}", file.path().display(), location.offset),
                None => format!("segment {} is missing", self.segment),
            };
            StoreError::Damaged { what: format!("piece {id} of {kind} {what}: {place}") }
        })
    }

    /// Nothing relies on this: the entry in the index counts, and is durable already.
    fn wipe(&mut self) {
        if std::mem::take(&mut self.overwrite)
            && let Some(file) = &self.file
        {
            let _ = file.wipe(self.offset, self.bytes);
        }
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        self.wipe();
    }
}
