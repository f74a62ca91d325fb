//! The commands of `garblet` as a library, shared by the small program and the laboratory (`garblet-lab`).

// These macros panic if the stream cannot be written; use `output` of the console instead.
#![warn(clippy::print_stderr, clippy::print_stdout)]

pub mod ahead;
pub mod bench;
pub mod child;
mod commands;
mod convert;
mod demo;
mod eval;
mod generate;
mod identities;
mod inspect;
mod jobs;
pub mod local;
mod meeting;
mod plan;
mod prepare;
mod receipt_logs;
mod results;
mod run;
pub mod serve;
pub mod slow;
mod store;
mod visit;

pub use commands::main;
