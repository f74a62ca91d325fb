//! The receiving half of a channel: frames from a byte stream, through one small buffer of constant size.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::blame::Blame;
use crate::clock::timeout;
use crate::error::NetError;
use crate::frame::{HEADER_BYTES, Header};
use crate::pace::Pace;
use crate::watch::{Watched, look};

/// The size of the buffer. Payload that arrives with a header is copied through it once; the rest of a large frame is read
/// directly to its destination.
const BUFFER_BYTES: usize = 16 << 10;

/// The step in which a message's memory grows. A peer has to send about as much as it makes this party allocate.
const GROWTH_BYTES: usize = 64 << 10;

const BULK: &str = "bulk data";

/// Reads frames from a byte stream.
pub(crate) struct FrameReader {
    stream: Box<dyn AsyncRead + Send + Unpin>,
    buffer: Box<[u8]>,
    /// The unread bytes of the buffer: `start..end`.
    start: usize,
    end: usize,
    /// Remaining bytes of the current bulk frame.
    bulk_left: usize,
    pub(crate) pace: Pace,
    /// This party's number, and how many there are, in a mesh.
    pub(crate) seat: Option<(u16, u16)>,
    pub(crate) header_bytes: u64,
    pub(crate) watched: Option<Watched>,
}

/// The next item in the stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A control message; its payload is next.
    Control { kind: u8, bytes: usize },
    /// At least this number of bulk bytes; never 0.
    Bulk { bytes: usize },
    /// The peer's orderly end.
    Close,
}

impl Next {
    /// The error for this item when something else was expected.
    pub(crate) fn instead_of(&self, expected: &str) -> NetError {
        let got = match self {
            Next::Control { kind, bytes } => format!("a message of kind {kind} with {bytes} bytes"),
            Next::Bulk { bytes } => format!("bulk data ({bytes} bytes or more)"),
            Next::Close => "the end of the conversation".into(),
        };
        NetError::Unexpected { expected: expected.into(), got }
    }
}

impl FrameReader {
    pub(crate) fn new(stream: impl AsyncRead + Send + Unpin + 'static, timeout: Duration) -> Self {
        let buffer = vec![0; BUFFER_BYTES].into_boxed_slice();
        let (start, end, bulk_left, seat, header_bytes) = (0, 0, 0, None, 0);
        FrameReader {
            stream: Box::new(stream),
            buffer,
            start,
            end,
            bulk_left,
            pace: Pace::new(timeout),
            seat,
            header_bytes,
            watched: None,
        }
    }

    /// Waits until there is something to read, however long that takes.
    pub(crate) async fn ready(&mut self, waiting_for: &str) -> Result<(), NetError> {
        if self.start == self.end {
            // A dropped read has read nothing.
            let count = self.stream.read(&mut self.buffer).await;
            let doing = || format!("for {waiting_for}");
            match count.map_err(|source| NetError::from_io(source, doing()))? {
                0 => return Err(NetError::PeerClosed { doing: doing() }),
                count => (self.start, self.end) = (0, count),
            }
        }
        Ok(())
    }

    /// Reads the next header, or returns the rest of the current bulk frame, as a separate step.
    pub(crate) async fn begin(&mut self, waiting_for: &str) -> Result<Next, NetError> {
        self.pace.begin();
        self.next(waiting_for).await
    }

    /// The same, in the step that has begun.
    async fn next(&mut self, waiting_for: &str) -> Result<Next, NetError> {
        if self.bulk_left > 0 {
            return Ok(Next::Bulk { bytes: self.bulk_left });
        }
        let mut raw = [0; HEADER_BYTES];
        self.read_exact(&mut raw, waiting_for).await?;
        self.header_bytes += HEADER_BYTES as u64;
        let header = Header::decode(raw)?;
        if let Some(watched) = &self.watched
            && !matches!(header, Header::Bulk { .. } | Header::Close)
        {
            look(watched).header(&raw);
        }
        match header {
            Header::Control { kind, bytes } => Ok(Next::Control { kind, bytes: bytes as usize }),
            Header::Bulk { bytes } => {
                self.bulk_left = bytes as usize;
                Ok(Next::Bulk { bytes: self.bulk_left })
            }
            Header::Abort { bytes } => Err(self.aborted(bytes, waiting_for).await),
            Header::Close => Ok(Next::Close),
        }
    }

    /// The peer's reason for giving up, if it gives one. Ignores blame of unknown parties, which between two parties is all blame.
    async fn aborted(&mut self, bytes: u32, waiting_for: &str) -> NetError {
        let doing = format!("for {waiting_for}");
        let mut raw = vec![0; bytes as usize];
        let said = self.read_exact(&mut raw, waiting_for).await.is_ok();
        self.note_payload(&raw);
        let blame = Blame::decode(&raw).filter(|_| said).zip(self.seat);
        match blame.filter(|(blame, (_, count))| blame.party.max(blame.heard_from.unwrap_or(0)) < *count) {
            Some((Blame { party, cause, heard_from }, (own, _))) if own == party => {
                NetError::PeerBlamesUs { doing, cause, heard_from }
            }
            Some((blame, _)) => NetError::PeerBlames { doing, blame },
            None => NetError::PeerAborted { doing },
        }
    }

    /// Fills a buffer with bulk bytes, as a separate step.
    ///
    /// *Errors:* as [`bulk_more`](Self::bulk_more).
    pub(crate) async fn bulk_exact(&mut self, into: &mut [u8]) -> Result<(), NetError> {
        self.pace.begin();
        self.bulk_more(into).await
    }

    /// The same, in the step that has begun.
    ///
    /// *Errors:* [`NetError::Unexpected`] if anything else comes before it is full; otherwise the connection's.
    pub(crate) async fn bulk_more(&mut self, into: &mut [u8]) -> Result<(), NetError> {
        let (mut done, bytes) = (0, into.len());
        let whole = async {
            while done < bytes {
                let rest = &mut into[done..];
                done += match self.next(BULK).await? {
                    Next::Bulk { .. } => self.bulk(rest, BULK).await?,
                    other => return Err(other.instead_of(&format!("{} more bytes of bulk data", rest.len()))),
                };
            }
            Ok(())
        };
        whole.await.map_err(|error| match error {
            NetError::TooSlow { bytes: came, after, .. } => {
                NetError::TooSlow { doing: format!("for {BULK} ({bytes} bytes)"), bytes: came, after }
            }
            error => error,
        })
    }

    /// Reads bulk bytes: the wanted number, or the rest of the current frame.
    async fn bulk(&mut self, into: &mut [u8], waiting_for: &str) -> Result<usize, NetError> {
        let count = into.len().min(self.bulk_left);
        self.read_exact(&mut into[..count], waiting_for).await?;
        self.bulk_left -= count;
        if let Some(watched) = &self.watched {
            look(watched).bulk(&into[..count]);
        }
        Ok(count)
    }

    fn note_payload(&self, payload: &[u8]) {
        if let Some(watched) = &self.watched {
            look(watched).payload(payload);
        }
    }

    /// Reads a control message's payload. The caller has checked its size.
    pub(crate) async fn payload(&mut self, bytes: usize, waiting_for: &str) -> Result<Vec<u8>, NetError> {
        let mut payload = Vec::new();
        while payload.len() < bytes {
            let have = payload.len();
            payload.resize(bytes.min(have + GROWTH_BYTES.max(have)), 0);
            self.read_exact(&mut payload[have..], waiting_for).await?;
        }
        self.note_payload(&payload);
        Ok(payload)
    }

    async fn read_exact(&mut self, mut into: &mut [u8], waiting_for: &str) -> Result<(), NetError> {
        loop {
            let ready = into.len().min(self.end - self.start);
            let (now, later) = into.split_at_mut(ready);
            now.copy_from_slice(&self.buffer[self.start..self.start + ready]);
            self.start += ready;
            into = later;
            if into.is_empty() {
                return Ok(());
            }
            if into.len() >= BUFFER_BYTES {
                let count = read(&mut self.stream, into, &mut self.pace, waiting_for).await?;
                into = &mut into[count..];
            } else {
                self.start = 0;
                self.end = 0;
                self.end = read(&mut self.stream, &mut self.buffer, &mut self.pace, waiting_for).await?;
            }
        }
    }

    /// Searches the bytes that the peer has already sent for an abort, after a failed write, to distinguish a peer that
    /// gave up from one that died.
    pub(crate) async fn find_abort(&mut self, patience: Duration) -> Option<NetError> {
        self.pace.begin();
        let search = async {
            let mut skipped = [0; 1024];
            loop {
                match self.next("an abort").await {
                    Ok(Next::Bulk { .. }) => {
                        if self.bulk(&mut skipped, "an abort").await.is_err() {
                            return None;
                        }
                    }
                    Ok(Next::Control { mut bytes, .. }) => {
                        while bytes > 0 {
                            let count = bytes.min(skipped.len());
                            if self.read_exact(&mut skipped[..count], "an abort").await.is_err() {
                                return None;
                            }
                            bytes -= count;
                        }
                    }
                    Ok(Next::Close) => return None,
                    Err(error) => return is_abort(&error).then_some(error),
                }
            }
        };
        timeout(patience, search).await.ok().flatten()
    }

    /// Reads and discards data until the peer ends the stream, but no longer than `patience`.
    ///
    /// Closing a socket with unread bytes resets the connection, which can overtake our last message.
    pub(crate) async fn drain(&mut self, patience: Duration) {
        let drain = async { while matches!(self.stream.read(&mut self.buffer).await, Ok(1..)) {} };
        let _ = timeout(patience, drain).await;
    }
}

fn is_abort(error: &NetError) -> bool {
    matches!(error, NetError::PeerAborted { .. } | NetError::PeerBlames { .. } | NetError::PeerBlamesUs { .. })
}

/// One read of at least a byte.
async fn read(
    stream: &mut (dyn AsyncRead + Send + Unpin),
    into: &mut [u8],
    pace: &mut Pace,
    waiting_for: &str,
) -> Result<usize, NetError> {
    let moved = |result: &std::io::Result<usize>| result.as_ref().copied().unwrap_or(0);
    match pace.wait(stream.read(into), moved).await {
        Ok(Ok(0)) => Err(NetError::PeerClosed { doing: format!("for {waiting_for}") }),
        Ok(Ok(count)) => Ok(count),
        Ok(Err(source)) => Err(NetError::from_io(source, format!("for {waiting_for}"))),
        Err(late) => Err(late.error(format!("for {waiting_for}"))),
    }
}
