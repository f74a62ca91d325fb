//! The benchmarks by name.

use clap::{Parser, Subcommand};
use garblet_cli::{
    bench::{Engine, authenticated, garbling, ot, yao},
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
    Garbling(Paged<garbling::Options>),
    /// Joint garbling: what one of many parties computes by itself, against bare double-key hash calls
    Joint(joint::Options),
    /// Base oblivious transfer and its extension
    Ot(Paged<ot::Options>),
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
    Authenticated(Paged<authenticated::Options>),
    /// Gates made before the function is known, against a malicious party: the paper's experiments
    Lego(lego::Options),
    /// The function language: time and memory per instance, over sizes a hundredfold apart
    Compile(compile::Options),
    /// A sum over the intersection of two lists, by merging and by comparing all pairs: time, bytes and memory
    Psi(psi::Options),
    /// A long computation by two processes over loopback TCP
    Yao(Paged<yao::Options>),
    /// Many rows in one run, against a run for each row
    Batch(batch::Options),
    /// A TCP relay that behaves like a slow link
    LinkRelay(link_relay::Options),
    /// One party of a run on this machine: its job comes on standard input
    #[command(hide = true)]
    Child,
}

/// A measurement of the `garblet` command, which has a page here too.
#[derive(clap::Args)]
struct Paged<O: clap::Args> {
    #[command(flatten)]
    options: O,
    #[command(flatten)]
    engine: Engine,
    #[command(flatten)]
    form: Form,
}

impl<O: clap::Args> Paged<O> {
    fn run(&self, run: fn(&O, &Form) -> Result<(), Failure>) -> Result<(), Failure> {
        self.engine.select();
        run(&self.options, &self.form)
    }
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
