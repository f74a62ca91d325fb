//! Outputs and costs of a run, as dictionaries: `python/garblet/report.py` makes a report of them.

use garblet::{Bits, Config, Phase, Program, Report, results};
use pyo3::{prelude::*, types::PyDict};

use crate::value::to_python;

/// The outputs that are known, by name.
pub(crate) fn outputs<'py>(
    py: Python<'py>,
    program: &Program,
    outputs: &[Option<Bits>],
) -> PyResult<Bound<'py, PyDict>> {
    let known = PyDict::new(py);
    for (at, output) in results(program) {
        if let Some(Some(bits)) = outputs.get(at) {
            known.set_item(&output.port.name, to_python(py, &output.port.ty, bits)?)?;
        }
    }
    Ok(known)
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
    said.set_item("outputs", outputs(py, program, &report.outputs)?)?;
    said.set_item("party", report.party.0)?;
    said.set_item("role", report.role)?;
    said.set_item("protocol", config.protocol().name())?;
    said.set_item("adversary", config.adversary().name())?;
    said.set_item("costs", costs)?;
    said.set_item("security", py.import("json")?.call_method1("loads", (security,))?)?;
    Ok(said)
}
