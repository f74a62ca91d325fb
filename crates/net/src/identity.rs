//! A party's identity: a key that it keeps and proves to its peers.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rand_core::CryptoRng;
use rcgen::{CertificateParams, DistinguishedName, KeyPair, SerialNumber, date_time_ymd};
use ring::signature::{ED25519, Ed25519KeyPair, UnparsedPublicKey};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::server::ParsedCertificate;
use zeroize::{Zeroize, Zeroizing};

use crate::fingerprint::Fingerprint;

/// Bytes of an Ed25519 private key.
const SEED_BYTES: usize = 32;

/// Bytes of an Ed25519 signature.
pub const SIGNATURE_BYTES: usize = 64;

/// The coordinates y, little-endian and without the bit of the sign, of all points of small order on the curve of Ed25519, also those that are not
/// reduced. Anybody can make a signature for such a key, and it is valid for other messages as well.
const SMALL_ORDER: [[u8; 32]; 7] = {
    let [zero, p] = [[0; 32], [0xff; 32]];
    [
        zero,
        ending(1, zero, 0),
        [
            0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf,
            0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
        ],
        [
            0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20,
            0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
        ],
        // p - 1, p and p + 1, where p = 2^255 - 19.
        ending(0xec, p, 0x7f),
        ending(0xed, p, 0x7f),
        ending(0xee, p, 0x7f),
    ]
};

/// The number with different bytes at its low and high end.
const fn ending(low: u8, mut number: [u8; 32], high: u8) -> [u8; 32] {
    (number[0], number[31]) = (low, high);
    number
}

/// The bytes before the key in PKCS #8 (RFC 8410, section 7).
const PKCS8_PREFIX: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/// The largest accepted identity file.
const FILE_BYTES_MAX: u64 = 16 << 10;

/// A party's long-term key (Ed25519). *Secret*; others only need its [`fingerprint`](Identity::fingerprint).
pub struct Identity {
    pkcs8: Zeroizing<Vec<u8>>,
    certificate: CertificateDer<'static>,
    public_key: [u8; 32],
    fingerprint: Fingerprint,
}

/// An identity that cannot be loaded or saved.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// The file already exists, and overwriting it would lose an identity.
    #[error("{} exists already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file does not exist.
    #[error("no identity in {}: the file does not exist", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// Other users of this machine can read the key.
    #[error("{} has mode {mode:03o}, expected 600: others can read the key", path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The file holds something else.
    #[error("no identity in {}: expected an Ed25519 private key in PEM, got {got}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The fault in it.
        got: String,
    },
    /// The operating system refused.
    #[error("{doing} {}: {source}", path.display())]
    Io {
        /// `cannot read` or `cannot write`.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl Identity {
    /// A new identity.
    pub fn generate(rng: &mut impl CryptoRng) -> Self {
        let mut pkcs8 = Zeroizing::new(Vec::with_capacity(PKCS8_PREFIX.len() + SEED_BYTES));
        pkcs8.extend_from_slice(&PKCS8_PREFIX);
        pkcs8.resize(PKCS8_PREFIX.len() + SEED_BYTES, 0);
        rng.fill_bytes(&mut pkcs8[PKCS8_PREFIX.len()..]);
        Identity::from_pkcs8(pkcs8).expect("every 32 bytes are an Ed25519 key")
    }

    /// The fingerprint by which peers know this identity.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The public key (Ed25519). The fingerprint is its digest.
    pub fn public_key(&self) -> [u8; 32] {
        self.public_key
    }

    /// Signs a message for one purpose. `context` describes the purpose in words and separates it from all other uses of this key; it must not be a
    /// prefix of another context. TLS signs messages that begin with spaces.
    pub fn sign(&self, context: &str, message: &[u8]) -> [u8; SIGNATURE_BYTES] {
        let key = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&self.pkcs8).expect("the key was made of it before");
        let signature = key.sign(&in_context(context, message));
        signature.as_ref().try_into().expect("Ed25519 has signatures of one length")
    }

    /// A secret derived from the private key, for one purpose (`context`) and one name: always the same.
    pub fn secret_for(&self, context: &str, name: &[u8]) -> Zeroizing<[u8; 32]> {
        let mut hash = blake3::Hasher::new_derive_key(context);
        // The key's length is fixed.
        hash.update(&self.pkcs8).update(name);
        let secret = Zeroizing::new(*hash.finalize().as_bytes());
        hash.zeroize();
        secret
    }

    /// Writes the key to a new file that only its owner can read (mode 600).
    ///
    /// *Errors:* [`IdentityError::Exists`] rather than to overwrite anything.
    pub fn save(&self, path: &Path) -> Result<(), IdentityError> {
        let failed = |source| IdentityError::Io { doing: "cannot write", path: path.into(), source };
        let pem = self.to_pem();
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => IdentityError::Exists { path: path.into() },
            _ => failed(source),
        })?;
        let written = file.write_all(pem.as_bytes()).and_then(|()| file.sync_all());
        written.map_err(|source| {
            // Half a key is useless and would block the next attempt.
            let _ = fs::remove_file(path);
            failed(source)
        })
    }

    /// Reads a key that [`save`](Identity::save) wrote.
    ///
    /// *Errors:* [`IdentityError::Exposed`] if others on this machine may read the file.
    pub fn load(path: &Path) -> Result<Self, IdentityError> {
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => IdentityError::Missing { path: path.into() },
            _ => IdentityError::Io { doing: "cannot read", path: path.into(), source },
        };
        let malformed = |got: String| IdentityError::Malformed { path: path.into(), got };
        let metadata = fs::metadata(path).map_err(failed)?;
        check_mode(path, &metadata)?;
        if metadata.len() > FILE_BYTES_MAX {
            return Err(malformed(format!("{} bytes", metadata.len())));
        }
        let pem = Zeroizing::new(fs::read(path).map_err(failed)?);
        Identity::read(&pem).map_err(malformed)
    }

    /// The key as text (PEM), as [`save`](Identity::save) writes it. *Secret*.
    pub fn to_pem(&self) -> Zeroizing<String> {
        Zeroizing::new(key_pair(&self.pkcs8).expect("the key was made of it before").serialize_pem())
    }

    /// Reads a key from [`to_pem`](Identity::to_pem).
    ///
    /// *Errors:* the fault in it.
    pub fn from_pem(pem: &str) -> Result<Self, String> {
        Identity::read(pem.as_bytes())
    }

    fn read(pem: &[u8]) -> Result<Self, String> {
        let pkcs8 = PrivatePkcs8KeyDer::from_pem_slice(pem).map_err(|error| no_key(&error))?;
        Identity::from_pkcs8(Zeroizing::new(pkcs8.secret_pkcs8_der().to_vec()))
    }

    fn from_pkcs8(pkcs8: Zeroizing<Vec<u8>>) -> Result<Self, String> {
        if pkcs8.len() != PKCS8_PREFIX.len() + SEED_BYTES || !pkcs8.starts_with(&PKCS8_PREFIX) {
            return Err("another kind of key".into());
        }
        let key = key_pair(&pkcs8)?;
        let public_key = key.public_key_raw().try_into().map_err(|_| "a public key of another length".to_string())?;
        let (certificate, fingerprint) = (certify(&key)?, Fingerprint::of_ed25519(&public_key));
        Ok(Identity { pkcs8, certificate, public_key, fingerprint })
    }

    pub(crate) fn pkcs8(&self) -> PrivatePkcs8KeyDer<'_> {
        PrivatePkcs8KeyDer::from(&self.pkcs8[..])
    }

    pub(crate) fn certificate(&self) -> CertificateDer<'static> {
        self.certificate.clone()
    }
}

/// Returns whether the owner of a public key (Ed25519) has signed a message for this purpose with [`Identity::sign`]. A key of small order has no owner.
pub fn is_signed_by(public_key: &[u8; 32], context: &str, message: &[u8], signature: &[u8; SIGNATURE_BYTES]) -> bool {
    let fits = || UnparsedPublicKey::new(&ED25519, public_key).verify(&in_context(context, message), signature).is_ok();
    !has_small_order(public_key) && fits()
}

fn has_small_order(public_key: &[u8; 32]) -> bool {
    let mut y = *public_key;
    y[31] &= 0x7f;
    SMALL_ORDER.contains(&y)
}

fn in_context(context: &str, message: &[u8]) -> Vec<u8> {
    [context.as_bytes(), &[0], message].concat()
}

/// The certificate that carries the public key in TLS. It is a function of the key; its other contents are ignored.
fn certify(key: &KeyPair) -> Result<CertificateDer<'static>, String> {
    let mut params = CertificateParams::default();
    params.not_before = date_time_ymd(2026, 1, 1);
    params.not_after = date_time_ymd(2126, 1, 1);
    params.serial_number = Some(SerialNumber::from(1u64));
    params.distinguished_name = DistinguishedName::new();
    let certificate = params.self_signed(key).map_err(|error| error.to_string())?;
    Ok(certificate.der().clone())
}

fn key_pair(pkcs8: &[u8]) -> Result<KeyPair, String> {
    KeyPair::try_from(&PrivatePkcs8KeyDer::from(pkcs8)).map_err(|error| error.to_string())
}

/// The reason that a text is not a key. It never contains the text, which may be most of a key.
fn no_key(error: &pem::Error) -> &'static str {
    match error {
        pem::Error::MissingSectionEnd { .. } => "a file without its end",
        pem::Error::IllegalSectionStart { .. } => "a file with a damaged first line",
        pem::Error::Base64Decode(_) => "a file with damaged letters",
        _ => "a file without a private key",
    }
}

/// The fingerprint of a certificate's public key.
///
/// *Errors:* not a certificate; a key with which anybody could sign.
pub(crate) fn fingerprint_of(certificate: &CertificateDer<'_>) -> Result<Fingerprint, rustls::Error> {
    let parsed = ParsedCertificate::try_from(certificate)?;
    let public_key = parsed.subject_public_key_info();
    if public_key.last_chunk().is_some_and(has_small_order) {
        return Err(rustls::Error::General("an identity with which anybody can sign (of small order)".into()));
    }
    Ok(Fingerprint::of(&public_key))
}

#[cfg(unix)]
fn check_mode(path: &Path, metadata: &fs::Metadata) -> Result<(), IdentityError> {
    let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777;
    if mode & 0o077 == 0 { Ok(()) } else { Err(IdentityError::Exposed { path: path.into(), mode }) }
}

#[cfg(not(unix))]
fn check_mode(_: &Path, _: &fs::Metadata) -> Result<(), IdentityError> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    fn identity(seed: u64) -> Identity {
        Identity::generate(&mut StdRng::seed_from_u64(seed))
    }

    #[test]
    fn an_identity_is_a_function_of_the_randomness() {
        assert_eq!(identity(1).fingerprint(), identity(1).fingerprint());
        assert_eq!(identity(1).certificate, identity(1).certificate);
        assert_ne!(identity(1).fingerprint(), identity(2).fingerprint());
    }

    #[test]
    fn the_certificate_contains_the_public_key() {
        let of_certificate = fingerprint_of(&identity(1).certificate).expect("a certificate");
        assert_eq!(of_certificate, identity(1).fingerprint());
        assert_eq!(Fingerprint::of_ed25519(&identity(1).public_key()), of_certificate);
        assert_ne!(identity(1).public_key(), identity(2).public_key());
    }

    #[test]
    fn a_saved_identity_loads_and_is_private() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("identity.pem");
        identity(1).save(&path).expect("saved");
        let loaded = Identity::load(&path).expect("loads");
        assert_eq!(loaded.fingerprint(), identity(1).fingerprint());
        assert_eq!(loaded.pkcs8, identity(1).pkcs8);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("ours");
            let error = Identity::load(&path).err().expect("exposed");
            assert!(error.to_string().ends_with("has mode 640, expected 600: others can read the key"), "{error}");
        }
    }

    #[test]
    fn a_signature_is_for_one_key_one_purpose_and_one_message() {
        let (ours, theirs) = (identity(1), identity(2));
        let signature = ours.sign("garblet test", b"a message");
        let signed = |key: &Identity, context: &str, message: &[u8], signature: &[u8; SIGNATURE_BYTES]| {
            is_signed_by(&key.public_key(), context, message, signature)
        };
        assert!(signed(&ours, "garblet test", b"a message", &signature));
        assert!(!signed(&theirs, "garblet test", b"a message", &signature));
        assert!(!signed(&ours, "garblet tests", b"a message", &signature));
        assert!(!signed(&ours, "garblet test", b"a messagf", &signature));
        for at in 0..SIGNATURE_BYTES {
            let mut changed = signature;
            changed[at] ^= 1;
            assert!(!signed(&ours, "garblet test", b"a message", &changed), "byte {at}");
        }
        assert_eq!(ours.sign("garblet test", b"a message"), signature, "it is a function of key and message");
    }

    #[test]
    fn keys_with_which_anybody_can_sign_are_refused() {
        // The neutral point, with a scalar of 0.
        let mut signature = [0; SIGNATURE_BYTES];
        signature[0] = 1;
        let certificate = &identity(1).certificate;
        let at = certificate.windows(32).position(|window| window == identity(1).public_key()).expect("it is in it");
        for (y, sign) in SMALL_ORDER.iter().flat_map(|y| [(y, 0), (y, 0x80)]) {
            let mut key = *y;
            key[31] |= sign;
            // At least one of eight messages fits, so nothing else is wrong with these signatures.
            let fits = |message: &[u8; 1]| {
                let message = in_context("garblet test", message);
                UnparsedPublicKey::new(&ED25519, key).verify(&message, &signature).is_ok()
            };
            let fitting: Vec<[u8; 1]> = (0..200).map(|byte| [byte]).filter(fits).collect();
            assert!(fitting.len() > 10, "{key:02x?}");
            assert!(!fitting.iter().any(|message| is_signed_by(&key, "garblet test", message, &signature)));
            let mut forged = certificate.to_vec();
            forged[at..at + 32].copy_from_slice(&key);
            let error = fingerprint_of(&forged.into()).expect_err("it is refused");
            assert!(error.to_string().contains("with which anybody can sign"), "{error}");
        }
    }

    #[test]
    fn an_identity_is_never_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("identity.pem");
        identity(1).save(&path).expect("saved");
        assert!(matches!(identity(2).save(&path), Err(IdentityError::Exists { .. })));
        assert_eq!(Identity::load(&path).expect("loads").fingerprint(), identity(1).fingerprint());
    }

    #[test]
    fn a_key_is_known_by_its_length_and_by_its_beginning() {
        let ours = identity(1).pkcs8;
        let read = |pkcs8: &[u8]| Identity::from_pkcs8(Zeroizing::new(pkcs8.to_vec())).map(|read| read.fingerprint);
        assert_eq!(read(&ours), Ok(identity(1).fingerprint));
        let mut other = ours.to_vec();
        other[8] ^= 1;
        for wrong in [&other[..], &ours[..ours.len() - 1], &[&ours[..], &[0]].concat()] {
            assert_eq!(read(wrong), Err("another kind of key".into()), "{} bytes", wrong.len());
        }
    }

    #[test]
    fn files_that_hold_no_identity_are_explained() {
        let folder = tempfile::tempdir().expect("a folder");
        let load = |name: &str, content: &[u8]| {
            let path = folder.path().join(name);
            let mut options = OpenOptions::new();
            options.write(true).create(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            options.open(&path).and_then(|mut file| file.write_all(content)).expect("written");
            Identity::load(&path).err().expect("no identity")
        };
        let other = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).expect("a key").serialize_pem();
        let key = key_pair(&identity(1).pkcs8).expect("a key").serialize_pem();
        for (name, content, got) in [
            ("empty", &b""[..], "a file without a private key"),
            ("text", b"hello", "a file without a private key"),
            ("large", &[b'x'; 20_000], "20000 bytes"),
            ("other", other.as_bytes(), "another kind of key"),
            ("cut", &key.as_bytes()[..60], "a file without its end"),
            ("spoilt", key.replacen("MC4C", "M?4C", 1).as_bytes(), "a file with damaged letters"),
            ("headless", key.replacen("KEY-----", "KEY", 1).as_bytes(), "a file with a damaged first line"),
        ] {
            let error = load(name, content);
            assert!(matches!(error, IdentityError::Malformed { .. }), "{name}: {error}");
            assert!(error.to_string().ends_with(&format!(", got {got}")), "{name}: {error}");
        }
        let error = Identity::load(&folder.path().join("none")).err().expect("missing");
        assert!(matches!(error, IdentityError::Missing { .. }), "{error}");
        let error = identity(1).save(&folder.path().join("no/folder")).expect_err("no such folder");
        assert!(matches!(error, IdentityError::Io { .. }), "{error}");
    }
}
