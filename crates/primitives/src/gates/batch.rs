//! Instances of small gate lists side by side, each with its own tables. Every operation of a list runs for up to
//! 32 instances before the next operation, and up to four lists take turns step by step.
//!
//! The four copies of [`GateList::run`] share one stream of tables, gate by gate. These instances were garbled separately
//! and are combined only here. Running more than four instances, and other lists between the steps of one, hides the latency of
//! chains of gates, which make up most of a small circuit.

mod gather;

use zeroize::Zeroize;

pub use self::gather::{Gather, Sources};
use super::{
    GateList,
    labels::Line,
    packed::{INVERT_A, INVERT_B},
    quad::lines_of,
};
use crate::{
    block::Block,
    engine::{Engine, QUAD_LANES, each},
};

/// The most instances of a list that run side by side.
pub const MAX_BATCH: usize = 8 * QUAD_LANES;

/// The most lists that take turns.
pub const MAX_INTERLEAVED: usize = QUAD_LANES;

/// The labels of instances that run side by side; wiped on drop.
#[derive(Default)]
pub struct BatchLabels {
    /// List after list, slot after slot; each slot has as many vectors as the instances need.
    quads: Vec<Line>,
    regions: Vec<Region>,
}

/// The place of a list's labels.
#[derive(Clone, Copy)]
struct Region {
    first: usize,
    slot_count: usize,
    instances: usize,
    per_slot: usize,
}

/// The numbers of completed operations of a list.
#[derive(Clone, Copy, Default)]
struct Done {
    xors: usize,
    ands: usize,
}

/// The work at AND gates: the garbling scheme's side of [`GateList::run_batch`].
pub trait BatchGates<E: Engine> {
    /// The keys that all gates need, extracted once per step so that they stay in registers.
    type Keys;

    /// See [`BatchGates::Keys`].
    fn keys(&self) -> Self::Keys;

    /// The result labels of AND operation number `and` for up to four instances from `first` on. Lanes from
    /// `count` on hold meaningless labels, and their results are ignored.
    fn quad(
        &mut self,
        keys: &Self::Keys,
        and: usize,
        first: usize,
        count: usize,
        labels: [E::Quad; 2],
        inverted: [E::Mask; 2],
    ) -> E::Quad;
}

impl BatchLabels {
    /// Makes room for lists with this many instances of each.
    ///
    /// # Panics
    /// If a list has no instances or more than [`MAX_BATCH`].
    pub fn begin<'a>(&mut self, lists: impl Iterator<Item = (&'a GateList, usize)>) {
        self.regions.clear();
        let mut first = 0;
        for (list, instances) in lists {
            assert!((1..=MAX_BATCH).contains(&instances), "{instances} instances side by side");
            let region =
                Region { first, slot_count: list.slot_count, instances, per_slot: instances.div_ceil(QUAD_LANES) };
            first += region.quads();
            self.regions.push(region);
        }
        self.make_room(first);
    }

    /// Reserves room for lists that have at most as many slots as this one, and this many vectors per slot in all.
    pub fn reserve(&mut self, list: &GateList, vectors: usize) {
        self.make_room(list.slot_count * vectors);
    }

    fn make_room(&mut self, quads: usize) {
        if self.quads.len() < quads {
            // Do not resize, which could leave a copy behind.
            self.wipe();
            self.quads = vec![Line([Block::ZERO; QUAD_LANES]); quads];
        }
    }

    /// Sets the labels of an instance of a list in the slots from `first` on.
    ///
    /// # Panics
    /// If there is no such instance or slot.
    #[inline]
    pub fn put(&mut self, list: usize, instance: usize, first: usize, labels: impl Iterator<Item = Block>) {
        let (quads, per_slot) = self.of_list(list);
        let (mut quad, lane) = (first * per_slot + instance / QUAD_LANES, instance % QUAD_LANES);
        for label in labels {
            quads[quad].0[lane] = label;
            quad += per_slot;
        }
    }

    /// The labels of a list slot by slot, and the number of labels per slot; the instances' labels come first.
    ///
    /// # Panics
    /// If there is no such list.
    #[inline]
    pub fn labels(&self, list: usize) -> (&[Block], usize) {
        let region = self.regions[list];
        (bytemuck::cast_slice(&self.quads[region.first..][..region.quads()]), region.per_slot * QUAD_LANES)
    }

    /// The vectors of a list, and the number of vectors per slot.
    #[inline(always)]
    fn of_list(&mut self, list: usize) -> (&mut [Line], usize) {
        let region = self.regions[list];
        (&mut self.quads[region.first..][..region.quads()], region.per_slot)
    }

    fn wipe(&mut self) {
        self.quads.zeroize();
    }
}

impl Drop for BatchLabels {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl Region {
    fn quads(&self) -> usize {
        self.slot_count * self.per_slot
    }
}

impl GateList {
    /// Runs whole lists for the instances that the slots were prepared for, in turn step by step. Each list comes with the work at
    /// its gates.
    ///
    /// # Panics
    /// If the slots were prepared for other lists, or there are more than [`MAX_INTERLEAVED`].
    #[inline(always)]
    pub fn run_batch<E: Engine, G: BatchGates<E>>(e: E, slots: &mut BatchLabels, lists: &mut [Option<(&GateList, G)>]) {
        let mut done = [Done::default(); MAX_INTERLEAVED];
        assert!(lists.len() <= MAX_INTERLEAVED, "{} lists in turn", lists.len());
        let most = lists.iter().flatten().map(|(list, _)| list.steps.len()).max().unwrap_or(0);
        for step in 0..most {
            for (number, (list, done)) in lists.iter_mut().zip(&mut done).enumerate() {
                if let Some((list, gates)) = list {
                    list.run_step(e, step, (slots, number), done, gates);
                }
            }
        }
    }

    #[inline(always)]
    fn run_step<E: Engine, G: BatchGates<E>>(
        &self,
        e: E,
        step: usize,
        (slots, number): (&mut BatchLabels, usize),
        done: &mut Done,
        gates: &mut G,
    ) {
        let Some(&[xors, ands]) = self.steps.get(step) else { return };
        let Region { instances, per_slot, slot_count, .. } = slots.regions[number];
        assert_eq!(slot_count, self.slot_count, "slots prepared for another list");
        let quads = slots.of_list(number).0.as_mut_ptr();
        for xor in done.xors..done.xors + xors as usize {
            // SAFETY: `new` has checked the operations' slots, each of which has `per_slot` vectors in the list's region.
            unsafe {
                let [a, b, out] = lines_of(self.xors.get(xor).0, quads, per_slot);
                for q in 0..per_slot {
                    (*out.add(q)).0 = e.store(e.xor(e.load(&(*a.add(q)).0), e.load(&(*b.add(q)).0)));
                }
            }
        }
        if ands > 0 {
            let keys = gates.keys();
            for and in done.ands..done.ands + ands as usize {
                let (at, flags) = self.ands.get(and);
                let inverted = each(
                    [INVERT_A, INVERT_B],
                    #[inline(always)]
                    |flag| e.mask(flags >> flag & 1 == 1),
                );
                // SAFETY: as above.
                unsafe {
                    let [a, b, out] = lines_of(at, quads, per_slot);
                    for q in 0..per_slot {
                        let labels = [e.load(&(*a.add(q)).0), e.load(&(*b.add(q)).0)];
                        let count = (instances - q * QUAD_LANES).min(QUAD_LANES);
                        let result = gates.quad(&keys, and, q * QUAD_LANES, count, labels, inverted);
                        (*out.add(q)).0 = e.store(result);
                    }
                }
            }
        }
        done.xors += xors as usize;
        done.ands += ands as usize;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        backend::Backend,
        gates::{AndGates, Cursor, Labels, Op},
        kernel::Kernel,
        prg::Prg,
    };
    use rand_core::Rng;

    /// A stand-in for AND, equal for one instance at a time and for many.
    struct Mix;

    /// The stand-in for many instances.
    struct MixMany<E>(E);

    #[inline(always)]
    fn mix<E: Engine>(e: E, [a, b]: [E::Quad; 2], [ia, ib]: [E::Mask; 2]) -> E::Quad {
        let ones = e.splat(Block::ONES);
        e.xor(e.xor_if(ia, a, ones), e.sigma(e.xor_if(ib, b, ones)))
    }

    impl<E: Engine> AndGates<E> for Mix {
        #[inline(always)]
        fn begin(&mut self, _e: E, count: usize) -> usize {
            count
        }
        #[inline(always)]
        fn quad(&mut self, e: E, _count: usize, labels: [E::Quad; 2], inverted: [E::Mask; 2]) -> E::Quad {
            mix(e, labels, inverted)
        }
    }

    impl<E: Engine> BatchGates<E> for MixMany<E> {
        type Keys = E;

        #[inline(always)]
        fn keys(&self) -> E {
            self.0
        }

        #[inline(always)]
        fn quad(
            &mut self,
            e: &E,
            _and: usize,
            _first: usize,
            count: usize,
            labels: [E::Quad; 2],
            inverted: [E::Mask; 2],
        ) -> E::Quad {
            assert!((1..=QUAD_LANES).contains(&count));
            mix(*e, labels, inverted)
        }
    }

    struct Wide<'a>(&'a [&'a GateList], &'a mut BatchLabels);

    impl Kernel for Wide<'_> {
        type Output = ();
        #[inline(always)]
        fn run<E: Engine>(self, e: E) {
            let mut lists: Vec<_> = self.0.iter().map(|list| Some((*list, MixMany(e)))).collect();
            GateList::run_batch(e, self.1, &mut lists);
        }
    }

    struct Single<'a>(&'a GateList, &'a mut Labels);

    impl Kernel for Single<'_> {
        type Output = ();
        #[inline(always)]
        fn run<E: Engine>(self, e: E) {
            self.0.run::<E, _, 1>(e, &mut Cursor::default(), self.1, usize::MAX, &mut Mix);
        }
    }

    fn list(rng: &mut Prg, half: u32) -> GateList {
        let (mut steps, mut xors, mut ands) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..8 {
            let step = [rng.next_u32() % 9, rng.next_u32() % 20];
            let mut slot = |below: u32| rng.next_u32() % below;
            xors.extend((0..step[0]).map(|_| Op {
                a: slot(2 * half),
                b: slot(2 * half),
                out: slot(2 * half),
                inverted: [false; 2],
            }));
            ands.extend((0..step[1]).map(|i| {
                let (a, b, flags) = (slot(half), slot(half), slot(4));
                Op { a, b, out: half + i, inverted: [flags & 1 == 1, flags & 2 == 2] }
            }));
            steps.push(step);
        }
        GateList::new(2 * half as usize, steps, &xors, &ands)
    }

    /// Gathers labels into slots.
    struct Gathers<'a>(&'a mut BatchLabels, &'a [(usize, Gather)], [&'a [Block]; 2]);

    impl Kernel for Gathers<'_> {
        type Output = ();
        #[inline(always)]
        fn run<E: Engine>(self, e: E) {
            for (list, gather) in self.1 {
                self.0.gather(e, *list, gather, self.2[0], self.2[1]);
            }
        }
    }

    fn random_blocks(rng: &mut Prg, count: usize) -> Vec<Block> {
        let mut blocks = vec![Block::ZERO; count];
        rng.fill_blocks(&mut blocks);
        blocks
    }

    /// The label of an instance.
    fn at(wide: &BatchLabels, list: usize, slot: usize, instance: usize) -> Block {
        let (labels, per_slot) = wide.labels(list);
        labels[slot * per_slot + instance]
    }

    /// Runs this many instances of each list, and compares with running them one by one.
    fn check(backend: Backend, lists: &[(&GateList, usize)], rng: &mut Prg) {
        let mut wide = BatchLabels::default();
        wide.begin(lists.iter().copied());
        let mut inputs: Vec<Vec<Vec<Block>>> = Vec::new();
        for (number, (list, instances)) in lists.iter().enumerate() {
            inputs.push((0..*instances).map(|_| random_blocks(rng, list.slot_count)).collect());
            for (i, inputs) in inputs[number].iter().enumerate() {
                wide.put(number, i, 0, inputs.iter().copied());
            }
        }
        let only: Vec<&GateList> = lists.iter().map(|(list, _)| *list).collect();
        backend.run(Wide(&only, &mut wide));
        for (number, ((list, _), inputs)) in lists.iter().zip(&inputs).enumerate() {
            for (i, inputs) in inputs.iter().enumerate() {
                let mut slots = Labels::default();
                slots.begin(list, 1, inputs);
                backend.run(Single(list, &mut slots));
                let same = |slot| at(&wide, number, slot, i) == slots.get(0, slot);
                assert!((0..list.slot_count).all(same), "{i} of list {number}, {backend}");
            }
        }
    }

    #[test]
    fn side_by_side_is_one_by_one_on_every_backend() {
        let mut rng = Prg::new(Block::from_u128(6));
        // The second list has more slots than the narrow form can address.
        for half in [40, 1 + (1 << 14)] {
            let list = list(&mut rng, half);
            for backend in Backend::available() {
                for instances in [1, 3, 4, 5, MAX_BATCH] {
                    check(backend, &[(&list, instances)], &mut rng);
                }
            }
        }
    }

    #[test]
    fn lists_in_turn_are_one_by_one_on_every_backend() {
        let mut rng = Prg::new(Block::from_u128(7));
        let [a, b, c] = [30, 40, 50].map(|half| list(&mut rng, half));
        let short = GateList::new(2, vec![[0, 1]], &[], &[Op { a: 0, b: 1, out: 1, inverted: [false; 2] }]);
        for backend in Backend::available() {
            check(backend, &[(&a, 16), (&b, 1), (&c, 6), (&a, 3)], &mut rng);
            check(backend, &[(&short, 5), (&b, 16), (&short, 1)], &mut rng);
        }
    }

    #[test]
    fn feeds_put_labels_and_sums_into_slots_on_every_backend() {
        let mut rng = Prg::new(Block::from_u128(8));
        let (labels, added) = (random_blocks(&mut rng, 50), random_blocks(&mut rng, 50));
        let list = GateList::new(9, Vec::new(), &[], &[]);
        let (from, stride, add) = ([0, 7, 11, 45], [1, 3, 0, 1], [8, 45, 1, 2]);
        let plain =
            Gather { quad: 0, slot: 1, len: 3, from: Sources::Strided([40, 3, 3, 20], [1; QUAD_LANES]), add: None };
        let sum = Gather { quad: 1, slot: 4, len: 5, from: Sources::Strided(from, stride), add: Some(add) };
        for backend in Backend::available() {
            let mut wide = BatchLabels::default();
            wide.begin([(&list, 1), (&list, 8)].into_iter());
            backend.run(Gathers(&mut wide, &[(0, plain), (1, sum)], [&labels, &added]));
            for i in 0..3 {
                assert!(at(&wide, 0, 1 + i, 0) == labels[40 + i], "{backend}");
            }
            for (lane, i) in (0..QUAD_LANES).flat_map(|lane| (0..5).map(move |i| (lane, i))) {
                let expected = labels[from[lane] as usize + i * stride[lane] as usize] ^ added[add[lane] as usize + i];
                assert!(at(&wide, 1, 4 + i, QUAD_LANES + lane) == expected, "{backend}");
            }
        }
    }

    #[test]
    fn feeds_of_adjacent_labels_equal_feeds_of_scattered_labels() {
        let mut rng = Prg::new(Block::from_u128(9));
        let labels = random_blocks(&mut rng, 40);
        let list = GateList::new(6, Vec::new(), &[], &[]);
        for (backend, reversed) in Backend::available().into_iter().flat_map(|b| [(b, false), (b, true)]) {
            for add in [None, Some([0, 5, 20, 21])] {
                let from = Sources::Contiguous { first: 3, stride: 7, reversed };
                let order = if reversed { [6, 5, 4, 3] } else { [3, 4, 5, 6] };
                assert_eq!(from.of_first(), (order[0] as usize, 7));
                let gather = Gather { quad: 1, slot: 0, len: 5, from, add };
                let apart = Gather { from: Sources::Strided(order, [7; QUAD_LANES]), ..gather };
                let mut wide = BatchLabels::default();
                wide.begin([(&list, 8), (&list, 8)].into_iter());
                backend.run(Gathers(&mut wide, &[(0, gather), (1, apart)], [&labels, &labels]));
                let same = |slot: usize, lane: usize| at(&wide, 0, slot, 4 + lane) == at(&wide, 1, slot, 4 + lane);
                assert!((0..5).all(|slot| (0..QUAD_LANES).all(|lane| same(slot, lane))), "{backend}");
                let first = labels[order[0] as usize] ^ add.map_or(Block::ZERO, |add| labels[add[0] as usize]);
                assert!(at(&wide, 0, 0, 4) == first, "{backend}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "33 instances side by side")]
    fn refuses_too_many_instances() {
        let list = GateList::new(1, Vec::new(), &[], &[]);
        BatchLabels::default().begin(std::iter::once((&list, MAX_BATCH + 1)));
    }

    #[test]
    #[should_panic(expected = "slots prepared for another list")]
    fn refuses_slots_of_another_list() {
        let [list, other] = [3, 4].map(|slots| GateList::new(slots, vec![[0, 0]], &[], &[]));
        let mut slots = BatchLabels::default();
        slots.begin(std::iter::once((&list, 4)));
        Backend::PORTABLE.run(Wide(&[&other], &mut slots));
    }
}
