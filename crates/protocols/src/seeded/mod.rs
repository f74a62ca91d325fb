//! Circuits that follow from seeds, of which some are checked: what protocols that cut and choose have in common.
//!
//! ```text
//! blueprint    program and parameters of circuits, and the sizes of their parts
//! buffers      memory for parts on their way, and for circuits
//! published    circuits for the schemes of 2009
//! circuit      a circuit from its seed, part by part
//! garbling     circuits that several threads garble
//! wires        the labels of the evaluator's wires
//! evaluation   a circuit that comes part by part
//! digests      digests of circuits, before it is known which are wanted
//! consistency  a hash that all circuits make of the garbler's input
//! lanes        the order in which circuits are sent
//! split        the division into evaluated and checked circuits
//! ```

mod blueprint;
mod buffers;
pub(crate) mod checks;
mod circuit;
mod consistency;
pub(crate) mod digests;
mod evaluation;
mod garbling;
pub(crate) mod lanes;
mod published;
mod split;
pub(crate) mod wires;

pub(crate) use blueprint::{Blueprint, Committed};
pub(crate) use buffers::Buffers;
pub(crate) use circuit::{OutputLabels, Secrets, Shared, Stream};
pub(crate) use consistency::{InputHash, UniversalHash};
pub(crate) use evaluation::{Evaluated, Evaluation, InputLabels};
pub(crate) use garbling::{Garbling, Part, ToGarble};
pub(crate) use published::{MATRIX_SEED, Published};
pub(crate) use split::Split;
#[cfg(test)]
pub(crate) use split::below;
