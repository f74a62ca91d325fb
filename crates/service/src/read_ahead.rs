//! Inputs in files, read before anybody asks for them: the time after which a caller hears an answer says nothing of what stands there.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use garblet::formats::value::Arrange;
use garblet_console::{failure::Failure, inputs::PartyInputs, mark::Mark};
use tokio::time::{Instant, sleep_until};

use super::{
    config::{Config, Offer},
    data::{self, InputSource, RequestWords},
    operator::OperatorProgram,
    rule::Rule,
};

/// The time after a change in which another could leave no mark: file systems tell times by ticks.
const TICK: Duration = Duration::from_secs(1);

/// A file as a party of a job reads it: also how its lists are arranged, which another configuration may change.
type Key = (String, u16, Arrange, PathBuf);

fn key(offer: &Offer, rule: &Rule, file: PathBuf) -> Key {
    (offer.digest.clone(), rule.party.0, rule.arrange, file)
}

/// The longest time for which a program that fails is not started again.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// Programs that have failed: how often one after another, and until when they are not started.
type Failing = HashMap<Started, (u32, Instant)>;

/// A program as it is started: the job and the party, its peers, and the command. What fails for one caller fails for no other.
type Started = (String, u16, Vec<String>, Vec<String>);

/// The inputs of all files that rules name; clones are the same.
#[derive(Clone, Default)]
pub(super) struct ReadAhead {
    files: Arc<Mutex<HashMap<Key, Arc<Read>>>>,
    failing: Arc<Mutex<Failing>>,
}

/// A file as it was read.
struct Read {
    seen: Seen,
    inputs: Result<PartyInputs, Failure>,
}

/// A state in which a file is seen now, before it is read.
#[derive(Clone, Copy)]
struct Seen {
    /// None if it is not there.
    mark: Option<Mark>,
    /// The time at which it was first seen so.
    since: Instant,
    /// Set if that is long enough after the change: another one would have left a mark.
    is_settled: bool,
}

impl Seen {
    /// A file with this mark. By its date it was changed long ago, or this clock has seen it as it is for long enough: the date of a file may be that of
    /// another clock, and lie in the future.
    fn now(mark: Option<Mark>, before: Option<Seen>) -> Self {
        let since = before.filter(|before| before.mark == mark).map_or_else(Instant::now, |before| before.since);
        let is_old = mark.is_none_or(|mark| mark.modified.elapsed().is_ok_and(|age| age > TICK));
        Seen { mark, since, is_settled: is_old || since.elapsed() > TICK }
    }

    /// Tells whether the file is surely as it was read.
    fn is_fresh(&self, now: &Option<Mark>) -> bool {
        self.mark == *now && self.is_settled
    }
}

impl ReadAhead {
    /// The inputs of a run. Unless they were there before the caller, they are held until the next beat of the rule, so that no caller sees how long it took
    /// to read them.
    ///
    /// *Errors*: none there, or none that fit.
    pub(super) async fn inputs(
        &self,
        offer: &Offer,
        rule: &Rule,
        request: &RequestWords,
    ) -> Result<PartyInputs, Failure> {
        let begin = Instant::now();
        let (inputs, were_there) = match &rule.inputs {
            None => return Ok(Vec::new()),
            Some(InputSource::File(file)) => self.get(offer, rule, file),
            Some(InputSource::Folder(folder, by)) => {
                let name = data::name(*by, offer, request.peers.first());
                self.get(offer, rule, &data::in_folder(folder, name)?)
            }
            Some(InputSource::Command(program)) => (self.of_command(offer, rule, request, program).await, false),
        };
        if !were_there {
            let beats = begin.elapsed().as_nanos() / rule.beat.as_nanos().max(1) + 1;
            sleep_until(begin + rule.beat * u32::try_from(beats).unwrap_or(u32::MAX)).await;
        }
        inputs
    }

    /// The inputs that a program prints. One that fails rests, each time longer: it costs its callers nothing.
    async fn of_command(
        &self,
        offer: &Offer,
        rule: &Rule,
        request: &RequestWords,
        program: &OperatorProgram,
    ) -> Result<PartyInputs, Failure> {
        let started = (offer.digest.clone(), rule.party.0, request.peers.clone(), program.command.clone());
        let (failed, until) = self.lock_failing().get(&started).copied().unwrap_or((0, Instant::now()));
        let rest = until.saturating_duration_since(Instant::now());
        if !rest.is_zero() {
            let (name, seconds) = (&program.command[0], rest.as_secs_f64().ceil());
            return Err(Failure::no_result(format!(
                "{name}: has failed {failed} times in a row, and is not started for {seconds} s"
            )));
        }
        let inputs = data::of_command(offer, rule, request, program).await;
        let mut failing = self.lock_failing();
        if inputs.is_ok() {
            failing.remove(&started);
        } else {
            let until = Instant::now() + rest_after(failed + 1);
            // What has rested for long has been forgotten, so that callers who come and go fill no memory.
            failing.retain(|_, (_, until)| until.elapsed() < LONGEST_REST);
            failing.insert(started, (failed + 1, until));
        }
        drop(failing);
        inputs
    }

    fn lock_failing(&self) -> std::sync::MutexGuard<'_, Failing> {
        self.failing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The inputs in a file, and whether they were there already.
    fn get(&self, offer: &Offer, rule: &Rule, file: &Path) -> (Result<PartyInputs, Failure>, bool) {
        let (key, now) = (key(offer, rule, file.to_path_buf()), Mark::of(file));
        let known = self.lock().get(&key).filter(|read| read.seen.is_fresh(&now)).cloned();
        match known {
            Some(read) => (read.inputs.clone(), true),
            None => (self.read(key, now, offer, rule).inputs.clone(), false),
        }
    }

    /// Reads what has changed, and forgets what no rule names any more.
    pub(super) fn look(&self, config: &Config) {
        let mut named = HashSet::new();
        for (offer, rule) in config.offers.iter().flat_map(|offer| offer.rules.iter().map(move |rule| (offer, rule))) {
            for file in data::files(offer, rule) {
                let now = Mark::of(&file);
                let key = key(offer, rule, file);
                let is_fresh = self.lock().get(&key).is_some_and(|read| read.seen.is_fresh(&now));
                if !is_fresh && let Err(failure) = &self.read(key.clone(), now, offer, rule).inputs {
                    let reason = &failure.message;
                    tracing::error!(
                        job = offer.name,
                        reason,
                        "these inputs cannot be used: until then callers are refused"
                    );
                }
                named.insert(key);
            }
        }
        self.lock().retain(|key, _| named.contains(key));
    }

    fn read(&self, key: Key, mark: Option<Mark>, offer: &Offer, rule: &Rule) -> Arc<Read> {
        let before = self.lock().get(&key).map(|read| read.seen);
        // Whether that is long ago enough is asked before it is read.
        let seen = Seen::now(mark, before);
        let read = Arc::new(Read { seen, inputs: data::in_file(offer, rule, &key.3) });
        self.lock().insert(key, read.clone());
        read
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Arc<Read>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The time for which a program is not started once it has failed so often in a row.
fn rest_after(failures: u32) -> Duration {
    LONGEST_REST.min(Duration::from_secs(1 << (failures - 1).min(6)))
}

#[cfg(test)]
mod tests {
    use std::{fs, time::SystemTime};

    use super::*;

    #[test]
    fn a_program_that_fails_again_rests_longer_but_a_minute_at_most() {
        let rests = [1, 2, 3, 6, 7, 100].map(|failures| rest_after(failures).as_secs());
        assert_eq!(rests, [1, 2, 4, 32, 60, 60]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_that_is_dated_in_the_future_is_read_until_it_was_as_it_is_for_long_enough() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("own.json");
        fs::write(&file, "1").expect("written");
        let future = SystemTime::now() + Duration::from_secs(86_400);
        fs::File::options().append(true).open(&file).and_then(|file| file.set_modified(future)).expect("ours");
        let read = |before: Option<Seen>| Seen::now(Mark::of(&file), before);
        let first = read(None);
        assert!(!first.is_fresh(&Mark::of(&file)), "it could have changed within the same tick");
        tokio::time::advance(TICK / 2).await;
        let second = read(Some(first));
        assert!(!second.is_fresh(&Mark::of(&file)));
        tokio::time::advance(TICK).await;
        let third = read(Some(second));
        assert!(third.is_fresh(&Mark::of(&file)), "it is read no more");
        fs::write(&file, "2").expect("written");
        assert!(!third.is_fresh(&Mark::of(&file)), "it has changed");
        assert!(!read(Some(third)).is_fresh(&Mark::of(&file)), "just now");
    }

    #[test]
    fn a_file_that_has_changed_or_just_been_written_is_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("own.json");
        let is_fresh = |mark| Seen::now(mark, None).is_fresh(&Mark::of(&file));
        assert!(is_fresh(None), "what was not there is still not there");
        let write = |text: &str, seconds: u64| {
            fs::write(&file, text).expect("written");
            let written = fs::File::options().append(true).open(&file).expect("there");
            written.set_modified(SystemTime::now() - Duration::from_secs(seconds)).expect("ours");
        };
        write("1", 0);
        assert!(!is_fresh(None), "it is there now");
        assert!(!is_fresh(Mark::of(&file)), "it could have changed within the same tick");
        write("1", 60);
        let read = Mark::of(&file);
        assert!(is_fresh(Mark::of(&file)));
        write("2", 30);
        assert!(!is_fresh(read));
        // Another file in its place, as old and as long.
        let (read, other) = (Mark::of(&file), folder.path().join("other"));
        fs::write(&other, "3").expect("written");
        let as_old = fs::metadata(&file).and_then(|metadata| metadata.modified()).expect("known");
        fs::File::options().append(true).open(&other).and_then(|other| other.set_modified(as_old)).expect("ours");
        fs::rename(&other, &file).expect("in its place");
        assert!(!is_fresh(read));
    }
}
