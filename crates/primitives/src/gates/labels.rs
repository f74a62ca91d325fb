//! Label slots.

use bytemuck::{Pod, Zeroable};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::GateList;
use crate::{block::Block, engine::QUAD_LANES};

/// Four labels in one cache line.
#[derive(Clone, Copy, Pod, Zeroable, Zeroize)]
#[repr(C, align(64))]
pub(super) struct Line(pub(super) [Block; QUAD_LANES]);

/// The labels of a running component, in slots; wiped on drop.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
pub struct Labels {
    /// One copy: a slot is a block, four to a line. Four copies: a slot is a line.
    lines: Vec<Line>,
    #[zeroize(skip)]
    copies: usize,
}

impl Labels {
    /// Makes room for one copy of a list, whose inputs are then put into the [first slots](Labels::first_mut).
    ///
    /// # Panics
    /// If there are more inputs than slots.
    pub fn begin_one(&mut self, list: &GateList, inputs: usize) {
        self.make_room(list, 1, inputs);
    }

    /// The first slots of one copy.
    ///
    /// # Panics
    /// If there are fewer slots.
    #[inline]
    pub fn first_mut(&mut self, count: usize) -> &mut [Block] {
        assert_eq!(self.copies, 1, "copies");
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..count]
    }

    /// All slots of one copy.
    ///
    /// # Panics
    /// If there is more than one copy.
    pub fn of_one(&self) -> &[Block] {
        assert_eq!(self.copies, 1, "copies");
        bytemuck::cast_slice(&self.lines)
    }

    /// Makes room for copies of a list and puts their inputs into the first slots.
    ///
    /// *Shape*: `copies` is 1 or [`QUAD_LANES`]; the inputs of one copy follow another, the same number for each.
    ///
    /// # Panics
    /// If the shape is wrong, or a copy has more inputs than slots.
    pub fn begin(&mut self, list: &GateList, copies: usize, inputs: &[Block]) {
        self.begin_copies(list, copies);
        assert!(inputs.len().is_multiple_of(copies), "inputs of {copies} copies");
        let per_copy = inputs.len() / copies;
        assert!(per_copy <= list.slot_count, "{per_copy} inputs for {} slots", list.slot_count);
        for copy in 0..copies {
            self.put(copy, 0, &inputs[copy * per_copy..][..per_copy]);
        }
    }

    /// Makes room for copies of a list, whose inputs are then [put](Labels::put) into the first slots.
    ///
    /// # Panics
    /// Unless there is one copy or [`QUAD_LANES`].
    pub fn begin_copies(&mut self, list: &GateList, copies: usize) {
        assert!(copies == 1 || copies == QUAD_LANES, "{copies} copies");
        self.make_room(list, copies, 0);
    }

    /// Puts labels into the slots of a copy from `slot` on.
    ///
    /// # Panics
    /// If there is no such copy, or there are fewer slots.
    #[inline]
    pub fn put(&mut self, copy: usize, slot: usize, labels: &[Block]) {
        assert!(copy < self.copies, "copy {copy} of {}", self.copies);
        match self.copies {
            QUAD_LANES => {
                let lines = &mut self.lines[slot..slot + labels.len()];
                lines.iter_mut().zip(labels).for_each(|(line, label)| line.0[copy] = *label);
            }
            _ => self.first_mut(slot + labels.len())[slot..].copy_from_slice(labels),
        }
    }

    fn make_room(&mut self, list: &GateList, copies: usize, inputs: usize) {
        assert!(inputs <= list.slot_count, "{inputs} inputs for {} slots", list.slot_count);
        self.copies = copies;
        let lines = (list.slot_count * copies).div_ceil(QUAD_LANES);
        if self.lines.len() < lines {
            // Do not resize, which could leave a copy behind.
            self.lines.zeroize();
            self.lines = Vec::with_capacity(lines);
            self.lines.resize(lines, Line([Block::ZERO; QUAD_LANES]));
        }
    }

    /// The label in a slot of a copy.
    ///
    /// # Panics
    /// If there is no such slot or copy.
    pub fn get(&self, copy: usize, slot: usize) -> Block {
        self.of_copy(copy)(slot)
    }

    /// The label in each slot of a copy.
    ///
    /// # Panics
    /// If there is no such copy, or, when it is called, no such slot.
    #[inline]
    pub fn of_copy(&self, copy: usize) -> impl Fn(usize) -> Block {
        assert!(copy < self.copies, "copy {copy} of {}", self.copies);
        let (labels, copies): (&[Block], usize) = (bytemuck::cast_slice(&self.lines), self.copies);
        move |slot| labels[slot * copies + copy]
    }

    /// The number of copies in the slots.
    pub fn copies(&self) -> usize {
        self.copies
    }

    /// The number of slots that fit the allocation.
    pub(super) fn room(&self) -> usize {
        match self.copies {
            QUAD_LANES => self.lines.len(),
            _ => self.lines.len() * QUAD_LANES,
        }
    }

    /// The slots of one copy.
    #[inline(always)]
    pub(super) fn labels(&mut self) -> *mut Block {
        self.lines.as_mut_ptr().cast()
    }

    /// The slots of four copies.
    #[inline(always)]
    pub(super) fn lines(&mut self) -> *mut Line {
        self.lines.as_mut_ptr()
    }
}
