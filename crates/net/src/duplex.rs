//! Both directions of a channel at once: two parties may then send large amounts to each other without a deadlock.

use std::io;
use std::mem;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::channel::Channel;
use crate::clock::timeout;
use crate::error::NetError;
use crate::reader::FrameReader;
use crate::writer::FrameWriter;

/// Bytes per piece: small enough to stay in the cache and to stop soon when a party gives up.
const PIECE_BYTES: usize = 64 << 10;

impl Channel {
    /// Sends and receives bulk data at once: `outgoing` leaves while `incoming` is filled.
    ///
    /// *Cost:* one round if anything is received, whatever the sizes. *Errors:* as
    /// [`send_bytes`](Channel::send_bytes) and [`receive_bytes`](Channel::receive_bytes).
    pub async fn exchange_bytes(&mut self, outgoing: &[u8], incoming: &mut [u8]) -> Result<(), NetError> {
        let bytes = incoming.len();
        self.both_ways(outgoing, bytes, async |reader| reader.bulk_exact(incoming).await).await
    }

    /// The same, but passes incoming data to `take` in pieces of bounded size, each with its position.
    pub async fn exchange_pieces(
        &mut self,
        outgoing: &[u8],
        incoming: usize,
        mut take: impl FnMut(usize, &[u8]),
    ) -> Result<(), NetError> {
        let receive = async |reader: &mut FrameReader| {
            let mut piece = vec![0; PIECE_BYTES.min(incoming)];
            for at in (0..incoming).step_by(PIECE_BYTES) {
                let piece = &mut piece[..PIECE_BYTES.min(incoming - at)];
                reader.bulk_exact(piece).await?;
                take(at, piece);
            }
            Ok(())
        };
        self.both_ways(outgoing, incoming, receive).await
    }

    /// Runs two steps at once: one that only sends, and one that only receives.
    ///
    /// *Errors:* those of the steps, of the receiving one if both fail; a sending step that receives, and the reverse,
    /// fails with an error of input or output.
    pub async fn full_duplex<A, B, E>(
        &mut self,
        sending: impl AsyncFnOnce(&mut Channel) -> Result<A, E>,
        receiving: impl AsyncFnOnce(&mut Channel) -> Result<B, E>,
    ) -> Result<(A, B), E> {
        let patience = self.parting();
        let mut halves = Halves::of(self);
        join(sending(&mut halves.out), receiving(&mut halves.into), patience).await
    }

    async fn both_ways(
        &mut self,
        outgoing: &[u8],
        incoming: usize,
        receive: impl AsyncFnOnce(&mut FrameReader) -> Result<(), NetError>,
    ) -> Result<(), NetError> {
        let patience = self.parting();
        self.sent(outgoing.len());
        if incoming > 0 {
            self.count_wait();
        }
        let receiving = async |reader| if incoming > 0 { receive(reader).await } else { Ok(()) };
        let sending = send(&mut self.writer, outgoing);
        let result = join(sending, receiving(&mut self.reader), patience).await;
        self.explain(result.map(|_| ())).await?;
        self.bytes_received += incoming as u64;
        Ok(())
    }
}

/// A channel split into its two directions until this is dropped.
struct Halves<'a> {
    whole: &'a mut Channel,
    out: Channel,
    into: Channel,
}

impl<'a> Halves<'a> {
    fn of(whole: &'a mut Channel) -> Self {
        let [out, into] = [(); 2].map(|()| Channel::new(OneWay, OneWay));
        let mut halves = Halves { whole, out, into };
        halves.swap();
        halves.out.set_timeout(halves.into.reader.pace.timeout);
        halves
    }

    fn swap(&mut self) {
        mem::swap(&mut self.out.writer, &mut self.whole.writer);
        mem::swap(&mut self.into.reader, &mut self.whole.reader);
    }
}

impl Drop for Halves<'_> {
    /// Joins the halves even if the steps are dropped, so that the channel can still be aborted.
    fn drop(&mut self) {
        self.swap();
        self.whole.sent(self.out.bytes_sent as usize);
        self.whole.bytes_received += self.into.bytes_received;
        if self.into.waits > 0 {
            self.whole.count_wait();
        }
    }
}

async fn send(writer: &mut FrameWriter, outgoing: &[u8]) -> Result<(), NetError> {
    for piece in outgoing.chunks(PIECE_BYTES) {
        writer.bulk(piece).await?;
    }
    writer.flush().await
}

/// Runs both halves at once. When one fails, the other has `patience` to end: the receiving one often knows the cause, and
/// the sending one must not stop in the middle of a frame.
async fn join<A, B, E>(
    sending: impl Future<Output = Result<A, E>>,
    receiving: impl Future<Output = Result<B, E>>,
    patience: Duration,
) -> Result<(A, B), E> {
    let (mut sending, mut receiving) = (pin!(sending), pin!(receiving));
    tokio::select! {
        // In this order: otherwise chance would decide how bytes fall into frames.
        biased;
        sent = &mut sending => match sent {
            Ok(sent) => Ok((sent, receiving.await?)),
            Err(error) => match timeout(patience, receiving).await {
                Ok(Err(reason)) => Err(reason),
                _ => Err(error),
            },
        },
        received = &mut receiving => match received {
            Ok(received) => Ok((sending.await?, received)),
            Err(error) => {
                let _ = timeout(patience, sending).await;
                Err(error)
            }
        },
    }
}

/// The missing direction of half a channel.
struct OneWay;

impl OneWay {
    fn refuse() -> io::Error {
        io::Error::new(io::ErrorKind::Unsupported, "this half of the channel goes in the other direction")
    }
}

impl AsyncRead for OneWay {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Err(OneWay::refuse()))
    }
}

impl AsyncWrite for OneWay {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(OneWay::refuse()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory_pair;

    /// More than a pipe holds.
    const LARGE: usize = 5 << 20;

    #[tokio::test]
    async fn both_parties_may_send_large_amounts_at_once() {
        let (mut left, mut right) = memory_pair();
        let [mut one, mut two] = [vec![0; LARGE], vec![0; LARGE + 1]];
        let (ours, theirs) = (vec![1; LARGE + 1], vec![2; LARGE]);
        let there = left.exchange_bytes(&ours, &mut one);
        tokio::try_join!(there, right.exchange_bytes(&theirs, &mut two)).expect("no deadlock");
        assert!(one == theirs && two == ours);
        assert_eq!(left.traffic().rounds, 1);
        assert_eq!(left.traffic().bytes_received, LARGE as u64);
        assert_eq!(left.traffic().bytes_sent, right.traffic().bytes_received);
    }

    #[tokio::test]
    async fn pieces_come_in_order_and_cover_all() {
        let (mut left, mut right) = memory_pair();
        let data: Vec<u8> = (0..3 * PIECE_BYTES + 5).map(|i| i as u8).collect();
        let mut got = Vec::new();
        let take = right.exchange_pieces(&[], data.len(), |at, piece| {
            assert_eq!(at, got.len());
            got.extend_from_slice(piece);
        });
        tokio::try_join!(left.exchange_bytes(&data, &mut []), take).expect("one way");
        assert!(got == data);
        assert_eq!((left.traffic().rounds, right.traffic().rounds), (0, 0));
    }

    #[tokio::test]
    async fn steps_of_opposite_directions_run_at_once_and_count_one_round() {
        let (mut left, mut right) = memory_pair();
        let run = async |channel: &mut Channel| {
            let out = async |out: &mut Channel| out.send_bytes(&[7; LARGE]).await;
            let into = async |into: &mut Channel| {
                let mut got = vec![0; LARGE];
                into.receive_bytes(&mut got).await?;
                Ok(got)
            };
            channel.full_duplex(out, into).await
        };
        let send_last = async |channel: &mut Channel| -> Result<_, NetError> {
            let ((), got) = run(channel).await?;
            channel.flush().await?;
            Ok(got)
        };
        let (one, two) = tokio::try_join!(send_last(&mut left), send_last(&mut right)).expect("no deadlock");
        assert!(one == [7; LARGE] && two == one);
        let traffic = left.traffic();
        assert_eq!((traffic.bytes_sent, traffic.bytes_received, traffic.rounds), (LARGE as u64, LARGE as u64, 1));
    }

    #[tokio::test]
    async fn dropped_steps_leave_a_channel_that_can_be_aborted() {
        let (mut left, mut right) = memory_pair();
        let send = async |out: &mut Channel| out.send_bytes(&[7; LARGE]).await;
        let receive = async |into: &mut Channel| into.receive_bytes(&mut [0]).await;
        tokio::select! {
            biased;
            _ = left.full_duplex(send, receive) => panic!("the peer neither reads nor sends"),
            () = async {} => {}
        }
        let mut got = vec![0; LARGE];
        let ((), result) = tokio::join!(left.abort(), right.receive_bytes(&mut got));
        result.expect("the frame is whole");
        assert!(got == [7; LARGE]);
        let error = right.receive_bytes(&mut [0]).await.expect_err("given up");
        assert!(matches!(error, NetError::PeerAborted { .. }), "{error}");
    }

    #[tokio::test]
    async fn a_half_refuses_the_other_direction() {
        let (mut left, _right) = memory_pair();
        let receive = async |out: &mut Channel| out.receive_bytes(&mut [0]).await;
        let error = left.full_duplex(receive, async |_| Ok(())).await.expect_err("only sends");
        assert!(error.to_string().contains("other direction"), "{error}");
    }

    #[tokio::test]
    async fn a_peer_that_gives_up_ends_both_directions() {
        let (mut left, right) = memory_pair();
        let mut incoming = vec![0; LARGE];
        let outgoing = vec![0; LARGE];
        let (result, ()) = tokio::join!(left.exchange_bytes(&outgoing, &mut incoming), right.abort());
        let error = result.expect_err("given up");
        assert!(matches!(error, NetError::PeerAborted { .. }), "{error}");
    }
}
