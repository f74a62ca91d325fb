//! The shape of every protocol ([`Protocol`], [`Role`]), and the [`Session`] that joins one to a link and a generator.
//!
//! Protocols are asynchronous functions over a session, in numbered steps that a reader can hold beside the paper. Each
//! states its steps, symbols, deviations, cost and assumptions in its module's documentation.

mod adversary;
pub mod bulk;
pub mod checks;
pub mod coin_toss;
pub mod conduct;
pub mod domain;
pub mod error;
pub mod parameters;
pub mod party_io;
pub mod phase;
pub mod protocol;
mod role;
pub mod run_id;
mod security;
pub mod session;
pub mod stock;
pub mod workers;

pub use adversary::Adversary;
pub use error::ProtocolError;
pub use phase::{Communication, Phase, PhaseCost, PhaseCosts};
pub use protocol::Protocol;
pub use role::Role;
pub use run_id::RunId;
pub use security::{Collusion, Security};
pub use session::{Link, MeshSession, Progress, Session};
