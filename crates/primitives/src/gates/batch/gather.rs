//! Putting labels into slots, for four instances of a list at a time.

use super::BatchLabels;
use crate::{
    block::Block,
    engine::{Engine, QUAD_LANES},
    gates::labels::Line,
};

/// Labels that go into the same slots of four instances of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gather {
    /// The number of the four instances: those from that number times four on.
    pub quad: u32,
    /// The first slot.
    pub slot: u32,
    /// The number of slots.
    pub len: u32,
    /// The places of the labels.
    pub from: Sources,
    /// The places where what is added to them begins, for each instance.
    pub add: Option<[u32; QUAD_LANES]>,
}

/// The places of the labels of four instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sources {
    /// Anywhere: for each instance its first label, and from one to the next.
    Strided([u32; QUAD_LANES], [u32; QUAD_LANES]),
    /// Those of a slot are one behind the other: the first of them for the first slot, from one slot to the next, and whether
    /// the last instance's comes first.
    Contiguous {
        /// Place of the first.
        first: u32,
        /// The distance from slot to slot.
        stride: u32,
        /// Set if they are in the opposite order.
        reversed: bool,
    },
}

impl Sources {
    /// The place of the first instance's first label, and the distance from one to the next.
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
    /// Sets labels of four instances of a list. Lanes without an instance take any labels.
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
        assert!(quad < per_slot && (slot + len) * per_slot <= lines.len(), "instances and slots of a list");
        let lines = (lines[slot * per_slot + quad..].as_mut_ptr(), per_slot);
        let added = gather.add.map(
            #[inline(always)]
            |first| Rows::new(added, first, [1; QUAD_LANES], len),
        );
        // SAFETY: the list has `len` slots from the first on, as was asserted, and so have the rows, as they have checked. A
        // loop for each, so that none decides anything at a slot.
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
/// If there are not as many blocks.
#[inline(always)]
fn row(blocks: &[Block], first: u32, stride: u32, len: usize, width: usize) -> *const Block {
    let row = &blocks[first as usize..];
    assert!((len - 1) * stride as usize + width <= row.len(), "labels of a gather");
    row.as_ptr()
}

/// Labels of four instances, as many of each.
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

    /// Number `i` of each.
    ///
    /// # Safety
    /// There are so many, and the blocks are still there.
    #[inline(always)]
    unsafe fn quad<E: Engine>(&self, e: E, i: usize) -> E::Quad {
        let [a, b, c, d] = self.first;
        let [p, q, r, s] = self.stride;
        // SAFETY: the caller promises it.
        unsafe { e.gather([a.add(i * p), b.add(i * q), c.add(i * r), d.add(i * s)]) }
    }
}

/// Puts, for each of `len` slots, what `from` says and what is added; `lines` are the first and the step from slot to slot.
///
/// # Safety
/// There are as many lines, and as many blocks to be added.
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
