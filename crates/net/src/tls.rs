//! TLS 1.3 in which both sides prove identities that the other has pinned.
//!
//! Trust is in public keys alone: names, dates and issuers in certificates do not matter.

mod pinned;
mod visitors;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::client::Resumption;
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ServerConfig, version};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};

use crate::error::NetError;
use crate::fingerprint::Fingerprint;
use crate::identity::{Identity, fingerprint_of};
use pinned::Pinned;

pub(crate) use visitors::call;
pub use visitors::{CertificateError, ServerTls, WebCertificate};

const DOING: &str = "for the TLS handshake";

/// The byte that the accepting side sends once it has accepted the other's identity. In TLS 1.3 the connecting side would
/// learn of a refusal only with the first data.
const WELCOME: u8 = 0xA5;

/// Our identity, and the identities that the peer may have.
#[derive(Clone)]
pub struct Tls {
    identity: Arc<Identity>,
    trusted: Vec<(String, Fingerprint)>,
}

/// The side of the connection that we are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Connecting,
    Accepting,
}

impl Tls {
    /// We are `identity`; the peer has to be one of `trusted`, which have names for messages.
    pub fn new(identity: Identity, trusted: impl IntoIterator<Item = (String, Fingerprint)>) -> Self {
        Tls { identity: Arc::new(identity), trusted: trusted.into_iter().collect() }
    }

    /// The same identity, with others to trust.
    pub(crate) fn trusting(&self, trusted: impl IntoIterator<Item = (String, Fingerprint)>) -> Self {
        Tls { identity: self.identity.clone(), trusted: trusted.into_iter().collect() }
    }

    /// The connection, once both sides have accepted each other's identities.
    pub(crate) async fn secure<S>(&self, stream: S, side: Side, patience: Duration) -> Result<TlsStream<S>, NetError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let verifier = Arc::new(Pinned::new(&self.trusted));
        let handshake = async {
            match side {
                Side::Connecting => connect(self.client(&verifier).map_err(unset)?, stream).await,
                Side::Accepting => accept(self.server(&verifier).map_err(unset)?, stream).await,
            }
            .map_err(|source| verifier.explain(source, side, Some(self.identity.fingerprint())))
        };
        match tokio::time::timeout(patience, handshake).await {
            Ok(result) => result,
            Err(_) => Err(NetError::Timeout { doing: DOING.into(), after: patience }),
        }
    }

    fn client(&self, verifier: &Arc<Pinned>) -> Result<ClientConfig, rustls::Error> {
        let mut config = ClientConfig::builder_with_provider(verifier.provider.clone())
            .with_protocol_versions(&[&version::TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(verifier.clone())
            .with_client_auth_cert(vec![self.identity.certificate()], self.key())?;
        config.enable_sni = false;
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

/// The error of TLS that cannot be set up.
fn unset(source: rustls::Error) -> NetError {
    NetError::Io { doing: "cannot set up TLS".into(), source: io::Error::other(source) }
}

/// The identity that the other side has proved.
pub(crate) fn proven_identity<S>(stream: &TlsStream<S>) -> Option<Fingerprint> {
    let certificate = stream.get_ref().1.peer_certificates()?.first()?;
    fingerprint_of(certificate).ok()
}

async fn connect<S: AsyncRead + AsyncWrite + Unpin>(config: ClientConfig, stream: S) -> io::Result<TlsStream<S>> {
    let nameless = ServerName::try_from("garblet.invalid").map_err(io::Error::other)?;
    let mut stream = TlsConnector::from(Arc::new(config)).connect(nameless, stream).await?;
    if stream.read_u8().await? != WELCOME {
        return Err(io::Error::other(rustls::Error::General("the peer does not say welcome".into())));
    }
    Ok(stream.into())
}

async fn accept<S: AsyncRead + AsyncWrite + Unpin>(config: ServerConfig, stream: S) -> io::Result<TlsStream<S>> {
    let mut stream = TlsAcceptor::from(Arc::new(config)).accept(stream).await?;
    stream.write_u8(WELCOME).await?;
    stream.flush().await?;
    Ok(stream.into())
}
