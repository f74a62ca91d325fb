//! The key that signs releases: Ed25519, as `openssl genpkey -algorithm ed25519` makes it. The releaser keeps it.

use std::fs::{self, File, Metadata};
use std::io::Read;
use std::path::Path;

use base64::{Engine, engine::general_purpose::STANDARD};
use ring::signature::{Ed25519KeyPair, KeyPair};
use zeroize::Zeroizing;

/// The lines around a private key in PEM (RFC 7468, section 10).
const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";
/// The lines around a public key in PEM (RFC 7468, section 13).
const PUBLIC_BEGIN: &str = "-----BEGIN PUBLIC KEY-----";
const PUBLIC_END: &str = "-----END PUBLIC KEY-----";

/// The bytes before a public key (RFC 8410, section 4).
const PUBLIC_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0];

/// The largest accepted file. A key takes 119 bytes.
const FILE_BYTES_MAX: usize = 16 << 10;

/// A release's key. *Secret*.
pub(super) struct Key(Ed25519KeyPair);

impl Key {
    /// Reads the key in a file.
    ///
    /// *Errors*: as of [`check_file`]; a file that has something else.
    pub(super) fn read(path: &Path) -> Result<Key, String> {
        // Before it is opened, which would wait for the writer of a pipe.
        check_file(path)?;
        let place = path.display();
        let unreadable = |error: std::io::Error| format!("{place}: {error}");
        let file = File::open(path).map_err(unreadable)?;
        // Another file may have its name by now.
        check(path, &file.metadata().map_err(unreadable)?)?;
        // With room for everything, so that no copy stays where a smaller one was.
        let mut text = Zeroizing::new(Vec::with_capacity(FILE_BYTES_MAX));
        file.take(FILE_BYTES_MAX as u64).read_to_end(&mut text).map_err(unreadable)?;
        let text = std::str::from_utf8(&text).unwrap_or_default();
        Key::from_pem(text).ok_or_else(|| {
            format!("{place}: expected an Ed25519 private key in PEM, as `openssl genpkey -algorithm ed25519` makes it, got another text")
        })
    }

    /// Reads the key in a text.
    fn from_pem(text: &str) -> Option<Key> {
        let inside = text.trim().strip_prefix(BEGIN)?.strip_suffix(END)?;
        let digits: Zeroizing<String> = Zeroizing::new(inside.split_whitespace().collect());
        let bytes = Zeroizing::new(STANDARD.decode(digits.as_bytes()).ok()?);
        Ed25519KeyPair::from_pkcs8_maybe_unchecked(&bytes).ok().map(Key)
    }

    /// The public key in PEM, as `openssl pkey -pubout` writes it.
    pub(super) fn public_pem(&self) -> String {
        public_pem(self.0.public_key().as_ref())
    }

    /// The signature (RFC 8032) of bytes.
    pub(super) fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        let mut signature = [0; 64];
        signature.copy_from_slice(self.0.sign(bytes).as_ref());
        signature
    }
}

/// Checks a key's file without reading it.
///
/// *Errors*: no regular file, such as a pipe; one that others may read, or that is longer than a key.
pub(super) fn check_file(path: &Path) -> Result<(), String> {
    check(path, &fs::metadata(path).map_err(|error| format!("{}: {error}", path.display()))?)
}

fn check(path: &Path, file: &Metadata) -> Result<(), String> {
    let place = path.display();
    if !file.is_file() {
        return Err(format!("{place}: expected a regular file with the key, got another kind"));
    }
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o777;
        if mode & 0o077 != 0 {
            return Err(format!("{place}: has mode {mode:03o}, expected 600: others can read the key"));
        }
    }
    match file.len() > FILE_BYTES_MAX as u64 {
        true => Err(format!("{place}: expected at most {FILE_BYTES_MAX} bytes, got {}", file.len())),
        false => Ok(()),
    }
}

/// A public key in PEM.
fn public_pem(key: &[u8]) -> String {
    format!("{PUBLIC_BEGIN}\n{}\n{PUBLIC_END}\n", STANDARD.encode([&PUBLIC_PREFIX, key].concat()))
}

/// Returns whether a text is a public key of Ed25519 in PEM, as `openssl pkey -pubout` writes it.
pub(super) fn is_public_pem(text: &str) -> bool {
    let inside = text.trim().strip_prefix(PUBLIC_BEGIN).and_then(|rest| rest.strip_suffix(PUBLIC_END));
    let bytes = inside.and_then(|digits| STANDARD.decode(digits.trim()).ok()).unwrap_or_default();
    bytes.strip_prefix(&PUBLIC_PREFIX).is_some_and(|key| key.len() == 32 && public_pem(key).trim() == text.trim())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The private key of a seed, in PEM.
    pub(in crate::release) fn pem(seed: u8) -> String {
        let prefix = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
        format!("{BEGIN}\n{}\n{END}\n", STANDARD.encode([&prefix[..], &[seed; 32]].concat()))
    }

    /// A key of the tests.
    pub(in crate::release) fn key(seed: u8) -> Key {
        Key::from_pem(&pem(seed)).expect("a key")
    }

    #[test]
    fn a_key_signs_as_the_standard_says() {
        // RFC 8032, section 7.1, test 1.
        let hex = |text: &str| -> Vec<u8> {
            (0..text.len() / 2).map(|k| u8::from_str_radix(&text[2 * k..2 * k + 2], 16).expect("hexadecimal")).collect()
        };
        let seed = hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
        let pkcs8 = [&hex("302e020100300506032b657004220420"), &seed[..]].concat();
        let key = Key::from_pem(&format!("{BEGIN}\n{}\n{END}", STANDARD.encode(pkcs8))).expect("a key");
        let expected = "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b";
        assert_eq!(key.sign(b"").to_vec(), hex(expected));
        let public = hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
        assert!(key.public_pem().contains(&STANDARD.encode([&PUBLIC_PREFIX[..], &public].concat())));
    }

    #[test]
    fn what_is_no_key_of_the_releaser_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key.pem");
        let refused = |text: &str, mode: u32| {
            fs::write(&path, text).expect("written");
            fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode)).expect("set");
            Key::read(&path).err()
        };
        assert_eq!(refused(&pem(1), 0o600), None);
        assert!(refused(&pem(1), 0o640).is_some_and(|error| error.contains("has mode 640, expected 600")));
        for text in [pem(1).replace("PRIVATE", "PUBLIC"), pem(1).replace('M', "N"), String::new(), "x".repeat(20_000)] {
            assert!(refused(&text, 0o600).is_some_and(|error| error.contains("expected")), "{text}");
        }
        assert!(Key::read(&folder.path().join("none")).is_err());
    }

    #[test]
    fn what_is_no_regular_file_is_neither_read_nor_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").args(["-m", "600"]).arg(&pipe).status();
        assert!(made.is_ok_and(|status| status.success()), "a pipe");
        for path in [&pipe, Path::new("/dev/zero"), folder.path()] {
            for refused in [check_file(path), Key::read(path).map(drop)] {
                let error = refused.expect_err("no file");
                assert!(error.ends_with("expected a regular file with the key, got another kind"), "{error}");
            }
        }
    }

    #[test]
    fn the_public_half_alone_is_a_public_key() {
        let public = key(1).public_pem();
        assert!(is_public_pem(&public) && is_public_pem(&format!("{}\n\n", public.trim())));
        for text in ["", &pem(1), &public.replace("MCow", "MCox"), &public.replace("-----END", "AAAA\n-----END")] {
            assert!(!is_public_pem(text), "{text}");
        }
    }
}
