//! The fuzz targets, each a function of any bytes, which panics if something is wrong. Binaries for libFuzzer are in `fuzz_targets`; a test of the command runs
//! each on what is in the repository and on changes of that.

pub mod agreed_file;
pub mod binary_file;
pub mod circuit_file;
pub mod client;
pub mod frames;
pub mod input_file;
pub mod netlist_file;
pub mod ot;
pub mod program_file;
pub mod source_file;
pub mod source_program;
pub mod store;
pub mod tables;
pub mod visitors;

/// A target's name and function.
pub type Target = (&'static str, fn(&[u8]));

/// All targets by their names.
pub const TARGETS: &[Target] = &[
    ("agreed_file", agreed_file::run),
    ("binary_file", binary_file::run),
    ("circuit_file", circuit_file::run),
    ("client", client::run),
    ("frames", frames::run),
    ("input_file", input_file::run),
    ("netlist_file", netlist_file::run),
    ("ot", ot::run),
    ("program_file", program_file::run),
    ("source_file", source_file::run),
    ("source_program", source_program::run),
    ("store", store::run),
    ("tables", tables::run),
    ("visitors", visitors::run),
];
