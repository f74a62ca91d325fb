//! WebSockets (RFC 6455), for browsers: a binary message each way is a message.
//!
//! Time and size are bounded here: `tungstenite` allocates as many bytes as the other end announces, up to the limit, and
//! touches it as they come.

mod stream;

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::{Sink, Stream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::tungstenite::error::{CapacityError, ProtocolError};
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::StatusCode;
use tokio_tungstenite::tungstenite::http::header::ORIGIN;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, accept_hdr_async_with_config, client_async_with_config};

use crate::error::NetError;
use crate::messages::{ByteStream, CLOSING, LINGER, LINGER_BYTES_MAX, RECEIVING, SENDING};
use crate::pace::Pace;

pub(crate) use stream::WebStream;

/// The most reported bytes of a page's name.
const ORIGIN_BYTES_MAX: usize = 80;

const OPENING: &str = "for a WebSocket to open";

/// The size of the read and write buffers.
const BUFFER_BYTES: usize = 16 << 10;

/// Bytes allowed for a message in addition to twice its limit: headers, pings and read-ahead.
const SPARE_BYTES: u64 = 64 << 10;

/// A WebSocket, at either end.
pub(crate) struct WebSocket(WebSocketStream<Counted>);

impl WebSocket {
    /// Answers a browser's request, if its page is allowed.
    pub(crate) async fn accept(
        stream: Box<dyn ByteStream>,
        origins: Option<&[String]>,
        bytes_max: usize,
    ) -> Result<Self, NetError> {
        let stream = Counted { stream, moved: 0 };
        answer(stream, origins, config(bytes_max)).await.map(WebSocket)
    }

    /// Requests a WebSocket from a server.
    pub(crate) async fn call(stream: Box<dyn ByteStream>, host: &str, bytes_max: usize) -> Result<Self, NetError> {
        let (address, stream) = (format!("ws://{host}/"), Counted { stream, moved: 0 });
        let opened = client_async_with_config(address, stream, Some(config(bytes_max))).await;
        opened.map(|(socket, _)| WebSocket(socket)).map_err(|error| explain(error, OPENING))
    }

    pub(crate) async fn send(&mut self, message: &[u8], timeout: Duration) -> Result<(), NetError> {
        self.put(Message::binary(message.to_vec()), timeout).await
    }

    pub(crate) async fn receive(&mut self, bytes_max: usize, timeout: Duration) -> Result<Vec<u8>, NetError> {
        let (mut pace, mut moved) = (Pace::new(timeout), 0);
        loop {
            let next = self.step(&mut pace, RECEIVING, |socket, cx| socket.poll_next(cx)).await?;
            moved += next.moved;
            if moved > SPARE_BYTES + 2 * bytes_max as u64 {
                let got = usize::try_from(moved).unwrap_or(usize::MAX);
                return Err(NetError::TooLarge { what: "WebSocket message with all around it", limit: bytes_max, got });
            }
            let (code, error) = match next.done {
                None | Some(Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)))) => continue,
                Some(Some(Ok(Message::Binary(message)))) if message.len() <= bytes_max => return Ok(message.into()),
                Some(Some(Ok(Message::Binary(message)))) => {
                    let (limit, got) = (bytes_max, message.len());
                    (CloseCode::Size, NetError::TooLarge { what: "message", limit, got })
                }
                Some(Some(Ok(Message::Text(_)))) => {
                    let (expected, got) = ("a binary message".into(), "a text message".into());
                    (CloseCode::Unsupported, NetError::Unexpected { expected, got })
                }
                Some(Some(Ok(Message::Close(_))) | None) => {
                    (CloseCode::Normal, NetError::PeerClosed { doing: RECEIVING.into() })
                }
                Some(Some(Err(error))) => match explain(error, RECEIVING) {
                    error @ NetError::TooLarge { .. } => (CloseCode::Size, error),
                    error @ NetError::Malformed { .. } => (CloseCode::Protocol, error),
                    error => return Err(error),
                },
            };
            // Tell a browser the reason; it does not matter if the peer reads it.
            let told = Message::Close(Some(CloseFrame { code, reason: "".into() }));
            let _ = tokio::time::timeout(LINGER, self.put(told, LINGER)).await;
            return Err(error);
        }
    }

    /// Closes the conversation, and waits for the other end to close it too.
    pub(crate) async fn close(mut self) -> Result<(), NetError> {
        let socket = &mut self.0;
        let closed = poll_fn(|cx| Pin::new(&mut *socket).poll_close(cx)).await;
        closed.map_err(|error| explain(error, CLOSING))?;
        let begin = socket.get_ref().moved;
        while let Some(Ok(_)) = poll_fn(|cx| Pin::new(&mut *socket).poll_next(cx)).await {
            if socket.get_ref().moved - begin > LINGER_BYTES_MAX as u64 {
                break;
            }
        }
        Ok(())
    }

    async fn put(&mut self, message: Message, timeout: Duration) -> Result<(), NetError> {
        let (mut pace, mut message) = (Pace::new(timeout), Some(message));
        loop {
            let sent = self.step(&mut pace, SENDING, |mut socket, cx| {
                ready!(socket.as_mut().poll_ready(cx))?;
                if let Some(message) = message.take() {
                    socket.as_mut().start_send(message)?;
                }
                socket.poll_flush(cx)
            });
            if let Some(sent) = sent.await?.done {
                return sent.map_err(|error| explain(error, SENDING));
            }
        }
    }

    /// Continues an operation until it is done or some bytes have moved.
    async fn step<T>(
        &mut self,
        pace: &mut Pace,
        doing: &str,
        mut poll: impl FnMut(Pin<&mut WebSocketStream<Counted>>, &mut Context<'_>) -> Poll<T>,
    ) -> Result<Step<T>, NetError> {
        let socket = &mut self.0;
        let before = socket.get_ref().moved;
        let step = poll_fn(|cx| {
            let polled = poll(Pin::new(&mut *socket), cx);
            let moved = socket.get_ref().moved - before;
            match polled {
                Poll::Ready(done) => Poll::Ready(Step { done: Some(done), moved }),
                Poll::Pending if moved > 0 => Poll::Ready(Step { done: None, moved }),
                Poll::Pending => Poll::Pending,
            }
        });
        pace.wait(step, |step| step.moved as usize).await.map_err(|late| late.error(doing.into()))
    }
}

/// A part of an operation.
struct Step<T> {
    /// Its result, if that was the last part.
    done: Option<T>,
    /// Bytes that have moved.
    moved: u64,
}

/// Answers the request of a browser whose page is one of `origins`, or of another program, which names no page. Without a list every page is allowed.
async fn answer<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    origins: Option<&[String]>,
    config: WebSocketConfig,
) -> Result<WebSocketStream<S>, NetError> {
    let mut stranger = None;
    #[expect(clippy::result_large_err, reason = "the library asks for this type")]
    let check = |request: &Request, response: Response| match origins.zip(request.headers().get(ORIGIN)) {
        Some((known, origin)) if !known.iter().any(|known| known.as_bytes() == origin.as_bytes()) => {
            // The text is untrusted and goes to a terminal.
            let shown = &origin.as_bytes()[..origin.len().min(ORIGIN_BYTES_MAX)];
            stranger = Some(shown.escape_ascii().to_string());
            let mut refusal = ErrorResponse::new(None);
            *refusal.status_mut() = StatusCode::FORBIDDEN;
            Err(refusal)
        }
        _ => Ok(response),
    };
    let socket = accept_hdr_async_with_config(stream, check, Some(config)).await;
    socket.map_err(|error| match (stranger, origins) {
        (Some(got), Some(known)) => {
            let expected = if known.is_empty() { "none".into() } else { known.join(" or ") };
            NetError::Malformed { what: "the page of a browser (Origin)".into(), expected, got }
        }
        _ => explain(error, OPENING),
    })
}

fn config(bytes_max: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(BUFFER_BYTES)
        .write_buffer_size(BUFFER_BYTES)
        .max_message_size(Some(bytes_max))
        .max_frame_size(Some(bytes_max))
}

/// Interprets an error of the library.
fn explain(error: Error, doing: &str) -> NetError {
    match error {
        Error::ConnectionClosed
        | Error::AlreadyClosed
        | Error::Protocol(ProtocolError::ResetWithoutClosingHandshake | ProtocolError::HandshakeIncomplete) => {
            NetError::PeerClosed { doing: doing.into() }
        }
        Error::Io(source) => NetError::from_io(source, doing),
        Error::Capacity(CapacityError::MessageTooLong { size, max_size }) => {
            NetError::TooLarge { what: "message", limit: max_size, got: size }
        }
        other => NetError::Malformed {
            what: "WebSocket".into(),
            expected: "data according to RFC 6455".into(),
            got: other.to_string(),
        },
    }
}

/// A stream that counts the bytes moved through it.
struct Counted {
    stream: Box<dyn ByteStream>,
    moved: u64,
}

impl AsyncRead for Counted {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, room: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = room.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, room))?;
        self.moved += (room.filled().len() - before) as u64;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
        self.moved += wrote as u64;
        Poll::Ready(Ok(wrote))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
