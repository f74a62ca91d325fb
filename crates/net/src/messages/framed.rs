//! Messages in a stream of bytes: `length 4 | bytes`, the length little-endian.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{ByteStream, CLOSING, LINGER_BYTES_MAX, RECEIVING, SENDING};
use crate::error::NetError;
use crate::pace::Pace;

/// The step in which a message's memory grows. A peer has to send about as much as it makes this party allocate.
const GROWTH_BYTES: usize = 64 << 10;

/// A stream that carries messages, with the received part of the next one.
pub(super) struct Framed {
    stream: Box<dyn ByteStream>,
    length: [u8; 4],
    /// Received bytes of the length.
    length_bytes: usize,
    message: Vec<u8>,
}

impl Framed {
    pub(super) fn new(stream: Box<dyn ByteStream>) -> Self {
        Framed { stream, length: [0; 4], length_bytes: 0, message: Vec::new() }
    }

    pub(super) async fn send(&mut self, message: &[u8], timeout: Duration) -> Result<(), NetError> {
        let Ok(length) = u32::try_from(message.len()) else {
            return Err(NetError::Unsendable { what: "a message", why: format!("it has {} bytes", message.len()) });
        };
        let mut pace = Pace::new(timeout);
        for part in [&length.to_le_bytes()[..], message] {
            write_all(&mut self.stream, part, &mut pace).await?;
        }
        flush(&mut self.stream, &mut pace).await
    }

    pub(super) async fn receive(&mut self, bytes_max: usize, timeout: Duration) -> Result<Vec<u8>, NetError> {
        let mut pace = Pace::new(timeout);
        while self.length_bytes < self.length.len() {
            let room = &mut self.length[self.length_bytes..];
            self.length_bytes += read(&mut self.stream, room, &mut pace).await?;
        }
        let length = u32::from_le_bytes(self.length) as usize;
        if length > bytes_max {
            return Err(NetError::TooLarge { what: "message", limit: bytes_max, got: length });
        }
        while self.message.len() < length {
            let more = GROWTH_BYTES.min(length - self.message.len());
            self.message.reserve(more);
            let mut part = (&mut self.stream).take(more as u64);
            let read = pace.wait(part.read_buf(&mut self.message), moved).await;
            heard(read.map_err(|late| late.error(RECEIVING.into()))?)?;
        }
        self.length_bytes = 0;
        Ok(std::mem::take(&mut self.message))
    }

    pub(super) async fn close(mut self) -> Result<(), NetError> {
        self.stream.shutdown().await.map_err(|source| NetError::from_io(source, CLOSING))?;
        let (mut forgotten, mut left) = ([0; 4096], LINGER_BYTES_MAX);
        while left > 0 {
            match self.stream.read(&mut forgotten).await {
                Ok(0) | Err(_) => break,
                Ok(read) => left = left.saturating_sub(read),
            }
        }
        Ok(())
    }
}

/// Writes all bytes at a pace.
async fn write_all(stream: &mut dyn ByteStream, mut bytes: &[u8], pace: &mut Pace) -> Result<(), NetError> {
    while !bytes.is_empty() {
        let wrote = pace.wait(stream.write(bytes), moved).await;
        match wrote.map_err(|late| late.error(SENDING.into()))? {
            Ok(0) => return Err(NetError::PeerClosed { doing: SENDING.into() }),
            Ok(wrote) => bytes = &bytes[wrote..],
            Err(source) => return Err(NetError::from_io(source, SENDING)),
        }
    }
    Ok(())
}

/// Sends buffered data.
async fn flush(stream: &mut dyn ByteStream, pace: &mut Pace) -> Result<(), NetError> {
    let flushed = pace.wait(stream.flush(), |_| 0).await.map_err(|late| late.error(SENDING.into()))?;
    flushed.map_err(|source| NetError::from_io(source, SENDING))
}

/// Reads some bytes, at least one, at a pace.
async fn read(stream: &mut dyn ByteStream, room: &mut [u8], pace: &mut Pace) -> Result<usize, NetError> {
    heard(pace.wait(stream.read(room), moved).await.map_err(|late| late.error(RECEIVING.into()))?)
}

/// The number of bytes read, which is not zero.
fn heard(read: io::Result<usize>) -> Result<usize, NetError> {
    match read {
        Ok(0) => Err(NetError::PeerClosed { doing: RECEIVING.into() }),
        Ok(read) => Ok(read),
        Err(source) => Err(NetError::from_io(source, RECEIVING)),
    }
}

fn moved(done: &io::Result<usize>) -> usize {
    *done.as_ref().unwrap_or(&0)
}
