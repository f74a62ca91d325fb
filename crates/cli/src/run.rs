//! `garblet run`: one party, against one or several peers elsewhere.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use garblet::{
    Adversary, Party, Program,
    meet::Way,
    net::{Fingerprint, PeersFile, Tls},
    run_report::{PeerPart, RunReport},
};
use garblet_console::{
    args::ProtocolArgs,
    configuration::check_unwritable_with_folders,
    failure::{Failure, first_failure},
    hints::several_hint,
    inputs::{self, InputArgs},
    job::Job,
    output::{print_json, tell_text},
    receipts::{ReceiptArgs, Run},
    record::record_now,
    report::{self, check_panics},
    session::{self, Outcome, Task, Watched},
    settings::{PartyCount, Settings},
    stock::StockArgs,
    way::{self, WayArgs},
};

use crate::{
    jobs::options::{Agreed, SubjectArgs},
    meeting::meet,
    results::OutputArgs,
};

/// The options of `garblet run`.
#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("meeting").args(way::MEETING).arg("peers").required(true).multiple(true)))]
pub(crate) struct Options {
    #[command(flatten)]
    subject: SubjectArgs,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    protocol: ProtocolArgs,
    /// The number of this party, from 0; a job that names identities determines it
    #[arg(long, value_name = "K", required_unless_present = "job")]
    party: Option<u16>,
    #[command(flatten)]
    stock: StockArgs,
    /// For protocols of several parties: the file with all parties' addresses and identities (TOML, one table [[party]] each)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["connect", "peer"])]
    peers: Option<PathBuf>,
    #[command(flatten)]
    peer: WayArgs,
    #[command(flatten)]
    receipts: ReceiptArgs,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let begin = Instant::now();
    // Otherwise the file is opened only if the protocol has a use for it.
    let named = options.peers.as_deref().filter(|_| options.protocol.choice.depends_on_parties());
    let peers = named.map(way::open_peers).transpose()?;
    let agreed = options.subject.load(&options.protocol, peers.as_ref().map(PeersFile::party_count))?;
    agreed.job.as_ref().map_or(Ok(()), Job::check_unwritable)?;
    let settings = &agreed.settings;
    let peers = peers_of(options, peers, &agreed)?;
    let of_job = agreed.job.as_ref().map(Job::counted_parties);
    let asked = of_job.or(peers.as_ref().map(|peers| PartyCount::Peers(peers.party_count())));
    let parties = settings.parties(&agreed.program, asked)?;
    let party = options.party(&agreed, parties)?;
    let asked = options.stock.saved().asked(&agreed.program)?;
    options
        .output
        .check(&agreed.program, options.inputs.batch.is_some(), |output| output.recipients.contains(party))?;
    let args = options.inputs.with_keys(agreed.job.as_ref(), &asked, false)?;
    let (inputs, rows) = inputs::of_this_party(&asked, &args, party)?;
    let plan = settings.plan(agreed.of_rows(rows)?, parties, options.stock.saved().values())?;
    let program = &plan.program().clone();
    let loaded = begin.elapsed();
    let way = options.way(&agreed, party, peers.as_ref())?;
    let again = |store: &[(&str, String)]| again(options, settings, (party, rows), store);
    let source = options.stock.source(settings, &way, again)?;
    let receipts = options.receipts.open(settings.job.as_ref())?;
    let task = Task { plan, party, inputs, settings, progress: true, loaded, source, begins: None };
    let (met, identity) = (meet(settings, &way), way.tls.as_ref().map(Tls::fingerprint));
    let (mut watched, mut has_room) = (Watched::default(), true);
    let ended = match &receipts {
        Some(receipts) => {
            // Others may have filled the disk, or moved the log away, while this party waited.
            let ready = || receipts.take_room().inspect_err(|_| has_room = false);
            session::compute_watched(task, met, &mut watched, ready)
        }
        None => session::compute(task, met),
    };
    let saved = options.stock.saved().values();
    let run = Run { program, settings, party, parties, identity, saved, session: None };
    // Without room nothing was run, and the failure says so.
    let receipts = receipts.as_ref().filter(|_| has_room);
    let kept = receipts.map_or(Ok(()), |receipts| receipts.add(&run, &watched, &way.names, ended.as_ref()).map(drop));
    // Give the results even if the receipt cannot be written.
    first_failure(ended.and_then(|outcome| options.tell(outcome, (program, settings, parties), &way.names)), kept)
}

impl Options {
    /// Gives the results of a run, and reports it.
    ///
    /// *Errors*: the computation panicked; the results cannot be written.
    fn tell(
        &self,
        outcome: Outcome,
        (program, settings, parties): (&Program, &Settings, u16),
        names: &[(String, Fingerprint)],
    ) -> Result<(), Failure> {
        outcome.warn_of_closing();
        check_panics(program, &outcome.outputs)?;
        let peers = outcome.met.iter().map(|(party, identity)| PeerPart::met(*party, *identity, names)).collect();
        let record = record_now(program, peers);
        let Outcome { outputs, security, part, closing, .. } = outcome;
        let mut report = RunReport::new(program, &settings.config()?, parties, security, &outputs, vec![part], record);
        report.closing = closing.map(|failure| failure.message);
        if self.json {
            self.output.write_files(program, &outputs)?;
            return print_json(&report);
        }
        self.output.give(program, &outputs)?;
        tell_text(&format!("\n{}\n", report::text(&report, None).trim_end()));
        Ok(())
    }

    /// This process's party number, checked against the number of parties.
    fn party(&self, agreed: &Agreed, parties: u16) -> Result<Party, Failure> {
        match (&agreed.job, self.party) {
            (Some(job), asked) => job.party_here(&self.peer, asked),
            (None, Some(party)) if party < parties => Ok(Party(party)),
            (None, Some(party)) => {
                Err(Failure::call(format!("--party {party}: there are {parties} parties, 0 to {}", parties - 1)))
            }
            (None, None) => Err(Failure::call("--party is missing: give this party's number")),
        }
    }

    /// The connection settings to all others, with the job's identities if it names any.
    fn way(&self, agreed: &Agreed, party: Party, peers: Option<&PeersFile>) -> Result<Way, Failure> {
        let mut way = match (peers, &agreed.job) {
            (Some(peers), _) => self.peer.to_all(party, peers)?,
            (None, Some(job)) => job.way_to_peer(&self.peer, party)?,
            (None, None) => self.peer.way()?,
        };
        if let Some(job) = &agreed.job {
            job.check_names_here(&self.peer)?;
            // Peers that have a name here keep it.
            way.names.extend(job.names());
        }
        Ok(way)
    }
}

/// The command that prepares a run of several parties in a store.
fn again(
    options: &Options,
    settings: &Settings,
    (party, rows): (Party, Option<u32>),
    store: &[(&str, String)],
) -> String {
    let peers = options.peers.as_deref().unwrap_or(Path::new("FILE"));
    let party = [("--party", party.to_string()), ("--peers", peers.display().to_string())];
    options.subject.command_line("prepare", settings, rows, &[&party[..], store].concat())
}

/// The peers of the peers file, with the job's identities; `open` if the file was opened before. Only protocols for several parties have the file, and they
/// need it.
fn peers_of(options: &Options, open: Option<PeersFile>, agreed: &Agreed) -> Result<Option<PeersFile>, Failure> {
    let protocol = agreed.settings.config()?.protocol();
    match (&options.peers, protocol.is_mesh()) {
        (Some(path), true) => {
            check_unwritable_with_folders(path)?;
            let peers = open.map_or_else(|| way::open_peers(path), Ok)?;
            agreed.job.as_ref().map_or(Ok(peers.clone()), |job| job.pin(peers)).map(Some)
        }
        (None, false) => Ok(None),
        (Some(_), false) => {
            Err(Failure::call(format!("--peers: {protocol} has one peer")).hint(match protocol.adversary() {
                Adversary::SemiHonest => "give --listen or --connect, or use --protocol gmw for several peers".into(),
                _ => format!("give --listen or --connect; {}", several_hint(protocol)),
            }))
        }
        (None, true) => Err(Failure::call(format!("{protocol} needs a peers file with the addresses of all parties"))
            .hint("give --peers FILE with one table [[party]] per party, even for two")),
    }
}
