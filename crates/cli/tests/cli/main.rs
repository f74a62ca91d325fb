//! The `garblet` command as users see it: processes, files, exact messages, exit status.

mod agreements;
mod authenticated_bmr;
mod bad_calls;
mod batches;
mod benchmarks;
mod components;
mod equals_eval;
mod examples;
mod faults;
mod golden;
mod identities;
mod in_place;
mod invocation;
mod jobs;
mod kept;
mod lego;
mod link_graphs;
mod many_parties;
mod netlists;
mod order;
mod outsourced;
mod reach;
mod receipts;
mod records;
mod results;
mod schedules;
mod service;
mod store;
mod stored_runs;
mod strangers;
mod tables;
mod two_garblers;
mod visits;

/// The tested program.
const PROGRAM: &str = env!("CARGO_BIN_EXE_garblet");
