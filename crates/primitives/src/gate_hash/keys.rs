//! Keys of the default hash for gates that are far apart.

use crate::{
    block::Block,
    engine::{Engine, QUAD_LANES},
};

/// A cache of the most recent keys of [`Rekeyed`](crate::Rekeyed) under one seed, for gates that are far apart. Serves one engine.
pub struct RekeyedKeys {
    seed: Block,
    recent: [Expanded; RECENT],
    /// The index of the oldest group.
    oldest: usize,
}

/// The number of groups of four keys in [`RekeyedKeys`].
const RECENT: usize = 4;

/// Keys of consecutive periods, expanded side by side.
#[derive(Clone, Copy)]
struct Expanded {
    /// The first period; `None` if there are no keys yet.
    first: Option<u64>,
    round_keys: [[Block; 11]; QUAD_LANES],
}

impl RekeyedKeys {
    /// The keys of a seed.
    pub fn new(seed: Block) -> Self {
        let none = Expanded { first: None, round_keys: [[Block::ZERO; 11]; QUAD_LANES] };
        RekeyedKeys { seed, recent: [none; RECENT], oldest: 0 }
    }

    /// The key of a period.
    #[inline(always)]
    pub fn key<E: Engine>(&mut self, e: E, period: u64) -> E::Key {
        let (first, lane) = (period & !(QUAD_LANES as u64 - 1), period as usize % QUAD_LANES);
        let found = self.recent.iter().position(|keys| keys.first == Some(first));
        let at = found.unwrap_or(self.oldest);
        if found.is_none() {
            self.oldest = (at + 1) % RECENT;
            let periods = [0, 1, 2, 3].map(|lane| self.seed ^ Block::from_halves(first + lane, 0));
            let Expanded { first: held, round_keys } = &mut self.recent[at];
            *held = Some(first);
            for (round, quad) in e.round_keys(e.load(&periods)).into_iter().enumerate() {
                for (keys, key) in round_keys.iter_mut().zip(e.store(quad)) {
                    keys[round] = key;
                }
            }
        }
        e.key_from(&self.recent[at].round_keys[lane])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{backend::Backend, gate_hash::GateHash, kernel::Kernel, mmo::Rekeyed};

    const SEED: Block = Block::from_u128(0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100);

    /// The same block encrypted under the keys of several periods: under the cached keys, and under newly made ones.
    struct Encrypt<'a>(&'a [u64]);

    impl Kernel for Encrypt<'_> {
        type Output = [Vec<Block>; 2];

        #[inline(always)]
        fn run<E: Engine>(self, e: E) -> Self::Output {
            let x = e.splat(Block::ONES);
            let mut held = RekeyedKeys::new(SEED);
            let mut encrypted = [Vec::new(), Vec::new()];
            for period in self.0 {
                let keys = [held.key(e, *period), Rekeyed::key(e, SEED, *period)];
                for (key, encrypted) in keys.iter().zip(&mut encrypted) {
                    encrypted.push(e.store(e.encrypt(key, [[x]])[0][0])[0]);
                }
            }
            encrypted
        }
    }

    #[test]
    fn cached_keys_belong_to_their_periods() {
        // More groups than the cache holds, some of them repeated.
        let periods: Vec<u64> = (0..40).map(|i| i * 7 % 31 + ((i % 3) << 50)).chain([5, 6, 5, 4, 1 << 50]).collect();
        for backend in Backend::available() {
            let [held, made] = backend.run(Encrypt(&periods));
            assert!(held == made, "{backend}");
            assert!(held[0] != held[1], "{backend}");
        }
    }
}
