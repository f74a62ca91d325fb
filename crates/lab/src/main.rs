//! The laboratory: benchmarks of single parts, and the experiments of five papers beside their published figures. It measures with the
//! parts of the `garblet` command, and is no part of what users install.
//!
//! Each benchmark has a file or folder. `published` has the tables of five papers as files of comma-separated values, and the rows that a page has of them: no published
//! figure stands anywhere else. A benchmark of a paper turns its report into such rows (`rows.rs`); `page` makes the page, of one benchmark or of all; `papers` calls the
//! benchmarks as processes, keeps the results of those that have ended, and makes the book's chapter. `cli/src/bench` has the benchmarks for users.

// Where neither can be written, these would end the process: `output` has what to take.
#![warn(clippy::print_stderr, clippy::print_stdout)]

mod batch;
mod bmr;
mod commands;
mod commit;
mod compgc;
mod compile;
mod joint;
mod lego;
mod link_relay;
mod page;
mod papers;
mod partialgc;
mod psi;
mod pssw;
mod published;
mod spread;
mod store;

use std::process::ExitCode;

use garblet_console::start;
use garblet_primitives::HugePages;

use crate::commands::Lab;

#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

fn main() -> ExitCode {
    start(|lab: Lab| lab.run())
}
