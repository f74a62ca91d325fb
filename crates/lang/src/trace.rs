//! The trace: what a program does, as a list of regions.
//!
//! A region is a run of operations that becomes one instance of one component. Regions that do the same with other
//! operands, as the iterations of a loop, have equal code, which is kept once.

use std::{collections::HashMap, rc::Rc};

use crate::{
    number::Number,
    operation::{Kind, Operand, Origin, encode_head, encode_operand},
    word::{Node, Wires, Word},
};

/// The region whose nodes are the program's inputs.
pub(crate) const INPUTS: u32 = u32::MAX;
/// The region whose nodes are constants.
pub(crate) const CONSTANTS: u32 = u32::MAX - 1;

/// Wires that a region reads: those of a node from `start` up to `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) node: Node,
    pub(crate) start: u16,
    pub(crate) end: u16,
}

/// The work of a region.
pub(crate) enum Body {
    /// Operations, as [`crate::operation`] writes them, and the source line of each.
    Code { code: Rc<[u32]>, lines: Vec<u32> },
    /// A circuit that the program file binds: its number, and how many reads feed it.
    Extern(u32, usize),
}

/// A region: what it does and the end of what it reads; that begins where the region before ends.
struct Region {
    body: u32,
    reads_end: u32,
}

/// Records operations.
#[derive(Default)]
pub(crate) struct Trace {
    bodies: Vec<Body>,
    known: HashMap<Rc<[u32]>, u32>,
    regions: Vec<Region>,
    reads: Vec<Read>,
    open: Open,
    /// The most operands, and how many there were.
    operand_limit: u64,
    operands: u64,
    /// The most AND gates of distinct bodies, and how many there are, about.
    gate_limit: u64,
    gates: u64,
}

/// The region that is being recorded.
#[derive(Default)]
struct Open {
    code: Vec<u32>,
    lines: Vec<u32>,
    nodes: u32,
    cost: u64,
    inputs: HashMap<Node, u32>,
    reads: Vec<Read>,
}

impl Trace {
    /// An empty trace that takes about so many operands of operations, and AND gates of distinct bodies.
    pub(crate) fn new(operand_limit: u64, gate_limit: u64) -> Self {
        Trace { operand_limit, gate_limit, ..Trace::default() }
    }

    /// Tells whether there were more operations than the limits allow.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.operands > self.operand_limit || self.gates > self.gate_limit || self.open.cost > self.gate_limit
    }

    /// The AND gates of the open region, about.
    pub(crate) fn open_cost(&self) -> u64 {
        self.open.cost
    }

    /// The number of operands that the open region's operations have.
    pub(crate) fn open_size(&self) -> usize {
        self.open.code.len()
    }

    /// The number of regions that are closed.
    pub(crate) fn region_count(&self) -> u32 {
        self.regions.len() as u32
    }

    pub(crate) fn body(&self, region: u32) -> u32 {
        self.regions[region as usize].body
    }

    pub(crate) fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// The reads of a region.
    pub(crate) fn reads(&self, region: u32) -> &[Read] {
        let at = region as usize;
        let begin = if at == 0 { 0 } else { self.regions[at - 1].reads_end };
        &self.reads[begin as usize..self.regions[at].reads_end as usize]
    }

    /// Records an operation whose result has `width` wires and values in `range`.
    pub(crate) fn push(
        &mut self,
        kind: Kind,
        width: u16,
        operands: &[Word],
        range: (Number, Number),
        line: u32,
    ) -> Word {
        Word::of_node(self.push_node(kind, width, operands, line), 0, range)
    }

    /// Records an operation whose result has `width` wires.
    pub(crate) fn push_node(&mut self, kind: Kind, width: u16, operands: &[Word], line: u32) -> Node {
        self.operands += operands.len() as u64;
        encode_head(kind, width, operands.len(), &mut self.open.code);
        for &word in operands {
            let operand = self.operand(word);
            encode_operand(operand, &mut self.open.code);
        }
        self.open.lines.push(line);
        self.open.cost += kind.estimate(width, operands);
        let node = Node { region: self.region_count(), index: self.open.nodes };
        self.open.nodes += 1;
        node
    }

    fn operand(&mut self, word: Word) -> Operand {
        let Wires::Node { node, start, len } = word.wires else {
            let value = word.known().unwrap_or_default();
            return Operand { from: Origin::Constant(value), start: 0, len: word.width(), signed: value.is_negative() };
        };
        let signed = word.signed();
        if node.region == self.region_count() {
            return Operand { from: Origin::Local(node.index), start, len, signed };
        }
        let next = self.open.reads.len() as u32;
        let index = *self.open.inputs.entry(node).or_insert(next);
        if index == next {
            self.open.reads.push(Read { node, start, end: start + len });
        } else {
            let read = &mut self.open.reads[index as usize];
            read.start = read.start.min(start);
            read.end = read.end.max(start + len);
        }
        Operand { from: Origin::Input(index), start, len, signed }
    }

    /// Ends the open region, if there is anything in it.
    pub(crate) fn close(&mut self) {
        if self.open.nodes == 0 {
            return;
        }
        let reads = std::mem::take(&mut self.open.reads);
        // What is read of each input is part of the code.
        self.open.code.extend(reads.iter().flat_map(|read| [u32::from(read.start), u32::from(read.end)]));
        self.open.code.push(reads.len() as u32);
        let body = match self.known.get(&self.open.code[..]) {
            Some(&body) => body,
            None => {
                self.gates += self.open.cost;
                let code: Rc<[u32]> = self.open.code[..].into();
                self.known.insert(code.clone(), self.bodies.len() as u32);
                self.bodies.push(Body::Code { code, lines: self.open.lines.clone() });
                self.bodies.len() as u32 - 1
            }
        };
        self.open.code.clear();
        self.open.lines.clear();
        self.open.inputs.clear();
        self.open.nodes = 0;
        self.open.cost = 0;
        self.finish_region(body, &reads);
        self.open.reads = reads;
        self.open.reads.clear();
    }

    /// Adds a region that is a bound circuit, and gives its number.
    pub(crate) fn push_extern(&mut self, number: u32, reads: &[Read]) -> u32 {
        self.close();
        self.operands += reads.len() as u64;
        let same = |body: &Body| matches!(body, Body::Extern(n, count) if *n == number && *count == reads.len());
        let body = self.bodies.iter().position(same).unwrap_or_else(|| {
            self.bodies.push(Body::Extern(number, reads.len()));
            self.bodies.len() - 1
        });
        self.finish_region(body as u32, reads);
        self.region_count() - 1
    }

    fn finish_region(&mut self, body: u32, reads: &[Read]) {
        self.reads.extend_from_slice(reads);
        self.regions.push(Region { body, reads_end: self.reads.len() as u32 });
    }
}

/// The operations and the extents of the inputs of a [`Body::Code`].
pub(crate) fn split_code(code: &[u32]) -> (&[u32], Vec<(u16, u16)>) {
    let (&count, rest) = code.split_last().expect("a body has its number of inputs");
    let (operations, extents) = rest.split_at(rest.len() - 2 * count as usize);
    (operations, extents.chunks_exact(2).map(|pair| (pair[0] as u16, pair[1] as u16)).collect())
}
