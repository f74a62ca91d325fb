//! Building circuits from typed words.
//!
//! ```
//! use garblet_circuit::Type;
//! use garblet_synthesis::builder::{CircuitBuilder, Unsigned};
//!
//! let mut c = CircuitBuilder::new("richer");
//! let a: Unsigned = c.input("a", Type::Unsigned(32));
//! let b: Unsigned = c.input("b", Type::Unsigned(32));
//! let richer = c.less(&b, &a);
//! c.output("richer", &richer);
//! let component = c.finish()?;
//! assert_eq!(component.stats().and, 32);
//! # Ok::<(), garblet_circuit::CircuitError>(())
//! ```
//!
//! Circuits have few AND gates, or, [if asked](Aim), few layers of them.
//!
//! The builder shares equal gates, folds constants, keeps negations out of the gates and removes gates that no output
//! depends on. *Cost* in the docs of the operations counts AND gates for operands that are neither
//! constant nor related; it is an upper bound otherwise. It is the cost of [`Aim::Size`].

mod arithmetic;
mod bitwise;
mod columns;
mod compare;
mod constant;
mod divide;
mod fixed;
mod float;
mod modular;
mod multiply;
mod prefix;
mod program;
mod shift;
mod sort;
mod table;
mod word;

#[cfg(test)]
pub(crate) mod simulate;

pub use constant::Way;
pub use float::FloatFormat;
pub use modular::Modulus;
pub use program::{ProgramBuilder, Wires};
pub(crate) use sort::merge_places;
pub use sort::{merge_comparators, sort_comparators, sort_places};
pub use table::lookup_ands;
pub use word::{BitString, Bytes, Integer, Signed, Unsigned, Value, Word};

use std::{cmp::Reverse, collections::BinaryHeap};

use garblet_circuit::{CircuitError, Component, Literal, Port, Type};

use crate::xag::Xag;

/// A wire of a circuit under construction, its negation, or a constant. Negation (`!bit`) costs nothing.
///
/// A bit belongs to the builder that made it.
pub type Bit = Literal;

/// The measure that a circuit keeps small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Aim {
    /// AND gates.
    #[default]
    Size,
    /// Layers of AND gates, for protocols with a round of messages for each: sums by [prefixes](CircuitBuilder::add), products and
    /// sums of many numbers by columns of full adders and one such sum, quotients two bits at a time.
    Depth,
}

/// A component under construction.
///
/// # Panics
/// Methods panic on misuse: operands of unequal shape where they must be equal, or more than
/// [`Circuit::MAX_WIRES`](garblet_circuit::Circuit::MAX_WIRES) gates. Check values from files before you pass them in.
pub struct CircuitBuilder {
    name: String,
    aim: Aim,
    graph: Xag,
    /// The layer of each node, as far as anything asked, the constant's and the inputs' 0; see [`CircuitBuilder::layer`].
    layers: Vec<u32>,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
}

impl CircuitBuilder {
    /// Begins a component with few AND gates.
    pub fn new(name: impl Into<String>) -> Self {
        Self::with_aim(name, Aim::Size)
    }

    /// Begins a component with few of what `aim` says.
    pub fn with_aim(name: impl Into<String>, aim: Aim) -> Self {
        let (graph, layers) = (Xag::new(), Vec::new());
        CircuitBuilder { name: name.into(), aim, graph, layers, inputs: Vec::new(), outputs: Vec::new() }
    }

    /// The aim of the circuit.
    pub fn aim(&self) -> Aim {
        self.aim
    }

    /// Makes room for this many more gates, which only saves time.
    pub fn reserve(&mut self, gates: usize) {
        self.graph.reserve(gates);
    }

    /// The number of AND gates so far, including those that no output will depend on.
    pub fn and_count(&self) -> u64 {
        self.graph.and_count()
    }

    /// Adds an input port and returns its value.
    ///
    /// # Panics
    /// If `W` is not a word type for `ty`.
    pub fn input<W: Word>(&mut self, name: impl Into<String>, ty: Type) -> W {
        let port = Port::new(name, ty);
        let bits: Vec<Bit> = (0..port.width()).map(|_| self.graph.input()).collect();
        let value = W::from_bits(&port.ty, &bits);
        let value = value.unwrap_or_else(|| panic!("input `{}`: the word does not have type {}", port.name, port.ty));
        self.inputs.push(port);
        value
    }

    /// Adds an output port with this value.
    pub fn output<W: Word>(&mut self, name: impl Into<String>, value: &W) {
        self.outputs.push(Port::new(name, value.ty()));
        value.append_bits(&mut self.graph.outputs);
    }

    /// Finishes the component.
    ///
    /// *Errors*: two ports of one side with the same name.
    pub fn finish(self) -> Result<Component, CircuitError> {
        let circuit = self.graph.into_circuit()?;
        Component::new(self.name, self.inputs, self.outputs, circuit)
    }

    /// Exclusive or of two bits. *Cost*: 0.
    pub fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        self.graph.xor(a, b)
    }

    /// And of two bits. *Cost*: 1.
    pub fn and(&mut self, a: Bit, b: Bit) -> Bit {
        self.graph.and(a, b)
    }

    /// Or of two bits. *Cost*: 1.
    pub fn or(&mut self, a: Bit, b: Bit) -> Bit {
        !self.graph.and(!a, !b)
    }

    /// `then` if `condition`, else `other`. *Cost*: 1.
    pub fn mux(&mut self, condition: Bit, then: Bit, other: Bit) -> Bit {
        let differ = self.xor(then, other);
        let change = self.and(condition, differ);
        self.xor(change, other)
    }

    /// And of all bits, as a tree. *Cost*: n - 1.
    pub fn all(&mut self, bits: &[Bit]) -> Bit {
        self.tree(bits, Bit::TRUE, Self::and)
    }

    /// Or of all bits, as a tree. *Cost*: n - 1.
    pub fn any(&mut self, bits: &[Bit]) -> Bit {
        self.tree(bits, Bit::FALSE, Self::or)
    }

    /// Or of all bits up to each one. *Cost*: n - 1.
    fn running_any(&mut self, bits: &[Bit]) -> Vec<Bit> {
        if self.aim == Aim::Depth {
            let none: Vec<Bit> = bits.iter().map(|&bit| !bit).collect();
            return self.running_products(&none).into_iter().map(|none| !none).collect();
        }
        let or = |any: &mut Bit, &bit: &Bit| {
            *any = self.or(*any, bit);
            Some(*any)
        };
        bits.iter().scan(Bit::FALSE, or).collect()
    }

    /// Exclusive or of all bits. *Cost*: 0.
    pub fn parity(&mut self, bits: &[Bit]) -> Bit {
        bits.iter().fold(Bit::FALSE, |sum, &b| self.xor(sum, b))
    }

    /// Combines neighbours until one is left; with [`Aim::Depth`] the two that are there first.
    fn tree(&mut self, bits: &[Bit], empty: Bit, combine: fn(&mut Self, Bit, Bit) -> Bit) -> Bit {
        if self.aim == Aim::Depth {
            let mut early: BinaryHeap<_> = bits.iter().map(|&bit| Reverse((self.layer(bit), bit))).collect();
            while let Some(Reverse((_, a))) = early.pop() {
                let Some(Reverse((_, b))) = early.pop() else { return a };
                let both = combine(self, a, b);
                early.push(Reverse((self.layer(both), both)));
            }
            return empty;
        }
        let mut level = bits.to_vec();
        while level.len() > 1 {
            level = level.chunks(2).map(|c| if c.len() == 2 { combine(self, c[0], c[1]) } else { c[0] }).collect();
        }
        level.first().copied().unwrap_or(empty)
    }

    /// Sum and carry of three bits. *Cost*: 1.
    fn full_adder(&mut self, a: Bit, b: Bit, c: Bit) -> (Bit, Bit) {
        let (ac, bc) = (self.xor(a, c), self.xor(b, c));
        let both = self.and(ac, bc);
        (self.xor(ac, b), self.xor(both, c))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_another_type_panics() {
        let result = std::panic::catch_unwind(|| {
            let mut c = CircuitBuilder::new("wrong");
            c.input::<Unsigned>("a", Type::Signed(4))
        });
        let message = *result.unwrap_err().downcast::<String>().unwrap();
        assert_eq!(message, "input `a`: the word does not have type i4");
    }

    #[test]
    fn equal_port_names_are_refused() {
        let mut c = CircuitBuilder::new("twice");
        let a: Bit = c.input("a", Type::Bool);
        c.output("out", &a);
        c.output("out", &!a);
        assert!(matches!(c.finish(), Err(CircuitError::DuplicatePort { side: "output", .. })));
    }

    #[test]
    fn records_and_arrays_keep_their_wire_order() {
        let ty = Type::Record(vec![
            ("flag".into(), Type::Bool),
            ("list".into(), Type::Array(Box::new(Type::Unsigned(3)), 2)),
            ("name".into(), Type::Bytes(1)),
        ]);
        let mut c = CircuitBuilder::new("record");
        let record: Value = c.input("r", ty.clone());
        assert_eq!(record.ty(), ty);
        let list = record.field("list").unwrap();
        let Value::Unsigned(second) = &list.elements().unwrap()[1] else { panic!("an unsigned integer") };
        assert_eq!(second.bits(), &record.to_bits()[4..7]);
        assert!(record.field("nothing").is_none());
        let swapped: (Bytes, Vec<Unsigned>) = (
            Bytes::from_bits(&Type::Bytes(1), &record.to_bits()[7..]).unwrap(),
            Vec::from_bits(&list.ty(), &list.to_bits()).unwrap(),
        );
        c.output("swapped", &swapped);
        let component = c.finish().unwrap();
        let wires: Vec<u32> = component.circuit().outputs().iter().map(|w| w.0).collect();
        assert_eq!(wires, [7, 8, 9, 10, 11, 12, 13, 14, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn trees_of_any_length() {
        for n in 0..9 {
            let mut c = CircuitBuilder::new("trees");
            let BitString(bits) = c.input("in", Type::Bits(n));
            let (all, any, parity) = (c.all(&bits), c.any(&bits), c.parity(&bits));
            c.output("out", &BitString(vec![all, any, parity]));
            let component = c.finish().unwrap();
            assert_eq!(component.stats().and, 2 * u64::from(n.saturating_sub(1)));
            for x in 0..1u128 << n {
                let expected =
                    u128::from(x == (1 << n) - 1) | u128::from(x != 0) << 1 | u128::from(x.count_ones() & 1) << 2;
                assert_eq!(simulate::component(&component, &[x]), [expected], "{n} bits, {x:b}");
            }
        }
    }
}
