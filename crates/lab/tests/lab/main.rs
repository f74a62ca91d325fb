//! The laboratory as its users meet it: processes, pages, exact words, exit status.

mod bad_calls;
mod benchmarks;
#[path = "../../../cli/tests/cli/invocation.rs"]
mod invocation;
mod papers;
mod store;

/// The program that is tested.
const PROGRAM: &str = env!("CARGO_BIN_EXE_garblet-lab");
