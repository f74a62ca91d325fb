//! The `garblet` command as its users meet it: processes, files, exact words, exit status.

mod bad_calls;
mod batches;
mod benchmarks;
mod components;
mod equals_eval;
mod examples;
mod faults;
mod identities;
mod invocation;
mod jobs;
mod lego;
mod link_graphs;
mod many_parties;
mod outsourced;
mod papers;
mod receipts;
mod records;
mod results;
mod service;
mod store;
mod stored_runs;
mod strangers;
mod tables;
mod visits;
