//! A stream of bytes over a WebSocket, in binary messages, for peers that are pages. Messages have no meaning: they fall as bytes are sent.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::{Sink, Stream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Bytes, Error, Message};
use tokio_tungstenite::{WebSocketStream, accept_async_with_config, client_async_with_config};

use super::{OPENING, explain};
use crate::error::NetError;

/// The most bytes of a message that is sent.
const SENT_BYTES_MAX: usize = 64 << 10;

/// The most bytes of a message that is taken. Those of pages are shorter, a record of TLS each.
const TAKEN_BYTES_MAX: usize = 256 << 10;

/// A WebSocket as a stream of bytes.
pub(crate) struct WebStream<S> {
    socket: WebSocketStream<S>,
    /// The rest of the last message that has come.
    come: Bytes,
}

impl<S: AsyncRead + AsyncWrite + Unpin> WebStream<S> {
    /// Answers the request of a page, or of another program. Who it is, is proved inside.
    pub(crate) async fn accept(stream: S) -> Result<Self, NetError> {
        opened(accept_async_with_config(stream, Some(config())).await)
    }

    /// Asks for a WebSocket at `url`.
    pub(crate) async fn call(stream: S, url: &str) -> Result<Self, NetError> {
        let called = client_async_with_config(url, stream, Some(config())).await;
        opened(called.map(|(socket, _)| socket))
    }
}

fn opened<S>(opening: Result<WebSocketStream<S>, Error>) -> Result<WebStream<S>, NetError> {
    match opening {
        Ok(socket) => Ok(WebStream { socket, come: Bytes::new() }),
        Err(error) => Err(explain(error, OPENING)),
    }
}

fn config() -> WebSocketConfig {
    WebSocketConfig::default().max_message_size(Some(TAKEN_BYTES_MAX)).max_frame_size(Some(TAKEN_BYTES_MAX))
}

/// The error as those of other streams are.
fn failed(error: Error) -> io::Error {
    match error {
        Error::Io(error) => error,
        Error::ConnectionClosed
        | Error::AlreadyClosed
        | Error::Protocol(ProtocolError::ResetWithoutClosingHandshake | ProtocolError::SendAfterClosing) => {
            io::ErrorKind::ConnectionReset.into()
        }
        other => io::Error::new(io::ErrorKind::InvalidData, other),
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for WebStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, room: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        while self.come.is_empty() {
            match ready!(Pin::new(&mut self.socket).poll_next(cx)) {
                Some(Ok(Message::Binary(message))) => self.come = message,
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Close(_))) | None => return Poll::Ready(Ok(())),
                Some(Ok(Message::Text(_))) => {
                    let wrong = "expected a binary message, got a text message";
                    return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, wrong)));
                }
                Some(Err(error)) => return Poll::Ready(Err(failed(error))),
            }
        }
        let more = room.remaining().min(self.come.len());
        room.put_slice(&self.come.split_to(more));
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for WebStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut socket = Pin::new(&mut self.socket);
        ready!(socket.as_mut().poll_ready(cx)).map_err(failed)?;
        let some = &bytes[..bytes.len().min(SENT_BYTES_MAX)];
        socket.as_mut().start_send(Message::binary(some.to_vec())).map_err(failed)?;
        // It begins to leave at once, as over TCP: an alert of TLS is the last that is written, and nobody flushes it.
        if let Poll::Ready(Err(error)) = socket.poll_flush(cx) {
            return Poll::Ready(Err(failed(error)));
        }
        Poll::Ready(Ok(some.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx).map_err(failed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_close(cx).map_err(failed)
    }
}
