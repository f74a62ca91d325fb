//! The trace: what a program does, as a list of regions.
//!
//! A region is a run of operations that becomes one instance of one component. Regions that do the same with different
//! operands, such as the iterations of a loop, have equal code, which is stored once.

use std::{collections::HashMap, hash::BuildHasherDefault, rc::Rc};

use crate::{
    budget::Budget,
    number::{Number, ONE, ZERO, mask},
    operation::{Decoder, Kind, Operand, Origin, Recorded, Sizes, encode_head, encode_operand},
    word::{Node, NodeHasher, Wires, Word},
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

/// A region: its body, and the end of its reads. They begin where those of the region before end.
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
    /// The body of each circuit and number of reads.
    externs: HashMap<(u32, usize), u32>,
    /// The limit of what compiling may cost. Once it is spent, nothing more is recorded.
    pub(crate) budget: Budget,
}

/// The work of recording an operation, of each of its operands, and of an operand that the region reads for the first time.
const NODE_WORK: u64 = 4;
const OPERAND_WORK: u64 = 2;
const NEW_READ_WORK: u64 = 2;
/// The work of making an instance of a region, and of each of its reads.
const REGION_WORK: u64 = 12;
const READ_WORK: u64 = 2;
/// The memory of a region and of the instance that it becomes, and of a read and the link.
const REGION_BYTES: u64 = 40;
const READ_BYTES: u64 = 32;
/// The memory of a body beside its code, and of a word of that.
const BODY_BYTES: u64 = 256;
const CODE_BYTES: u64 = 5;

/// The region that is being recorded.
#[derive(Default)]
struct Open {
    code: Vec<u32>,
    lines: Vec<u32>,
    /// The place where the code of each node begins.
    begins: Vec<u32>,
    nodes: u32,
    cost: u64,
    inputs: HashMap<Node, u32, BuildHasherDefault<NodeHasher>>,
    reads: Vec<Read>,
}

impl Trace {
    /// An empty trace with a budget.
    pub(crate) fn new(budget: Budget) -> Self {
        Trace { budget, ..Trace::default() }
    }

    /// The open region's approximate number of AND gates.
    pub(crate) fn open_cost(&self) -> u64 {
        self.open.cost
    }

    /// The number of operands that the open region's operations have.
    pub(crate) fn open_size(&self) -> usize {
        self.open.code.len()
    }

    /// The number of closed regions.
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
        let node = Node { region: self.region_count(), index: self.open.nodes };
        self.budget.work(NODE_WORK + OPERAND_WORK * operands.len() as u64);
        if self.budget.is_spent() {
            return node;
        }
        let before = self.open.code.len();
        self.open.begins.push(before as u32);
        encode_head(kind, width, operands.len(), &mut self.open.code);
        let mut sizes = Sizes::default();
        for &word in operands {
            let operand = self.operand(word);
            sizes.add(&operand);
            encode_operand(operand, &mut self.open.code);
        }
        let held = (self.open.code.len() - before) as u64 * CODE_BYTES;
        self.budget.hold_pending(held);
        self.open.lines.push(line);
        self.open.cost += kind.estimate(width, &sizes);
        self.open.nodes += 1;
        node
    }

    /// The node that will be recorded next.
    pub(crate) fn next_node(&self) -> Node {
        Node { region: self.region_count(), index: self.open.nodes }
    }

    /// The operation of the open region whose result a word is, from its first wire on, and the operation's number.
    fn recorded(&self, word: Word) -> Option<(u32, Recorded)> {
        let Wires::Node { node, start: 0, .. } = word.wires else { return None };
        let begin =
            (node.region == self.region_count()).then(|| self.open.begins.get(node.index as usize)).flatten()?;
        Some((node.index, Decoder::new(&self.open.code[*begin as usize..]).next()?))
    }

    /// Makes `word` conditional. It must be the sum of `other` and a constant, or the negative of `other`; afterwards it is that only
    /// if `condition` holds, and `other` if not, with `width` wires. It must have been recorded in the branch that began with node
    /// `begin` and that is taken if the condition holds: there it keeps its value, and nothing outside of the branch uses it.
    ///
    /// Returns whether that was possible.
    pub(crate) fn make_conditional(
        &mut self,
        word: Word,
        other: Word,
        condition: Word,
        begin: Node,
        width: u16,
    ) -> bool {
        let Some((index, recorded)) = self.recorded(word).filter(|(index, _)| *index >= begin.index) else {
            return false;
        };
        if begin.region != self.region_count() {
            return false;
        }
        let is_other = |operand: &Operand| self.known_operand(other).as_ref() == Some(operand);
        let is_known = |operand: &Operand| matches!(operand.from, Origin::Constant(_));
        let operands = match (recorded.kind, &recorded.operands[..]) {
            (Kind::Add | Kind::WrappingAdd | Kind::Sub, [x, k]) if is_other(x) && is_known(k) => vec![*x, *k],
            (Kind::Add | Kind::WrappingAdd, [k, x]) if is_other(x) && is_known(k) => vec![*x, *k],
            (Kind::NegIf, [k, x]) if is_other(x) && k.from == Origin::Constant(ONE) => vec![*x],
            _ => return false,
        };
        let condition = match self.known_operand(condition) {
            Some(Operand { from: Origin::Local(at), .. }) if at >= index => return false,
            _ => self.operand(condition),
        };
        let kind = match recorded.kind {
            Kind::Sub => Kind::SubIf,
            Kind::NegIf => Kind::NegIf,
            _ => Kind::AddIf,
        };
        let mut code = Vec::new();
        encode_head(kind, width.max(recorded.width), 1 + operands.len(), &mut code);
        [condition].into_iter().chain(operands).for_each(|operand| encode_operand(operand, &mut code));
        self.replace(index, code);
        true
    }

    /// Replaces the code of a node.
    fn replace(&mut self, index: u32, code: Vec<u32>) {
        let begin = self.open.begins[index as usize] as usize;
        let end = self.open.begins.get(index as usize + 1).map_or(self.open.code.len(), |&next| next as usize);
        let more = code.len() as i64 - (end - begin) as i64;
        self.budget.work(1 + (self.open.code.len() - begin) as u64 / 16);
        self.open.code.splice(begin..end, code);
        let later = &mut self.open.begins[index as usize + 1..];
        later.iter_mut().for_each(|begin| *begin = (i64::from(*begin) + more) as u32);
    }

    /// Returns whether two words are the differences of the same numbers, one the other way round.
    pub(crate) fn are_opposite(&self, a: Word, b: Word) -> bool {
        let difference = |word: Word| self.recorded(word).map(|(_, recorded)| (recorded.kind, recorded.operands));
        match (difference(a), difference(b)) {
            (Some((Kind::Sub, a)), Some((Kind::Sub, b))) => a[0] == b[1] && a[1] == b[0],
            _ => false,
        }
    }

    /// The `width` low wires of the operation whose result a word is, if it has as many.
    pub(crate) fn low_wires(&self, word: Word, width: u16) -> Option<Word> {
        let Wires::Node { node, .. } = word.wires else { return None };
        let (_, recorded) = self.recorded(word)?;
        (recorded.width >= width).then(|| Word::of_node(node, 0, (ZERO, mask(width))))
    }

    /// The operand for a word, if the open region computes or reads it already.
    fn known_operand(&self, word: Word) -> Option<Operand> {
        let Wires::Node { node, start, len } = word.wires else { return None };
        let from = match node.region == self.region_count() {
            true => Origin::Local(node.index),
            false => Origin::Input(*self.open.inputs.get(&node)?),
        };
        Some(Operand { from, start, len, signed: word.signed() })
    }

    fn operand(&mut self, word: Word) -> Operand {
        let Wires::Node { node, start, len } = word.wires else {
            let value = word.known().unwrap_or(ZERO);
            return Operand { from: Origin::Constant(value), start: 0, len: word.width(), signed: value.is_negative() };
        };
        let signed = word.signed();
        if node.region == self.region_count() {
            return Operand { from: Origin::Local(node.index), start, len, signed };
        }
        let next = self.open.reads.len() as u32;
        let index = *self.open.inputs.entry(node).or_insert(next);
        if index == next {
            self.budget.work(NEW_READ_WORK);
            self.open.reads.push(Read { node, start, end: start + len });
        } else {
            let read = &mut self.open.reads[index as usize];
            read.start = read.start.min(start);
            read.end = read.end.max(start + len);
        }
        Operand { from: Origin::Input(index), start, len, signed }
    }

    /// Ends the open region, unless it is empty.
    pub(crate) fn close(&mut self) {
        if self.open.nodes == 0 {
            return;
        }
        let reads = std::mem::take(&mut self.open.reads);
        // The extents read from each input are part of the code.
        self.open.code.extend(reads.iter().flat_map(|read| [u32::from(read.start), u32::from(read.end)]));
        self.open.code.push(reads.len() as u32);
        let body = match self.known.get(&self.open.code[..]) {
            Some(&body) => {
                self.budget.settle(false);
                body
            }
            None => {
                self.budget.hold_pending(BODY_BYTES);
                self.budget.settle(true);
                let code: Rc<[u32]> = self.open.code[..].into();
                self.known.insert(code.clone(), self.bodies.len() as u32);
                self.bodies.push(Body::Code { code, lines: self.open.lines.clone() });
                self.bodies.len() as u32 - 1
            }
        };
        self.open.code.clear();
        self.open.lines.clear();
        self.open.begins.clear();
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
        let next = self.bodies.len() as u32;
        let body = *self.externs.entry((number, reads.len())).or_insert(next);
        if body == next {
            self.bodies.push(Body::Extern(number, reads.len()));
        }
        self.finish_region(body, reads);
        self.region_count() - 1
    }

    fn finish_region(&mut self, body: u32, reads: &[Read]) {
        let count = reads.len() as u64;
        self.budget.work(REGION_WORK + count * READ_WORK);
        self.budget.hold(REGION_BYTES + count * READ_BYTES);
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
