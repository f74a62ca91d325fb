//! `garblet prepare`: fills the parties' stores before the function is known, or, with protocols that prepare runs, before the inputs are.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use garblet::{Filled, OrderRequest, Party, PhaseCosts, Program, Protocol, StockKinds, meet::Way, net::Channel};
use garblet_console::{
    args::{Param, ProgramArgs, ProgramChanges},
    configuration::check_unwritable_with_folders,
    failure::Failure,
    hints::meet_failure,
    job::Job,
    output::{bytes, count, print, print_json, seconds, tell},
    program,
    report::total,
    session,
    settings::{PartyCount, Settings},
    stock::{Amount, Folder, library_file, remember_library, with_stores},
    way::{self, WayArgs},
};
use serde::Serialize;

use crate::meeting::{meet, meet_to_fill};

/// The options of `garblet prepare`.
#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("meeting").args(way::MEETING).arg("peers").required(true).multiple(true)))]
pub(crate) struct Options {
    #[command(flatten)]
    stock: FillArgs,
    /// The number of this party; of two, 0 garbles and 1 evaluates; a job that names identities determines it
    #[arg(long, value_name = "K", required_unless_present = "job")]
    party: Option<u16>,
    #[command(flatten)]
    changes: ProgramChanges,
    /// Use this job, which replaces the program, changes to it, the protocol and its parameters
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["owners", "recipients", "constants", "function", "panics", "as_it_is", "ports", "reversed", "protocol", "params"])]
    job: Option<PathBuf>,
    /// With several parties and runs of a program: prepare runs of a batch of N rows
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), requires = "peers")]
    batch: Option<u32>,
    /// With several parties: the file with all parties' addresses and identities, as for `garblet run`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["connect", "peer"])]
    peers: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) peer: WayArgs,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// The store to fill, and what to fill it with.
#[derive(clap::Args)]
pub(crate) struct FillArgs {
    /// With components: the library file, which lists component types, their numbers and likely links (TOML or JSON). With several parties, in `garblet prepare` only: the program whose runs are prepared
    #[arg(value_name = "LIBRARY|PROGRAM")]
    source: Option<String>,
    #[arg(long, value_name = "NAME", default_value = "components", help = format!("Prepare for this protocol: {}", with_stores()))]
    protocol: Protocol,
    /// Fill the store to this amount: triples and masks for authenticated and authenticated-bmr; gates, inputs and outputs, in bits, for lego; a component type or inputs for components, instead of the library file's number; runs for several parties
    #[arg(long = "stock", value_name = "WHAT=N")]
    amounts: Vec<Amount>,
    /// The folder of this party's store; created if missing
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// The key that encrypts the store [default: store.key in the configuration folder]
    #[arg(long, value_name = "FILE")]
    store_key: Option<PathBuf>,
    /// Set a parameter of the protocol, for instance scheme=grr3
    #[arg(long = "param", value_name = "NAME=VALUE")]
    params: Vec<Param>,
    /// Give up after this long without progress by the peer
    #[arg(long, value_name = "TIME", default_value = "60s")]
    timeout: garblet_console::args::Time,
}

/// The object of `--json`.
#[derive(Serialize)]
struct Report {
    store: String,
    pieces: u64,
    bytes: u64,
    lost: u64,
    /// The values of the parameters that the link has decided.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    decided: BTreeMap<String, String>,
    phases: PhaseCosts,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let job = options.job.as_deref().map(Job::load).transpose()?;
    job.as_ref().map_or(Ok(()), Job::check_unwritable)?;
    let job = job.map(|job| job.allowing(options.changes.effort));
    let filled = match (&options.peers, &job) {
        (Some(peers), job) => options.fill_with_all(peers, job.as_ref())?,
        (None, Some(job)) => options.fill_for(job)?,
        (None, None) => {
            options.check_no_program(options.stock.protocol)?;
            let (settings, party) = (options.stock.settings(), options.party()?);
            options.stock.fill((&settings, party), &options.peer.way()?, 100, true)?
        }
    };
    let stock = filled.store.stock();
    let report = Report {
        store: filled.store.folder().display().to_string(),
        pieces: stock.iter().map(|kind| kind.available.len()).sum(),
        bytes: stock.iter().map(|kind| kind.bytes).sum(),
        lost: filled.lost,
        decided: filled.decided,
        phases: filled.phases,
    };
    if options.json {
        return print_json(&report);
    }
    print(&format!(
        "{} has {} pieces, {}, after {}\n",
        report.store,
        count(report.pieces),
        bytes(report.bytes),
        seconds(total(&report.phases).seconds)
    ))?;
    if !report.decided.is_empty() {
        let decided: Vec<String> = report.decided.iter().map(|(name, value)| format!("{name}={value}")).collect();
        tell(&format!("the link decides, for this store: {}", decided.join(" ")));
    }
    if report.lost > 0 {
        tell(&format!("discarded {} pieces that not all stores had", count(report.lost)));
    }
    Ok(())
}

impl Options {
    /// Meets the peer of a job and fills the store for it.
    fn fill_for(&self, job: &Job) -> Result<Filled, Failure> {
        let party = job.party_here(&self.peer, self.party)?;
        let settings = job.settings(self.stock.timeout.0);
        let way = job.way_to_peer(&self.peer, party)?;
        job.check_names_here(&self.peer)?;
        self.stock.fill((&settings, party), &way, 100, true)
    }

    /// Meets all others, and fills the store with runs of a program, or with pieces for any.
    fn fill_with_all(&self, peers: &Path, job: Option<&Job>) -> Result<Filled, Failure> {
        let settings = job.map_or_else(|| self.stock.settings(), |job| job.settings(self.stock.timeout.0));
        let protocol = settings.config()?.protocol();
        if !protocol.is_mesh() {
            return Err(Failure::call(format!("--peers: {protocol} has one peer")).hint("give --listen or --connect"));
        }
        let program = match protocol.stock() {
            None => return Err(no_preparation(protocol)),
            Some(StockKinds::Runs) => Some(self.program(job)?),
            Some(_) => {
                self.check_no_program(protocol)?;
                None
            }
        };
        check_unwritable_with_folders(peers)?;
        let peers = way::open_peers(peers)?;
        let peers = job.map_or(Ok(peers.clone()), |job| job.pin(peers))?;
        let party = job.map_or_else(|| self.party(), |job| job.party_here(&self.peer, self.party))?;
        let parties = peers.party_count();
        let order = match program {
            Some(program) => {
                settings.parties(&program, Some(PartyCount::Peers(parties)))?;
                OrderRequest { program: Some(Arc::new(program)), amounts: self.stock.amounts(), library: None }
            }
            None => {
                settings.check_parties(PartyCount::Peers(parties))?;
                self.stock.order(protocol)?
            }
        };
        let way = self.peer.to_all(party, &peers)?;
        job.map_or(Ok(()), |job| job.check_names_here(&self.peer))?;
        let folder = self.stock.folder_for(order, mark(&way)?);
        session::fill(&settings, party, parties, &folder, meet_to_fill(&settings, &way, 100), (100, true))
    }

    /// The number that a party without a job gives itself.
    fn party(&self) -> Result<Party, Failure> {
        self.party.map(Party).ok_or_else(|| Failure::call("--party is missing: give this party's number"))
    }

    /// Refuses options for a program where none is prepared for.
    fn check_no_program(&self, protocol: Protocol) -> Result<(), Failure> {
        let ProgramChanges { ports, reversed, owners, recipients, constants, function, panics, as_it_is, .. } =
            &self.changes;
        let given = [
            ("--batch", self.batch.is_some()),
            ("--ports", ports.is_some()),
            ("--reverse", !reversed.is_empty()),
            ("--owner", !owners.is_empty()),
            ("--to", !recipients.is_empty()),
            ("--const", !constants.is_empty()),
            ("--function", function != garblet::lang::Options::FUNCTION),
            ("--panics", !panics.0),
            ("--as-it-is", *as_it_is),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            None => Ok(()),
            Some((option, _)) => Err(Failure::call(format!("{option}: {protocol} prepares for any function"))
                .hint("give this option to the run")),
        }
    }

    /// The program whose runs are prepared.
    fn program(&self, job: Option<&Job>) -> Result<Program, Failure> {
        match (job, &self.stock.source) {
            (Some(_), Some(_)) => Err(Failure::call("PROGRAM: the job already names the program")),
            (Some(job), None) => {
                job.check_rows(self.batch)?;
                program::batch(job.program()?, self.batch)
            }
            (None, Some(program)) => {
                let args = ProgramArgs { program: program.clone(), changes: self.changes.clone() };
                program::load(&args.of_rows(self.batch))
            }
            (None, None) => Err(Failure::call("PROGRAM is missing: runs are prepared for a program")),
        }
    }
}

impl FillArgs {
    /// All wanted amounts.
    fn amounts(&self) -> Vec<(String, u64)> {
        self.amounts.iter().map(|amount| (amount.kind.clone(), amount.count)).collect()
    }

    /// The order of kinds that serve any function.
    fn order(&self, protocol: Protocol) -> Result<OrderRequest, Failure> {
        let amounts = self.amounts();
        let library = match (protocol.stock(), &self.source) {
            (Some(StockKinds::Library), Some(library)) => Some(library_file(library.into())),
            (Some(StockKinds::Library), None) => {
                return Err(Failure::call("LIBRARY is missing: the library file lists what to prepare").hint(format!(
                    "garblet prepare LIBRARY for {protocol}; other protocols with preparation, for --protocol: {}",
                    with_stores()
                )));
            }
            (Some(StockKinds::Pieces(_)), None) if amounts.iter().any(|(_, count)| *count > 0) => None,
            (Some(StockKinds::Pieces(kinds)), None) => {
                return Err(Failure::call(format!(
                    "--stock is missing: the amounts of {} to prepare",
                    kinds.join(", ")
                ))
                .hint("garblet inspect PROGRAM shows the amounts that a program needs"));
            }
            (Some(StockKinds::Pieces(kinds)), Some(_)) => {
                return Err(Failure::call(format!("LIBRARY|PROGRAM: {protocol} prepares for any function"))
                    .hint(format!("give the amounts of {} with --stock", kinds.join(", "))));
            }
            (Some(StockKinds::Runs), _) => {
                return Err(Failure::call(format!("{protocol} needs a peers file with the addresses of all parties"))
                    .hint("garblet prepare PROGRAM --peers FILE"));
            }
            (None, _) => return Err(no_preparation(protocol)),
        };
        Ok(OrderRequest { library, amounts, program: None })
    }

    /// Meets the peer with these settings, as this party, and fills every kind below this percentage.
    pub(crate) fn fill(
        &self,
        (settings, party): (&Settings, Party),
        way: &Way,
        below: u8,
        progress: bool,
    ) -> Result<Filled, Failure> {
        let protocol = settings.config()?.protocol();
        if party.0 > 1 {
            return Err(match protocol.is_mesh() {
                true => Failure::call(format!("--party {party}: with --listen or --connect there are parties 0 and 1"))
                    .hint("give --peers FILE for more"),
                false => Failure::call(format!("--party {party}: {protocol} has parties 0 and 1")),
            });
        }
        let folder = self.folder_for(self.order(protocol)?, mark(way)?);
        let filled = session::fill(settings, party, 2, &folder, meet(settings, way), (below, progress))?;
        self.remember(filled)
    }

    /// The same with a connected peer.
    pub(crate) async fn fill_with(
        &self,
        (settings, party): (&Settings, Party),
        channel: Channel,
        folder: &Folder,
        below: u8,
    ) -> Result<Filled, Failure> {
        let filled = session::fill_with(settings, party, 2, folder, channel.into(), below).await?;
        self.remember(filled)
    }

    /// Records in a store the library file from which it was filled.
    fn remember(&self, mut filled: Filled) -> Result<Filled, Failure> {
        if let Some(library) = &self.source {
            remember_library(&mut filled.store, library.as_ref())?;
        }
        Ok(filled)
    }

    /// The protocol and its parameters.
    pub(crate) fn settings(&self) -> Settings {
        Settings::of(self.protocol, self.params.clone(), self.timeout.0)
    }

    /// The store and its peer.
    pub(crate) fn folder(&self, way: &Way) -> Result<Folder, Failure> {
        Ok(self.folder_for(self.order(self.protocol)?, mark(way)?))
    }

    /// The store of pieces for this peer, with the given amounts if any.
    pub(crate) fn folder_for_pieces(&self, peer: &str) -> Folder {
        self.folder_for(OrderRequest { amounts: self.amounts(), ..OrderRequest::default() }, peer.into())
    }

    fn folder_for(&self, order: OrderRequest, peer: String) -> Folder {
        let (path, key) = (self.store.clone(), self.store_key.clone());
        Folder { order, path, key, peer, recorded: true, again: None }
    }
}

/// The error for a protocol without stores.
fn no_preparation(protocol: Protocol) -> Failure {
    Failure::call(format!("--protocol {protocol}: this protocol has no preparation in stores"))
        .hint(format!("{} do", with_stores()))
}

/// The text that binds a store to its peers.
fn mark(way: &Way) -> Result<String, Failure> {
    way.mark().map(String::from).map_err(|e| meet_failure(&e))
}
