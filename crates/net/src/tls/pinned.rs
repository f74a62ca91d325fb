//! Checks by its public key that the other side has a pinned identity.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::cipher_suite::{TLS13_AES_128_GCM_SHA256, TLS13_CHACHA20_POLY1305_SHA256};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    AlertDescription, CertificateError, DigitallySignedStruct, DistinguishedName, PeerIncompatible, SignatureScheme,
};

use super::{DOING, Side};
use crate::error::NetError;
use crate::fingerprint::Fingerprint;
use crate::identity::fingerprint_of;

/// Accepts the pinned identities, and remembers a rejected one.
#[derive(Debug)]
pub(super) struct Pinned {
    pub(super) provider: Arc<CryptoProvider>,
    /// Fingerprints and their names in messages.
    trusted: Vec<(String, Fingerprint)>,
    rejected: Mutex<Option<Fingerprint>>,
    /// Set if the other side has signed with an accepted identity.
    proven: AtomicBool,
}

impl Pinned {
    pub(super) fn new(trusted: &[(String, Fingerprint)]) -> Self {
        Pinned {
            provider: Arc::new(provider()),
            trusted: trusted.to_vec(),
            rejected: Mutex::new(None),
            proven: AtomicBool::new(false),
        }
    }

    fn rejected(&self) -> Option<Fingerprint> {
        *self.rejected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Interprets a failed handshake, where our own identity is `ours`. Until the listening side has proved its identity, anybody
    /// in between may send anything; the connecting side proves itself last, so its earlier messages are only reported.
    pub(super) fn explain(&self, source: io::Error, side: Side, ours: Option<Fingerprint>) -> NetError {
        if let Some(got) = self.rejected() {
            let names: Vec<String> = self.trusted.iter().map(|(name, print)| format!("{name} {print}")).collect();
            let expected = if names.is_empty() { "nobody is trusted yet".into() } else { names.join(" or ") };
            return NetError::UnknownIdentity { expected, got };
        }
        let certain = side == Side::Accepting || self.proven.load(Ordering::Relaxed);
        match (source.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()), ours) {
            (Some(rustls::Error::AlertReceived(AlertDescription::AccessDenied)), Some(ours)) if certain => {
                NetError::IdentityRejected { ours }
            }
            (Some(error), _) => mismatch("TLS 1.3 with an identity, which both sides must use", error),
            (None, _) => NetError::from_io(source, DOING),
        }
    }

    fn check(&self, certificate: &CertificateDer<'_>) -> Result<(), rustls::Error> {
        let got = fingerprint_of(certificate)?;
        if self.trusted.iter().any(|(_, trusted)| *trusted == got) {
            return Ok(());
        }
        *self.rejected.lock().unwrap_or_else(PoisonError::into_inner) = Some(got);
        Err(CertificateError::ApplicationVerificationFailure.into())
    }
}

/// The error of a failed handshake.
pub(super) fn mismatch(expected: &'static str, error: &rustls::Error) -> NetError {
    let got = match error {
        rustls::Error::InvalidMessage(_) => "bytes that are not TLS".into(),
        other => other.to_string(),
    };
    NetError::TlsMismatch { what: "TLS handshake", expected, got }
}

/// The allowed algorithms.
pub(super) fn provider() -> CryptoProvider {
    // The protocols have 128-bit security; the second suite is for machines without AES instructions, and comes first in WebAssembly.
    let mut cipher_suites = vec![TLS13_AES_128_GCM_SHA256, TLS13_CHACHA20_POLY1305_SHA256];
    if cfg!(target_family = "wasm") {
        cipher_suites.reverse();
    }
    CryptoProvider { cipher_suites, ..ring::default_provider() }
}

/// The signatures of a handshake, which both sides check in the same way. Only TLS 1.3 is supported.
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
