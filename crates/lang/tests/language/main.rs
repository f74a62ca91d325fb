//! Tests of the function language.

mod bound_circuits;
mod counts;
mod diagnostics;
mod mutations;
mod random;
mod random_programs;
mod reference;
mod same_results;
mod scale;
