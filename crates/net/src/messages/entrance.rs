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

/// The first byte of a request of a browser, `GET`.
const REQUEST: u8 = b'G';

const DOING: &str = "for a visitor to say what it speaks";

/// The way in which visitors are let in.
#[derive(Clone)]
pub struct Entrance {
    /// The server's proofs of its identity. `None` lets in only visitors without TLS.
    pub tls: Option<ServerTls>,
    /// Lets in visitors without TLS too, for instance through a proxy that terminates TLS for browsers. Sealed messages stay sealed.
    pub plain: bool,
    /// The pages whose scripts may connect, by their origin (`https://friends.example`). `None` lets in all.
    /// Others get status 403. Programs name no page, and come in.
    pub origins: Option<Vec<String>>,
    /// The most bytes of a message of a visitor; a browser that sends more is cut off before they have come.
    pub message_bytes_max: usize,
    /// The time without a byte after which a visitor counts as gone.
    pub timeout: Duration,
}

impl Entrance {
    /// An entrance with TLS alone.
    pub fn new(tls: ServerTls, message_bytes_max: usize) -> Self {
        Entrance { tls: Some(tls), plain: false, origins: None, message_bytes_max, timeout: DEFAULT_TIMEOUT }
    }

    /// Lets a new connection in, within 10 s or the time-out, whichever is shorter.
    ///
    /// *Errors*: a connection that is no visitor, or takes too long.
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
            (None, TLS_HANDSHAKE) => return Err(mismatch("no TLS, since this server has none", first)),
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
        Err(stranger("a request of a browser, for which this program was not built".into()))
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

/// A stream of which one byte was read to see what it is.
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
