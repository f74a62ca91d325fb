//! Messages to all other parties at once.

use garblet_circuit::Party;
use garblet_net::PerPeer;
use garblet_protocol::{MeshSession, conduct::Conduct, error::ProtocolError};

use super::Step;

/// Messages to and from every peer that travel together.
pub(super) struct Flow {
    outgoing: PerPeer<Vec<u8>>,
    /// Bytes of each message that comes.
    expected: Vec<PerPeer<usize>>,
}

impl Flow {
    /// Nothing yet.
    pub(super) fn new(session: &mut MeshSession) -> Self {
        Flow { outgoing: session.mesh().per_peer(|_| Vec::new()), expected: Vec::new() }
    }

    /// Adds a message to every peer, once the conduct has seen it, and one from every peer of as many bytes as `expected` says.
    pub(super) fn add<K: Conduct<Step>>(
        &mut self,
        (step, conduct): (Step, &mut K),
        messages: PerPeer<Vec<u8>>,
        expected: impl Fn(Party) -> usize,
    ) {
        self.expected.push(messages.map_ref(|peer, _| expected(Party(peer))));
        for ((peer, to), (_, mut message)) in self.outgoing.iter_mut().zip(messages) {
            conduct.touch(step, peer.into(), &mut message);
            match to.is_empty() {
                true => *to = message,
                false => to.extend_from_slice(&message),
            }
        }
    }

    /// Sends everything, and receives the messages of all peers, in the order in which they were added.
    ///
    /// *Errors*: the connections'.
    pub(super) async fn exchange(
        self,
        session: &mut MeshSession,
    ) -> Result<impl Iterator<Item = PerPeer<Vec<u8>>> + use<>, ProtocolError> {
        let Flow { outgoing, expected } = self;
        let mesh = session.mesh();
        let total = |peer: u16| expected.iter().filter_map(|bytes| bytes.get(peer)).sum();
        let mut incoming = mesh.per_peer(|peer| vec![0; total(peer)]);
        mesh.exchange(&outgoing, &mut incoming).await?;
        Ok(expected.into_iter().map(move |bytes| {
            bytes.map(|peer, bytes| {
                let Some(message) = incoming.get_mut(peer) else { return Vec::new() };
                let rest = message.split_off(bytes);
                std::mem::replace(message, rest)
            })
        }))
    }
}

/// Sends every peer its message after the conduct has seen it, and receives as many bytes of each as `expected` says.
///
/// *Errors*: the connections'.
pub(super) async fn exchange<K: Conduct<Step>>(
    session: &mut MeshSession,
    by: (Step, &mut K),
    outgoing: PerPeer<Vec<u8>>,
    expected: impl Fn(Party) -> usize,
) -> Result<PerPeer<Vec<u8>>, ProtocolError> {
    let mut flow = Flow::new(session);
    flow.add(by, outgoing, expected);
    let mut incoming = flow.exchange(session).await?;
    Ok(incoming.next().unwrap_or_else(|| session.mesh().per_peer(|_| Vec::new())))
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
