//! Figure 2, `eval`: buckets are evaluated.

pub(crate) mod bucket;
mod constructor;
mod evaluator;
mod extract;
