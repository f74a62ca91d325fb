//! Turns a stream of bytes into a channel, with a simulated link and TLS if wanted.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::channel::{Channel, DEFAULT_TIMEOUT};
use crate::error::NetError;
use crate::link::SimulatedLink;
use crate::session_name::SessionName;
use crate::tls::{Meant, Side, Tls, asked_session, connection_secret, proven_identity};

/// The time for a new connection to prove its identity, unless the time-out is shorter.
pub(crate) const HANDSHAKE: Duration = Duration::from_secs(10);

/// The function that receives a line for each refused connection; after the first ten, one line every ten seconds.
pub type OnRefused = Arc<dyn Fn(&str) + Send + Sync>;

/// The function that gives advice on a refusal, if it has any; the advice follows the reason in brackets.
pub type Advice = fn(&NetError) -> Option<String>;

/// The options for connections.
#[derive(Clone)]
pub struct Options {
    /// The time to wait for the peer, which may start later.
    pub patience: Duration,
    /// The time that the channel waits without a byte moving.
    pub timeout: Duration,
    /// Identities and encryption; `None` for plain TCP.
    pub tls: Option<Tls>,
    /// The name of the session, the same for all its parties; a peer from another session, or from one without a name, is refused.
    pub session: Option<SessionName>,
    /// The digest of the job, as text, which the parties of a mesh send when they join it, so that a service recognises the request.
    pub job: Option<String>,
    /// One more parameter of that hello, by which a service recognises what the parties want.
    pub asks: Option<(&'static str, String)>,
    /// A link to simulate in the direction from us to the peer; the peer simulates the other.
    pub link: SimulatedLink,
    /// Receives refused connections.
    pub on_refused: Option<OnRefused>,
    /// Gives advice on refused connections.
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
            asks: None,
            link: SimulatedLink::default(),
            on_refused: None,
            advice: None,
        }
    }
}

impl Options {
    /// The time for a new connection to show that it is a peer.
    #[cfg(feature = "tcp")]
    pub(crate) fn longest_hearing(&self) -> Duration {
        match self.tls {
            Some(_) => HANDSHAKE.min(self.timeout),
            None => self.timeout,
        }
    }
}

/// The channel over an existing stream of bytes, to a peer that waits at its other end.
///
/// *Errors:* the peer does not prove its identity in time, or has another identity.
pub async fn connect_over<S>(stream: S, options: &Options) -> Result<Channel, NetError>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let meant = (Side::Connecting, Meant::of(options.session.as_ref()));
    over(tokio::io::split(stream), meant, options).await
}

/// The channel over a stream of bytes for a session.
pub(crate) async fn over<R, W>(
    (reader, writer): (R, W),
    (side, session): (Side, Meant),
    options: &Options,
) -> Result<Channel, NetError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
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

/// The channel over a byte stream, with TLS in between if wanted.
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
