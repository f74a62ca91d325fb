//! `garblet prepare`: parties fill their stores: two before a function is known, several before its inputs are.

use std::{
    num::NonZeroU64,
    path::{Path, PathBuf},
};

use garblet::{Filled, Party, PhaseCosts, Protocol, fill, lego::Amounts, net::Channel, store::Store};
use serde::Serialize;

use crate::{
    args::{Param, ProgramArgs, ProgramChanges, at_least_one},
    failure::Failure,
    output::{bytes, count, print, print_json, seconds},
    program,
    progress::Bar,
    report::total,
    session::{self, Route, Settings, block_on, explain},
    supply::{Folder, Holds, remember_library},
    way::{self, Way, WayArgs, announce},
};

/// What `garblet prepare` takes.
#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("meeting").args(way::MEETING).arg("peers").required(true).multiple(true)))]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) stock: StockArgs,
    /// With several parties: so many runs of the program to have ready
    #[arg(long, value_name = "N", default_value = "1", value_parser = at_least_one::<NonZeroU64>)]
    count: NonZeroU64,
    #[command(flatten)]
    changes: ProgramChanges,
    /// With several parties: where all of them are and who they are, as `garblet run` takes it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["connect", "peer"])]
    peers: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) peer: WayArgs,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// What to fill, with what.
#[derive(clap::Args)]
pub(crate) struct StockArgs {
    /// With components: the library file: component types, how many of each, how they are likely to be linked (TOML or JSON); with several parties, which have `garblet prepare` alone: the program
    #[arg(value_name = "LIBRARY|PROGRAM")]
    source: Option<String>,
    /// What it is prepared for: components, lego, or with `garblet prepare` a protocol of several parties
    #[arg(long, value_name = "NAME", default_value = "components")]
    protocol: Protocol,
    #[command(flatten)]
    gates: GateArgs,
    /// The folder of this party's store; made if there is none
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// The key that the store is encrypted under [default: store.key in the configuration folder]
    #[arg(long, value_name = "FILE")]
    store_key: Option<PathBuf>,
    /// Which party this is: of two, 0 garbles and 1 evaluates
    #[arg(long, value_name = "K")]
    party: u16,
    /// A parameter of the protocol, for instance scheme=grr3
    #[arg(long = "param", value_name = "NAME=VALUE")]
    params: Vec<Param>,
    /// Give up when the peer does nothing for so long
    #[arg(long, value_name = "TIME", default_value = "60s")]
    timeout: crate::args::Time,
}

/// How much to have with lego.
#[derive(clap::Args, Clone, Copy)]
struct GateArgs {
    /// With lego: AND gates
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=GATES_MAX))]
    gates: u64,
    /// With lego: input bits of both parties
    #[arg(long = "inputs", value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=GATES_MAX))]
    input_bits: u64,
    /// With lego: output bits
    #[arg(long = "outputs", value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=GATES_MAX))]
    output_bits: u64,
}

/// As many as can be made at once.
const GATES_MAX: u64 = 1 << 32;

/// The object of `--json`.
#[derive(Serialize)]
struct Report {
    store: String,
    pieces: u64,
    bytes: u64,
    lost: u64,
    phases: PhaseCosts,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let filled = match &options.peers {
        Some(peers) => options.fill_runs(peers)?,
        None => options.stock.fill(&options.peer.way()?, 100, true)?,
    };
    let stock = filled.store.stock();
    let report = Report {
        store: filled.store.folder().display().to_string(),
        pieces: stock.iter().map(|kind| kind.available.len()).sum(),
        bytes: stock.iter().map(|kind| kind.bytes).sum(),
        lost: filled.lost,
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
    if report.lost > 0 {
        eprintln!("gave up {} pieces that the peer's store has not", count(report.lost));
    }
    Ok(())
}

impl Options {
    /// Meets all others, and prepares runs until there are as many as are wanted.
    fn fill_runs(&self, peers: &Path) -> Result<Filled, Failure> {
        let StockArgs { source, protocol, store, store_key, party, .. } = &self.stock;
        if !protocol.is_mesh() {
            return Err(Failure::call(format!("--peers: {protocol} has one peer")).hint("give --listen or --connect"));
        }
        let program = source.clone().ok_or_else(|| Failure::call("PROGRAM is missing: runs are of a program"))?;
        let program = program::load(&ProgramArgs { program, changes: self.changes.clone() })?;
        let (settings, peers) = (self.stock.settings(), way::open_peers(peers)?);
        settings.parties(&program, Some(peers.party_count()))?;
        let way = self.peer.to_all(Party(*party), &peers)?;
        let holds = Holds::Runs { again: String::new() };
        let folder = Folder { holds, path: store.clone(), key: store_key.clone(), peer: way.peer?, recorded: true };
        let route = Route { meeting: way.meeting, tls: way.tls, listening: &announce };
        session::fill_runs(&settings, Party(*party), program, route, &folder, self.count.get(), true)
    }
}

impl StockArgs {
    fn holds(&self) -> Result<Holds, Failure> {
        let GateArgs { gates, input_bits: inputs, output_bits: outputs } = self.gates;
        let amounts = Amounts { gates, inputs, input_pairs: (inputs + outputs).div_ceil(2), outputs };
        let given = amounts != Amounts::default();
        if self.party > 1 && !self.protocol.is_mesh() {
            return Err(Failure::call(format!("--party {}: {} has parties 0 and 1", self.party, self.protocol)));
        }
        match (self.protocol, &self.source) {
            (Protocol::Components, Some(library)) if !given => Ok(Holds::Components(Some(library.into()))),
            (Protocol::Components, None) => {
                Err(Failure::call("LIBRARY is missing: the library file says what to prepare")
                    .hint("with --protocol lego it is --gates, --inputs and --outputs"))
            }
            (Protocol::Components, _) => Err(Failure::call("--gates, --inputs, --outputs: with --protocol lego only")),
            (Protocol::Lego, None) if given => Ok(Holds::Gates(amounts)),
            (Protocol::Lego, None) => Err(Failure::call("--gates is missing: how many AND gates to prepare")
                .hint("--inputs and --outputs say for how many input and output bits")),
            (Protocol::Lego, Some(_)) => Err(Failure::call("LIBRARY: lego prepares single gates, for any function")
                .hint("say how many with --gates, --inputs and --outputs; garblet inspect PROGRAM counts them")),
            (several, _) if several.is_mesh() => {
                Err(Failure::call(format!("{several} needs a peers file, which says where all parties are"))
                    .hint("garblet prepare PROGRAM --peers FILE"))
            }
            (other, _) => Err(Failure::call(format!("--protocol {other}: it prepares nothing for a store"))
                .hint("components, lego and the protocols of several parties do")),
        }
    }

    /// Meets the peer, and fills what is below so many percent.
    pub(crate) fn fill(&self, way: &Way, below: u8, progress: bool) -> Result<Filled, Failure> {
        let settings = self.settings();
        let folder = self.folder(way)?;
        folder.check()?;
        block_on(async {
            // The store is opened when the peer is there: others may use it until then.
            let channel = session::meet(&settings, &way.meeting, way.tls.clone(), &announce).await?;
            self.fill_with(channel, &folder, below, progress).await
        })
    }

    /// Fills what is below so many percent, with a peer that was met.
    pub(crate) async fn fill_with(
        &self,
        channel: Channel,
        folder: &Folder,
        below: u8,
        progress: bool,
    ) -> Result<Filled, Failure> {
        let config = self.settings().config()?;
        let supply = folder.open(Store::open_or_create)?;
        let bar = Box::new(Bar::new(progress));
        let filled = fill(supply, Party(self.party), channel, config, below, rand::rng(), bar).await;
        let mut filled = filled.map_err(|e| explain(&e))?;
        if let Some(library) = &self.source {
            remember_library(&mut filled.store, library.as_ref())?;
        }
        Ok(filled)
    }

    /// The protocol and its parameters.
    pub(crate) fn settings(&self) -> Settings {
        Settings::of(self.protocol, self.params.clone(), self.timeout.0)
    }

    /// The store, and for whom it is.
    pub(crate) fn folder(&self, way: &Way) -> Result<Folder, Failure> {
        let (holds, path, key) = (self.holds()?, self.store.clone(), self.store_key.clone());
        Ok(Folder { holds, path, key, peer: way.peer.clone()?, recorded: true })
    }

    /// Which party this is.
    pub(crate) fn party(&self) -> Party {
        Party(self.party)
    }
}
