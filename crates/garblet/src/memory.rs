//! All parties in one process, joined by memory: for experiments, for tests, for learning the interface.

use std::{borrow::Borrow, sync::Arc};

use garblet_circuit::{Bits, Party, Program};
use garblet_net::{Mesh, memory_pair};

use crate::{
    config::Config,
    erased::Ends,
    peer::Peer,
    plan::Plan,
    report::{Error, Outcome, Report},
};

/// Runs a program in this process, with all parties that it names, and returns their reports in order.
///
/// *Shape*: `inputs` are the values of all program inputs, in program order.
///
/// *Errors*: as [`Peer`]; the first party's if several fail. [`Error::WorkerLost`] if there are no threads, as in a page.
pub fn run_in_memory(program: &Program, inputs: &[Bits], config: impl Borrow<Config>) -> Result<Vec<Report>, Error> {
    // The checks of the run name a port of an impossible party.
    let most = *config.borrow().protocol().parties().end();
    run_many_in_memory(program, program.party_count().min(most), inputs, config)
}

/// The same with a given number of parties, some of which may have no input.
///
/// *Errors*: also a number of parties that the protocol does not have.
pub fn run_many_in_memory(
    program: &Program,
    parties: u16,
    inputs: &[Bits],
    config: impl Borrow<Config>,
) -> Result<Vec<Report>, Error> {
    let plan = Plan::new(Arc::new(program.clone()), parties, config.borrow())?;
    let ends: Vec<Ends> = if config.borrow().protocol().is_mesh() {
        Mesh::memory(parties).into_iter().map(Ends::from).collect()
    } else {
        let (left, right) = memory_pair();
        [left, right].map(Ends::from).into()
    };
    let run = |(party, ends): (usize, Ends)| {
        let party = Party(party as u16);
        let own = program.inputs().iter().zip(inputs).filter(|(i, _)| i.owner == party).map(|(_, v)| v.clone());
        let own: Vec<Bits> = own.collect();
        let plan = &plan;
        move || block_on(one_party(plan, party, ends, own))
    };
    let reports: Vec<Result<Report, Error>> = std::thread::scope(|scope| {
        let begin = |end| std::thread::Builder::new().spawn_scoped(scope, run(end));
        let parties: Vec<_> = ends.into_iter().enumerate().map(begin).collect();
        let join = |party: std::io::Result<std::thread::ScopedJoinHandle<_>>| match party {
            Ok(party) => party.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => Err(Error::WorkerLost),
        };
        parties.into_iter().map(join).collect()
    });
    reports.into_iter().collect()
}

async fn one_party(plan: &Plan, party: Party, ends: Ends, inputs: Vec<Bits>) -> Result<Report, Error> {
    let peer = Peer::open(plan, party, ends, rand::rng(), Box::new(())).await?;
    // All parties are the caller's, so one that does not part in order is a failure of the run.
    let Outcome { report, closing } = peer.finish(&inputs).await?;
    closing.map_or(Ok(report), Err)
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("the system has room for a runtime").block_on(future)
}
