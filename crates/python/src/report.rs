//! The outputs and the report of a run, which `python/garblet/report.py` joins.

use std::{collections::BTreeMap, time::SystemTime};

use garblet::{
    Bits, Config, Panicked, Program, Report, check_panics,
    circuit::Output,
    panicked_rows, results,
    run_report::{PartyPart, PeerPart, Record, RunReport},
};
use pyo3::{
    prelude::*,
    types::{PyDict, PyList},
};

use crate::{fault::Fault, program::words, value::to_python};

/// The rows of a batch without a result, from 0, with the places where they panicked.
///
/// *Errors*: a computation, or all rows of it, that panicked.
fn panicked(program: &Program, outputs: &[Option<Bits>]) -> Result<BTreeMap<usize, String>, Panicked> {
    check_panics(program, outputs)?;
    Ok(panicked_rows(program, outputs).into_iter().map(|(row, place)| (row - 1, place)).collect())
}

/// The known outputs by name, and the rows of a batch that panicked. The lists have None for these rows.
///
/// *Errors*: a computation that panicked.
pub(crate) fn outputs<'py>(
    py: Python<'py>,
    program: &Program,
    outputs: &[Option<Bits>],
) -> PyResult<(Bound<'py, PyDict>, BTreeMap<usize, String>)> {
    let panicked = panicked(program, outputs).map_err(|error| Fault::from(error).raise(py))?;
    let known = PyDict::new(py);
    for (at, output) in results(program) {
        if let Some(Some(bits)) = outputs.get(at) {
            let value = to_python(py, &output.port.ty, bits)?;
            if let Ok(rows) = value.cast::<PyList>() {
                panicked.keys().try_for_each(|row| rows.set_item(*row, py.None()))?;
            }
            known.set_item(&output.port.name, value)?;
        }
    }
    Ok((known, panicked))
}

/// The outcome of a run for one party: its outputs and its report.
pub(crate) struct Ran {
    outputs: Vec<Option<Bits>>,
    report: RunReport,
}

impl Ran {
    /// Joins the outcome of one of several parties with the identities of its peers.
    pub(crate) fn new(program: &Program, config: &Config, parties: u16, report: Report, peers: Vec<PeerPart>) -> Self {
        let parts = vec![PartyPart::from(&report)];
        let record = Record::new(program, peers, SystemTime::now());
        let Report { outputs, security, .. } = report;
        let report = RunReport::new(program, config, parties, security, &outputs, parts, record);
        Ran { outputs, report }
    }

    /// The values as Python values, and the object of `garblet run --json` as text in two parts. The part about outputs is
    /// as long as they are, and is rarely needed.
    pub(crate) fn say<'py>(mut self, py: Python<'py>, program: &Program) -> PyResult<Bound<'py, PyDict>> {
        let known = serde_json::Value::Object(std::mem::take(&mut self.report.outputs)).to_string();
        let (outputs, panicked) = outputs(py, program, &self.outputs)?;
        let words_of = |(_, output): (usize, &Output)| Some((output.port.name.clone(), words(&output.port.ty)?));
        let said = PyDict::new(py);
        said.set_item("outputs", outputs)?;
        said.set_item("panicked", panicked)?;
        said.set_item("words", results(program).filter_map(words_of).collect::<BTreeMap<_, _>>())?;
        said.set_item("run", serde_json::to_string(&self.report).unwrap_or_default())?;
        said.set_item("known", known)?;
        Ok(said)
    }
}
