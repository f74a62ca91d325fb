//! The hash of the pads of OTs, under a key that changes as OTs are consumed.
//!
//! A table attack on AES under one key costs 2^128 divided by the number of calls under that key, over all runs of a session
//! (Guo, Katz, Wang and Yu 2020). So no key serves more than [`OTS_PER_KEY`] OTs, however many a session or a store makes.

use garblet_primitives::{Block, Delta, OtHash};

/// The most OTs whose pads are hashed under one key. Each OT takes at most two calls, for both pads of a sender.
pub const OTS_PER_KEY: u64 = 2048;

/// log2 of the work of the best known attack on the pads of any number of OTs.
pub const PAD_BITS: u32 = 128 - (2 * OTS_PER_KEY).ilog2();

/// The hash of the pads of a session's OTs: [`OtHash`] under the session's key plus the number of the tweak's period.
///
/// *Unique*: the key per session, the tweak per OT; both pads of an OT share a tweak.
#[derive(Clone)]
pub struct PadHash {
    session_key: Block,
}

impl PadHash {
    /// The hash of a session; the key is public.
    pub fn new(session_key: Block) -> Self {
        PadHash { session_key }
    }

    /// Hashes every block in place; block `j` has the tweak `first_tweak + j`.
    pub fn hash_batch(&self, first_tweak: u64, blocks: &mut [Block]) {
        let (mut tweak, mut rest) = (first_tweak, blocks);
        while !rest.is_empty() {
            let (hash, left) = self.of_period(tweak);
            let (now, later) = rest.split_at_mut(left.min(rest.len()));
            hash.hash_batch(tweak, now);
            tweak = tweak.wrapping_add(now.len() as u64);
            rest = later;
        }
    }

    /// Appends both pads of OTs: the hashes of `q` and of `q ^ delta` for every block `q`; block `j` has the tweak `first_tweak + j`.
    pub fn pads_onto(&self, first_tweak: u64, delta: &Delta, blocks: &[Block], pads: &mut Vec<[Block; 2]>) {
        let (mut tweak, mut rest) = (first_tweak, blocks);
        while !rest.is_empty() {
            let (hash, left) = self.of_period(tweak);
            let (now, later) = rest.split_at(left.min(rest.len()));
            hash.pairs_onto(tweak, delta.block(), now, pads);
            tweak = tweak.wrapping_add(now.len() as u64);
            rest = later;
        }
    }

    /// The hash of a tweak's period, and the number of tweaks that are left in it.
    fn of_period(&self, tweak: u64) -> (OtHash, usize) {
        let period = tweak / OTS_PER_KEY;
        let left = OTS_PER_KEY - tweak % OTS_PER_KEY;
        (OtHash::new(self.session_key ^ Block::from_u128(period.into())), left as usize)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use garblet_primitives::Prg;

    use super::*;

    /// Covers batches that begin and end anywhere in a period.
    #[test]
    fn no_key_hashes_more_than_its_ots_and_batches_do_not_matter() {
        let mut input = vec![Block::ZERO; 3 * OTS_PER_KEY as usize + 7];
        let mut rng = Prg::new(Block::ONES);
        rng.fill_blocks(&mut input);
        let key = rng.next_block();
        let hash = PadHash::new(key);
        for first in [0, 5, OTS_PER_KEY - 1, 7 * OTS_PER_KEY] {
            let mut whole = input.clone();
            hash.hash_batch(first, &mut whole);
            let mut under = HashMap::new();
            for (at, (&input, &hashed)) in (first..).zip(input.iter().zip(&whole)) {
                let key = key ^ Block::from_u128(u128::from(at / OTS_PER_KEY));
                assert!(hashed == OtHash::new(key).hash(at, input), "tweak {at}");
                *under.entry(key.to_u128()).or_insert(0) += 1;
            }
            assert!(under.values().all(|&ots| ots <= OTS_PER_KEY));
            let mut parts = input.clone();
            let (mut tweak, mut sizes) = (first, [1, 500, 1024].into_iter().cycle());
            let mut rest = &mut parts[..];
            while !rest.is_empty() {
                let (now, later) = rest.split_at_mut(sizes.next().unwrap_or(1).min(rest.len()));
                hash.hash_batch(tweak, now);
                tweak += now.len() as u64;
                rest = later;
            }
            assert!(parts == whole, "first tweak {first}");
            let delta = Delta::new(key);
            let mut ones: Vec<Block> = input.iter().map(|&q| q ^ delta.block()).collect();
            hash.hash_batch(first, &mut ones);
            let mut pads = Vec::new();
            hash.pads_onto(first, &delta, &input, &mut pads);
            assert!(pads.iter().map(|pad| pad[0]).eq(whole) && pads.iter().map(|pad| pad[1]).eq(ones));
        }
    }

    #[test]
    fn the_security_follows_from_the_calls_under_one_key() {
        let calls = 2.0 * OTS_PER_KEY as f64;
        assert_eq!(f64::from(PAD_BITS), 128.0 - calls.log2());
    }
}
