//! All parties on one thread.

use std::{
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    task::Poll,
    time::Duration,
};

use futures_util::future::join_all;
use garblet_circuit::{Bits, Party, Program};
use garblet_net::{Channel, Hello, Mesh};
use garblet_primitives::{Block, Prg};
use garblet_protocol::{MeshSession, ProtocolError, Session, protocol::BoxedRole};
use tokio::runtime::{Builder, Runtime};

use crate::Outputs;

/// The patience of a party of several.
const TIMEOUT: Duration = Duration::from_secs(20);

fn runtime() -> Runtime {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime without threads needs nothing that could be missing")
}

/// A party's inputs among those of all.
pub(crate) fn own_inputs(program: &Program, inputs: &[Bits], party: u16) -> Vec<Bits> {
    let own = program.inputs().iter().zip(inputs).filter(|(input, _)| input.owner == Party(party));
    own.map(|(_, value)| value.clone()).collect()
}

/// Runs both parties over channels that `connect` makes, with generators from the seed, and returns both results. A party that panics
/// leaves.
pub(crate) fn run_two(
    protocol: &str,
    (program, inputs, seed): (&Arc<Program>, &[Bits], u128),
    connect: impl FnOnce() -> (Channel, Channel),
    garbler: impl AsyncFnOnce(&mut Session, &[Bits]) -> Result<Outputs, ProtocolError>,
    evaluator: impl AsyncFnOnce(&mut Session, &[Bits]) -> Result<Outputs, ProtocolError>,
) -> [Result<Outputs, ProtocolError>; 2] {
    let open = async |channel: Channel, party: u16| {
        let hello = Hello::new(protocol, party, 2, program.digest());
        let rng = Prg::new(Block::from_u128(2 * seed + u128::from(party)));
        Session::open(channel, rng, &hello, Box::new(())).await
    };
    runtime().block_on(async {
        let (left, right) = connect();
        let garbler = until_it_panics(async {
            let mut session = open(left, 0).await?;
            let result = garbler(&mut session, &own_inputs(program, inputs, 0)).await;
            end(session, result).await
        });
        let evaluator = until_it_panics(async {
            let mut session = open(right, 1).await?;
            let result = evaluator(&mut session, &own_inputs(program, inputs, 1)).await;
            end(session, result).await
        });
        let (garbler, evaluator) = tokio::join!(garbler, evaluator);
        [garbler, evaluator]
    })
}

/// Runs all parties of a mesh, each with its inputs and its conduct, and returns their results. A party that panics leaves.
pub(crate) fn run_all<C>(
    protocol: &str,
    (program, seed): (&Program, u64),
    parties: Vec<(Vec<Bits>, C)>,
    set_up: impl AsyncFn(&mut MeshSession, Party, C) -> Result<BoxedRole<Mesh>, ProtocolError>,
) -> Vec<Result<Outputs, ProtocolError>> {
    let count = parties.len() as u16;
    let one = async |mut mesh: Mesh, own: Vec<Bits>, conduct: C| {
        mesh.set_timeout(TIMEOUT);
        let party = Party(mesh.party());
        let hello = Hello::new(protocol, party.0, count, program.digest());
        let rng = Prg::new(Block::from_halves(seed, party.0.into()));
        let mut session = Session::join(mesh, rng, &hello, Box::new(())).await?;
        let result = match set_up(&mut session, party, conduct).await {
            Ok(mut role) => role.run(&mut session, &own).await,
            Err(error) => Err(error),
        };
        match &result {
            // Outputs count, even if somebody else fails afterwards.
            Ok(_) => drop(session.close().await),
            Err(error) => session.abort(error).await,
        }
        result
    };
    runtime().block_on(async {
        let lives = Mesh::memory(count).into_iter().zip(parties);
        join_all(lives.map(|(mesh, (own, conduct))| until_it_panics(one(mesh, own, conduct)))).await
    })
}

/// Closes the session as a caller would.
async fn end(session: Session, result: Result<Outputs, ProtocolError>) -> Result<Outputs, ProtocolError> {
    match result {
        Ok(outputs) => session.close().await.map(|()| outputs),
        Err(error) => {
            session.abort().await;
            Err(error)
        }
    }
}

/// Runs a future to its end. If it panics, everything that it holds is dropped.
async fn until_it_panics(
    party: impl Future<Output = Result<Outputs, ProtocolError>>,
) -> Result<Outputs, ProtocolError> {
    let mut party = pin!(party);
    poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| party.as_mut().poll(context))) {
        Ok(poll) => poll,
        Err(_) => Poll::Ready(Err(ProtocolError::WorkerLost)),
    })
    .await
}
