//! A client's memory: the counter of its submissions, a receipt for each state, and the unanswered visit.

use std::{
    collections::BTreeMap,
    fs::{File, TryLockError},
    path::{Path, PathBuf},
};

use garblet::{circuit::diagnostic::check_format, outsourced::service::Agreement};
use garblet_client::{Identity, Job, Pending, Receipt, Server};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::{
    configuration::{in_configuration, make_folder},
    failure::Failure,
    hex::{from_hex, to_hex},
    output::tell,
    whole_file::{self, Readers},
};

/// The newest format of a client's memory.
const FORMAT: u32 = 1;

/// A client's memory, in a file that one process uses at a time.
pub(super) struct Memory {
    path: PathBuf,
    /// The lock on the file, held for the lifetime of the memory.
    _lock: File,
    kept: Kept,
}

/// The format that a file states; without one it is no memory.
#[derive(Deserialize)]
struct Stated {
    format: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    format: u32,
    counter: u64,
    /// By state.
    receipts: BTreeMap<String, String>,
    unfinished: Option<Unfinished>,
}

/// A started visit whose answers have not been opened. *Secret*: together with both answers it reveals the output.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Unfinished {
    offer: String,
    job: String,
    pending: String,
    to_generator: String,
    to_cloud: String,
}

/// A started visit.
pub(super) struct Begun {
    pub(super) offer: String,
    pub(super) job: Job,
    /// The secret that opens the answers.
    pub(super) pending: Pending,
    /// For the generator and the cloud.
    pub(super) frames: [Vec<u8>; 2],
}

impl Unfinished {
    pub(super) fn new(offer: &str, job: &Job, pending: &Pending, [to_generator, to_cloud]: [&[u8]; 2]) -> Self {
        let (job, pending) = (to_hex(job.encode()), to_hex(&pending.encode()));
        let (to_generator, to_cloud) = (to_hex(to_generator), to_hex(to_cloud));
        Unfinished { offer: offer.into(), job, pending, to_generator, to_cloud }
    }

    /// Reads the bytes.
    ///
    /// *Errors*: the file was changed.
    pub(super) fn read(&self) -> Result<Begun, Failure> {
        let bytes = |text: &String| from_hex(text).ok_or_else(|| spoilt("digits of bytes"));
        let job = Job::decode(&bytes(&self.job)?).map_err(|error| spoilt(&error.to_string()))?;
        let pending = Pending::decode(&Zeroizing::new(bytes(&self.pending)?));
        let pending = pending.map_err(|error| spoilt(&error.to_string()))?;
        let frames = [bytes(&self.to_generator)?, bytes(&self.to_cloud)?];
        Ok(Begun { offer: self.offer.clone(), job, pending, frames })
    }
}

impl Memory {
    /// Opens a client's memory for these servers, at first empty. Waits while another process uses it.
    ///
    /// *Errors*: the file cannot be read, or holds something else.
    pub(super) fn open(named: Option<&Path>, agreement: &Agreement, client: &str) -> Result<Self, Failure> {
        let servers = Server::BOTH.map(|server| format!("{:?}", agreement.server(server))[..16].to_string());
        let name = format!("receipts/{}-{:?}.json", servers.concat(), Identity::of_client(client));
        let path = in_configuration(named, &name)?;
        make_folder(&path)?;
        let beside = lock_of(&path);
        // Whatever has this name keeps what it holds.
        let opened = File::options().write(true).create(true).truncate(false).open(&beside);
        let lock = opened.and_then(locked).map_err(|error| Failure::unwritable(&beside, &error))?;
        let kept = match std::fs::read_to_string(&path) {
            Ok(text) => read(&path, &text)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Kept { format: FORMAT, counter: 0, receipts: BTreeMap::new(), unfinished: None }
            }
            Err(error) => return Err(Failure::unreadable(&path, &error)),
        };
        Ok(Memory { path, _lock: lock, kept })
    }

    /// The receipt of a state, with the last counter used for any state.
    ///
    /// *Errors*: the receipt was changed.
    pub(super) fn receipt(&self, state: &str) -> Result<Receipt, Failure> {
        let receipt = match self.kept.receipts.get(state) {
            None => Receipt::first(state),
            Some(text) => {
                let bytes = from_hex(text).ok_or_else(|| spoilt("digits of a receipt"))?;
                Receipt::decode(&bytes).map_err(|error| spoilt(&error.to_string()))?
            }
        };
        Ok(receipt.with_counter(self.kept.counter))
    }

    /// The last visit, if it is unanswered.
    pub(super) fn unfinished(&self) -> Option<&Unfinished> {
        self.kept.unfinished.as_ref()
    }

    /// Records a visit, before anything is sent.
    ///
    /// *Errors*: a file that cannot be written.
    pub(super) fn begin(&mut self, unfinished: Unfinished, receipt: &Receipt) -> Result<(), Failure> {
        self.kept.unfinished = Some(unfinished);
        self.note(receipt);
        self.write()
    }

    /// Records that the visit was answered.
    ///
    /// *Errors*: a file that cannot be written.
    pub(super) fn end(&mut self, receipt: Option<&Receipt>) -> Result<(), Failure> {
        self.kept.unfinished = None;
        if let Some(receipt) = receipt {
            self.note(receipt);
        }
        self.write()
    }

    fn note(&mut self, receipt: &Receipt) {
        self.kept.counter = self.kept.counter.max(receipt.counter());
        if !receipt.state().is_empty() {
            self.kept.receipts.insert(receipt.state().into(), to_hex(&receipt.encode()));
        }
    }

    /// Writes the whole file atomically.
    fn write(&self) -> Result<(), Failure> {
        let failed = |error: std::io::Error| Failure::unwritable(&self.path, &error);
        let text = serde_json::to_string_pretty(&self.kept).map_err(|error| failed(error.into()))?;
        // A counter may be used only after all of this is durable.
        whole_file::write(&self.path, Readers::Owner, |out| out.write_all(text.as_bytes())).map_err(failed)
    }
}

/// Reads a memory, first its format.
fn read(path: &Path, text: &str) -> Result<Kept, Failure> {
    let spoilt = |error: serde_json::Error| spoilt(&format!("{}: {error}", path.display()));
    let Stated { format } = serde_json::from_str(text).map_err(spoilt)?;
    check_format(format, FORMAT).map_err(|other| Failure::other_format(path, other))?;
    serde_json::from_str(text).map_err(spoilt)
}

/// The lock file of a file: with all of its name, so that no other file has the same.
fn lock_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// Waits for the lock on a file, and says so if another process holds it.
fn locked(file: File) -> std::io::Result<File> {
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            tell("another visit of this client is under way: waiting for its end");
            file.lock().map(|()| file)
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn spoilt(what: &str) -> Failure {
    Failure::call(format!("cannot read the client's receipts: {what}"))
        .hint("restore the file; without it, servers could return to a state older than the one this client has seen")
}
