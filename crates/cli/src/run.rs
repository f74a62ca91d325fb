//! `garblet run`: one party, against a peer elsewhere.

use garblet_circuit::Party;

use crate::{
    args::{InputArgs, ProgramArgs, ProtocolArgs},
    failure::Failure,
    inputs,
    output::{print, print_json},
    program,
    report::{RunReport, check_panics, outputs_text},
    session::{self, Settings, Task},
    supply::SupplyArgs,
    way::{WayArgs, announce},
};

/// What `garblet run` takes.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    protocol: ProtocolArgs,
    /// Which party this is, counted from 0
    #[arg(long, value_name = "K")]
    party: u16,
    #[command(flatten)]
    supply: SupplyArgs,
    #[command(flatten)]
    peer: WayArgs,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let program = program::load(&options.program)?;
    let settings = Settings::new(&options.protocol)?;
    let parties = settings.parties(&program, None)?;
    let party = Party(options.party);
    if party.0 >= parties {
        return Err(Failure::call(format!("--party {party}: there are {parties} parties, 0 to {}", parties - 1)));
    }
    if let Some(other) = options.inputs.inputs.iter().find(|i| i.party != party) {
        return Err(Failure::call(format!("--input {}={}: this is party {party}", other.party, other.path.display()))
            .hint("give only this party's inputs; the other party gives its own"));
    }
    let inputs = inputs::of_party(&program, &options.inputs, party)?;
    let way = options.peer.way()?;
    let supply = options.supply.source(&settings, &way.peer)?;
    let task = Task {
        program: program.clone(),
        party,
        inputs,
        settings: &settings,
        meeting: way.meeting,
        tls: way.tls,
        listening: &announce,
        progress: true,
        supply,
    };
    let outcome = session::compute(task)?;
    check_panics(&program, &outcome.outputs)?;
    let report = RunReport::new(&program, &settings, outcome.security, &outcome.outputs, vec![outcome.part])?;
    if options.json {
        return print_json(&report);
    }
    print(&outputs_text(&program, &outcome.outputs))?;
    eprintln!("\n{}", report.text().trim_end());
    Ok(())
}
