//! The `garblet` command: secure computation of programs from the shell.
//!
//! Exit status: 0 done; 1 the computation ended without a result; 2 the call or its files are wrong. Errors go to
//! standard error as `error: ...` and, where something can be done about it, `hint: ...`.

use std::process::ExitCode;

use garblet_primitives::HugePages;

#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

fn main() -> ExitCode {
    garblet_cli::main()
}
