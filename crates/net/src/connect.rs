//! The way from an address to a channel: TCP, with TLS and a simulated link as wanted.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::channel::{Channel, DEFAULT_TIMEOUT};
use crate::error::NetError;
use crate::hello::Hello;
use crate::link::SimulatedLink;
use crate::message::Message;
use crate::reception::{Advice, HANDSHAKE, OnRefused, Reception, SharedLog};
use crate::session_name::SessionName;
use crate::tcp;
use crate::tls::{Meant, Side, Tls, asked_session, connection_secret, proven_identity};

/// The pause before a peer is called again that has closed the connection.
const AGAIN: Duration = Duration::from_millis(250);

/// The way in which connections are made.
#[derive(Clone)]
pub struct Options {
    /// The time to wait for the peer to come: it may be started later than we.
    pub patience: Duration,
    /// The time that the channel waits without a byte moving.
    pub timeout: Duration,
    /// Identities and encryption; none is plain TCP.
    pub tls: Option<Tls>,
    /// The name of the session, which all its parties give alike; a peer of another session, or of one without a name, is refused.
    pub session: Option<SessionName>,
    /// The digest of the job, as text, which the parties of a mesh name where they join it: a service so knows what is asked of it.
    pub job: Option<String>,
    /// A link to simulate in the direction from us to the peer; the peer simulates the other.
    pub link: SimulatedLink,
    /// Hears of those who connect and are no peer.
    pub on_refused: Option<OnRefused>,
    /// Says what can be done about those.
    pub advice: Option<Advice>,
}

impl Default for Options {
    /// Plain TCP on the bare network, a minute of patience.
    fn default() -> Self {
        Options {
            patience: Duration::from_secs(60),
            timeout: DEFAULT_TIMEOUT,
            tls: None,
            session: None,
            job: None,
            link: SimulatedLink::default(),
            on_refused: None,
            advice: None,
        }
    }
}

impl Options {
    /// The time that somebody who has connected may take to show that it is a peer.
    fn longest_hearing(&self) -> Duration {
        match self.tls {
            Some(_) => HANDSHAKE.min(self.timeout),
            None => self.timeout,
        }
    }
}

/// A socket that peers can connect to.
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    /// Of all waits here.
    pub(crate) log: SharedLog,
}

impl Listener {
    /// Listens on `HOST:PORT`; port 0 lets the system choose.
    pub async fn bind(address: &str) -> Result<Self, NetError> {
        let socket = tcp::listen(address).await?;
        match socket.local_addr() {
            Ok(bound) => Ok(Listener { socket, address: bound, log: SharedLog::default() }),
            Err(source) => Err(NetError::Io { doing: format!("cannot listen on {address}"), source }),
        }
    }

    /// The address where it listens, with the port that the system chose.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next connection, as it is, however long it takes to come, and where it comes from.
    pub async fn accept_stream(&self) -> Result<(TcpStream, SocketAddr), NetError> {
        tcp::accept(&self.socket).await
    }

    /// A channel to the first peer that shows that it is one: with TLS by its identity, otherwise by its [`Hello`], which is heard
    /// ahead.
    ///
    /// Whoever else connects is refused, told to `options.on_refused`, and neither ends the wait nor holds it up: all are
    /// heard side by side, at most 64 at once, each for at most 10 s or the time-out, whichever is shorter (without TLS, for
    /// the time-out: a peer may have to lay out its program before it greets). Who came in time is heard to its end.
    ///
    /// *Errors:* [`NetError::AcceptTimeout`] if no peer has connected in time; a socket that fails.
    pub async fn accept(&self, options: &Options) -> Result<Channel, NetError> {
        let mut reception = Reception::new(options.on_refused.clone(), options.advice, self.log.clone());
        let (mut deadline, mut open) = (Instant::now() + options.patience, true);
        while open || !reception.is_empty() {
            tokio::select! {
                stream = self.accept_stream(), if open => {
                    let (stream, from) = stream?;
                    reception.admit(from, heard(stream, options));
                }
                next = reception.next(), if !reception.is_empty() => if let Some((_, channel)) = next {
                    return Ok(channel);
                },
                // Who has come in time is heard, but not for ever.
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

/// Hears somebody who has connected until it is plain that it is a peer.
async fn heard(stream: TcpStream, options: &Options) -> Result<Channel, NetError> {
    let channel = channel(stream, (Side::Accepting, Meant::of(options.session.as_ref())), options).await?;
    match options.tls {
        Some(_) => Ok(channel),
        None => Ok(greeted(channel, options.timeout).await?.0),
    }
}

/// The channel to somebody who has said hello, which is heard ahead.
pub(crate) async fn greeted(mut channel: Channel, patience: Duration) -> Result<(Channel, Hello), NetError> {
    let late = NetError::Timeout { doing: format!("for {}", Hello::NAME), after: patience };
    match timeout(patience, Hello::ahead(&mut channel)).await.unwrap_or(Err(late)) {
        Ok(hello) => Ok((channel, hello)),
        Err(error) => {
            // So that it knows what it has called.
            channel.abort().await;
            Err(error)
        }
    }
}

/// A channel to the peer that listens, or will soon, on `HOST:PORT`. With TLS, a peer that closes the connection before it has said
/// welcome is called again as long as there is patience.
pub async fn connect(address: &str, options: &Options) -> Result<Channel, NetError> {
    let mut calls = Calls::until(Instant::now() + options.patience);
    let mut patience = options.patience;
    loop {
        let called = async {
            let stream = tcp::connect(address, patience).await?;
            channel(stream, (Side::Connecting, Meant::of(options.session.as_ref())), options).await
        };
        match called.await {
            Ok(channel) => return Ok(channel),
            Err(error) => patience = calls.again(error).await?,
        }
    }
}

/// Calls of a peer that may close the connection because others have put this party out.
pub(crate) struct Calls {
    deadline: Instant,
    /// The error of the last call that came through to somebody.
    closed: Option<NetError>,
}

impl Calls {
    pub(crate) fn until(deadline: Instant) -> Self {
        Calls { deadline, closed: None }
    }

    /// Waits until the peer may be called again, and returns how long that may take.
    ///
    /// *Errors:* the call's if it was no closed connection, or there is no time left.
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

/// The channel over a connection that is meant for a session.
pub(crate) async fn channel(
    stream: TcpStream,
    (side, session): (Side, Meant),
    options: &Options,
) -> Result<Channel, NetError> {
    let (reader, writer) = stream.into_split();
    let mut channel = if options.link.is_free() {
        layered(reader, writer, (side, &session), options).await?
    } else {
        layered(reader, options.link.wrap(writer), (side, &session), options).await?
    };
    if let Meant::One(session) = session {
        channel.session = Some(session);
    }
    channel.set_timeout(options.timeout);
    Ok(channel)
}

/// The channel over a byte stream, with TLS between the two if it is wanted.
async fn layered<R, W>(
    reader: R,
    writer: W,
    (side, session): (Side, &Meant),
    options: &Options,
) -> Result<Channel, NetError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    match &options.tls {
        None => Ok(Channel::new(reader, writer)),
        Some(tls) => {
            let patience = match side {
                Side::Accepting => HANDSHAKE.min(options.timeout),
                Side::Connecting => options.timeout,
            };
            let stream = tls.secure(tokio::io::join(reader, writer), (side, session), patience).await?;
            let (peer, asked, secret) = (proven_identity(&stream), asked_session(&stream), connection_secret(&stream)?);
            let (reader, writer) = tokio::io::split(stream);
            let mut channel = Channel::new(reader, writer);
            (channel.peer, channel.session, channel.secret) = (peer, asked, Some(secret));
            Ok(channel)
        }
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
