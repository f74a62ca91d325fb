//! Gate lists: circuits prepared for labels, and the loop that runs them.
//!
//! The loop is the hot path of garbling and evaluating. It reads and writes label slots without bounds checks. This is
//! sound because [`GateList::new`] has checked every slot number.

mod batch;
mod labels;
mod packed;
mod quad;
mod single;

pub use self::batch::{BatchGates, BatchLabels, Gather, MAX_BATCH, MAX_INTERLEAVED, Sources};
pub use self::labels::Labels;
use self::packed::Packed;
use crate::engine::{Engine, QUAD_LANES};

/// The position in a list up to which gates have run.
#[derive(Clone, Copy, Default)]
pub struct Cursor {
    step: usize,
    /// Set if the step's XOR operations are done.
    in_ands: bool,
    /// The number of AND gates of the step that are done, in all copies.
    ands_of_step: usize,
    /// The number of XOR operations of the list, and of AND gates in all copies, that are done.
    xors: usize,
    ands: usize,
}

/// XOR and AND operations on label slots, checked and packed.
pub struct GateList {
    slot_count: usize,
    /// Per step, the number of XOR operations, then the number of independent AND operations after them.
    steps: Vec<[u32; 2]>,
    xors: Packed,
    ands: Packed,
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
    /// Set for inverted operands. Meaningless for XOR.
    pub inverted: [bool; 2],
}

/// The work at AND gates: the garbling scheme's side of [`GateList::run`].
pub trait AndGates<E: Engine> {
    /// Returns how many of the next `count` gates may run before the next call; at least one.
    fn begin(&mut self, e: E, count: usize) -> usize;

    /// The result labels of the next `count` gates, at most four. Lanes from `count` on repeat the labels of
    /// the last gate, and their results are ignored.
    fn quad(&mut self, e: E, count: usize, labels: [E::Quad; 2], inverted: [E::Mask; 2]) -> E::Quad;
}

impl GateList {
    /// Checks and packs operations. `steps` gives, per step, the number of XOR operations, which run in order, and the number of AND
    /// operations after them, none of which reads a result of another one in its step.
    ///
    /// # Panics
    /// If a slot is not below `slot_count`, or the steps do not add up to the operations.
    pub fn new(slot_count: usize, steps: Vec<[u32; 2]>, xors: &[Op], ands: &[Op]) -> Self {
        let count = |kind: usize| steps.iter().map(|step| step[kind] as usize).sum::<usize>();
        assert_eq!([count(0), count(1)], [xors.len(), ands.len()], "operations in steps");
        for op in xors.iter().chain(ands) {
            let top = op.a.max(op.b).max(op.out);
            assert!((top as usize) < slot_count, "slot {top} of {slot_count}");
        }
        GateList { xors: Packed::new(slot_count, xors), ands: Packed::new(slot_count, ands), slot_count, steps }
    }

    /// The number of AND operations.
    pub fn and_count(&self) -> usize {
        self.ands.len()
    }

    /// Tells whether a cursor is at the end of the list.
    pub fn is_done(&self, cursor: &Cursor) -> bool {
        cursor.step == self.steps.len()
    }

    /// Runs gates from `cursor` on until the end of the list or until an AND gate would exceed `limit`; returns the number of
    /// AND gates that ran. Each copy of an AND operation is a gate of its own; the copies follow one another.
    ///
    /// `COPIES` is a parameter so that the loops for one and for four are compiled separately: together they run out of registers.
    ///
    /// # Panics
    /// If the slots were prepared for another list or for another number of copies.
    #[inline(always)]
    pub fn run<E: Engine, G: AndGates<E>, const COPIES: usize>(
        &self,
        e: E,
        cursor: &mut Cursor,
        slots: &mut Labels,
        limit: usize,
        gates: &mut G,
    ) -> usize {
        assert!(slots.room() >= self.slot_count, "slots prepared for another list");
        assert_eq!(slots.copies(), COPIES, "copies of a list");
        let mut left = limit;
        while let Some(&[xors, ands]) = self.steps.get(cursor.step) {
            let [xors, ands] = [xors as usize, ands as usize * COPIES];
            if !cursor.in_ands {
                // SAFETY: `new` has checked the operations' slots, and `run` has checked that there are enough slots.
                unsafe {
                    let range = cursor.xors..cursor.xors + xors;
                    match COPIES {
                        QUAD_LANES => quad::run_xors(e, &self.xors, range, slots),
                        _ => single::run_xors(&self.xors, range, slots),
                    }
                }
                cursor.xors += xors;
                cursor.in_ands = true;
            }
            let todo = (ands - cursor.ands_of_step).min(left);
            let end = cursor.ands + todo;
            while cursor.ands < end {
                let now = gates.begin(e, end - cursor.ands).clamp(1, end - cursor.ands);
                // SAFETY: as above.
                unsafe {
                    let range = cursor.ands..cursor.ands + now;
                    match COPIES {
                        QUAD_LANES => quad::run_ands(e, &self.ands, range, slots, gates),
                        _ => single::run_ands(e, &self.ands, range, slots, gates),
                    }
                }
                cursor.ands += now;
            }
            left -= todo;
            cursor.ands_of_step += todo;
            if cursor.ands_of_step < ands {
                break;
            }
            cursor.step += 1;
            cursor.in_ands = false;
            cursor.ands_of_step = 0;
        }
        limit - left
    }
}

#[cfg(test)]
mod tests;
