//! The bytes that digests of programs and schedules are of.

use crate::{
    gate::{Gate, Wire},
    literal::Literal,
    types::{Float, Port, Type},
};

/// The context of the digest of a program.
pub(crate) const PROGRAM: &str = "garblet 2026 program v1";

/// Feeds a prefix-free encoding to the hash: every list is preceded by its length, every choice by its number.
#[derive(Clone)]
pub(crate) struct Encoder {
    hash: blake3::Hasher,
    /// Gates are small, and the hash is fast only on long runs.
    pending: Vec<u8>,
}

const FLUSH_BYTES: usize = 1 << 16;

impl Encoder {
    pub(crate) fn new(context: &str) -> Self {
        Encoder { hash: blake3::Hasher::new_derive_key(context), pending: Vec::with_capacity(FLUSH_BYTES + 64) }
    }

    pub(crate) fn finish(mut self) -> [u8; 32] {
        self.hash.update(&self.pending);
        self.hash.finalize().into()
    }

    pub(crate) fn number(&mut self, value: u32) {
        self.pending.extend_from_slice(&value.to_le_bytes());
        if self.pending.len() >= FLUSH_BYTES {
            self.hash.update(&self.pending);
            self.pending.clear();
        }
    }

    pub(crate) fn count(&mut self, count: usize) {
        self.number(count as u32);
        self.number((count as u64 >> 32) as u32);
    }

    pub(crate) fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.count(items.len());
        items.iter().for_each(|item| each(self, item));
    }

    pub(crate) fn literal(&mut self, literal: Literal) {
        self.number(literal.node() as u32);
        self.number(literal.inverted().into());
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.count(text.len());
        self.bytes(text.as_bytes());
    }

    /// Adds bytes whose number is known.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    #[inline]
    pub(crate) fn gate(&mut self, gate: Gate) {
        let (kind, operands) = match gate {
            Gate::Xor(a, b) => (0, [Some(a), Some(b)]),
            Gate::And(a, b) => (1, [Some(a), Some(b)]),
            Gate::Not(a) => (2, [Some(a), None]),
            Gate::Constant(value) => (3 + u32::from(value), [None, None]),
        };
        self.number(kind);
        operands.into_iter().flatten().for_each(|wire| self.number(wire.0));
    }

    pub(crate) fn wires(&mut self, wires: &[Wire]) {
        self.list(wires, |hash, wire| hash.number(wire.0));
    }

    pub(crate) fn port(&mut self, port: &Port) {
        self.text(&port.name);
        self.ty(&port.ty);
    }

    pub(crate) fn ty(&mut self, ty: &Type) {
        let mut tagged = |tag, n| {
            self.number(tag);
            self.number(n);
        };
        match ty {
            Type::Bits(n) => tagged(0, *n),
            Type::Bool => tagged(1, 1),
            Type::Unsigned(n) => tagged(2, *n),
            Type::Signed(n) => tagged(3, *n),
            Type::Bytes(n) => tagged(4, *n),
            Type::Array(element, n) => {
                tagged(5, *n);
                self.ty(element);
            }
            Type::Record(fields) => {
                tagged(6, 0);
                self.list(fields, |hash, (name, ty)| {
                    hash.text(name);
                    hash.ty(ty);
                });
            }
            Type::Fixed(integer, fraction) => {
                tagged(8, *integer);
                self.number(*fraction);
            }
            Type::Float(Float::Bf16) => tagged(11, 16),
            Type::Float(float) => tagged(10, float.width()),
            Type::List(element, n) => {
                tagged(9, *n);
                self.ty(element);
            }
            Type::Enum(variants) => {
                tagged(7, 0);
                self.list(variants, |hash, (name, types)| {
                    hash.text(name);
                    hash.list(types, Encoder::ty);
                });
            }
        }
    }
}

/// The beginning of the digest of a program of one component: all of the component, fed while its gates are read.
#[derive(Clone)]
pub struct OneComponent(Encoder);

impl OneComponent {
    /// Begins with the ports and the number of gates.
    pub fn new(inputs: &[Port], outputs: &[Port], input_count: u32, gate_count: u32) -> Self {
        let mut hash = Encoder::new(PROGRAM);
        hash.count(1);
        hash.list(inputs, Encoder::port);
        hash.list(outputs, Encoder::port);
        hash.number(input_count);
        hash.count(gate_count as usize);
        OneComponent(hash)
    }

    /// Adds the next gate.
    #[inline]
    pub fn gate(&mut self, gate: Gate) {
        self.0.gate(gate);
    }

    /// Ends with the output wires.
    pub(crate) fn finish(mut self, outputs: &[Wire]) -> Encoder {
        self.0.wires(outputs);
        self.0
    }
}
