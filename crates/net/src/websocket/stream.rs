//! A stream of bytes over a WebSocket, in binary messages, for peers that are pages. Message boundaries have no meaning.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::{Sink, Stream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Bytes, Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use super::{OPENING, answer, explain};
use crate::error::NetError;

/// The most bytes of a sent message.
const SENT_BYTES_MAX: usize = 64 << 10;

/// The most bytes of a received message. Messages from pages are shorter: one TLS record each.
const TAKEN_BYTES_MAX: usize = 256 << 10;

/// The most bytes that wait to be sent, including answers to pings. A peer that does not read them gets no more.
const WAITING_BYTES_MAX: usize = 512 << 10;

/// The number of messages without bytes after which other tasks get a turn.
const SPARE_AT_ONCE: usize = 32;

/// The most messages without bytes in a row.
const SPARE_MAX: usize = 10_000;

/// A WebSocket as a stream of bytes.
pub(crate) struct WebStream<S> {
    socket: WebSocketStream<S>,
    /// The number of messages without bytes since the last with some.
    spare: usize,
    /// The rest of the last received message.
    come: Bytes,
}

impl<S: AsyncRead + AsyncWrite + Unpin> WebStream<S> {
    /// Answers the request of another program, or of a page if it is one of `origins`. Without a list every page may connect: identities are proved inside.
    pub(crate) async fn accept(stream: S, origins: Option<&[String]>) -> Result<Self, NetError> {
        answer(stream, origins, config()).await.map(WebStream::new)
    }

    /// Requests a WebSocket at `url`.
    pub(crate) async fn call(stream: S, url: &str) -> Result<Self, NetError> {
        let called = client_async_with_config(url, stream, Some(config())).await;
        called.map(|(socket, _)| WebStream::new(socket)).map_err(|error| explain(error, OPENING))
    }

    fn new(socket: WebSocketStream<S>) -> Self {
        WebStream { socket, spare: 0, come: Bytes::new() }
    }
}

fn config() -> WebSocketConfig {
    let taken =
        WebSocketConfig::default().max_message_size(Some(TAKEN_BYTES_MAX)).max_frame_size(Some(TAKEN_BYTES_MAX));
    taken.max_write_buffer_size(WAITING_BYTES_MAX)
}

/// The error as an I/O error, as for other streams.
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
                Some(Ok(Message::Binary(message))) if !message.is_empty() => (self.spare, self.come) = (0, message),
                Some(Ok(Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {
                    self.spare += 1;
                    if self.spare > SPARE_MAX {
                        let wrong = format!("{SPARE_MAX} messages in a row without bytes");
                        return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, wrong)));
                    }
                    if self.spare.is_multiple_of(SPARE_AT_ONCE) {
                        cx.waker().wake_by_ref();
                        return Poll::Pending;
                    }
                }
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
        // Start sending at once, as over TCP: a final TLS alert is never flushed.
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

#[cfg(test)]
mod tests {
    use futures_util::SinkExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// Both ends, the first being a WebSocket that can send any message.
    async fn pair() -> (WebSocketStream<tokio::io::DuplexStream>, WebStream<tokio::io::DuplexStream>) {
        let (here, there) = tokio::io::duplex(1 << 10);
        let calls = client_async_with_config("ws://localhost/", here, None);
        let (called, accepted) = tokio::join!(calls, WebStream::accept(there, None));
        (called.expect("opened").0, accepted.expect("opened"))
    }

    #[tokio::test]
    async fn a_peer_that_sends_only_pings_and_empty_messages_is_cut_off() {
        for message in [Message::Ping(Bytes::new()), Message::binary(Bytes::new())] {
            let (mut flood, mut stream) = pair().await;
            let flooding = tokio::spawn(async move {
                // Nobody reads the answers.
                while flood.feed(message.clone()).await.is_ok() && flood.flush().await.is_ok() {}
            });
            let mut byte = [0];
            let error = tokio::time::timeout(std::time::Duration::from_secs(60), stream.read(&mut byte)).await;
            let error = error.expect("it ends").expect_err("nothing came");
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
            drop(stream);
            let _ = flooding.await;
        }
    }

    #[tokio::test]
    async fn pings_between_bytes_change_nothing() {
        let (mut other, mut stream) = pair().await;
        let sending = tokio::spawn(async move {
            for byte in 0..3u8 {
                for _ in 0..SPARE_AT_ONCE + 1 {
                    other.send(Message::Ping(Bytes::new())).await.expect("sent");
                }
                other.send(Message::binary(vec![byte])).await.expect("sent");
            }
            other
        });
        let mut bytes = [0; 3];
        let read = async {
            stream.read_exact(&mut bytes).await.expect("they come");
            stream.flush().await
        };
        assert!(read.await.is_ok());
        assert_eq!(bytes, [0, 1, 2]);
        drop(sending.await);
    }
}
