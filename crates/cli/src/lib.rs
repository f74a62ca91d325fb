//! The commands of `garblet` as a library, shared by the small program and the laboratory (`garblet-lab`).

// These macros panic if the stream cannot be written; use `output` instead.
#![warn(clippy::print_stderr, clippy::print_stdout)]

mod agreement;
pub mod ahead;
pub mod args;
pub mod bench;
pub mod child;
mod commands;
mod configuration;
mod convert;
mod cpu;
mod demo;
mod eval;
pub mod failure;
mod generate;
mod hex;
pub mod hints;
mod identity;
pub mod inputs;
mod inspect;
mod job;
pub mod local;
mod meeting;
pub mod output;
mod plan;
mod prepare;
pub mod program;
pub mod progress;
mod reach;
mod receipts;
pub mod record;
pub mod report;
mod results;
mod run;
pub mod serve;
pub mod session;
pub mod settings;
pub mod slow;
mod start;
pub mod stock;
mod store;
mod visit;
mod way;
pub mod whole_file;
mod words;
mod written;

pub use commands::main;
pub use start::start;
