//! Figure 2, `build`: buckets are soldered to the function.

pub(crate) mod ands;
mod constructor;
mod evaluator;
pub(crate) mod wiring;
