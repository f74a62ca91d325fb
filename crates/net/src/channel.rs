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

/// The time that a channel waits without a byte moving, unless told otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// The time that a party that ends waits for its last words to arrive, if its time-out is not shorter.
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

    /// The cost of a phase: the counters after it less those before it.
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
/// no boundaries of its own: it may be received in other pieces than it was sent in.
///
/// What is sent may stay here until the next [`flush`](Channel::flush), which every receive does first. Sending waits
/// when the peer does not read, so two parties must not both send large amounts before either receives.
///
/// After an error the channel is of no use but to [`abort`](Channel::abort). The same holds after a future of it was
/// dropped before it was done.
pub struct Channel {
    pub(crate) reader: FrameReader,
    pub(crate) writer: FrameWriter,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
    pub(crate) rounds: u64,
    /// The number of times that this party waited, whether or not it had sent something.
    pub(crate) waits: u64,
    pub(crate) sent_since_wait: bool,
    /// The peer's hello if it was heard ahead.
    pub(crate) heard: Option<Box<Heard>>,
    /// The identity that the peer has proved.
    pub(crate) peer: Option<Fingerprint>,
    /// The session that it belongs to, if that has a name.
    pub(crate) session: Option<SessionName>,
    /// The secret that its ends have; none without TLS.
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

    /// The identity that the peer has proved; none without TLS.
    pub fn peer(&self) -> Option<Fingerprint> {
        self.peer
    }

    /// The name of the session that it belongs to, if it has one.
    pub fn session(&self) -> Option<&SessionName> {
        self.session.as_ref()
    }

    /// Watches the channel from now on. Both ends must begin where nothing is under way for their digests to be alike.
    ///
    /// *Cost:* a hash of every byte; of a channel that is not watched, nothing.
    pub fn watch(&mut self) -> ChannelWatch {
        let halves = [&mut self.writer.watched, &mut self.reader.watched];
        ChannelWatch::begin(halves, self.peer, self.secret.as_ref())
    }

    /// Sets how long to wait without a byte moving before giving up, in both directions.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.reader.pace.timeout = timeout;
        self.writer.pace.timeout = timeout;
    }

    /// Says which party of a mesh this one is, and of how many.
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
    /// *Errors:* as [`Channel::receive`], where `M` is what was expected.
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

    /// Waits until the peer says something, for as long as that takes. Nothing may be here that was not sent. A future of it that was dropped does no harm.
    ///
    /// *Errors:* the connection's.
    pub async fn heard(&mut self) -> Result<(), NetError> {
        self.reader.ready("a word of the peer").await
    }

    /// Sends everything that is still here.
    pub async fn flush(&mut self) -> Result<(), NetError> {
        let result = self.writer.flush().await;
        self.explain(result).await
    }

    /// Tells the peer that this party gives up, and nothing else, and ends the connection. Data not flushed is lost, but for the rest of a frame that
    /// has begun to leave: if the peer does not take that soon, it is not told.
    ///
    /// A peer that is gone already, or does not read, is no error; it costs at most a few seconds.
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

    /// Ends the conversation: both parties call it when all is said. Returns what went through in all.
    ///
    /// *Errors:* [`NetError::Unexpected`] if the peer has more to say; otherwise the connection's.
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

    /// Ends the connection, but not before the peer has read our last words, if it does so soon.
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

    /// Finds out whether a peer that no longer takes our bytes has given up.
    pub(crate) async fn explain(&mut self, result: Result<(), NetError>) -> Result<(), NetError> {
        match result {
            Err(NetError::PeerClosed { doing }) => {
                let gone = NetError::PeerClosed { doing };
                Err(self.reader.find_abort(self.parting()).await.unwrap_or(gone))
            }
            result => result,
        }
    }
}

/// A message from its encoding: all of it, nothing behind it, and the one encoding that it has. A number in more bytes than it needs is refused.
fn decode<M: Message>(payload: &[u8]) -> Result<M, NetError> {
    let malformed = |expected: &str, got: String| NetError::Malformed {
        what: format!("message `{}`", M::NAME),
        expected: expected.into(),
        got,
    };
    let (message, rest) = postcard::take_from_bytes::<M>(payload)
        .map_err(|error| malformed("its fields", format!("{} bytes that do not decode: {error}", payload.len())))?;
    if !rest.is_empty() {
        return Err(malformed("its fields", format!("{} bytes behind them", rest.len())));
    }
    // The bytes are compared as they are made, and kept nowhere.
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

/// The bytes that are still to come of an encoding that is made once more.
struct Compared<'a> {
    rest: &'a [u8],
}

impl Flavor for Compared<'_> {
    /// Set if none is missing at the end. The first that differs ends the encoding.
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
