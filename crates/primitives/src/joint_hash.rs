//! The double-key hash of joint garbling: `F(u, v; g, row, j)` under one key per operand wire, for all slots `j` at once.
//!
//! A gate that `n` parties garble together has four rows of `n` slots, and the hashes of all parties mask every slot of a
//! row: `n^2` calls to evaluate a gate, `4 n` for a party to garble it. Slots fill the lanes of a vector, so
//! neither labels nor rows are gathered, and work that depends only on the keys is done once for all slots.

use aes::Aes256;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use zeroize::Zeroizing;

use crate::{
    backend::Backend,
    block::Block,
    engine::{Engine, QUAD_LANES, each, numbered},
    gate_hash::combine_keys,
    gate_number::KeyPeriod,
    kernel::Kernel,
    mmo::{KeyRule, Mmo, mmo},
    roofline::RAW_BLOCKS,
};

/// The most parties that garble together.
pub const MAX_PARTIES: usize = 64;

/// The number of vectors that hold a block per party.
const MAX_QUADS: usize = MAX_PARTIES / QUAD_LANES;

/// The number of vectors to encrypt side by side.
const PIPELINE: usize = 4;

/// The most parties whose gates are evaluated four at a time. With more, the slots of a single gate fill most lanes, and one
/// key of [`Rekeyed`](crate::Rekeyed) soon serves fewer than four gates.
pub const MAX_QUAD_PARTIES: usize = 12;

/// `SLOTS[q]` has the number of slot `4 q + lane` in the high half of each lane, which separates slots.
const SLOTS: [[Block; QUAD_LANES]; MAX_QUADS] = {
    let mut slots = [[Block::ZERO; QUAD_LANES]; MAX_QUADS];
    let mut j = 0;
    while j < MAX_PARTIES {
        slots[j / QUAD_LANES][j % QUAD_LANES] = Block::from_halves(0, j as u64);
        j += 1;
    }
    slots
};

/// A double-key hash.
///
/// *Unique*: under one offset of a party, hash each row, `4 gate + row`, only once, under any seed.
pub trait JointHash {
    /// The key derived from the seed.
    type Key<E: Engine>;

    /// The gates of `parties` parties that share one key.
    fn key_period(parties: usize) -> KeyPeriod;

    /// The key of a period; without re-keying, period 0 is the only one.
    fn key<E: Engine>(e: E, seed: Block, period: u64) -> Self::Key<E>;

    /// Adds to every slot `j` of `out` the sum of `F(u, v; row, j)` over the first `count` pairs of keys.
    ///
    /// *Shape*: `u` and `v` hold `count` keys, at most [`MAX_PARTIES`], as does `out`, which may have more lanes than
    /// slots in use.
    fn add_masks<E: Engine>(
        e: E,
        key: &Self::Key<E>,
        row: u64,
        count: usize,
        u: &[[Block; QUAD_LANES]],
        v: &[[Block; QUAD_LANES]],
        out: &mut [[Block; QUAD_LANES]],
    );

    /// The sums of [`JointHash::add_masks`] for a row of each of four gates, side by side: `out[j][g]` is the sum of slot `j` for
    /// gate `g`.
    ///
    /// *Shape*: the keys of gate `g` are the blocks of `labels` from `u[g]` and `v[g]` on, as many as `out` has slots: at most
    /// [`MAX_QUAD_PARTIES`].
    fn quad_masks<E: Engine>(e: E, key: &Self::Key<E>, four: &JointRows<'_>, out: &mut [[Block; QUAD_LANES]]);
}

/// A row of each of four gates, and the places of its keys.
pub struct JointRows<'a> {
    /// The rows' numbers.
    pub rows: [u64; QUAD_LANES],
    /// The labels of all wires.
    pub labels: &'a [Block],
    /// The places where the keys of the first operand begin: the first gate's, the second's, and so on.
    pub u: [usize; QUAD_LANES],
    /// The same for the second operand.
    pub v: [usize; QUAD_LANES],
}

impl JointRows<'_> {
    /// Loads the blocks at offset `place` from the given places, one for each gate.
    ///
    /// # Panics
    /// If a block does not exist.
    #[inline(always)]
    fn gather<E: Engine>(&self, e: E, from: [usize; QUAD_LANES], place: usize) -> E::Quad {
        let at = each(
            from,
            #[inline(always)]
            |from| std::ptr::from_ref(&self.labels[from + place]),
        );
        // SAFETY: references to blocks are valid for reads and aligned.
        unsafe { e.gather(at) }
    }
}

/// `F(u, v; row, j) = AES-256(u || v, (row, j))`. Assumes only a pseudo-random function, but expands every pair of
/// keys.
///
/// *Source*: Ben-Efraim, Lindell and Omri 2016, section 2.4, first form.
pub struct JointAes256;

/// `F(u, v; row, j) = pi(x) ^ x` with `x = sigma(u ^ 12 v) ^ (row, j)`, see [`combine_keys`].
///
/// *Source*: Ben-Efraim, Lindell and Omri 2016, section 2.4, second form (fixed key), with the tweaks and the key rules of
/// [`Mmo`].
impl<R: KeyRule> JointHash for Mmo<R> {
    type Key<E: Engine> = E::Key;

    /// A gate takes the calls of all parties. If they exceed the limit of a key, each gate gets its own key.
    fn key_period(parties: usize) -> KeyPeriod {
        R::key_period((4 * parties * parties) as u64)
    }

    #[inline(always)]
    fn key<E: Engine>(e: E, seed: Block, period: u64) -> E::Key {
        e.key(R::key(seed, period))
    }

    #[inline(always)]
    fn add_masks<E: Engine>(
        e: E,
        key: &E::Key,
        row: u64,
        count: usize,
        u: &[[Block; QUAD_LANES]],
        v: &[[Block; QUAD_LANES]],
        out: &mut [[Block; QUAD_LANES]],
    ) {
        add_masks(e, key, row, count, u, v, out);
    }

    #[inline(always)]
    fn quad_masks<E: Engine>(e: E, key: &E::Key, four: &JointRows<'_>, out: &mut [[Block; QUAD_LANES]]) {
        quad_masks(e, key, four, out);
    }
}

impl JointHash for JointAes256 {
    type Key<E: Engine> = ();

    fn key_period(_parties: usize) -> KeyPeriod {
        KeyPeriod::UNLIMITED
    }

    #[inline(always)]
    fn key<E: Engine>(_e: E, _seed: Block, _period: u64) {}

    #[inline(always)]
    fn add_masks<E: Engine>(
        _e: E,
        _key: &(),
        row: u64,
        count: usize,
        u: &[[Block; QUAD_LANES]],
        v: &[[Block; QUAD_LANES]],
        out: &mut [[Block; QUAD_LANES]],
    ) {
        for (u, v) in u.as_flattened().iter().zip(v.as_flattened()).take(count) {
            add_aes256(row, *u, *v, out.as_flattened_mut());
        }
    }

    #[inline(always)]
    fn quad_masks<E: Engine>(_e: E, _key: &(), four: &JointRows<'_>, out: &mut [[Block; QUAD_LANES]]) {
        let count = out.len();
        for gate in 0..QUAD_LANES {
            let mut sums = [Block::ZERO; MAX_QUAD_PARTIES];
            let [u, v] = [four.u, four.v].map(|from| &four.labels[from[gate]..][..count]);
            for (u, v) in u.iter().zip(v) {
                add_aes256(four.rows[gate], *u, *v, &mut sums[..count]);
            }
            out.iter_mut().zip(sums).for_each(|(out, sum)| out[gate] = sum);
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

/// [`JointHash::add_masks`] by AES-128 under a given key, compiled for one vector of keys, for up to four, and for all, to clear
/// no more memory than needed.
#[inline(always)]
fn add_masks<E: Engine>(
    e: E,
    key: &E::Key,
    row: u64,
    count: usize,
    u: &[[Block; QUAD_LANES]],
    v: &[[Block; QUAD_LANES]],
    out: &mut [[Block; QUAD_LANES]],
) {
    match u.len() {
        1 => add_masks_of::<E, 1>(e, key, row, count, u, v, out),
        2..=4 => add_masks_of::<E, 4>(e, key, row, count, u, v, out),
        _ => add_masks_of::<E, MAX_QUADS>(e, key, row, count, u, v, out),
    }
}

/// The same for keys in up to `QUADS` vectors. The terms `x` of `pi(x) ^ x` are summed separately: the key's part is
/// the same for all slots, and the tweak cancels unless `count` is odd.
#[inline(always)]
fn add_masks_of<E: Engine, const QUADS: usize>(
    e: E,
    key: &E::Key,
    row: u64,
    count: usize,
    u: &[[Block; QUAD_LANES]],
    v: &[[Block; QUAD_LANES]],
    out: &mut [[Block; QUAD_LANES]],
) {
    let mut keys = [[Block::ZERO; QUAD_LANES]; QUADS];
    for ((keys, u), v) in keys.iter_mut().zip(u).zip(v) {
        *keys = e.store(e.sigma(combine_keys(e, e.load(u), e.load(v))));
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
        let (wide, rest) = keys.as_chunks::<PIPELINE>();
        for keys in wide {
            acc = e.xor(acc, permuted(e, key, &spread(e, keys), tweak));
        }
        acc = match *rest {
            [] => acc,
            [a] => e.xor(acc, permuted(e, key, &spread(e, &[a]), tweak)),
            [a, b] => e.xor(acc, permuted(e, key, &spread(e, &[a, b]), tweak)),
            [a, b, c, ..] => e.xor(acc, permuted(e, key, &spread(e, &[a, b, c]), tweak)),
        };
        *out = e.store(acc);
    }
}

/// [`JointHash::quad_masks`] by AES-128 under a given key, compiled for few keys and for all.
#[inline(always)]
fn quad_masks<E: Engine>(e: E, key: &E::Key, four: &JointRows<'_>, out: &mut [[Block; QUAD_LANES]]) {
    match out.len() {
        2 => masks_of_few::<E, 2>(e, key, four, out),
        3 => masks_of_few::<E, 3>(e, key, four, out),
        4 => masks_of_few::<E, 4>(e, key, four, out),
        count => masks_of_four_by::<E, MAX_QUAD_PARTIES>(
            e,
            key,
            four,
            out,
            #[inline(always)]
            |e, key, keys, tweak| permuted_all(e, key, &keys[..count], tweak),
        ),
    }
}

/// The same for exactly `COUNT` keys.
#[inline(always)]
fn masks_of_few<E: Engine, const COUNT: usize>(
    e: E,
    key: &E::Key,
    four: &JointRows<'_>,
    out: &mut [[Block; QUAD_LANES]],
) {
    masks_of_four_by::<E, COUNT>(
        e,
        key,
        four,
        &mut out[..COUNT],
        #[inline(always)]
        |e, key, keys, tweak| permuted(e, key, keys, tweak),
    );
}

/// The same for at most `MOST` keys, with a function for the sum of `pi(k ^ tweak)` over the keys. Terms are summed separately as
/// in [`add_masks_of`].
#[inline(always)]
fn masks_of_four_by<E: Engine, const MOST: usize>(
    e: E,
    key: &E::Key,
    four: &JointRows<'_>,
    out: &mut [[Block; QUAD_LANES]],
    permuted: impl Fn(E, &E::Key, &[E::Quad; MOST], E::Quad) -> E::Quad,
) {
    let count = out.len();
    let mut keys = [e.splat(Block::ZERO); MOST];
    let mut sum = e.splat(Block::ZERO);
    for (place, of_place) in keys[..count].iter_mut().enumerate() {
        let [u, v] = [four.gather(e, four.u, place), four.gather(e, four.v, place)];
        *of_place = e.sigma(combine_keys(e, u, v));
        sum = e.xor(sum, *of_place);
    }
    let rows = e.load(&each(
        four.rows,
        #[inline(always)]
        |row| Block::from_halves(row, 0),
    ));
    let odd = e.mask(count % 2 == 1);
    for (out, slot) in out.iter_mut().zip(SLOTS.as_flattened()) {
        let tweak = e.xor(rows, e.splat(*slot));
        *out = e.store(e.xor(e.xor_if(odd, sum, tweak), permuted(e, key, &keys, tweak)));
    }
}

/// The sum of `pi(k ^ tweak)` over any number of keys: eight at a time, then four, then one; the processor overlaps these
/// anyway.
#[inline(always)]
fn permuted_all<E: Engine>(e: E, key: &E::Key, keys: &[E::Quad], tweak: E::Quad) -> E::Quad {
    let mut sum = e.splat(Block::ZERO);
    let (eights, mut rest) = keys.as_chunks::<8>();
    for keys in eights {
        sum = e.xor(sum, permuted(e, key, keys, tweak));
    }
    if let Some((keys, others)) = rest.split_first_chunk::<4>() {
        sum = e.xor(sum, permuted(e, key, keys, tweak));
        rest = others;
    }
    for one in rest {
        sum = e.xor(sum, permuted(e, key, &[*one], tweak));
    }
    sum
}

/// Each block in all lanes of a vector.
#[inline(always)]
fn spread<E: Engine, const N: usize>(e: E, blocks: &[Block; N]) -> [E::Quad; N] {
    numbered(
        #[inline(always)]
        |i| e.splat(blocks[i]),
    )
}

/// The sum of `pi(k ^ tweak)` over the keys.
#[inline(always)]
fn permuted<E: Engine, const N: usize>(e: E, key: &E::Key, keys: &[E::Quad; N], tweak: E::Quad) -> E::Quad {
    let x: [[E::Quad; 1]; N] = numbered(
        #[inline(always)]
        |i| [e.xor(keys[i], tweak)],
    );
    let y = e.encrypt(key, x);
    let mut sum = y[0][0];
    for [y] in &y[1..] {
        sum = e.xor(sum, *y);
    }
    sum
}

/// Computes [`RAW_BLOCKS`] double-key hashes `rounds` times, each with its own pair of keys, in batches that fill the
/// AES pipeline: the reference for the measured rate of evaluation.
pub fn raw_joint_hashes(backend: Backend, blocks: &mut [Block; RAW_BLOCKS], rounds: usize) {
    backend.run(RawJointHashes { blocks, rounds });
}

struct RawJointHashes<'a> {
    blocks: &'a mut [Block; RAW_BLOCKS],
    rounds: usize,
}

impl Kernel for RawJointHashes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        let key = e.key(Block::ONES);
        let mut tweak = 0;
        for _ in 0..self.rounds {
            for batch in self.blocks.as_chunks_mut::<{ PIPELINE * QUAD_LANES }>().0 {
                let quads = batch.as_chunks_mut::<QUAD_LANES>().0;
                let mut x = [[e.splat(Block::ZERO)]; PIPELINE];
                for (i, x) in x.iter_mut().enumerate() {
                    let [u, v] = [e.load(&quads[i]), e.load(&quads[(i + 1) % PIPELINE])];
                    let tweak = e.count(tweak + (i * QUAD_LANES) as u64, 1);
                    x[0] = e.xor(e.sigma(combine_keys(e, u, v)), tweak);
                }
                let hashes = mmo(
                    e,
                    x,
                    #[inline(always)]
                    |u| e.encrypt(&key, u),
                );
                for (quad, [hash]) in quads.iter_mut().zip(hashes) {
                    *quad = e.store(hash);
                }
                tweak += (PIPELINE * QUAD_LANES) as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests;
