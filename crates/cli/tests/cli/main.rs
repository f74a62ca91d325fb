//! The `garblet` command as its users meet it: processes, files, exact words, exit status.

mod examples;
mod identities;
mod invocation;
mod results;
