//! The destination of a run's receipt, by options.

use std::path::{Path, PathBuf};

use garblet::{
    Class,
    net::{Fingerprint, JobTerms},
};

use super::{Receipt, Run, log::Log};
use crate::{
    configuration::in_configuration,
    failure::Failure,
    met::{Outcome, Watched},
    surface::Setting,
};

/// The message in the receipt of a counted run whose outcome was not recorded.
const UNKNOWN_END: &str = "the service ended before it recorded the outcome, which is unknown";

/// The options that say where receipts go.
#[derive(clap::Args)]
pub struct ReceiptArgs {
    /// Add the receipt of the run to this log [default: with --job, receipts.jsonl in the configuration folder; otherwise none]
    #[arg(long, value_name = "FILE")]
    receipts: Option<PathBuf>,
    /// Include the outputs that this party learns in the receipt
    #[arg(long)]
    receipt_outputs: bool,
}

/// The destination of a run's receipt.
pub struct Receipts {
    log: Log,
    outputs: bool,
}

impl ReceiptArgs {
    /// The options as given elsewhere than on a command line.
    pub fn new(receipts: Option<PathBuf>, receipt_outputs: bool) -> Self {
        ReceiptArgs { receipts, receipt_outputs }
    }

    /// Refuses the options for commands without receipts.
    ///
    /// *Errors*: one was given.
    pub fn check_none(&self, reason: &str) -> Result<(), Failure> {
        match (&self.receipts, self.receipt_outputs) {
            (None, false) => Ok(()),
            _ => Err(Failure::call(format!("--receipts, --receipt-outputs: {reason}"))),
        }
    }

    /// The log, ready for writing; `None` if no receipts are written.
    ///
    /// *Errors*: the log cannot be written.
    pub fn open(&self, job: Option<&JobTerms>) -> Result<Option<Receipts>, Failure> {
        let path = match (&self.receipts, job) {
            (None, None) if self.receipt_outputs => {
                return Err(Failure::call(format!("{}: this run writes no receipt", Setting::ReceiptOutputs.place()))
                    .hint(format!("give {}", Setting::Receipts.with("FILE"))));
            }
            (None, None) => return Ok(None),
            (named, _) => in_configuration(named.as_deref(), "receipts.jsonl")?,
        };
        Ok(Some(Receipts { log: Log::open(&path)?, outputs: self.receipt_outputs }))
    }
}

impl Receipts {
    /// The log at `path`, for receipts without outputs.
    ///
    /// *Errors*: the log cannot be written.
    pub fn at(path: &Path) -> Result<Receipts, Failure> {
        Ok(Receipts { log: Log::open(path)?, outputs: false })
    }

    /// Takes room on the disk for the receipt of the next run, as opening the log did for the first.
    ///
    /// *Errors*: the log cannot be written, or has no room; one that is damaged, which stays so until it is mended, forbids more runs.
    pub fn take_room(&self) -> Result<(), Failure> {
        self.log.take_room()
    }

    /// Checks that the log at `path` can be continued, if there is one. Writes nothing.
    ///
    /// *Errors*: the log cannot be read or written, or does not end in a receipt.
    pub fn check(path: &Path) -> Result<(), Failure> {
        Log::check(path)
    }

    /// The start receipt of a run, in case its outcome is never known.
    ///
    /// *Errors*: wrong settings.
    pub fn begun(run: &Run<'_>, watched: &Watched, names: &[(String, Fingerprint)]) -> Result<Receipt, Failure> {
        let unknown = Failure::no_result(UNKNOWN_END).of_class(Class::Other);
        let receipt = Receipt::of(run, watched, names, (Err(&unknown), None), false)?;
        // The data so far differs from that in the peer's receipt.
        Ok(Receipt { bytes_sent: 0, bytes_received: 0, transcripts: Vec::new(), ..receipt })
    }

    /// Adds a run's start receipt, unless the log has one of its session. Returns whether it was added.
    ///
    /// *Errors*: the log cannot be read or written.
    pub fn add_unless_there(&self, receipt: &Receipt) -> Result<bool, Failure> {
        match self.log.has(|other| other.session.is_some() && other.session == receipt.session)? {
            true => Ok(false),
            false => self.log.append(receipt).map(|_| true),
        }
    }

    /// Durably adds the receipt of a finished run. Returns its number.
    ///
    /// *Errors*: the log cannot be written.
    pub fn add(
        &self,
        run: &Run<'_>,
        watched: &Watched,
        names: &[(String, Fingerprint)],
        ended: Result<&Outcome, &Failure>,
    ) -> Result<u64, Failure> {
        let receipt = Receipt::of_ended(run, watched, names, ended, self.outputs)?;
        let added = self.log.append(&receipt);
        added.map_err(|failure| failure.hint("the run did end, and its peer may have a receipt of it"))
    }
}
