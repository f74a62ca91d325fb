//! The memory of a client between visits, as a text: the counter of its submissions, a receipt for each state, and the unanswered visit.

use std::{collections::BTreeMap, path::Path};

use garblet::circuit::diagnostic::check_format;
use garblet_client::{Job, Pending, Receipt};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::{
    failure::Failure,
    hex::{from_hex, to_hex},
};

/// The newest format.
const FORMAT: u32 = 1;

/// The format that a text states; without one it is nothing that a client kept.
#[derive(Deserialize)]
struct Stated {
    format: i64,
}

/// The memory of a client between visits. *Secret* while a visit is unanswered.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
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

impl Default for Kept {
    /// Of a client that has not visited anybody.
    fn default() -> Self {
        Kept { format: FORMAT, counter: 0, receipts: BTreeMap::new(), unfinished: None }
    }
}

impl Kept {
    /// Reads what [`Kept::text`] wrote, first its format.
    ///
    /// *Errors*: it was changed.
    pub fn read(place: &Path, text: &str) -> Result<Kept, Failure> {
        // Without the error's own words, which may have a secret of the text in them.
        let spoilt = |error: serde_json::Error| {
            spoilt(&format!("{}: line {}, column {}", place.display(), error.line(), error.column()))
        };
        let Stated { format } = serde_json::from_str(text).map_err(spoilt)?;
        check_format(format, FORMAT).map_err(|other| Failure::other_format(place, other))?;
        serde_json::from_str(text).map_err(spoilt)
    }

    /// The text to store.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self)
    }

    /// The receipt of a state, with the last counter used for any state.
    ///
    /// *Errors*: the receipt was changed.
    pub(super) fn receipt(&self, state: &str) -> Result<Receipt, Failure> {
        let receipt = match self.receipts.get(state) {
            None => Receipt::first(state),
            Some(text) => {
                let bytes = from_hex(text).ok_or_else(|| spoilt("digits of a receipt"))?;
                Receipt::decode(&bytes).map_err(|error| spoilt(&error.to_string()))?
            }
        };
        Ok(receipt.with_counter(self.counter))
    }

    /// The last visit, if it is unanswered.
    pub(super) fn unfinished(&self) -> Option<&Unfinished> {
        self.unfinished.as_ref()
    }

    /// Counts from a number on, unless a higher one was used.
    pub(super) fn count_from(&mut self, counter: u64) {
        self.counter = self.counter.max(counter);
    }

    /// Records a visit, before anything is sent.
    pub(super) fn begin(&mut self, unfinished: Unfinished, receipt: &Receipt) {
        self.unfinished = Some(unfinished);
        self.note(receipt);
    }

    /// Records that the visit was answered.
    pub fn end(&mut self, receipt: Option<&Receipt>) {
        self.unfinished = None;
        if let Some(receipt) = receipt {
            self.note(receipt);
        }
    }

    fn note(&mut self, receipt: &Receipt) {
        self.counter = self.counter.max(receipt.counter());
        if !receipt.state().is_empty() {
            self.receipts.insert(receipt.state().into(), to_hex(&receipt.encode()));
        }
    }
}

fn spoilt(what: &str) -> Failure {
    Failure::call(format!("cannot read the client's receipts: {what}"))
        .hint("restore the file; without it, servers could return to a state older than the one this client has seen")
}
