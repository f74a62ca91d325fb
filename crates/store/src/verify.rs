//! Reading everything, to find what was damaged.

use crate::error::StoreError;
use crate::ids::IdSet;
use crate::kind::Kind;
use crate::segment::{HEAD_BYTES, head};
use crate::store::Store;

/// The findings of [`Store::verify`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// The number of intact pieces.
    pub sound: u64,
    /// The damaged pieces, by kind.
    pub damage: Vec<Damage>,
    /// Segments whose head was changed. Pieces in them may be intact.
    pub odd_segments: Vec<u64>,
}

/// Damaged pieces of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The kind.
    pub kind: Kind,
    /// The pieces.
    pub ids: IdSet,
    /// The fault of the first piece, and its place.
    pub what: String,
}

impl Verified {
    /// Returns whether nothing is damaged.
    pub fn is_sound(&self) -> bool {
        self.damage.is_empty() && self.odd_segments.is_empty()
    }
}

impl Store {
    /// Reads and authenticates every available piece, and reports the bytes done and the total to `progress`.
    ///
    /// The index was authenticated when the store was opened. This changes nothing; [`drop_pieces`](Store::drop_pieces) discards
    /// damaged pieces.
    ///
    /// *Errors*: files cannot be read for reasons other than damage.
    pub fn verify(&mut self, progress: &mut dyn FnMut(u64, u64)) -> Result<Verified, StoreError> {
        let stock = self.stock();
        let total = stock.iter().map(|stock| stock.bytes).sum();
        let mut done = 0;
        let mut verified = Verified { odd_segments: self.odd_segments()?, ..Verified::default() };
        for stock in stock {
            let mut damaged = Vec::new();
            let mut what = None;
            for (id, piece) in stock.available.iter().zip(self.locate(&stock.kind, &stock.available)?) {
                match piece {
                    Ok(piece) => {
                        verified.sound += 1;
                        done += (piece.bytes.len() + crate::seal::TAG_BYTES) as u64;
                        progress(done, total);
                    }
                    Err(StoreError::Damaged { what: this }) => {
                        damaged.push(id);
                        what.get_or_insert(this);
                    }
                    Err(error) => return Err(error),
                }
            }
            if let Some(what) = what {
                verified.damage.push(Damage { kind: stock.kind, ids: damaged.into_iter().collect(), what });
            }
        }
        progress(total, total);
        Ok(verified)
    }

    fn odd_segments(&mut self) -> Result<Vec<u64>, StoreError> {
        let numbers: Vec<u64> = self.segments.keys().copied().collect();
        let mut odd = Vec::new();
        for number in numbers {
            let mut bytes = [0; HEAD_BYTES];
            let read = match self.dir.segment(number)? {
                Some(file) => file.read(0, &mut bytes)?,
                None => 0,
            };
            if bytes[..read] != head(&self.id, number) {
                odd.push(number);
            }
        }
        Ok(odd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_sound_if_neither_pieces_nor_segments_are_damaged() {
        let damage = Damage { kind: Kind::new("kind", b""), ids: IdSet::default(), what: "another tag".into() };
        assert!(Verified { sound: 1, ..Verified::default() }.is_sound());
        assert!(!Verified { damage: vec![damage], ..Verified::default() }.is_sound());
        assert!(!Verified { odd_segments: vec![3], ..Verified::default() }.is_sound());
    }
}
