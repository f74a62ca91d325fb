//! One copy of a list: a slot is a label, and the labels of four AND gates are gathered from arbitrary places.

use std::ops::Range;

use super::{
    AndGates, Labels,
    packed::{INVERT_A, INVERT_B, NARROW_FLAGS, Offsets, Packed, narrow, narrow_xor, wide},
};
use crate::{
    block::Block,
    engine::{Engine, QUAD_LANES},
};

/// Runs the operations of a range.
///
/// # Safety
/// The operations' slots exist.
#[inline(always)]
pub(super) unsafe fn run_xors(ops: &Packed, range: Range<usize>, slots: &mut Labels) {
    let slots = slots.labels();
    match ops {
        Packed::Narrow(ops) => {
            let (groups, rest) = ops[range].as_chunks::<4>();
            for group in groups {
                for &op in group {
                    // SAFETY: the caller promises that the slots exist.
                    unsafe { run_xor(slots, narrow_xor(op)) }
                }
            }
            for &op in rest {
                // SAFETY: as above.
                unsafe { run_xor(slots, narrow_xor(op)) }
            }
        }
        Packed::Wide(ops) => {
            for &op in &ops[range] {
                // SAFETY: as above.
                unsafe { run_xor(slots, wide(op)) }
            }
        }
    }
}

/// Runs the gates of a range.
///
/// # Safety
/// The operations' slots exist.
#[inline(always)]
pub(super) unsafe fn run_ands<E: Engine, G: AndGates<E>>(
    e: E,
    ops: &Packed,
    range: Range<usize>,
    slots: &mut Labels,
    gates: &mut G,
) {
    let slots = slots.labels();
    let mut next = range.start;
    if let Packed::Narrow(ops) = ops {
        for quad in ops[range.clone()].as_chunks::<QUAD_LANES>().0 {
            let inverted = [e.bit::<{ NARROW_FLAGS + INVERT_A }>(quad), e.bit::<{ NARROW_FLAGS + INVERT_B }>(quad)];
            // SAFETY: the caller promises that the slots exist.
            unsafe { run_quad(e, QUAD_LANES, quad.each_ref().map(narrow), inverted, slots, gates) }
            next += QUAD_LANES;
        }
    }
    while next < range.end {
        let now = (range.end - next).min(QUAD_LANES);
        let (offsets, flags) = ops.quad(next, now);
        let inverted = [e.bit::<INVERT_A>(&flags), e.bit::<INVERT_B>(&flags)];
        // SAFETY: as above.
        unsafe { run_quad(e, now, offsets, inverted, slots, gates) }
        next += now;
    }
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
    at: [Offsets; QUAD_LANES],
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
        if count == QUAD_LANES {
            e.scatter(out, to);
        } else {
            let labels = e.store(out);
            (0..count).for_each(|lane| *to[lane] = labels[lane]);
        }
    }
}
