//! The function language: from source text to a program graph.
//!
//! A source is a file whose name ends in `.garble.rs`: functions over integers, Booleans, arrays, tuples, structs and enums in
//! a subset of Rust, of which `main` says what is computed: its parameter `k` is the input of party `k`, its result is
//! learned by everybody.
//!
//! The language is that of the crate `garble_lang`, which tests compare with, and more.
//!
//! 1. The `front` scans, parses and type checks, and turns the typed syntax tree into a `tree` with known sizes, constants and
//!    places.
//! 2. The `machine` runs the tree on words (`word`): integers that are known, or wires with the range of their value. What
//!    is known is computed, and costs nothing; so do moves of values, known indices, and wires that a range makes zero. The
//!    rest is recorded as operations (`operation`) in regions (`trace`), cut at loops and calls.
//! 3. The assembler (`assemble`) goes through the regions backwards, to find what is read of each; makes one
//!    component of all regions that do the same, its gates (`gates`) built and optimised once; and adds an instance for each
//!    region.
//!
//! Time is spent per executed operation, memory per region and per distinct component; gates that are repeated cost
//! neither.

mod arithmetic;
mod assemble;
mod bound;
mod compile;
mod constants;
mod control;
mod evaluate;
mod fixed;
mod front;
mod front_end;
mod gates;
mod join;
mod list;
mod machine;
mod number;
mod operation;
mod panic;
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
