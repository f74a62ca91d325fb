//! Two parties on one thread.

use std::{
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    task::Poll,
};

use garblet_circuit::{Bits, Party, Program};
use garblet_net::{Channel, Hello};
use garblet_primitives::{Block, Prg};
use garblet_protocol::{ProtocolError, Session};

use crate::Outputs;

/// Runs both parties over channels that `connect` makes, with generators from the seed, and returns both results. A party that panics
/// leaves.
pub(crate) fn run_two(
    protocol: &str,
    (program, inputs, seed): (&Arc<Program>, &[Bits], u128),
    connect: impl FnOnce() -> (Channel, Channel),
    garbler: impl AsyncFnOnce(&mut Session, &[Bits]) -> Result<Outputs, ProtocolError>,
    evaluator: impl AsyncFnOnce(&mut Session, &[Bits]) -> Result<Outputs, ProtocolError>,
) -> [Result<Outputs, ProtocolError>; 2] {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime without threads needs nothing that could be missing");
    let of = |party: u16| -> Vec<Bits> {
        let own = program.inputs().iter().zip(inputs).filter(|(input, _)| input.owner == Party(party));
        own.map(|(_, value)| value.clone()).collect()
    };
    let open = async |channel: Channel, party: u16| {
        let hello = Hello::new(protocol, party, 2, program.digest());
        let rng = Prg::new(Block::from_u128(2 * seed + u128::from(party)));
        Session::open(channel, rng, &hello, Box::new(())).await
    };
    runtime.block_on(async {
        let (left, right) = connect();
        let garbler = until_it_panics(async {
            let mut session = open(left, 0).await?;
            let result = garbler(&mut session, &of(0)).await;
            end(session, result).await
        });
        let evaluator = until_it_panics(async {
            let mut session = open(right, 1).await?;
            let result = evaluator(&mut session, &of(1)).await;
            end(session, result).await
        });
        let (garbler, evaluator) = tokio::join!(garbler, evaluator);
        [garbler, evaluator]
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
