use super::*;
use crate::{backend::Backend, block::Block, kernel::Kernel, prg::Prg};

/// A stand-in for AND: the XOR of both labels, with all bits of an inverted operand flipped, and of the gate's number.
#[derive(Default)]
struct Flip {
    next: u64,
}

impl<E: Engine> AndGates<E> for Flip {
    #[inline(always)]
    fn begin(&mut self, _e: E, count: usize) -> usize {
        count.min(7)
    }

    #[inline(always)]
    fn quad(&mut self, e: E, count: usize, [a, b]: [E::Quad; 2], [ia, ib]: [E::Mask; 2]) -> E::Quad {
        let ones = e.splat(Block::ONES);
        let number = e.count(self.next, 1);
        self.next += count as u64;
        e.xor3(e.xor_if(ia, a, ones), e.xor_if(ib, e.sigma(b), ones), number)
    }
}

struct Run<'a> {
    list: &'a GateList,
    slots: &'a mut Labels,
    limit: usize,
}

impl Kernel for Run<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        match self.slots.copies() {
            QUAD_LANES => self.run_copies::<E, QUAD_LANES>(e),
            _ => self.run_copies::<E, 1>(e),
        }
    }
}

impl Run<'_> {
    #[inline(always)]
    fn run_copies<E: Engine, const COPIES: usize>(self, e: E) {
        let (mut cursor, mut gates) = (Cursor::default(), Flip::default());
        let mut left = self.list.and_count() * self.slots.copies();
        while left > 0 {
            let ran = self.list.run::<E, Flip, COPIES>(e, &mut cursor, self.slots, self.limit, &mut gates);
            assert_eq!(ran, left.min(self.limit));
            left -= ran;
        }
        // The last call alone runs a list without AND gates.
        assert_eq!(self.list.run::<E, Flip, COPIES>(e, &mut cursor, self.slots, self.limit, &mut gates), 0);
        assert!(self.list.is_done(&cursor));
    }
}

type Ops = (Vec<[u32; 2]>, Vec<Op>, Vec<Op>);

/// Random steps over slots: operands below `half`, results of AND gates above it.
fn random_ops(rng: &mut Prg, half: u32, step_count: usize) -> Ops {
    use rand_core::Rng;
    let (mut steps, mut xors, mut ands) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..step_count {
        let step = [rng.next_u32() % 9, rng.next_u32() % 20];
        for _ in 0..step[0] {
            let [a, b, out] = [(); 3].map(|()| rng.next_u32() % (2 * half));
            xors.push(Op { a, b, out, inverted: [false; 2] });
        }
        for i in 0..step[1] {
            let [a, b, flags] = [rng.next_u32() % half, rng.next_u32() % half, rng.next_u32()];
            ands.push(Op { a, b, out: half + i, inverted: [flags & 1 == 1, flags & 2 == 2] });
        }
        steps.push(step);
    }
    (steps, xors, ands)
}

/// Runs copy number `copy` of `copies`.
fn reference((steps, xors, ands): &Ops, copy: usize, copies: usize, slots: &mut [Block]) {
    let (mut xors, mut ands) = (xors.iter(), ands.iter().enumerate());
    for step in steps {
        for op in xors.by_ref().take(step[0] as usize) {
            slots[op.out as usize] = slots[op.a as usize] ^ slots[op.b as usize];
        }
        for (i, op) in ands.by_ref().take(step[1] as usize) {
            let [a, b] = [slots[op.a as usize], slots[op.b as usize]];
            let [low, high] = b.halves();
            let b = Block::from_halves(high, high ^ low);
            let number = Block::from_u128((i * copies + copy) as u128);
            slots[op.out as usize] = a ^ Block::mask(op.inverted[0]) ^ b ^ Block::mask(op.inverted[1]) ^ number;
        }
    }
}

#[test]
fn lists_run_as_their_operations_say_at_every_cut_on_every_backend() {
    let mut rng = Prg::new(Block::from_u128(5));
    // The third list has more slots than the narrow form can address.
    for half in [50, 1 << 14, 1 + (1 << 14)] {
        for (step_count, copies) in [0, 1, 12].into_iter().flat_map(|n| [1, QUAD_LANES].map(|c| (n, c))) {
            let ops = random_ops(&mut rng, half, step_count);
            let slot_count = 2 * half as usize;
            let list = GateList::new(slot_count, ops.0.clone(), &ops.1, &ops.2);
            let mut inputs = vec![Block::ZERO; slot_count * copies];
            rng.fill_blocks(&mut inputs);
            let mut expected = inputs.clone();
            for (copy, slots) in expected.chunks_exact_mut(slot_count).enumerate() {
                reference(&ops, copy, copies, slots);
            }
            for (backend, limit) in Backend::available().into_iter().flat_map(|b| [1, 3, 4, 10, 999].map(|l| (b, l))) {
                let mut slots = Labels::default();
                slots.begin(&list, copies, &inputs);
                backend.run(Run { list: &list, slots: &mut slots, limit });
                let got = (0..copies).flat_map(|copy| (0..slot_count).map(move |slot| (copy, slot)));
                let same = got.zip(&expected).all(|((copy, slot), expected)| slots.get(copy, slot) == *expected);
                assert!(same, "{copies} copies of {step_count} steps, cut at {limit}, on {backend}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "slot 3 of 3")]
fn refuses_a_slot_out_of_range() {
    GateList::new(3, vec![[1, 0]], &[Op { a: 0, b: 1, out: 3, inverted: [false; 2] }], &[]);
}

#[test]
#[should_panic(expected = "operations in steps")]
fn refuses_steps_that_do_not_add_up() {
    GateList::new(3, vec![[1, 1]], &[Op { a: 0, b: 1, out: 2, inverted: [false; 2] }], &[]);
}

#[test]
#[should_panic(expected = "slots prepared for another list")]
fn refuses_slots_that_are_too_few() {
    let list = GateList::new(3, vec![[1, 0]], &[Op { a: 0, b: 1, out: 2, inverted: [false; 2] }], &[]);
    Backend::PORTABLE.run(Run { list: &list, slots: &mut Labels::default(), limit: 1 });
}
