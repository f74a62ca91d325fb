//! Whole messages between a visitor and a server, over a stream of bytes with lengths or a WebSocket.
//!
//! Unlike a [`Channel`](crate::Channel), they have no kinds, counters or hello: both ends know which messages to expect.

mod call;
mod entrance;
mod framed;
mod places;
mod visitors;

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::error::NetError;
#[cfg(feature = "websocket")]
use crate::websocket::WebSocket;
use framed::Framed;

pub use call::{Call, Carrier};
pub use entrance::Entrance;
pub use places::{Place, Places};
pub use visitors::{Visitor, Visitors};

/// The first bytes of a program other than a browser, before its messages: the first is far from ASCII and from TLS, the last is a
/// version.
const PREAMBLE: [u8; 4] = [0xC8, b'g', b'v', 1];

pub(crate) const SENDING: &str = "to send a message";
pub(crate) const RECEIVING: &str = "for a message";
pub(crate) const CLOSING: &str = "for the end of the connection";

/// The longest wait for the other end when closing a connection, and the most bytes discarded meanwhile.
pub(crate) const LINGER: Duration = Duration::from_secs(2);
pub(crate) const LINGER_BYTES_MAX: usize = 64 << 10;

/// A stream of bytes in both directions.
pub(crate) trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for S {}

/// A connection that carries whole messages.
///
/// A message of `n` bytes moves within two time-outs and `n` bytes at [`LEAST_BYTES_PER_SECOND`](crate::LEAST_BYTES_PER_SECOND), or is
/// an error.
pub struct Messages {
    way: Way,
    timeout: Duration,
    /// Set while a message is only partly sent.
    cut_off: bool,
}

enum Way {
    Framed(Framed),
    #[cfg(feature = "websocket")]
    WebSocket(Box<WebSocket>),
}

impl Messages {
    /// Sends a message, and returns when all of it is on its way.
    ///
    /// *Errors*: the peer is gone or does not accept it; after that, or after the future was dropped, nothing more can be sent
    /// ([`NetError::CutOff`]).
    pub async fn send(&mut self, message: &[u8]) -> Result<(), NetError> {
        if std::mem::replace(&mut self.cut_off, true) {
            return Err(NetError::CutOff);
        }
        match &mut self.way {
            Way::Framed(framed) => framed.send(message, self.timeout).await?,
            #[cfg(feature = "websocket")]
            Way::WebSocket(socket) => socket.send(message, self.timeout).await?,
        }
        self.cut_off = false;
        Ok(())
    }

    /// The next message, of at most `bytes_max` bytes. Dropping the future loses nothing: the next call continues.
    ///
    /// *Errors*: the peer is gone, silent or slow; [`NetError::TooLarge`]; malformed messages.
    pub async fn receive(&mut self, bytes_max: usize) -> Result<Vec<u8>, NetError> {
        match &mut self.way {
            Way::Framed(framed) => framed.receive(bytes_max, self.timeout).await,
            #[cfg(feature = "websocket")]
            Way::WebSocket(socket) => socket.receive(bytes_max, self.timeout).await,
        }
    }

    /// The time without a byte after which the peer counts as gone.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// Ends the connection. Waits briefly for the peer to end it too, so that the last message is not lost.
    ///
    /// *Errors*: the peer is gone and may not have received the last message.
    pub async fn close(self) -> Result<(), NetError> {
        let patience = LINGER.min(self.timeout);
        let closing = async {
            match self.way {
                Way::Framed(framed) => framed.close().await,
                #[cfg(feature = "websocket")]
                Way::WebSocket(socket) => socket.close().await,
            }
        };
        // A peer that does not end has still received everything.
        tokio::time::timeout(patience, closing).await.unwrap_or(Ok(()))
    }

    fn framed(stream: Box<dyn ByteStream>, timeout: Duration) -> Self {
        Messages { way: Way::Framed(Framed::new(stream)), timeout, cut_off: false }
    }

    #[cfg(feature = "websocket")]
    fn of_socket(socket: WebSocket, timeout: Duration) -> Self {
        Messages { way: Way::WebSocket(Box::new(socket)), timeout, cut_off: false }
    }
}
