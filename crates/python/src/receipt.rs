//! Receipts: logs of them, and the receipt of a session under a job.

use std::{path::PathBuf, time::Duration};

use garblet::{Ends, Outcome, Party, Program, SavedValues, net::Fingerprint};
use garblet_console::{
    configuration::in_configuration,
    failure::Failure,
    job::JobDigest,
    output::heard,
    receipts::{
        Receipts, Run, comparison,
        log::{object, read_all},
    },
    session,
    session::Watched,
    settings::Settings,
};
use pyo3::prelude::*;
use serde_json::json;

use crate::{fault::Fault, waiting::told_beside};

/// The receipts of a log, as JSON, after checks of all lines. Each of `holds` must be the digest of one. Without a path it is the command's log.
#[pyfunction]
pub(crate) fn receipts(py: Python<'_>, path: Option<PathBuf>, holds: Vec<String>) -> PyResult<String> {
    told_beside(py, move || {
        let digest = |text: &String| text.parse().map_err(|what| Fault::usage(format!("holds: {what}")));
        let holds: Vec<JobDigest> = holds.iter().map(digest).collect::<Result<_, _>>()?;
        let (links, _) = read_all(&in_configuration(path.as_deref(), "receipts.jsonl")?, &holds)?;
        Ok(json!(links.iter().map(object).collect::<Vec<_>>()).to_string())
    })
}

/// Compares the logs of two parties: pairs of receipts of the same run, receipts that only one log has, and whether the logs differ in a run with a result.
#[pyfunction]
pub(crate) fn compare_receipts(py: Python<'_>, ours: PathBuf, theirs: PathBuf) -> PyResult<String> {
    told_beside(py, move || {
        // Each log is read once: it may grow meanwhile.
        let logs = [read_all(&ours, &[])?.0, read_all(&theirs, &[])?.0];
        Ok(comparison::object(&logs).to_string())
    })
}

/// The receipt of the one run of a session, which is written once, whatever the end.
pub(crate) struct Recorder {
    pub(crate) receipts: Receipts,
    pub(crate) settings: Settings,
    pub(crate) identity: Option<Fingerprint>,
    pub(crate) saved: SavedValues,
    pub(crate) watched: Watched,
    /// Set once this party has begun to meet the others.
    pub(crate) begun: bool,
    /// The run's result, while the session is not closed.
    pub(crate) result: Option<garblet::Report>,
}

impl Recorder {
    pub(crate) fn new(
        receipts: Receipts,
        settings: Settings,
        identity: Option<Fingerprint>,
        saved: SavedValues,
    ) -> Self {
        Recorder { receipts, settings, identity, saved, watched: Watched::default(), begun: false, result: None }
    }

    /// Watches the ends, before they carry data.
    pub(crate) fn watch(&mut self, ends: &mut Ends, party: Party) {
        self.watched.begin(ends, party);
    }

    /// Adds the receipt durably. A run that has a result was only not closed in order, for the reason `ended`. Returns its number, and the messages about the log.
    ///
    /// *Errors*: a log that cannot be written.
    pub(crate) fn add(
        self,
        (program, party, parties): (&Program, Party, u16),
        names: &[(String, Fingerprint)],
        ended: Result<(), &Fault>,
    ) -> (Result<u64, Fault>, Vec<String>) {
        let Recorder { receipts, settings, identity, saved, watched, result, .. } = self;
        let run = Run { program, settings: &settings, party, parties, identity, saved, session: None };
        let failure = ended.err().map(Fault::failure);
        let outcome = result.map(|report| {
            let mut outcome =
                session::Outcome::new(Outcome { report, closing: None }, None, Duration::ZERO, watched.met.clone());
            outcome.closing = failure.clone();
            outcome
        });
        let lost = || Failure::no_result("the session ended before its run");
        let ended = match (&outcome, &failure) {
            (Some(outcome), _) => Ok(outcome),
            (None, Some(failure)) => Err(failure.clone()),
            (None, None) => Err(lost()),
        };
        let (added, told) = heard(|| receipts.add(&run, &watched, names, ended.as_ref().copied()));
        (added.map_err(Fault::unrecorded), told)
    }
}
