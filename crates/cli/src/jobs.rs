//! `garblet job`: writes, checks and shows jobs.
//!
//! `new` writes a job; `options` lets commands take a job in place of a program.

mod new;
pub(crate) mod options;

use std::path::PathBuf;

use garblet::net::DEFAULT_TIMEOUT;
use garblet_console::{
    failure::Failure,
    identity::{TrustArgs, load_identity},
    job::{
        Job, JobParty,
        signatures::{self, Signatures, Standing},
    },
    output::{print, print_json, tell},
    reach::ReachPart,
};
use serde_json::{Map, Value, json};

use crate::{inspect::ports_text, plan::Cost};

/// The subcommands of `garblet job`.
#[derive(clap::Subcommand)]
pub(crate) enum JobCommand {
    /// Write a job for a program
    New(Box<new::Options>),
    /// Compile a job's program, and show who gives and who learns what, and the cost
    Check(CheckOptions),
    /// Show a job and its digest, without reading the program
    Show(ShowOptions),
    /// Sign a job with your identity, in JOB.signatures
    Sign(SignOptions),
    /// Check that all parties have signed a job
    Verify(ShowOptions),
}

/// The options of `garblet job show` and `verify`, which `check` has too.
#[derive(clap::Args)]
pub(crate) struct ShowOptions {
    /// The job
    #[arg(value_name = "JOB")]
    job: PathBuf,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// The options of `garblet job check`.
#[derive(clap::Args)]
pub(crate) struct CheckOptions {
    #[command(flatten)]
    show: ShowOptions,
    #[command(flatten)]
    trust: TrustArgs,
}

/// The options of `garblet job sign`.
#[derive(clap::Args)]
pub(crate) struct SignOptions {
    /// The job
    #[arg(value_name = "JOB")]
    job: PathBuf,
    /// The identity to sign with, made by `garblet keygen` [default: identity.pem in the configuration folder]
    #[arg(long, value_name = "FILE")]
    identity: Option<PathBuf>,
    #[command(flatten)]
    trust: TrustArgs,
}

/// Runs `garblet job`.
pub(crate) fn run(command: &JobCommand) -> Result<(), Failure> {
    match command {
        JobCommand::New(options) => new::run(options),
        JobCommand::Check(options) => check(options),
        JobCommand::Show(options) => show(options),
        JobCommand::Sign(options) => sign(options),
        JobCommand::Verify(options) => verify(options),
    }
}

fn check(CheckOptions { show: options, trust }: &CheckOptions) -> Result<(), Failure> {
    let job = Job::load(&options.job)?;
    job.tell_names(&trust.peers()?)?;
    let program = job.program()?;
    let cost = Cost::of(&program, &job.settings(DEFAULT_TIMEOUT), Some(job.counted_parties()))?;
    let signatures = Signatures::beside(&job)?;
    if options.json {
        let mut object = object(&job, &signatures);
        object["cost"] = cost.object(None);
        object["reach"] = json!(ReachPart::of(&program));
        return print_json(&object);
    }
    let signatures = standings(&job, &signatures);
    print(&format!("{}\n{}\n{}\n{signatures}", text(&job), ports_text(&program), cost.by_phase(None)))
}

fn show(options: &ShowOptions) -> Result<(), Failure> {
    let job = Job::load(&options.job)?;
    let signatures = Signatures::beside(&job)?;
    match options.json {
        true => print_json(&object(&job, &signatures)),
        false => print(&format!("{}\n{}", text(&job), standings(&job, &signatures))),
    }
}

fn sign(options: &SignOptions) -> Result<(), Failure> {
    let job = Job::load(&options.job)?;
    let (trusted, identity) = (options.trust.peers()?, load_identity(options.identity.as_deref())?);
    let (name, signatures) = signatures::sign(&job, &trusted, &identity)?;
    tell(&format!("{name} has signed in {}; the job's digest is:", signatures.path().display()));
    print(&format!("{}\n", job.digest()))
}

fn verify(options: &ShowOptions) -> Result<(), Failure> {
    let job = Job::load(&options.job)?;
    let signatures = Signatures::beside(&job)?;
    signatures.check_all(&job)?;
    match options.json {
        true => print_json(&object(&job, &signatures)),
        false => print(&format!("{}\nall {} parties have signed\n", job.digest(), job.party_count())),
    }
}

/// A job as readable text: its digest and every field that it covers.
fn text(job: &Job) -> String {
    let fields: String = job.fields().iter().map(|(name, text)| format!("{name}: {text}\n")).collect();
    format!("job {}\n{fields}", job.digest())
}

/// The standing of each party, one per line.
fn standings(job: &Job, signatures: &Signatures) -> String {
    let line = |(party, standing): (&JobParty, Standing)| match standing {
        Standing::Signed => format!("{} has signed\n", party.name),
        Standing::Missing => format!("{} has not signed\n", party.name),
        Standing::Wrong(reason) => format!("{}: wrong signature: {reason}\n", party.name),
    };
    job.parties.iter().zip(signatures.standings(job)).map(line).collect()
}

/// The object of `--json`.
fn object(job: &Job, signatures: &Signatures) -> Value {
    let fields: Map<String, Value> = job.fields().into_iter().map(|(name, text)| (name, text.into())).collect();
    let party = |(party, standing): (&JobParty, Standing)| {
        let mut object = json!({ "name": party.name, "fingerprint": party.fingerprint.map(|f| f.to_string()) });
        object["signed"] = matches!(standing, Standing::Signed).into();
        if let Standing::Wrong(reason) = standing {
            object["signature_error"] = reason.into();
        }
        object
    };
    json!({
        "job": job.digest().to_string(),
        "file": job.path,
        "name": job.name,
        "program": job.program_args.program,
        "fields": fields,
        "odd_names": job.odd_names(),
        "parties": job.parties.iter().zip(signatures.standings(job)).map(party).collect::<Vec<_>>(),
    })
}
