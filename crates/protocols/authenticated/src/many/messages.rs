//! Messages to all other parties at once.

use garblet_circuit::Party;
use garblet_net::PerPeer;
use garblet_protocol::{MeshSession, conduct::Conduct, error::ProtocolError};

use super::Step;

/// Sends every peer its message after the conduct has seen it, and receives as many bytes of each as `expected` says.
///
/// *Errors*: the connections'.
pub(super) async fn exchange<K: Conduct<Step>>(
    session: &mut MeshSession,
    (step, conduct): (Step, &mut K),
    mut outgoing: PerPeer<Vec<u8>>,
    expected: impl Fn(Party) -> usize,
) -> Result<PerPeer<Vec<u8>>, ProtocolError> {
    outgoing.iter_mut().for_each(|(peer, message)| conduct.touch(step, peer.into(), message));
    let mesh = session.mesh();
    let mut incoming = mesh.per_peer(|peer| vec![0; expected(Party(peer))]);
    mesh.exchange(&outgoing, &mut incoming).await?;
    Ok(incoming)
}

/// Sends all peers the same message, and receives as many bytes of each.
///
/// *Errors*: the connections'.
pub(super) async fn broadcast<K: Conduct<Step>>(
    session: &mut MeshSession,
    by: (Step, &mut K),
    message: &[u8],
) -> Result<PerPeer<Vec<u8>>, ProtocolError> {
    let outgoing = session.mesh().per_peer(|_| message.to_vec());
    exchange(session, by, outgoing, |_| message.len()).await
}
