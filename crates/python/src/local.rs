//! All parties of a run in this process.

use std::{ops::RangeInclusive, sync::Arc};

use futures_util::future::try_join_all;
use garblet::{
    Bits, Config, Ends, Error, Outcome, Party, Peer, Plan, Report,
    net::{Mesh, memory_pair},
    on_own_thread,
    run_report::PeerPart,
};
use pyo3::{prelude::*, types::PyDict};

use crate::{
    fault::{Class, Fault},
    program::Program,
    report::Ran,
    session::config,
    value,
    value::How,
    waiting::{Telling, Working, waiting},
};

/// The number of parties: as requested, or as the program needs.
pub(crate) fn parties(program: &garblet::Program, config: &Config, asked: Option<u16>) -> Result<u16, Fault> {
    let (protocol, needed) = (config.protocol(), program.party_count());
    let allowed: RangeInclusive<u16> = protocol.parties();
    let got = asked.unwrap_or(needed.max(*allowed.start()));
    match allowed.contains(&got) && got >= needed {
        true => Ok(got),
        false => {
            let (least, most) = (allowed.start(), allowed.end());
            let takes = if least == most { least.to_string() } else { format!("{least} to {most}") };
            let what = format!("{protocol} takes {takes} parties, and the program needs {needed}; got {got}");
            Err(Fault::usage(what))
        }
    }
}

/// Runs a program with all its parties in this process, each in a thread, connected in memory. `inputs` has a JSON text for each party.
#[pyfunction]
pub(crate) fn run_local<'py>(
    py: Python<'py>,
    program: &Bound<'py, Program>,
    inputs: Vec<String>,
    protocol: &str,
    params: Vec<(String, String)>,
    hear: &Bound<'py, PyAny>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let program = program.get().0.clone();
    let config = config(protocol, &params).map_err(|fault| fault.raise(py))?;
    let (waiting, mut working) = waiting();
    let (of, how) = (program.clone(), config.clone());
    let begun = std::thread::Builder::new().name("garblet parties".into()).spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        let telling = working.clone();
        let result = runtime.block_on(working.unless_cancelled(run_all(&of, &inputs, &how, &telling)));
        working.done(result);
    });
    begun.map_err(|error| Fault::new(Class::GarbletError, format!("a thread cannot be started: {error}")).raise(py))?;
    let all = waiting.wait(py, hear)?;
    all.into_iter().map(|ran| ran.say(py, &program)).collect()
}

async fn run_all(
    program: &Arc<garblet::Program>,
    inputs: &[String],
    config: &Config,
    working: &Working<Vec<Ran>>,
) -> Result<Vec<Ran>, Fault> {
    let given = u16::try_from(inputs.len()).map_err(|_| Fault::usage(format!("inputs of {} parties", inputs.len())))?;
    let count = parties(program, config, Some(given))?;
    let read = |(party, text): (usize, &String)| value::of_party(program, Party(party as u16), text, &How::default());
    let inputs: Vec<Vec<Bits>> = inputs.iter().enumerate().map(read).collect::<Result<_, _>>()?;
    let plan = Plan::new(program.clone(), count, config).map_err(|error| Fault::from(&error))?;
    let ends: Vec<Ends> = match config.protocol().is_mesh() {
        true => Mesh::memory(count).into_iter().map(Ends::from).collect(),
        false => {
            let (left, right) = memory_pair();
            vec![left.into(), right.into()]
        }
    };
    let run = |(party, (ends, inputs)): (usize, (Ends, Vec<Bits>))| {
        let (plan, telling) = (plan.clone(), Telling::new(working));
        on_own_thread(move || async move {
            let progress: Box<dyn garblet::Progress> = if party == 0 { Box::new(telling) } else { Box::new(()) };
            let peer = Peer::open(&plan, Party(party as u16), ends, rand::rng(), progress).await?;
            // All parties are the caller's: one that does not part in order is a failure of theirs.
            let Outcome { report, closing } = peer.finish(&inputs).await?;
            closing.map_or(Ok(report), Err)
        })
    };
    let all = ends.into_iter().zip(inputs).enumerate().map(run);
    let reports: Vec<Report> = try_join_all(all).await.map_err(|error: Error| Fault::from(&error))?;
    let ran = |report: Report| {
        let others = (0..count).filter(|other| *other != report.party.0).map(PeerPart::here).collect();
        Ran::new(program, config, count, report, others)
    };
    Ok(reports.into_iter().map(ran).collect())
}
