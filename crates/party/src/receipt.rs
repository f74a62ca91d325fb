//! Receipts: the records of runs, with or without a result.

use garblet::{Party, Program, SavedValues, net::Fingerprint};
use garblet_console::{
    failure::Failure,
    met::{Outcome, Watched},
    output::heard,
    receipts::{
        Receipt, Run,
        chain::{Digested, object, read_all},
        comparison,
        text::LogText,
    },
    settings::Settings,
};
use serde_json::{Value, json};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::error::{Thrown, failed, thrown};

/// The facts of a run for its receipt, and the log to which that is added.
pub(crate) struct Recorder {
    pub(crate) log: LogText,
    /// The remarks on the log, for instance that its last receipt is incomplete.
    pub(crate) notes: Vec<String>,
    pub(crate) settings: Settings,
    pub(crate) identity: Fingerprint,
    /// The names of those whom the run may meet.
    pub(crate) names: Vec<(String, Fingerprint)>,
}

impl Recorder {
    /// Adds the receipt of a run that has ended.
    ///
    /// *Errors*: a receipt that cannot be written.
    pub(crate) fn end(
        mut self,
        (program, party): (&Program, Party),
        watched: &Watched,
        ended: Result<&Outcome, &Failure>,
    ) -> Result<Recorded, Failure> {
        let Recorder { settings, identity, names, .. } = &self;
        let (identity, saved) = (Some(*identity), SavedValues::default());
        let run = Run { program, settings, party, parties: 2, identity, saved, session: None };
        let receipt = Receipt::of_ended(&run, watched, names, ended, false)?;
        let added = self.log.add(&receipt)?;
        Ok(Recorded { receipt: object(&added), log: self.log.text().into(), notes: self.notes })
    }
}

/// The receipt of a run, with its log.
pub(crate) struct Recorded {
    receipt: Value,
    log: String,
    notes: Vec<String>,
}

impl Recorded {
    /// The members that a report or an error has.
    pub(crate) fn members(self) -> [(String, Value); 3] {
        let Recorded { receipt, log, notes } = self;
        [("receipt".into(), receipt), ("receipts".into(), log.into()), ("notes".into(), notes.into())]
    }
}

/// The receipts of a log and remarks on it as a JSON object, after checks of all lines. Each of `holds`, a JSON array of digests, must be that of one.
#[wasm_bindgen(js_name = readReceipts)]
pub fn read_receipts(log: &str, holds: &str) -> Result<String, Thrown> {
    let wrong = |what: String| failed(&format!("holds: {what}"), "give digests of receipts, as they say");
    let holds: Vec<String> = serde_json::from_str(holds).map_err(|_| wrong("expected an array of texts".into()))?;
    let holds = holds.iter().map(|text| text.parse()).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
    let (read, notes) = heard(|| read_all(&"the log", log.as_bytes(), &holds));
    let (links, _) = read.map_err(|failure| thrown(&failure))?;
    Ok(json!({ "receipts": links.iter().map(object).collect::<Vec<_>>(), "notes": notes }).to_string())
}

/// Compares the logs of two parties: a JSON object with pairs of receipts of the same run, receipts that only one log has, whether the logs differ in a
/// run with a result, and remarks on the logs.
#[wasm_bindgen(js_name = compareReceipts)]
pub fn compare_receipts(ours: &str, theirs: &str) -> Result<String, Thrown> {
    let read = |place: &str, log: &str| -> Result<Vec<Digested>, Thrown> {
        read_all(&place, log.as_bytes(), &[]).map(|(links, _)| links).map_err(|failure| thrown(&failure))
    };
    let (logs, notes) = heard(|| Ok::<_, Thrown>([read("ours", ours)?, read("theirs", theirs)?]));
    let mut compared = comparison::object(&logs?);
    compared["notes"] = notes.into();
    Ok(compared.to_string())
}
