//! Temporary room on disk, beside a store or alone, for data that is too large for memory.

use std::{path::Path, sync::Arc};

use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::error::StoreError;
use crate::seal::{PieceKey, TAG_BYTES};
use crate::store::Store;
use crate::store_dir::SegmentFile;

/// Bytes of a chunk on disk: whole pages, since partial pages take half as long again to write. Tests have small chunks.
const SEALED_BYTES: usize = if cfg!(test) { 1 << 10 } else { 32 << 10 };

/// Bytes per chunk of a stream. On disk, each chunk is sealed separately.
const CHUNK_BYTES: usize = SEALED_BYTES - TAG_BYTES;

/// The number of bytes that a buffer must have in addition to those of a stream, see [`Scratch::fill`].
pub const SLACK_BYTES: usize = TAG_BYTES;

/// Streams of bytes, each written completely and then read. Nothing remains when it is dropped or the process crashes.
///
/// *Secret*: sealed on disk under a key that is only in memory; wiped in memory.
pub struct Scratch {
    /// The part on disk; `None` if everything is in memory.
    disk: Option<Disk>,
    /// The number of bytes of further chunks that may stay in memory.
    room: usize,
    streams: Vec<Stream>,
}

struct Disk {
    file: Arc<SegmentFile>,
    key: PieceKey,
    end: u64,
}

#[derive(Default)]
struct Stream {
    chunks: Vec<Chunk>,
    /// The bytes after the chunks.
    rest: Zeroizing<Vec<u8>>,
}

enum Chunk {
    Memory(Zeroizing<Vec<u8>>),
    /// The position in the file where it starts.
    Disk(u64),
}

impl Stream {
    fn len(&self) -> usize {
        self.chunks.len() * CHUNK_BYTES + self.rest.len()
    }

    /// Reserves room for further bytes after the chunks and for the tag of a chunk. A stream written at once takes no more than it needs.
    fn reserve(&mut self, len: usize) {
        if self.rest.capacity() - self.rest.len() < len + TAG_BYTES {
            let room = match self.rest.is_empty() && len < CHUNK_BYTES / 2 {
                true => len,
                // Bytes beyond the chunk stay after it until it is closed.
                false => (self.rest.len() + len).max(CHUNK_BYTES + CHUNK_BYTES / 64),
            };
            // Where it was before is wiped.
            let mut larger = Zeroizing::new(Vec::with_capacity(room + TAG_BYTES));
            larger.extend_from_slice(&self.rest);
            self.rest = larger;
        }
    }
}

impl Store {
    /// Temporary room beside the store, or in memory if the store is. The first chunks, up to `memory` bytes, stay in memory, and so does the
    /// last chunk of each stream.
    ///
    /// *Errors*: the disk's; [`StoreError::OtherProcess`].
    pub fn scratch(&mut self, streams: usize, memory: usize) -> Result<Scratch, StoreError> {
        self.index.check_process()?;
        let number = self.head.next_segment;
        // As with segments, a number is never reused; if the process crashes, the next opening removes the file.
        self.head.next_segment += 1;
        let key = PieceKey::new(&self.index.segment_key());
        Ok(match self.dir.create_scratch(number)? {
            Some(file) => Scratch::on_disk(file, key, streams, memory),
            None => Scratch::in_memory(streams),
        })
    }
}

impl Scratch {
    /// Temporary room in memory.
    pub fn in_memory(streams: usize) -> Self {
        let streams = std::iter::repeat_with(Stream::default).take(streams).collect();
        Scratch { disk: None, room: usize::MAX, streams }
    }

    /// Temporary room in a folder, without a store. As with [`Store::scratch`], up to `memory` bytes of chunks stay in memory.
    ///
    /// *Errors*: the disk's.
    pub fn in_folder(
        folder: &Path,
        streams: usize,
        memory: usize,
        rng: &mut (impl CryptoRng + ?Sized),
    ) -> Result<Self, StoreError> {
        let (mut number, mut key) = ([0; 8], Zeroizing::new([0; 32]));
        rng.fill_bytes(&mut number);
        rng.fill_bytes(&mut *key);
        let file = SegmentFile::alone(folder, u64::from_le_bytes(number))?;
        Ok(Scratch::on_disk(file, PieceKey::new(&key), streams, memory))
    }

    fn on_disk(file: Arc<SegmentFile>, key: PieceKey, streams: usize, memory: usize) -> Self {
        Scratch { disk: Some(Disk { file, key, end: 0 }), room: memory, ..Scratch::in_memory(streams) }
    }

    /// Appends to a stream.
    ///
    /// *Errors*: the disk's.
    ///
    /// # Panics
    /// If there is no such stream.
    pub fn append(&mut self, stream: usize, mut bytes: &[u8]) -> Result<(), StoreError> {
        while !bytes.is_empty() {
            let room = CHUNK_BYTES - self.streams[stream].rest.len();
            let (now, later) = bytes.split_at(bytes.len().min(room));
            self.append_with(stream, now.len(), |into| into.copy_from_slice(now))?;
            bytes = later;
        }
        Ok(())
    }

    /// Appends a few bytes to a stream: `write` fills them in place; they are zero before.
    ///
    /// *Errors*: the disk's.
    ///
    /// # Panics
    /// If there is no such stream, or if they are more than a chunk has.
    pub fn append_with(&mut self, stream: usize, len: usize, write: impl FnOnce(&mut [u8])) -> Result<(), StoreError> {
        assert!(len <= CHUNK_BYTES, "a chunk has {CHUNK_BYTES} bytes, not {len}");
        let into = &mut self.streams[stream];
        into.reserve(len);
        let begin = into.rest.len();
        into.rest.resize(begin + len, 0);
        write(&mut into.rest[begin..]);
        match into.rest.len() {
            CHUNK_BYTES.. => self.close_chunk(stream),
            _ => Ok(()),
        }
    }

    fn close_chunk(&mut self, stream: usize) -> Result<(), StoreError> {
        let Stream { chunks, rest } = &mut self.streams[stream];
        let behind = Zeroizing::new(rest[CHUNK_BYTES..].to_vec());
        rest.truncate(CHUNK_BYTES);
        match &mut self.disk {
            Some(disk) if self.room < CHUNK_BYTES => {
                chunks.push(Chunk::Disk(disk.put(rest)?));
                rest.clear();
            }
            _ => {
                self.room -= CHUNK_BYTES;
                chunks.push(Chunk::Memory(std::mem::take(rest)));
            }
        }
        if !behind.is_empty() {
            self.streams[stream].reserve(behind.len());
            self.streams[stream].rest.extend_from_slice(&behind);
        }
        Ok(())
    }

    /// Takes all bytes of a stream.
    ///
    /// *Errors*: [`StoreError::Damaged`] if it was changed on disk; the disk's.
    ///
    /// # Panics
    /// If there is no such stream.
    pub fn take(&mut self, stream: usize) -> Result<Zeroizing<Vec<u8>>, StoreError> {
        let mut all = Zeroizing::default();
        self.take_into(stream, &mut all)?;
        Ok(all)
    }

    /// The same, replacing the contents of `all`.
    ///
    /// *Errors*, *Panics*: as [`Scratch::take`].
    pub fn take_into(&mut self, stream: usize, all: &mut Zeroizing<Vec<u8>>) -> Result<(), StoreError> {
        if self.streams[stream].chunks.is_empty() {
            *all = std::mem::take(&mut self.streams[stream]).rest;
            return Ok(());
        }
        self.read_into(stream, all)?;
        let taken = std::mem::take(&mut self.streams[stream]);
        let in_memory = taken.chunks.iter().filter(|chunk| matches!(chunk, Chunk::Memory(_))).count();
        self.room += in_memory * CHUNK_BYTES;
        Ok(())
    }

    fn read_into(&self, stream: usize, all: &mut Zeroizing<Vec<u8>>) -> Result<(), StoreError> {
        let len = self.streams[stream].len();
        if all.capacity() < len + SLACK_BYTES {
            // Where it was before is wiped.
            *all = Zeroizing::new(Vec::with_capacity(len + SLACK_BYTES));
        }
        all.resize(len + SLACK_BYTES, 0);
        self.fill(stream, all)?;
        all.truncate(len);
        Ok(())
    }

    /// Copies all bytes of a stream to a buffer. The stream stays, and several may be read at the same time.
    ///
    /// *Shape*: the buffer is [`SLACK_BYTES`] longer than the stream; these bytes do not matter.
    ///
    /// *Errors*: as [`Scratch::take`].
    ///
    /// # Panics
    /// If there is no such stream, or the shape is wrong.
    pub fn fill(&self, stream: usize, into: &mut [u8]) -> Result<(), StoreError> {
        let len = self.streams[stream].len();
        assert_eq!(into.len(), len + SLACK_BYTES, "room for a stream");
        let Stream { chunks, rest } = &self.streams[stream];
        for (number, chunk) in chunks.iter().enumerate() {
            let into = &mut into[number * CHUNK_BYTES..][..SEALED_BYTES];
            match (chunk, &self.disk) {
                (Chunk::Memory(chunk), _) => into[..CHUNK_BYTES].copy_from_slice(chunk),
                (&Chunk::Disk(place), Some(disk)) => disk.get(place, into)?,
                (Chunk::Disk(_), None) => unreachable!("there is a disk if a chunk is on it"),
            }
        }
        into[len - rest.len()..len].copy_from_slice(rest);
        Ok(())
    }
}

impl Disk {
    /// Seals a chunk in place, writes it, and returns its position.
    fn put(&mut self, chunk: &mut Vec<u8>) -> Result<u64, StoreError> {
        let place = self.end;
        self.key.seal(place, b"scratch", chunk, 0);
        self.file.write(place, chunk)?;
        self.end += chunk.len() as u64;
        Ok(place)
    }

    /// Fills `into` with the chunk at a position and its tag.
    fn get(&self, place: u64, into: &mut [u8]) -> Result<(), StoreError> {
        let damaged = || StoreError::Damaged { what: self.file.path().display().to_string() };
        if self.file.read(place, into)? < into.len() {
            return Err(damaged());
        }
        self.key.open(place, b"scratch", into).map_err(|_| damaged())?;
        Ok(())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.file.remove();
    }
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;
    use crate::key::StoreKey;

    const MEMORY_BYTES: usize = 2 * CHUNK_BYTES;

    fn on_disk() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut rng = StdRng::seed_from_u64(1);
        let key = StoreKey::generate(&mut rng);
        let store = Store::create(&folder.path().join("store"), &key, &mut rng).expect("a store");
        (folder, store)
    }

    fn files(store: &Store) -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(store.folder().join("segments")).expect("a folder");
        entries.map(|entry| entry.expect("an entry").path()).collect()
    }

    /// Writes to the streams in turn, in parts of many lengths.
    fn filled(mut scratch: Scratch) -> (Scratch, [Vec<u8>; 3]) {
        let mut all = [const { Vec::new() }; 3];
        for len in (0..150).chain([CHUNK_BYTES - 1, CHUNK_BYTES, 3 * CHUNK_BYTES + 1]) {
            let bytes: Vec<u8> = (0..len).map(|i| (i * len) as u8).collect();
            match len % 3 {
                0 if len < CHUNK_BYTES => {
                    scratch.append_with(len % 2, len, |into| into.copy_from_slice(&bytes)).expect("written")
                }
                _ => scratch.append(len % 2, &bytes).expect("written"),
            }
            all[len % 2].extend(bytes);
        }
        (scratch, all)
    }

    #[test]
    fn streams_return_the_appended_bytes_on_disk_and_in_memory() {
        let (_folder, mut store) = on_disk();
        let (folder, mut rng) = (tempfile::tempdir().expect("a folder"), StdRng::seed_from_u64(2));
        let alone = Scratch::in_folder(folder.path(), 3, MEMORY_BYTES, &mut rng).expect("room");
        for scratch in [store.scratch(3, MEMORY_BYTES).expect("room"), alone, Scratch::in_memory(3)] {
            let (mut scratch, all) = filled(scratch);
            for (stream, expected) in all.iter().enumerate().rev() {
                let mut room = vec![1; expected.len() + SLACK_BYTES];
                scratch.fill(stream, &mut room).expect("read");
                assert!(room[..expected.len()] == *expected, "stream {stream}");
                assert!(*scratch.take(stream).expect("read") == *expected, "it was there still");
                assert!(scratch.take(stream).expect("read").is_empty(), "it is taken once");
            }
        }
    }

    #[test]
    fn streams_are_sealed_on_disk_and_removed() {
        let (_folder, mut store) = on_disk();
        let mut scratch = store.scratch(1, MEMORY_BYTES).expect("room");
        scratch.append(0, &[7; MEMORY_BYTES + 2 * CHUNK_BYTES]).expect("written");
        let [file] = &files(&store)[..] else { panic!("one file") };
        let bytes = std::fs::read(file).expect("it exists");
        assert_eq!(bytes.len(), 2 * (CHUNK_BYTES + TAG_BYTES));
        assert!(bytes.windows(8).all(|window| window != [7; 8]));
        drop(scratch);
        assert!(files(&store).is_empty());
    }

    #[test]
    fn room_without_a_store_is_sealed_and_leaves_no_file_behind() {
        let (folder, mut rng) = (tempfile::tempdir().expect("a folder"), StdRng::seed_from_u64(2));
        let mut scratch = Scratch::in_folder(folder.path(), 1, 0, &mut rng).expect("room");
        if cfg!(unix) {
            assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "it has no name");
        }
        scratch.append(0, &[7; 2 * CHUNK_BYTES]).expect("written");
        let file = &scratch.disk.as_ref().expect("it is on disk").file;
        let mut bytes = vec![0; 3 * CHUNK_BYTES];
        let length = file.read(0, &mut bytes).expect("read");
        assert_eq!(length, 2 * (CHUNK_BYTES + TAG_BYTES));
        assert!(bytes[..length].windows(8).all(|window| window != [7; 8]));
        drop(scratch);
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn a_missing_folder_is_named() {
        let (folder, mut rng) = (tempfile::tempdir().expect("a folder"), StdRng::seed_from_u64(2));
        let missing = folder.path().join("missing");
        let error = Scratch::in_folder(&missing, 1, 0, &mut rng).err().expect("it is not there");
        assert!(error.to_string().contains(&missing.display().to_string()), "{error}");
        assert!(error.is_of_scratch());
    }

    #[test]
    fn bytes_changed_on_disk_are_refused() {
        let (_folder, mut store) = on_disk();
        for change in [|bytes: &mut Vec<u8>| bytes[5] ^= 1, |bytes: &mut Vec<u8>| bytes.truncate(100)] {
            let mut scratch = store.scratch(1, MEMORY_BYTES).expect("room");
            scratch.append(0, &[7; MEMORY_BYTES + CHUNK_BYTES]).expect("written");
            let file = &files(&store)[0];
            let mut bytes = std::fs::read(file).expect("it exists");
            change(&mut bytes);
            std::fs::write(file, bytes).expect("written");
            assert!(matches!(scratch.take(0), Err(StoreError::Damaged { .. })));
        }
    }

    #[test]
    fn the_next_opening_removes_the_remains_of_a_crash() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store");
        let mut rng = StdRng::seed_from_u64(1);
        let key = StoreKey::generate(&mut rng);
        let mut store = Store::create(&path, &key, &mut rng).expect("a store");
        let mut scratch = store.scratch(1, MEMORY_BYTES).expect("room");
        scratch.append(0, &[7; CHUNK_BYTES]).expect("written");
        std::mem::forget(scratch);
        drop(store);
        let store = Store::open(&path, &key, &mut rng).expect("it is sound");
        assert!(files(&store).is_empty());
    }
}
