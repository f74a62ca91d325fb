//! A random permutation of more items than memory holds.
//!
//! *Source*: Rao 1961, Sandelius 1962: each item goes to a random bin, and each bin is shuffled when it is read. The bins one after
//! another are then a uniform permutation, and only one has to be in memory.

use std::marker::PhantomData;

use garblet_homcommit::Code;
use garblet_primitives::{Block, Prg};
use garblet_store::Scratch;
use rand_core::Rng;
use zeroize::Zeroizing;

use crate::stock::pieces::Storable;
use garblet_protocol::error::ProtocolError;

/// The approximate number of items per bin, up to the most bins: few enough that a bin fits in the cache of a core while it is shuffled.
/// Tests have small bins.
const BIN: usize = if cfg!(test) { 1 << 12 } else { 1 << 13 };
const BINS_MAX: usize = 1 << 9;

/// Items that go in one after another, and come out in an order derived from the seed, which both parties have.
pub(crate) struct Shuffle<T> {
    code: Code,
    scratch: Scratch,
    bins: usize,
    rng: Prg,
    /// The number of items.
    len: u64,
    /// The bin that is being read, and its remaining items, the last one first.
    bin: Zeroizing<Vec<u8>>,
    next: Vec<u32>,
    /// The number of bins read so far.
    read: usize,
    items: PhantomData<T>,
}

/// The number of bins, and so of streams, for a number of items.
pub(crate) fn bins(items: usize) -> usize {
    items.div_ceil(BIN).clamp(1, BINS_MAX)
}

impl<T: Storable> Shuffle<T> {
    /// An empty one, with a stream for each bin.
    pub(crate) fn new(code: Code, scratch: Scratch, bins: usize, seed: Block) -> Self {
        let (rng, bin, next) = (Prg::new(seed), Zeroizing::default(), Vec::new());
        Shuffle { code, scratch, bins, rng, len: 0, bin, next, read: 0, items: PhantomData }
    }

    /// The number of items.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Adds an item. Add all before any is taken.
    ///
    /// *Errors*: the disk's.
    pub(crate) fn put(&mut self, item: &T) -> Result<(), ProtocolError> {
        self.len += 1;
        let bin = below(&mut self.rng, self.bins);
        Ok(self.scratch.append_with(bin, T::bytes(self.code), |into| item.write(into))?)
    }

    /// Appends the next `count` items, or all if there are fewer.
    ///
    /// *Errors*: the disk's.
    pub(crate) fn take(&mut self, count: usize, items: &mut Vec<T>) -> Result<(), ProtocolError> {
        let size = T::bytes(self.code);
        items.reserve(count);
        for _ in 0..count {
            while self.next.is_empty() && self.read < self.bins {
                self.scratch.take_into(self.read, &mut self.bin)?;
                self.read += 1;
                self.next.extend(0..(self.bin.len() / size) as u32);
                for last in (1..self.next.len()).rev() {
                    self.next.swap(last, below(&mut self.rng, last + 1));
                }
            }
            let Some(item) = self.next.pop() else { return Ok(()) };
            items.push(T::read(&self.bin[item as usize * size..][..size]));
        }
        Ok(())
    }
}

/// A number below `range`, by a product without a loop. With 64 random bits its bias is negligible.
fn below(rng: &mut Prg, range: usize) -> usize {
    ((u128::from(rng.next_u64()) * range as u128) >> 64) as usize
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    #[derive(Clone, Copy, Default)]
    pub(crate) struct Number(pub(crate) u32);

    impl zeroize::DefaultIsZeroes for Number {}

    impl Storable for Number {
        fn bytes(_code: Code) -> usize {
            4
        }

        fn write(&self, into: &mut [u8]) {
            into.copy_from_slice(&self.0.to_le_bytes());
        }

        fn read(bytes: &[u8]) -> Self {
            Number(u32::from_le_bytes(bytes.try_into().expect("four bytes")))
        }
    }

    fn shuffled(count: u32, bins: usize, seed: u128) -> Vec<u32> {
        let mut shuffle = Shuffle::new(Code::Short, Scratch::in_memory(bins), bins, Block::from_u128(seed));
        (0..count).for_each(|i| shuffle.put(&Number(i)).expect("memory"));
        assert_eq!(shuffle.len(), u64::from(count));
        let mut items = Vec::new();
        for part in [1, 3, count as usize] {
            shuffle.take(part, &mut items).expect("memory");
        }
        items.into_iter().map(|Number(i)| i).collect()
    }

    #[test]
    fn all_items_come_out_once_and_in_the_order_of_the_seed() {
        for bins in [1, 2, 7] {
            let first = shuffled(100, bins, 1);
            assert_eq!(first, shuffled(100, bins, 1));
            assert_ne!(first, shuffled(100, bins, 2));
            let mut sorted = first;
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..100), "{bins} bins");
        }
    }

    /// Each of the 24 orders of four items is equally frequent for any number of bins.
    #[test]
    fn every_order_is_as_likely() {
        for bins in [1, 2, 3] {
            let trials = 24_000;
            let mut counts = std::collections::BTreeMap::new();
            (0..trials).for_each(|seed| *counts.entry(shuffled(4, bins, seed)).or_insert(0) += 1);
            assert_eq!(counts.len(), 24);
            // Five standard deviations of a binomial count with mean 1000.
            assert!(counts.values().all(|count: &i32| (840..=1160).contains(count)), "{bins} bins: {counts:?}");
        }
    }

    #[test]
    fn a_bin_is_small_and_bins_are_few() {
        assert_eq!([1, BIN, BIN + 1, 1 << 40].map(bins), [1, 1, 2, BINS_MAX]);
    }
}
