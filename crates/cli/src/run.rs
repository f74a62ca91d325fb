//! `garblet run`: one party, against one or several peers elsewhere.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use garblet::Adversary;
use garblet_circuit::Party;
use garblet_net::PeersFile;

use crate::{
    args::{ProgramArgs, ProtocolArgs, command_line},
    failure::Failure,
    hints::several_hint,
    inputs::{self, InputArgs},
    meeting::Route,
    output::{print_json, tell},
    program,
    record::{PeerPart, Record},
    report::{RunReport, check_panics},
    results::OutputArgs,
    session::{self, Outcome, Task},
    settings::Settings,
    stock::StockArgs,
    way::{self, WayArgs, announce},
};

/// The options of `garblet run`.
#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("meeting").args(way::MEETING).arg("peers").required(true).multiple(true)))]
pub(crate) struct Options {
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    protocol: ProtocolArgs,
    /// The party that this is, counted from 0
    #[arg(long, value_name = "K")]
    party: u16,
    #[command(flatten)]
    stock: StockArgs,
    /// The file that says where all parties are and who they are, for the protocols of several: TOML, a table [[party]] for each
    #[arg(long, value_name = "FILE", conflicts_with_all = ["connect", "peer"])]
    peers: Option<PathBuf>,
    #[command(flatten)]
    peer: WayArgs,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let begin = Instant::now();
    let program = program::load(&options.program)?;
    let settings = Settings::new(&options.protocol)?;
    let peers = peers_file(options, &settings)?;
    let asked = peers.as_ref().map(|peers| peers.party_count());
    let parties = settings.parties(&program, asked)?;
    let party = Party(options.party);
    if party.0 >= parties {
        return Err(Failure::call(format!("--party {party}: there are {parties} parties, 0 to {}", parties - 1)));
    }
    let asked = options.stock.saved().asked(&program)?;
    options.output.check(&program, options.inputs.batch.is_some(), |output| output.recipients.contains(party))?;
    let (inputs, rows) = inputs::of_this_party(&asked, &options.inputs, party)?;
    let program = program::batch(program, rows)?;
    let plan = settings.plan(program.clone(), parties, options.stock.saved().values())?;
    let loaded = begin.elapsed();
    let way = match &peers {
        Some(peers) => options.peer.to_all(party, peers)?,
        None => options.peer.way()?,
    };
    let again = |store: &[(&str, String)]| again(options, rows, store);
    let source = options.stock.source(&settings, &way.peer, again)?;
    let task = Task { plan, party, inputs, settings: &settings, progress: true, loaded, source };
    let names = way.names;
    let route = Route { meeting: &way.meeting, tls: way.tls, listening: &announce };
    let outcome = session::compute(task, route)?;
    outcome.warn_of_closing();
    check_panics(&program, &outcome.outputs)?;
    let peers = outcome.met.iter().map(|(party, identity)| PeerPart::met(*party, *identity, &names)).collect();
    let record = Record::now(&program, peers);
    let Outcome { outputs, security, part, closing, .. } = outcome;
    let mut report = RunReport::new(&program, &settings, parties, security, &outputs, vec![part], record)?;
    report.closing = closing.map(|failure| failure.message);
    if options.json {
        options.output.write_files(&program, &outputs)?;
        return print_json(&report);
    }
    options.output.give(&program, &outputs)?;
    tell(&format!("\n{}", report.text().trim_end()));
    Ok(())
}

/// The command that prepares what a run of several parties takes from a store.
fn again(options: &Options, rows: Option<u32>, store: &[(&str, String)]) -> String {
    let Options { program, protocol, party, peers, .. } = options;
    let program = &program.of_rows(rows);
    let peers = peers.as_deref().unwrap_or(Path::new("FILE"));
    let party = [("--party", party.to_string()), ("--peers", peers.display().to_string())];
    command_line("prepare", program, protocol, &[&party[..], store].concat())
}

/// The peers file, which the protocols of several parties need and the others do not take.
fn peers_file(options: &Options, settings: &Settings) -> Result<Option<PeersFile>, Failure> {
    let protocol = settings.config()?.protocol();
    match (&options.peers, protocol.is_mesh()) {
        (Some(path), true) => Ok(Some(way::open_peers(path)?)),
        (None, false) => Ok(None),
        (Some(_), false) => {
            Err(Failure::call(format!("--peers: {protocol} has one peer")).hint(match protocol.adversary() {
                Adversary::SemiHonest => "give --listen or --connect; or --protocol gmw, which has several".into(),
                _ => format!("give --listen or --connect; {}", several_hint(protocol)),
            }))
        }
        (None, true) => Err(Failure::call(format!("{protocol} needs a peers file, which says where all parties are"))
            .hint("give --peers FILE, with a table [[party]] for each, also if there are two")),
    }
}
