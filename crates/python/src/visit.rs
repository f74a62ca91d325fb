//! Visits: a client of two servers of `outsourced`.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use garblet_console::visit;
use pyo3::{prelude::*, types::PyDict};

use crate::{
    fault::Fault, program::Program, report::outputs, session::seconds, value, value::How, waiting::told_beside,
};

/// A client's question to two servers, which `python/garblet/visit.py` has checked.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    agreement: PathBuf,
    invitations: (PathBuf, PathBuf),
    addresses: (String, String),
    program: String,
    clients: Vec<String>,
    label: String,
    receipts: Option<PathBuf>,
    timeout: f64,
    forget: bool,
}

/// A client of two servers.
#[pyclass(frozen, module = "garblet._garblet")]
pub(crate) struct Visitor(Arc<visit::Visitor>);

/// An answered visit. Until it is kept, its answers can be asked for again. It has the client's receipts to itself until it is kept or left.
#[pyclass(frozen, module = "garblet._garblet")]
pub(crate) struct Answer {
    visitor: Arc<visit::Visitor>,
    answered: Mutex<Option<visit::Answered>>,
}

#[pymethods]
impl Visitor {
    /// Reads the agreement and the invitations. Nothing is sent yet.
    #[new]
    fn new(py: Python<'_>, asked: Asked) -> PyResult<Self> {
        let visitor = told_beside(py, move || {
            let Asked { agreement, invitations, addresses, program, clients, label, receipts, timeout, forget } = asked;
            let what = (program, addresses.into(), seconds("timeout", timeout)?);
            let mut visitor = visit::Visitor::new(&agreement, [&invitations.0, &invitations.1], what)?;
            (visitor.client.clients, visitor.client.label) = (clients, label);
            (visitor.receipts, visitor.client.give_up) = (receipts, forget);
            Ok(visitor)
        })?;
        Ok(Visitor(Arc::new(visitor)))
    }

    /// The program that the servers run.
    #[getter]
    fn program(&self, py: Python<'_>) -> PyResult<Program> {
        let program = self.0.client.asked().map_err(|failure| Fault::from(failure).raise(py))?;
        Ok(Program(Arc::new(program.clone())))
    }

    /// Shares the inputs, which are JSON, and waits for the answers.
    fn visit(&self, py: Python<'_>, inputs: String) -> PyResult<Answer> {
        let visitor = self.0.clone();
        let answered = told_beside(py, move || {
            let mut wrong = None;
            let answered = visitor.visit(|program, party| {
                value::of_party(program, party, &inputs, &How::default()).map_err(|fault| {
                    let failure = fault.failure();
                    wrong = Some(fault);
                    failure
                })
            });
            answered.map_err(|failure| wrong.unwrap_or_else(|| Fault::from(failure)))
        })?;
        Ok(Answer { visitor: self.0.clone(), answered: Mutex::new(Some(answered)) })
    }

    /// Asks again for the answers to the last visit.
    fn resume(&self, py: Python<'_>) -> PyResult<Answer> {
        let visitor = self.0.clone();
        let answered = told_beside(py, move || visitor.resume().map_err(Fault::from))?;
        Ok(Answer { visitor: self.0.clone(), answered: Mutex::new(Some(answered)) })
    }
}

#[pymethods]
impl Answer {
    /// Records that the visit was answered.
    ///
    /// *Errors*: the client's receipts cannot be written.
    fn keep(&self, py: Python<'_>) -> PyResult<()> {
        let mut answered = self.take().ok_or_else(|| over().raise(py))?;
        answered.keep().map_err(|failure| Fault::unrecorded(failure).raise(py))
    }

    /// Leaves the answers to whoever asks for them again.
    fn leave(&self) {
        drop(self.take());
    }

    /// The outputs, and the object of `garblet visit --json`.
    fn say<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyDict>, String)> {
        let answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        let answered = answered.as_ref().ok_or_else(|| over().raise(py))?;
        let raise = |failure| Fault::from(failure).raise(py);
        let program = self.visitor.program_of(answered).map_err(raise)?;
        let values = self.visitor.outputs(answered).map_err(raise)?;
        let (known, _) = outputs(py, program, &values)?;
        let report = self.visitor.report(answered, &values).map_err(raise)?;
        Ok((known, serde_json::to_string(&report).unwrap_or_default()))
    }
}

impl Answer {
    fn take(&self) -> Option<visit::Answered> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

fn over() -> Fault {
    Fault::usage("the visit was kept or left")
}
