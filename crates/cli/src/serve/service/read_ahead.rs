//! Inputs in files, read before anybody asks for them: the time after which a caller hears an answer says nothing of what stands there.

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use tokio::time::{Instant, sleep_until};

use super::{
    config::{Config, Offer},
    data::{self, InputSource, RequestWords},
    rule::Rule,
};
use crate::{failure::Failure, inputs::PartyInputs};

/// The time after a change in which another could leave no mark: file systems tell times by ticks.
const TICK: Duration = Duration::from_secs(1);

/// A file as a party of a job reads it.
type Key = (String, u16, PathBuf);

/// The inputs of all files that rules name; clones are the same.
#[derive(Clone, Default)]
pub(super) struct ReadAhead(Arc<Mutex<HashMap<Key, Arc<Read>>>>);

/// A file as it was read.
struct Read {
    /// None if it was not there.
    mark: Option<Mark>,
    inputs: Result<PartyInputs, Failure>,
}

/// The state of a file by which a change is noticed.
#[derive(PartialEq, Eq)]
struct Mark {
    modified: SystemTime,
    bytes: u64,
    file: u64,
    /// Set if it was read long enough after the change.
    is_settled: bool,
}

impl Mark {
    fn of(file: &Path) -> Option<Self> {
        let metadata = fs::metadata(file).ok()?;
        let modified = metadata.modified().ok()?;
        let is_settled = modified.elapsed().is_ok_and(|age| age > TICK);
        let file = std::os::unix::fs::MetadataExt::ino(&metadata);
        Some(Mark { modified, bytes: metadata.len(), file, is_settled })
    }
}

impl Read {
    /// Tells whether the file is surely as it was read.
    fn is_fresh(&self, now: &Option<Mark>) -> bool {
        self.mark == *now && now.as_ref().is_none_or(|mark| mark.is_settled)
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
            Some(InputSource::Command(program)) => (data::of_command(offer, rule, request, program).await, false),
        };
        if !were_there {
            let beats = begin.elapsed().as_nanos() / rule.beat.as_nanos().max(1) + 1;
            sleep_until(begin + rule.beat * u32::try_from(beats).unwrap_or(u32::MAX)).await;
        }
        inputs
    }

    /// The inputs in a file, and whether they were there already.
    fn get(&self, offer: &Offer, rule: &Rule, file: &Path) -> (Result<PartyInputs, Failure>, bool) {
        let (key, now) = ((offer.digest.clone(), rule.party.0, file.to_path_buf()), Mark::of(file));
        let known = self.lock().get(&key).filter(|read| read.is_fresh(&now)).cloned();
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
                let key = (offer.digest.clone(), rule.party.0, file);
                let is_fresh = self.lock().get(&key).is_some_and(|read| read.is_fresh(&now));
                if !is_fresh {
                    self.read(key.clone(), now, offer, rule);
                }
                named.insert(key);
            }
        }
        self.lock().retain(|key, _| named.contains(key));
    }

    fn read(&self, key: Key, mark: Option<Mark>, offer: &Offer, rule: &Rule) -> Arc<Read> {
        let read = Arc::new(Read { mark, inputs: data::in_file(offer, rule, &key.2) });
        self.lock().insert(key, read.clone());
        read
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Arc<Read>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_has_changed_or_just_been_written_is_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("own.json");
        let is_fresh = |mark| Read { mark, inputs: Ok(Vec::new()) }.is_fresh(&Mark::of(&file));
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
