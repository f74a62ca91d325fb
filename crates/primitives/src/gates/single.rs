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
        let [a, b] = operands(slots, &at);
        [e.gather(a), e.gather(b)]
    };
    let out = gates.quad(e, count, labels, inverted);
    // SAFETY: as above.
    unsafe {
        let to = results(slots, &at);
        if count == QUAD_LANES {
            e.scatter(out, to);
        } else {
            let labels = e.store(out);
            (0..count).for_each(|lane| *to[lane] = labels[lane]);
        }
    }
}

// No closures of `run_quad`: each engine, scheme and hash would compile these once more, with all that `map` of arrays consists of.

/// The first operands' labels and the second ones'.
///
/// # Safety
/// The operations' slots exist.
#[inline(always)]
unsafe fn operands(slots: *mut Block, at: &[Offsets; QUAD_LANES]) -> [[*const Block; QUAD_LANES]; 2] {
    // SAFETY: the caller promises that the slots exist.
    let (a, b) =
        (|lane: usize| unsafe { slots.byte_add(at[lane].a) }, |lane: usize| unsafe { slots.byte_add(at[lane].b) });
    [[a(0), a(1), a(2), a(3)], [b(0), b(1), b(2), b(3)]]
}

/// The places of the results' labels.
///
/// # Safety
/// The operations' slots exist.
#[inline(always)]
unsafe fn results(slots: *mut Block, at: &[Offsets; QUAD_LANES]) -> [*mut Block; QUAD_LANES] {
    // SAFETY: the caller promises that the slots exist.
    let out = |lane: usize| unsafe { slots.byte_add(at[lane].out) };
    [out(0), out(1), out(2), out(3)]
}
