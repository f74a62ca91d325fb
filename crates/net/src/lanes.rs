//! Concurrent conversations over one channel: many instances of a protocol in the rounds of one.
//!
//! Each lane talks to its counterpart through its own channel in memory. Everything that all lanes send until they wait
//! leaves as one *flight*: the length of each lane's part, then the parts.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::future::{MaybeDone, maybe_done};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::channel::Channel;
use crate::error::NetError;

/// The most bytes that a lane sends or receives ahead.
const AHEAD_BYTES_MAX: usize = 1 << 20;

/// Bytes of a length.
const LENGTH_BYTES: usize = 4;

impl Channel {
    /// Runs `count` conversations concurrently and returns their results. The peer runs the same number. Together they take the rounds of
    /// the one with the most.
    ///
    /// `run` receives a channel to the peer's same conversation and its number from 0, and returns the channel. It must not wait for
    /// anything else.
    ///
    /// *Errors*: that of the first conversation that fails; the connection's.
    pub async fn multiplex<T, E: From<NetError>, F: Future<Output = Result<(Channel, T), E>>>(
        &mut self,
        count: usize,
        run: impl Fn(Channel, usize) -> F,
    ) -> Result<Vec<T>, E> {
        let pipes: Vec<Pipe> = (0..count).map(|_| Pipe::default()).collect();
        let conversations = pipes.iter().enumerate().map(|(number, pipe)| run(self.lane(pipe), number));
        let mut conversations: Vec<_> =
            conversations.map(|conversation| Box::pin(maybe_done(flushed(conversation)))).collect();
        loop {
            go_on(&mut conversations).await;
            if let Some(failed) = conversations.iter_mut().find_map(|c| failure(c.as_mut())) {
                return Err(failed);
            }
            if self.send_flight(&pipes).await? {
                continue;
            }
            if conversations.iter().all(|conversation| matches!(**conversation, MaybeDone::Done(_))) {
                break;
            }
            self.receive_flight(&pipes).await?;
        }
        let mut results = Vec::with_capacity(count);
        for (lane, result) in conversations.iter_mut().filter_map(|c| c.as_mut().take_output()?.ok()) {
            self.count_lane(&lane);
            results.push(result);
        }
        Ok(results)
    }

    fn lane(&self, pipe: &Pipe) -> Channel {
        let mut lane = Channel::new(pipe.clone(), pipe.clone());
        lane.set_timeout(self.reader.pace.timeout);
        lane
    }

    /// Sends the lanes' data, and returns whether there was any.
    async fn send_flight(&mut self, pipes: &[Pipe]) -> Result<bool, NetError> {
        let parts: Vec<Vec<u8>> = pipes.iter().map(|pipe| std::mem::take(&mut pipe.lock().said)).collect();
        if parts.iter().all(Vec::is_empty) {
            return Ok(false);
        }
        let lengths: Vec<u8> = parts.iter().flat_map(|part| (part.len() as u32).to_le_bytes()).collect();
        self.writer.header_bytes += lengths.len() as u64;
        self.sent_since_wait = true;
        let result = self.writer.bulk(&[lengths, parts.concat()].concat()).await;
        self.explain(result).await?;
        Ok(true)
    }

    /// Receives the data of the peer's lanes, in one step.
    ///
    /// *Errors*: parts longer than an honest peer's, or no part at all; the connection's.
    async fn receive_flight(&mut self, pipes: &[Pipe]) -> Result<(), NetError> {
        const WHAT: &str = "parts of concurrent conversations";
        self.count_wait();
        self.flush().await?;
        let mut lengths = vec![0; pipes.len() * LENGTH_BYTES];
        self.reader.bulk_exact(&mut lengths).await?;
        self.reader.header_bytes += lengths.len() as u64;
        if lengths.iter().all(|byte| *byte == 0) {
            let [expected, got] = ["at least one with bytes", "none"].map(Into::into);
            return Err(NetError::Malformed { what: WHAT.into(), expected, got });
        }
        for (pipe, length) in pipes.iter().zip(lengths.as_chunks().0) {
            let (length, ahead) = (u32::from_le_bytes(*length) as usize, pipe.lock().heard.len());
            if length + ahead > AHEAD_BYTES_MAX {
                return Err(NetError::TooLarge { what: WHAT, limit: AHEAD_BYTES_MAX, got: length + ahead });
            }
            let mut part = vec![0; length];
            self.reader.bulk_more(&mut part).await?;
            pipe.lock().heard.extend(part);
        }
        Ok(())
    }

    /// Counts a lane's traffic as this channel's own.
    fn count_lane(&mut self, lane: &Channel) {
        self.bytes_sent += lane.bytes_sent;
        self.bytes_received += lane.bytes_received;
        self.writer.header_bytes += lane.writer.header_bytes;
        self.reader.header_bytes += lane.reader.header_bytes;
    }
}

/// A conversation that also flushes its last data.
async fn flushed<T, E: From<NetError>>(
    conversation: impl Future<Output = Result<(Channel, T), E>>,
) -> Result<(Channel, T), E> {
    let (mut lane, result) = conversation.await?;
    lane.flush().await?;
    Ok((lane, result))
}

/// Runs every conversation until it waits.
async fn go_on<F: Future>(conversations: &mut [Pin<Box<MaybeDone<F>>>]) {
    let all = |context: &mut Context<'_>| {
        for conversation in conversations.iter_mut().filter(|c| matches!(***c, MaybeDone::Future(_))) {
            let _ = conversation.as_mut().poll(context);
        }
        Poll::Ready(())
    };
    poll_fn(all).await;
}

/// The error of a failed conversation.
fn failure<T, E, F: Future<Output = Result<T, E>>>(mut conversation: Pin<&mut MaybeDone<F>>) -> Option<E> {
    match conversation.as_mut().output_mut() {
        Some(Err(_)) => conversation.take_output()?.err(),
        _ => None,
    }
}

/// A lane's bytes that were not sent yet, and those that it has not received yet.
#[derive(Default)]
struct Words {
    said: Vec<u8>,
    heard: VecDeque<u8>,
}

/// A lane's transport. It wakes no task: the code that moves messages polls all lanes.
#[derive(Clone, Default)]
struct Pipe(Arc<Mutex<Words>>);

impl Pipe {
    fn lock(&self) -> MutexGuard<'_, Words> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsyncRead for Pipe {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut words = self.lock();
        let (first, _) = words.heard.as_slices();
        let count = first.len().min(into.remaining());
        if count == 0 {
            return Poll::Pending;
        }
        into.put_slice(&first[..count]);
        words.heard.drain(..count);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut words = self.lock();
        let count = bytes.len().min(AHEAD_BYTES_MAX - words.said.len());
        words.said.extend_from_slice(&bytes[..count]);
        if count == 0 && !bytes.is_empty() { Poll::Pending } else { Poll::Ready(Ok(count)) }
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

    /// Sends and receives `count` bytes, `turns` times.
    async fn chat(mut lane: Channel, number: usize, [turns, count]: [usize; 2]) -> Result<(Channel, u8), NetError> {
        let mut heard = vec![0; count];
        for turn in 0..turns {
            lane.send_bytes(&vec![(number + turn) as u8; count]).await?;
            lane.receive_bytes(&mut heard).await?;
        }
        Ok((lane, heard[count - 1]))
    }

    async fn say(mut lane: Channel, bytes: Vec<u8>) -> Result<(Channel, ()), NetError> {
        lane.send_bytes(&bytes).await?;
        Ok((lane, ()))
    }

    async fn hear(mut lane: Channel, count: usize) -> Result<(Channel, Vec<u8>), NetError> {
        let mut heard = vec![0; count];
        lane.receive_bytes(&mut heard).await?;
        Ok((lane, heard))
    }

    #[tokio::test]
    async fn lanes_take_the_rounds_of_one_and_every_byte_counts_once() {
        for size in [1, 1000] {
            let (mut ours, mut theirs) = memory_pair();
            let run = |lane, number| chat(lane, number, [3, size]);
            let (left, right) = tokio::join!(ours.multiplex(5, run), theirs.multiplex(5, run));
            assert_eq!((left.unwrap(), right.unwrap()), (vec![2, 3, 4, 5, 6], vec![2, 3, 4, 5, 6]));
            let traffic = ours.traffic();
            assert_eq!([traffic.bytes_sent, traffic.bytes_received], [15 * size as u64; 2]);
            assert_eq!((theirs.traffic().bytes_sent, traffic.rounds), (traffic.bytes_sent, 3));
            // The channel continues as before.
            ours.send_bytes(b"after").await.unwrap();
            ours.flush().await.unwrap();
            let mut after = [0; 5];
            theirs.receive_bytes(&mut after).await.unwrap();
            assert_eq!(&after, b"after");
        }
    }

    #[tokio::test]
    async fn one_side_may_have_nothing_to_say_and_lanes_may_end_early() {
        const LARGE: usize = 3 * AHEAD_BYTES_MAX / 2;
        let (mut ours, mut theirs) = memory_pair();
        let saying = async {
            let said = ours.multiplex(3, |lane, number| say(lane, vec![7; number * LARGE])).await;
            ours.flush().await.and(said)
        };
        let (said, heard) = tokio::join!(saying, theirs.multiplex(3, |lane, number| hear(lane, number * LARGE)));
        said.unwrap();
        assert!(heard.unwrap() == [0, 1, 2].map(|number| vec![7; number * LARGE]));
        assert!(ours.multiplex(0, hear).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn one_failed_lane_ends_all() {
        let (mut ours, _theirs) = memory_pair();
        let run = async |lane, number| match number {
            1 => Err(NetError::Unsendable { what: "lane 1", why: "it fails".into() }),
            _ => hear(lane, 1).await,
        };
        let error = ours.multiplex(3, run).await.unwrap_err();
        assert!(matches!(error, NetError::Unsendable { what: "lane 1", .. }), "{error}");
    }

    #[tokio::test]
    async fn a_flight_that_is_empty_or_too_large_is_refused() {
        for (lengths, expected) in [([0, 0], "none"), ([1, 1 + AHEAD_BYTES_MAX as u32], "1048577")] {
            let (mut ours, mut theirs) = memory_pair();
            theirs.send_bytes(lengths.map(u32::to_le_bytes).as_flattened()).await.unwrap();
            theirs.send_bytes(&[0]).await.unwrap();
            theirs.flush().await.unwrap();
            let error = ours.multiplex(2, |lane, _| hear(lane, 2)).await.unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
