//! Identities.

use std::path::{Path, PathBuf};

use garblet::net;
use pyo3::prelude::*;

use crate::{fault::Fault, waiting::fresh_rng};

/// A party's identity: a key in a file, and the fingerprint by which others know the party.
#[pyclass(frozen, module = "garblet")]
pub(crate) struct Identity {
    identity: net::Identity,
    /// Absolute: the working folder may change.
    path: PathBuf,
}

impl Identity {
    /// Reads the identity again for another owner, as it cannot be copied.
    ///
    /// *Errors*: a file that is gone, or that now has another identity.
    pub(crate) fn again(&self) -> Result<net::Identity, Fault> {
        let (path, expected) = (self.path.display(), self.identity.fingerprint());
        match net::Identity::load(&self.path) {
            Ok(identity) if identity.fingerprint() == expected => Ok(identity),
            Ok(other) => Err(Fault::usage(format!("{path}: expected {expected}, got {}", other.fingerprint()))),
            Err(error) => Err(Fault::from(&error)),
        }
    }
}

fn there(py: Python<'_>, path: &Path) -> PyResult<PathBuf> {
    let absolute = std::path::absolute(path);
    absolute.map_err(|error| Fault::usage(format!("{}: {error}", path.display())).raise(py))
}

#[pymethods]
impl Identity {
    /// Generates an identity in a new file that only its owner can read.
    #[staticmethod]
    fn generate(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let path = there(py, &path)?;
        let identity = net::Identity::generate(&mut fresh_rng().map_err(|fault| fault.raise(py))?);
        identity.save(&path).map_err(|error| Fault::from(&error).raise(py))?;
        Ok(Identity { identity, path })
    }

    /// Reads an existing identity.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let path = there(py, &path)?;
        let identity = net::Identity::load(&path).map_err(|error| Fault::from(&error).raise(py))?;
        Ok(Identity { identity, path })
    }

    /// The fingerprint. Pass it to peers over a channel that they trust.
    #[getter]
    fn fingerprint(&self) -> String {
        self.identity.fingerprint().to_string()
    }

    fn __repr__(&self) -> String {
        format!("Identity({})", self.identity.fingerprint())
    }
}
