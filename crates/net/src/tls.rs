//! TLS 1.3 in which both sides prove identities that the other has pinned.
//!
//! Trust is in public keys alone: names, dates and issuers in certificates do not matter.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::cipher_suite::{TLS13_AES_128_GCM_SHA256, TLS13_CHACHA20_POLY1305_SHA256};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, PeerIncompatible,
    ServerConfig, SignatureScheme, version,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};

use crate::error::NetError;
use crate::fingerprint::Fingerprint;
use crate::identity::{Identity, fingerprint_of};

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
        let config = |source: rustls::Error| NetError::Io {
            doing: "cannot set up TLS".into(),
            source: io::Error::other(source),
        };
        let handshake = async {
            match side {
                Side::Connecting => connect(self.client(&verifier).map_err(config)?, stream).await,
                Side::Accepting => accept(self.server(&verifier).map_err(config)?, stream).await,
            }
            .map_err(|source| self.explain(source, side, &verifier))
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

    /// The meaning of a failed handshake. Until the listening side has proved who it is, anybody on the way may say anything; the
    /// connecting side proves itself last, and what it says before is only told.
    fn explain(&self, source: io::Error, side: Side, verifier: &Pinned) -> NetError {
        if let Some(got) = verifier.rejected() {
            let names: Vec<String> = self.trusted.iter().map(|(name, print)| format!("{name} {print}")).collect();
            let expected = if names.is_empty() { "nobody is trusted yet".into() } else { names.join(" or ") };
            return NetError::UnknownIdentity { expected, got };
        }
        match source.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            Some(rustls::Error::AlertReceived(AlertDescription::AccessDenied))
                if side == Side::Accepting || verifier.proven.load(Ordering::Relaxed) =>
            {
                NetError::IdentityRejected { ours: self.identity.fingerprint() }
            }
            Some(error) => NetError::TlsMismatch {
                what: "TLS handshake",
                expected: "TLS 1.3 with an identity, as both sides have to use",
                got: match error {
                    rustls::Error::InvalidMessage(_) => "bytes that are no TLS".into(),
                    other => other.to_string(),
                },
            },
            None => NetError::from_io(source, DOING),
        }
    }
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

/// Accepts the pinned identities, and remembers whom it did not accept.
#[derive(Debug)]
struct Pinned {
    provider: Arc<CryptoProvider>,
    trusted: Vec<Fingerprint>,
    rejected: Mutex<Option<Fingerprint>>,
    /// Set if the other side has signed with an accepted identity.
    proven: AtomicBool,
}

impl Pinned {
    fn new(trusted: &[(String, Fingerprint)]) -> Self {
        // 128-bit security is what the protocols have; the second suite is for machines without AES instructions.
        let cipher_suites = vec![TLS13_AES_128_GCM_SHA256, TLS13_CHACHA20_POLY1305_SHA256];
        Pinned {
            provider: Arc::new(CryptoProvider { cipher_suites, ..ring::default_provider() }),
            trusted: trusted.iter().map(|(_, fingerprint)| *fingerprint).collect(),
            rejected: Mutex::new(None),
            proven: AtomicBool::new(false),
        }
    }

    fn rejected(&self) -> Option<Fingerprint> {
        *self.rejected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self, certificate: &CertificateDer<'_>) -> Result<(), rustls::Error> {
        let got = fingerprint_of(certificate)?;
        if self.trusted.contains(&got) {
            return Ok(());
        }
        *self.rejected.lock().unwrap_or_else(PoisonError::into_inner) = Some(got);
        Err(CertificateError::ApplicationVerificationFailure.into())
    }
}

/// The signatures of a handshake, of which both sides check the other's alike. No version but 1.3 is spoken here.
macro_rules! signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, rustls::Error> {
            Err(PeerIncompatible::Tls12NotOfferedOrEnabled.into())
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signature: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, rustls::Error> {
            let algorithms = &self.provider.signature_verification_algorithms;
            let valid = verify_tls13_signature(message, certificate, signature, algorithms)?;
            self.proven.store(true, Ordering::Relaxed);
            Ok(valid)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            vec![SignatureScheme::ED25519]
        }
    };
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.check(certificate).map(|()| ServerCertVerified::assertion())
    }

    signatures!();
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        self.check(certificate).map(|()| ClientCertVerified::assertion())
    }

    signatures!();
}
