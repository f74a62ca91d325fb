//! All parties in one process, joined by memory: for trying things, for tests, for learning the interface.

use std::sync::Arc;

use garblet_circuit::{Bits, Party, Program};
use garblet_net::{Channel, memory_pair};

use crate::{
    config::Config,
    peer::{Error, Peer, Report},
};

/// Runs a program with both parties in this process and returns their reports in order.
///
/// *Shape*: `inputs` are the values of all program inputs, in program order.
///
/// *Errors*: as [`Peer`]; the first party's where both fail.
pub fn run_in_memory(program: &Program, inputs: &[Bits], config: Config) -> Result<Vec<Report>, Error> {
    let program = Arc::new(program.clone());
    let (left, right) = memory_pair();
    let run = |party, channel| {
        let own = program.inputs().iter().zip(inputs).filter(|(i, _)| i.owner == party).map(|(_, v)| v.clone());
        let own: Vec<Bits> = own.collect();
        let program = program.clone();
        move || block_on(one_party(program, party, channel, own, config))
    };
    let (garbler, evaluator) = (run(Party(0), left), run(Party(1), right));
    let (garbler, evaluator) = std::thread::scope(|scope| {
        let evaluator = scope.spawn(evaluator);
        (garbler(), evaluator.join())
    });
    let evaluator = evaluator.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    Ok(vec![garbler?, evaluator?])
}

async fn one_party(
    program: Arc<Program>,
    party: Party,
    channel: Channel,
    inputs: Vec<Bits>,
    config: Config,
) -> Result<Report, Error> {
    let mut peer = Peer::open(program, party, channel, config, &mut rand::rng(), Box::new(())).await?;
    let prepared = peer.prepare().await?;
    let report = peer.online(prepared, &inputs).await?;
    peer.close().await?;
    Ok(report)
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime without threads needs nothing that could be missing").block_on(future)
}
