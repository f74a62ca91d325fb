//! The constructions of all hashes here: a permutation, plus its input or a tweak.
//!
//! `pi` is AES-128 under keys that the caller's rule picks: one key for all blocks, or one for each.

use std::marker::PhantomData;

use crate::{block::Block, engine::Engine, gate_number::KeyPeriod};

/// The hash `pi(u) ^ u` with `u = sigma(x) ^ tweak`, where `pi` is AES-128 under the keys of a rule.
///
/// *Source*: Guo, Katz, Wang and Yu 2020, section 7.3.
pub struct Mmo<R>(PhantomData<R>);

/// The default: [`Mmo`] under a key that changes as gates are garbled.
pub type Rekeyed = Mmo<PerPeriod>;

/// [`Mmo`] under one fixed key. Only for reproducing measurements: security decays with the number of gates that
/// anybody garbles.
///
/// *Source*: Bellare, Hoang, Keelveedhi and Rogaway 2013.
pub type FixedKey = Mmo<Constant>;

/// The rule for the keys of a hash that uses one key for many gates.
pub trait KeyRule {
    /// The most calls under one key, if limited.
    const MAX_CALLS: Option<u64>;

    /// The key of a period.
    fn key(seed: Block, period: u64) -> Block;

    /// The gates, of `calls` hash calls each, that share one key.
    #[inline(always)]
    fn key_period(calls: u64) -> KeyPeriod {
        match Self::MAX_CALLS {
            Some(max_calls) => KeyPeriod::of_calls(max_calls, calls),
            None => KeyPeriod::UNLIMITED,
        }
    }
}

/// A key that changes after at most 4,096 calls, `seed ^ period`: the table attack on a fixed key gains at most this factor, 12
/// bits.
///
/// *Source*: Guo, Katz, Wang, Weng and Yu 2020 (the attack).
pub struct PerPeriod;

/// One fixed key, the same for everybody.
pub struct Constant;

impl KeyRule for PerPeriod {
    const MAX_CALLS: Option<u64> = Some(4096);

    #[inline(always)]
    fn key(seed: Block, period: u64) -> Block {
        seed ^ Block::from_halves(period, 0)
    }
}

impl KeyRule for Constant {
    const MAX_CALLS: Option<u64> = None;

    #[inline(always)]
    fn key(_seed: Block, _period: u64) -> Block {
        Block::from_bytes(*b"garblet fixedkey")
    }
}

/// `pi(u) ^ u` (Matyas, Meyer and Oseas).
#[inline(always)]
pub(crate) fn mmo<E: Engine, const N: usize, const P: usize>(
    e: E,
    u: [[E::Quad; P]; N],
    pi: impl FnOnce([[E::Quad; P]; N]) -> [[E::Quad; P]; N],
) -> [[E::Quad; P]; N] {
    let mut out = pi(u);
    add(e, &mut out, &u);
    out
}

/// `pi(pi(x) ^ i) ^ pi(x)` under one key, where `add_tweaks` adds `i`.
///
/// *Source*: Guo, Katz, Wang and Yu 2020, section 7.4 (TMMO).
#[inline(always)]
pub(crate) fn tmmo<E: Engine, const N: usize, const P: usize>(
    e: E,
    key: &E::Key,
    x: [[E::Quad; P]; N],
    add_tweaks: impl FnOnce(&mut [[E::Quad; P]; N]),
) -> [[E::Quad; P]; N] {
    let once = e.encrypt(key, x);
    let mut tweaked = once;
    add_tweaks(&mut tweaked);
    let mut out = e.encrypt(key, tweaked);
    add(e, &mut out, &once);
    out
}

/// Adds `y` to `x`.
#[inline(always)]
fn add<E: Engine, const N: usize, const P: usize>(e: E, x: &mut [[E::Quad; P]; N], y: &[[E::Quad; P]; N]) {
    for (x, y) in x.as_flattened_mut().iter_mut().zip(y.as_flattened()) {
        *x = e.xor(*x, *y);
    }
}
