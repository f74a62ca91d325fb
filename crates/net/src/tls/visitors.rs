//! TLS for visitors, who have no identity: only the server authenticates itself, to programs by its pinned identity,
//! and to browsers by a web certificate.
//!
//! Programs identify themselves in the handshake (ALPN), so that one port serves both.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, ServerConfig, version};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};
use zeroize::Zeroizing;

use super::pinned::{Pinned, mismatch, provider};
use super::{DOING, Side, unset};
use crate::error::NetError;
use crate::fingerprint::Fingerprint;
use crate::identity::Identity;

/// The ALPN name by which programs request the identity.
const PROGRAM: &[u8] = b"garblet";
/// The ALPN name that browsers use for WebSockets.
const BROWSER: &[u8] = b"http/1.1";

/// The largest accepted file of certificates or a key.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// A server's certificates for visitors. Clones share them.
#[derive(Clone)]
pub struct ServerTls {
    config: Arc<ServerConfig>,
    keys: Arc<Keys>,
}

/// A web certificate, accepted by browsers, with its key. *Secret*; without `Debug`.
#[derive(Clone)]
pub struct WebCertificate(Arc<CertifiedKey>);

/// The keys of a server.
struct Keys {
    identity: Arc<CertifiedKey>,
    web: RwLock<Option<WebCertificate>>,
}

/// The error for an unusable web certificate.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Every user of this machine can read the key.
    #[error("{} has mode {mode:03o}, expected 640 or less: every user of this machine can read the key", path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The file holds something else.
    #[error("{}: expected {expected} in PEM, got {got}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The expected content.
        expected: &'static str,
        /// The fault in it.
        got: String,
    },
    /// The key does not match the first certificate.
    #[error("the key in {} does not match the first certificate in {}: {what}", key.display(), chain.display())]
    Mismatch {
        /// The file with the certificates.
        chain: PathBuf,
        /// The file with the key.
        key: PathBuf,
        /// The error of TLS.
        what: String,
    },
}

impl CertificateError {
    /// Advice for a person.
    pub fn hint(&self) -> &'static str {
        match self {
            CertificateError::Io { .. } => "name existing files that this program may read",
            CertificateError::Exposed { .. } => "chmod 640 the file",
            CertificateError::Malformed { .. } => {
                "use the files from the certificate authority: the chain, with your certificate first, and the private key"
            }
            CertificateError::Mismatch { .. } => "use a certificate and its own key",
        }
    }
}

impl WebCertificate {
    /// Reads a chain of certificates, the server's own first, and its private key, both in PEM.
    ///
    /// *Errors*: [`CertificateError::Exposed`] if every user of this machine may read the key; files with other contents.
    pub fn read(chain: &Path, key: &Path) -> Result<Self, CertificateError> {
        let malformed = |path: &Path, expected, got| CertificateError::Malformed { path: path.into(), expected, got };
        let text = read(chain)?;
        let certificates = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
        let certificates = certificates.map_err(|error| malformed(chain, "certificates", error.to_string()))?;
        if certificates.is_empty() {
            return Err(malformed(chain, "certificates", "none".into()));
        }
        check_mode(key)?;
        let text = Zeroizing::new(read(key)?);
        // Do not quote the text: it may be most of a key.
        let private = PrivateKeyDer::from_pem_slice(&text)
            .map_err(|_| malformed(key, "a private key", "something else, or a damaged one".into()))?;
        match CertifiedKey::from_der(certificates, private, &provider()) {
            Ok(certified) => Ok(WebCertificate(Arc::new(certified))),
            Err(error) => {
                let (chain, key) = (chain.into(), key.into());
                Err(CertificateError::Mismatch { chain, key, what: error.to_string() })
            }
        }
    }
}

impl ServerTls {
    /// Serves programs that know the identity, and with a web certificate also browsers.
    ///
    /// *Errors*: TLS cannot be set up.
    pub fn new(identity: &Identity, web: Option<WebCertificate>) -> Result<Self, NetError> {
        let (provider, key) = (provider(), PrivateKeyDer::Pkcs8(identity.pkcs8().clone_key()));
        let identity = CertifiedKey::from_der(vec![identity.certificate()], key, &provider).map_err(unset)?;
        let keys = Arc::new(Keys { identity: Arc::new(identity), web: RwLock::new(web) });
        let mut config = ServerConfig::builder_with_provider(Arc::new(provider))
            .with_protocol_versions(&[&version::TLS13])
            .map_err(unset)?
            .with_no_client_auth()
            .with_cert_resolver(keys.clone());
        config.send_tls13_tickets = 0;
        config.alpn_protocols = vec![PROGRAM.to_vec(), BROWSER.to_vec()];
        Ok(ServerTls { config: Arc::new(config), keys })
    }

    /// Replaces the web certificate for future connections, in all clones.
    pub fn renew(&self, web: WebCertificate) {
        *self.keys.web.write().unwrap_or_else(PoisonError::into_inner) = Some(web);
    }

    /// Accepts a visitor, which can check the server's identity.
    pub(crate) async fn accept<S>(&self, stream: S) -> Result<TlsStream<S>, NetError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let accepted = TlsAcceptor::from(self.config.clone()).accept(stream).await;
        accepted.map(TlsStream::from).map_err(|source| {
            match source.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
                Some(error) => mismatch("TLS 1.3 from a program or a browser", error),
                None => NetError::from_io(source, DOING),
            }
        })
    }
}

/// Connects to the server with this fingerprint and checks its identity.
pub(crate) async fn call<S>(stream: S, server: Fingerprint, patience: Duration) -> Result<TlsStream<S>, NetError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let verifier = Arc::new(Pinned::new(&[("the server".into(), server)]));
    let mut config = ClientConfig::builder_with_provider(verifier.provider.clone())
        .with_protocol_versions(&[&version::TLS13])
        .map_err(unset)?
        .dangerous()
        .with_custom_certificate_verifier(verifier.clone())
        .with_no_client_auth();
    config.enable_sni = false;
    config.resumption = Resumption::disabled();
    config.alpn_protocols = vec![PROGRAM.to_vec()];
    let nameless = ServerName::try_from("garblet.invalid")
        .map_err(|error| NetError::Io { doing: "cannot set up TLS".into(), source: io::Error::other(error) })?;
    match tokio::time::timeout(patience, TlsConnector::from(Arc::new(config)).connect(nameless, stream)).await {
        Ok(Ok(stream)) => Ok(stream.into()),
        Ok(Err(source)) => Err(verifier.explain(source, Side::Connecting, None)),
        Err(_) => Err(NetError::Timeout { doing: DOING.into(), after: patience }),
    }
}

impl ResolvesServerCert for Keys {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let of_program = hello.alpn().is_some_and(|mut names| names.any(|name| name == PROGRAM));
        match &*self.web.read().unwrap_or_else(PoisonError::into_inner) {
            Some(web) if !of_program => Some(web.0.clone()),
            _ => Some(self.identity.clone()),
        }
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").finish_non_exhaustive()
    }
}

/// Reads a file within the size limit.
fn read(path: &Path) -> Result<Vec<u8>, CertificateError> {
    let failed = |source| CertificateError::Io { path: path.into(), source };
    if fs::metadata(path).map_err(failed)?.len() > FILE_BYTES_MAX {
        return Err(failed(io::Error::other(format!("more than {FILE_BYTES_MAX} bytes"))));
    }
    fs::read(path).map_err(failed)
}

/// The group may read the key, since programs that renew certificates rely on that.
#[cfg(unix)]
fn check_mode(path: &Path) -> Result<(), CertificateError> {
    let metadata = fs::metadata(path).map_err(|source| CertificateError::Io { path: path.into(), source })?;
    let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777;
    if mode & 0o007 == 0 { Ok(()) } else { Err(CertificateError::Exposed { path: path.into(), mode }) }
}

#[cfg(not(unix))]
fn check_mode(_: &Path) -> Result<(), CertificateError> {
    Ok(())
}
