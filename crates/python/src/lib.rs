//! Garblet for Python: the part that is not Python, as the module `garblet._garblet`.
//!
//! Values come in as JSON and go out as Python's own (`value`); who waits for a party lets the interpreter go, and hears of signals
//! (`waiting`, `leaving`). Dataclasses, defaults, `asyncio`, progress bars and the tracer of functions are Python (`python/garblet`).

mod fault;
mod identity;
mod leaving;
mod local;
mod party;
mod plan;
mod program;
mod report;
mod session;
mod store;
mod value;
mod waiting;

use pyo3::pymodule;

/// The native part of the package `garblet`, which is where its classes are to be taken from.
#[pymodule]
mod _garblet {
    #[pymodule_export]
    use crate::{
        identity::Identity,
        leaving::{forked, leave},
        local::run_local,
        plan::plan,
        program::{Port, Program, compile, load},
        session::Session,
        store::{check_store, stock},
    };
}
