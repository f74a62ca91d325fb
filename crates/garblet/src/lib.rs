//! Garblet: parties that do not trust one another compute a function of their private inputs by garbled circuits.
//!
//! A [`Program`] says what is computed, who gives which input and who learns which output. A [`Plan`] is a
//! program made ready for a protocol; a [`Peer`] is one party's end of its runs, over a [`Channel`](net::Channel) to another or a
//! [`Mesh`](net::Mesh) of several; [`run_in_memory`] runs all parties in this process, for experiments. Futures are `Send`; [`on_own_thread`] keeps the
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

mod advice;
mod choice;
mod config;
mod erased;
mod explain;
mod fill;
#[cfg(feature = "lang")]
mod load;
#[cfg(feature = "tcp")]
pub mod meet;
mod memory;
#[cfg(feature = "lang")]
mod panics;
mod peer;
mod plan;
mod registry;
mod report;
#[cfg(feature = "lang")]
pub mod run_report;
mod stock;
mod thread;

pub use advice::Advice;
pub use choice::Alternative;
pub use config::{AUTO, Config};
pub use erased::Ends;
pub use explain::Explain;
pub use fill::{fill, is_low, meeting_to_fill, notices, settle, wants_to_fill};
#[cfg(feature = "lang")]
pub use load::{LoadError, LoadOptions, compile, load, load_in_place, read};
pub use memory::{run_in_memory, run_many_in_memory};
#[cfg(feature = "lang")]
pub use panics::{Panicked, check_panics, panicked_rows, results, row_panics, tell_panics};
pub use peer::{Peer, Prepared};
pub use plan::{Plan, Prediction};
pub use registry::Protocol;
pub use report::{Error, Outcome, Report};
pub use stock::{Order, Stock};

pub use thread::on_own_thread;

#[cfg(feature = "authenticated")]
pub use garblet_authenticated as authenticated;
#[cfg(feature = "bmr")]
pub use garblet_bmr as bmr;
pub use garblet_circuit as circuit;
pub use garblet_circuit::{Bits, Party, Program};
#[cfg(feature = "components")]
pub use garblet_components as components;
#[cfg(feature = "covert")]
pub use garblet_covert as covert;
#[cfg(feature = "cut-and-choose")]
pub use garblet_cut_and_choose as cut_and_choose;
#[cfg(feature = "formats")]
pub use garblet_formats as formats;
pub use garblet_garble::{GarblingConfig, HashKind, SchemeKind, published::Method};
#[cfg(feature = "gmw")]
pub use garblet_gmw as gmw;
#[cfg(feature = "lang")]
pub use garblet_lang as lang;
#[cfg(feature = "lego")]
pub use garblet_lego as lego;
pub use garblet_net as net;
pub use garblet_ot::Width;
#[cfg(feature = "agreements")]
pub use garblet_outsourced as outsourced;
pub use garblet_primitives::HugePages;
pub use garblet_protocol::{
    Adversary, Class, Collusion, Communication, MeshSession, Phase, PhaseCost, PhaseCosts, Progress, Role, RunId,
    Security, Session,
    checks::{Refused, Rejected},
    choice::Rates,
    conduct::{Conduct, Honest},
    error::{Missing, NotPrepared, StateProblem, Unfinished},
    parameters::UnknownParameter,
    protocol::{LibraryFile, OrderRequest, Precision},
    session::Declined,
    stock::{Filled, Notice, ReadInput, SavedNames, SavedState, SavedValues, StockKinds, check_kept_name},
};
/// The name of the engine whose kernels this process uses.
pub fn engine() -> &'static str {
    garblet_primitives::Backend::detect().name()
}

#[cfg(any(feature = "bmr", feature = "gmw"))]
pub use garblet_runs as runs;
pub use garblet_store as store;
pub use garblet_synthesis as synthesis;
pub use garblet_synthesis::{builder, library};
#[cfg(feature = "two-garblers")]
pub use garblet_two_garblers as two_garblers;
#[cfg(feature = "yao")]
pub use garblet_yao as yao;
#[cfg(feature = "yao")]
pub use garblet_yao::Build;

/// The examples of the book's chapter on the library are run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/src/library.md")]
mod book {}
