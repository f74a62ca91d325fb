//! TLS 1.3 in which each side proves an identity that the other has pinned.
//!
//! Only public keys are trusted: names, dates and issuers in certificates do not matter.

mod pinned;
#[cfg(feature = "tcp")]
mod visitors;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::client::Resumption;
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ServerConfig, version};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};

use crate::clock::timeout;
use crate::error::NetError;
use crate::fingerprint::Fingerprint;
use crate::identity::{Identity, fingerprint_of};
use crate::session_name::SessionName;
use crate::watch::ConnectionSecret;
use pinned::Pinned;

#[cfg(feature = "tcp")]
pub(crate) use visitors::call;
#[cfg(feature = "tcp")]
pub use visitors::{CertificateError, ServerTls, WebCertificate};

const DOING: &str = "for the TLS handshake";

/// The byte that the accepting side sends once it has accepted the other's identity. In TLS 1.3 the connecting side would
/// otherwise learn of a refusal only with the first data.
const WELCOME: u8 = 0xA5;

/// The label under which a connection's secret is exported (RFC 8446, section 7.5).
const EXPORTED: &[u8] = b"EXPORTER-garblet directions of a channel";

/// Our identity, and the accepted identities of the peer.
#[derive(Clone)]
pub struct Tls {
    identity: Arc<Identity>,
    trusted: Vec<(String, Fingerprint)>,
}

/// A placeholder for sessions without a name, never sent as server name.
const NAMELESS: &str = "garblet.invalid";

/// The session that a connection is meant for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meant {
    /// A session without a name.
    Nameless,
    /// The session with this name.
    One(SessionName),
    /// The session that the connecting side names.
    #[cfg(feature = "tcp")]
    Any,
}

impl Meant {
    pub(crate) fn of(session: Option<&SessionName>) -> Self {
        session.cloned().map_or(Meant::Nameless, Meant::One)
    }

    /// Checks that the other side asks for the session's server name.
    fn check(&self, asked: Option<&str>) -> Result<(), NetError> {
        let expected = match self {
            #[cfg(feature = "tcp")]
            Meant::Any => return Ok(()),
            Meant::Nameless => None,
            Meant::One(session) => Some(session.as_str()),
        };
        let name = |name: Option<&str>| name.map_or("one without a name".into(), |name| format!("`{name}`"));
        match asked == expected {
            true => Ok(()),
            false => Err(NetError::OtherSession { expected: name(expected), got: name(asked) }),
        }
    }
}

/// Our side of the connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Connecting,
    Accepting,
}

impl Tls {
    /// We have `identity`; the peer must be one of `trusted`, whose names appear in messages.
    pub fn new(identity: Identity, trusted: impl IntoIterator<Item = (String, Fingerprint)>) -> Self {
        Tls { identity: Arc::new(identity), trusted: trusted.into_iter().collect() }
    }

    /// The fingerprint of our identity.
    pub fn fingerprint(&self) -> Fingerprint {
        self.identity.fingerprint()
    }

    /// The same identity with other trusted peers.
    #[cfg(feature = "tcp")]
    pub(crate) fn trusting(&self, trusted: impl IntoIterator<Item = (String, Fingerprint)>) -> Self {
        Tls { identity: self.identity.clone(), trusted: trusted.into_iter().collect() }
    }

    /// The connection, once both sides have accepted each other's identities, and the session.
    pub(crate) async fn secure<S>(
        &self,
        stream: S,
        (side, session): (Side, &Meant),
        patience: Duration,
    ) -> Result<TlsStream<S>, NetError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let verifier = Arc::new(Pinned::new(&self.trusted));
        let explain = |source| verifier.explain(source, side, Some(self.identity.fingerprint()));
        let handshake = async {
            match side {
                Side::Connecting => {
                    connect(self.client(&verifier, session).map_err(unset)?, stream, session).await.map_err(explain)
                }
                Side::Accepting => {
                    let accepted = TlsAcceptor::from(Arc::new(self.server(&verifier).map_err(unset)?)).accept(stream);
                    let mut stream = accepted.await.map_err(explain)?;
                    session.check(stream.get_ref().1.server_name())?;
                    welcome(&mut stream).await.map_err(explain)?;
                    Ok(stream.into())
                }
            }
        };
        match timeout(patience, handshake).await {
            Ok(result) => result,
            Err(_) => Err(NetError::Timeout { doing: DOING.into(), after: patience }),
        }
    }

    fn client(&self, verifier: &Arc<Pinned>, session: &Meant) -> Result<ClientConfig, rustls::Error> {
        let mut config = ClientConfig::builder_with_provider(verifier.provider.clone())
            .with_protocol_versions(&[&version::TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(verifier.clone())
            .with_client_auth_cert(vec![self.identity.certificate()], self.key())?;
        config.enable_sni = matches!(session, Meant::One(_));
        config.resumption = Resumption::disabled();
        Ok(config)
    }

    fn server(&self, verifier: &Arc<Pinned>) -> Result<ServerConfig, rustls::Error> {
        let mut config = ServerConfig::builder_with_provider(verifier.provider.clone())
            .with_protocol_versions(&[&version::TLS13])?
            .with_client_cert_verifier(verifier.clone())
            .with_single_cert(vec![self.identity.certificate()], self.key())?;
        config.send_tls13_tickets = 0;
        Ok(config)
    }

    fn key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::Pkcs8(self.identity.pkcs8().clone_key())
    }
}

/// The error for TLS that cannot be set up.
fn unset(source: rustls::Error) -> NetError {
    NetError::Io { doing: "cannot set up TLS".into(), source: io::Error::other(source) }
}

/// The other side's authenticated identity.
pub(crate) fn proven_identity<S>(stream: &TlsStream<S>) -> Option<Fingerprint> {
    let certificate = stream.get_ref().1.peer_certificates()?.first()?;
    fingerprint_of(certificate).ok()
}

/// The secret of a secured connection, shared by its ends and unique to the connection.
pub(crate) fn connection_secret<S>(stream: &TlsStream<S>) -> Result<ConnectionSecret, NetError> {
    let mut secret = ConnectionSecret::default();
    let exported = match stream {
        TlsStream::Client(stream) => stream.get_ref().1.export_keying_material(&mut secret[..], EXPORTED, None),
        TlsStream::Server(stream) => stream.get_ref().1.export_keying_material(&mut secret[..], EXPORTED, None),
    };
    exported.map(|_| ()).map_err(unset)?;
    Ok(secret)
}

/// The session requested on this connection.
pub(crate) fn asked_session<S>(stream: &TlsStream<S>) -> Option<SessionName> {
    match stream {
        TlsStream::Server(stream) => stream.get_ref().1.server_name()?.parse().ok(),
        TlsStream::Client(_) => None,
    }
}

async fn connect<S: AsyncRead + AsyncWrite + Unpin>(
    config: ClientConfig,
    stream: S,
    session: &Meant,
) -> io::Result<TlsStream<S>> {
    let name = match session {
        Meant::One(session) => session.to_string(),
        _ => NAMELESS.into(),
    };
    let name = ServerName::try_from(name).map_err(io::Error::other)?;
    let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
    if stream.read_u8().await? != WELCOME {
        return Err(io::Error::other(rustls::Error::General("the peer did not send its welcome".into())));
    }
    Ok(stream.into())
}

async fn welcome(stream: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
    stream.write_u8(WELCOME).await?;
    stream.flush().await
}
