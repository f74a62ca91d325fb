//! The function language: from source text to a program graph.
//!
//! A source is a file whose name ends in `.garble.rs`. It holds functions over integers, Booleans, arrays, tuples, structs and
//! enums, in a subset of Rust. The parties compute `main`: its parameter `k` is the input of party `k`, and every party learns
//! its result.
//!
//! The language extends that of the crate `garble_lang`, against which tests compare it.
//!
//! 1. The `front` scans, parses and checks types. It turns the typed syntax tree into a `tree` in which sizes, constants and
//!    places are known.
//! 2. The `machine` runs the tree on words (`word`): known integers, or wires with the range of their value. It computes what
//!    is known. This costs no gates, and neither do moves of values, known indices, and wires that a range makes zero. It
//!    records the rest as operations (`operation`) in regions (`trace`), which it cuts at loops and calls.
//! 3. The assembler (`assemble`) walks the regions backwards to find what is read of each. It makes one component for all
//!    regions that do the same, builds and optimises its gates (`gates`) once, and adds an instance for each region.
//!    A read of a constant array at a secret index becomes a component of its own (`lookup`) if that takes fewer bytes as a
//!    garbled table than as gates; the gates around it are cut there (`parts`).
//!
//! Time grows with the executed operations, and memory with the regions and the distinct components. Repeated gates cost
//! neither.

mod arithmetic;
mod assemble;
mod bound;
mod budget;
mod compile;
mod constants;
mod control;
mod evaluate;
mod fixed;
mod float;
mod front;
mod front_end;
mod gates;
mod hole;
mod integer;
mod join;
mod known;
mod list;
mod lookup;
mod machine;
mod number;
mod operation;
mod panic;
mod parts;
mod place;
mod ports;
mod region;
mod rows;
mod source_error;
mod trace;
mod tree;
mod word;

pub use compile::Options;
pub use constants::{ConstantError, Constants};
pub use front_end::Language;
