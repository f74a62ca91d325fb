//! The parts that programs of Garblet for terminals share: the command `garblet`, its service and the laboratory.
//!
//! `start` begins and ends a program; `failure` has the reasons why it ends without having done its work, `hints` and `words` the remedies, `output` and `progress` what it
//! shows. `args`, `inputs`, `stock`, `way`, `identity` and `settings` are groups of options and what they say; `written` reads the same from files, `job` whole agreements.
//! `program` loads what is computed and `session` computes it with the others; `report`, `record` and `receipts` tell and keep what a run has given.
//! `configuration` and `whole_file` are for files that others must not change.

// These macros panic if the stream cannot be written; use `output` instead.
#![warn(clippy::print_stderr, clippy::print_stdout)]

pub mod args;
pub mod configuration;
mod cpu;
pub mod failure;
pub mod hex;
pub mod hints;
pub mod identity;
pub mod inputs;
pub mod job;
pub mod mark;
pub mod output;
pub mod program;
pub mod progress;
pub mod receipts;
pub mod record;
pub mod report;
pub mod session;
pub mod settings;
mod start;
pub mod stock;
pub mod unfinished;
pub mod way;
pub mod whole_file;
mod words;
pub mod written;

pub use start::start;
