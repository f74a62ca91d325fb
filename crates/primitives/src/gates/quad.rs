//! Four copies of a list side by side: a slot holds the label of every copy, so one decoded operation is four gates and
//! needs no gathering.

use std::ops::Range;

use super::{
    AndGates, Labels,
    labels::Line,
    packed::{INVERT_A, INVERT_B, Offsets, Packed, padded},
};
use crate::engine::{Engine, QUAD_LANES, each};

/// Runs the operations of a range.
///
/// # Safety
/// The operations' slots exist.
#[inline(always)]
pub(super) unsafe fn run_xors<E: Engine>(e: E, ops: &Packed, range: Range<usize>, slots: &mut Labels) {
    let slots = slots.lines();
    for index in range {
        let (at, _) = ops.get(index);
        // SAFETY: the caller promises that the slots exist.
        unsafe {
            let [a, b, out] = lines_of(at, slots, 1);
            (*out).0 = e.store(e.xor(e.load(&(*a).0), e.load(&(*b).0)));
        }
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
        let (at, flags) = ops.get(next / QUAD_LANES);
        let inverted = each(
            [INVERT_A, INVERT_B],
            #[inline(always)]
            |flag| e.mask(flags >> flag & 1 == 1),
        );
        // SAFETY: the caller promises that the slots exist.
        let (a, b, out) = unsafe {
            let [a, b, out] = lines_of(at, slots, 1);
            (&(*a).0, &(*b).0, out)
        };
        if next.is_multiple_of(QUAD_LANES) && range.end - next >= QUAD_LANES {
            let labels = e.store(gates.quad(e, QUAD_LANES, [e.load(a), e.load(b)], inverted));
            // SAFETY: as above.
            unsafe { (*out).0 = labels };
            next += QUAD_LANES;
        } else {
            // Only some of the copies: the others belong to another chunk or have another hash key.
            let copies = next % QUAD_LANES..QUAD_LANES.min(next % QUAD_LANES + (range.end - next));
            let labels = each(
                [a, b],
                #[inline(always)]
                |labels| e.load(&padded(&labels[copies.clone()])),
            );
            let labels = e.store(gates.quad(e, copies.len(), labels, inverted));
            next += copies.len();
            // SAFETY: as above.
            unsafe { (&mut (*out).0)[copies.clone()].copy_from_slice(&labels[..copies.len()]) };
        }
    }
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
