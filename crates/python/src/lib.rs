//! The native part of Garblet for Python, as the module `garblet._garblet`.
//!
//! Values come in as JSON and go out as Python values (`value`). A thread that waits for a party releases the interpreter and handles signals
//! (`waiting`, `leaving`). Dataclasses, defaults, `asyncio`, progress bars and the tracer of functions are Python (`python/garblet`).

mod fault;
mod identity;
mod job;
mod leaving;
mod local;
mod masked;
mod party;
mod plan;
mod program;
mod receipt;
mod report;
mod session;
mod store;
mod subject;
mod surface;
mod value;
mod visit;
mod waiting;
mod words;

use garblet::HugePages;
use pyo3::{pyfunction, pymodule};

/// The version of the package.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

/// The native part of the package `garblet`. Import its classes from `garblet`.
#[pymodule]
mod _garblet {
    use pyo3::{Bound, PyResult, types::PyModule};

    #[pymodule_init]
    fn begin(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        garblet_console::surface::speak_of(crate::surface::SURFACE);
        Ok(())
    }

    #[pymodule_export]
    use crate::{
        identity::Identity,
        job::Job,
        leaving::{forked, leave},
        local::run_local,
        plan::plan,
        program::{Port, Program, compile, load},
        receipt::{compare_receipts, receipts},
        session::Session,
        store::{check_store, kept, stock},
        version,
        visit::{Answer, Visitor},
    };
}
