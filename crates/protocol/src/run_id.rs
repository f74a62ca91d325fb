//! The number of the prepared run that the messages of several parties are of.
//!
//! Material serves once, and a party that has lost some without a word, or uses it in another order, is at another run than the others:
//! what they make is wrong then, and who has two runs' messages of one party can put together what belongs to different inputs. So
//! the first online message to every peer begins with the run's number, and nobody sends a second one before all
//! numbers are there and the same.
//!
//! What goes beside the number is safe without that: it is under masks of the sender's own run, which is used up, and no other honest
//! party that is at another run sends anything under these masks any more.

use std::fmt;

use garblet_circuit::Party;
use garblet_net::{Mesh, PerPeer};
use garblet_store::PieceId;
use zeroize::Zeroizing;

use crate::error::ProtocolError;

/// The number of a prepared run, the same for all parties of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunId {
    /// So many were prepared in this session before it.
    Prepared(u64),
    /// It lay in the stores, as this piece.
    Stored(u64),
}

/// The bit that tells runs of stores from others: neither count gets there.
const STORED: u64 = 1 << 63;

/// Bytes of the number before the first message.
pub const RUN_ID_BYTES: usize = size_of::<u64>();

impl RunId {
    /// The run that lay in the stores as a piece.
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

/// The exchanges of an online phase with all peers, of which the first says and checks of which run they are.
pub struct RunExchanges {
    unchecked: Option<RunId>,
    /// Peers to which nothing of the run goes.
    left_out: Vec<u16>,
}

impl RunExchanges {
    /// The exchanges of a run, of which none is made yet.
    pub fn new(run: RunId) -> Self {
        RunExchanges { unchecked: Some(run), left_out: Vec::new() }
    }

    /// The same where these peers and this party have nothing to say to each other, and so no number either: no message may go to them.
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
