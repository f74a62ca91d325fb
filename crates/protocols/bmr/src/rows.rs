//! The joint garbled circuit: four rows of a slot per party for every AND gate, and one party's masks on them.
//!
//! *Source*: equation (2) and step 4 of Protocol 3.1. Row `2 alpha + beta` of a gate is for the public values `alpha` and
//! `beta` of its operands; slot `j` of it is party `j`'s label of the output, under the masks of all parties. Rows of the
//! whole circuit follow one another, gate by gate, without padding.

use garblet_garble::joint::{AndGates, Gate, Quad, walk};
use garblet_primitives::{
    Backend, Block, Engine, FixedKey, GateNumber, JointAes256, JointHash, KeyPeriod, MAX_PARTIES, MAX_QUAD_PARTIES,
    QUAD_LANES, Rekeyed,
};

use super::{config::Hash, plan::Plan, secrets::Secrets};

/// Vectors that hold a slot for every party.
pub(super) const MOST_QUADS: usize = MAX_PARTIES / QUAD_LANES;

/// The numbers and hash keys of gates.
#[derive(Clone, Copy)]
pub(super) struct Numbered {
    /// The public seed of hash keys.
    pub(super) seed: Block,
    /// The number of the first gate. *Unique*: no gate number comes twice under one delta.
    pub(super) first: u64,
}

/// The key of a hash while gates are gone through in order.
pub(super) struct Keys<K> {
    numbered: Numbered,
    key_period: KeyPeriod,
    /// The number of gates that share a key.
    period: u64,
    key: K,
    /// Set if the parties are few enough to take four gates side by side.
    fours: bool,
}

impl<K> Keys<K> {
    #[inline(always)]
    pub(super) fn of<E: Engine, H: JointHash<Key<E> = K>>(e: E, numbered: Numbered, parties: usize) -> Self {
        let key_period = H::key_period(parties);
        let GateNumber { period, .. } = key_period.split(numbered.first);
        let key = H::key(e, numbered.seed, period);
        Keys { numbered, key_period, period, key, fours: parties <= MAX_QUAD_PARTIES }
    }

    /// The number of a gate's first row, and the key for it.
    #[inline(always)]
    pub(super) fn of_gate<E: Engine, H: JointHash<Key<E> = K>>(&mut self, e: E, gate: usize) -> (u64, &K) {
        let number = self.numbered.first + gate as u64;
        let GateNumber { period, .. } = self.key_period.split(number);
        if period != self.period {
            self.period = period;
            self.key = H::key(e, self.numbered.seed, period);
        }
        (4 * number, &self.key)
    }

    /// The same for four gates, with the number of the first one, if they can be taken side by side under one key.
    #[inline(always)]
    pub(super) fn of_four<E: Engine, H: JointHash<Key<E> = K>>(&mut self, e: E, gate: usize) -> Option<(u64, &K)> {
        let number = self.numbered.first + gate as u64;
        let [first, last] = [number, number + QUAD_LANES as u64 - 1].map(|gate| self.key_period.split(gate).period);
        (self.fours && first == last).then(|| self.of_gate::<E, H>(e, gate))
    }
}

/// Adds a party's own label of the output and its own masks to `rows`.
///
/// *Shape*: `rows` has [`Plan::row_blocks`] blocks: shares of `delta^j ((lambda_u + alpha)(lambda_v + beta) + lambda_w)`, or
/// zeros. *Cost*: `4 n` hash calls per gate.
pub(super) fn mask(plan: &Plan, secrets: &Secrets, numbered: Numbered, rows: &mut [Block]) {
    match plan.config().hash {
        Hash::Rekeyed => mask_by::<Rekeyed>(plan, secrets, numbered, rows),
        Hash::FixedKey => mask_by::<FixedKey>(plan, secrets, numbered, rows),
        Hash::Aes256 => mask_by::<JointAes256>(plan, secrets, numbered, rows),
    }
}

fn mask_by<H: JointHash>(plan: &Plan, secrets: &Secrets, numbered: Numbered, rows: &mut [Block]) {
    let labels = &secrets.labels.0;
    let inputs = labels[..plan.input_count()].iter().map(|label| [*label; QUAD_LANES]).collect();
    let mut masks = Masks::<H> {
        numbered,
        parties: plan.parties().into(),
        own: secrets.party.0.into(),
        delta: secrets.delta.block(),
        labels: &labels[plan.input_count()..],
        rows,
        masked: vec![[Block::ZERO; QUAD_LANES]; usize::from(plan.parties()).div_ceil(QUAD_LANES)],
        hash: std::marker::PhantomData,
    };
    walk(Backend::detect(), plan.schedule(), 1, inputs, &mut masks);
}

struct Masks<'a, H> {
    numbered: Numbered,
    parties: usize,
    own: usize,
    delta: Block,
    /// This party's zero labels of the gates' outputs.
    labels: &'a [Block],
    rows: &'a mut [Block],
    /// Room for a row.
    masked: Vec<Quad>,
    hash: std::marker::PhantomData<H>,
}

impl<H: JointHash> AndGates for Masks<'_, H> {
    type State<E: Engine> = Keys<H::Key<E>>;

    #[inline(always)]
    fn begin<E: Engine>(&self, e: E) -> Self::State<E> {
        Keys::of::<E, H>(e, self.numbered, self.parties)
    }

    #[inline(always)]
    fn and<E: Engine>(&mut self, e: E, keys: &mut Self::State<E>, gate: Gate<'_>, out: &mut [Quad]) {
        let (first_row, key) = keys.of_gate::<E, H>(e, gate.index);
        let label = self.labels[gate.index];
        let rows = &mut self.rows[4 * self.parties * gate.index..][..4 * self.parties];
        for (row, slots) in rows.chunks_exact_mut(self.parties).enumerate() {
            let [alpha, beta] = [row >> 1 & 1, row & 1].map(|bit| Block::mask(bit == 1) & self.delta);
            let masked = &mut self.masked[..];
            masked.as_flattened_mut()[..self.parties].copy_from_slice(slots);
            masked.as_flattened_mut()[self.own] ^= label;
            let (u, v) = ([gate.a[0][0] ^ alpha; QUAD_LANES], [gate.b[0][0] ^ beta; QUAD_LANES]);
            H::add_masks(e, key, first_row + row as u64, 1, &[u], &[v], masked);
            slots.copy_from_slice(&masked.as_flattened()[..self.parties]);
        }
        out[0] = [label; QUAD_LANES];
    }
}
