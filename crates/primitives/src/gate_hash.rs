//! Hashes for garbled gates.
//!
//! All are `H(x, i)` for a block `x` and a tweak `i`. A scheme with `T` tweaks per gate uses `T * gate + t` for its
//! tweak `t`, with gates numbered through the whole garbling, so no tweak repeats under one key.

mod keys;

use sha2::{Digest, Sha256};

pub use self::keys::RekeyedKeys;
use crate::{
    block::Block,
    engine::{Engine, each},
    gate_number::KeyPeriod,
    mmo::{KeyRule, Mmo, Rekeyed, mmo, tmmo},
};

/// A hash for garbled gates, on four gates at a time.
pub trait GateHash {
    /// The key derived from the seed.
    type Key<E: Engine>;

    /// The key of a period; without re-keying, period 0 is the only one.
    fn key<E: Engine>(e: E, seed: Block, period: u64) -> Self::Key<E>;

    /// Hashes `P` blocks under each of `T` tweaks for four gates. `gate` is the first of them, counted from the beginning
    /// of the period.
    fn hash<E: Engine, const T: usize, const P: usize>(
        e: E,
        key: &Self::Key<E>,
        gate: u64,
        x: [[E::Quad; P]; T],
    ) -> [[E::Quad; P]; T];

    /// For each of `T` blocks `x` for four gates, each with its own tweak: the hash of `x`, and its sum with the hash of
    /// `x ^ delta`.
    #[inline(always)]
    fn hash_pairs<E: Engine, const T: usize>(
        e: E,
        key: &Self::Key<E>,
        gate: u64,
        x: [E::Quad; T],
        delta: E::Quad,
    ) -> [[E::Quad; 2]; T] {
        let pairs = each(
            x,
            #[inline(always)]
            |x| [x, e.xor(x, delta)],
        );
        each(
            Self::hash(e, key, gate, pairs),
            #[inline(always)]
            |[h0, h1]| [h0, e.xor(h0, h1)],
        )
    }

    /// The gates, of `calls` hash calls each, that share one key.
    #[inline(always)]
    fn key_period(_calls: u64) -> KeyPeriod {
        KeyPeriod::UNLIMITED
    }
}

/// `H(x, i) = pi(pi(x) ^ i) ^ pi(x)`, where `pi` is AES-128 under the seed.
///
/// *Source*: Guo, Katz, Wang and Yu 2020, section 7.4.
pub struct Tmmo;

/// `H(x, i) = AES(seed ^ i, sigma(x)) ^ sigma(x)`: a separate key for every tweak.
///
/// *Source*: Guo, Katz, Wang, Weng and Yu 2020 (MITCCRH).
pub struct Mitccrh;

/// `H(x, i) = SHA-256(seed || x || i)`, the first 16 bytes: the plain reference.
pub struct Sha256Hash;

impl<R: KeyRule> GateHash for Mmo<R> {
    type Key<E: Engine> = E::Key;

    #[inline(always)]
    fn key<E: Engine>(e: E, seed: Block, period: u64) -> E::Key {
        e.key(R::key(seed, period))
    }

    #[inline(always)]
    fn hash<E: Engine, const T: usize, const P: usize>(
        e: E,
        key: &E::Key,
        gate: u64,
        mut x: [[E::Quad; P]; T],
    ) -> [[E::Quad; P]; T] {
        apply_sigma(e, &mut x);
        add_tweaks(e, gate, &mut x);
        mmo(
            e,
            x,
            #[inline(always)]
            |u| e.encrypt(key, u),
        )
    }

    /// Sigma is linear, so the two blocks of a pair always differ by `sigma(delta)`.
    #[inline(always)]
    fn hash_pairs<E: Engine, const T: usize>(
        e: E,
        key: &E::Key,
        gate: u64,
        x: [E::Quad; T],
        delta: E::Quad,
    ) -> [[E::Quad; 2]; T] {
        // Loops, because `map` on a long array is not inlined.
        let mut u = [[delta]; T];
        for (u, x) in u.as_flattened_mut().iter_mut().zip(x) {
            *u = x;
        }
        apply_sigma(e, &mut u);
        add_tweaks(e, gate, &mut u);
        let delta = e.sigma(delta);
        let mut pairs = [[delta; 2]; T];
        for (pair, [u]) in pairs.iter_mut().zip(u) {
            *pair = [u, e.xor(u, delta)];
        }
        let mut hashes = e.encrypt(key, pairs);
        for ([first, second], [u]) in hashes.iter_mut().zip(u) {
            [*first, *second] = [e.xor(*first, u), e.xor3(*first, *second, delta)];
        }
        hashes
    }

    #[inline(always)]
    fn key_period(calls: u64) -> KeyPeriod {
        R::key_period(calls)
    }
}

impl Rekeyed {
    /// The place of a gate's hashes for [`Rekeyed::hash_each`]: the first of its `tweaks` tweaks, and the period of the key, for gates
    /// of `calls` hash calls.
    pub fn place(gate: u64, calls: u64, tweaks: u64) -> Block {
        let number = Self::key_period(calls).split(gate);
        Block::from_halves(tweaks * number.local, number.period)
    }

    /// Hashes a block under each of `T` tweaks, a power of two, for four arbitrary gates: every lane has its own
    /// key.
    #[inline(always)]
    pub fn hash_each<E: Engine, const T: usize>(
        e: E,
        seed: E::Quad,
        places: E::Quad,
        mut x: [E::Quad; T],
    ) -> [E::Quad; T] {
        let low = e.splat(Block::from_halves(u64::MAX, 0));
        let tweak = e.and(places, low);
        // Sigma moves the high half down.
        let key = e.xor(seed, e.and(e.sigma(places), low));
        for (t, x) in x.iter_mut().enumerate() {
            *x = e.xor3(e.sigma(*x), tweak, e.splat(Block::from_u128(t as u128)));
        }
        let [out] = mmo(
            e,
            [x],
            #[inline(always)]
            |u| e.encrypt_each([key], u),
        );
        out
    }
}

impl GateHash for Tmmo {
    type Key<E: Engine> = E::Key;

    #[inline(always)]
    fn key<E: Engine>(e: E, seed: Block, _period: u64) -> E::Key {
        e.key(seed)
    }

    #[inline(always)]
    fn hash<E: Engine, const T: usize, const P: usize>(
        e: E,
        key: &E::Key,
        gate: u64,
        x: [[E::Quad; P]; T],
    ) -> [[E::Quad; P]; T] {
        tmmo(
            e,
            key,
            x,
            #[inline(always)]
            |once| add_tweaks(e, gate, once),
        )
    }
}

impl GateHash for Mitccrh {
    type Key<E: Engine> = E::Quad;

    #[inline(always)]
    fn key<E: Engine>(e: E, seed: Block, _period: u64) -> E::Quad {
        e.splat(seed)
    }

    #[inline(always)]
    fn hash<E: Engine, const T: usize, const P: usize>(
        e: E,
        seed: &E::Quad,
        gate: u64,
        mut x: [[E::Quad; P]; T],
    ) -> [[E::Quad; P]; T] {
        let mut keys = [[*seed]; T];
        add_tweaks(e, gate, &mut keys);
        apply_sigma(e, &mut x);
        let keys = each(
            keys,
            #[inline(always)]
            |[key]| key,
        );
        mmo(
            e,
            x,
            #[inline(always)]
            |u| e.encrypt_each(keys, u),
        )
    }
}

impl GateHash for Sha256Hash {
    type Key<E: Engine> = Block;

    #[inline(always)]
    fn key<E: Engine>(_e: E, seed: Block, _period: u64) -> Block {
        seed
    }

    #[inline(always)]
    fn hash<E: Engine, const T: usize, const P: usize>(
        e: E,
        seed: &Block,
        gate: u64,
        mut x: [[E::Quad; P]; T],
    ) -> [[E::Quad; P]; T] {
        for (t, x) in x.iter_mut().enumerate() {
            for x in x {
                let mut blocks = e.store(*x);
                for (lane, block) in blocks.iter_mut().enumerate() {
                    *block = sha256(*seed, *block, T as u64 * (gate + lane as u64) + t as u64);
                }
                *x = e.load(&blocks);
            }
        }
        x
    }
}

fn sha256(seed: Block, x: Block, tweak: u64) -> Block {
    let mut hasher = Sha256::new();
    hasher.update(seed.to_bytes());
    hasher.update(x.to_bytes());
    hasher.update(tweak.to_le_bytes());
    let digest: [u8; 32] = hasher.finalize().into();
    Block::from_digest(&digest)
}

/// Combines the two labels of a gate's row into one block to hash: `a ^ 12 b` in GF(2^128).
///
/// With free XOR, the rows' keys differ by 1, 12 or 13 times delta. With these factors, unlike the usual 2 and 4, both
/// `c x -> sigma(c x)` and `sigma(c x) + x` are bijective, so a payload that contains delta cancels nothing in the hash.
#[inline(always)]
pub fn combine_keys<E: Engine>(e: E, a: E::Quad, b: E::Quad) -> E::Quad {
    let b3 = e.xor(b, e.double(b));
    e.xor(a, e.double(e.double(b3)))
}

#[inline(always)]
fn apply_sigma<E: Engine, const T: usize, const P: usize>(e: E, x: &mut [[E::Quad; P]; T]) {
    for x in x.as_flattened_mut() {
        *x = e.sigma(*x);
    }
}

/// Adds tweak `T * gate + t` to row `t`.
#[inline(always)]
fn add_tweaks<E: Engine, const T: usize, const P: usize>(e: E, gate: u64, x: &mut [[E::Quad; P]; T]) {
    let first = e.count((T as u64).wrapping_mul(gate), T as u64);
    for (t, x) in x.iter_mut().enumerate() {
        let tweak = match T.is_power_of_two() {
            // The first tweak is a multiple of `T`, so there is no carry.
            true => e.xor(first, e.splat(Block::from_u128(t as u128))),
            false => e.count((T as u64).wrapping_mul(gate).wrapping_add(t as u64), T as u64),
        };
        for x in x {
            *x = e.xor(*x, tweak);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{aes::Aes128, backend::Backend, engine::QUAD_LANES, kernel::Kernel, mmo::FixedKey};

    const SEED: Block = Block::from_u128(0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100);

    /// One call of a hash with two tweaks and three blocks each.
    struct Call<H>(u64, u64, std::marker::PhantomData<H>);

    fn input(t: usize, p: usize, lane: usize) -> Block {
        Block::from_u128(
            0x9e37_79b9_7f4a_7c15_f39c_c060_u128 * (1 + t as u128) + (p as u128) * 77 + ((lane as u128) << 99),
        )
    }

    impl<H: GateHash> Kernel for Call<H> {
        type Output = [[[Block; QUAD_LANES]; 3]; 2];

        #[inline(always)]
        fn run<E: Engine>(self, e: E) -> Self::Output {
            let x = [0, 1].map(|t| [0, 1, 2].map(|p| e.load(&[0, 1, 2, 3].map(|lane| input(t, p, lane)))));
            let key = H::key(e, SEED, self.0);
            H::hash(e, &key, self.1, x).map(|row| row.map(|quad| e.store(quad)))
        }
    }

    /// One call for pairs: two blocks and their sums with `SEED`, once as pairs and once one by one.
    struct Pairs<H>(u64, std::marker::PhantomData<H>);

    impl<H: GateHash> Kernel for Pairs<H> {
        type Output = [[[[Block; QUAD_LANES]; 2]; 2]; 2];

        #[inline(always)]
        fn run<E: Engine>(self, e: E) -> Self::Output {
            let x = [0, 1].map(|t| e.load(&[0, 1, 2, 3].map(|lane| input(t, 0, lane))));
            let (key, delta) = (H::key(e, SEED, 0), e.splat(SEED));
            let pairs = H::hash_pairs(e, &key, self.0, x, delta);
            let single = H::hash(e, &key, self.0, x.map(|x| [x, e.xor(x, delta)]));
            let single = single.map(|[h0, h1]| [h0, e.xor(h0, h1)]);
            [pairs, single].map(|both| both.map(|pair| pair.map(|quad| e.store(quad))))
        }
    }

    /// One call for arbitrary gates, which are `4 * lane` after the first.
    struct Each(u64);

    impl Kernel for Each {
        type Output = [[Block; QUAD_LANES]; 2];

        #[inline(always)]
        fn run<E: Engine>(self, e: E) -> Self::Output {
            let places = [0, 1, 2, 3].map(|lane| Rekeyed::place(self.0 + 700 * lane, 4, 2));
            let x = [0, 1].map(|t| e.load(&[0, 1, 2, 3].map(|lane| input(t, 0, lane))));
            Rekeyed::hash_each(e, e.splat(SEED), e.load(&places), x).map(|quad| e.store(quad))
        }
    }

    #[test]
    fn gates_of_any_periods_are_hashed_side_by_side() {
        for first in [0, 1023, 5 << 40 | 77] {
            for backend in Backend::available() {
                for (t, got) in backend.run(Each(first)).iter().enumerate() {
                    for (lane, &got) in got.iter().enumerate() {
                        let gate = first + 700 * lane as u64;
                        let key = SEED ^ Block::from_halves(gate / 1024, 0);
                        let expected = mmo_formula(key, input(t, 0, lane), 2 * (gate % 1024) + t as u64);
                        assert!(got == expected, "tweak {t} lane {lane} on {backend}");
                    }
                }
            }
        }
    }

    #[test]
    fn pairs_are_hashes_and_their_sums() {
        for gate in [0, 3, 1021, 1 << 40] {
            for backend in Backend::available() {
                let check = |[pairs, single]: [[[[Block; QUAD_LANES]; 2]; 2]; 2]| assert!(pairs == single, "{backend}");
                check(backend.run(Pairs::<Rekeyed>(gate, std::marker::PhantomData)));
                check(backend.run(Pairs::<FixedKey>(gate, std::marker::PhantomData)));
                check(backend.run(Pairs::<Tmmo>(gate, std::marker::PhantomData)));
            }
        }
    }

    /// Compares a hash on every backend with its formula on single blocks.
    fn check<H: GateHash>(period: u64, gate: u64, formula: impl Fn(Block, u64) -> Block) {
        for backend in Backend::available() {
            let got = backend.run(Call::<H>(period, gate, std::marker::PhantomData));
            for (t, got) in got.iter().enumerate() {
                for (p, got) in got.iter().enumerate() {
                    for (lane, &got) in got.iter().enumerate() {
                        let tweak = 2 * (gate + lane as u64) + t as u64;
                        assert!(
                            got == formula(input(t, p, lane), tweak),
                            "tweak {t} block {p} lane {lane} on {backend}"
                        );
                    }
                }
            }
        }
    }

    fn pi(key: Block, x: Block) -> Block {
        Aes128::with_backend(Backend::PORTABLE, key).encrypt(x)
    }

    fn sigma(x: Block) -> Block {
        let [low, high] = x.halves();
        Block::from_halves(high, high ^ low)
    }

    fn mmo_formula(key: Block, x: Block, tweak: u64) -> Block {
        let u = sigma(x) ^ Block::from_halves(tweak, 0);
        pi(key, u) ^ u
    }

    #[test]
    fn every_hash_is_its_formula_on_every_backend() {
        for gate in [0, 1021, 1 << 40] {
            for period in [0, 1, 1 << 50] {
                let key = SEED ^ Block::from_halves(period, 0);
                check::<Rekeyed>(period, gate, |x, i| mmo_formula(key, x, i));
            }
            check::<FixedKey>(0, gate, |x, i| mmo_formula(Block::from_bytes(*b"garblet fixedkey"), x, i));
            check::<Tmmo>(0, gate, |x, i| pi(SEED, pi(SEED, x) ^ Block::from_halves(i, 0)) ^ pi(SEED, x));
            check::<Mitccrh>(0, gate, |x, i| pi(SEED ^ Block::from_halves(i, 0), sigma(x)) ^ sigma(x));
            check::<Sha256Hash>(0, gate, |x, i| sha256(SEED, x, i));
        }
    }

    #[test]
    fn known_answers() {
        // SHA-256 of 00 01 .. 0f, then sixteen 0xff, then eight zeros; from `sha256sum`.
        let digest = sha256(SEED, Block::ONES, 0);
        assert_eq!(digest.to_bytes(), KNOWN_SHA256);
        // u = 0, so the hash is FIPS 197's cipher of zero under the seed: from `openssl enc -aes-128-ecb`.
        assert_eq!(mmo_formula(SEED, Block::ZERO, 0).to_bytes(), KNOWN_AES_OF_ZERO);
    }

    const KNOWN_SHA256: [u8; 16] = hex(0x47a0a8d21c51142d4966cdf61fe87a10);
    const KNOWN_AES_OF_ZERO: [u8; 16] = hex(0xc6a13b37878f5b826f4f8162a1c8d879);

    const fn hex(value: u128) -> [u8; 16] {
        value.to_be_bytes()
    }

    #[test]
    fn a_key_serves_at_most_4096_calls() {
        for calls in 1..=6 {
            let gates = Rekeyed::key_period(calls).gates();
            assert!(gates * calls <= 4096 && 2 * gates * calls > 4096);
        }
        assert_eq!(Rekeyed::key_period(4).gates(), 1024);
        assert_eq!(FixedKey::key_period(4), KeyPeriod::UNLIMITED);
    }

    /// The keys of the four rows of a gate are `a ^ 12 b`, see [`combine_keys`]. Rows whose keys differ by `c` times delta are
    /// independent of a payload with delta only if `sigma(c x)` and `sigma(c x) + x` are bijective.
    #[test]
    fn sigma_of_every_row_multiple_is_an_orthomorphism() {
        for c in [1, 12, 13] {
            let times = |x: Block| sigma(crate::gf128::mul(Block::from_u128(c), x));
            assert_eq!(rank(times), 128);
            assert_eq!(rank(|x| times(x) ^ x), 128);
        }
    }

    fn rank(map: impl Fn(Block) -> Block) -> usize {
        let mut basis = [0u128; 128];
        for i in 0..128 {
            let mut v = map(Block::from_u128(1 << i)).to_u128();
            while v != 0 {
                let top = v.ilog2() as usize;
                if basis[top] == 0 {
                    basis[top] = v;
                    break;
                }
                v ^= basis[top];
            }
        }
        basis.iter().filter(|v| **v != 0).count()
    }
}
