//! Up to sixteen instances of a small gate list side by side, each with tables of its own: every operation is done for all
//! of them before the next.
//!
//! Unlike the four copies of [`GateList::run`], whose tables lie gate by gate in one stream, these instances were garbled
//! for themselves and meet only now. More than four hide the latency of chains of gates, of which small circuits consist.

use zeroize::Zeroize;

use super::{
    GateList,
    packed::{INVERT_A, INVERT_B, Offsets},
};
use crate::{
    block::Block,
    engine::{Engine, LANES},
};

/// The most instances that run side by side.
pub const MOST_SIDE_BY_SIDE: usize = 4 * LANES;

/// The labels of instances that run side by side; wiped on drop.
#[derive(Default)]
pub struct WideSlots {
    /// Slot after slot, each with as many vectors as hold the instances.
    quads: Vec<[Block; LANES]>,
    per_slot: usize,
}

/// What is done at AND gates: a garbling scheme's side of [`GateList::run_many`].
pub trait WideGates<E: Engine> {
    /// The labels of the results of AND operation number `and` for the instances from `first` on, at most four. Lanes from
    /// `count` on have labels of no meaning and their results are not used.
    fn quad(
        &mut self,
        e: E,
        and: usize,
        first: usize,
        count: usize,
        labels: [E::Quad; 2],
        inverted: [E::Mask; 2],
    ) -> E::Quad;
}

impl WideSlots {
    /// Makes room for so many instances of a list.
    ///
    /// # Panics
    /// If there are none or more than [`MOST_SIDE_BY_SIDE`].
    pub fn begin(&mut self, list: &GateList, instances: usize) {
        assert!((1..=MOST_SIDE_BY_SIDE).contains(&instances), "{instances} instances side by side");
        self.per_slot = instances.div_ceil(LANES);
        let needed = self.per_slot * list.slot_count;
        if self.quads.len() < needed {
            // Not resized, which could leave a copy behind.
            self.wipe();
            self.quads = vec![[Block::ZERO; LANES]; needed];
        }
    }

    /// Sets the labels of an instance in the slots from `first` on.
    ///
    /// # Panics
    /// If there is no such instance or slot.
    #[inline]
    pub fn put(&mut self, instance: usize, first: usize, labels: impl Iterator<Item = Block>) {
        let lane = instance % LANES;
        let mut quad = first * self.per_slot + instance / LANES;
        for label in labels {
            self.quads[quad][lane] = label;
            quad += self.per_slot;
        }
    }

    /// The label of an instance in a slot.
    ///
    /// # Panics
    /// If there is no such slot.
    #[inline]
    pub fn get(&self, slot: usize, instance: usize) -> Block {
        self.quads[slot * self.per_slot + instance / LANES][instance % LANES]
    }

    fn wipe(&mut self) {
        self.quads.as_flattened_mut().zeroize();
    }
}

impl Drop for WideSlots {
    fn drop(&mut self) {
        self.wipe();
    }
}

/// The slots of an operation.
#[inline(always)]
fn slots_of(at: Offsets) -> [usize; 3] {
    [at.a, at.b, at.out].map(
        #[inline(always)]
        |bytes| bytes / size_of::<Block>(),
    )
}

impl GateList {
    /// Runs the whole list for so many instances side by side.
    ///
    /// # Panics
    /// If the slots were prepared for another list or fewer instances.
    #[inline(always)]
    pub fn run_many<E: Engine, G: WideGates<E>>(&self, e: E, slots: &mut WideSlots, instances: usize, gates: &mut G) {
        let per_slot = instances.div_ceil(LANES);
        let fits = slots.per_slot == per_slot && slots.quads.len() >= per_slot * self.slot_count;
        assert!(fits, "slots prepared for another list");
        let quads = &mut slots.quads[..];
        let (mut xor, mut and) = (0, 0);
        for &[xors, ands] in &self.steps {
            for _ in 0..xors {
                let [a, b, out] = slots_of(self.xors.get(xor).0);
                xor += 1;
                for q in 0..per_slot {
                    let [a, b] = [a, b].map(
                        #[inline(always)]
                        |slot| e.load(&quads[slot * per_slot + q]),
                    );
                    quads[out * per_slot + q] = e.store(e.xor(a, b));
                }
            }
            for _ in 0..ands {
                let (at, flags) = self.ands.get(and);
                let [a, b, out] = slots_of(at);
                let inverted = [INVERT_A, INVERT_B].map(
                    #[inline(always)]
                    |flag| e.mask(flags >> flag & 1 == 1),
                );
                for q in 0..per_slot {
                    let labels = [a, b].map(
                        #[inline(always)]
                        |slot| e.load(&quads[slot * per_slot + q]),
                    );
                    let count = (instances - q * LANES).min(LANES);
                    let result = gates.quad(e, and, q * LANES, count, labels, inverted);
                    quads[out * per_slot + q] = e.store(result);
                }
                and += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        backend::{Backend, Kernel},
        gates::{AndGates, Cursor, Op, Slots},
        prg::Prg,
    };
    use rand_core::Rng;

    /// A made-up AND, the same for one instance at a time and for many.
    struct Mix;

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

    impl<E: Engine> WideGates<E> for Mix {
        #[inline(always)]
        fn quad(
            &mut self,
            e: E,
            _and: usize,
            _first: usize,
            count: usize,
            labels: [E::Quad; 2],
            inverted: [E::Mask; 2],
        ) -> E::Quad {
            assert!((1..=LANES).contains(&count));
            mix(e, labels, inverted)
        }
    }

    struct Wide<'a>(&'a GateList, &'a mut WideSlots, usize);

    impl Kernel for Wide<'_> {
        type Output = ();
        #[inline(always)]
        fn run<E: Engine>(self, e: E) {
            self.0.run_many(e, self.1, self.2, &mut Mix);
        }
    }

    struct Single<'a>(&'a GateList, &'a mut Slots);

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

    #[test]
    fn side_by_side_is_one_by_one_on_every_backend() {
        let mut rng = Prg::new(Block::from_u128(6));
        // The second list has more slots than the narrow form can name.
        for half in [40, 1 + (1 << 14)] {
            let list = list(&mut rng, half);
            let slot_count = 2 * half as usize;
            for (backend, instances) in
                Backend::available().into_iter().flat_map(|b| [1, 3, 4, 5, MOST_SIDE_BY_SIDE].map(|n| (b, n)))
            {
                let mut inputs = vec![vec![Block::ZERO; slot_count]; instances];
                let mut wide = WideSlots::default();
                wide.begin(&list, instances);
                for (i, inputs) in inputs.iter_mut().enumerate() {
                    rng.fill_blocks(inputs);
                    wide.put(i, 0, inputs.iter().copied());
                }
                backend.run(Wide(&list, &mut wide, instances));
                for (i, inputs) in inputs.iter().enumerate() {
                    let mut slots = Slots::default();
                    slots.begin(&list, 1, inputs);
                    backend.run(Single(&list, &mut slots));
                    assert!(
                        (0..slot_count).all(|s| wide.get(s, i) == slots.get(0, s)),
                        "{i} of {instances}, {backend}"
                    );
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "17 instances side by side")]
    fn refuses_too_many_instances() {
        WideSlots::default().begin(&GateList::new(1, Vec::new(), &[], &[]), MOST_SIDE_BY_SIDE + 1);
    }

    #[test]
    #[should_panic(expected = "slots prepared for another list")]
    fn refuses_slots_for_fewer_instances() {
        let list = GateList::new(1, Vec::new(), &[], &[]);
        let mut slots = WideSlots::default();
        slots.begin(&list, 4);
        Backend::PORTABLE.run(Wide(&list, &mut slots, 5));
    }
}
