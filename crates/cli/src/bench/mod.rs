//! Measurements of single parts, one file each.

mod aes_chains;
pub(crate) mod authenticated;
pub(crate) mod batch;
pub(crate) mod bmr;
pub(crate) mod commit;
pub(crate) mod compgc;
pub(crate) mod compile;
pub(crate) mod garbling;
pub(crate) mod joint;
pub(crate) mod lego;
pub(crate) mod link_relay;
mod loopback;
pub(crate) mod ot;
mod page;
pub(crate) mod papers;
pub(crate) mod partialgc;
pub(crate) mod psi;
pub(crate) mod pssw;
mod published;
mod spread;
pub(crate) mod store;
pub(crate) mod yao;

use crate::{child::end_with_parent, failure::Failure};

/// The benchmarks by name.
#[derive(clap::Subcommand)]
pub(crate) enum Bench {
    /// Garbling and evaluating in memory, one thread, against the bare hash calls
    Garbling(garbling::Options),
    /// The computation of one of many parties by itself in joint garbling, against bare double-key hash calls
    Joint(joint::Options),
    /// Base oblivious transfer and its extension
    Ot(ot::Options),
    /// XOR-homomorphic commitments, against bare stretching and transposition
    Commit(commit::Options),
    /// Filling a store and drawing from it, against a plain file
    Store(store::Options),
    /// The experiments of five papers beside their published figures: one page with tables and plots
    Papers(papers::Options),
    /// Components prepared ahead: the paper's experiments, and functions that it did not know
    Compgc(compgc::Options),
    /// Several parties: the paper's experiments, and what depth costs
    Bmr(bmr::Options),
    /// Checked and unchecked garbled circuits: the tables of 2009, and what is better today
    Pssw(pssw::Options),
    /// Two servers and a client: the paper's tables, and what its programs cost today
    Partialgc(partialgc::Options),
    /// Garbled circuits with shared masks, against cheaters: every phase of many copies of a function
    Authenticated(authenticated::Options),
    /// Gates made before the function is known, against cheaters: the paper's experiments
    Lego(lego::Options),
    /// The function language: time and memory by instance, over sizes a hundredfold apart
    Compile(compile::Options),
    /// A sum over the intersection of two lists, by merging and by comparing all pairs: time, bytes and memory
    Psi(psi::Options),
    /// A long computation by two processes over loopback TCP
    Yao(yao::Options),
    /// Many rows in one run, against a run for each row
    Batch(batch::Options),
    /// A TCP relay that behaves like a slow link
    LinkRelay(link_relay::Options),
}

/// Runs a benchmark.
pub(crate) fn run(bench: &Bench) -> Result<(), Failure> {
    // `papers` keeps the standard input of its benchmarks open for as long as it waits for them.
    if std::env::args_os().any(|argument| argument == "--rows") {
        end_with_parent();
    }
    match bench {
        Bench::Garbling(options) => garbling::run(options),
        Bench::Joint(options) => joint::run(options),
        Bench::Ot(options) => ot::run(options),
        Bench::Commit(options) => commit::run(options),
        Bench::Store(options) => store::run(options),
        Bench::Papers(options) => papers::run(options),
        Bench::Compgc(options) => compgc::run(options),
        Bench::Bmr(options) => bmr::run(options),
        Bench::Pssw(options) => pssw::run(options),
        Bench::Partialgc(options) => partialgc::run(options),
        Bench::Authenticated(options) => authenticated::run(options),
        Bench::Lego(options) => lego::run(options),
        Bench::Compile(options) => compile::run(options),
        Bench::Psi(options) => psi::run(options),
        Bench::Yao(options) => yao::run(options),
        Bench::Batch(options) => batch::run(options),
        Bench::LinkRelay(options) => link_relay::run(options),
    }
}
