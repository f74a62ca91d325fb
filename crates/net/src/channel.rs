//! The channel between this party and one peer.

use std::ops::Sub;
use std::time::Duration;

use postcard::ser_flavors::Flavor;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::blame::Blame;
use crate::clock::timeout;
use crate::error::NetError;
use crate::fingerprint::Fingerprint;
use crate::frame::Header;
use crate::hello::Heard;
use crate::message::Message;
use crate::reader::{FrameReader, Next};
use crate::session_name::SessionName;
use crate::transcript::{Piece, Transcript};
use crate::watch::{ChannelWatch, ConnectionSecret};
use crate::writer::FrameWriter;

/// The default time that a channel waits without a byte moving.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// The time that an ending party waits for its last message to arrive, unless its time-out is shorter.
const PARTING: Duration = Duration::from_secs(1);

const CLOSE: &str = "the peer's end of the conversation";

/// The traffic through a channel. Payload only, and the same on every transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Payload bytes sent.
    pub bytes_sent: u64,
    /// Payload bytes received.
    pub bytes_received: u64,
    /// The number of times that this party waited for bytes after having sent some since its last wait: calls of `receive`
    /// and `receive_bytes` before which something was sent since the previous such call.
    pub rounds: u64,
    /// Bytes of frame headers, both ways. How bulk data falls into frames depends on when it is flushed. TLS adds its
    /// own, not counted here.
    pub framing_bytes: u64,
}

impl Sub for Traffic {
    type Output = Traffic;

    /// The cost of a phase: the counters after it minus those before it.
    fn sub(self, before: Traffic) -> Traffic {
        Traffic {
            bytes_sent: self.bytes_sent - before.bytes_sent,
            bytes_received: self.bytes_received - before.bytes_received,
            rounds: self.rounds - before.rounds,
            framing_bytes: self.framing_bytes - before.framing_bytes,
        }
    }
}

/// An ordered, counted, bounded connection to one peer, over any transport.
///
/// Control messages ([`send`](Channel::send), [`receive`](Channel::receive)) and the bulk stream
/// ([`send_bytes`](Channel::send_bytes), [`receive_bytes`](Channel::receive_bytes)) share one order. The bulk stream has
/// no boundaries of its own: pieces may be received in other sizes than they were sent.
///
/// Sent data may stay here until the next [`flush`](Channel::flush), which every receive does first. Sending waits
/// if the peer does not read, so two parties must not both send large amounts before either receives.
///
/// After an error the channel can only be [aborted](Channel::abort). The same holds after one of its futures was
/// dropped before it completed.
pub struct Channel {
    pub(crate) reader: FrameReader,
    pub(crate) writer: FrameWriter,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
    pub(crate) rounds: u64,
    /// The number of times that this party waited, whether or not it had sent something.
    pub(crate) waits: u64,
    pub(crate) sent_since_wait: bool,
    /// The peer's hello, if it was received ahead.
    pub(crate) heard: Option<Box<Heard>>,
    /// The identity that the peer has proved.
    pub(crate) peer: Option<Fingerprint>,
    /// Its session's name, if there is one.
    pub(crate) session: Option<SessionName>,
    /// The secret shared by its ends; `None` without TLS.
    pub(crate) secret: Option<ConnectionSecret>,
    pub(crate) transcript: Option<Box<Transcript>>,
}

impl Channel {
    /// A channel over a byte stream in each direction.
    pub fn new(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Channel {
            reader: FrameReader::new(reader, DEFAULT_TIMEOUT),
            writer: FrameWriter::new(writer, DEFAULT_TIMEOUT),
            bytes_sent: 0,
            bytes_received: 0,
            rounds: 0,
            waits: 0,
            sent_since_wait: false,
            heard: None,
            peer: None,
            session: None,
            secret: None,
            transcript: None,
        }
    }

    /// The peer's authenticated identity; `None` without TLS.
    pub fn peer(&self) -> Option<Fingerprint> {
        self.peer
    }

    /// Its session's name, if there is one.
    pub fn session(&self) -> Option<&SessionName> {
        self.session.as_ref()
    }

    /// Watches the channel from now on. For equal digests, both ends must start while no data is under way.
    ///
    /// *Cost:* a hash of every byte; nothing for channels that are not watched.
    pub fn watch(&mut self) -> ChannelWatch {
        let halves = [&mut self.writer.watched, &mut self.reader.watched];
        ChannelWatch::begin(halves, self.peer, self.secret.as_ref())
    }

    /// Sets how long to wait without a byte moving before giving up, in both directions.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.reader.pace.timeout = timeout;
        self.writer.pace.timeout = timeout;
    }

    /// Sets this party's number in a mesh, and the number of parties.
    pub(crate) fn set_seat(&mut self, party: u16, count: u16) {
        self.reader.seat = Some((party, count));
    }

    /// The traffic so far.
    pub fn traffic(&self) -> Traffic {
        Traffic {
            bytes_sent: self.bytes_sent,
            bytes_received: self.bytes_received,
            rounds: self.rounds,
            framing_bytes: self.writer.header_bytes + self.reader.header_bytes,
        }
    }

    /// Sends a control message.
    ///
    /// *Errors:* [`NetError::Unsendable`] if it is longer than its type allows or fails its own check; otherwise the
    /// connection's.
    pub async fn send<M: Message>(&mut self, message: &M) -> Result<(), NetError> {
        let unsendable = |why: String| NetError::Unsendable { what: M::NAME, why };
        message.check().map_err(unsendable)?;
        let payload = postcard::to_stdvec(message).map_err(|error| unsendable(error.to_string()))?;
        if payload.len() > M::MAX_BYTES || payload.len() > u32::MAX as usize {
            return Err(unsendable(format!("{} bytes, at most {} are allowed", payload.len(), M::MAX_BYTES)));
        }
        self.sent(payload.len());
        self.note(Piece::SentMessage, &payload);
        let header = Header::Control { kind: M::KIND, bytes: payload.len() as u32 };
        let result = self.writer.frame(header, &payload).await;
        self.explain(result).await
    }

    /// Receives a control message and checks it.
    ///
    /// *Errors:* [`NetError::Unexpected`] for anything but a message of this type, [`NetError::TooLarge`] before its
    /// bytes are read, [`NetError::Malformed`] if it does not decode or fails its check; otherwise the connection's.
    pub async fn receive<M: Message>(&mut self) -> Result<M, NetError> {
        self.wait().await?;
        match self.reader.begin(M::NAME).await? {
            Next::Control { kind, bytes } if kind == M::KIND => self.message(bytes).await,
            other => Err(other.instead_of(&format!("message `{}` (kind {})", M::NAME, M::KIND))),
        }
    }

    /// Receives a control message of one of two types.
    ///
    /// *Errors:* as [`Channel::receive`], with `M` as the expected message.
    pub(crate) async fn receive_one_of<M: Message, N: Message>(&mut self) -> Result<Result<M, N>, NetError> {
        self.wait().await?;
        match self.reader.begin(M::NAME).await? {
            Next::Control { kind, bytes } if kind == M::KIND => self.message(bytes).await.map(Ok),
            Next::Control { kind, bytes } if kind == N::KIND => self.message(bytes).await.map(Err),
            other => Err(other.instead_of(&format!("message `{}` (kind {})", M::NAME, M::KIND))),
        }
    }

    /// Receives the rest of a message with this number of bytes.
    async fn message<M: Message>(&mut self, bytes: usize) -> Result<M, NetError> {
        if bytes > M::MAX_BYTES {
            return Err(NetError::TooLarge { what: M::NAME, limit: M::MAX_BYTES, got: bytes });
        }
        let payload = self.reader.payload(bytes, M::NAME).await?;
        self.bytes_received += bytes as u64;
        self.note(Piece::ReceivedMessage, &payload);
        decode(&payload)
    }

    /// Sends bulk data. Pieces of 64 to 256 KiB are best: from 16 KiB on they leave without a copy.
    pub async fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), NetError> {
        self.sent(bytes.len());
        self.note(Piece::SentBulk, bytes);
        let result = self.writer.bulk(bytes).await;
        self.explain(result).await
    }

    /// Fills `into` with bulk data.
    ///
    /// *Errors:* [`NetError::Unexpected`] if the peer sends a message or ends the conversation before them; otherwise
    /// the connection's.
    pub async fn receive_bytes(&mut self, into: &mut [u8]) -> Result<(), NetError> {
        if into.is_empty() {
            return Ok(());
        }
        self.wait().await?;
        self.reader.bulk_exact(into).await?;
        self.bytes_received += into.len() as u64;
        self.note(Piece::ReceivedBulk, into);
        Ok(())
    }

    /// Waits until the peer sends something, however long that takes. All data must be flushed before. The future may be dropped.
    ///
    /// *Errors:* the connection's.
    pub async fn heard(&mut self) -> Result<(), NetError> {
        self.reader.ready("a message from the peer").await
    }

    /// Sends all buffered data.
    pub async fn flush(&mut self) -> Result<(), NetError> {
        let result = self.writer.flush().await;
        self.explain(result).await
    }

    /// Tells the peer only that this party gives up, and ends the connection. Data not flushed is lost, except the rest of a frame that is partly sent:
    /// if the peer does not accept that soon, it is not told.
    ///
    /// A peer that is gone or does not read is not an error, and costs at most a few seconds.
    pub async fn abort(self) {
        self.abort_over(None).await;
    }

    /// The same, and tells the peer which party is to blame.
    pub(crate) async fn abort_over(mut self, blame: Option<Blame>) {
        self.writer.discard();
        let patience = self.parting();
        self.writer.pace.timeout = patience;
        let said = blame.map(Blame::encode);
        let payload = said.as_deref().unwrap_or_default();
        let header = Header::Abort { bytes: payload.len() as u32 };
        let tell = async {
            self.writer.frame(header, payload).await?;
            self.writer.flush().await
        };
        if let Ok(Ok(())) = timeout(patience, tell).await {
            self.part().await;
        }
    }

    /// Ends the conversation: both parties call it when they are done. Returns the total traffic.
    ///
    /// *Errors:* [`NetError::Unexpected`] if the peer sends more; otherwise the connection's.
    pub async fn close(mut self) -> Result<Traffic, NetError> {
        let traffic = self.traffic();
        let result = self.writer.frame(Header::Close, &[]).await;
        self.explain(result).await?;
        self.flush().await?;
        match self.reader.begin(CLOSE).await? {
            Next::Close => {}
            other => return Err(other.instead_of(CLOSE)),
        }
        self.part().await;
        Ok(traffic)
    }

    pub(crate) fn parting(&self) -> Duration {
        PARTING.min(self.reader.pace.timeout)
    }

    /// Ends the connection after the peer has read our last message, if it does so soon.
    async fn part(&mut self) {
        self.writer.pace.timeout = self.parting();
        self.writer.shutdown().await;
        self.reader.drain(self.parting()).await;
    }

    pub(crate) fn sent(&mut self, bytes: usize) {
        self.bytes_sent += bytes as u64;
        self.sent_since_wait |= bytes > 0;
    }

    /// Counts the wait and flushes, before every receive.
    async fn wait(&mut self) -> Result<(), NetError> {
        self.count_wait();
        self.flush().await
    }

    pub(crate) fn count_wait(&mut self) {
        self.waits += 1;
        self.rounds += u64::from(self.sent_since_wait);
        self.sent_since_wait = false;
    }

    /// Checks whether a peer that no longer accepts our bytes has given up.
    pub(crate) async fn explain(&mut self, result: Result<(), NetError>) -> Result<(), NetError> {
        match result {
            Err(NetError::PeerClosed { doing }) => {
                let found = self.reader.find_abort(self.parting()).await;
                Err(found.map_or(NetError::PeerClosed { doing: doing.clone() }, |abort| abort.in_step(doing)))
            }
            result => result,
        }
    }
}

/// Decodes a message, which must use all bytes and its only valid encoding: a number in more bytes than needed is refused.
fn decode<M: Message>(payload: &[u8]) -> Result<M, NetError> {
    let malformed = |expected: &str, got: String| NetError::Malformed {
        what: format!("message `{}`", M::NAME),
        expected: expected.into(),
        got,
    };
    let (message, rest) = postcard::take_from_bytes::<M>(payload)
        .map_err(|error| malformed("its fields", format!("{} bytes, {}", payload.len(), undecoded(&error))))?;
    if !rest.is_empty() {
        return Err(malformed("its fields", format!("{} bytes after them", rest.len())));
    }
    // Compare the bytes while encoding, without storing them.
    if postcard::serialize_with_flavor(&message, Compared { rest: payload }) != Ok(true) {
        return Err(malformed(
            "the shortest encoding of its fields",
            format!("another one, of {} bytes", payload.len()),
        ));
    }
    match message.check() {
        Ok(()) => Ok(message),
        Err(got) => Err(malformed("consistent fields", got)),
    }
}

/// The reason why a message does not decode, in words of the wire and not of the library.
fn undecoded(error: &postcard::Error) -> &'static str {
    match error {
        postcard::Error::DeserializeUnexpectedEnd => "which end within a field",
        postcard::Error::DeserializeBadVarint => "with a number too large for its field",
        postcard::Error::DeserializeBadUtf8 => "with a text that is not UTF-8",
        postcard::Error::DeserializeBadOption => "with an option that begins with neither 0 nor 1",
        _ => "with a field whose value is not allowed",
    }
}

/// The remaining expected bytes of a message that is encoded again.
struct Compared<'a> {
    rest: &'a [u8],
}

impl Flavor for Compared<'_> {
    /// Returns whether the encoding matches. The first difference ends it.
    type Output = bool;

    fn try_extend(&mut self, made: &[u8]) -> postcard::Result<()> {
        self.rest = self.rest.strip_prefix(made).ok_or(postcard::Error::SerializeBufferFull)?;
        Ok(())
    }

    fn try_push(&mut self, made: u8) -> postcard::Result<()> {
        self.try_extend(&[made])
    }

    fn finalize(self) -> postcard::Result<bool> {
        Ok(self.rest.is_empty())
    }
}
