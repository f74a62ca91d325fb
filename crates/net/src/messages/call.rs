//! Connecting to a server, for programs other than browsers.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout_at};

use super::{ByteStream, Messages, PREAMBLE};
use crate::channel::DEFAULT_TIMEOUT;
use crate::error::NetError;
use crate::fingerprint::Fingerprint;
use crate::tcp;
use crate::tls;
#[cfg(feature = "websocket")]
use crate::websocket::WebSocket;

/// The wire format of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A stream of bytes with lengths.
    Stream,
    /// A WebSocket, as in browsers. Received messages have at most this number of bytes.
    #[cfg(feature = "websocket")]
    WebSocket {
        /// The most bytes of a received message.
        message_bytes_max: usize,
    },
}

/// The settings for calling a server.
#[derive(Clone, Debug)]
pub struct Call {
    /// The server's identity, authenticated by TLS; `None` without TLS.
    pub server: Option<Fingerprint>,
    /// The wire format of messages.
    pub carrier: Carrier,
    /// The time to wait for the server to listen and to prove its identity.
    pub patience: Duration,
    /// The time without a byte after which the server counts as gone.
    pub timeout: Duration,
}

impl Call {
    /// A call of the server with this identity: a minute of patience, messages in a stream with lengths.
    pub fn new(server: Fingerprint) -> Self {
        let patience = Duration::from_secs(60);
        Call { server: Some(server), carrier: Carrier::Stream, patience, timeout: DEFAULT_TIMEOUT }
    }

    /// Connects to the server on `HOST:PORT`.
    ///
    /// *Errors*: nobody listens there; [`NetError::UnknownIdentity`] for another server.
    pub async fn connect(&self, address: &str) -> Result<Messages, NetError> {
        let deadline = Instant::now() + self.patience;
        let stream = tcp::connect(address, self.patience).await?;
        self.over(stream, address, deadline.saturating_duration_since(Instant::now())).await
    }

    /// Connects over a stream to the server, for instance through a proxy; `host` is the host name in a WebSocket's request.
    pub async fn over<S>(&self, stream: S, host: &str, patience: Duration) -> Result<Messages, NetError>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let deadline = Instant::now() + patience;
        let greeting = async {
            let stream: Box<dyn ByteStream> = match self.server {
                None => Box::new(stream),
                Some(server) => Box::new(tls::call(stream, server, patience).await?),
            };
            self.greet(stream, host).await
        };
        match timeout_at(deadline, greeting).await {
            Ok(greeted) => greeted,
            Err(_) => Err(NetError::Timeout { doing: format!("for {host} to let us in"), after: patience }),
        }
    }

    async fn greet(&self, mut stream: Box<dyn ByteStream>, host: &str) -> Result<Messages, NetError> {
        match self.carrier {
            Carrier::Stream => {
                let sent = stream.write_all(&PREAMBLE).await;
                sent.map_err(|source| NetError::from_io(source, format!("to greet {host}")))?;
                Ok(Messages::framed(stream, self.timeout))
            }
            #[cfg(feature = "websocket")]
            Carrier::WebSocket { message_bytes_max } => {
                let socket = WebSocket::call(stream, host, message_bytes_max).await?;
                Ok(Messages::of_socket(socket, self.timeout))
            }
        }
    }
}
