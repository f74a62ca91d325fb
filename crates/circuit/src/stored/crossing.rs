//! The wires that later blocks read, and the blocks in which they are read for the last time.

use super::{GateBlocks, Shape, Use};
use crate::{
    diagnostic::Diagnostic,
    gate::{Gate, Wire},
};

/// The mark of a gate on which an output depends.
pub(crate) const LIVE: u8 = 1;

/// The marks of operands that no later gate reads on which an output depends.
pub(crate) const LAST: [u8; 2] = [2, 4];

/// The wires on which a block depends, or that depend on it.
pub(super) struct Crossing {
    /// Own wires that later blocks read, or that are outputs; with [`Use::live`].
    kept: Marked,
    /// Wires of earlier blocks, each with what it is used for no more after this one.
    ended: Marked,
}

/// Wires in ascending order with two bits each, in about one to three bytes.
#[derive(Default)]
struct Marked(Box<[u8]>);

impl Marked {
    fn new(wires: impl Iterator<Item = (u32, Use)>) -> Self {
        let (mut bytes, mut last) = (Vec::new(), 0);
        for (wire, used) in wires {
            let mut number = u64::from(wire - last) << 2 | u64::from(used.read) << 1 | u64::from(used.live);
            while number > 127 {
                bytes.push(number as u8 | 128);
                number >>= 7;
            }
            bytes.push(number as u8);
            last = wire;
        }
        Marked(bytes.into())
    }

    fn iter(&self) -> impl Iterator<Item = (u32, Use)> {
        let (mut bytes, mut last) = (self.0.iter(), 0);
        std::iter::from_fn(move || {
            let (mut number, mut shift) = (0u64, 0);
            loop {
                let byte = *bytes.next()?;
                number |= u64::from(byte & 127) << shift;
                shift += 7;
                if byte < 128 {
                    break;
                }
            }
            last += (number >> 2) as u32;
            Some((last, Use { read: number & 2 != 0, live: number & 1 != 0 }))
        })
    }
}

/// Wires of a page of [`WireSet`].
const PAGE_WIRES: usize = 1 << 16;

/// A set of wires, in pages that are there only if they have a wire.
struct WireSet {
    pages: Vec<Option<Box<[u64]>>>,
}

impl WireSet {
    fn new(shape: &Shape) -> Self {
        let wires = shape.input_count as usize + shape.gate_count as usize;
        WireSet { pages: (0..=wires / PAGE_WIRES).map(|_| None).collect() }
    }

    #[inline]
    fn has(&self, wire: Wire) -> bool {
        let at = wire.index() % PAGE_WIRES;
        self.pages[wire.index() / PAGE_WIRES].as_ref().is_some_and(|page| page[at / 64] >> (at % 64) & 1 == 1)
    }

    /// Adds a wire, and returns whether it is new.
    #[inline]
    fn insert(&mut self, wire: Wire) -> bool {
        let at = wire.index() % PAGE_WIRES;
        let page = self.pages[wire.index() / PAGE_WIRES].get_or_insert_with(|| vec![0; PAGE_WIRES / 64].into());
        let is_new = page[at / 64] >> (at % 64) & 1 == 0;
        page[at / 64] |= 1 << (at % 64);
        is_new
    }

    /// Forgets pages of which no wire is before this one.
    fn forget_from(&mut self, wire: u32) {
        self.pages.truncate((wire as usize).div_ceil(PAGE_WIRES).max(1));
    }
}

/// The crossings of all blocks, and the use of each input; reads the blocks from the last to the first.
pub(super) fn crossings(
    shape: &Shape,
    outputs: &[Wire],
    blocks: &dyn GateBlocks,
) -> Result<(Vec<Crossing>, Vec<Use>), Diagnostic> {
    let (mut read, mut live) = (WireSet::new(shape), WireSet::new(shape));
    for output in outputs {
        read.insert(*output);
        live.insert(*output);
    }
    let mut crossings = Vec::with_capacity(shape.blocks());
    let mut gates = Vec::new();
    for block in (0..shape.blocks()).rev() {
        gates.clear();
        blocks.read(block, &mut gates)?;
        let (first, _) = shape.block(block);
        let own = (first..).take(gates.len()).map(|wire| (wire, Use { read: true, live: live.has(Wire(wire)) }));
        let kept = Marked::new(own.filter(|(wire, _)| read.has(Wire(*wire))));
        let mut ended = Vec::new();
        for (at, gate) in gates.iter().enumerate().rev() {
            let is_live = live.has(Wire(first + at as u32));
            for operand in gate.operands() {
                let used = Use { live: is_live && live.insert(operand), read: read.insert(operand) };
                if operand.0 < first && used != Use::default() {
                    ended.push((operand.0, used));
                }
            }
        }
        ended.sort_unstable_by_key(|(wire, _)| *wire);
        ended.dedup_by(|(wire, used), (other, into)| {
            let same = wire == other;
            if same {
                *into = Use { read: into.read || used.read, live: into.live || used.live };
            }
            same
        });
        crossings.push(Crossing { kept, ended: Marked::new(ended.into_iter()) });
        read.forget_from(first);
        live.forget_from(first);
    }
    crossings.reverse();
    let inputs = (0..shape.input_count).map(Wire).map(|wire| Use { read: read.has(wire), live: live.has(wire) });
    Ok((crossings, inputs.collect()))
}

/// A block of gates, with marks.
#[derive(Default)]
pub(crate) struct Block {
    /// The wire of the first gate.
    pub(crate) first: u32,
    gates: Vec<Gate>,
    /// [`LIVE`] and [`LAST`] of each gate.
    marks: Vec<u8>,
    /// Own wires that later blocks read, or that are outputs.
    pub(super) kept: Vec<u32>,
    /// Wires of earlier blocks that later ones do not read.
    pub(super) ended: Vec<u32>,
}

impl Block {
    pub(super) fn new(first: u32, gates: Vec<Gate>, crossing: &Crossing) -> Self {
        let mut live = vec![false; gates.len()];
        let mut kept = Vec::new();
        for (wire, used) in crossing.kept.iter() {
            kept.push(wire);
            live[(wire - first) as usize] = used.live;
        }
        let (mut ended, mut ending) = (Vec::new(), Vec::new());
        for (wire, used) in crossing.ended.iter() {
            ended.extend(used.read.then_some(wire));
            ending.extend(used.live.then_some((wire, false)));
        }
        let mut marks = vec![0; gates.len()];
        for (at, gate) in gates.iter().enumerate().rev() {
            if !live[at] {
                continue;
            }
            marks[at] = LIVE;
            for (operand, last) in gate.operands().zip(LAST) {
                let seen = match operand.0.checked_sub(first) {
                    Some(own) => &mut live[own as usize],
                    None => match ending.binary_search_by_key(&operand.0, |(wire, _)| *wire) {
                        Ok(place) => &mut ending[place].1,
                        Err(_) => continue,
                    },
                };
                if !std::mem::replace(seen, true) {
                    marks[at] |= last;
                }
            }
        }
        Block { first, gates, marks, kept, ended }
    }

    /// The gates with their marks, in order.
    pub(crate) fn gates(&self) -> impl Iterator<Item = (Gate, u8)> {
        self.gates.iter().copied().zip(self.marks.iter().copied())
    }

    /// A gate with its marks.
    #[inline]
    pub(crate) fn gate(&self, at: usize) -> Option<(Gate, u8)> {
        Some((*self.gates.get(at)?, self.marks[at]))
    }

    /// Room for the gates of another block.
    pub(super) fn into_gates(mut self) -> Vec<Gate> {
        self.gates.clear();
        self.gates
    }
}
