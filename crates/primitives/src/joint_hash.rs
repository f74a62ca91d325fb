//! The double-key hash of joint garbling: `F(u, v; g, row, j)` under a key of each operand wire, for all slots `j` at once.
//!
//! A gate that `n` parties garble together has four rows of `n` slots, and every slot of a row is masked by the hashes of
//! all parties: `n^2` calls to evaluate a gate, `4 n` for a party to garble it. Slots fill the lanes of a vector, so that
//! neither labels nor rows are gathered, and what depends on the keys alone is done once for all slots.

use aes::Aes256;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use zeroize::Zeroizing;

use crate::{
    backend::{Backend, Kernel},
    block::Block,
    bound::BARE_BLOCKS,
    engine::{Engine, LANES},
    gate_hash::double_key,
};

/// The most parties that garble together.
pub const MOST_PARTIES: usize = 64;

/// Hash calls of all parties under one key of [`JointRekeyed`]: the table attack on a fixed key gains at most that factor,
/// 12 bits, or that of one gate's calls where these are more.
const CALLS_PER_KEY: usize = 4096;

/// Vectors that hold a block per party.
const MOST_QUADS: usize = MOST_PARTIES / LANES;

/// Vectors that are encrypted side by side.
const WIDE: usize = 4;

/// `SLOTS[q]` has the number of slot `4 q + lane` in the high half of each lane: what tells slots apart.
const SLOTS: [[Block; LANES]; MOST_QUADS] = {
    let mut slots = [[Block::ZERO; LANES]; MOST_QUADS];
    let mut j = 0;
    while j < MOST_PARTIES {
        slots[j / LANES][j % LANES] = Block::from_halves(0, j as u64);
        j += 1;
    }
    slots
};

/// A double-key hash.
///
/// *Unique*: a row, `4 gate + row`, is hashed once under one offset of a party, whatever the seed.
pub trait JointHash {
    /// What is derived from the seed.
    type Key<E: Engine>;

    /// How many gates of `parties` parties may go under one key; a power of two.
    fn gates_per_key(parties: usize) -> u64;

    /// The key of that period; period 0 is the only one if the hash does not re-key.
    fn key<E: Engine>(e: E, seed: Block, period: u64) -> Self::Key<E>;

    /// Adds to every slot `j` of `out` the sum over the first `count` pairs of keys of `F(u, v; row, j)`.
    ///
    /// *Shape*: `u` and `v` hold `count` keys and at most [`MOST_PARTIES`]; so does `out`, whose lanes may be more than
    /// the slots in use.
    fn add_masks<E: Engine>(
        e: E,
        key: &Self::Key<E>,
        row: u64,
        count: usize,
        u: &[[Block; LANES]],
        v: &[[Block; LANES]],
        out: &mut [[Block; LANES]],
    );
}

/// The default: `F(u, v; row, j) = pi(x) ^ x` with `x = sigma(u ^ 12 v) ^ (row, j)`, where `pi` is AES-128 under a key that
/// changes with the gates: `seed ^ period`.
///
/// *Source*: Ben-Efraim, Lindell and Omri 2016, section 2.4 (fixed-key form), with the tweaks and the changing key of
/// [`crate::Rekeyed`] and the factor of [`double_key`].
pub struct JointRekeyed;

/// The same function under one key fixed for ever. For reproducing measurements: security decays with the number of gates
/// garbled by anybody.
///
/// *Source*: Ben-Efraim, Lindell and Omri 2016, section 2.4, second form.
pub struct JointFixedKey;

/// `F(u, v; row, j) = AES-256(u || v, (row, j))`: a pseudo-random function and no more is assumed, but every pair of keys
/// is expanded.
///
/// *Source*: Ben-Efraim, Lindell and Omri 2016, section 2.4, first form.
pub struct JointAes256;

impl JointHash for JointRekeyed {
    type Key<E: Engine> = E::Key;

    fn gates_per_key(parties: usize) -> u64 {
        1 << (CALLS_PER_KEY / (4 * parties * parties)).max(1).ilog2()
    }

    #[inline(always)]
    fn key<E: Engine>(e: E, seed: Block, period: u64) -> E::Key {
        e.key(seed ^ Block::from_halves(period, 0))
    }

    #[inline(always)]
    fn add_masks<E: Engine>(
        e: E,
        key: &E::Key,
        row: u64,
        count: usize,
        u: &[[Block; LANES]],
        v: &[[Block; LANES]],
        out: &mut [[Block; LANES]],
    ) {
        add_masks(e, key, row, count, u, v, out);
    }
}

impl JointHash for JointFixedKey {
    type Key<E: Engine> = E::Key;

    fn gates_per_key(_parties: usize) -> u64 {
        1 << 63
    }

    #[inline(always)]
    fn key<E: Engine>(e: E, _seed: Block, _period: u64) -> E::Key {
        e.key(Block::from_bytes(*b"garblet fixedkey"))
    }

    #[inline(always)]
    fn add_masks<E: Engine>(
        e: E,
        key: &E::Key,
        row: u64,
        count: usize,
        u: &[[Block; LANES]],
        v: &[[Block; LANES]],
        out: &mut [[Block; LANES]],
    ) {
        add_masks(e, key, row, count, u, v, out);
    }
}

impl JointHash for JointAes256 {
    type Key<E: Engine> = ();

    fn gates_per_key(_parties: usize) -> u64 {
        1 << 63
    }

    #[inline(always)]
    fn key<E: Engine>(_e: E, _seed: Block, _period: u64) {}

    #[inline(always)]
    fn add_masks<E: Engine>(
        _e: E,
        _key: &(),
        row: u64,
        count: usize,
        u: &[[Block; LANES]],
        v: &[[Block; LANES]],
        out: &mut [[Block; LANES]],
    ) {
        for (u, v) in u.as_flattened().iter().zip(v.as_flattened()).take(count) {
            add_aes256(row, *u, *v, out.as_flattened_mut());
        }
    }
}

/// Adds the masks of one pair of keys by AES-256.
fn add_aes256(row: u64, u: Block, v: Block, out: &mut [Block]) {
    let mut key = Zeroizing::new([0; 32]);
    key[..16].copy_from_slice(&u.to_bytes());
    key[16..].copy_from_slice(&v.to_bytes());
    let cipher = Aes256::new((&*key).into());
    for (out, slots) in out.chunks_mut(8).zip(SLOTS.as_flattened().chunks(8)) {
        let mut blocks: [aes::Block; 8] =
            std::array::from_fn(|j| (slots[j] ^ Block::from_halves(row, 0)).to_bytes().into());
        cipher.encrypt_blocks(&mut blocks[..out.len()]);
        for (out, block) in out.iter_mut().zip(blocks) {
            *out ^= Block::from_bytes(block.into());
        }
    }
}

/// [`JointHash::add_masks`] by AES-128 under a given key, compiled for one pair of keys, for up to 16, and for all, so that
/// no more room is cleared than is used.
#[inline(always)]
fn add_masks<E: Engine>(
    e: E,
    key: &E::Key,
    row: u64,
    count: usize,
    u: &[[Block; LANES]],
    v: &[[Block; LANES]],
    out: &mut [[Block; LANES]],
) {
    match u.len() {
        1 => add_masks_of::<E, 1>(e, key, row, count, u, v, out),
        2..=4 => add_masks_of::<E, 4>(e, key, row, count, u, v, out),
        _ => add_masks_of::<E, MOST_QUADS>(e, key, row, count, u, v, out),
    }
}

/// The same for keys in up to `QUADS` vectors. Of `pi(x) ^ x` the sums of `x` are taken apart: the key's part is
/// the same for all slots, and the tweak cancels unless `count` is odd.
#[inline(always)]
fn add_masks_of<E: Engine, const QUADS: usize>(
    e: E,
    key: &E::Key,
    row: u64,
    count: usize,
    u: &[[Block; LANES]],
    v: &[[Block; LANES]],
    out: &mut [[Block; LANES]],
) {
    let mut keys = [[Block::ZERO; LANES]; QUADS];
    for ((keys, u), v) in keys.iter_mut().zip(u).zip(v) {
        *keys = e.store(e.sigma(double_key(e, e.load(u), e.load(v))));
    }
    let keys = &keys.as_flattened()[..count];
    let mut sum = Block::ZERO;
    for key in keys {
        sum ^= *key;
    }
    let (sum, row) = (e.splat(sum), e.splat(Block::from_halves(row, 0)));
    let odd = e.mask(count % 2 == 1);
    for (out, slots) in out.iter_mut().zip(&SLOTS) {
        let tweak = e.xor(row, e.load(slots));
        let mut acc = e.xor_if(odd, e.xor(e.load(out), sum), tweak);
        let (wide, rest) = keys.as_chunks::<WIDE>();
        for keys in wide {
            acc = e.xor(acc, permuted(e, key, keys, tweak));
        }
        acc = match *rest {
            [] => acc,
            [a] => e.xor(acc, permuted(e, key, &[a], tweak)),
            [a, b] => e.xor(acc, permuted(e, key, &[a, b], tweak)),
            [a, b, c, ..] => e.xor(acc, permuted(e, key, &[a, b, c], tweak)),
        };
        *out = e.store(acc);
    }
}

/// The sum of `pi(k ^ tweak)` over the keys.
#[inline(always)]
fn permuted<E: Engine, const N: usize>(e: E, key: &E::Key, keys: &[Block; N], tweak: E::Quad) -> E::Quad {
    let x: [[E::Quad; 1]; N] = std::array::from_fn(
        #[inline(always)]
        |i| [e.xor(e.splat(keys[i]), tweak)],
    );
    let y = e.encrypt(key, x);
    let mut sum = y[0][0];
    for [y] in &y[1..] {
        sum = e.xor(sum, *y);
    }
    sum
}

/// Computes [`BARE_BLOCKS`] double-key hashes `rounds` times, each of a pair of keys of its own, in batches that fill the
/// AES pipeline: what the measured rate of evaluating is held against.
pub fn bare_double_keys(backend: Backend, blocks: &mut [Block; BARE_BLOCKS], rounds: usize) {
    backend.run(BareDoubleKeys { blocks, rounds });
}

struct BareDoubleKeys<'a> {
    blocks: &'a mut [Block; BARE_BLOCKS],
    rounds: usize,
}

impl Kernel for BareDoubleKeys<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        let key = e.key(Block::ONES);
        let mut tweak = 0;
        for _ in 0..self.rounds {
            for batch in self.blocks.as_chunks_mut::<{ WIDE * LANES }>().0 {
                let quads = batch.as_chunks_mut::<LANES>().0;
                let mut x = [[e.splat(Block::ZERO)]; WIDE];
                for (i, x) in x.iter_mut().enumerate() {
                    let [u, v] = [e.load(&quads[i]), e.load(&quads[(i + 1) % WIDE])];
                    let tweak = e.count(tweak + (i * LANES) as u64, 1);
                    x[0] = e.xor(e.sigma(double_key(e, u, v)), tweak);
                }
                let y = e.encrypt(&key, x);
                for ((quad, x), y) in quads.iter_mut().zip(&x).zip(&y) {
                    *quad = e.store(e.xor(x[0], y[0]));
                }
                tweak += (WIDE * LANES) as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{aes::Aes128, prg::Prg};

    const SEED: Block = Block::from_u128(0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100);

    struct Call<'a, H> {
        row: u64,
        period: u64,
        count: usize,
        u: &'a [[Block; LANES]],
        v: &'a [[Block; LANES]],
        out: Vec<[Block; LANES]>,
        hash: std::marker::PhantomData<H>,
    }

    impl<H: JointHash> Kernel for Call<'_, H> {
        type Output = Vec<[Block; LANES]>;

        #[inline(always)]
        fn run<E: Engine>(mut self, e: E) -> Self::Output {
            let key = H::key(e, SEED, self.period);
            H::add_masks(e, &key, self.row, self.count, self.u, self.v, &mut self.out);
            self.out
        }
    }

    fn twelve_times(v: Block) -> Block {
        let twice = crate::gf128::double;
        twice(twice(v ^ twice(v)))
    }

    /// `pi(x) ^ x` from its definition.
    fn formula(key: Block, u: Block, v: Block, row: u64, j: usize) -> Block {
        let [low, high] = (u ^ twelve_times(v)).halves();
        let x = Block::from_halves(high ^ row, high ^ low ^ j as u64);
        Aes128::with_backend(Backend::PORTABLE, key).encrypt(x) ^ x
    }

    fn check<H: JointHash>(period: u64, formula: impl Fn(Block, Block, u64, usize) -> Block) {
        let mut rng = Prg::new(SEED);
        for parties in [1, 2, 3, 4, 5, 7, 8, 9, 13, 33, MOST_PARTIES] {
            let quads = parties.div_ceil(LANES);
            let mut random = || (0..quads).map(|_| std::array::from_fn(|_| rng.next_block())).collect::<Vec<_>>();
            let (u, v, out) = (random(), random(), random());
            for count in [1, parties] {
                let row = 4 * 1021 + count as u64 % 4;
                let expected: Vec<Block> = (0..parties)
                    .map(|j| {
                        let keys = u.as_flattened().iter().zip(v.as_flattened()).take(count);
                        keys.fold(out.as_flattened()[j], |sum, (u, v)| sum ^ formula(*u, *v, row, j))
                    })
                    .collect();
                for backend in Backend::available() {
                    let out = out.clone();
                    let hash = std::marker::PhantomData;
                    let got = backend.run(Call::<H> { row, period, count, u: &u, v: &v, out, hash });
                    assert!(got.as_flattened()[..parties] == expected, "{count} of {parties} on {backend}");
                }
            }
        }
    }

    #[test]
    fn every_hash_is_its_formula_on_every_backend() {
        for period in [0, 1, 1 << 50] {
            let key = SEED ^ Block::from_halves(period, 0);
            check::<JointRekeyed>(period, |u, v, row, j| formula(key, u, v, row, j));
        }
        let fixed = Block::from_bytes(*b"garblet fixedkey");
        check::<JointFixedKey>(0, |u, v, row, j| formula(fixed, u, v, row, j));
        check::<JointAes256>(0, |u, v, row, j| {
            let mut key = [0; 32];
            key[..16].copy_from_slice(&u.to_bytes());
            key[16..].copy_from_slice(&v.to_bytes());
            let mut block = Block::from_halves(row, j as u64).to_bytes().into();
            Aes256::new(&key.into()).encrypt_block(&mut block);
            Block::from_bytes(block.into())
        });
    }

    #[test]
    fn known_answer_of_aes_256() {
        // FIPS 197, appendix C.3: the first block of the plain text is row and slot here.
        let key: [u8; 32] = std::array::from_fn(|i| i as u8);
        let [u, v] = [0, 16].map(|at| Block::from_bytes(key[at..at + 16].try_into().unwrap()));
        let mut out = [Block::ZERO];
        add_aes256(0, u, v, &mut out);
        // AES-256 of sixteen zeros under that key, from `openssl enc -aes-256-ecb`.
        assert_eq!(out[0].to_bytes(), 0xf290_00b6_2a49_9fd0_a9f3_9a6a_dd2e_7780_u128.to_be_bytes());
    }

    #[test]
    fn a_key_serves_at_most_4096_calls_or_one_gate() {
        for parties in 2..=MOST_PARTIES {
            let gates = JointRekeyed::gates_per_key(parties);
            let calls = gates as usize * 4 * parties * parties;
            assert!(gates.is_power_of_two() && (calls <= CALLS_PER_KEY || gates == 1));
        }
        assert_eq!(JointRekeyed::gates_per_key(3), 64);
    }

    #[test]
    fn every_backend_does_the_same_bare_work() {
        let run = |backend| {
            let mut blocks = [Block::ONES; BARE_BLOCKS];
            bare_double_keys(backend, &mut blocks, 3);
            blocks
        };
        let expected = run(Backend::PORTABLE);
        assert!(expected != [Block::ONES; BARE_BLOCKS]);
        assert!(Backend::available().into_iter().all(|backend| run(backend) == expected));
    }
}
