//! `garblet receipts`: checks, shows and compares logs of receipts.

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use garblet_console::{
    configuration::in_configuration,
    failure::Failure,
    hex::to_hex,
    job::JobDigest,
    output::{bytes, print, print_json},
    receipts::{Ended, chain::Link, comparison::Comparison, log},
    record::peer_text,
};
use serde_json::json;

/// The subcommands of `garblet receipts`.
#[derive(clap::Subcommand)]
pub(crate) enum ReceiptsCommand {
    /// Check that no line of a log was changed, dropped or moved
    Verify(VerifyOptions),
    /// Show the receipts of a log
    Show(ShowOptions),
    /// Compare the logs of two parties, run by run, by what each sent and received
    Compare(CompareOptions),
}

/// The log.
#[derive(clap::Args)]
pub(crate) struct LogArgs {
    /// The log [default: receipts.jsonl in the configuration folder]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

/// The options of `garblet receipts verify`.
#[derive(clap::Args)]
pub(crate) struct VerifyOptions {
    #[command(flatten)]
    log: LogArgs,
    /// Also check that the log has the receipt with this digest, which you noted earlier: then nothing before it was cut off
    #[arg(long, value_name = "DIGEST")]
    holds: Vec<JobDigest>,
}

/// The options of `garblet receipts show`.
#[derive(clap::Args)]
pub(crate) struct ShowOptions {
    #[command(flatten)]
    log: LogArgs,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// The options of `garblet receipts compare`.
#[derive(clap::Args)]
pub(crate) struct CompareOptions {
    /// Our log
    #[arg(value_name = "OURS")]
    ours: PathBuf,
    /// The peer's log
    #[arg(value_name = "THEIRS")]
    theirs: PathBuf,
}

/// Runs `garblet receipts`.
pub(crate) fn run(command: &ReceiptsCommand) -> Result<(), Failure> {
    match command {
        ReceiptsCommand::Verify(options) => verify(options),
        ReceiptsCommand::Show(options) => show(options),
        ReceiptsCommand::Compare(options) => compare(options),
    }
}

impl LogArgs {
    fn path(&self) -> Result<PathBuf, Failure> {
        in_configuration(self.file.as_deref(), "receipts.jsonl")
    }
}

fn verify(options: &VerifyOptions) -> Result<(), Failure> {
    let (_, head) = log::read_all(&options.log.path()?, &options.holds)?;
    print(&format!("{} receipts, the last is {}\n", head.number, to_hex(&head.digest)))
}

fn show(options: &ShowOptions) -> Result<(), Failure> {
    let path = options.log.path()?;
    let (links, _) = log::read_all(&path, &[])?;
    match options.json {
        true => print_json(&json!({ "file": path, "receipts": links.iter().map(log::object).collect::<Vec<_>>() })),
        false => print(&links.iter().map(|(link, _)| text(link)).collect::<Vec<_>>().join("\n")),
    }
}

/// A receipt as readable text.
fn text(link: &Link) -> String {
    let receipt = &link.receipt;
    let ended = match &receipt.ended {
        Ended::Ok { closing: None } => "with a result".into(),
        Ended::Ok { closing: Some(what) } => {
            format!("with a result; the peer did not close the session properly: {what}")
        }
        Ended::Failed { class, message } => format!("without a result ({}): {message}", class.name()),
    };
    let (sent, received) = (bytes(receipt.bytes_sent), bytes(receipt.bytes_received));
    let mut text = format!("{}  {}  {ended}\n", link.number, receipt.time);
    let job = receipt.job.as_deref().unwrap_or("none");
    text += &format!("   party {} of {}, {}, job {job}\n", receipt.party, receipt.parties, receipt.protocol);
    text +=
        &format!("   program {}, garblet {}\n   sent {sent}, received {received}\n", receipt.program, receipt.version);
    if let Some(session) = &receipt.session {
        text += &format!("   session {session}\n");
    }
    receipt.peers.iter().fold(text, |text, peer| text + "   " + &peer_text(peer))
}

fn compare(options: &CompareOptions) -> Result<(), Failure> {
    let comparison = Comparison::of_logs(&options.ours, &options.theirs)?;
    print(&told(&comparison))?;
    match comparison.differs() {
        false => Ok(()),
        true => Err(Failure::no_result("some runs with a result are in only one log, or differ between the two")
            .hint("one party has other receipts, or bytes were changed in transit: compare versions and times")),
    }
}

/// A comparison as readable text.
fn told(comparison: &Comparison) -> String {
    let mut text = String::new();
    for (ours, theirs) in &comparison.alike {
        let (our, their) = (&ours.receipt.ended, &theirs.receipt.ended);
        text += &format!(
            "ours {} and theirs {}: the same run; each received what the other sent",
            ours.number, theirs.number
        );
        text += &match our.has_result() == their.has_result() {
            true => "\n".into(),
            false => format!("; ours ended {}, theirs {}\n", our.how(), their.how()),
        };
    }
    for (whose, only) in ["ours", "theirs"].iter().zip(&comparison.only) {
        for link in only {
            let (how, last) = match &link.receipt.ended {
                Ended::Ok { closing: Some(_) } => {
                    (", though the peer did not close the session properly", ", or its last message was lost")
                }
                _ => ("", ""),
            };
            let (number, time, ended) = (link.number, &link.receipt.time, link.receipt.ended.how());
            text += &format!("{whose} {number}, {time}, {ended}{how}: not in the other log{last}\n");
        }
    }
    if text.is_empty() {
        text.push_str("no runs to compare\n");
    }
    text
}
