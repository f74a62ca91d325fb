//! Circuits derived from seeds, some of which are checked: the common parts of cut-and-choose protocols.
//!
//! ```text
//! blueprint    program and parameters of circuits, and the sizes of their parts
//! buffers      memory for parts on their way, and for circuits
//! published    circuits for the schemes of 2009
//! circuit      a circuit from its seed, part by part
//! garbling     circuits that several threads garble
//! wires        the labels of the evaluator's wires
//! evaluation   a circuit that arrives part by part
//! digests      digests of circuits, before it is known which are wanted
//! consistency  a hash of the garbler's input in all circuits
//! lanes        the order in which circuits are sent
//! parameters   parameters of protocols that have a published form
//! encoding     encodings of inputs in which few bits reveal nothing
//! split        the division into evaluated and checked circuits
//! ```

mod blueprint;
mod buffers;
pub mod checks;
mod circuit;
mod consistency;
pub mod digests;
pub mod encoding;
mod evaluation;
mod garbling;
pub mod lanes;
pub mod parameters;
mod published;
mod split;
pub mod wires;

pub use blueprint::{Blueprint, Committed};
pub use buffers::Buffers;
pub use circuit::{OutputLabels, Secrets, Shared, Stream};
pub use consistency::{InputHash, PartHash};
pub use evaluation::{Evaluated, Evaluation, InputLabels};
pub use garbling::{Garbling, Part, ToGarble};
pub use published::{MATRIX_SEED, Published};
pub use split::Split;

#[doc(hidden)]
pub use {garblet_garble as garble, garblet_protocol as protocol};
