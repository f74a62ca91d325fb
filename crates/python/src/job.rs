//! Jobs, and the signatures beside them.

use std::{path::PathBuf, sync::Arc};

use garblet::{lang::Options, net::Fingerprint};
use garblet_console::{
    identity::TrustArgs,
    job,
    job::signatures::{self, Signatures, Standing},
    reach::ReachPart,
};
use pyo3::prelude::*;

use crate::{fault::Fault, identity::Identity, program::Program, waiting::told_beside};

/// The whole agreement of a run, read from a file.
#[pyclass(frozen, module = "garblet._garblet")]
pub(crate) struct Job(pub(crate) Arc<job::Job>);

/// Peers by name: those that were given, then those that this machine trusts.
///
/// *Errors*: a text that is no fingerprint; a file of trusted peers that cannot be used; a name that the job has for another peer.
pub(crate) fn trusted(job: &job::Job, given: &[(String, String)]) -> Result<Vec<(String, Fingerprint)>, Fault> {
    let mut all = fingerprints(given)?;
    let correct = "ask for the fingerprint over another channel; if the job's is right, correct trust=";
    job.check_names(&all).map_err(|failure| Fault::from(failure).hint(correct))?;
    all.extend(TrustArgs::usual().peers()?);
    job.check_names(&all)?;
    Ok(all)
}

/// Names with fingerprints.
///
/// *Errors*: a text that is no fingerprint.
pub(crate) fn fingerprints(given: &[(String, String)]) -> Result<Vec<(String, Fingerprint)>, Fault> {
    let read = |(name, text): &(String, String)| match text.parse() {
        Ok(fingerprint) => Ok((name.clone(), fingerprint)),
        Err(error) => Err(Fault::usage(format!("trust: {name}: {error}"))),
    };
    given.iter().map(read).collect()
}

#[pymethods]
impl Job {
    /// Reads a job. Its program is compiled with at most this effort.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, effort: Option<u64>) -> PyResult<Self> {
        let job = job::Job::load(&path).map_err(|failure| Fault::from(failure).raise(py))?;
        Ok(Job(Arc::new(job.allowing(effort.unwrap_or(Options::EFFORT)))))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// The digest of the whole agreement, as 64 hexadecimal digits.
    #[getter]
    fn digest(&self) -> String {
        self.0.digest().to_string()
    }

    #[getter]
    fn protocol(&self) -> &str {
        &self.0.protocol
    }

    /// The most rows in a run; None if it allows no batches.
    #[getter]
    fn batch(&self) -> Option<u32> {
        self.0.batch
    }

    /// The name and the fingerprint of each party.
    #[getter]
    fn parties(&self) -> Vec<(String, Option<String>)> {
        let party =
            |party: &job::JobParty| (party.name.clone(), party.fingerprint.map(|fingerprint| fingerprint.to_string()));
        self.0.parties.iter().map(party).collect()
    }

    /// All that the digest covers.
    #[getter]
    fn fields(&self) -> Vec<(String, String)> {
        self.0.fields()
    }

    /// Compiles the program and compares its digest with the job's.
    fn program(&self, py: Python<'_>) -> PyResult<Program> {
        let job = self.0.clone();
        let program = told_beside(py, move || job.program().map_err(Fault::from))?;
        Ok(Program(Arc::new(program)))
    }

    /// Compares the names of the parties with those that they have here, and reports inputs that reach outputs.
    fn check(&self, py: Python<'_>, program: &Bound<'_, Program>, trust: Vec<(String, String)>) -> PyResult<String> {
        let (job, program) = (self.0.clone(), program.get().0.clone());
        told_beside(py, move || {
            job.tell_names(&trusted(&job, &trust)?)?;
            Ok(ReachPart::of(&program).text())
        })
    }

    /// Signs the job beside it, once the program here is the job's. Returns the party's name.
    fn sign(&self, py: Python<'_>, identity: &Bound<'_, Identity>, trust: Vec<(String, String)>) -> PyResult<String> {
        let (job, identity) = (self.0.clone(), identity.get().again().map_err(|fault| fault.raise(py))?);
        told_beside(py, move || Ok(signatures::sign(&job, &trusted(&job, &trust)?, &identity)?.0))
    }

    /// The name of each party, whether it has signed, and what is wrong with its signature.
    fn signatures(&self, py: Python<'_>) -> PyResult<Vec<(String, bool, Option<String>)>> {
        let signatures = Signatures::beside(&self.0).map_err(|failure| Fault::from(failure).raise(py))?;
        let said = |(party, standing): (&job::JobParty, Standing)| match standing {
            Standing::Signed => (party.name.clone(), true, None),
            Standing::Missing => (party.name.clone(), false, None),
            Standing::Wrong(reason) => (party.name.clone(), false, Some(reason)),
        };
        Ok(self.0.parties.iter().zip(signatures.standings(&self.0)).map(said).collect())
    }

    /// Checks that all parties have signed.
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        let checked = Signatures::beside(&self.0).and_then(|signatures| signatures.check_all(&self.0));
        checked.map_err(|failure| Fault::from(failure).raise(py))
    }
}
