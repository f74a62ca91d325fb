//! Opens a channel from an address.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::channel::Channel;
use crate::error::NetError;
use crate::hello::Hello;
use crate::message::Message;
#[cfg(feature = "websocket")]
use crate::over::HANDSHAKE;
use crate::over::{Options, over};
use crate::reception::{Reception, SharedLog};
use crate::tcp;
use crate::tls::{Meant, Side};
#[cfg(feature = "websocket")]
use crate::websocket::WebStream;

/// The pause before calling a peer again that closed the connection.
const AGAIN: Duration = Duration::from_millis(250);

/// The scheme of an address at which bytes go through WebSockets, so that pages can be peers.
const WEB: &str = "ws://";

#[cfg(feature = "websocket")]
const OPENING: &str = "for a WebSocket to open, and for a proof of who is in it";

/// The carrier of a channel's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Carrier {
    Tcp,
    /// A WebSocket, requested at this address.
    WebSocket(String),
}

impl Carrier {
    /// The carrier at an address, and its `HOST:PORT`.
    fn of(address: &str) -> Result<(Carrier, &str), NetError> {
        let Some(place) = address.strip_prefix(WEB) else { return Ok((Carrier::Tcp, address)) };
        if cfg!(not(feature = "websocket")) {
            let (doing, why) = (format!("cannot use {address}"), "this program was built without WebSockets");
            return Err(NetError::Io { doing, source: io::Error::new(io::ErrorKind::Unsupported, why) });
        }
        let place = place.split_once('/').map_or(place, |(place, _)| place);
        Ok((Carrier::WebSocket(address.into()), place))
    }
}

/// A socket that peers can connect to.
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    pub(crate) carrier: Carrier,
    /// The settings for all waits.
    pub(crate) log: SharedLog,
}

impl Listener {
    /// Listens on `HOST:PORT`; port 0 lets the system choose. On `ws://HOST:PORT` peers come through WebSockets, in which all is as it is over TCP; without TLS no
    /// page of a browser may, since any that a person opens could call.
    pub async fn bind(address: &str) -> Result<Self, NetError> {
        let (carrier, place) = Carrier::of(address)?;
        let socket = tcp::listen(place).await?;
        match socket.local_addr() {
            Ok(bound) => Ok(Listener { socket, address: bound, carrier, log: SharedLog::default() }),
            Err(source) => Err(NetError::Io { doing: format!("cannot listen on {address}"), source }),
        }
    }

    /// The address where it listens, with the port that the system chose.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next raw connection, however long it takes, and its origin.
    pub async fn accept_stream(&self) -> Result<(TcpStream, SocketAddr), NetError> {
        tcp::accept(&self.socket, &self.log).await
    }

    /// A channel to the first connection that proves to be a peer: with TLS by its identity, otherwise by its [`Hello`], which is received
    /// ahead.
    ///
    /// All other connections are refused and reported to `options.on_refused`; they neither end nor delay the wait. All are handled
    /// concurrently, at most 64 at once, each for at most 10 s or the time-out, whichever is shorter (without TLS, for the
    /// time-out: a peer may have to lay out its program before its hello). Connections made in time may use their full time.
    ///
    /// *Errors:* [`NetError::AcceptTimeout`] if no peer has connected in time; a socket that fails.
    pub async fn accept(&self, options: &Options) -> Result<Channel, NetError> {
        let mut reception = Reception::new(options.on_refused.clone(), options.advice, self.log.clone());
        let (mut deadline, mut open) = (Instant::now() + options.patience, true);
        while open || !reception.is_empty() {
            tokio::select! {
                stream = self.accept_stream(), if open => {
                    let (stream, from) = stream?;
                    reception.admit(from, heard((stream, &self.carrier), options));
                }
                next = reception.next(), if !reception.is_empty() => if let Some((_, channel)) = next {
                    return Ok(channel);
                },
                // Connections made in time may finish, but not take forever.
                () = sleep_until(deadline) => match open {
                    true => (open, deadline) = (false, deadline + options.longest_hearing()),
                    false => break,
                },
            }
        }
        reception.refuse_all(options.longest_hearing());
        let (address, after) = (self.address.to_string(), options.patience);
        Err(NetError::AcceptTimeout { address, after, refused: reception.refused() })
    }
}

/// Receives from a new connection until it is known to be a peer.
async fn heard(carried: (TcpStream, &Carrier), options: &Options) -> Result<Channel, NetError> {
    let channel = channel(carried, (Side::Accepting, Meant::of(options.session.as_ref())), options).await?;
    match options.tls {
        Some(_) => Ok(channel),
        None => Ok(greeted(channel, options.timeout).await?.0),
    }
}

/// The channel to a caller whose hello was received ahead.
pub(crate) async fn greeted(mut channel: Channel, patience: Duration) -> Result<(Channel, Hello), NetError> {
    let late = NetError::Timeout { doing: format!("for {}", Hello::NAME), after: patience };
    match timeout(patience, Hello::ahead(&mut channel)).await.unwrap_or(Err(late)) {
        Ok(hello) => Ok((channel, hello)),
        Err(error) => {
            // Tell the caller what it has called.
            channel.abort().await;
            Err(error)
        }
    }
}

/// A channel to the peer that listens, or soon will, on `HOST:PORT` or `ws://HOST:PORT`. With TLS, a peer that closes the connection before its welcome
/// is called again until patience runs out.
pub async fn connect(address: &str, options: &Options) -> Result<Channel, NetError> {
    let mut calls = Calls::until(Instant::now() + options.patience);
    let mut patience = options.patience;
    let (carrier, place) = Carrier::of(address)?;
    loop {
        let called = async {
            let stream = tcp::connect(place, patience).await?;
            channel((stream, &carrier), (Side::Connecting, Meant::of(options.session.as_ref())), options).await
        };
        match called.await {
            Ok(channel) => return Ok(channel),
            Err(error) => patience = calls.again(error).await?,
        }
    }
}

/// Repeated calls of a peer that may close the connection because other callers evicted this one.
pub(crate) struct Calls {
    deadline: Instant,
    /// The error of the last call that was answered.
    closed: Option<NetError>,
}

impl Calls {
    pub(crate) fn until(deadline: Instant) -> Self {
        Calls { deadline, closed: None }
    }

    /// Waits until the peer may be called again, and returns how long that may take.
    ///
    /// *Errors:* the call's, unless the connection was closed and there is time left.
    pub(crate) async fn again(&mut self, error: NetError) -> Result<Duration, NetError> {
        match error {
            NetError::PeerClosed { .. } if Instant::now() + AGAIN < self.deadline => self.closed = Some(error),
            NetError::CannotConnect { .. } => return Err(self.closed.take().unwrap_or(error)),
            error => return Err(error),
        }
        sleep(AGAIN).await;
        Ok(self.deadline.saturating_duration_since(Instant::now()))
    }
}

/// The channel over a connection for a session.
pub(crate) async fn channel(
    (stream, carrier): (TcpStream, &Carrier),
    meant: (Side, Meant),
    options: &Options,
) -> Result<Channel, NetError> {
    match carrier {
        Carrier::Tcp => over(stream.into_split(), meant, options).await,
        #[cfg(feature = "websocket")]
        Carrier::WebSocket(url) => {
            let patience = match meant.0 {
                Side::Accepting => HANDSHAKE.min(options.timeout),
                Side::Connecting => options.timeout,
            };
            let opening = async {
                let stream = match meant.0 {
                    // Without a proof inside, it might be any page in a browser on this machine.
                    Side::Accepting => WebStream::accept(stream, options.tls.is_none().then_some(&[])).await?,
                    Side::Connecting => WebStream::call(stream, url).await?,
                };
                over(tokio::io::split(stream), meant, options).await
            };
            match timeout(patience, opening).await {
                Ok(opened) => opened,
                Err(_) => Err(NetError::Timeout { doing: OPENING.into(), after: patience }),
            }
        }
        #[cfg(not(feature = "websocket"))]
        Carrier::WebSocket(url) => unreachable!("{url} is no address without the feature"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nobody_coming_ends_in_time() {
        let listener = Listener::bind("127.0.0.1:0").await.expect("a free port");
        let options = Options { patience: Duration::from_millis(50), ..Options::default() };
        let error = listener.accept(&options).await.err().expect("nobody comes");
        assert_eq!(error.to_string(), format!("nobody connected to {} within 0.05 s", listener.address()));
    }

    /// A caller that says nothing and leaves `hold` later than the middle of the wait: the wait ends, and the error counts it.
    async fn silent_past_the_end(timeout: Duration, hold: Duration) {
        const PATIENCE: Duration = Duration::from_millis(200);
        let listener = Listener::bind("127.0.0.1:0").await.expect("a free port");
        let options = Options { patience: PATIENCE, timeout, ..Options::default() };
        let call = async {
            sleep(PATIENCE / 2).await;
            let _silent = TcpStream::connect(listener.address()).await.expect("listens");
            sleep(hold).await;
        };
        let accept = tokio::time::timeout(Duration::from_secs(30), listener.accept(&options));
        let (result, ()) = tokio::join!(accept, call);
        let error = result.expect("the wait ends").err().expect("nobody comes");
        let NetError::AcceptTimeout { refused, .. } = error else { panic!("{error}") };
        assert_eq!(refused.len(), 1);
    }

    #[tokio::test]
    async fn a_silent_caller_at_the_end_does_not_keep_the_wait_open() {
        silent_past_the_end(Duration::from_millis(300), Duration::from_secs(3)).await;
    }

    #[tokio::test]
    async fn a_caller_that_leaves_after_the_end_does_not_keep_the_wait_open() {
        silent_past_the_end(Duration::from_secs(60), Duration::from_millis(300)).await;
    }
}
