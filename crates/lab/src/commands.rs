//! The benchmarks by name.

use clap::{Parser, Subcommand};
use garblet_cli::{
    bench::{Measured, authenticated, garbling, ot, yao},
    child::{self, end_with_parent},
};
use garblet_console::failure::Failure;

use crate::{
    batch, bmr, commit, compgc, compile, joint, lego, link_relay, page::Form, papers, partialgc, psi, pssw, store,
};

/// Measure parts of Garblet on this machine, and set them beside published figures.
#[derive(Parser)]
#[command(name = "garblet-lab", version, disable_help_subcommand = true, arg_required_else_help = true)]
pub(crate) struct Lab {
    #[command(subcommand)]
    benchmark: Benchmark,
}

/// The benchmarks.
#[derive(Subcommand)]
enum Benchmark {
    /// Garbling and evaluating in memory, one thread, against the bare hash calls
    Garbling(Measured<garbling::Options, Form>),
    /// Joint garbling: what one of many parties computes by itself, against bare double-key hash calls
    Joint(joint::Options),
    /// Base oblivious transfer and its extension
    Ot(Measured<ot::Options, Form>),
    /// XOR-homomorphic commitments, against bare stretching and transposition
    Commit(commit::Options),
    /// Filling a store and drawing from it, against a plain file
    Store(store::Options),
    /// The experiments of five papers beside their published figures: one page with tables and plots
    Papers(papers::Options),
    /// Components prepared ahead: the paper's experiments, and functions that it does not have
    Compgc(compgc::Options),
    /// BMR with several parties: the paper's experiments, and the cost of depth
    Bmr(bmr::Options),
    /// Checked and unchecked garbled circuits: the tables of 2009, and today's defaults
    Pssw(pssw::Options),
    /// Two servers and a client: the paper's tables, and the cost of its programs today
    Partialgc(partialgc::Options),
    /// Authenticated garbling against a malicious party: each phase of many copies of a function
    Authenticated(Measured<authenticated::Options, Form>),
    /// Gates made before the function is known, against a malicious party: the paper's experiments
    Lego(lego::Options),
    /// The function language: time and memory per instance, over sizes a hundredfold apart
    Compile(compile::Options),
    /// A sum over the intersection of two lists, by merging and by comparing all pairs: time, bytes and memory
    Psi(psi::Options),
    /// A long computation by two processes over loopback TCP
    Yao(Measured<yao::Options, Form>),
    /// Many rows in one run, against a run for each row
    Batch(batch::Options),
    /// A TCP relay that behaves like a slow link
    LinkRelay(link_relay::Options),
    /// One party of a run on this machine: its job comes on standard input
    #[command(hide = true)]
    Child,
}

impl Lab {
    /// Runs the benchmark.
    ///
    /// *Errors*: the reason why it ends without a result.
    pub(crate) fn run(self) -> Result<(), Failure> {
        // `papers` keeps the standard input of its benchmarks open for as long as it waits for them.
        if std::env::args_os().any(|argument| argument == "--rows") {
            end_with_parent();
        }
        match self.benchmark {
            Benchmark::Garbling(call) => call.run(garbling::run),
            Benchmark::Joint(options) => joint::run(&options),
            Benchmark::Ot(call) => call.run(ot::run),
            Benchmark::Commit(options) => commit::run(&options),
            Benchmark::Store(options) => store::run(&options),
            Benchmark::Papers(options) => papers::run(&options),
            Benchmark::Compgc(options) => compgc::run(&options),
            Benchmark::Bmr(options) => bmr::run(&options),
            Benchmark::Pssw(options) => pssw::run(&options),
            Benchmark::Partialgc(options) => partialgc::run(&options),
            Benchmark::Authenticated(call) => call.run(authenticated::run),
            Benchmark::Lego(options) => lego::run(&options),
            Benchmark::Compile(options) => compile::run(&options),
            Benchmark::Psi(options) => psi::run(&options),
            Benchmark::Yao(call) => call.run(yao::run),
            Benchmark::Batch(options) => batch::run(&options),
            Benchmark::LinkRelay(options) => link_relay::run(&options),
            Benchmark::Child => child::main(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        use clap::CommandFactory;
        Lab::command().debug_assert();
    }
}
