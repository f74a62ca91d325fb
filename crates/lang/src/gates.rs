//! Turns the code of a region into a component.

use std::collections::{HashMap, HashSet};

use garblet_circuit::{Component, Gate, Type, Wire};
use garblet_synthesis::builder::{Aim, Bit, BitString, CircuitBuilder, Integer, Signed, Unsigned};

use crate::{
    budget::Budget,
    hole::{self, Hole},
    known,
    operation::{Decoder, Kind, Operand, Origin, Recorded, Sizes},
    parts::{Part, Tap},
    source_error::SourceError,
};

/// Wires of a node, from `start` up to `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Extent {
    pub(crate) node: u32,
    pub(crate) start: u16,
    pub(crate) end: u16,
}

/// A region's code, of which some nodes are wanted.
pub(crate) struct Code<'a> {
    pub(crate) operations: &'a [u32],
    /// The source line of each operation.
    pub(crate) lines: &'a [u32],
    /// The extents of the region's inputs.
    pub(crate) extents: &'a [(u16, u16)],
    pub(crate) wanted: &'a [Extent],
}

/// The result of building a region's code: needed inputs in, wanted wires out.
pub(crate) struct Built {
    pub(crate) body: Body,
    /// AND gates by source line, before the last optimisation, not counting those of tables.
    pub(crate) lines: Vec<(u32, u64)>,
}

pub(crate) enum Body {
    /// One component, each side one port.
    Whole(Component),
    /// The parts, and the wanted wires.
    Parts(Vec<Part>, Vec<Tap>),
}

impl Built {
    /// The components that are gates.
    pub(crate) fn components_mut(&mut self) -> Vec<&mut Component> {
        match &mut self.body {
            Body::Whole(component) => vec![component],
            Body::Parts(parts, _) => parts.iter_mut().filter_map(Part::gates_mut).collect(),
        }
    }

    /// The tables that are read, and the lines that read them, with the number of bits.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (u32, &[(u32, u64)])> {
        let parts = if let Body::Parts(parts, _) = &self.body { &parts[..] } else { &[] };
        parts.iter().filter_map(Part::table)
    }
}

/// A component with open places for reads of tables: their entries are the last input ports, and their indices the last output ports.
pub(crate) struct Open {
    pub(crate) component: Component,
    pub(crate) lines: Vec<(u32, u64)>,
    pub(crate) holes: Vec<Hole>,
}

/// The operations of a region's code that the wanted nodes need, and those of its inputs that they need.
pub(crate) fn needed(operations: &[u32], inputs: usize, wanted: &[Extent]) -> (Vec<bool>, Vec<bool>) {
    let recorded: Vec<Recorded> = Decoder::new(operations).collect();
    let mut nodes = vec![false; recorded.len()];
    let mut needed_inputs = vec![false; inputs];
    wanted.iter().for_each(|extent| nodes[extent.node as usize] = true);
    for at in (0..recorded.len()).rev() {
        let operands = if nodes[at] { &recorded[at].operands[..] } else { &[] };
        for operand in operands {
            match operand.from {
                Origin::Local(node) => nodes[node as usize] = true,
                Origin::Input(input) => needed_inputs[input as usize] = true,
                Origin::Constant(_) => {}
            }
        }
    }
    (nodes, needed_inputs)
}

/// Builds the component of a region's code, with open places for reads of tables except for those that are refused.
///
/// *Errors*: more wires than a circuit may have, and a source that costs more than it may.
pub(crate) fn open(
    code: &Code<'_>,
    (name, aim): (&str, Aim),
    refused: &HashSet<hole::Part>,
    budget: &mut Budget,
) -> Result<Open, SourceError> {
    let &Code { operations, lines, extents, wanted } = code;
    let (nodes, inputs) = needed(operations, extents.len(), wanted);
    let width = |k: usize| u32::from(extents[k].1 - extents[k].0);
    let total = (0..extents.len()).filter(|&k| inputs[k]).map(width).sum();
    let mut builder = CircuitBuilder::with_aim(name, aim);
    let BitString(wires) = builder.input("in", Type::Bits(total));
    let mut gates = Gates {
        builder,
        inputs: Vec::new(),
        nodes: Vec::new(),
        holes: Vec::new(),
        holes_by_index: HashMap::new(),
        refused,
    };
    let mut rest = &wires[..];
    for (k, &(start, _)) in extents.iter().enumerate() {
        let (own, after) = rest.split_at(if inputs[k] { width(k) as usize } else { 0 });
        rest = after;
        gates.inputs.push((start, own.to_vec()));
    }
    let mut by_line: Vec<(u32, u64)> = Vec::new();
    let all: Vec<Recorded> = Decoder::new(operations).collect();
    let absorbed = known::absorbed(&all, &nodes, wanted, aim);
    for (at, recorded) in all.iter().enumerate() {
        if nodes[at] {
            recorded.charge(lines[at], aim, refused.is_empty(), budget)?;
        }
        let before = gates.builder.and_count();
        let bits = match nodes[at] && !absorbed[at] {
            true if recorded.is_sum() => {
                let terms = gates.terms(recorded, &all, &absorbed);
                // Each full adder looks for the earliest wires among all of its column.
                budget.work((terms.len() * terms.len()) as u64 * TERM_WORK);
                budget.check()?;
                gates.sum(recorded, &terms)
            }
            true if recorded.kind == Kind::Element => gates.element(at, lines[at], recorded),
            true => gates.operation(recorded),
            false => Vec::new(),
        };
        gates.nodes.push(bits);
        add_line(&mut by_line, lines[at], gates.builder.and_count() - before);
    }
    let mut out = Vec::new();
    for extent in wanted {
        out.extend_from_slice(&gates.nodes[extent.node as usize][extent.start.into()..extent.end.into()]);
    }
    let Gates { mut builder, holes, .. } = gates;
    builder.output("out", &BitString(out));
    for (k, hole) in holes.iter().enumerate() {
        builder.output(format!("index{k}"), &BitString(hole.index.clone()));
    }
    Ok(Open { component: builder.finish()?, lines: by_line, holes })
}

impl Recorded {
    /// Charges the gates of an operation to a line, and unless they are built anew also their memory.
    ///
    /// *Errors*: a source that costs more than it may.
    fn charge(&self, line: u32, aim: Aim, is_first: bool, budget: &mut Budget) -> Result<(), SourceError> {
        let mut sizes = Sizes::default();
        self.operands.iter().for_each(|operand| sizes.add(operand));
        let few = self.kind.gates(self.width, &sizes);
        let gates = match aim {
            Aim::Size => few,
            Aim::Depth => few.saturating_mul(self.depth_factor()),
        };
        budget.turn_to_line(line);
        budget.work(gates.saturating_mul(if self.has_ways() { WAYS } else { 1 }));
        if is_first {
            budget.hold(gates.saturating_mul(GATE_BYTES));
        }
        budget.check()
    }
}

impl Recorded {
    /// The most gates for few layers, relative to few gates. Carries in few layers take about as many gates for each bit as layers; with a known
    /// operand most of them fall away.
    fn depth_factor(&self) -> u64 {
        let is_known = |operand: &Operand| matches!(operand.from, Origin::Constant(_));
        if self.operands.iter().any(is_known) {
            return KNOWN_FACTOR;
        }
        let widest = self.operands.iter().map(|operand| operand.len).fold(self.width.max(1), u16::max);
        u64::from(widest.ilog2()) + 1
    }
}

/// The work of a pair of terms of one sum.
const TERM_WORK: u64 = 4;

/// As [`Recorded::depth_factor`], with a known operand.
const KNOWN_FACTOR: u64 = 3;

/// The work of building an operation in several ways, some of them nested, to find the one with the fewest gates, relative to that
/// of building it once.
const WAYS: u64 = 8;

/// The input wire or the constant behind each output of a component without gates.
pub(crate) fn wiring(component: &Component) -> Option<Vec<Tap>> {
    let circuit = component.circuit();
    let constants = circuit.gates().iter().map(|gate| match gate {
        Gate::Constant(value) => Some(*value),
        _ => None,
    });
    let constants: Vec<bool> = constants.collect::<Option<_>>()?;
    let inputs = circuit.input_count();
    let wire = |wire: &Wire| {
        if wire.0 < inputs { Tap::Input(wire.0) } else { Tap::Constant(constants[(wire.0 - inputs) as usize]) }
    };
    Some(circuit.outputs().iter().map(wire).collect())
}

fn add_line(lines: &mut Vec<(u32, u64)>, line: u32, ands: u64) {
    match lines.iter_mut().rfind(|(own, _)| *own == line) {
        _ if ands == 0 => {}
        Some((_, sum)) => *sum += ands,
        None => lines.push((line, ands)),
    }
}

/// The memory of a gate while a component is made.
pub(crate) const GATE_BYTES: u64 = 6;

/// A component under construction.
pub(crate) struct Gates<'a> {
    pub(crate) builder: CircuitBuilder,
    /// The first wire that is there, and the wires, for each input.
    inputs: Vec<(u16, Vec<Bit>)>,
    nodes: Vec<Vec<Bit>>,
    pub(crate) holes: Vec<Hole>,
    pub(crate) holes_by_index: HashMap<Vec<Bit>, Vec<usize>>,
    /// Reads of tables that have no open place.
    pub(crate) refused: &'a HashSet<hole::Part>,
}

/// The value of an operand: two's complement if signed.
#[derive(Clone)]
pub(crate) struct Value {
    pub(crate) bits: Vec<Bit>,
    pub(crate) signed: bool,
}

impl Value {
    pub(crate) fn bit(&self, i: usize) -> Bit {
        let beyond = if self.signed { self.bits.last().copied() } else { None };
        self.bits.get(i).copied().or(beyond).unwrap_or(Bit::FALSE)
    }

    fn resized(&self, width: usize) -> Vec<Bit> {
        (0..width).map(|i| self.bit(i)).collect()
    }

    pub(crate) fn unsigned(&self, width: usize) -> Unsigned {
        Unsigned::new(self.resized(width))
    }

    pub(crate) fn as_signed(&self, width: usize) -> Signed {
        Signed::new(self.resized(width))
    }

    /// The value of a small constant.
    pub(crate) fn number(&self) -> usize {
        self.bits.iter().rev().fold(0, |number, &bit| 2 * number + usize::from(bit == Bit::TRUE))
    }

    /// The number of bits that it has as a signed number.
    pub(crate) fn signed_width(&self) -> usize {
        self.bits.len() + usize::from(!self.signed)
    }
}

impl Gates<'_> {
    pub(crate) fn value(&self, operand: &Operand) -> Value {
        let (start, len) = (usize::from(operand.start), usize::from(operand.len));
        let bits = match operand.from {
            Origin::Local(node) => self.nodes[node as usize][start..start + len].to_vec(),
            Origin::Input(input) => {
                let (first, bits) = &self.inputs[input as usize];
                bits[start - usize::from(*first)..][..len].to_vec()
            }
            Origin::Constant(value) => return Value::of(value),
        };
        Value { bits, signed: operand.signed }
    }

    /// The terms of a sum, with those of the sums that it alone reads.
    fn terms(&self, recorded: &Recorded, all: &[Recorded], absorbed: &[bool]) -> Vec<Value> {
        let mut open: Vec<&Operand> = recorded.operands.iter().rev().collect();
        let mut terms = Vec::new();
        while let Some(operand) = open.pop() {
            match operand.from {
                Origin::Local(node) if absorbed[node as usize] => open.extend(all[node as usize].operands.iter().rev()),
                _ => terms.push(self.value(operand)),
            }
        }
        terms
    }

    /// Builds a sum of these terms, column by column.
    fn sum(&mut self, recorded: &Recorded, terms: &[Value]) -> Vec<Bit> {
        if terms.len() == 2 {
            return self.operation(recorded);
        }
        let terms: Vec<Unsigned> = terms.iter().map(|term| term.unsigned(term.bits.len())).collect();
        self.builder.sum(&terms, recorded.width.into()).bits().to_vec()
    }

    fn operation(&mut self, recorded: &Recorded) -> Vec<Bit> {
        let width = usize::from(recorded.width);
        let values: Vec<Value> = recorded.operands.iter().map(|operand| self.value(operand)).collect();
        let c = &mut self.builder;
        match (recorded.kind, &values[..]) {
            (Kind::Add | Kind::WrappingAdd, [a, b]) => c.add(&a.unsigned(width), &b.unsigned(width)).bits().to_vec(),
            (Kind::AddIf | Kind::SubIf, [condition, a, k]) => {
                known::add_if(c, recorded.kind, condition.bit(0), a, k, width)
            }
            (Kind::Sub, [a, b]) => c.sub(&a.unsigned(width), &b.unsigned(width)).bits().to_vec(),
            (Kind::Mul, [a, b]) => known::product(c, recorded, a, b, width),
            (Kind::Div | Kind::Rem, [a, b]) => known::quotient(c, recorded, a, b, width),
            (Kind::And, [a, b]) => (0..width).map(|i| c.and(a.bit(i), b.bit(i))).collect(),
            (Kind::Or, [a, b]) => (0..width).map(|i| c.or(a.bit(i), b.bit(i))).collect(),
            (Kind::Xor, [a, b]) => (0..width).map(|i| c.xor(a.bit(i), b.bit(i))).collect(),
            (Kind::Not, [a]) => (0..width).map(|i| !a.bit(i)).collect(),
            (Kind::NegIf, [condition, a]) => c.neg_if(condition.bit(0), &a.unsigned(width)).bits().to_vec(),
            (Kind::Less, [a, b]) => vec![less(c, a, b)],
            (Kind::Equal, [a, b]) => {
                let n = if a.signed || b.signed {
                    a.signed_width().max(b.signed_width())
                } else {
                    a.bits.len().max(b.bits.len())
                };
                vec![c.equal(&a.unsigned(n), &b.unsigned(n))]
            }
            (Kind::Select, [condition, a, b]) => {
                (0..width).map(|i| c.mux(condition.bit(0), a.bit(i), b.bit(i))).collect()
            }
            (Kind::ShiftLeft | Kind::ShiftRight, [a, amount]) => shift(c, recorded, a, amount, width),
            (Kind::Code, [code, happened, number]) => (0..width)
                .map(|i| match number.bit(i) == Bit::TRUE {
                    true => c.xor(code.bit(i), happened.bit(0)),
                    false => code.bit(i),
                })
                .collect(),
            (Kind::CheckedMul, [a, b, signed]) => {
                known::checked_product(c, recorded, a, b, signed.bit(0) == Bit::TRUE, width - 1)
            }
            (Kind::DivFloor, [a, b, fraction]) => {
                let (n, m) = (a.signed_width(), b.signed_width());
                c.div_floor(&a.as_signed(n), &b.as_signed(m), fraction.number()).resize(width).bits().to_vec()
            }
            (Kind::Root, [a, fraction]) => {
                let low = std::iter::repeat_n(Bit::FALSE, fraction.number());
                let radicand = low.chain(a.bits.iter().copied()).collect();
                c.sqrt(&Unsigned::new(radicand)).resize(width).bits().to_vec()
            }
            (kind, [operands @ .., format]) if crate::float::is_float(kind) => {
                crate::float::build(c, kind, operands, format.number(), width)
            }
            (Kind::OneHot, [index]) => {
                let bits = width.next_power_of_two().trailing_zeros() as usize;
                let mut hot = c.one_hot(&index.unsigned(bits), width);
                // A wider index may be out of range.
                let beyond = c.any(&index.resized(index.bits.len().max(bits))[bits..]);
                hot.iter_mut().for_each(|bit| *bit = c.and(*bit, !beyond));
                hot
            }
            (kind, _) => unreachable!("{kind:?} is not recorded with {} operands", values.len()),
        }
    }
}

pub(crate) fn checked_mul(c: &mut CircuitBuilder, a: &Value, b: &Value, signed: bool, width: usize) -> Vec<Bit> {
    let (mut bits, overflow) = match signed {
        true => {
            let (product, overflow) = c.mul_overflow(&a.as_signed(width), &b.as_signed(width));
            (product.bits().to_vec(), overflow)
        }
        false => {
            let (product, overflow) = c.mul_overflow(&a.unsigned(width), &b.unsigned(width));
            (product.bits().to_vec(), overflow)
        }
    };
    bits.push(overflow);
    bits
}

pub(crate) fn less(c: &mut CircuitBuilder, a: &Value, b: &Value) -> Bit {
    if a.signed || b.signed {
        let n = a.signed_width().max(b.signed_width());
        return c.less(&a.as_signed(n), &b.as_signed(n));
    }
    let n = a.bits.len().max(b.bits.len());
    c.less(&a.unsigned(n), &b.unsigned(n))
}

pub(crate) fn mul(c: &mut CircuitBuilder, a: &Value, b: &Value, width: usize) -> Vec<Bit> {
    let (n, m) = (a.bits.len(), b.bits.len());
    if !a.signed && !b.signed && width + 1 >= n + m {
        let mut bits = c.mul_full(&a.unsigned(n), &b.unsigned(m)).bits().to_vec();
        bits.resize(width, Bit::FALSE);
        return bits;
    }
    if a.signed || b.signed {
        let (n, m) = (a.signed_width(), b.signed_width());
        // A full product takes two gates for each pair of bits, the lower half of one about one.
        if width + 1 >= n + m || 2 * n * m < width * width {
            return c.mul_full(&a.as_signed(n), &b.as_signed(m)).resize(width).bits().to_vec();
        }
    }
    c.mul(&a.unsigned(width), &b.unsigned(width)).bits().to_vec()
}

pub(crate) fn divide(c: &mut CircuitBuilder, kind: Kind, a: &Value, b: &Value, width: usize) -> Vec<Bit> {
    if a.signed || b.signed {
        let (n, m) = (a.signed_width(), b.signed_width());
        let (quotient, remainder) = c.div_rem_signed(&a.as_signed(n), &b.as_signed(m));
        // The least value divided by -1 has one bit more than either.
        let quotient = if kind == Kind::Div && width > n {
            c.div_rem_signed(&a.as_signed(width), &b.as_signed(m)).0
        } else {
            quotient
        };
        let result = if kind == Kind::Div { quotient } else { remainder };
        return result.resize(width).bits().to_vec();
    }
    let (quotient, remainder) = c.div_rem(&a.unsigned(a.bits.len()), &b.unsigned(b.bits.len()));
    let result = if kind == Kind::Div { quotient } else { remainder };
    result.resize(width).bits().to_vec()
}

fn shift(c: &mut CircuitBuilder, recorded: &Recorded, a: &Value, amount: &Value, width: usize) -> Vec<Bit> {
    if let Origin::Constant(by) = recorded.operands[1].from {
        let by = by.as_usize();
        return (0..width).map(|i| i.checked_sub(by).map_or(Bit::FALSE, |i| a.bit(i))).collect();
    }
    let amount = amount.unsigned(amount.bits.len());
    match recorded.kind {
        Kind::ShiftLeft => c.shift_left_by(&a.unsigned(width), &amount).bits().to_vec(),
        _ if a.signed => c.shift_right_by(&a.as_signed(width), &amount).bits().to_vec(),
        _ => c.shift_right_by(&a.unsigned(width), &amount).bits().to_vec(),
    }
}
