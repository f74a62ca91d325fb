//! States: outputs that both servers keep between runs, and that nobody knows.
//!
//! A state has *versions*, from 1, each with a *chain*: a digest of all runs that led to it. A run that keeps outputs makes the next version, from dealt
//! inputs or from an earlier version. The cloud writes it as *pending* before it hands over the generator's outputs; the generator writes it once it has
//! checked them, and says so; then the cloud makes it the new version, too. Wherever this is interrupted, the servers are at most one step apart, which their
//! next meeting mends: either both have the new version or neither has, see [`meeting`].
//!
//! A run that has begun and not ended is counted, from before a label leaves until it ends: it can be run again with the same version, which reveals nothing
//! that it would not have revealed at first. But a server that learns something from a run and then lets it fail has had a try that changed nothing. So runs
//! that were to keep the state and did not end are counted over the life of the state, whatever else is run meanwhile; after more than [`Limits::retries`] of
//! them the state is refused until the operators of both servers allow more by hand ([`allow`]). Runs that only read it are counted in a row.
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

/// The limits on runs of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Runs that were to keep the state and did not end, over its whole life; and runs that only read it and did not end, in a row.
    pub retries: u32,
    /// Runs that read one version.
    pub reads: Option<u64>,
}

impl Default for Limits {
    /// Sixteen retries and any number of reads.
    fn default() -> Self {
        Limits { retries: 16, reads: None }
    }
}

/// The prefix of the places where a store keeps the records.
const PLACE: &str = "outsourced state ";
/// The version of records.
const VERSION: u32 = 1;

/// A version of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Counted from 1; 0 if there is no version yet.
    pub(crate) version: u64,
    /// The digest of its history.
    pub(crate) chain: [u8; 32],
}

/// A server's record of a state, apart from its wires.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    version: u64,
    chain: [u8; 32],
    /// The chain of the next version, if its wires are stored and the other server may have it.
    pending: Option<[u8; 32]>,
    /// Runs begun to make the next version, over all versions, that have not ended.
    keeping: u32,
    /// Read-only runs begun since the last one that ended.
    reading: u32,
    /// Read-only runs of this version, whether they ended or not.
    reads: u64,
    closed: bool,
}

/// The name under which the base keeps the wires of a version.
fn wires(name: &str, version: u64) -> String {
    format!("{FOR_OTHERS}{name} {version}")
}

/// The state and the version behind a name in the base, if it belongs to a state.
fn of_wires(kept: &str) -> Option<(&str, u64)> {
    let (name, version) = kept.strip_prefix(FOR_OTHERS)?.rsplit_once(' ')?;
    Some((name, version.parse().ok()?))
}

/// The error for a state that cannot be used.
fn problem(name: &str, problem: StateProblem) -> ProtocolError {
    ProtocolError::State { name: name.into(), problem }
}

impl Record {
    /// Runs of any kind that have not ended.
    fn unended(&self) -> u32 {
        self.keeping.saturating_add(self.reading)
    }

    /// The record of a state; empty if the state does not exist.
    ///
    /// *Errors*: a record of another version.
    fn of(store: &Store, name: &str) -> Result<Self, ProtocolError> {
        let Some(state) = store.state(&format!("{PLACE}{name}")) else { return Ok(Record::default()) };
        let read = (state.version == VERSION).then(|| postcard::from_bytes(&state.bytes).ok()).flatten();
        read.ok_or_else(|| problem(name, StateProblem::Unreadable))
    }

    fn write(&self, store: &mut Store, name: &str) -> Result<(), ProtocolError> {
        Ok(store.set_state(&format!("{PLACE}{name}"), State::encoded(VERSION, self))?)
    }

    /// Writes the record, and forgets all wires except those of its version.
    fn settle(&self, store: &mut Store, name: &str) -> Result<(), ProtocolError> {
        self.write(store, name)?;
        self.forget_others(store, name)
    }

    /// Forgets all wires except those of its version.
    fn forget_others(&self, store: &mut Store, name: &str) -> Result<(), ProtocolError> {
        let stays = |version| version == self.version && !self.closed;
        forget_kept(store, |kept| of_wires(kept).is_some_and(|(of, version)| of == name && !stays(version)))
    }

    /// Moves to the pending version: the run that made it has ended.
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
/// *Errors*: [`ProtocolError::State`], also if too many runs have not ended.
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

/// Checks that a state has not changed.
///
/// *Errors*: [`StateProblem::Version`].
pub(crate) fn check(store: &Store, name: &str, limits: Limits, prepared: Standing) -> Result<(), ProtocolError> {
    let now = standing(store, name, limits)?;
    match now == prepared {
        true => Ok(()),
        false => Err(problem(name, StateProblem::Version { expected: prepared.version, got: now.version })),
    }
}

/// Counts, durably, a run that begins, whether it is to make the next version or only reads.
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

/// The number of runs that only read a state's current version.
///
/// *Errors*: a record that cannot be read.
pub(crate) fn reads(store: &Store, name: &str) -> Result<u64, ProtocolError> {
    Ok(Record::of(store, name)?.reads)
}

/// Records the end of a run that leaves the version unchanged: it only reads, or was to keep the next version and panicked.
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

/// Keeps the outputs of a run as the next version, which the other server has as pending.
///
/// *Errors*: the store's.
pub(crate) fn keep(keeping: Keeping<'_>, name: &str, next: Standing) -> Result<(), ProtocolError> {
    let store = keeping.under(&wires(name, next.version))?;
    advance(store, name, next.chain)
}

/// Makes the pending version the current one, as the other server has done.
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

/// Forgets unfinished runs of all states, by order of the operator.
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

/// Tells whether the wires of a version are stored.
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
