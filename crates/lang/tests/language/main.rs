//! Tests of the function language.

mod bound_circuits;
mod bounds;
mod budget;
mod choices;
mod constants;
mod counts;
mod diagnostics;
mod fixed;
mod fixed_random;
mod floats;
mod friends;
mod least;
mod lists;
mod mistakes;
mod mutations;
mod random;
mod random_programs;
mod reference;
mod rows;
mod rustc;
mod same_results;
mod scale;
mod sizes;
mod tables;
mod wide_and_named;
mod widths;
