//! Gathers labels into slots, for four instances of a list at a time.

use super::BatchLabels;
use crate::{
    block::Block,
    engine::{Engine, QUAD_LANES},
    gates::labels::Line,
};

/// Labels to gather into the same slots of four instances of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gather {
    /// The number of the group of four instances, which begin at four times this number.
    pub quad: u32,
    /// The first slot.
    pub slot: u32,
    /// The number of slots.
    pub len: u32,
    /// The places of the labels.
    pub from: Sources,
    /// The places of the labels to add, for each instance, or none to add.
    pub add: Option<[u32; QUAD_LANES]>,
}

/// The places of the labels of four instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sources {
    /// Arbitrary places: for each instance its first label, and the distance between labels.
    Strided([u32; QUAD_LANES], [u32; QUAD_LANES]),
    /// The four labels of a slot are adjacent, perhaps in reverse order.
    Contiguous {
        /// Place of the first.
        first: u32,
        /// The distance from slot to slot.
        stride: u32,
        /// Set if the last instance's label comes first.
        reversed: bool,
    },
}

impl Sources {
    /// The place of the first instance's first label, and the distance between labels.
    pub fn of_first(&self) -> (usize, usize) {
        let (first, stride) = match *self {
            Sources::Strided([first, ..], [stride, ..]) => (first, stride),
            Sources::Contiguous { first, stride, reversed } => {
                (first + if reversed { QUAD_LANES as u32 - 1 } else { 0 }, stride)
            }
        };
        (first as usize, stride as usize)
    }
}

impl BatchLabels {
    /// Sets labels of four instances of a list. Lanes without an instance take arbitrary labels.
    ///
    /// # Panics
    /// If there are no such instances, slots or labels.
    #[inline(always)]
    pub fn gather<E: Engine>(&mut self, e: E, list: usize, gather: &Gather, labels: &[Block], added: &[Block]) {
        let (lines, per_slot) = self.of_list(list);
        let [quad, slot, len] = [gather.quad, gather.slot, gather.len].map(|n| n as usize);
        if len == 0 {
            return;
        }
        let end = slot.checked_add(len).and_then(|slots| slots.checked_mul(per_slot));
        assert!(quad < per_slot && end.is_some_and(|end| end <= lines.len()), "instances and slots of a list");
        let lines = (lines[slot * per_slot + quad..].as_mut_ptr(), per_slot);
        let added = gather.add.map(
            #[inline(always)]
            |first| Rows::new(added, first, [1; QUAD_LANES], len),
        );
        // SAFETY: the assertion checked that the list has `len` slots from the first on, and `row` and `Rows` have checked theirs.
        // Each case has its own loop, so that no slot needs a decision.
        unsafe {
            match gather.from {
                Sources::Strided(first, stride) => {
                    let rows = Rows::new(labels, first, stride, len);
                    fill(
                        e,
                        len,
                        lines,
                        #[inline(always)]
                        |i| rows.quad(e, i),
                        added,
                    );
                }
                Sources::Contiguous { first, stride, reversed } => {
                    let row = row(labels, first, stride, len, QUAD_LANES);
                    match reversed {
                        false => fill(
                            e,
                            len,
                            lines,
                            #[inline(always)]
                            |i| e.load(&*row.add(i * stride as usize).cast()),
                            added,
                        ),
                        true => fill(
                            e,
                            len,
                            lines,
                            #[inline(always)]
                            |i| e.reverse(e.load(&*row.add(i * stride as usize).cast())),
                            added,
                        ),
                    }
                }
            }
        }
    }
}

/// The first of `len` places, `stride` blocks apart, with `width` blocks at each.
///
/// # Panics
/// If there are not that many blocks.
#[inline(always)]
fn row(blocks: &[Block], first: u32, stride: u32, len: usize, width: usize) -> *const Block {
    let row = &blocks[first as usize..];
    // A `usize` may have no more bits than these numbers.
    let end = (len - 1).checked_mul(stride as usize).and_then(|last| last.checked_add(width));
    assert!(end.is_some_and(|end| end <= row.len()), "labels of a gather");
    row.as_ptr()
}

/// Labels of four instances, the same number for each.
struct Rows {
    first: [*const Block; QUAD_LANES],
    stride: [usize; QUAD_LANES],
}

impl Rows {
    /// # Panics
    /// As [`row`].
    #[inline(always)]
    fn new(blocks: &[Block], first: [u32; QUAD_LANES], stride: [u32; QUAD_LANES], len: usize) -> Self {
        let [a, b, c, d] = first;
        let [p, q, r, s] = stride;
        Rows {
            first: [
                row(blocks, a, p, len, 1),
                row(blocks, b, q, len, 1),
                row(blocks, c, r, len, 1),
                row(blocks, d, s, len, 1),
            ],
            stride: [p as usize, q as usize, r as usize, s as usize],
        }
    }

    /// Label number `i` of each instance.
    ///
    /// # Safety
    /// There are more than `i` labels, and the blocks are still alive.
    #[inline(always)]
    unsafe fn quad<E: Engine>(&self, e: E, i: usize) -> E::Quad {
        let [a, b, c, d] = self.first;
        let [p, q, r, s] = self.stride;
        // SAFETY: the caller promises it.
        unsafe { e.gather([a.add(i * p), b.add(i * q), c.add(i * r), d.add(i * s)]) }
    }
}

/// Stores, for each of `len` slots, the result of `from` plus the label to add; `lines` are the first line and the step between slots.
///
/// # Safety
/// There are that many lines, and that many blocks to add.
#[inline(always)]
unsafe fn fill<E: Engine>(
    e: E,
    len: usize,
    (lines, per_slot): (*mut Line, usize),
    from: impl Fn(usize) -> E::Quad,
    added: Option<Rows>,
) {
    // SAFETY: the caller promises it.
    unsafe {
        match added {
            None => {
                for i in 0..len {
                    (*lines.add(i * per_slot)).0 = e.store(from(i));
                }
            }
            Some(added) => {
                for i in 0..len {
                    (*lines.add(i * per_slot)).0 = e.store(e.xor(from(i), added.quad(e, i)));
                }
            }
        }
    }
}
