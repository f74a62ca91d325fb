//! Identities.

use std::path::PathBuf;

use garblet::net;
use pyo3::prelude::*;

use crate::{fault::Fault, waiting::fresh_rng};

/// A party's identity: a key that it keeps in a file, and the fingerprint by which others know it.
#[pyclass(frozen, module = "garblet")]
pub(crate) struct Identity {
    identity: net::Identity,
    path: PathBuf,
}

impl Identity {
    /// The same for another owner. It has no copy, so it is read again.
    ///
    /// *Errors*: a file that has gone or has another identity by now.
    pub(crate) fn again(&self) -> Result<net::Identity, Fault> {
        let (path, expected) = (self.path.display(), self.identity.fingerprint());
        match net::Identity::load(&self.path) {
            Ok(identity) if identity.fingerprint() == expected => Ok(identity),
            Ok(other) => Err(Fault::usage(format!("{path}: expected {expected}, got {}", other.fingerprint()))),
            Err(error) => Err(Fault::from(&error)),
        }
    }
}

#[pymethods]
impl Identity {
    /// Makes one, and keeps it in a new file that only its owner reads.
    #[staticmethod]
    fn generate(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let identity = net::Identity::generate(&mut fresh_rng().map_err(|fault| fault.raise(py))?);
        identity.save(&path).map_err(|error| Fault::from(&error).raise(py))?;
        Ok(Identity { identity, path })
    }

    /// Reads one that was made before.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let identity = net::Identity::load(&path).map_err(|error| Fault::from(&error).raise(py))?;
        Ok(Identity { identity, path })
    }

    /// The fingerprint, to be read to peers over a way that they trust.
    #[getter]
    fn fingerprint(&self) -> String {
        self.identity.fingerprint().to_string()
    }

    fn __repr__(&self) -> String {
        format!("Identity({})", self.identity.fingerprint())
    }
}
