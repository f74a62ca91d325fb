//! States: outputs that lie with both servers between runs, known to nobody.
//!
//! A state has *versions*, from 1, each with a *chain*: a digest of all runs that led to it. A run that keeps outputs makes the next version, from dealt inputs, or from those that an earlier version has. The cloud writes it
//! as *pending* before it hands over what the generator learns; the generator writes it when it has checked that, and says so; then the cloud's is the new version, too. Wherever this is cut off, the
//! servers are one step apart at most, which their next meeting mends: either both have the new version, or none has, see [`meeting`].
//!
//! A run that was begun and has not ended is counted, from before a label leaves until it ends: it can be run again with the same version, which gives nothing away that it would not have given at
//! first. But a server that learns something of a run, and then lets it fail, has had a try that changed nothing. So runs that were to keep the state and did not end are counted for as long as the state lives, whatever else is
//! run meanwhile, and with more than [`Limits::retries`] it is refused until the operators of both servers allow more by hand ([`allow`]), each at its own. Runs that only read it are counted in a row.
//!
//! *Source*: section 4 of the design of outsourced runs; the papers keep no versions, and their saved values can be put back.

mod meeting;

use garblet_authenticated::others::{FOR_OTHERS, Keeping, forget_kept, kept_outputs};
use garblet_protocol::{
    error::{ProtocolError, StateProblem},
    stock::{Notice, SavedNames, SavedState},
};
use garblet_store::{State, Store};
use serde::{Deserialize, Serialize};

pub(crate) use meeting::{TOLD_BYTES, meet};

/// The most runs of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// That were to keep the state and did not end, in all its life; and that only read it and did not end, in a row.
    pub retries: u32,
    /// That read one version.
    pub reads: Option<u64>,
}

impl Default for Limits {
    /// Sixteen retries, any number of reads.
    fn default() -> Self {
        Limits { retries: 16, reads: None }
    }
}

/// The beginning of the places where a store has its records.
const PLACE: &str = "outsourced state ";
/// The version of records.
const VERSION: u32 = 1;

/// A version of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    /// From 1; 0 if there is none yet.
    pub(crate) version: u64,
    /// The digest of its history.
    pub(crate) chain: [u8; 32],
}

/// A server's knowledge of a state, beside its wires.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    version: u64,
    chain: [u8; 32],
    /// The chain of the next version, if its wires are there and the other server may have it.
    pending: Option<[u8; 32]>,
    /// Runs of all versions that were begun to make the next one and have not ended.
    keeping: u32,
    /// Runs that only read, and were begun since the last such one that ended.
    reading: u32,
    /// Runs that only read this version, whether they ended or not.
    reads: u64,
    closed: bool,
}

/// The name under which the base keeps the wires of a version.
fn wires(name: &str, version: u64) -> String {
    format!("{FOR_OTHERS}{name} {version}")
}

/// A name of the base's, if it is of a state: the state, and the version.
fn of_wires(kept: &str) -> Option<(&str, u64)> {
    let (name, version) = kept.strip_prefix(FOR_OTHERS)?.rsplit_once(' ')?;
    Some((name, version.parse().ok()?))
}

/// The error of a state that cannot be used.
fn problem(name: &str, problem: StateProblem) -> ProtocolError {
    ProtocolError::State { name: name.into(), problem }
}

impl Record {
    /// Runs of any kind that have not ended.
    fn unended(&self) -> u32 {
        self.keeping.saturating_add(self.reading)
    }

    /// That of a state; of one that is not there, an empty one.
    ///
    /// *Errors*: one of another version.
    fn of(store: &Store, name: &str) -> Result<Self, ProtocolError> {
        let Some(state) = store.state(&format!("{PLACE}{name}")) else { return Ok(Record::default()) };
        let read = (state.version == VERSION).then(|| postcard::from_bytes(&state.bytes).ok()).flatten();
        read.ok_or_else(|| problem(name, StateProblem::Unreadable))
    }

    fn write(&self, store: &mut Store, name: &str) -> Result<(), ProtocolError> {
        Ok(store.set_state(&format!("{PLACE}{name}"), State::encoded(VERSION, self))?)
    }

    /// Writes it, and forgets all wires but those of its version.
    fn settle(&self, store: &mut Store, name: &str) -> Result<(), ProtocolError> {
        self.write(store, name)?;
        self.forget_others(store, name)
    }

    /// Forgets all wires but those of its version.
    fn forget_others(&self, store: &mut Store, name: &str) -> Result<(), ProtocolError> {
        let stays = |version| version == self.version && !self.closed;
        forget_kept(store, |kept| of_wires(kept).is_some_and(|(of, version)| of == name && !stays(version)))
    }

    /// The next version, that was pending: the run that made it has ended.
    fn advance(&mut self, chain: [u8; 32]) {
        let keeping = self.keeping.saturating_sub(1);
        *self = Record { version: self.version + 1, chain, keeping, ..Record::default() };
    }

    fn standing(&self) -> Standing {
        Standing { version: self.version, chain: self.chain }
    }
}

/// The version of a state that a run can use; 0 if there is none yet.
///
/// *Errors*: [`ProtocolError::State`], also where too many runs have not ended.
pub(crate) fn standing(store: &Store, name: &str, limits: Limits) -> Result<Standing, ProtocolError> {
    let record = Record::of(store, name)?;
    if record.closed {
        return Err(problem(name, StateProblem::Closed));
    }
    if record.keeping.max(record.reading) > limits.retries {
        return Err(problem(name, StateProblem::Failures { most: limits.retries }));
    }
    Ok(record.standing())
}

/// The name and the version under which the base reads a state.
///
/// *Errors*: [`StateProblem::Missing`].
pub(crate) fn read(name: &str, standing: Standing) -> Result<String, ProtocolError> {
    match standing.version {
        0 => Err(problem(name, StateProblem::Missing)),
        version => Ok(wires(name, version)),
    }
}

/// Checks that a state is where it was.
///
/// *Errors*: [`StateProblem::Version`].
pub(crate) fn check(store: &Store, name: &str, limits: Limits, prepared: Standing) -> Result<(), ProtocolError> {
    let now = standing(store, name, limits)?;
    match now == prepared {
        true => Ok(()),
        false => Err(problem(name, StateProblem::Version { expected: prepared.version, got: now.version })),
    }
}

/// Counts a run that begins, durably, and that is to make the next version or only reads.
///
/// *Errors*: the store's.
pub(crate) fn count(store: &mut Store, name: &str, keeps: bool) -> Result<(), ProtocolError> {
    let mut record = Record::of(store, name)?;
    match keeps {
        true => record.keeping = record.keeping.saturating_add(1),
        false => {
            record.reading = record.reading.saturating_add(1);
            record.reads = record.reads.saturating_add(1);
        }
    }
    record.write(store, name)
}

/// The runs that have only read the version that a state has.
///
/// *Errors*: a record that cannot be read.
pub(crate) fn reads(store: &Store, name: &str) -> Result<u64, ProtocolError> {
    Ok(Record::of(store, name)?.reads)
}

/// Notes that a run has ended that leaves the version as it is: it only reads, or was to keep the next one and has panicked.
///
/// *Errors*: the store's.
pub(crate) fn succeeded(store: &mut Store, name: &str, keeps: bool) -> Result<(), ProtocolError> {
    let mut record = Record::of(store, name)?;
    match keeps {
        true => record.keeping = record.keeping.saturating_sub(1),
        false => record.reading = 0,
    }
    record.write(store, name)
}

/// Keeps the outputs of a run as the next version, which the other server may not have yet.
///
/// *Errors*: the store's.
pub(crate) fn keep_pending(keeping: Keeping<'_>, name: &str, next: Standing) -> Result<(), ProtocolError> {
    let store = keeping.under(&wires(name, next.version))?;
    let record = Record { pending: Some(next.chain), ..Record::of(store, name)? };
    record.write(store, name)
}

/// Keeps them as the next version, which the other server has as pending.
///
/// *Errors*: the store's.
pub(crate) fn keep(keeping: Keeping<'_>, name: &str, next: Standing) -> Result<(), ProtocolError> {
    let store = keeping.under(&wires(name, next.version))?;
    advance(store, name, next.chain)
}

/// Makes the pending version the state's, as the other server has done.
///
/// *Errors*: the store's.
pub(crate) fn commit(store: &mut Store, name: &str) -> Result<(), ProtocolError> {
    match Record::of(store, name)?.pending {
        Some(chain) => advance(store, name, chain),
        None => Ok(()),
    }
}

fn advance(store: &mut Store, name: &str, chain: [u8; 32]) -> Result<(), ProtocolError> {
    let mut record = Record::of(store, name)?;
    record.advance(chain);
    record.settle(store, name)
}

/// Forgets that runs of any state have not ended, as its operator says.
///
/// *Errors*: the store's.
pub(crate) fn allow(store: &mut Store) -> Result<(), ProtocolError> {
    for SavedNames { name, .. } in names(store) {
        let record = Record::of(store, &name)?;
        if record.unended() > 0 {
            Record { keeping: 0, reading: 0, ..record }.write(store, &name)?;
        }
    }
    Ok(())
}

/// The notices of all states.
pub(crate) fn notices(store: &Store) -> Vec<Notice> {
    let names = names(store);
    let unended = |saved: &SavedNames| Record::of(store, &saved.name).map_or(0, |record| record.unended());
    let runs = names.iter().map(unended).fold(0, u32::saturating_add);
    let unended = (runs > 0).then_some(Notice::UnendedRuns(runs));
    names.into_iter().map(Notice::Kept).chain(unended).collect()
}

/// Closes a state for good, and forgets its wires.
///
/// *Errors*: the store's.
pub(crate) fn close(store: &mut Store, name: &str) -> Result<(), ProtocolError> {
    let record = Record { closed: true, pending: None, ..Record::of(store, name)? };
    record.settle(store, name)
}

/// The states of a store, in alphabetical order.
pub(crate) fn names(store: &Store) -> Vec<SavedNames> {
    let all = store.states().filter_map(|(place, _)| {
        let name = place.strip_prefix(PLACE)?;
        let Record { version, keeping, reading, closed, .. } = Record::of(store, name).ok()?;
        let outputs = kept_outputs(store, &wires(name, version)).unwrap_or_default();
        Some(SavedNames {
            name: name.into(),
            outputs,
            unended: keeping.max(reading),
            state: Some(SavedState { version, closed }),
        })
    });
    all.collect()
}

/// Tells whether the wires of a version are there.
fn has_wires(store: &Store, name: &str, version: u64) -> bool {
    version == 0 || kept_outputs(store, &wires(name, version)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wires_are_known_by_state_and_version() {
        for name in ["map", "map 3", "state map", ""] {
            assert_eq!(of_wires(&wires(name, 12)), Some((name, 12)));
        }
        assert_eq!(of_wires("state map"), None);
        assert_eq!(of_wires("map 3"), None);
    }
}
