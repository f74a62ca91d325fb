//! The number of a prepared run, which the messages of several parties carry.
//!
//! Material serves once. A party that has lost some, or uses it in another order, is at another run than the others. Then the result is wrong,
//! and a party that has messages of two runs from the same peer can combine what belongs to different inputs. So the first online message to
//! every peer begins with the run's number, and nobody sends a second message before all numbers have arrived and are equal. That does not mean that
//! all have sent everything: a party may send one peer its number and its data, and others nothing yet.
//!
//! The rest of the first message is safe without that check: it is hidden by masks of the sender's own run, which is used up, and no honest party
//! at another run sends anything else under these masks.

use std::fmt;

use garblet_circuit::Party;
use garblet_net::{Mesh, PerPeer};
use garblet_store::PieceId;
use zeroize::Zeroizing;

use crate::error::ProtocolError;

/// The number of a prepared run, the same for all its parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunId {
    /// The number of runs prepared in this session before it.
    Prepared(u64),
    /// The piece of the stores that it came from.
    Stored(u64),
}

/// The bit that marks runs from stores. Neither count reaches it.
const STORED: u64 = 1 << 63;

/// Bytes of the number at the beginning of the first message.
pub const RUN_ID_BYTES: usize = size_of::<u64>();

impl RunId {
    /// The run that a piece of the stores holds.
    pub fn of_piece(piece: PieceId) -> Self {
        RunId::Stored(piece.0 & !STORED)
    }

    fn to_bytes(self) -> [u8; RUN_ID_BYTES] {
        match self {
            RunId::Prepared(number) => number & !STORED,
            RunId::Stored(number) => number | STORED,
        }
        .to_le_bytes()
    }

    fn from_bytes(bytes: [u8; RUN_ID_BYTES]) -> Self {
        let number = u64::from_le_bytes(bytes);
        match number & STORED {
            0 => RunId::Prepared(number),
            _ => RunId::Stored(number & !STORED),
        }
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunId::Prepared(number) => write!(f, "{number} of this session"),
            RunId::Stored(number) => write!(f, "{number} of the stores"),
        }
    }
}

/// The exchanges of an online phase with all peers. The first one carries and checks the number of the run.
pub struct RunExchanges {
    unchecked: Option<RunId>,
    /// Peers that get no message of the run.
    left_out: Vec<u16>,
}

impl RunExchanges {
    /// The exchanges of a run, before the first.
    pub fn new(run: RunId) -> Self {
        RunExchanges { unchecked: Some(run), left_out: Vec::new() }
    }

    /// Leaves peers out that exchange nothing with this party, not even the number. No message may go to them.
    #[must_use]
    pub fn without(self, left_out: impl IntoIterator<Item = u16>) -> Self {
        RunExchanges { left_out: left_out.into_iter().collect(), ..self }
    }

    /// As [`Mesh::exchange`].
    ///
    /// *Errors*: also [`ProtocolError::OtherRun`] of a peer.
    pub async fn exchange(
        &mut self,
        mesh: &mut Mesh,
        outgoing: &PerPeer<impl AsRef<[u8]> + Sync>,
        incoming: &mut PerPeer<impl AsMut<[u8]> + Send>,
    ) -> Result<(), ProtocolError> {
        let Some(run) = self.unchecked else { return Ok(mesh.exchange(outgoing, incoming).await?) };
        let number = run.to_bytes();
        let number = |peer: u16| if self.left_out.contains(&peer) { &[][..] } else { &number[..] };
        debug_assert!(
            outgoing.iter().all(|(peer, message)| !self.left_out.contains(&peer) || message.as_ref().is_empty()),
            "a message to a peer that is left out"
        );
        let outgoing = outgoing.map_ref(|peer, message| Zeroizing::new([number(peer), message.as_ref()].concat()));
        let room =
            |peer, place: &mut _| Zeroizing::new(vec![0; number(peer).len() + AsMut::<[u8]>::as_mut(place).len()]);
        let mut received = incoming.as_mut().map(room);
        mesh.exchange(&outgoing, &mut received).await?;
        for ((peer, received), (_, place)) in received.iter().zip(incoming.iter_mut()) {
            if number(peer).is_empty() {
                continue;
            }
            let (theirs, message) = received.split_first_chunk().expect("as many bytes as were asked for");
            let theirs = RunId::from_bytes(*theirs);
            if theirs != run {
                let source = Box::new(ProtocolError::OtherRun { expected: run, got: theirs });
                return Err(ProtocolError::Peer { party: Party(peer), source });
            }
            place.as_mut().copy_from_slice(message);
        }
        self.unchecked = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_stores_and_of_sessions_are_never_the_same() {
        for number in [0, 1, 77, STORED - 1] {
            let [prepared, stored] = [RunId::Prepared(number), RunId::Stored(number)];
            assert_ne!(prepared.to_bytes(), stored.to_bytes());
            assert_eq!([prepared, stored].map(|run| RunId::from_bytes(run.to_bytes())), [prepared, stored]);
        }
    }
}
