//! Input files, read ahead of any call, so that the time of an answer reveals nothing about their contents.

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
    counting::Counting,
    data::{self, InputSource, RequestWords},
    operator::OperatorProgram,
    rule::Rule,
};

/// The time within which a second change may go unnoticed, since file systems store coarse times.
const TICK: Duration = Duration::from_secs(1);

/// A file as one party of a job reads it, with the arrangement of its lists, which a new configuration may change.
type Key = (String, u16, Arrange, PathBuf);

fn key(offer: &Offer, rule: &Rule, file: PathBuf) -> Key {
    (offer.digest.clone(), rule.party.0, rule.arrange, file)
}

/// The longest pause of a program.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// Programs that ran for nothing: the number of times in a row, and the time until which they are not started.
type Resting = HashMap<Started, (u32, Instant)>;

/// A program with its arguments: job, party, peers and command. What one caller does has no effect on others, over plain TCP on those at other addresses.
type Started = (String, u16, Vec<String>, Vec<String>);

/// The inputs of all files that rules name; clones share them.
#[derive(Clone, Default)]
pub(super) struct ReadAhead {
    files: Arc<Mutex<HashMap<Key, Arc<Read>>>>,
    resting: Arc<Mutex<Resting>>,
}

/// A program that ran for a session. When this is dropped, the program rests unless the session's run was counted: a caller that leaves pays nothing.
pub(super) struct Start {
    ahead: ReadAhead,
    started: Started,
    counting: Counting,
}

impl Drop for Start {
    fn drop(&mut self) {
        match self.counting.settle() {
            true => drop(self.ahead.lock_resting().remove(&self.started)),
            false => self.ahead.rest(&self.started),
        }
    }
}

/// A file's contents as read.
struct Read {
    seen: Seen,
    inputs: Result<PartyInputs, Failure>,
}

/// A file's state as seen just before it is read.
#[derive(Clone, Copy)]
struct Seen {
    /// `None` if the file does not exist.
    mark: Option<Mark>,
    /// The time at which this state was first seen.
    since: Instant,
    /// Set if the last change is old enough that another one would be noticed.
    is_settled: bool,
}

impl Seen {
    /// The state of a file with this mark. It is settled if its date is old enough, or if it has looked the same for long enough by our clock, since dates from
    /// another clock may lie in the future.
    fn now(mark: Option<Mark>, before: Option<Seen>) -> Self {
        let since = before.filter(|before| before.mark == mark).map_or_else(Instant::now, |before| before.since);
        let is_old = mark.is_none_or(|mark| mark.modified.elapsed().is_ok_and(|age| age > TICK));
        Seen { mark, since, is_settled: is_old || since.elapsed() > TICK }
    }

    /// Returns whether the file is certainly unchanged since it was read.
    fn is_fresh(&self, now: &Option<Mark>) -> bool {
        self.mark == *now && self.is_settled
    }
}

impl ReadAhead {
    /// The inputs of a run, and the program that ran for them, if one did. If they had to be read now, waits for the next beat of the rule, so that no
    /// caller sees how long that took.
    ///
    /// *Errors*: missing or unsuitable inputs.
    pub(super) async fn inputs(
        &self,
        offer: &Offer,
        rule: &Rule,
        request: &RequestWords,
        counting: &Counting,
    ) -> Result<(PartyInputs, Option<Start>), Failure> {
        let (begin, mut start) = (Instant::now(), None);
        let (inputs, were_there) = match &rule.inputs {
            None => return Ok((Vec::new(), None)),
            Some(InputSource::File(file)) => self.get(offer, rule, file),
            Some(InputSource::Folder(folder, by)) => {
                let name = data::name(*by, offer, request.peers.first());
                self.get(offer, rule, &data::in_folder(folder, name)?)
            }
            Some(InputSource::Command(program)) => {
                let ran = self.of_command((offer, rule, request), program, counting).await;
                let inputs = ran.map(|(inputs, ran)| {
                    start = Some(ran);
                    inputs
                });
                (inputs, false)
            }
        };
        if !were_there {
            let beats = begin.elapsed().as_nanos() / rule.beat.as_nanos().max(1) + 1;
            sleep_until(begin + rule.beat * u32::try_from(beats).unwrap_or(u32::MAX)).await;
        }
        Ok((inputs?, start))
    }

    /// The inputs that a program prints. A program that fails, or whose caller leaves before its run is counted, rests, longer each time: such callers
    /// pay nothing.
    async fn of_command(
        &self,
        (offer, rule, request): (&Offer, &Rule, &RequestWords),
        program: &OperatorProgram,
        counting: &Counting,
    ) -> Result<(PartyInputs, Start), Failure> {
        let started = (offer.digest.clone(), rule.party.0, request.paused.clone(), program.command.clone());
        let (times, until) = self.lock_resting().get(&started).copied().unwrap_or((0, Instant::now()));
        let rest = until.saturating_duration_since(Instant::now());
        if !rest.is_zero() {
            let (name, seconds) = (&program.command[0], rest.as_secs_f64().ceil());
            let times = if times == 1 { "once".into() } else { format!("{times} times in a row") };
            let what = format!("{name}: paused for {seconds} s: {times} it failed, or its caller left before the run");
            return Err(Failure::no_result(what));
        }
        // Also if the service aborts the session while the program runs.
        let start = Start { ahead: self.clone(), started, counting: counting.clone() };
        let inputs = data::of_command(offer, rule, request, program).await?;
        Ok((inputs, start))
    }

    /// Pauses a program that ran for nothing, longer each time. Sessions that ran it side by side count as one.
    fn rest(&self, started: &Started) {
        let (mut resting, now) = (self.lock_resting(), Instant::now());
        let (times, until) = resting.get(started).copied().unwrap_or((0, now));
        if until <= now {
            // Forget programs whose pause ended long ago, so that memory stays bounded.
            resting.retain(|_, (_, until)| until.elapsed() < LONGEST_REST);
            let times = times.saturating_add(1);
            resting.insert(started.clone(), (times, now + rest_after(times)));
        }
    }

    fn lock_resting(&self) -> std::sync::MutexGuard<'_, Resting> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The inputs in a file, and whether they had already been read.
    fn get(&self, offer: &Offer, rule: &Rule, file: &Path) -> (Result<PartyInputs, Failure>, bool) {
        let (key, now) = (key(offer, rule, file.to_path_buf()), Mark::of(file));
        let known = self.lock().get(&key).filter(|read| read.seen.is_fresh(&now)).cloned();
        match known {
            Some(read) => (read.inputs.clone(), true),
            None => (self.read(key, now, offer, rule).inputs.clone(), false),
        }
    }

    /// Reads files that have changed, and forgets those that no rule names any more.
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
                        "these inputs cannot be used: callers are refused until they are corrected"
                    );
                }
                named.insert(key);
            }
        }
        self.lock().retain(|key, _| named.contains(key));
    }

    fn read(&self, key: Key, mark: Option<Mark>, offer: &Offer, rule: &Rule) -> Arc<Read> {
        let before = self.lock().get(&key).map(|read| read.seen);
        // Decide before reading whether the last change is old enough.
        let seen = Seen::now(mark, before);
        let read = Arc::new(Read { seen, inputs: data::in_file(offer, rule, &key.3) });
        self.lock().insert(key, read.clone());
        read
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Arc<Read>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The pause of a program after it ran for nothing this number of times in a row.
fn rest_after(times: u32) -> Duration {
    LONGEST_REST.min(Duration::from_secs(1 << (times - 1).min(6)))
}

#[cfg(test)]
mod tests {
    use std::{fs, time::SystemTime};

    use super::*;

    #[test]
    fn the_pause_grows_each_time_up_to_a_minute() {
        let rests = [1, 2, 3, 6, 7, 100].map(|times| rest_after(times).as_secs());
        assert_eq!(rests, [1, 2, 4, 32, 60, 60]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_program_rests_after_sessions_without_a_counted_run_until_one_is_counted() {
        let ahead = ReadAhead::default();
        let started: Started = ("job".into(), 0, vec!["bob".into()], vec!["give".into()]);
        let ran = |counts: bool| {
            let counting = Counting::default();
            let start = Start { ahead: ahead.clone(), started: started.clone(), counting: counting.clone() };
            if counts {
                counting.count(|| Ok(())).expect("it is not aborted");
            }
            start
        };
        let rest = || ahead.lock_resting().get(&started).map(|(times, until)| (*times, *until - Instant::now()));
        let seconds = Duration::from_secs;
        // Side by side.
        drop((ran(false), ran(false)));
        assert_eq!(rest(), Some((1, seconds(1))));
        tokio::time::advance(seconds(1)).await;
        drop(ran(false));
        assert_eq!(rest(), Some((2, seconds(2))));
        drop(ran(true));
        assert_eq!(rest(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_dated_in_the_future_is_reread_until_it_has_settled() {
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
        assert!(third.is_fresh(&Mark::of(&file)), "it is not read again");
        fs::write(&file, "2").expect("written");
        assert!(!third.is_fresh(&Mark::of(&file)), "it has changed");
        assert!(!read(Some(third)).is_fresh(&Mark::of(&file)), "just now");
    }

    #[test]
    fn a_changed_or_fresh_file_is_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("own.json");
        let is_fresh = |mark| Seen::now(mark, None).is_fresh(&Mark::of(&file));
        assert!(is_fresh(None), "a missing file is still missing");
        let write = |text: &str, seconds: u64| {
            fs::write(&file, text).expect("written");
            let written = fs::File::options().append(true).open(&file).expect("there");
            written.set_modified(SystemTime::now() - Duration::from_secs(seconds)).expect("ours");
        };
        write("1", 0);
        assert!(!is_fresh(None), "it exists now");
        assert!(!is_fresh(Mark::of(&file)), "it could have changed within the same tick");
        write("1", 60);
        let read = Mark::of(&file);
        assert!(is_fresh(Mark::of(&file)));
        write("2", 30);
        assert!(!is_fresh(read));
        // Replaced by another file of the same age and length.
        let (read, other) = (Mark::of(&file), folder.path().join("other"));
        fs::write(&other, "3").expect("written");
        let as_old = fs::metadata(&file).and_then(|metadata| metadata.modified()).expect("known");
        fs::File::options().append(true).open(&other).and_then(|other| other.set_modified(as_old)).expect("ours");
        fs::rename(&other, &file).expect("in its place");
        assert!(!is_fresh(read));
    }
}
