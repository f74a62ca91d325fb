//! A service's counters: how often each peer started each job, by day. They are on disk before a run may reveal anything.
//!
//! They have their own store, sealed and written in one transaction, which only one process can open. As with any store, a restored old copy is
//! detected. If counters cannot be read or written, everybody is refused.

mod places;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use garblet::{
    net::Refusal,
    store::{Past, State, Store, StoreError, StoreKey},
};
use garblet_console::{
    configuration::make_own_folder,
    failure::Failure,
    hints::store_failure,
    receipts::Receipt,
    stock::load_or_create_key,
    whole_file::{self, Readers},
};

use self::places::Places;
use super::written::Often;

/// The form of a count.
const VERSION: u32 = 1;

/// The form of a started run's receipt; distinct from that of a count.
const BEGUN: u32 = 2;

const DAY_SECONDS: u64 = 86_400;

/// The longest wait while another process has the counters open.
const PATIENCE: Duration = Duration::from_secs(2);

/// The name of the count for all peers together.
const ALL: &str = "all";

/// The open counters.
pub(super) struct Counters {
    store: Store,
    /// Set once a write failed, after which the counts are unknown.
    broken: bool,
    /// Runs that are allowed but not counted yet, by the name of the count.
    reserved: HashMap<String, u64>,
}

/// The counters that sessions share; clones refer to the same ones.
#[derive(Clone)]
pub(super) struct SharedCounters(Arc<Mutex<Counters>>);

/// A run that may start. If dropped, its place is free for another.
pub(super) struct Reserved {
    counters: SharedCounters,
    budget: String,
    peers: Vec<String>,
    often: Often,
    /// The counts that reserve a place for it; empty once it is counted.
    names: Vec<String>,
}

impl SharedCounters {
    pub(super) fn new(counters: Counters) -> Self {
        SharedCounters(Arc::new(Mutex::new(counters)))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Counters> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks whether a run may start, so that no work is done for a peer out of runs. While a count is being written, the answer is yes.
    ///
    /// *Errors*: as [`Counters::look`].
    pub(super) fn may_begin(&self, budget: &str, peers: &[String], often: Often, now: u64) -> Result<(), Refusal> {
        match self.0.try_lock() {
            Ok(counters) => counters.look(budget, peers, often, now).map(drop),
            Err(std::sync::TryLockError::Poisoned(broken)) => {
                broken.into_inner().look(budget, peers, often, now).map(drop)
            }
            Err(std::sync::TryLockError::WouldBlock) => Ok(()),
        }
    }

    /// Reserves a place for a run with these peers if it may start at `now`, in seconds since 1970.
    ///
    /// *Errors*: as [`Counters::look`].
    pub(super) fn reserve(&self, budget: &str, peers: &[String], often: Often, now: u64) -> Result<Reserved, Refusal> {
        let names = self.lock().reserve(budget, peers, often, now)?;
        Ok(Reserved { counters: self.clone(), budget: budget.into(), peers: peers.into(), often, names })
    }

    /// The receipts of counted runs whose end was not recorded.
    pub(super) fn begun(&self) -> Vec<(String, Option<Receipt>)> {
        self.lock().begun()
    }

    /// Removes the start receipt of a run, once its final one is written.
    ///
    /// *Errors*: the counters cannot be written; they are broken from then on.
    pub(super) fn ended(&self, session: &str) -> Result<(), StoreError> {
        self.lock().ended(session)
    }
}

impl Reserved {
    /// Counts the run and stores its start receipt. Both are on disk when this returns.
    ///
    /// *Errors*: [`Refusal::Closed`] if they cannot be written, with the reason; otherwise as [`Counters::look`].
    pub(super) fn count(
        mut self,
        session: &str,
        begun: &Receipt,
        now: u64,
    ) -> Result<(), (Refusal, Option<StoreError>)> {
        let names = std::mem::take(&mut self.names);
        let mut counters = self.counters.lock();
        counters.release(&names);
        counters.count((&self.budget, &self.peers, self.often), (session, begun), now)
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if !self.names.is_empty() {
            self.counters.lock().release(&self.names);
        }
    }
}

/// A count of one budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// The day of the last run, in days since 1970.
    day: u64,
    on_that_day: u64,
    total: u64,
}

impl Counters {
    /// Checks that counters that were in a folder still are, with their key. Writes nothing, and does not open them, since a service may use them.
    ///
    /// *Errors*: they or the key are gone.
    pub(super) fn check(folder: &Path, key: Option<&Path>, records: &Path) -> Result<(), Failure> {
        Places::of(folder, records)?.check(key).map(drop)
    }

    /// Opens the counters in a folder, or creates them if there never were any. `records` is the separate folder that remembers this, so restoring a copy of
    /// the first cannot undo it.
    ///
    /// *Errors*: a folder that is in use, damaged, restored from a copy, or gone.
    pub(super) fn open(folder: &Path, key: Option<&Path>, records: &Path) -> Result<Self, Failure> {
        let unwritable = |path: &Path| {
            let path = path.to_path_buf();
            move |error| Failure::unwritable(&path, &error)
        };
        let places = Places::of(folder, records)?;
        let hint = || places.hint();
        let is_old = places.check(key)?;
        let Places { path, known } = &places;
        let key = load_or_create_key(key)?;
        make_own_folder(folder).map_err(unwritable(folder))?;
        let mut store = open_store(path, &key)?;
        let failed = |error: StoreError| match &error {
            // No peer has a part in counters, so the advice for stores does not fit.
            StoreError::Restored { .. } | StoreError::Forked { .. } => store_failure(&error).hint(hint()),
            _ => store_failure(&error),
        };
        match store.known_record_in(records).map_err(failed)? {
            Past::Known => {}
            Past::Unknown => {
                let what = format!(
                    "{}: these counters may be out of date: this machine has no record of them",
                    path.display()
                );
                return Err(Failure::no_result(what).hint(hint()));
            }
        }
        let id = store.id();
        for known in known {
            if !is_known_as(known, &id)? {
                let what = format!("{}: these are not this service's counters", path.display());
                return Err(Failure::no_result(what).hint(hint()));
            }
        }
        if !is_old {
            tracing::warn!(folder = %path.display(), "created new counters: nothing has been counted yet");
        }
        for known in known.iter().filter(|known| !known.exists()) {
            whole_file::write(known, Readers::Owner, |out| out.write_all(id.as_bytes())).map_err(unwritable(known))?;
        }
        if store.binding().is_some() || !store.stock().is_empty() {
            return Err(Failure::no_result(format!(
                "{}: this store holds something other than counters",
                path.display()
            ))
            .hint(hint()));
        }
        Ok(Counters { store, broken: false, reserved: HashMap::new() })
    }

    fn reserve(&mut self, budget: &str, peers: &[String], often: Often, now: u64) -> Result<Vec<String>, Refusal> {
        let names: Vec<String> = self.look(budget, peers, often, now)?.into_iter().map(|(name, _)| name).collect();
        for name in &names {
            *self.reserved.entry(name.clone()).or_default() += 1;
        }
        Ok(names)
    }

    fn release(&mut self, names: &[String]) {
        for name in names {
            if let Some(count) = self.reserved.get_mut(name) {
                *count -= 1;
                if *count == 0 {
                    self.reserved.remove(name);
                }
            }
        }
    }

    /// Counts a run of this budget with these peers, if it may start now, and stores its start receipt, in one transaction.
    fn count(
        &mut self,
        (budget, peers, often): (&str, &[String], Often),
        (session, begun): (&str, &Receipt),
        now: u64,
    ) -> Result<(), (Refusal, Option<StoreError>)> {
        let counted = self.look(budget, peers, often, now).map_err(|refusal| (refusal, None))?;
        let bytes = serde_json::to_vec(begun).map_err(|_| (Refusal::Closed, None))?;
        let counts = counted.iter().map(|(name, count)| (name.clone(), VERSION, count.encode()));
        let states = counts.chain([(begun_name(session), BEGUN, bytes)]);
        let states = states.map(|(name, version, bytes)| (name, State { version, bytes }));
        // Also record it outside the folder, which a batch does not do.
        let written = self.store.set_states(states);
        self.broken |= written.is_err();
        written.map_err(|error| (Refusal::Closed, Some(error)))
    }

    fn begun(&self) -> Vec<(String, Option<Receipt>)> {
        let begun = self.store.states().filter_map(|(name, state)| Some((name.strip_prefix(BEGINNING)?, state)));
        // One of another version has begun, too, though nobody can say more of it.
        let receipt = |state: &State| (state.version == BEGUN).then(|| serde_json::from_slice(&state.bytes).ok());
        begun.map(|(session, state)| (session.into(), receipt(state).flatten())).collect()
    }

    fn ended(&mut self, session: &str) -> Result<(), StoreError> {
        let name = begun_name(session);
        let forgotten = self.store.remove_states(|other| other == name);
        self.broken |= forgotten.is_err();
        forgotten
    }

    /// The counts if a run with these peers started at `now`, in seconds since 1970, in addition to reserved ones.
    ///
    /// *Errors*: [`Refusal::UsedUp`]; [`Refusal::Closed`] if the counts are unknown.
    fn look(&self, budget: &str, peers: &[String], often: Often, now: u64) -> Result<Vec<(String, Count)>, Refusal> {
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
            let reserved = self.reserved.get(&name).copied().unwrap_or(0);
            if total.is_some_and(|total| count.total.saturating_add(reserved) >= total) {
                return Err(Refusal::UsedUp { again_after: None });
            }
            if per_day.is_some_and(|most| count.on_that_day.saturating_add(reserved) >= most) {
                // After the clock was set back, the counted day lies in the future.
                let next = (count.day + 1).saturating_mul(DAY_SECONDS).saturating_sub(now);
                return Err(Refusal::UsedUp { again_after: Some(u32::try_from(next).unwrap_or(u32::MAX)) });
            }
            counted.push((name, count.and_one_more()));
        }
        Ok(counted)
    }

    /// The count with this name; `None` if it cannot be read.
    fn read(&self, name: &str) -> Option<Count> {
        match self.store.state(name) {
            None => Some(Count::default()),
            Some(State { version: VERSION, bytes }) => Count::decode(bytes),
            Some(_) => None,
        }
    }
}

/// The name prefix of start receipts.
const BEGINNING: &str = "begun ";

fn begun_name(session: &str) -> String {
    format!("{BEGINNING}{session}")
}

/// Opens or creates the store. A service killed while starting a program may hold it briefly, until that program has started.
fn open_store(path: &Path, key: &StoreKey) -> Result<Store, Failure> {
    let begin = Instant::now();
    loop {
        match Store::open_or_create(path, key, &mut rand::rng()) {
            Err(StoreError::InUse { .. }) if begin.elapsed() < PATIENCE => std::thread::sleep(PATIENCE / 40),
            opened => return opened.map_err(|error| store_failure(&error)),
        }
    }
}

/// Returns whether a file names this store, or none.
fn is_known_as(known: &Path, id: &str) -> Result<bool, Failure> {
    match std::fs::read_to_string(known) {
        Ok(told) => Ok(told == id),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(Failure::unreadable(known, &error)),
    }
}

/// The canonical path of a folder that may not exist yet.
pub(super) fn real(folder: &Path) -> std::io::Result<PathBuf> {
    let path = std::path::absolute(folder)?;
    match (path.canonicalize(), path.parent(), path.file_name()) {
        (Err(error), Some(parent), Some(name)) if error.kind() == std::io::ErrorKind::NotFound => {
            Ok(real(parent)?.join(name))
        }
        (found, ..) => found,
    }
}

impl Count {
    /// The count as of a day. A day before the last run counts as the same day, so setting the clock back gains nothing.
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

    /// A start receipt.
    fn begun() -> Receipt {
        let receipt = serde_json::json!({
            "time": "", "session": "7", "party": 0, "parties": 2, "identity": null, "peers": [], "job": null, "program": "", "version": "", "wire_version": 1,
            "protocol": "yao", "adversary": "", "parameters": {}, "security": null, "bytes_sent": 0, "bytes_received": 0,
            "ended": { "failed": { "class": "other", "message": "" } }, "transcripts": [],
        });
        serde_json::from_value(receipt).expect("a receipt")
    }

    fn count(counters: &mut Counters, budget: &str, peers: &[String], often: Often, now: u64) -> Result<(), Refusal> {
        let counted = counters.count((budget, peers, often), ("7", &begun()), now);
        counted.map_err(|(refusal, _)| refusal)
    }

    fn peers(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn each_limit_applies_and_refused_runs_are_not_counted() {
        let cases = [
            (Often { per_day: Some(2), ..Often::default() }, [true, true, false, false, true]),
            (Often { total: Some(3), ..Often::default() }, [true, true, true, false, false]),
            (Often { peer_per_day: Some(1), ..Often::default() }, [true, false, true, false, true]),
            (Often { peer_total: Some(1), ..Often::default() }, [true, false, true, false, false]),
        ];
        for (often, expected) in cases {
            let (_folder, mut counters) = counters();
            let runs = [("bob", NOW), ("bob", NOW), ("eve", NOW), ("eve", NOW), ("bob", NOW + DAY_SECONDS)];
            let began = runs.map(|(peer, now)| count(&mut counters, "job", &peers(&[peer]), often, now).is_ok());
            assert_eq!(began, expected, "{often:?}");
            assert!(count(&mut counters, "another", &peers(&["bob"]), often, NOW).is_ok(), "budgets are separate");
        }
    }

    #[test]
    fn the_refusal_says_when_the_next_run_is_allowed() {
        let (_folder, mut counters) = counters();
        let often = Often { per_day: Some(1), ..Often::default() };
        assert_eq!(count(&mut counters, "job", &[], often, NOW), Ok(()));
        let seconds = (DAY_SECONDS - 100) as u32;
        assert_eq!(count(&mut counters, "job", &[], often, NOW), Err(Refusal::UsedUp { again_after: Some(seconds) }));
        // Setting the clock back by a day gains nothing.
        let put_back = count(&mut counters, "job", &[], often, NOW - DAY_SECONDS);
        assert!(matches!(put_back, Err(Refusal::UsedUp { .. })), "{put_back:?}");
    }

    #[test]
    fn counts_outlive_the_process() {
        let (folder, mut counters) = counters();
        let often = Often { total: Some(2), ..Often::default() };
        assert_eq!(count(&mut counters, "job", &peers(&["bob", "eve"]), often, NOW), Ok(()));
        drop(counters);
        let mut again = open(folder.path());
        assert_eq!(count(&mut again, "job", &peers(&["bob"]), often, NOW), Ok(()));
        assert_eq!(count(&mut again, "job", &peers(&["bob"]), often, NOW), Err(Refusal::UsedUp { again_after: None }));
    }

    #[test]
    fn missing_restored_or_foreign_counters_are_refused() {
        let (folder, mut counters) = counters();
        let often = Often { total: Some(9), ..Often::default() };
        assert_eq!(count(&mut counters, "job", &[], often, NOW), Ok(()));
        drop(counters);
        let [state, old, key, records, others] =
            ["state", "old", "key", "records", "others"].map(|name| folder.path().join(name));
        let open =
            |records: &Path| Counters::open(&state, Some(&key), records).map(drop).map_err(|failure| failure.message);
        copy(&state, &old);
        let mut counters = super::tests::open(folder.path());
        assert_eq!(count(&mut counters, "job", &[], often, NOW), Ok(()));
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
        assert!(open(&records).is_err_and(|message| message.contains("are not this service's")));
    }

    #[test]
    fn counters_that_cannot_be_read_are_not_called_gone() {
        let (folder, counters) = counters();
        drop(counters);
        let [state, key, records] = ["state", "key", "records"].map(|name| folder.path().join(name));
        let refused = || {
            let checked = Counters::check(&state, Some(&key), &records).expect_err("unreadable");
            let opened = Counters::open(&state, Some(&key), &records).map(drop).expect_err("unreadable");
            assert_eq!((&checked.message, &checked.hint), (&opened.message, &opened.hint));
            assert_eq!(checked.hint, None, "nothing tells to start again");
            checked.message
        };
        // A link to itself, since tests of an administrator may read every file.
        let make_unreadable = |path: &Path| {
            std::fs::remove_file(path).and_then(|()| std::os::unix::fs::symlink(path, path)).expect("linked");
        };
        let index = state.join("counters").join("index.sqlite");
        make_unreadable(&index);
        let message = refused();
        assert!(message.starts_with(&format!("cannot read {}: ", index.display())), "{message}");
        // What says that there were counters cannot be read either: no others are made.
        std::fs::remove_dir_all(&state).expect("there");
        for known in Places::of(&state, &records).expect("a folder").known {
            std::fs::remove_file(&known).ok();
            std::os::unix::fs::symlink(&known, &known).ok();
        }
        let message = refused();
        assert!(message.contains("counters-") && message.contains(": cannot be read: "), "{message}");
        assert!(!state.exists());
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
    fn an_unreadable_count_is_refused() {
        let (_folder, mut counters) = counters();
        let strange = State { version: VERSION + 1, bytes: Vec::new() };
        counters.store.set_state(&format!("job {ALL}"), strange).expect("written");
        assert_eq!(count(&mut counters, "job", &[], Often::default(), NOW), Err(Refusal::Closed));
    }

    #[test]
    fn a_reserved_run_keeps_its_place_until_it_is_counted_or_dropped() {
        let (folder, counters) = counters();
        let (counters, bob) = (SharedCounters::new(counters), peers(&["bob"]));
        for often in [Often { total: Some(1), ..Often::default() }, Often { peer_per_day: Some(1), ..Often::default() }]
        {
            let reserve = || counters.reserve("job", &bob, often, NOW);
            let first = reserve().map_err(|refusal| refusal.name()).expect("it may");
            assert!(matches!(reserve().err(), Some(Refusal::UsedUp { .. })), "one is reserved");
            assert!(matches!(counters.may_begin("job", &bob, often, NOW), Err(Refusal::UsedUp { .. })));
            drop(first);
            assert!(reserve().is_ok() && reserve().is_ok(), "dropped ones free their place");
        }
        let often = Often { total: Some(1), ..Often::default() };
        let reserved = counters.reserve("job", &bob, often, NOW).map_err(|refusal| refusal.name()).expect("it may");
        reserved.count("7", &begun(), NOW).map_err(|(refusal, _)| refusal).expect("counted");
        assert!(matches!(counters.reserve("job", &bob, often, NOW).err(), Some(Refusal::UsedUp { .. })));
        drop(counters);
        let again = SharedCounters::new(open(folder.path()));
        assert!(matches!(again.may_begin("job", &bob, often, NOW), Err(Refusal::UsedUp { .. })));
    }

    #[test]
    fn the_start_receipt_stays_until_the_final_one_exists() {
        let (folder, mut counters) = counters();
        assert_eq!(count(&mut counters, "job", &[], Often::default(), NOW), Ok(()));
        drop(counters);
        let counters = SharedCounters::new(open(folder.path()));
        assert_eq!(counters.begun(), [("7".to_string(), Some(begun()))]);
        let other = State { version: BEGUN + 1, bytes: vec![1] };
        counters.lock().store.set_state(&begun_name("8"), other).expect("written");
        assert_eq!(counters.begun()[1], ("8".to_string(), None), "it has begun, though another version wrote it");
        for session in ["7", "8"] {
            counters.ended(session).expect("written");
        }
        assert_eq!(counters.begun(), []);
        drop(counters);
        assert_eq!(open(folder.path()).begun(), []);
    }

    #[cfg(unix)]
    #[test]
    fn moving_linking_or_copying_the_folder_gains_no_runs() {
        use std::os::unix::fs::symlink;
        let (folder, mut counters) = counters();
        let often = Often { total: Some(3), ..Often::default() };
        assert_eq!(count(&mut counters, "job", &[], often, NOW), Ok(()));
        drop(counters);
        let [state, moved, copied, empty, key, records] =
            ["state", "moved", "copied", "empty", "key", "records"].map(|name| folder.path().join(name));
        let open = |state: &Path| Counters::open(state, Some(&key), &records).map_err(|failure| failure.message);
        let refused = |state: &Path| open(state).map(drop).expect_err("refused");
        // A link to an empty folder, in place of the counters.
        std::fs::create_dir(&empty).expect("a folder");
        std::fs::rename(&state, &moved).expect("moved");
        symlink(&empty, &state).expect("a link");
        assert!(refused(&state).contains("are gone"));
        std::fs::remove_file(&state).expect("there");
        symlink(folder.path().join("nowhere"), &state).expect("a link");
        assert!(open(&state).is_err());
        std::fs::remove_file(&state).expect("there");
        // A moved folder keeps its counts, under its new path and through a link at the old one.
        let mut counters = open(&moved).expect("the same counters");
        assert_eq!(count(&mut counters, "job", &[], often, NOW), Ok(()));
        drop(counters);
        symlink(&moved, &state).expect("a link");
        copy(&moved, &copied);
        let mut counters = open(&state).expect("the same counters");
        assert_eq!(count(&mut counters, "job", &[], often, NOW), Ok(()));
        assert_eq!(count(&mut counters, "job", &[], often, NOW), Err(Refusal::UsedUp { again_after: None }));
        drop(counters);
        // A copy is out of date.
        assert!(refused(&copied).contains("older than its record"));
    }
}
