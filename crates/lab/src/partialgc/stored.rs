//! Chains by `form=shares`: every party a process, values that stay in the servers' stores.

use std::path::Path;

use garblet::Phase;
use garblet_cli::{
    ahead::{Ahead, Stores},
    local::{Local, Outcome},
};
use garblet_console::{
    failure::{Failure, reason},
    inputs::PartyInputs,
    settings::Settings,
    stock::load_or_create_key,
};

use super::{
    chains::{Chain, Kept, Step},
    measure::{Measured, Ran, Way, check_bytes},
    programs::PARTIES,
};

/// The phases whose cost does not depend on what the stores have.
const PHASES: [Phase; 2] = [Phase::Build, Phase::Online];

/// Runs a chain repeatedly with the same stores, which prepare what they lack. Returns the cost of each step.
///
/// *Errors*: a run that fails; a result that is not the plain evaluator's, or bytes that are not those of the formulas.
pub(super) fn measure(chain: &Chain, way: &Way) -> Result<Vec<Measured>, Failure> {
    let folder = tempfile::tempdir().map_err(|error| Failure::no_result(format!("no folder: {}", reason(&error))))?;
    let key = folder.path().join("store.key");
    // Before the parties all look for it.
    load_or_create_key(Some(&key))?;
    let (settings, mut kept) = (way.setting.settings(), Kept::new());
    let mut ran: Vec<Vec<Ran>> = chain.steps.iter().map(|_| Vec::new()).collect();
    for _ in 0..way.repeat {
        for (step, ran) in chain.steps.iter().zip(&mut ran) {
            let ahead = Ahead::Stores(stores(folder.path(), &key, step));
            ran.push(run(chain, step, (way, &settings), &ahead, &mut kept)?);
        }
    }
    ran.iter().map(|ran| Measured::new(way.setting.clone(), None, ran)).collect()
}

fn stores(folder: &Path, key: &Path, step: &Step) -> Stores {
    let (folder, key, saved) = (folder.into(), Some(key.into()), step.saved.clone());
    Stores { folder, key, top_up: true, make: true, again: None, saved }
}

fn run(
    chain: &Chain,
    step: &Step,
    (way, settings): (&Way, &Settings),
    ahead: &Ahead,
    kept: &mut Kept,
) -> Result<Ran, Failure> {
    let example = chain.example(step, kept);
    let plan = settings.plan(step.program.clone(), PARTIES, step.saved.clone())?;
    let inputs: Vec<PartyInputs> =
        (0..PARTIES).map(|party| step.of_party(&example.inputs, garblet::Party(party))).collect();
    let (args, program, slow) = (&step.args, &step.program, way.slow);
    let local = Local { args, program, inputs: &inputs, settings, ahead: Some(ahead), slow };
    let Outcome { outputs, report, .. } = local.once()?;
    if outputs != example.expected {
        return Err(Failure::no_result(format!("{}: wrong result: this is a bug", step.name)));
    }
    check_bytes(&step.name, &plan, &report.per_party, &PHASES)?;
    Ok(report.into())
}
