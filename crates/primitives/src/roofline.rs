//! The bare work of garbling, without any circuit: the reference for measured rates.

use std::marker::PhantomData;

use crate::{
    backend::Backend,
    block::Block,
    engine::{Engine, QUAD_LANES},
    gate_hash::GateHash,
    kernel::Kernel,
};

/// The number of blocks of [`raw_hash_calls`] and of each operand of [`raw_xors`]: they fit the L1 cache.
pub const RAW_BLOCKS: usize = 256;

/// Hashes [`RAW_BLOCKS`] blocks in place, `rounds` times, in batches that fill the AES pipeline, re-keying as often
/// as garbling does.
pub fn raw_hash_calls<H: GateHash>(backend: Backend, blocks: &mut [Block; RAW_BLOCKS], rounds: usize) {
    backend.run(RawHash::<H> { blocks, rounds, hash: PhantomData });
}

/// Runs [`RAW_BLOCKS`] XOR operations of 16 bytes, `rounds` times: two loads, an XOR and a store each.
pub fn raw_xors(slots: &mut [Block; 3 * RAW_BLOCKS], rounds: usize) {
    let (a, rest) = slots.split_at_mut(RAW_BLOCKS);
    let (b, out) = rest.split_at_mut(RAW_BLOCKS);
    for _ in 0..rounds {
        for ((a, b), out) in a.iter().zip(&*b).zip(&mut *out) {
            raw_xor(a, b, out);
        }
    }
}

/// One operation. Volatile, so that the compiler does not merge neighbours into wider vectors.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn raw_xor(a: &Block, b: &Block, out: &mut Block) {
    use std::arch::x86_64::{__m128i, _mm_xor_si128};
    let [a, b] = [a, b].map(|block| std::ptr::from_ref(block).cast::<__m128i>());
    // SAFETY: the pointers come from references to aligned memory of 16 bytes, and SSE2 is part of x86-64.
    unsafe {
        std::ptr::from_mut(out).cast::<__m128i>().write_volatile(_mm_xor_si128(a.read_volatile(), b.read_volatile()))
    }
}

/// One operation, in the same way.
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
#[inline(always)]
fn raw_xor(a: &Block, b: &Block, out: &mut Block) {
    use std::arch::aarch64::{uint8x16_t, veorq_u8};
    let [a, b] = [a, b].map(|block| std::ptr::from_ref(block).cast::<uint8x16_t>());
    // SAFETY: the pointers come from references to aligned memory of 16 bytes, and this is compiled for targets with NEON alone.
    unsafe {
        std::ptr::from_mut(out).cast::<uint8x16_t>().write_volatile(veorq_u8(a.read_volatile(), b.read_volatile()))
    }
}

/// One operation.
#[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_feature = "neon"))))]
#[inline(always)]
fn raw_xor(a: &Block, b: &Block, out: &mut Block) {
    *out = std::hint::black_box(*a ^ *b);
}

struct RawHash<'a, H> {
    blocks: &'a mut [Block; RAW_BLOCKS],
    rounds: usize,
    hash: PhantomData<H>,
}

impl<H: GateHash> Kernel for RawHash<'_, H> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        let mut key = H::key(e, Block::ONES, 0);
        let calls_per_key = H::key_period(4).gates().saturating_mul(4);
        let mut calls = 0;
        for _ in 0..self.rounds {
            if calls % calls_per_key == 0 {
                key = H::key(e, Block::ONES, calls / calls_per_key);
            }
            for batch in self.blocks.as_chunks_mut::<{ 4 * QUAD_LANES }>().0 {
                let quads = batch.as_chunks_mut::<QUAD_LANES>().0;
                let x = [[e.load(&quads[0]), e.load(&quads[1])], [e.load(&quads[2]), e.load(&quads[3])]];
                let hashes = H::hash::<E, 2, 2>(e, &key, calls / 4, x);
                for (quad, hash) in quads.iter_mut().zip(hashes.as_flattened()) {
                    *quad = e.store(*hash);
                }
                calls += (4 * QUAD_LANES) as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gate_hash::Tmmo, mmo::Rekeyed};

    #[test]
    fn the_work_is_done() {
        let mut slots = [Block::ZERO; 3 * RAW_BLOCKS];
        for (i, slot) in slots.iter_mut().enumerate() {
            *slot = Block::from_u128(i as u128 * i as u128);
        }
        let before = slots;
        raw_xors(&mut slots, 2);
        assert!((0..RAW_BLOCKS).all(|i| slots[2 * RAW_BLOCKS + i] == before[i] ^ before[RAW_BLOCKS + i]));
    }

    #[test]
    fn every_backend_does_the_same_work() {
        let run = |backend, hash: fn(Backend, &mut [Block; RAW_BLOCKS], usize)| {
            let mut blocks = [Block::ONES; RAW_BLOCKS];
            hash(backend, &mut blocks, 40);
            blocks
        };
        for hash in [raw_hash_calls::<Rekeyed>, raw_hash_calls::<Tmmo>] {
            let expected = run(Backend::PORTABLE, hash);
            assert!(expected != [Block::ONES; RAW_BLOCKS]);
            assert!(Backend::available().into_iter().all(|backend| run(backend, hash) == expected));
        }
    }
}
