//! Encryption: AES-256-GCM by `ring`, the fastest of the well-maintained implementations.
//!
//! Every key belongs to one opening of the store. Under it a nonce is a counter, or a place in a file that only grows. So
//! no nonce repeats under a key, even after crashes, incomplete writes, or a restored backup.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::key::StoreKey;

/// The number of bytes that sealing adds.
pub(crate) const TAG_BYTES: usize = 16;

/// The number of bytes before a sealed row: the salt of its key, and the counter.
const ROW_HEAD_BYTES: usize = 16 + 8;

/// Seals the pieces of a segment. *Unique*: the place, for the life of the key.
pub(crate) struct PieceKey(LessSafeKey);

/// The error for bytes that cannot be opened: they were changed, or sealed under another key or in another context.
#[derive(Debug)]
pub(crate) struct Forged;

impl PieceKey {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        PieceKey(aead(key))
    }

    /// Seals `bytes[from..]` in place and appends the tag.
    pub(crate) fn seal(&self, place: u64, context: &[u8], bytes: &mut Vec<u8>, from: usize) {
        let sealed = self.0.seal_in_place_separate_tag(nonce(place), Aad::from(context), &mut bytes[from..]);
        // AES-GCM refuses only what is longer than 64 GB; the store's limits are far below.
        let tag = sealed.expect("pieces and rows are bounded");
        bytes.extend_from_slice(tag.as_ref());
    }

    /// Opens bytes of [`seal`](PieceKey::seal) in place.
    pub(crate) fn open<'a>(&self, place: u64, context: &[u8], sealed: &'a mut [u8]) -> Result<&'a mut [u8], Forged> {
        self.0.open_in_place(nonce(place), Aad::from(context), sealed).map_err(|_| Forged)
    }
}

/// The keys of one store, and the sealing of the rows of its index.
#[derive(ZeroizeOnDrop)]
pub(crate) struct Sealer {
    rows: [u8; 32],
    binder: [u8; 32],
    check: [u8; 32],
    recorder: [u8; 32],
    /// The source of the keys of segments, fresh for every opening of the store.
    fresh: [u8; 32],
    fresh_used: u64,
    #[zeroize(skip)]
    salt: [u8; 16],
    #[zeroize(skip)]
    current: PieceKey,
    #[zeroize(skip)]
    sealed: u64,
}

impl Sealer {
    /// The keys of a store for one opening. *Unique*: `fresh`, which is random.
    pub(crate) fn new(key: &StoreKey, store: &[u8; 16], fresh: &Zeroizing<[u8; 48]>) -> Self {
        let mut root = Zeroizing::new([0; 32]);
        root.copy_from_slice(
            blake3::Hasher::new_derive_key("garblet-store 1 root").update(&key.0).update(store).finalize().as_bytes(),
        );
        let derived = |label: &[u8]| *blake3::keyed_hash(&root, label).as_bytes();
        let rows = derived(b"rows");
        let (mut salt, mut segments) = ([0; 16], [0; 32]);
        salt.copy_from_slice(&fresh[..16]);
        segments.copy_from_slice(&fresh[16..]);
        let current = PieceKey::new(&row_key(&rows, &salt));
        let (binder, check, recorder) = (derived(b"binder"), derived(b"check"), derived(b"record"));
        Sealer { rows, binder, check, recorder, fresh: segments, fresh_used: 0, salt, current, sealed: 0 }
    }

    /// A value that shows whether a key is the store's and reveals nothing else about it.
    pub(crate) fn check_value(&self) -> [u8; 32] {
        self.check
    }

    /// The authenticator of a record under the store's key.
    pub(crate) fn record_mark(&self, recorded: &[u8]) -> [u8; 32] {
        *blake3::keyed_hash(&self.recorder, recorded).as_bytes()
    }

    /// A key that was never used, for a new segment.
    pub(crate) fn segment_key(&mut self) -> Zeroizing<[u8; 32]> {
        self.fresh_used += 1;
        Zeroizing::new(*blake3::keyed_hash(&self.fresh, &self.fresh_used.to_le_bytes()).as_bytes())
    }

    /// A name that no other change has in this store or any copy.
    pub(crate) fn change_name(&mut self) -> [u8; 16] {
        let mut name = [0; 16];
        name.copy_from_slice(&self.segment_key()[..16]);
        name
    }

    /// Seals a row under its name.
    pub(crate) fn seal_row(&mut self, name: &[u8], row: &[u8]) -> Vec<u8> {
        let count = self.sealed;
        self.sealed += 1;
        let mut sealed = Vec::with_capacity(ROW_HEAD_BYTES + row.len() + TAG_BYTES);
        sealed.extend_from_slice(&self.salt);
        sealed.extend_from_slice(&count.to_le_bytes());
        sealed.extend_from_slice(row);
        self.current.seal(count, name, &mut sealed, ROW_HEAD_BYTES);
        sealed
    }

    /// Opens a row that any opening of the store sealed under this name.
    pub(crate) fn open_row(&self, name: &[u8], sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, Forged> {
        let (head, body) = sealed.split_at_checked(ROW_HEAD_BYTES).ok_or(Forged)?;
        let (salt, count) = head.split_first_chunk::<16>().ok_or(Forged)?;
        let count = u64::from_le_bytes(count.try_into().map_err(|_| Forged)?);
        let key = PieceKey::new(&row_key(&self.rows, salt));
        let mut row = Zeroizing::new(body.to_vec());
        let len = key.open(count, name, &mut row)?.len();
        row.truncate(len);
        Ok(row)
    }

    /// The mark that a sealed row adds to the sum that binds all rows together.
    pub(crate) fn row_mark(&self, name: &[u8], sealed: &[u8]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_keyed(&self.binder);
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name).update(sealed);
        hasher.finalize().into()
    }
}

fn row_key(rows: &[u8; 32], salt: &[u8; 16]) -> Zeroizing<[u8; 32]> {
    Zeroizing::new(*blake3::keyed_hash(rows, salt).as_bytes())
}

fn aead(key: &[u8; 32]) -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key).expect("32 bytes are a key"))
}

fn nonce(place: u64) -> Nonce {
    let mut nonce = [0; 12];
    nonce[..8].copy_from_slice(&place.to_le_bytes());
    Nonce::assume_unique_for_key(nonce)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealer(fresh: u8) -> Sealer {
        Sealer::new(&StoreKey([1; 32]), &[2; 16], &Zeroizing::new([fresh; 48]))
    }

    #[test]
    fn rows_open_in_every_opening_but_only_under_their_name() {
        let mut first = sealer(3);
        let sealed = first.seal_row(b"name", b"content");
        assert_eq!(&sealer(4).open_row(b"name", &sealed).expect("opens")[..], b"content");
        assert!(first.open_row(b"other", &sealed).is_err());
        let other = Sealer::new(&StoreKey([1; 32]), &[9; 16], &Zeroizing::new([3; 48]));
        assert!(other.open_row(b"name", &sealed).is_err());
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_detected() {
        let mut sealer = sealer(3);
        let sealed = sealer.seal_row(b"name", b"content");
        for bit in 0..8 * sealed.len() {
            let mut flipped = sealed.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(sealer.open_row(b"name", &flipped).is_err(), "bit {bit}");
        }
        for len in 0..sealed.len() {
            assert!(sealer.open_row(b"name", &sealed[..len]).is_err(), "{len} bytes");
        }
    }

    #[test]
    fn sealing_twice_gives_different_bytes() {
        let mut sealer = sealer(3);
        assert_ne!(sealer.seal_row(b"n", b"c"), sealer.seal_row(b"n", b"c"));
        assert!(sealer.segment_key() != sealer.segment_key());
    }
}
