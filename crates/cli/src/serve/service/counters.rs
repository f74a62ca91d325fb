//! The counters of a service: how often each job was begun, by whom and on which day, on disk before a run may reveal anything.
//!
//! They lie in a store of their own, sealed and written in one transaction, which only one process has open; a copy that was put back is
//! noticed as that of any store is. What cannot be read or written is refused to everybody.

use std::path::{Path, PathBuf};

use garblet::store::{Past, State, Store};
use garblet_net::Refusal;

use super::written::Often;
use crate::{
    failure::Failure,
    hints::store_failure,
    stock::load_or_create_key,
    whole_file::{self, Readers},
};

const VERSION: u32 = 1;
const DAY_SECONDS: u64 = 86_400;

/// The name of the count of all peers together.
const ALL: &str = "all";

/// The counters, open.
pub(super) struct Counters {
    store: Store,
    /// Set once something could not be written: nobody knows what was counted.
    broken: bool,
}

/// A count of one budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// The day of the last run, counted from 1970.
    day: u64,
    on_that_day: u64,
    total: u64,
}

impl Counters {
    /// Opens the counters in a folder, or makes them where there never were any. `records` is the folder that knows, and that no copy of the first brings back.
    ///
    /// *Errors*: a folder that another process uses, that is damaged, was put back, or is gone.
    pub(super) fn open(folder: &Path, key: Option<&Path>, records: &Path) -> Result<Self, Failure> {
        let unwritable = |path: &Path| {
            let path = path.to_path_buf();
            move |error| Failure::unwritable(&path, &error)
        };
        let path = real(folder).map_err(|error| Failure::unreadable(folder, &error))?.join("counters");
        let name = blake3::hash(path.as_os_str().as_encoded_bytes());
        let known = records.join(format!("counters-{}", name.to_hex()));
        let were_there = known.exists();
        let hint = || {
            format!(
                "put them back as they were last; to begin anew, with everything that was counted forgotten, remove {} and {}",
                path.display(),
                known.display()
            )
        };
        if were_there && Store::find(&path).is_err() {
            return Err(Failure::no_result(format!("{}: the counters that this service had are gone", path.display()))
                .hint(hint()));
        }
        let key = load_or_create_key(key)?;
        std::fs::create_dir_all(folder).map_err(unwritable(folder))?;
        let mut store = Store::open_or_create(&path, &key, &mut rand::rng()).map_err(|error| store_failure(&error))?;
        match store.known_record_in(records).map_err(|error| store_failure(&error))? {
            Past::Known => {}
            Past::Unknown => {
                let what = format!(
                    "{}: nobody knows whether these counters are the last: this machine has no record of them",
                    path.display()
                );
                return Err(Failure::no_result(what).hint(hint()));
            }
        }
        let id = store.id();
        match were_there.then(|| std::fs::read_to_string(&known)).transpose() {
            Ok(None) => {
                tracing::warn!(folder = %path.display(), "these counters are new: nothing has been counted yet");
                whole_file::write(&known, Readers::Owner, |out| out.write_all(id.as_bytes()))
                    .map_err(unwritable(&known))?;
            }
            Ok(Some(told)) if told == id => {}
            Ok(Some(_)) => {
                let what = format!("{}: these counters are others than this service had", path.display());
                return Err(Failure::no_result(what).hint(hint()));
            }
            Err(error) => return Err(Failure::unreadable(&known, &error)),
        }
        if store.binding().is_some() || !store.stock().is_empty() {
            return Err(
                Failure::no_result(format!("{}: this is a store of something else", path.display())).hint(hint())
            );
        }
        Ok(Counters { store, broken: false })
    }

    /// Counts a run with these peers, if it may begin now, in seconds from 1970. It is on disk when this returns.
    ///
    /// *Errors*: [`Refusal::UsedUp`]; [`Refusal::Closed`] if nobody can know.
    pub(super) fn count(&mut self, budget: &str, peers: &[String], often: Often, now: u64) -> Result<(), Refusal> {
        let counted = self.look(budget, peers, often, now)?;
        self.write(&counted).ok_or(Refusal::Closed)
    }

    /// The counts that there would be if a run with these peers began now, in seconds from 1970.
    ///
    /// *Errors*: as [`Counters::count`].
    pub(super) fn look(
        &self,
        budget: &str,
        peers: &[String],
        often: Often,
        now: u64,
    ) -> Result<Vec<(String, Count)>, Refusal> {
        if self.broken {
            return Err(Refusal::Closed);
        }
        let day = now / DAY_SECONDS;
        let one = |name: &str, per_day, total| (format!("{budget} {name}"), per_day, total);
        let all = std::iter::once(one(ALL, often.per_day, often.total));
        let each = peers.iter().map(|peer| one(&format!("peer {peer}"), often.peer_per_day, often.peer_total));
        let mut counted = Vec::new();
        for (name, per_day, total) in all.chain(each) {
            let count = self.read(&name).ok_or(Refusal::Closed)?.on(day);
            if total.is_some_and(|total| count.total >= total) {
                return Err(Refusal::UsedUp { again_after: None });
            }
            if per_day.is_some_and(|most| count.on_that_day >= most) {
                // A clock that was put back shows a day that is not over for long.
                let next = (count.day + 1).saturating_mul(DAY_SECONDS).saturating_sub(now);
                return Err(Refusal::UsedUp { again_after: Some(u32::try_from(next).unwrap_or(u32::MAX)) });
            }
            counted.push((name, count.and_one_more()));
        }
        Ok(counted)
    }

    /// The count of that name; none if it cannot be read.
    fn read(&self, name: &str) -> Option<Count> {
        match self.store.state(name) {
            None => Some(Count::default()),
            Some(State { version: VERSION, bytes }) => Count::decode(bytes),
            Some(_) => None,
        }
    }

    /// Writes all of them in one transaction.
    fn write(&mut self, counts: &[(String, Count)]) -> Option<()> {
        let states = counts.iter().map(|(name, count)| {
            let state = State { version: VERSION, bytes: count.encode() };
            (name.clone(), state)
        });
        // Recorded outside of the folder, as nothing in a batch is.
        let written = self.store.set_states(states);
        if let Err(error) = &written {
            self.broken = true;
            tracing::error!(%error, "counters cannot be written: everybody is refused until the service is started again");
        }
        written.ok()
    }
}

/// The one name of a folder that may not be there yet, as far as it is.
fn real(folder: &Path) -> std::io::Result<PathBuf> {
    let path = std::path::absolute(folder)?;
    match (path.canonicalize(), path.parent(), path.file_name()) {
        (Err(error), Some(parent), Some(name)) if error.kind() == std::io::ErrorKind::NotFound => {
            Ok(real(parent)?.join(name))
        }
        (found, ..) => found,
    }
}

impl Count {
    /// The same on a day. One before that of the last run is taken for the same: a clock that is put back gives nothing.
    fn on(self, day: u64) -> Self {
        match day > self.day {
            true => Count { day, on_that_day: 0, ..self },
            false => self,
        }
    }

    fn and_one_more(self) -> Self {
        Count { on_that_day: self.on_that_day.saturating_add(1), total: self.total.saturating_add(1), ..self }
    }

    fn encode(self) -> Vec<u8> {
        [self.day, self.on_that_day, self.total].iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (numbers, []) = bytes.as_chunks::<8>() else { return None };
        let [day, on_that_day, total] =
            numbers.iter().map(|number| u64::from_le_bytes(*number)).collect::<Vec<_>>()[..]
        else {
            return None;
        };
        Some(Count { day, on_that_day, total })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 20_000 * DAY_SECONDS + 100;

    fn counters() -> (tempfile::TempDir, Counters) {
        let folder = tempfile::tempdir().expect("a folder");
        let counters = open(folder.path());
        (folder, counters)
    }

    fn open(folder: &Path) -> Counters {
        Counters::open(&folder.join("state"), Some(&folder.join("key")), &folder.join("records"))
            .map_err(|failure| failure.message)
            .expect("opens")
    }

    fn peers(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn each_limit_holds_by_itself_and_nothing_is_counted_of_what_is_refused() {
        let cases = [
            (Often { per_day: Some(2), ..Often::default() }, [true, true, false, false, true]),
            (Often { total: Some(3), ..Often::default() }, [true, true, true, false, false]),
            (Often { peer_per_day: Some(1), ..Often::default() }, [true, false, true, false, true]),
            (Often { peer_total: Some(1), ..Often::default() }, [true, false, true, false, false]),
        ];
        for (often, expected) in cases {
            let (_folder, mut counters) = counters();
            let runs = [("bob", NOW), ("bob", NOW), ("eve", NOW), ("eve", NOW), ("bob", NOW + DAY_SECONDS)];
            let began = runs.map(|(peer, now)| counters.count("job", &peers(&[peer]), often, now).is_ok());
            assert_eq!(began, expected, "{often:?}");
            assert!(counters.count("another", &peers(&["bob"]), often, NOW).is_ok(), "budgets are apart");
        }
    }

    #[test]
    fn the_refusal_says_when_there_is_more() {
        let (_folder, mut counters) = counters();
        let often = Often { per_day: Some(1), ..Often::default() };
        assert_eq!(counters.count("job", &[], often, NOW), Ok(()));
        let seconds = (DAY_SECONDS - 100) as u32;
        assert_eq!(counters.count("job", &[], often, NOW), Err(Refusal::UsedUp { again_after: Some(seconds) }));
        // A clock that is put back by a day gives no more.
        let put_back = counters.count("job", &[], often, NOW - DAY_SECONDS);
        assert!(matches!(put_back, Err(Refusal::UsedUp { .. })), "{put_back:?}");
    }

    #[test]
    fn counts_are_there_when_the_process_is_gone() {
        let (folder, mut counters) = counters();
        let often = Often { total: Some(2), ..Often::default() };
        assert_eq!(counters.count("job", &peers(&["bob", "eve"]), often, NOW), Ok(()));
        drop(counters);
        let mut again = open(folder.path());
        assert_eq!(again.count("job", &peers(&["bob"]), often, NOW), Ok(()));
        assert_eq!(again.count("job", &peers(&["bob"]), often, NOW), Err(Refusal::UsedUp { again_after: None }));
    }

    #[test]
    fn counters_that_are_gone_put_back_or_of_another_machine_are_refused() {
        let (folder, mut counters) = counters();
        let often = Often { total: Some(9), ..Often::default() };
        assert_eq!(counters.count("job", &[], often, NOW), Ok(()));
        drop(counters);
        let [state, old, key, records, others] =
            ["state", "old", "key", "records", "others"].map(|name| folder.path().join(name));
        let open =
            |records: &Path| Counters::open(&state, Some(&key), records).map(drop).map_err(|failure| failure.message);
        copy(&state, &old);
        let mut counters = super::tests::open(folder.path());
        assert_eq!(counters.count("job", &[], often, NOW), Ok(()));
        drop(counters);
        std::fs::rename(&state, folder.path().join("new")).expect("moved");
        assert!(open(&records).is_err_and(|message| message.contains("are gone")));
        std::fs::rename(&old, &state).expect("moved");
        let put_back = open(&records).expect_err("an old copy");
        assert!(put_back.contains("older than its record"), "{put_back}");
        std::fs::remove_dir_all(&state).expect("there");
        std::fs::rename(folder.path().join("new"), &state).expect("moved");
        assert_eq!(open(&records), Ok(()));
        for _ in 0..2 {
            assert!(open(&others).is_err_and(|message| message.contains("has no record of them")));
        }
        std::fs::rename(&state, folder.path().join("new")).expect("moved");
        drop(
            Counters::open(&folder.path().join("another"), Some(&key), &records)
                .map_err(|failure| failure.message)
                .expect("opens"),
        );
        std::fs::rename(folder.path().join("another"), &state).expect("moved");
        assert!(open(&records).is_err_and(|message| message.contains("are others")));
    }

    fn copy(from: &Path, to: &Path) {
        std::fs::create_dir(to).expect("a folder");
        std::fs::set_permissions(to, std::fs::metadata(from).expect("there").permissions()).expect("it is ours");
        for entry in std::fs::read_dir(from).expect("a folder") {
            let entry = entry.expect("there");
            let to = to.join(entry.file_name());
            match entry.path().is_dir() {
                true => copy(&entry.path(), &to),
                false => drop(std::fs::copy(entry.path(), to).expect("copied")),
            }
        }
    }

    #[test]
    fn a_count_that_cannot_be_read_is_refused() {
        let (_folder, mut counters) = counters();
        let strange = State { version: VERSION + 1, bytes: Vec::new() };
        counters.store.set_state(&format!("job {ALL}"), strange).expect("written");
        assert_eq!(counters.count("job", &[], Often::default(), NOW), Err(Refusal::Closed));
    }
}
