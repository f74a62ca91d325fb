//! Operations packed into one or two words each.

use super::Op;
use crate::{block::Block, engine::QUAD_LANES};

/// Operations: slots of the operands and of the result, and flags.
pub(super) enum Packed {
    /// From bit 0, 16 bits each: twice `a`, twice `b`, flags, twice `out`. Eight times a doubled slot is the label's offset in bytes;
    /// an address operand can include this factor.
    Narrow(Vec<u64>),
    /// From bit 0, 32 bits each: flags, `a`, `b`, `out`.
    Wide(Vec<[u64; 2]>),
}

/// Bits of the flags, which [`Packed::Narrow`] and [`Packed::Wide`] place differently.
pub(super) const INVERT_A: u32 = 0;
pub(super) const INVERT_B: u32 = 1;
pub(super) const NARROW_FLAGS: u32 = 32;

/// The offsets of an operation's labels in the layout of one copy, in bytes.
#[derive(Clone, Copy)]
pub(super) struct Offsets {
    pub(super) a: usize,
    pub(super) b: usize,
    pub(super) out: usize,
}

impl Packed {
    pub(super) fn new(slot_count: usize, ops: &[Op]) -> Self {
        let flags = |op: &Op| u64::from(op.inverted[0]) << INVERT_A | u64::from(op.inverted[1]) << INVERT_B;
        // Not in an array: its items would be function pointers, and every operation would call them.
        let a = |op: &Op| u64::from(op.a);
        let b = |op: &Op| u64::from(op.b);
        let out = |op: &Op| u64::from(op.out);
        if slot_count <= 1 << 15 {
            let pack = |op: &Op| a(op) << 1 | b(op) << 17 | flags(op) << NARROW_FLAGS | out(op) << 49;
            Packed::Narrow(ops.iter().map(pack).collect())
        } else {
            Packed::Wide(ops.iter().map(|op| [flags(op) | a(op) << 32, b(op) | out(op) << 32]).collect())
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Packed::Narrow(ops) => ops.len(),
            Packed::Wide(ops) => ops.len(),
        }
    }

    /// An operation's offsets and flags.
    #[inline(always)]
    pub(super) fn get(&self, index: usize) -> (Offsets, u64) {
        match self {
            Packed::Narrow(ops) => (narrow_xor(ops[index]), ops[index] >> NARROW_FLAGS),
            Packed::Wide(ops) => (wide(ops[index]), ops[index][0]),
        }
    }

    /// `count` operations from `first` on, one to four, padded to four with the last one, and their flags.
    #[inline(always)]
    pub(super) fn quad(&self, first: usize, count: usize) -> ([Offsets; QUAD_LANES], [u64; QUAD_LANES]) {
        match self {
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

/// One to four items, padded to four with the last one.
#[inline(always)]
pub(super) fn padded<T: Copy>(items: &[T]) -> [T; QUAD_LANES] {
    std::array::from_fn(|lane| items[lane.min(items.len() - 1)])
}

/// The offsets of an XOR operation, loaded together: the least work where nothing else is going on.
#[inline(always)]
pub(super) fn narrow_xor(op: u64) -> Offsets {
    let field = |at: u32| usize::from((op >> at) as u16) * 8;
    Offsets { a: field(0), b: field(16), out: field(48) }
}

/// The offsets of an AND operation, loaded one by one, which leaves the vector units to the hash.
#[inline(always)]
pub(super) fn narrow(op: &u64) -> Offsets {
    let [a, b, _, out]: &[u16; 4] = bytemuck::cast_ref(op);
    let field = |twice_slot: &u16| {
        // SAFETY: the pointer comes from a reference. Volatile, since the compiler would otherwise load all fields of four gates
        // as a vector and then split it.
        usize::from(unsafe { std::ptr::from_ref(twice_slot).read_volatile() }) * 8
    };
    Offsets { a: field(a), b: field(b), out: field(out) }
}

#[inline(always)]
pub(super) fn wide([first, second]: [u64; 2]) -> Offsets {
    let offset = |slot: u64| slot as usize * size_of::<Block>();
    Offsets { a: offset(first >> 32), b: offset(second & 0xffff_ffff), out: offset(second >> 32) }
}
