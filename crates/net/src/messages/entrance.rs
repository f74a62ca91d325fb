//! The door of a server: one port for programs and browsers, with TLS and without, told apart by their first byte.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

use super::{ByteStream, Messages, PREAMBLE};
use crate::channel::DEFAULT_TIMEOUT;
use crate::error::NetError;
use crate::frame::TLS_HANDSHAKE;
use crate::over::HANDSHAKE;
use crate::tls::ServerTls;
#[cfg(feature = "websocket")]
use crate::websocket::WebSocket;

/// The first byte of a browser's request, `GET`.
const REQUEST: u8 = b'G';

const DOING: &str = "for a visitor's first bytes";

/// The settings for admitting visitors.
#[derive(Clone)]
pub struct Entrance {
    /// The server's certificates. `None` admits only visitors without TLS.
    pub tls: Option<ServerTls>,
    /// Admits visitors without TLS too, for instance through a proxy that terminates TLS for browsers. Sealed messages stay sealed.
    pub plain: bool,
    /// The pages whose scripts may connect, by their origin (`https://friends.example`). `None` admits all.
    /// Others get status 403. Programs name no page and are admitted.
    pub origins: Option<Vec<String>>,
    /// The most bytes of a visitor's message; a browser that sends more is cut off before they arrive.
    pub message_bytes_max: usize,
    /// The time without a byte after which a visitor counts as gone.
    pub timeout: Duration,
}

impl Entrance {
    /// An entrance with TLS only.
    pub fn new(tls: ServerTls, message_bytes_max: usize) -> Self {
        Entrance { tls: Some(tls), plain: false, origins: None, message_bytes_max, timeout: DEFAULT_TIMEOUT }
    }

    /// Admits a new connection, within 10 s or the time-out, whichever is shorter.
    ///
    /// *Errors*: a connection that is not a visitor, or takes too long.
    pub async fn admit<S>(&self, stream: S) -> Result<Messages, NetError>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let patience = HANDSHAKE.min(self.timeout);
        match tokio::time::timeout(patience, self.recognise(Box::new(stream))).await {
            Ok(admitted) => admitted,
            Err(_) => Err(NetError::Timeout { doing: DOING.into(), after: patience }),
        }
    }

    async fn recognise(&self, mut stream: Box<dyn ByteStream>) -> Result<Messages, NetError> {
        let mut first = first_byte(&mut stream).await?;
        match (&self.tls, first) {
            (Some(tls), TLS_HANDSHAKE) => {
                stream = Box::new(tls.accept(Ahead { byte: Some(first), stream }).await?);
                first = first_byte(&mut stream).await?;
            }
            (Some(_), _) if !self.plain => return Err(mismatch("a TLS handshake", first)),
            (Some(_), _) => {}
            (None, TLS_HANDSHAKE) => return Err(mismatch("no TLS, which this server does not offer", first)),
            (None, _) => {}
        }
        match first {
            _ if first == PREAMBLE[0] => {
                let mut rest = [0; PREAMBLE.len() - 1];
                stream.read_exact(&mut rest).await.map_err(|source| NetError::from_io(source, DOING))?;
                match rest == PREAMBLE[1..] {
                    true => Ok(Messages::framed(stream, self.timeout)),
                    false => Err(stranger(format!("bytes {first:02x} {rest:02x?}"))),
                }
            }
            REQUEST => self.browser(Ahead { byte: Some(first), stream }).await,
            _ => Err(stranger(describe(first))),
        }
    }

    #[cfg(feature = "websocket")]
    async fn browser(&self, stream: Ahead) -> Result<Messages, NetError> {
        let socket = WebSocket::accept(Box::new(stream), self.origins.as_deref(), self.message_bytes_max).await?;
        Ok(Messages::of_socket(socket, self.timeout))
    }

    #[cfg(not(feature = "websocket"))]
    async fn browser(&self, _: Ahead) -> Result<Messages, NetError> {
        Err(stranger("a browser's request, which this program was built without support for".into()))
    }
}

async fn first_byte(stream: &mut Box<dyn ByteStream>) -> Result<u8, NetError> {
    stream.read_u8().await.map_err(|source| NetError::from_io(source, DOING))
}

fn mismatch(expected: &'static str, first: u8) -> NetError {
    NetError::TlsMismatch { what: "first byte of a visitor", expected, got: describe(first) }
}

fn stranger(got: String) -> NetError {
    let expected = "a visitor's preamble, or a browser's request for a WebSocket";
    NetError::Malformed { what: "first bytes of a visitor".into(), expected: expected.into(), got }
}

fn describe(first: u8) -> String {
    match first {
        TLS_HANDSHAKE => "a TLS handshake".into(),
        REQUEST => "`G`, as a browser sends it without TLS".into(),
        _ if first == PREAMBLE[0] => "a program without TLS".into(),
        _ => format!("byte {first:02x}"),
    }
}

/// A stream whose first byte was read to recognise it.
struct Ahead {
    byte: Option<u8>,
    stream: Box<dyn ByteStream>,
}

impl AsyncRead for Ahead {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, room: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if room.remaining() > 0
            && let Some(byte) = self.byte.take()
        {
            room.put_slice(&[byte]);
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_read(cx, room)
    }
}

impl AsyncWrite for Ahead {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
