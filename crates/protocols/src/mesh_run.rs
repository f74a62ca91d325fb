//! Running all parties of a mesh in one test.

use std::time::Duration;

use futures_util::future::join_all;
use garblet_circuit::{Bits, Party, Program};
use garblet_net::{Hello, Mesh};
use garblet_primitives::{Block, Prg};

use crate::error::ProtocolError;
use crate::session::MeshSession;

/// How long a party waits in tests.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);

/// Runs a future to its end.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime").block_on(future)
}

/// What party `party` of `count` says first in [`run`].
pub(crate) fn hello(party: u16, count: u16) -> Hello {
    Hello::new("test", party, count, [0; 32])
}

/// Runs one part for all parties of a mesh, each with a generator of its own made from `seed`, and tells the others if it
/// fails.
pub(crate) async fn run<T>(
    meshes: Vec<Mesh>,
    seed: u64,
    timeout: Duration,
    part: impl AsyncFn(&mut MeshSession) -> Result<T, ProtocolError>,
) -> Vec<Result<T, ProtocolError>> {
    let one = async |mut mesh: Mesh| {
        let (party, count) = (mesh.party(), mesh.party_count());
        mesh.set_timeout(timeout);
        let rng = Prg::new(Block::from_halves(seed, party.into()));
        let mut session = MeshSession::join(mesh, rng, &hello(party, count), Box::new(())).await?;
        match part(&mut session).await {
            Ok(value) => Ok(value),
            Err(error) => {
                session.abort(&error).await;
                Err(error)
            }
        }
    };
    join_all(meshes.into_iter().map(one)).await
}

/// A party's inputs among those of all.
pub(crate) fn own_inputs(program: &Program, party: u16, inputs: &[Bits]) -> Vec<Bits> {
    let own = program.inputs().iter().zip(inputs).filter(|(input, _)| input.owner == Party(party));
    own.map(|(_, value)| value.clone()).collect()
}
