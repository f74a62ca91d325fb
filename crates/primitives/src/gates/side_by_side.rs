//! Four copies of a list side by side: a slot holds the label of every copy, so that one decoded operation is four gates and
//! nothing is gathered.

use std::ops::Range;

use super::{
    AndGates, Slots,
    packed::{INVERT_A, INVERT_B, Packed, padded},
    slots::Line,
};
use crate::engine::{Engine, LANES};

/// Runs the operations of that range.
///
/// # Safety
/// The operations' slots exist.
#[inline(always)]
pub(super) unsafe fn run_xors<E: Engine>(e: E, ops: &Packed, range: Range<usize>, slots: &mut Slots) {
    let slots = slots.lines();
    for index in range {
        let (at, _) = ops.get(index);
        // SAFETY: the caller promises that the slots exist.
        unsafe {
            let sum = e.xor(e.load(&(*line(slots, at.a)).0), e.load(&(*line(slots, at.b)).0));
            (*line(slots, at.out)).0 = e.store(sum);
        }
    }
}

/// Runs the gates of that range: gate `i` is copy `i % 4` of operation `i / 4`.
///
/// # Safety
/// The operations' slots exist.
#[inline(always)]
pub(super) unsafe fn run_ands<E: Engine, G: AndGates<E>>(
    e: E,
    ops: &Packed,
    range: Range<usize>,
    slots: &mut Slots,
    gates: &mut G,
) {
    let slots = slots.lines();
    let mut next = range.start;
    while next < range.end {
        let (at, flags) = ops.get(next / LANES);
        let inverted = [INVERT_A, INVERT_B].map(
            #[inline(always)]
            |flag| e.mask(flags >> flag & 1 == 1),
        );
        // SAFETY: the caller promises that the slots exist.
        let [a, b] = unsafe { [&(*line(slots, at.a)).0, &(*line(slots, at.b)).0] };
        if next.is_multiple_of(LANES) && range.end - next >= LANES {
            let labels = e.store(gates.quad(e, LANES, [e.load(a), e.load(b)], inverted));
            // SAFETY: as above.
            unsafe { (*line(slots, at.out)).0 = labels };
            next += LANES;
        } else {
            // Some of the copies: the others are of another chunk or have another hash key.
            let copies = next % LANES..LANES.min(next % LANES + (range.end - next));
            let labels = [a, b].map(|labels| e.load(&padded(&labels[copies.clone()])));
            let labels = e.store(gates.quad(e, copies.len(), labels, inverted));
            next += copies.len();
            // SAFETY: as above.
            unsafe { (&mut (*line(slots, at.out)).0)[copies.clone()].copy_from_slice(&labels[..copies.len()]) };
        }
    }
}

/// The labels at an offset, which counts 16 bytes per slot.
///
/// # Safety
/// The slot exists.
#[inline(always)]
unsafe fn line(slots: *mut Line, offset: usize) -> *mut Line {
    // SAFETY: the caller promises that the slot exists.
    unsafe { slots.byte_add(LANES * offset) }
}
