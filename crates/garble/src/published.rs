//! The garbling schemes of 2009 as published, for comparison.
//!
//! *Source*: Pinkas, Schneider, Smart and Williams, *Secure Two-Party Computation is Practical* (ASIACRYPT 2009), sections 2.2, 4 and
//! 5; Gueron, Lindell, Nof and Pinkas, *Fast Garbling of Circuits Under Standard Assumptions* (CCS 2015).
//!
//! | method | a non-XOR gate | an XOR gate | assumes SHA-256 is |
//! |---|---|---|---|
//! | [`Method::Base`] | 4 or, of three inputs, 8 rows of t + 1 bits | the same | a pseudo-random function |
//! | [`Method::PrfSs`] | 2 t + 4 bits | the same | a pseudo-random function |
//! | [`Method::Glnp`] | 2 t + 4 bits | t bits | a pseudo-random function |
//! | [`Method::CorGrr`] | 3 (t + 1) bits | nothing | correlation robust |
//! | [`Method::RomGrr`] | 3 (t + 1) bits | nothing | a random oracle |
//!
//! Here t is 128. A label is a key of t bits and a separate external bit. All gates are [`TableGate`]s, so negations and
//! constants cost nothing, and every method takes the same circuits ([`PublishedConfig::form`] makes the one that suits it).
//!
//! # Deviations
//!
//! The paper's KDF of two hashes, `H(k1 || s) + H(k2 || s)`, is zero where both keys are equal, and then the row is sent in
//! the clear. So the side is hashed as well; [`Sides::AsPublished`] omits it, and a test shows the consequence: two wires
//! with the same label, which free XOR produces, give the evaluator the secret difference of all labels. The tweak `s` is the
//! gate's number and the external bits, in this order on both sides (the paper reverses it in one place).
//!
//! Protocols transfer and commit to labels that are blocks: the external bit of an input is then the lowest bit of its key ([`InputLabels::of_pairs`]), and
//! replaces that bit in the label of an output, which leaves 127 secret bits. Labels in between are as published.
//!
//! These schemes hold a whole circuit in memory and hash gate by gate; [`Garbler`](crate::Garbler) is what everything else uses.

mod evaluate;
mod garble;
mod kdf;
mod label;
mod sharing;

use garblet_circuit::Circuit;
use garblet_synthesis::tables::{self, TableCircuit, TableGate};

pub use self::{
    evaluate::evaluate,
    garble::{Garbled, garble},
    kdf::Sides,
    label::{InputLabels, Label, WireLabels},
};

/// A scheme of the papers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Four rows, one of which is the right one; gates with three inputs have eight.
    Base,
    /// Row reduction by secret sharing over GF(2^128).
    PrfSs,
    /// Free XOR and three rows, with a KDF of two hashes.
    CorGrr,
    /// Free XOR and three rows, with a KDF of one hash.
    RomGrr,
    /// Two ciphertexts for AND and one for XOR.
    Glnp,
}

impl Method {
    /// All of them, in the papers' order.
    pub const ALL: &[Method] = &[Method::Base, Method::PrfSs, Method::CorGrr, Method::RomGrr, Method::Glnp];

    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Method::Base => "base",
            Method::PrfSs => "prf-ss",
            Method::CorGrr => "cor-grr",
            Method::RomGrr => "rom-grr",
            Method::Glnp => "glnp",
        }
    }

    /// Tells whether the two labels of every wire differ by the same secret.
    pub fn has_free_xor(self) -> bool {
        matches!(self, Method::CorGrr | Method::RomGrr)
    }

    /// The numbers of blocks and of additional bits sent for a gate.
    fn sizes(self, gate: &TableGate) -> (usize, usize) {
        match self {
            Method::Base => (1 << gate.operands().len(), 1 << gate.operands().len()),
            Method::PrfSs => (2, 4),
            Method::CorGrr | Method::RomGrr if gate.is_xor() => (0, 0),
            Method::CorGrr | Method::RomGrr => (3, 3),
            Method::Glnp if gate.is_xor() => (1, 0),
            Method::Glnp => (2, 4),
        }
    }
}

/// The parameters that garbler and evaluator must agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PublishedConfig {
    /// The scheme.
    pub method: Method,
    /// The way in which its KDF treats the two sides of a gate.
    pub sides: Sides,
}

impl PublishedConfig {
    /// The scheme in its safe form.
    pub fn new(method: Method) -> Self {
        PublishedConfig { method, sides: Sides::Separated }
    }

    /// The circuit in the paper's form for the method: few gates of any kind, or few non-XOR gates.
    pub fn form(&self, circuit: &Circuit) -> TableCircuit {
        match self.method {
            Method::Base => tables::three_inputs(circuit),
            _ => tables::two_inputs(circuit),
        }
    }

    /// Bytes sent for a circuit: the blocks of all gates, then all additional bits, with the last byte padded with zeros.
    ///
    /// # Panics
    /// If a gate has three inputs and the method supports only two.
    pub fn table_bytes(&self, circuit: &TableCircuit) -> usize {
        let (blocks, bits) = self.sizes(circuit);
        16 * blocks + bits.div_ceil(8)
    }

    fn sizes(&self, circuit: &TableCircuit) -> (usize, usize) {
        circuit.gates().iter().fold((0, 0), |(blocks, bits), gate| {
            self.check(gate);
            let (more_blocks, more_bits) = self.method.sizes(gate);
            (blocks + more_blocks, bits + more_bits)
        })
    }

    fn check(&self, gate: &TableGate) {
        let two = gate.operands().len() == 2 || self.method == Method::Base;
        assert!(two, "{} garbles gates of two inputs", self.method.name());
    }
}

#[cfg(test)]
mod tests;
