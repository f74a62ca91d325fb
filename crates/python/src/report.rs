//! Outputs and costs of a run, as dictionaries: `python/garblet/report.py` makes a report of them.

use std::collections::BTreeMap;

use garblet::{Bits, Config, Panicked, Phase, Program, Report, check_panics, circuit::Output, panicked_rows, results};
use pyo3::{
    prelude::*,
    types::{PyDict, PyList},
};

use crate::{fault::Fault, program::words, value::to_python};

/// The rows of a batch that have no result, from 0, with the places where they panicked.
///
/// *Errors*: a computation, or all rows of it, that panicked.
fn panicked(program: &Program, outputs: &[Option<Bits>]) -> Result<BTreeMap<usize, String>, Panicked> {
    check_panics(program, outputs)?;
    Ok(panicked_rows(program, outputs).into_iter().map(|(row, place)| (row - 1, place)).collect())
}

/// The outputs that are known, by name, and the rows of a batch that panicked: None stands there in the lists.
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

/// All that a report says.
pub(crate) fn report<'py>(
    py: Python<'py>,
    program: &Program,
    config: &Config,
    report: &Report,
) -> PyResult<Bound<'py, PyDict>> {
    let costs = PyDict::new(py);
    for phase in Phase::ALL {
        let cost = report.phases.of(phase);
        let communication = cost.communication;
        let numbers = (cost.seconds, communication.bytes_sent, communication.bytes_received, communication.rounds);
        costs.set_item(phase.name(), numbers)?;
    }
    let security = serde_json::to_string(&report.security).unwrap_or_default();
    let said = PyDict::new(py);
    let words_of = |(_, output): (usize, &Output)| Some((output.port.name.clone(), words(&output.port.ty)?));
    said.set_item("words", results(program).filter_map(words_of).collect::<BTreeMap<_, _>>())?;
    let (outputs, panicked) = outputs(py, program, &report.outputs)?;
    said.set_item("outputs", outputs)?;
    said.set_item("panicked", panicked)?;
    said.set_item("party", report.party.0)?;
    said.set_item("role", report.role)?;
    said.set_item("protocol", config.protocol().name())?;
    said.set_item("adversary", config.adversary().name())?;
    said.set_item("costs", costs)?;
    said.set_item("security", py.import("json")?.call_method1("loads", (security,))?)?;
    Ok(said)
}
