//! Runs gates: one call per piece of a chunk, compiled for each scheme, hash and processor.

mod batch;

use std::marker::PhantomData;

use garblet_primitives::{
    AndGates, Backend, Block, Cursor, Engine, FixedKey, GateHash, GateList, GateNumber, Kernel, KeyPeriod, Labels,
    Mitccrh, QUAD_LANES, Rekeyed, Sha256Hash, Tmmo,
};

use crate::{
    config::{GarblingConfig, HashKind, SchemeKind},
    lookup::{EvaluateLookup, GarbleLookup, With},
    scheme::{
        EvaluatorKeys, FourRow, GarblerKeys, Grr3, HalfGates, PrivacyFree, Scheme, Table, TableMut, ThreeHalves,
        negation_offsets,
    },
};

pub(crate) use batch::{EvaluateBatch, GarbleBatch, Lanes};

/// The longest table of four gates.
const MAX_QUAD_BYTES: usize = 64 * QUAD_LANES;

/// Gates of one component to run until its end or until `limit` AND gates are done.
pub(crate) struct Piece<'a> {
    pub(crate) gates: &'a GateList,
    pub(crate) cursor: &'a mut Cursor,
    pub(crate) slots: &'a mut Labels,
    pub(crate) limit: usize,
    pub(crate) hash_seed: Block,
    /// Number of the first gate within the garbling.
    pub(crate) first_gate: u64,
}

/// A piece to garble.
pub(crate) struct GarblePiece<'a> {
    pub(crate) piece: Piece<'a>,
    pub(crate) delta: Block,
    /// Key of the garbler's secret randomness.
    pub(crate) secret: Block,
    /// At least as long as the tables of `limit` gates.
    pub(crate) tables: &'a mut [u8],
    pub(crate) controls: &'a mut [u8],
}

/// A piece to evaluate.
pub(crate) struct EvaluatePiece<'a> {
    pub(crate) piece: Piece<'a>,
    /// At least as long as the tables of `limit` gates.
    pub(crate) tables: &'a [u8],
    pub(crate) controls: &'a [u8],
}

/// The functions of a scheme with a hash.
#[derive(Clone, Copy)]
pub(crate) struct SchemeKernels {
    /// Garbles, and returns the number of AND gates.
    pub(crate) garble: fn(Backend, GarblePiece<'_>) -> usize,
    /// Evaluates, and returns the number of AND gates.
    pub(crate) evaluate: fn(Backend, EvaluatePiece<'_>) -> usize,
    /// See [`negation_offsets`].
    pub(crate) negation_offsets: fn(Block) -> [Block; 2],
    /// The number of instances of a program that run as one: one for schemes that are only for comparison.
    pub(crate) copies: usize,
    /// The same for instances garbled by themselves, if compiled.
    pub(crate) batch: Option<BatchKernels>,
    /// Gates under one hash key.
    pub(crate) key_period: KeyPeriod,
    /// The same for components that are tables.
    pub(crate) lookups: LookupKernels,
}

/// The functions that garble and evaluate tables.
#[derive(Clone, Copy)]
pub(crate) struct LookupKernels {
    pub(crate) garble: fn(Backend, GarbleLookup<'_>),
    pub(crate) evaluate: fn(Backend, EvaluateLookup<'_>),
}

/// The functions that garble and evaluate instances side by side.
#[derive(Clone, Copy)]
pub(crate) struct BatchKernels {
    pub(crate) garble: fn(Backend, GarbleBatch<'_>),
    pub(crate) evaluate: fn(Backend, EvaluateBatch<'_>),
}

impl SchemeKernels {
    pub(crate) fn of(config: GarblingConfig) -> Self {
        match config.scheme {
            SchemeKind::HalfGates => Self::of_scheme::<HalfGates>(config.hash),
            SchemeKind::Grr3 => Self::of_scheme::<Grr3>(config.hash),
            SchemeKind::FourRow => Self::reference::<FourRow>(config.hash),
            SchemeKind::PrivacyFree => Self::of_scheme::<PrivacyFree>(config.hash),
            SchemeKind::ThreeHalves => Self::of_scheme::<ThreeHalves>(config.hash),
        }
    }

    fn of_scheme<S: Scheme>(hash: HashKind) -> Self {
        match hash {
            HashKind::Rekeyed => {
                let (batch, lookups) = (Some(BatchKernels::of::<S>()), LookupKernels::of::<Rekeyed>());
                SchemeKernels { batch, lookups, ..Self::side_by_side::<S, Rekeyed>() }
            }
            HashKind::Tmmo => Self::one_by_one::<S, Tmmo>(),
            HashKind::Mitccrh => Self::one_by_one::<S, Mitccrh>(),
            HashKind::FixedKey => Self::side_by_side::<S, FixedKey>(),
            HashKind::Sha256 => Self::portable::<S, Sha256Hash>(),
        }
    }

    /// A scheme that is only for comparison.
    fn reference<S: Scheme>(hash: HashKind) -> Self {
        match hash {
            HashKind::Rekeyed => Self::portable::<S, Rekeyed>(),
            HashKind::Tmmo => Self::portable::<S, Tmmo>(),
            HashKind::Mitccrh => Self::portable::<S, Mitccrh>(),
            HashKind::FixedKey => Self::portable::<S, FixedKey>(),
            HashKind::Sha256 => Self::portable::<S, Sha256Hash>(),
        }
    }

    /// The hashes for which speed matters: four instances side by side have their own loops.
    fn side_by_side<S: Scheme, H: GateHash>() -> Self {
        SchemeKernels {
            garble: |backend, piece| match piece.piece.slots.copies() {
                QUAD_LANES => backend.run(Garble::<S, H, QUAD_LANES>(piece, PhantomData)),
                _ => backend.run(Garble::<S, H, 1>(piece, PhantomData)),
            },
            evaluate: |backend, piece| match piece.piece.slots.copies() {
                QUAD_LANES => backend.run(Evaluate::<S, H, QUAD_LANES>(piece, PhantomData)),
                _ => backend.run(Evaluate::<S, H, 1>(piece, PhantomData)),
            },
            copies: QUAD_LANES,
            ..Self::portable::<S, H>()
        }
    }

    fn one_by_one<S: Scheme, H: GateHash>() -> Self {
        SchemeKernels {
            garble: |backend, piece| backend.run(Garble::<S, H, 1>(piece, PhantomData)),
            evaluate: |backend, piece| backend.run(Evaluate::<S, H, 1>(piece, PhantomData)),
            ..Self::portable::<S, H>()
        }
    }

    /// Compiled for one backend, if others would gain nothing or speed does not matter: every kernel costs compile
    /// time.
    fn portable<S: Scheme, H: GateHash>() -> Self {
        SchemeKernels {
            garble: |_, piece| Backend::PORTABLE.run(Garble::<S, H, 1>(piece, PhantomData)),
            evaluate: |_, piece| Backend::PORTABLE.run(Evaluate::<S, H, 1>(piece, PhantomData)),
            negation_offsets: negation_offsets::<S>,
            copies: 1,
            batch: None,
            key_period: H::key_period(S::CALLS),
            lookups: LookupKernels::portable::<H>(),
        }
    }
}

impl LookupKernels {
    fn of<H: GateHash>() -> Self {
        LookupKernels {
            garble: |backend, lookup| backend.run(With::<_, H>(lookup, PhantomData)),
            evaluate: |backend, lookup| backend.run(With::<_, H>(lookup, PhantomData)),
        }
    }

    /// As [`SchemeKernels::portable`].
    fn portable<H: GateHash>() -> Self {
        LookupKernels {
            garble: |_, lookup| Backend::PORTABLE.run(With::<_, H>(lookup, PhantomData)),
            evaluate: |_, lookup| Backend::PORTABLE.run(With::<_, H>(lookup, PhantomData)),
        }
    }
}

impl BatchKernels {
    fn of<S: Scheme>() -> Self {
        BatchKernels {
            garble: |backend, batch| backend.run(batch::Garble::<S>(batch, PhantomData)),
            evaluate: |backend, batch| backend.run(batch::Evaluate::<S>(batch, PhantomData)),
        }
    }
}

/// The properties of the work at gates that determine where the hash key changes.
pub(crate) trait KeyPeriods {
    /// Gates under one hash key.
    fn key_period() -> KeyPeriod;
}

/// A scheme with a hash.
struct SchemeWithHash<S, H>(PhantomData<(S, H)>);

impl<S: Scheme, H: GateHash> KeyPeriods for SchemeWithHash<S, H> {
    #[inline(always)]
    fn key_period() -> KeyPeriod {
        H::key_period(S::CALLS)
    }
}

/// Numbers gates in order, and says where the hash key changes.
pub(crate) struct GateCounter<K> {
    next: u64,
    key_end: u64,
    kind: PhantomData<K>,
}

impl<K: KeyPeriods> GateCounter<K> {
    #[inline(always)]
    pub(crate) fn new(first: u64) -> Self {
        GateCounter { next: first, key_end: first, kind: PhantomData }
    }

    /// The period of the next gate if a new period begins there.
    #[inline(always)]
    pub(crate) fn new_period(&mut self) -> Option<u64> {
        if self.next < self.key_end {
            return None;
        }
        let GateNumber { period, .. } = K::key_period().split(self.next);
        self.key_end = K::key_period().end(period);
        Some(period)
    }

    /// The next of `count` gates under the same key.
    #[inline(always)]
    pub(crate) fn under_this_key(&self, count: usize) -> usize {
        count.min((self.key_end - self.next) as usize)
    }

    /// Numbers the next gates.
    #[inline(always)]
    pub(crate) fn take(&mut self, count: usize) -> GateNumber {
        let number = K::key_period().split(self.next);
        self.next += count as u64;
        number
    }
}

struct Garble<'a, S, H, const COPIES: usize>(GarblePiece<'a>, PhantomData<(S, H)>);

struct GarbleGates<'a, E: Engine, S, H: GateHash> {
    gates: GateCounter<SchemeWithHash<S, H>>,
    hash_seed: Block,
    negation: E::Quad,
    keys: GarblerKeys<E, H>,
    tables: &'a mut [u8],
    controls: &'a mut [u8],
    last: [u8; MAX_QUAD_BYTES],
}

impl<S: Scheme, H: GateHash, const COPIES: usize> Kernel for Garble<'_, S, H, COPIES> {
    type Output = usize;

    #[inline(always)]
    fn run<E: Engine>(self, e: E) -> usize {
        let GarblePiece { piece, delta, secret, tables, controls } = self.0;
        let [negation, _] = negation_offsets::<S>(delta);
        let mut gates = GateCounter::new(piece.first_gate);
        let keys = GarblerKeys {
            e,
            hash: H::key(e, piece.hash_seed, gates.new_period().unwrap_or_default()),
            delta: e.splat(delta),
            secret: S::RANDOM.then(|| e.key(secret)),
        };
        let negation = e.splat(negation);
        let hash_seed = piece.hash_seed;
        let last = [0; MAX_QUAD_BYTES];
        let mut gates: GarbleGates<'_, E, S, H> =
            GarbleGates { gates, hash_seed, negation, keys, tables, controls, last };
        piece.gates.run::<E, _, COPIES>(e, piece.cursor, piece.slots, piece.limit, &mut gates)
    }
}

impl<E: Engine, S: Scheme, H: GateHash> AndGates<E> for GarbleGates<'_, E, S, H> {
    #[inline(always)]
    fn begin(&mut self, e: E, count: usize) -> usize {
        if let Some(period) = self.gates.new_period() {
            self.keys.hash = H::key(e, self.hash_seed, period);
        }
        self.gates.under_this_key(count)
    }

    #[inline(always)]
    fn quad(&mut self, e: E, count: usize, [a, b]: [E::Quad; 2], [invert_a, invert_b]: [E::Mask; 2]) -> E::Quad {
        let labels = [e.xor_if(invert_a, a, self.negation), e.xor_if(invert_b, b, self.negation)];
        let gate = self.gates.take(count);
        let mut controls = [0; QUAD_LANES];
        let (now, later) = std::mem::take(&mut self.tables).split_at_mut(count * S::TABLE_BYTES);
        self.tables = later;
        // Fewer than four gates go through a table of four.
        let last = &mut self.last[..QUAD_LANES * S::TABLE_BYTES];
        let whole = count == QUAD_LANES;
        let bytes = if whole { &mut *now } else { &mut *last };
        let result = S::garble(&self.keys, gate, labels, TableMut { bytes, controls: &mut controls });
        if !whole {
            now.copy_from_slice(&last[..now.len()]);
        }
        if S::CONTROL_BITS > 0 {
            let (now, later) = std::mem::take(&mut self.controls).split_at_mut(count);
            now.copy_from_slice(&controls[..count]);
            self.controls = later;
        }
        result
    }
}

struct Evaluate<'a, S, H, const COPIES: usize>(EvaluatePiece<'a>, PhantomData<(S, H)>);

struct EvaluateGates<'a, E: Engine, S, H: GateHash> {
    gates: GateCounter<SchemeWithHash<S, H>>,
    hash_seed: Block,
    negation: E::Quad,
    keys: EvaluatorKeys<E, H>,
    tables: &'a [u8],
    controls: &'a [u8],
    last: [u8; MAX_QUAD_BYTES],
}

impl<S: Scheme, H: GateHash, const COPIES: usize> Kernel for Evaluate<'_, S, H, COPIES> {
    type Output = usize;

    #[inline(always)]
    fn run<E: Engine>(self, e: E) -> usize {
        let EvaluatePiece { piece, tables, controls } = self.0;
        let [_, negation] = negation_offsets::<S>(Block::ZERO);
        let mut gates = GateCounter::new(piece.first_gate);
        let keys = EvaluatorKeys { e, hash: H::key(e, piece.hash_seed, gates.new_period().unwrap_or_default()) };
        let negation = e.splat(negation);
        let hash_seed = piece.hash_seed;
        let last = [0; MAX_QUAD_BYTES];
        let mut gates: EvaluateGates<'_, E, S, H> =
            EvaluateGates { gates, hash_seed, negation, keys, tables, controls, last };
        piece.gates.run::<E, _, COPIES>(e, piece.cursor, piece.slots, piece.limit, &mut gates)
    }
}

impl<E: Engine, S: Scheme, H: GateHash> AndGates<E> for EvaluateGates<'_, E, S, H> {
    #[inline(always)]
    fn begin(&mut self, e: E, count: usize) -> usize {
        if let Some(period) = self.gates.new_period() {
            self.keys.hash = H::key(e, self.hash_seed, period);
        }
        self.gates.under_this_key(count)
    }

    #[inline(always)]
    fn quad(&mut self, e: E, count: usize, labels: [E::Quad; 2], [invert_a, invert_b]: [E::Mask; 2]) -> E::Quad {
        let labels = match S::SELECT_IS_VALUE {
            true => [e.xor_if(invert_a, labels[0], self.negation), e.xor_if(invert_b, labels[1], self.negation)],
            false => labels,
        };
        let gate = self.gates.take(count);
        let mut controls = [0; QUAD_LANES];
        if S::CONTROL_BITS > 0 {
            let (now, later) = self.controls.split_at(count);
            controls[..count].copy_from_slice(now);
            self.controls = later;
        }
        let (now, later) = self.tables.split_at(count * S::TABLE_BYTES);
        self.tables = later;
        // Fewer than four gates go through a table of four.
        let last = &mut self.last[..QUAD_LANES * S::TABLE_BYTES];
        let bytes = if count == QUAD_LANES {
            now
        } else {
            last[..now.len()].copy_from_slice(now);
            last
        };
        S::evaluate(&self.keys, gate, labels, Table { bytes, controls })
    }
}
