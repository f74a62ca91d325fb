//! Garbling schemes behind one trait; streaming garbler and evaluator.
//!
//! A [`Garbler`] and an [`Evaluator`] walk a program's instances in step; tables go from one to the other in chunks of
//! [`CHUNK_ANDS`] AND gates, whichever instances these belong to, and are never kept. [`GarblingConfig`] picks scheme and
//! hash; XOR and negation are free in every scheme. A component with few inputs may be garbled as one table, see
//! [`Schedules::with_tables`].
//!
//! [`published`] has the schemes of 2009 as published, for comparison.
//!
//! [`masked`] has the gates of authenticated garbling, whose wires have masks that both parties share.
//!
//! [`joint`] has the half gates that several parties garble together for one evaluator.
//!
//! [`ComponentGarbling`] garbles a component by itself, before its program is known.

mod buckets;
mod config;
mod cursor;
mod evaluator;
mod garbler;
mod instances;
pub mod joint;
mod lookup;
pub mod masked;
mod pieces;
pub mod published;
mod run;
mod schedules;
mod scheme;
mod singles;

pub use buckets::BucketEvaluator;
pub use config::{CHUNK_ANDS, GarblingConfig, HashKind, SchemeKind, UnknownName};
pub use cursor::Workspace;
pub use evaluator::{EvaluateError, Evaluator};
pub use garbler::{Garbler, Seeds};
pub use garblet_primitives::{Gather, Sources};
pub use instances::{ComponentGarbling, Group, InstanceEvaluator, InstanceGarbler, Numbering, order_of_gates};
pub use pieces::Piece;
pub use schedules::Schedules;
pub use singles::{GateBuckets, SolderedGate, SolderedGates};
