//! The protocols, one folder each, and the [`Session`] that joins one to a channel and a generator.
//!
//! Protocols are asynchronous functions over a session, in numbered steps that a reader can hold beside the paper. Each
//! states its steps, symbols, deviations, cost and assumptions in its module's documentation.

mod adversary;
pub mod bmr;
mod bulk;
pub mod checks;
pub mod coin_toss;
pub mod components;
pub mod conduct;
pub mod covert;
pub mod cut_and_choose;
pub mod domain;
pub mod encoding;
pub mod error;
pub mod gmw;
#[cfg(feature = "toy")]
pub mod ideal;
pub mod lego;
pub mod parameters;
mod party_io;
mod phase;
pub mod protocol;
mod role;
mod run_id;
pub mod runs;
mod security;
mod seeded;
mod session;
pub mod stock;
#[cfg(test)]
mod testing;
mod workers;
pub mod yao;

pub use adversary::Adversary;
pub use error::ProtocolError;
pub use phase::{Communication, Phase, PhaseCost, PhaseCosts};
pub use protocol::Protocol;
pub use role::Role;
pub use run_id::RunId;
pub use security::Security;
pub use session::{Link, MeshSession, Progress, Session};
