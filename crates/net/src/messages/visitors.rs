//! Visitors of an entrance, one after another, each with its first message.

use std::net::SocketAddr;

use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{Entrance, Messages};
use crate::connect::Listener;
use crate::error::NetError;
use crate::over::OnRefused;
use crate::reception::Reception;

/// An admitted visitor that has sent a message.
pub struct Visitor {
    /// Its address.
    pub from: SocketAddr,
    /// The connection, for all later messages.
    pub messages: Messages,
    /// Its first message.
    pub said: Vec<u8>,
}

/// A socket that accepts visitors.
pub struct Visitors {
    listener: Listener,
    entrance: Entrance,
    reception: Reception<'static, Visitor>,
}

impl Visitors {
    /// Listens on `HOST:PORT`; port 0 lets the system choose. `on_refused` receives a line for each refused connection, at a limited
    /// rate.
    pub async fn bind(address: &str, entrance: Entrance, on_refused: Option<OnRefused>) -> Result<Self, NetError> {
        let listener = Listener::bind(address).await?;
        let reception = Reception::new(on_refused, None, listener.log.clone());
        Ok(Visitors { listener, entrance, reception })
    }

    /// The address where it listens, with the port that the system chose.
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// The next admitted visitor that has sent its first message, however long that takes.
    ///
    /// Connections are handled concurrently, at most 64 at once; one more evicts the oldest from the network address with the
    /// most. Each has 10 s or the time-out, whichever is shorter, to be admitted, and then the time-out for its whole
    /// message. So places hold at most 64 messages of [`Entrance::message_bytes_max`].
    ///
    /// Dropping the future loses no visitor. Visitors only progress while this is awaited, so call it again soon.
    ///
    /// *Errors*: the socket fails.
    pub async fn next(&mut self) -> Result<Visitor, NetError> {
        loop {
            tokio::select! {
                stream = self.listener.accept_stream() => {
                    let (stream, from) = stream?;
                    self.reception.admit(from, hear(self.entrance.clone(), stream, from));
                }
                heard = self.reception.next(), if !self.reception.is_empty() => if let Some((_, visitor)) = heard {
                    return Ok(visitor);
                },
            }
        }
    }
}

/// Receives the first message of a new connection.
async fn hear(entrance: Entrance, stream: TcpStream, from: SocketAddr) -> Result<Visitor, NetError> {
    let mut messages = entrance.admit(stream).await?;
    let after = entrance.timeout;
    // The message's own pace would let a large one take too long.
    match timeout(after, messages.receive(entrance.message_bytes_max)).await {
        Ok(said) => Ok(Visitor { from, said: said?, messages }),
        Err(_) => Err(NetError::Timeout { doing: "for all of a visitor's first message".into(), after }),
    }
}
