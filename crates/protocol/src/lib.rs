//! The shape of every protocol ([`Protocol`], [`Role`]), and the [`Session`] that joins one to a link and a generator.
//!
//! Protocols are asynchronous functions over a session, in numbered steps that a reader can hold beside the paper. Each
//! states its steps, symbols, deviations, cost and assumptions in its module's documentation.
//! Protocols against cheating parties share `domain` (the domain of every hash and key), `coin_toss`, `checks` (the checks, and what a party may do when a
//! check fails), `conduct` (where a test's party deviates) and `workers` (threads for independent circuits). Circuits derived from seeds are in
//! `garblet_seeded`.
//!
//! **A protocol names no clock, socket or file.** The [`Session`] has the clock, `garblet_net` has sockets and time-outs, `garblet_store` has files.
//! `cut-and-choose` and `authenticated` name the system's folder for temporary files, where `garblet_store` keeps its scratch.

mod adversary;
pub mod bulk;
pub mod checks;
pub mod choice;
mod class;
pub mod coin_toss;
pub mod conduct;
pub mod domain;
pub mod error;
pub mod kept;
pub mod parameters;
pub mod party_io;
pub mod phase;
pub mod protocol;
mod role;
pub mod run_id;
pub mod secrets;
mod security;
pub mod session;
pub mod stock;
pub mod workers;

pub use adversary::Adversary;
pub use class::Class;
pub use error::ProtocolError;
pub use phase::{Communication, Phase, PhaseCost, PhaseCosts};
pub use protocol::Protocol;
pub use role::Role;
pub use run_id::RunId;
pub use security::{Collusion, Security};
pub use session::{Link, MeshSession, Progress, Session};
