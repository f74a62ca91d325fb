//! Four copies of a list side by side: a slot holds the label of every copy, so one decoded operation is four gates and
//! needs no gathering.

use std::ops::Range;

use super::{
    AndGates, Labels,
    labels::Line,
    packed::{INVERT_A, INVERT_B, Offsets, Packed, narrow_xor, padded, wide},
};
use crate::engine::{Engine, QUAD_LANES, each};

/// Runs the operations of a range.
///
/// # Safety
/// The operations' slots exist.
#[inline(always)]
pub(super) unsafe fn run_xors<E: Engine>(e: E, ops: &Packed, range: Range<usize>, slots: &mut Labels) {
    let slots = slots.lines();
    match ops {
        Packed::Narrow(ops) => {
            let (groups, rest) = ops[range].as_chunks::<4>();
            for group in groups {
                for &op in group {
                    // SAFETY: the caller promises that the slots exist.
                    unsafe { run_xor(e, slots, narrow_xor(op)) }
                }
            }
            for &op in rest {
                // SAFETY: as above.
                unsafe { run_xor(e, slots, narrow_xor(op)) }
            }
        }
        Packed::Wide(ops) => {
            for &op in &ops[range] {
                // SAFETY: as above.
                unsafe { run_xor(e, slots, wide(op)) }
            }
        }
    }
}

/// Runs an XOR operation.
///
/// # Safety
/// The operation's slots exist.
#[inline(always)]
unsafe fn run_xor<E: Engine>(e: E, slots: *mut Line, at: Offsets) {
    // SAFETY: the caller promises that the slots exist.
    unsafe {
        let [a, b, out] = lines_of(at, slots, 1);
        (*out).0 = e.store(e.xor(e.load(&(*a).0), e.load(&(*b).0)));
    }
}

/// Runs the gates of a range: gate `i` is copy `i % 4` of operation `i / 4`.
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
    let slots = slots.lines();
    let mut next = range.start;
    while next < range.end {
        // Whole operations have a loop of their own: beside the other case, the compiler stores and loads the round keys of the hash at every gate.
        let whole = if next.is_multiple_of(QUAD_LANES) { (range.end - next) / QUAD_LANES } else { 0 };
        for index in next / QUAD_LANES..next / QUAD_LANES + whole {
            let (at, flags) = ops.get(index);
            // SAFETY: the caller promises that the slots exist.
            unsafe {
                let [a, b, out] = lines_of(at, slots, 1);
                let labels = [e.load(&(*a).0), e.load(&(*b).0)];
                (*out).0 = e.store(gates.quad(e, QUAD_LANES, labels, inverted(e, flags)));
            }
        }
        next += whole * QUAD_LANES;
        if next < range.end {
            // Only some of the copies: the others belong to another chunk or have another hash key.
            let copies = next % QUAD_LANES..QUAD_LANES.min(next % QUAD_LANES + (range.end - next));
            let (at, flags) = ops.get(next / QUAD_LANES);
            // SAFETY: as above.
            let (a, b, out) = unsafe {
                let [a, b, out] = lines_of(at, slots, 1);
                (&(*a).0, &(*b).0, out)
            };
            let labels = each(
                [a, b],
                #[inline(always)]
                |labels| e.load(&padded(&labels[copies.clone()])),
            );
            let labels = e.store(gates.quad(e, copies.len(), labels, inverted(e, flags)));
            next += copies.len();
            // SAFETY: as above.
            unsafe { (&mut (*out).0)[copies.clone()].copy_from_slice(&labels[..copies.len()]) };
        }
    }
}

/// Masks of the operands that are inverted.
#[inline(always)]
fn inverted<E: Engine>(e: E, flags: u64) -> [E::Mask; 2] {
    each(
        [INVERT_A, INVERT_B],
        #[inline(always)]
        |flag| e.mask(flags >> flag & 1 == 1),
    )
}

/// The first lines of an operation's slots, for slots with this many lines.
///
/// # Safety
/// The slots exist from `lines` on.
#[inline(always)]
pub(super) unsafe fn lines_of(at: Offsets, lines: *mut Line, per_slot: usize) -> [*mut Line; 3] {
    // Offsets count 16 bytes per slot.
    each(
        [at.a, at.b, at.out],
        #[inline(always)]
        |bytes| {
            // SAFETY: the caller promises that the slot exists.
            unsafe { lines.byte_add(bytes * QUAD_LANES * per_slot) }
        },
    )
}
