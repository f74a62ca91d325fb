//! Receipts: the records of all runs, with or without a result, in an append-only log.
//!
//! A receipt contains no input, and outputs only on request. Each contains the digest of the one before it, so no line can be changed, dropped or
//! moved without trace. Only a digest noted elsewhere or the peer's log shows whether the last ones were cut off. A receipt is written when the run
//! ends. If the process is killed before that, there is none, unless it is a service: that stores a start receipt when it counts a run, and adds it to
//! the log when it starts again.
//!
//! `chain` defines and checks lines, in which `distinct` finds fields that are there twice; `kept` is where a run's receipt goes; `log` is the file, `room` its room on the disk, `text` a log that is kept elsewhere; `comparison` compares the logs of two parties. `net/src/watch.rs` computes the digests in the two halves of a channel, so both ends have the
//! same ones. They are keyed by a secret of the TLS connection, so nobody else can test guesses.

pub mod chain;
pub mod comparison;
mod distinct;
#[cfg(feature = "system")]
mod kept;
#[cfg(feature = "system")]
pub mod log;
#[cfg(feature = "system")]
mod room;
#[cfg(test)]
mod tests;
pub mod text;

use garblet::{
    Bits, Class, Party, Program, ReadInput, SavedValues, Security,
    net::{ChannelWatch, Fingerprint, WIRE_VERSION},
    run_report::{PartyPart, PeerPart, Record, outputs_json, parameters_of},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    failure::Failure,
    hex::to_hex,
    met::{Outcome, Watched},
    output::printable,
    record::record_now,
    settings::Settings,
};

#[cfg(feature = "system")]
pub use self::kept::{ReceiptArgs, Receipts};

/// The longest message in a receipt.
const MESSAGE_CHARS_MAX: usize = 4_000;

/// The record of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// The time at which the run ended, or started if its outcome is unknown: RFC 3339, UTC.
    pub time: String,
    /// The session's number in the log of a service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// This party's number.
    pub party: u16,
    /// The number of parties.
    pub parties: u16,
    /// The fingerprint of this party's authenticated identity; `None` over plain TCP.
    pub identity: Option<String>,
    /// The other parties that were met; empty if the run ended before that.
    pub peers: Vec<PeerPart>,
    /// The digest of the job, if there was one.
    pub job: Option<String>,
    /// The program's digest.
    pub program: String,
    /// The version of Garblet.
    pub version: String,
    /// The version of the messages.
    pub wire_version: u32,
    /// The name of the protocol.
    pub protocol: String,
    /// The name of the adversary that the run is secure against.
    pub adversary: String,
    /// The parameters of the protocol.
    pub parameters: Map<String, Value>,
    /// The name under which the stores keep the wires of the outputs, if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<String>,
    /// The values that were read from stores in place of inputs, as `PORT=NAME.OUTPUT`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// The security that the run promises; `None` without a result.
    pub security: Option<Value>,
    /// Payload bytes to all peers.
    pub bytes_sent: u64,
    /// Payload bytes from all peers.
    pub bytes_received: u64,
    /// The end of the run.
    pub ended: Ended,
    /// The digests of all data sent to and received from each peer.
    pub transcripts: Vec<Transcript>,
    /// The outputs that this party learned, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Map<String, Value>>,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    /// The run had a result.
    Ok {
        /// The error when the session closed, if any; the result is final all the same.
        closing: Option<String>,
    },
    /// The run had no result.
    Failed {
        /// The class of the failure.
        class: Class,
        /// The reason, for people.
        message: String,
    },
}

/// The conversation with a peer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transcript {
    /// The peer's number.
    pub party: u16,
    /// The digest of the sent data; the peer's receipt has it as received.
    pub sent: String,
    /// The digest of the received data; the peer's receipt has it as sent.
    pub received: String,
}

/// The facts about a run that are known before it starts.
pub struct Run<'a> {
    /// The program.
    pub program: &'a Program,
    /// The protocol and its parameters.
    pub settings: &'a Settings,
    /// This party's number.
    pub party: Party,
    /// The number of parties.
    pub parties: u16,
    /// This party's identity; `None` over plain TCP.
    pub identity: Option<Fingerprint>,
    /// The values that stay in stores.
    pub saved: SavedValues,
    /// The session's number at a service.
    pub session: Option<&'a str>,
}

impl Receipt {
    /// The receipt of a run that has ended. It has outputs only if `outputs` is set.
    ///
    /// *Errors*: wrong settings.
    pub fn of_ended(
        run: &Run<'_>,
        watched: &Watched,
        names: &[(String, Fingerprint)],
        ended: Result<&Outcome, &Failure>,
        outputs: bool,
    ) -> Result<Self, Failure> {
        // The place of a panic is an output, so leave it out.
        let panicked = Failure::no_result("the computation panicked").of_class(Class::Panic);
        let has_panicked = |outcome: &Outcome| has_panicked(run.program, &outcome.outputs);
        let part = ended.ok().map(|outcome| &outcome.part);
        let ended = if ended.is_ok_and(has_panicked) { Err(&panicked) } else { ended };
        Receipt::of(run, watched, names, (ended, part), outputs)
    }

    fn of(
        run: &Run<'_>,
        watched: &Watched,
        names: &[(String, Fingerprint)],
        (ended, part): (Result<&Outcome, &Failure>, Option<&PartyPart>),
        outputs: bool,
    ) -> Result<Self, Failure> {
        let config = run.settings.config()?;
        let peers = watched.met.iter().map(|(party, identity)| PeerPart::met(*party, *identity, names)).collect();
        let Record { peers, program_digest, version, time } = record_now(run.program, peers);
        let transcript = |(party, channel): &(u16, ChannelWatch)| {
            let [sent, received] = [channel.sent(), channel.received()].map(|passed| to_hex(&passed.digest));
            Transcript { party: *party, sent, received }
        };
        let channels = || watched.channels.iter().map(|(_, channel)| channel);
        Ok(Receipt {
            time,
            session: run.session.map(String::from),
            party: run.party.0,
            parties: run.parties,
            identity: run.identity.map(|identity| identity.to_string()),
            peers,
            job: run.settings.job.as_ref().map(|job| job.digest.clone()),
            program: program_digest,
            version: version.into(),
            wire_version: WIRE_VERSION,
            protocol: config.protocol().name().into(),
            adversary: config.adversary().name().into(),
            parameters: parameters_of(&config, part),
            keep: run.saved.keep.clone(),
            read: run.saved.read.iter().map(read_text).collect(),
            security: ended.ok().map(|outcome| stated(outcome.security)),
            bytes_sent: channels().map(|channel| channel.sent().bytes).sum(),
            bytes_received: channels().map(|channel| channel.received().bytes).sum(),
            ended: Ended::of(ended),
            transcripts: watched.channels.iter().map(transcript).collect(),
            outputs: ended.ok().filter(|_| outputs).map(|outcome| outputs_json(run.program, &outcome.outputs)),
        })
    }
}

/// The promised security, without the fact that the peer exposed its secret, since the peer may see the receipt.
fn stated(security: Security) -> Value {
    serde_json::to_value(Security { peer_exposed: false, ..security }).unwrap_or_default()
}

impl Ended {
    /// Returns whether the run had a result.
    pub fn has_result(&self) -> bool {
        matches!(self, Ended::Ok { .. })
    }

    /// `with a result` or `without a result`.
    pub fn how(&self) -> &'static str {
        if self.has_result() { "with a result" } else { "without a result" }
    }

    fn of(ended: Result<&Outcome, &Failure>) -> Self {
        match ended {
            Ok(outcome) => Ended::Ok { closing: outcome.closing.as_ref().map(|failure| bounded(&failure.message)) },
            Err(failure) => Ended::Failed { class: failure.class, message: bounded(&failure.message) },
        }
    }
}

/// Returns whether a computation panicked as a whole, not only some rows of a batch.
fn has_panicked(program: &Program, outputs: &[Option<Bits>]) -> bool {
    garblet::check_panics(program, outputs).is_err_and(|panicked| panicked.rows.is_none() || panicked.keeps)
}

/// A message made safe for a receipt: some have several lines or quote the peer.
fn bounded(message: &str) -> String {
    printable(&message.replace('\n', " ")).chars().take(MESSAGE_CHARS_MAX).collect()
}

fn read_text(read: &ReadInput) -> String {
    let output = read.output.as_ref().map_or(String::new(), |output| format!(".{output}"));
    format!("{}={}{output}", read.port, read.name)
}
