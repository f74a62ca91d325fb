//! The protocols, one folder each, and the [`Session`] that joins one to a channel and a generator.
//!
//! Protocols are asynchronous functions over a session, in numbered steps that a reader can hold beside the paper. Each
//! states its steps, symbols, deviations, cost and assumptions in its module's documentation.

pub mod binding;
pub mod bmr;
mod bulk;
pub mod checks;
pub mod coin_toss;
pub mod components;
pub mod conduct;
pub mod covert;
#[cfg(test)]
mod curious;
pub mod cut_and_choose;
pub mod encoding;
mod error;
pub mod gmw;
#[cfg(test)]
mod hull;
mod interface;
pub mod lego;
#[cfg(test)]
mod mesh_run;
mod phase;
mod role;
mod run_id;
pub mod runs;
mod security;
mod seeded;
mod session;
#[cfg(test)]
mod uniformity;
mod workers;
pub mod yao;

pub use error::ProtocolError;
pub use phase::{Communication, Phase, PhaseCost, PhaseCosts};
pub use role::Role;
pub use run_id::RunId;
pub use security::Security;
pub use session::{MeshSession, Metered, Progress, Session};
