//! Garblet: parties who do not trust one another compute a function of their private inputs by garbled circuits.
//!
//! A [`Program`] says what is computed, who gives which input and who learns which output. A [`Peer`] is one party's
//! end of a run over a [`Channel`](net::Channel) to another, a [`MeshPeer`] over a [`Mesh`](net::Mesh) of several;
//! [`run_in_memory`] runs all parties in this process, to try things. Futures are `Send`; [`on_own_thread`] keeps the
//! computation off the threads of an executor that has other work.
//!
//! ```
//! use garblet::{Bits, Config, library, run_in_memory};
//!
//! let program = library::find("lib:millionaires(32)")?;
//! let report = run_in_memory(&program, &[Bits::from_u128(5_000_000, 32), Bits::from_u128(3_000_000, 32)], Config::default())?;
//! assert_eq!(report[0].outputs, report[1].outputs);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod config;
mod memory;
mod mesh_peer;
mod mesh_role;
mod parameters;
mod peer;
mod predict;
mod role;
mod supply;
mod thread;

pub use config::{Adversary, Config, Protocol, UnknownParameter};
pub use memory::{run_in_memory, run_many_in_memory};
pub use mesh_peer::{AnyPeer, MeshPeer, MeshPrepared, fill_runs};
pub use peer::{Error, Outcome, Peer, Prepared, Report};
pub use predict::{Prediction, predict};
pub use supply::{Contents, Filled, ReadInput, Supply, Values, fill, wants_to_fill};

pub use thread::on_own_thread;

pub use garblet_circuit as circuit;
pub use garblet_circuit::{Bits, Party, Program, library};
pub use garblet_garble::{GarblingConfig, HashKind, SchemeKind, published::Method};
#[cfg(feature = "lang")]
pub use garblet_lang as lang;
pub use garblet_net as net;
pub use garblet_ot::Width;
pub use garblet_protocols::bmr;
pub use garblet_protocols::components;
pub use garblet_protocols::covert;
pub use garblet_protocols::cut_and_choose;
pub use garblet_protocols::gmw;
pub use garblet_protocols::lego;
pub use garblet_protocols::runs;
pub use garblet_protocols::yao;
pub use garblet_protocols::yao::Build;
pub use garblet_protocols::{
    Communication, MeshSession, Phase, PhaseCost, PhaseCosts, Progress, Role, RunId, Security, Session,
};
pub use garblet_store as store;

/// The examples of the book's chapter on the library are run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/src/library.md")]
mod book {}
