//! Garbling schemes behind one trait; streaming garbler and evaluator.
//!
//! A [`Garbler`] and an [`Evaluator`] walk a program's instances in step; tables go from one to the other in chunks of
//! [`CHUNK_ANDS`] AND gates, whichever instances these belong to, and are never kept. [`GarblingConfig`] picks scheme and
//! hash; XOR and negation are free in every scheme.

mod config;
mod evaluator;
mod garbler;
mod position;
mod run;
mod schedules;
mod scheme;

pub use config::{CHUNK_ANDS, GarblingConfig, HashKind, SchemeKind, UnknownName};
pub use evaluator::{EvaluateError, Evaluator};
pub use garbler::{Garbler, Seeds};
pub use schedules::Schedules;
