//! Stores of prepared material.

use std::{collections::BTreeMap, path::PathBuf};

use garblet::{
    Notice, Order, SavedNames, Stock, notices,
    store::{Past, Store, StoreError, StoreKey},
};
use pyo3::prelude::*;
use rand::CryptoRng;

use crate::{fault::Fault, leaving::Call, waiting::fresh_rng};

/// The location of a store.
#[derive(Clone, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Place {
    folder: PathBuf,
    key: PathBuf,
    /// The folder with the records that detect old copies.
    records: PathBuf,
    /// Set to create a missing store.
    create: bool,
    top_up: bool,
}

impl Place {
    /// Opens the store exclusively.
    ///
    /// *Errors*: a store that is missing, in use or an old copy.
    fn open(&self) -> Result<(Store, Past), Fault> {
        let rng = &mut fresh_rng()?;
        self.open_with(rng).map_err(|error| Fault::from(&error))
    }

    fn open_with(&self, rng: &mut impl CryptoRng) -> Result<(Store, Past), StoreError> {
        let key = match Store::find(&self.folder) {
            // A new key would open nothing.
            Ok(()) => StoreKey::load(&self.key)?,
            Err(missing) if !self.create => return Err(missing),
            Err(_) => StoreKey::load_or_create(&self.key, rng)?,
        };
        let open = if self.create { Store::open_or_create } else { Store::open };
        let mut store = open(&self.folder, &key, rng)?;
        let past = store.record_in(&self.records)?;
        Ok((store, past))
    }

    /// Opens the store for a run with a peer, or to fill it.
    ///
    /// *Errors*: a store that cannot be used.
    pub(crate) fn stock(&self, order: Order, peer: &str) -> Result<Stock, Fault> {
        let (store, _) = self.open()?;
        let mut stock = Stock::new(order, store, peer);
        stock.top_up = self.top_up;
        Ok(stock)
    }
}

/// Opens a store and closes it again. False if this machine has no record of it, so that it could not detect an old copy.
#[pyfunction]
pub(crate) fn check_store(py: Python<'_>, place: Place) -> PyResult<bool> {
    let opened = Call::new().detach(py, || place.open()).map_err(|fault| fault.raise(py))?;
    Ok(opened.1 == Past::Known)
}

/// The numbers of pieces of each kind in a store: available, used, lost.
#[pyfunction]
pub(crate) fn stock(py: Python<'_>, place: Place) -> PyResult<BTreeMap<String, (u64, u64, u64)>> {
    let (store, _) = Call::new().detach(py, || place.open()).map_err(|fault| fault.raise(py))?;
    let mut sums = BTreeMap::new();
    for kind in store.stock() {
        let sum: &mut (u64, u64, u64) = sums.entry(kind.kind.name().to_string()).or_default();
        *sum = (sum.0 + kind.available.len(), sum.1 + kind.consumed, sum.2 + kind.dropped);
    }
    Ok(sums)
}

/// The names under which a store keeps outputs, each with the outputs.
#[pyfunction]
pub(crate) fn kept(py: Python<'_>, place: Place) -> PyResult<BTreeMap<String, Vec<String>>> {
    let (store, _) = Call::new().detach(py, || place.open()).map_err(|fault| fault.raise(py))?;
    let names = |notice| match notice {
        Notice::Kept(SavedNames { name, outputs, .. }) => Some((name, outputs)),
        _ => None,
    };
    Ok(notices(&store).into_iter().filter_map(names).collect())
}
