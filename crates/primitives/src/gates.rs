//! Gate lists: circuits made ready for labels, and the loop that runs them.
//!
//! The loop is the hot path of garbling and evaluating. It reads and writes label slots without bounds checks, which is
//! sound because [`GateList::new`] has checked every slot number once.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{
    block::Block,
    engine::{Engine, LANES},
};

/// How far a list was run.
#[derive(Clone, Copy, Default)]
pub struct Cursor {
    step: usize,
    /// Whether the step's XOR operations are done.
    in_ands: bool,
    /// AND operations of the step that are done.
    ands_of_step: usize,
    /// XOR and AND operations of the list that are done.
    xors: usize,
    ands: usize,
}

/// XOR and AND operations on label slots, checked and packed.
pub struct GateList {
    slot_count: usize,
    /// Per step so many XOR operations and after them so many independent AND operations.
    steps: Vec<[u32; 2]>,
    xors: Packed,
    ands: Packed,
}

/// Operations: slots of the operands and of the result, and flags.
enum Packed {
    /// From bit 0, 16 bits each: twice `a`, twice `b`, flags, twice `out`. Eight times a doubled slot, which an address may
    /// contain, is the label's distance in bytes.
    Narrow(Vec<u64>),
    /// From bit 0, 32 bits each: flags, `a`, `b`, `out`.
    Wide(Vec<[u64; 2]>),
}

/// One gate: `slots[out]` becomes the XOR or the AND of the operands, which may be inverted before an AND.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// Slot of the first operand.
    pub a: u32,
    /// Slot of the second operand.
    pub b: u32,
    /// Slot of the result.
    pub out: u32,
    /// Whether the operands are inverted. Without meaning for XOR.
    pub inverted: [bool; 2],
}

/// Bits of the flags, which [`Packed::Narrow`] and [`Packed::Wide`] have at different places.
const INVERT_A: u32 = 0;
const INVERT_B: u32 = 1;
const NARROW_FLAGS: u32 = 32;

/// The labels of a component while it runs, in slots; wiped on drop.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
pub struct Slots(Vec<Block>);

impl Slots {
    /// Makes room for a list and puts the inputs into the first slots.
    ///
    /// # Panics
    /// If there are more inputs than slots.
    pub fn begin(&mut self, list: &GateList, inputs: &[Block]) {
        if self.0.len() < list.slot_count {
            // Not resized, which could leave a copy behind.
            self.0.zeroize();
            self.0 = vec![Block::ZERO; list.slot_count];
        }
        self.0[..inputs.len()].copy_from_slice(inputs);
    }

    /// The label in a slot.
    ///
    /// # Panics
    /// If there is no such slot.
    pub fn get(&self, slot: usize) -> Block {
        self.0[slot]
    }
}

/// What is done at AND gates: a garbling scheme's side of [`GateList::run`].
pub trait AndGates<E: Engine> {
    /// Says how many of the next `count` gates may be done before asking again; at least one.
    fn begin(&mut self, e: E, count: usize) -> usize;

    /// The labels of the results of the next `count` gates, at most four. Lanes from `count` on are filled with labels of
    /// the last gate and their results are not used.
    fn quad(&mut self, e: E, count: usize, labels: [E::Quad; 2], inverted: [E::Mask; 2]) -> E::Quad;
}

impl GateList {
    /// Checks and packs operations. `steps` has, per step, the XOR operations that come in order and the AND operations
    /// after them, none of which reads a result of another of its step.
    ///
    /// # Panics
    /// If a slot is not below `slot_count` or the steps do not add up to the operations.
    pub fn new(slot_count: usize, steps: Vec<[u32; 2]>, xors: &[Op], ands: &[Op]) -> Self {
        let count = |kind: usize| steps.iter().map(|step| step[kind] as usize).sum::<usize>();
        assert_eq!([count(0), count(1)], [xors.len(), ands.len()], "operations in steps");
        for op in xors.iter().chain(ands) {
            let top = op.a.max(op.b).max(op.out);
            assert!((top as usize) < slot_count, "slot {top} of {slot_count}");
        }
        GateList { xors: Packed::new(slot_count, xors), ands: Packed::new(slot_count, ands), slot_count, steps }
    }

    /// AND operations.
    pub fn and_count(&self) -> usize {
        match &self.ands {
            Packed::Narrow(ops) => ops.len(),
            Packed::Wide(ops) => ops.len(),
        }
    }

    /// Whether a cursor is at the end of the list.
    pub fn is_done(&self, cursor: &Cursor) -> bool {
        cursor.step == self.steps.len()
    }

    /// Runs gates from `cursor` on until the end of the list or until an AND gate would exceed `limit`; returns how many
    /// AND gates ran.
    #[inline(always)]
    pub fn run<E: Engine, G: AndGates<E>>(
        &self,
        e: E,
        cursor: &mut Cursor,
        slots: &mut Slots,
        limit: usize,
        gates: &mut G,
    ) -> usize {
        assert!(slots.0.len() >= self.slot_count, "slots prepared for another list");
        let mut left = limit;
        while let Some(&[xors, ands]) = self.steps.get(cursor.step) {
            if !cursor.in_ands {
                self.run_xors(cursor.xors, xors as usize, slots);
                cursor.xors += xors as usize;
                cursor.in_ands = true;
            }
            let todo = (ands as usize - cursor.ands_of_step).min(left);
            let mut done = 0;
            while done < todo {
                let now = gates.begin(e, todo - done).clamp(1, todo - done);
                self.run_ands(e, cursor.ands + done, now, slots, gates);
                done += now;
            }
            left -= todo;
            cursor.ands += todo;
            cursor.ands_of_step += todo;
            if cursor.ands_of_step < ands as usize {
                break;
            }
            cursor.step += 1;
            cursor.in_ands = false;
            cursor.ands_of_step = 0;
        }
        limit - left
    }

    #[inline(always)]
    fn run_xors(&self, first: usize, count: usize, slots: &mut Slots) {
        let slots = slots.0.as_mut_ptr();
        match &self.xors {
            Packed::Narrow(ops) => {
                let (groups, rest) = ops[first..first + count].as_chunks::<4>();
                for group in groups {
                    for &op in group {
                        // SAFETY: `new` has checked the operation's slots, and `run` that there are as many.
                        unsafe { run_xor(slots, narrow_xor(op)) }
                    }
                }
                for &op in rest {
                    // SAFETY: as above.
                    unsafe { run_xor(slots, narrow_xor(op)) }
                }
            }
            Packed::Wide(ops) => {
                for &op in &ops[first..first + count] {
                    // SAFETY: as above.
                    unsafe { run_xor(slots, wide(op)) }
                }
            }
        }
    }

    #[inline(always)]
    fn run_ands<E: Engine, G: AndGates<E>>(&self, e: E, first: usize, count: usize, slots: &mut Slots, gates: &mut G) {
        let slots = slots.0.as_mut_ptr();
        let mut done = 0;
        if let Packed::Narrow(ops) = &self.ands {
            for quad in ops[first..first + count].as_chunks::<LANES>().0 {
                let inverted = [e.bit::<{ NARROW_FLAGS + INVERT_A }>(quad), e.bit::<{ NARROW_FLAGS + INVERT_B }>(quad)];
                // SAFETY: `new` has checked the operations' slots, and `run` that there are as many.
                unsafe { run_quad(e, LANES, quad.each_ref().map(narrow), inverted, slots, gates) }
                done += LANES;
            }
        }
        while done < count {
            let now = (count - done).min(LANES);
            let (offsets, flags) = self.and_quad(first + done, now);
            let inverted = [e.bit::<INVERT_A>(&flags), e.bit::<INVERT_B>(&flags)];
            // SAFETY: as above.
            unsafe { run_quad(e, now, offsets, inverted, slots, gates) }
            done += now;
        }
    }

    /// AND operations `first..first + count`, the last again until there are four, and their flags.
    #[inline(always)]
    fn and_quad(&self, first: usize, count: usize) -> ([Offsets; LANES], [u64; LANES]) {
        match &self.ands {
            Packed::Narrow(ops) => {
                let ops = padded(&ops[first..first + count]);
                (ops.each_ref().map(narrow), ops.map(|op| op >> NARROW_FLAGS))
            }
            Packed::Wide(ops) => {
                let ops = padded(&ops[first..first + count]);
                (ops.map(wide), ops.map(|op| op[0]))
            }
        }
    }
}

/// One to four operations, the last again until there are four.
#[inline(always)]
fn padded<T: Copy>(ops: &[T]) -> [T; LANES] {
    std::array::from_fn(|lane| ops[lane.min(ops.len() - 1)])
}

/// Where an operation's labels are: bytes from the first.
#[derive(Clone, Copy)]
struct Offsets {
    a: usize,
    b: usize,
    out: usize,
}

/// The offsets of an XOR operation: loaded together, which is the least work where nothing else is to do.
#[inline(always)]
fn narrow_xor(op: u64) -> Offsets {
    let field = |at: u32| usize::from((op >> at) as u16) * 8;
    Offsets { a: field(0), b: field(16), out: field(48) }
}

/// The offsets of an AND operation: loaded one by one, which leaves the vector units to the hash.
#[inline(always)]
fn narrow(op: &u64) -> Offsets {
    let [a, b, _, out]: &[u16; 4] = bytemuck::cast_ref(op);
    let field = |twice_slot: &u16| {
        // SAFETY: the pointer comes from a reference. Volatile, since the compiler would load all fields of four gates
        // as a vector and take it apart.
        usize::from(unsafe { std::ptr::from_ref(twice_slot).read_volatile() }) * 8
    };
    Offsets { a: field(a), b: field(b), out: field(out) }
}

#[inline(always)]
fn wide([first, second]: [u64; 2]) -> Offsets {
    let offset = |slot: u64| slot as usize * size_of::<Block>();
    Offsets { a: offset(first >> 32), b: offset(second & 0xffff_ffff), out: offset(second >> 32) }
}

/// Runs an XOR operation.
///
/// # Safety
/// The operation's slots exist.
#[inline(always)]
unsafe fn run_xor(slots: *mut Block, at: Offsets) {
    // SAFETY: the caller promises that the slots exist.
    unsafe { *slots.byte_add(at.out) = *slots.byte_add(at.a) ^ *slots.byte_add(at.b) }
}

/// Runs up to four AND gates at the offsets of each lane.
///
/// # Safety
/// The operations' slots exist.
#[inline(always)]
unsafe fn run_quad<E: Engine, G: AndGates<E>>(
    e: E,
    count: usize,
    at: [Offsets; LANES],
    inverted: [E::Mask; 2],
    slots: *mut Block,
    gates: &mut G,
) {
    // SAFETY: the caller promises that the slots exist.
    let labels = unsafe {
        [
            e.gather([0, 1, 2, 3].map(|lane| slots.byte_add(at[lane].a).cast_const())),
            e.gather([0, 1, 2, 3].map(|lane| slots.byte_add(at[lane].b).cast_const())),
        ]
    };
    let out = gates.quad(e, count, labels, inverted);
    // SAFETY: as above.
    unsafe {
        let to = [0, 1, 2, 3].map(|lane| slots.byte_add(at[lane].out));
        if count == LANES {
            e.scatter(out, to);
        } else {
            let labels = e.store(out);
            (0..count).for_each(|lane| *to[lane] = labels[lane]);
        }
    }
}

impl Packed {
    fn new(slot_count: usize, ops: &[Op]) -> Self {
        let flags = |op: &Op| u64::from(op.inverted[0]) << INVERT_A | u64::from(op.inverted[1]) << INVERT_B;
        let [a, b, out] = [|op: &Op| u64::from(op.a), |op: &Op| u64::from(op.b), |op: &Op| u64::from(op.out)];
        if slot_count <= 1 << 15 {
            let pack = |op: &Op| a(op) << 1 | b(op) << 17 | flags(op) << NARROW_FLAGS | out(op) << 49;
            Packed::Narrow(ops.iter().map(pack).collect())
        } else {
            Packed::Wide(ops.iter().map(|op| [flags(op) | a(op) << 32, b(op) | out(op) << 32]).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        backend::{Backend, Kernel},
        prg::Prg,
    };

    /// A made-up AND: the XOR of both labels, with all bits of an inverted operand flipped.
    struct Flip;

    impl<E: Engine> AndGates<E> for Flip {
        #[inline(always)]
        fn begin(&mut self, _e: E, count: usize) -> usize {
            count.min(7)
        }

        #[inline(always)]
        fn quad(&mut self, e: E, _count: usize, [a, b]: [E::Quad; 2], [ia, ib]: [E::Mask; 2]) -> E::Quad {
            let ones = e.splat(Block::ONES);
            e.xor(e.xor_if(ia, a, ones), e.xor_if(ib, e.sigma(b), ones))
        }
    }

    struct Run<'a> {
        list: &'a GateList,
        slots: &'a mut Slots,
        limit: usize,
    }

    impl Kernel for Run<'_> {
        type Output = ();

        #[inline(always)]
        fn run<E: Engine>(self, e: E) {
            let mut cursor = Cursor::default();
            let mut left = self.list.and_count();
            while left > 0 {
                let ran = self.list.run(e, &mut cursor, self.slots, self.limit, &mut Flip);
                assert_eq!(ran, left.min(self.limit));
                left -= ran;
            }
            assert_eq!(self.list.run(e, &mut cursor, self.slots, self.limit, &mut Flip), 0);
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

    fn reference((steps, xors, ands): &Ops, slots: &mut [Block]) {
        let (mut xors, mut ands) = (xors.iter(), ands.iter());
        for step in steps {
            for op in xors.by_ref().take(step[0] as usize) {
                slots[op.out as usize] = slots[op.a as usize] ^ slots[op.b as usize];
            }
            for op in ands.by_ref().take(step[1] as usize) {
                let [a, b] = [slots[op.a as usize], slots[op.b as usize]];
                let [low, high] = b.halves();
                let b = Block::from_halves(high, high ^ low);
                slots[op.out as usize] = a ^ Block::mask(op.inverted[0]) ^ b ^ Block::mask(op.inverted[1]);
            }
        }
    }

    #[test]
    fn lists_run_as_their_operations_say_at_every_cut_on_every_backend() {
        let mut rng = Prg::new(Block::from_u128(5));
        // The third list has more slots than the narrow form can name.
        for half in [50, 1 << 14, 1 + (1 << 14)] {
            for step_count in [0, 1, 12] {
                let ops = random_ops(&mut rng, half, step_count);
                let slot_count = 2 * half as usize;
                let list = GateList::new(slot_count, ops.0.clone(), &ops.1, &ops.2);
                let mut inputs = vec![Block::ZERO; slot_count];
                rng.fill_blocks(&mut inputs);
                let mut expected = inputs.clone();
                reference(&ops, &mut expected);
                for (backend, limit) in
                    Backend::available().into_iter().flat_map(|b| [1, 3, 4, 10, 999].map(|l| (b, l)))
                {
                    let mut slots = Slots::default();
                    slots.begin(&list, &inputs);
                    backend.run(Run { list: &list, slots: &mut slots, limit });
                    // A list without AND gates is run by the last call alone.
                    assert!(slots.0 == expected, "{step_count} steps, cut at {limit}, on {backend}");
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
        Backend::PORTABLE.run(Run { list: &list, slots: &mut Slots::default(), limit: 1 });
    }
}
