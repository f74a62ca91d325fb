//! Digests of both directions of a channel. With them two parties can check afterwards that each received exactly what the other sent.
//!
//! Over TLS they are keyed by a secret of the connection: a third party that knows most of the exchanged data, for instance because it received the same,
//! cannot test guesses for the rest against the digests. Over plain TCP there is no such secret.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zeroize::{Zeroize, Zeroizing};

use crate::fingerprint::Fingerprint;

/// Separates these digests from all other uses of BLAKE3.
const CONTEXT: &str = "garblet 2026 direction of a channel v2";

/// A secret known only to the two ends of a connection. *Secret*; it stays in one place and is wiped there.
pub(crate) type ConnectionSecret = Box<Zeroizing<[u8; 32]>>;

/// One direction of a channel, with the same digest at both ends.
///
/// The bulk stream has no boundaries, and its pieces may be received in other sizes than they were sent. So it has a separate hash; every message is
/// hashed with its position in that stream.
pub(crate) struct Direction {
    key: Zeroizing<[u8; 32]>,
    messages: blake3::Hasher,
    bulk: blake3::Hasher,
    bulk_bytes: u64,
    message_bytes: u64,
    /// Set if nothing may leave any more.
    is_cut: bool,
}

/// A direction that half of a channel updates while others may read it.
pub(crate) type Watched = Arc<Mutex<Direction>>;

/// Observes a channel's traffic from some moment on; usable even after the channel is gone.
#[derive(Clone)]
pub struct ChannelWatch {
    sent: Watched,
    received: Watched,
    /// The peer's authenticated identity.
    peer: Option<Fingerprint>,
}

/// The traffic in one direction of a watched channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Payload bytes.
    pub bytes: u64,
    /// The digest: equal for one party's sent and the other's received data if these are the same. Over TLS it depends on the connection's secret
    /// and reveals nothing to anyone but its ends.
    pub digest: [u8; 32],
}

impl Direction {
    fn new(secret: Option<&ConnectionSecret>) -> Self {
        let key = Zeroizing::new(blake3::derive_key(CONTEXT, secret.map_or(&[], |secret| &secret[..])));
        let (messages, bulk) = (blake3::Hasher::new(), blake3::Hasher::new());
        Direction { key, messages, bulk, bulk_bytes: 0, message_bytes: 0, is_cut: false }
    }

    /// Adds the header of a frame that is neither bulk data nor the end; the end may be lost after everything else has arrived.
    pub(crate) fn header(&mut self, header: &[u8]) {
        self.messages.update(&self.bulk_bytes.to_le_bytes()).update(header);
    }

    /// Adds the payload after such a header, which contains its length.
    pub(crate) fn payload(&mut self, payload: &[u8]) {
        self.messages.update(payload);
        self.message_bytes += payload.len() as u64;
    }

    pub(crate) fn bulk(&mut self, bytes: &[u8]) {
        self.bulk.update(bytes);
        self.bulk_bytes += bytes.len() as u64;
    }

    /// Returns whether nothing may leave any more.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    fn passed(&self) -> Passed {
        let mut hash = blake3::Hasher::new_keyed(&self.key);
        hash.update(self.messages.finalize().as_bytes()).update(self.bulk.finalize().as_bytes());
        let digest = hash.update(&self.bulk_bytes.to_le_bytes()).finalize().into();
        hash.zeroize();
        Passed { bytes: self.bulk_bytes + self.message_bytes, digest }
    }
}

/// The locked direction, for updating or reading.
pub(crate) fn look(watched: &Watched) -> MutexGuard<'_, Direction> {
    watched.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ChannelWatch {
    /// Watches both halves of a channel to this peer, over a connection with this secret.
    pub(crate) fn begin(
        [sent, received]: [&mut Option<Watched>; 2],
        peer: Option<Fingerprint>,
        secret: Option<&ConnectionSecret>,
    ) -> Self {
        let begin = |half: &mut Option<Watched>| half.insert(Arc::new(Mutex::new(Direction::new(secret)))).clone();
        ChannelWatch { sent: begin(sent), received: begin(received), peer }
    }

    /// All data that this party has sent; some may still be buffered.
    pub fn sent(&self) -> Passed {
        look(&self.sent).passed()
    }

    /// From now on the channel sends nothing but word that this party aborts: sending fails, and [`ChannelWatch::sent`] stays as it is. For a
    /// run that was given up, whose party may be in the middle of a computation on another thread.
    pub fn cut(&self) {
        look(&self.sent).is_cut = true;
    }

    /// All data that this party has received and read.
    pub fn received(&self) -> Passed {
        look(&self.received).passed()
    }

    /// The peer's authenticated identity; `None` without TLS.
    pub fn peer(&self) -> Option<Fingerprint> {
        self.peer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hello, Mesh, NetError, memory_pair};

    fn hello() -> Hello {
        Hello::new("test", 0, 2, [7; 32])
    }

    /// The digests of sent and received data, for pieces of bulk data with a message after this number of them.
    async fn talk(sent: &[&[u8]], received: &[usize], message_behind: usize) -> (Passed, Passed) {
        let (mut one, mut two) = memory_pair();
        let (ours, theirs) = (one.watch(), two.watch());
        let sending = async {
            for (at, piece) in sent.iter().enumerate() {
                if at == message_behind {
                    one.send(&hello()).await.unwrap();
                }
                one.send_bytes(piece).await.unwrap();
            }
            one.close().await.unwrap();
        };
        let receiving = async {
            let mut done = 0;
            for bytes in received {
                if done == sent[..message_behind].concat().len() {
                    two.receive::<Hello>().await.unwrap();
                }
                two.receive_bytes(&mut vec![0; *bytes]).await.unwrap();
                done += bytes;
            }
            two.close().await.unwrap();
        };
        tokio::join!(sending, receiving);
        assert_eq!(ours.received(), theirs.sent(), "the other direction has only its end");
        (ours.sent(), theirs.received())
    }

    #[tokio::test]
    async fn both_ends_have_the_same_digest_however_bulk_data_is_split() {
        let large = vec![7; 300_000];
        let (sent, received) = talk(&[b"ab", b"cd", &large], &[1, 1, 302_000 - 2_000 + 2], 1).await;
        assert_eq!(sent, received);
        assert_eq!(sent.bytes, 300_004 + hello().encoded_bytes());
        let (other, _) = talk(&[b"a", b"b", b"cd", &large], &[2, 300_002], 2).await;
        assert_eq!(other, sent);
    }

    #[tokio::test]
    async fn every_byte_its_kind_and_its_place_count() {
        let (base, _) = talk(&[b"ab", b"cd"], &[2, 2], 1).await;
        for other in [
            talk(&[b"ab", b"cX"], &[2, 2], 1).await,
            talk(&[b"a", b"bcd"], &[1, 3], 1).await,
            talk(&[b"ab", b"cd"], &[4], 0).await,
            talk(&[b"ab", b"cde"], &[2, 3], 1).await,
        ] {
            assert_ne!(other.0.digest, base.digest);
            assert_eq!(other.0, other.1);
        }
    }

    #[tokio::test]
    async fn the_end_of_the_conversation_does_not_count() {
        let (mut one, mut two) = memory_pair();
        let (ours, theirs) = (one.watch(), two.watch());
        one.send_bytes(b"all").await.unwrap();
        one.flush().await.unwrap();
        two.receive_bytes(&mut [0; 3]).await.unwrap();
        // The other is gone and never reads the last frame of this one.
        drop(two);
        one.close().await.expect_err("the peer is gone");
        assert_eq!([ours.sent(), ours.received()], [theirs.received(), theirs.sent()]);
    }

    #[tokio::test]
    async fn data_before_the_watch_does_not_count() {
        let (mut one, mut two) = memory_pair();
        let nothing = one.watch().sent();
        one.send_bytes(b"before").await.unwrap();
        one.flush().await.unwrap();
        two.receive_bytes(&mut [0; 6]).await.unwrap();
        let (ours, theirs) = (one.watch(), two.watch());
        assert_eq!([ours.sent(), theirs.received()], [nothing; 2]);
        one.send_bytes(b"after").await.unwrap();
        one.flush().await.unwrap();
        two.receive_bytes(&mut [0; 5]).await.unwrap();
        assert_eq!(ours.sent(), theirs.received());
        assert_ne!(ours.sent(), nothing);
    }

    #[tokio::test]
    async fn nothing_leaves_a_channel_that_was_cut() {
        let (mut one, mut two) = memory_pair();
        let watch = one.watch();
        one.send_bytes(b"before").await.unwrap();
        one.flush().await.unwrap();
        one.send_bytes(b"staged").await.unwrap();
        watch.cut();
        let sent = watch.sent();
        for error in [one.flush().await, one.send_bytes(b"after").await, one.send(&hello()).await] {
            assert!(matches!(error, Err(NetError::GivenUp)), "{error:?}");
        }
        assert_eq!((watch.sent(), sent.bytes), (sent, 12));
        let mut got = [0; 6];
        two.receive_bytes(&mut got).await.unwrap();
        assert_eq!(&got, b"before");
        one.abort().await;
        assert_eq!(watch.sent(), sent, "word of the abort does not count");
        let error = two.receive_bytes(&mut got).await.unwrap_err();
        assert!(matches!(error, NetError::PeerAborted { .. }), "{error}");
    }

    #[tokio::test]
    async fn parties_of_a_mesh_have_the_same_digests_in_pairs() {
        let mut meshes = Mesh::memory(3);
        let watches: Vec<_> = meshes.iter_mut().map(Mesh::watch).collect();
        let talk = |mut mesh: Mesh| async move {
            let own = [mesh.party() as u8; 5];
            let mut incoming = mesh.per_peer(|_| [0; 5]);
            mesh.exchange(&mesh.per_peer(|_| own), &mut incoming).await.unwrap();
            mesh.close().await.unwrap();
        };
        futures_util::future::join_all(meshes.into_iter().map(talk)).await;
        for (party, watch) in watches.iter().enumerate() {
            for (peer, ours) in watch.iter() {
                let theirs = watches[usize::from(peer)].get(party as u16).unwrap();
                assert_eq!(ours.sent(), theirs.received());
                assert_eq!(ours.sent().bytes, 5);
            }
        }
    }
}
