//! The `garblet` command.
fn main() {}
