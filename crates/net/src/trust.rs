//! The peers that a party trusts, with its names for them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use garblet_text::{OtherFormat, controls_terminal};
use serde::{Deserialize, Serialize};

use crate::fingerprint::{Fingerprint, FingerprintError};
use crate::small_file::{check_stated_format, read_small_file};
use crate::toml_words::toml_words;

/// The longest name.
const NAME_BYTES_MAX: usize = 100;

/// The newest format of trust stores.
const FORMAT: u32 = 1;

/// The largest accepted trust store.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// The trusted peers, in a TOML file with a table `peers` of names and fingerprints.
#[derive(Clone, Debug)]
pub struct TrustStore {
    path: PathBuf,
    peers: BTreeMap<String, Fingerprint>,
}

/// The error for a trust store that cannot be read, changed or written.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The name already belongs to another identity.
    #[error("`{name}` is trusted already, with another identity: expected {expected}, got {got}")]
    NameTaken {
        /// The name.
        name: String,
        /// Its fingerprint in the store.
        expected: Fingerprint,
        /// The new fingerprint.
        got: Fingerprint,
    },
    /// The identity already has another name.
    #[error("{fingerprint} is trusted already, as `{known}`: expected one name for each identity, got `{name}` too")]
    IdentityTaken {
        /// The new name.
        name: String,
        /// The name in the store.
        known: String,
        /// The identity.
        fingerprint: Fingerprint,
    },
    /// Nobody has this name.
    #[error("no trusted peer is called `{name}`; trusted peers: {known}")]
    UnknownName {
        /// The name.
        name: String,
        /// The names in the store.
        known: String,
    },
    /// The text cannot be a name.
    #[error("`{}` cannot be a name: expected 1 to {NAME_BYTES_MAX} printable bytes", name.escape_debug())]
    BadName {
        /// The text.
        name: String,
    },
    /// The file is not a trust store.
    #[error("{} is not a trust store: {what}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The fault and its place.
        what: String,
    },
    /// A later version of the program wrote the file.
    #[error("{} {other}", path.display())]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// Its format.
        other: OtherFormat,
    },
    /// A fingerprint in the file is wrong.
    #[error("{}: peer `{name}`: {source}", path.display())]
    BadFingerprint {
        /// The file.
        path: PathBuf,
        /// The name of its peer.
        name: String,
        /// The fault in it.
        source: FingerprintError,
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

/// The file's content.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    #[serde(default)]
    format: Option<u32>,
    #[serde(default)]
    peers: BTreeMap<String, String>,
}

impl TrustStore {
    /// Reads the store; a missing file counts as empty.
    pub fn open(path: &Path) -> Result<Self, TrustError> {
        let malformed = |what: String| TrustError::Malformed { path: path.into(), what };
        let text = match read_small_file(path, FILE_BYTES_MAX) {
            Ok(text) => text,
            Err(source) if source.kind() == io::ErrorKind::NotFound => String::new(),
            Err(source) => return Err(TrustError::Io { doing: "cannot read", path: path.into(), source }),
        };
        check_stated_format(&text, FORMAT).map_err(|other| TrustError::OtherFormat { path: path.into(), other })?;
        let content: Content = toml::from_str(&text).map_err(|error: toml::de::Error| {
            let line = error.span().map(|span| {
                format!("line {}: ", text.bytes().take(span.start).filter(|byte| *byte == b'\n').count() + 1)
            });
            malformed(line.unwrap_or_default() + &toml_words(&error))
        })?;
        let mut peers = BTreeMap::new();
        for (name, text) in content.peers {
            check_name(&name)?;
            match text.parse() {
                Ok(fingerprint) => peers.insert(name, fingerprint),
                Err(source) => return Err(TrustError::BadFingerprint { path: path.into(), name, source }),
            };
        }
        Ok(TrustStore { path: path.into(), peers })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The trusted peers, by name.
    pub fn peers(&self) -> &BTreeMap<String, Fingerprint> {
        &self.peers
    }

    /// The fingerprint of the peer with this name.
    pub fn get(&self, name: &str) -> Result<Fingerprint, TrustError> {
        self.peers.get(name).copied().ok_or_else(|| self.unknown(name))
    }

    /// Checks that each identity has only one name.
    ///
    /// *Errors:* [`TrustError::IdentityTaken`] with the first two names of one identity, which can only result from editing by hand.
    pub fn check_names(&self) -> Result<(), TrustError> {
        let mut names = BTreeMap::new();
        for (name, fingerprint) in &self.peers {
            if let Some(known) = names.insert(fingerprint.to_string(), name) {
                let (name, known) = (name.clone(), known.clone());
                return Err(TrustError::IdentityTaken { name, known, fingerprint: *fingerprint });
            }
        }
        Ok(())
    }

    /// Adds a trusted peer and writes the file.
    ///
    /// *Errors:* [`TrustError::NameTaken`] if the name belongs to another identity, [`TrustError::IdentityTaken`] if the identity has another name: to change
    /// that, remove the old entry first.
    pub fn add(&mut self, name: &str, fingerprint: Fingerprint) -> Result<(), TrustError> {
        check_name(name)?;
        if let Some((known, _)) = self.peers.iter().find(|(known, print)| **print == fingerprint && *known != name) {
            return Err(TrustError::IdentityTaken { name: name.into(), known: known.clone(), fingerprint });
        }
        match self.peers.get(name) {
            Some(known) if *known != fingerprint => {
                Err(TrustError::NameTaken { name: name.into(), expected: *known, got: fingerprint })
            }
            _ => self.change(|peers| {
                peers.insert(name.into(), fingerprint);
            }),
        }
    }

    /// Removes a trusted peer and writes the file. Returns its fingerprint.
    pub fn remove(&mut self, name: &str) -> Result<Fingerprint, TrustError> {
        let fingerprint = self.get(name)?;
        self.change(|peers| {
            peers.remove(name);
        })?;
        Ok(fingerprint)
    }

    /// Changes the store if the change can be written.
    fn change(&mut self, change: impl FnOnce(&mut BTreeMap<String, Fingerprint>)) -> Result<(), TrustError> {
        let mut peers = self.peers.clone();
        change(&mut peers);
        let texts = peers.iter().map(|(name, fingerprint)| (name.clone(), fingerprint.to_string())).collect();
        let failed = |source| TrustError::Io { doing: "cannot write", path: self.path.clone(), source };
        let text = toml::to_string(&Content { format: Some(FORMAT), peers: texts })
            .map_err(|error| failed(io::Error::other(error)))?;
        replace(&self.path, text.as_bytes()).map_err(failed)?;
        self.peers = peers;
        Ok(())
    }

    fn unknown(&self, name: &str) -> TrustError {
        let known: Vec<&str> = self.peers.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "none".into() } else { known.join(", ") };
        TrustError::UnknownName { name: name.into(), known }
    }
}

fn check_name(name: &str) -> Result<(), TrustError> {
    // A joiner may be the only difference between two names.
    let hides = |c: char| controls_terminal(c) || matches!(c, '\u{200c}' | '\u{200d}');
    let printable = !name.is_empty() && name.len() <= NAME_BYTES_MAX && !name.contains(hides);
    if printable { Ok(()) } else { Err(TrustError::BadName { name: name.into() }) }
}

/// Creates a file that only its owner may write.
fn make(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o644);
    options.write(true).create(true).truncate(true).open(path)
}

/// Replaces a file atomically: after a crash it has its old content or its new.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let draft = folder.join(format!(".{name}.{}", std::process::id()));
    let written = make(&draft)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&draft, path))
        .and_then(|()| File::open(folder)?.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(n: u8) -> Fingerprint {
        Fingerprint::of(&[n])
    }

    fn store() -> (tempfile::TempDir, TrustStore) {
        let folder = tempfile::tempdir().expect("a folder");
        let store = TrustStore::open(&folder.path().join("trust.toml")).expect("empty");
        (folder, store)
    }

    #[test]
    fn peers_are_added_kept_and_removed() {
        let (_folder, mut store) = store();
        store.add("bob", fingerprint(1)).expect("added");
        store.add("alice smith", fingerprint(2)).expect("added");
        store.add("bob", fingerprint(1)).expect("the same again");
        let mut again = TrustStore::open(&store.path).expect("reads");
        assert_eq!(again.peers(), store.peers());
        assert_eq!(again.get("alice smith").expect("known"), fingerprint(2));
        assert_eq!(again.remove("bob").expect("known"), fingerprint(1));
        let last = TrustStore::open(&store.path).expect("reads");
        assert_eq!(last.peers().keys().collect::<Vec<_>>(), ["alice smith"]);
    }

    #[test]
    fn a_name_does_not_change_hands_silently() {
        let (_folder, mut store) = store();
        store.add("bob", fingerprint(1)).expect("added");
        assert!(matches!(store.add("bob", fingerprint(2)), Err(TrustError::NameTaken { .. })));
        assert_eq!(store.get("bob").expect("known"), fingerprint(1));
    }

    #[test]
    fn wrong_names_are_explained() {
        let (_folder, mut store) = store();
        let error = store.get("bob").expect_err("nobody");
        assert_eq!(error.to_string(), "no trusted peer is called `bob`; trusted peers: none");
        store.add("alice", fingerprint(1)).expect("added");
        let error = store.remove("bob").expect_err("nobody");
        assert_eq!(error.to_string(), "no trusted peer is called `bob`; trusted peers: alice");
        for name in ["", "a\nb", "\u{1b}[2J", "bo\u{200b}b", "bo\u{200d}b", "\u{202e}bob", &"x".repeat(101)] {
            assert!(matches!(store.add(name, fingerprint(1)), Err(TrustError::BadName { .. })), "{name:?}");
        }
    }

    #[test]
    fn an_identity_has_one_name() {
        let (_folder, mut store) = store();
        store.add("bob", fingerprint(1)).expect("added");
        let error = store.add("carol", fingerprint(1)).expect_err("it is bob").to_string();
        assert!(error.contains("is trusted already, as `bob`") && error.contains("got `carol` too"), "{error}");
        store.check_names().expect("one name each");
        fs::write(&store.path, format!("[peers]\nbob = \"{0}\"\ncarol = \"{0}\"\n", fingerprint(1))).expect("written");
        let mut written = TrustStore::open(&store.path).expect("it can be mended");
        assert!(matches!(written.check_names(), Err(TrustError::IdentityTaken { .. })));
        written.remove("bob").expect("known");
        written.check_names().expect("one name each");
    }

    #[test]
    fn a_store_that_cannot_be_written_stays_unchanged() {
        let (folder, mut store) = store();
        fs::create_dir(&store.path).expect("in the way");
        assert!(matches!(store.add("bob", fingerprint(1)), Err(TrustError::Io { .. })));
        assert!(store.peers().is_empty());
        assert_eq!(fs::read_dir(folder.path()).expect("ours").count(), 1, "no draft is left");
    }

    #[test]
    fn malformed_trust_stores_are_explained() {
        let (_folder, store) = store();
        for (text, what) in [
            ("peers = 3", "is not a trust store"),
            ("[peers]\nbob = 3", "is not a trust store: line 2: peers.bob: expected a text in quotes, got 3"),
            ("[friends]\n", "unknown field `friends`"),
            ("format = 2\n[friends]\n", "is of format 2, this Garblet reads format 1"),
            ("[peers]\nbob = \"0000\"", "peer `bob`: fingerprint has 4 characters, expected 36"),
            ("[peers]\n\"\" = \"0000\"", "cannot be a name"),
            ("\u{0}", "is not a trust store"),
        ] {
            fs::write(&store.path, text).expect("written");
            let error = TrustStore::open(&store.path).expect_err(text).to_string();
            assert!(error.contains(what), "{error}");
        }
    }
}
