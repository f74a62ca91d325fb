//! The bare work of garbling, without any circuit: what measured rates are held against.

use std::marker::PhantomData;

use crate::{
    backend::{Backend, Kernel},
    block::Block,
    engine::{Engine, LANES},
    gate_hash::GateHash,
};

/// Blocks of [`bare_hash_calls`] and of each operand of [`bare_xors`]: they stay in the first cache.
pub const BARE_BLOCKS: usize = 256;

/// Hashes [`BARE_BLOCKS`] blocks `rounds` times where they are, in batches that fill the AES pipeline, re-keying as often
/// as in garbling.
pub fn bare_hash_calls<H: GateHash>(backend: Backend, blocks: &mut [Block; BARE_BLOCKS], rounds: usize) {
    backend.run(BareHash::<H> { blocks, rounds, hash: PhantomData });
}

/// Does `rounds` times [`BARE_BLOCKS`] XOR operations of 16 bytes: two loads, an XOR and a store each.
pub fn bare_xors(slots: &mut [Block; 3 * BARE_BLOCKS], rounds: usize) {
    let (a, rest) = slots.split_at_mut(BARE_BLOCKS);
    let (b, out) = rest.split_at_mut(BARE_BLOCKS);
    for _ in 0..rounds {
        for ((a, b), out) in a.iter().zip(&*b).zip(&mut *out) {
            bare_xor(a, b, out);
        }
    }
}

/// One operation. Volatile, so that neighbours are not merged into wider vectors.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn bare_xor(a: &Block, b: &Block, out: &mut Block) {
    use std::arch::x86_64::{__m128i, _mm_xor_si128};
    let [a, b] = [a, b].map(|block| std::ptr::from_ref(block).cast::<__m128i>());
    // SAFETY: the pointers come from references to aligned memory of 16 bytes, and SSE2 belongs to x86-64.
    unsafe {
        std::ptr::from_mut(out).cast::<__m128i>().write_volatile(_mm_xor_si128(a.read_volatile(), b.read_volatile()))
    }
}

/// One operation.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn bare_xor(a: &Block, b: &Block, out: &mut Block) {
    *out = std::hint::black_box(*a ^ *b);
}

struct BareHash<'a, H> {
    blocks: &'a mut [Block; BARE_BLOCKS],
    rounds: usize,
    hash: PhantomData<H>,
}

impl<H: GateHash> Kernel for BareHash<'_, H> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        let mut key = H::key(e, Block::ONES, 0);
        let calls_per_key = H::gates_per_key(4).saturating_mul(4);
        let mut calls = 0;
        for _ in 0..self.rounds {
            if H::REKEYS && calls % calls_per_key == 0 {
                key = H::key(e, Block::ONES, calls / calls_per_key);
            }
            for batch in self.blocks.as_chunks_mut::<{ 4 * LANES }>().0 {
                let quads = batch.as_chunks_mut::<LANES>().0;
                let x = [[e.load(&quads[0]), e.load(&quads[1])], [e.load(&quads[2]), e.load(&quads[3])]];
                let hashes = H::hash::<E, 2, 2>(e, &key, calls / 4, x);
                for (quad, hash) in quads.iter_mut().zip(hashes.as_flattened()) {
                    *quad = e.store(*hash);
                }
                calls += (4 * LANES) as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate_hash::{Rekeyed, Tmmo};

    #[test]
    fn the_work_is_done() {
        let mut slots = [Block::ZERO; 3 * BARE_BLOCKS];
        for (i, slot) in slots.iter_mut().enumerate() {
            *slot = Block::from_u128(i as u128 * i as u128);
        }
        let before = slots;
        bare_xors(&mut slots, 2);
        assert!((0..BARE_BLOCKS).all(|i| slots[2 * BARE_BLOCKS + i] == before[i] ^ before[BARE_BLOCKS + i]));
    }

    #[test]
    fn every_backend_does_the_same_work() {
        let run = |backend, hash: fn(Backend, &mut [Block; BARE_BLOCKS], usize)| {
            let mut blocks = [Block::ONES; BARE_BLOCKS];
            hash(backend, &mut blocks, 40);
            blocks
        };
        for hash in [bare_hash_calls::<Rekeyed>, bare_hash_calls::<Tmmo>] {
            let expected = run(Backend::PORTABLE, hash);
            assert!(expected != [Block::ONES; BARE_BLOCKS]);
            assert!(Backend::available().into_iter().all(|backend| run(backend, hash) == expected));
        }
    }
}
