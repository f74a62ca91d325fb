//! The costs of a run under each protocol, by formula.

use garblet::{Config, Party, Phase, Plan, Protocol, net::SimulatedLink};
use pyo3::{prelude::*, types::PyDict};

use crate::{fault::Fault, local::parties, program::Program, session::config, waiting::beside};

/// A row for each protocol, party and phase, and the protocols that cannot run the program, with the reasons.
type Planned<'py> = (Vec<Bound<'py, PyDict>>, Vec<(String, String)>);

/// The most gates of a program that is planned for every protocol: some need all gates in memory at once.
const GATES_MAX: u64 = 1 << 27;

/// Predicts bytes and rounds.
#[pyfunction]
pub(crate) fn plan<'py>(
    py: Python<'py>,
    program: &Bound<'py, Program>,
    link: Option<&str>,
    protocols: Option<Vec<String>>,
) -> PyResult<Planned<'py>> {
    let program = &program.get().0;
    let link: Option<Result<SimulatedLink, _>> = link.map(str::parse);
    let link = link.transpose().map_err(|error| Fault::usage(format!("link: {error}")).raise(py))?;
    let asked = protocols.is_some();
    let names = protocols.unwrap_or_else(|| Protocol::ALL.iter().map(|protocol| protocol.name().into()).collect());
    let (mut rows, mut left_out) = (Vec::new(), Vec::new());
    for name in names {
        let config = config(&name, &[]).map_err(|fault| fault.raise(py))?;
        if !asked && config.protocol().is_mesh() && program.counts().and + program.counts().xor > GATES_MAX {
            left_out.push((name, "all gates have to be in memory; protocols= looks at some".into()));
            continue;
        }
        let (of, how) = (program.clone(), config.clone());
        let predicted = beside(py, move || {
            let parties = parties(&of, &how, None)?;
            let plan = Plan::new(of, parties, &how).map_err(|error| Fault::from(&error))?;
            plan.predict().map_err(|error| Fault::from(&error))
        })?;
        match predicted {
            Ok(prediction) => rows.extend(rows_of(py, &config, &prediction, link)?),
            Err(fault) if asked => return Err(fault.raise(py)),
            Err(fault) => left_out.push((name, fault.message().into())),
        }
    }
    Ok((rows, left_out))
}

fn rows_of<'py>(
    py: Python<'py>,
    config: &Config,
    prediction: &garblet::Prediction,
    link: Option<SimulatedLink>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let mut rows = Vec::new();
    for party in 0..prediction.parties.len() as u16 {
        for phase in Phase::ALL {
            let cost = prediction.cost(Party(party), phase);
            let row = PyDict::new(py);
            row.set_item("protocol", config.protocol().name())?;
            row.set_item("adversary", config.adversary().name())?;
            row.set_item("party", party)?;
            row.set_item("phase", phase.name())?;
            row.set_item("bytes_sent", cost.map(|cost| cost.bytes_sent))?;
            row.set_item("bytes_received", cost.map(|cost| cost.bytes_received))?;
            row.set_item("rounds", cost.map(|cost| cost.rounds))?;
            row.set_item("link_seconds", link.and_then(|link| prediction.link_seconds(phase, link)))?;
            row.set_item("exact", prediction.exact)?;
            rows.push(row);
        }
    }
    Ok(rows)
}
