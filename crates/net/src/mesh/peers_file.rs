//! The file with the addresses and identities of the parties.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use crate::fingerprint::Fingerprint;
use crate::small_file::{check_stated_format, read_small_file};
use crate::toml_words::toml_words;

/// The newest format of these files.
const FORMAT: u32 = 1;

/// The largest accepted file.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The most parties of a run.
const PARTIES_MAX: usize = 255;

/// One party of a [`PeersFile`].
#[derive(Clone, Debug)]
pub struct PeerEntry {
    /// The address where it listens, `HOST:PORT`.
    pub address: String,
    /// The fingerprint of its identity; `None` for plain TCP.
    pub fingerprint: Option<Fingerprint>,
}

/// All parties of a run, by number: a TOML file with one table `[[party]]` for each.
///
/// ```toml
/// [[party]]
/// address = "alice.example:7000"
/// fingerprint = "h2wm-..."
/// ```
#[derive(Clone, Debug)]
pub struct PeersFile {
    parties: Vec<PeerEntry>,
}

/// The error for a wrong peers file.
#[derive(Debug, thiserror::Error)]
#[error("{}{}: {what}", path.display(), line.map_or(String::new(), |line| format!(":{line}")))]
pub struct PeersFileError {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: Option<usize>,
    /// The fault in the file.
    pub what: String,
    /// The kind of the fault.
    pub fault: PeersFileFault,
}

/// The kinds of faults in a peers file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeersFileFault {
    /// The file cannot be read, or is too long.
    Unreadable,
    /// It has another form, or too few or too many parties.
    Form,
    /// A format of a later version.
    Format,
    /// A malformed address.
    Address,
    /// A malformed fingerprint.
    Fingerprint,
    /// Two parties with the same address.
    SameAddress,
    /// Two parties with the same fingerprint.
    SameFingerprint,
    /// Fingerprints for only some parties.
    SomeFingerprints,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    #[serde(rename = "format")]
    _format: Option<u32>,
    #[serde(default)]
    party: Vec<Spanned<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    address: Spanned<String>,
    fingerprint: Option<Spanned<String>>,
}

impl PeersFile {
    /// The parties at these addresses, without identities.
    pub fn plain(addresses: impl IntoIterator<Item = String>) -> Self {
        let entry = |address| PeerEntry { address, fingerprint: None };
        PeersFile { parties: addresses.into_iter().map(entry).collect() }
    }

    /// Reads the file.
    ///
    /// *Errors:* with the line: a malformed file; fewer than 2 parties or more than 255; two parties with the same address
    /// or fingerprint; some parties with a fingerprint and others without.
    pub fn open(path: &Path) -> Result<Self, PeersFileError> {
        let error =
            |what: String| PeersFileError { path: path.into(), line: None, what, fault: PeersFileFault::Unreadable };
        let unreadable = |source: std::io::Error| error(format!("cannot be read: {source}"));
        PeersFile::parse(path, &read_small_file(path, FILE_BYTES_MAX).map_err(unreadable)?)
    }

    /// Reads the file's text; `path` is for messages.
    fn parse(path: &Path, text: &str) -> Result<Self, PeersFileError> {
        let error = |span: Option<Range<usize>>, what: String, fault: PeersFileFault| PeersFileError {
            path: path.into(),
            line: span.map(|span| text.as_bytes().iter().take(span.start).filter(|&&byte| byte == b'\n').count() + 1),
            what,
            fault,
        };
        check_stated_format(text, FORMAT).map_err(|other| error(None, other.to_string(), PeersFileFault::Format))?;
        let content: Content =
            toml::from_str(text).map_err(|e| error(e.span(), toml_words(&e), PeersFileFault::Form))?;
        if !(2..=PARTIES_MAX).contains(&content.party.len()) {
            let what = format!("expected 2 to {PARTIES_MAX} parties, got {}", content.party.len());
            return Err(error(None, what, PeersFileFault::Form));
        }
        let mut parties: Vec<PeerEntry> = Vec::with_capacity(content.party.len());
        for entry in content.party {
            let party = parties.len();
            let span = entry.span();
            let Entry { address, fingerprint } = entry.into_inner();
            check_address(address.get_ref()).map_err(|what| {
                error(Some(address.span()), format!("party {party}: {what}"), PeersFileFault::Address)
            })?;
            let fingerprint = match fingerprint {
                None => None,
                Some(text) => Some(text.get_ref().parse::<Fingerprint>().map_err(|what| {
                    error(Some(text.span()), format!("party {party}: {what}"), PeersFileFault::Fingerprint)
                })?),
            };
            let entry = PeerEntry { address: address.into_inner(), fingerprint };
            check_against(&entry, &parties).map_err(|(what, fault)| error(Some(span), what, fault))?;
            parties.push(entry);
        }
        Ok(PeersFile { parties })
    }

    /// The same parties with these identities, one for each.
    ///
    /// *Errors:* the number of the first party for which the file has another identity.
    pub fn pinned(mut self, fingerprints: &[Fingerprint]) -> Result<Self, u16> {
        for (party, (entry, fingerprint)) in self.parties.iter_mut().zip(fingerprints).enumerate() {
            if entry.fingerprint.replace(*fingerprint).is_some_and(|own| own != *fingerprint) {
                return Err(party as u16);
            }
        }
        Ok(self)
    }

    /// The parties in order.
    pub fn parties(&self) -> &[PeerEntry] {
        &self.parties
    }

    /// The number of the party with this identity.
    #[cfg(feature = "tcp")]
    pub(crate) fn party_of(&self, fingerprint: Fingerprint) -> Option<u16> {
        let party = self.parties.iter().position(|party| party.fingerprint == Some(fingerprint));
        party.map(|party| party as u16)
    }

    /// The number of parties.
    pub fn party_count(&self) -> u16 {
        self.parties.len() as u16
    }
}

fn check_address(address: &str) -> Result<(), String> {
    let (host, port) = address.rsplit_once(':').unwrap_or(("", ""));
    match !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0) {
        true => Ok(()),
        false => Err(format!("`{}` is not an address: expected HOST:PORT", address.escape_debug())),
    }
}

/// Compares a party with those before it.
fn check_against(entry: &PeerEntry, others: &[PeerEntry]) -> Result<(), (String, PeersFileFault)> {
    let party = others.len();
    if let Some(other) = others.iter().position(|other| other.address == entry.address) {
        let what = format!("party {party} has the address {} of party {other}", entry.address);
        return Err((what, PeersFileFault::SameAddress));
    }
    let same = |other: &PeerEntry| other.fingerprint.is_some() && other.fingerprint == entry.fingerprint;
    if let Some(other) = others.iter().position(same) {
        let what = format!("party {party} has the fingerprint of party {other}");
        return Err((what, PeersFileFault::SameFingerprint));
    }
    match others.first().filter(|first| first.fingerprint.is_some() != entry.fingerprint.is_some()) {
        Some(first) => {
            let (with, without) = if first.fingerprint.is_some() { (0, party) } else { (party, 0) };
            let what = format!("party {with} has a fingerprint, party {without} has none");
            Err((what, PeersFileFault::SomeFingerprints))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<PeersFile, PeersFileError> {
        PeersFile::parse(Path::new("peers.toml"), text)
    }

    fn entry(address: &str, fingerprint: Option<u8>) -> String {
        let fingerprint = fingerprint.map(|n| format!("fingerprint = \"{}\"\n", Fingerprint::of(&[n])));
        format!("[[party]]\naddress = \"{address}\"\n{}", fingerprint.unwrap_or_default())
    }

    #[test]
    fn parties_are_read_in_order() {
        let text = [entry("a:1", Some(1)), entry("[::1]:2", Some(2)), entry("127.0.0.1:3", Some(3))].concat();
        let peers = parse(&text).expect("well formed");
        let addresses: Vec<&str> = peers.parties().iter().map(|party| &party.address[..]).collect();
        assert_eq!(addresses, ["a:1", "[::1]:2", "127.0.0.1:3"]);
        assert_eq!(peers.parties()[2].fingerprint, Some(Fingerprint::of(&[3])));
        let plain = parse(&[entry("a:1", None), entry("a:2", None)].concat()).expect("plain");
        assert!(plain.parties().iter().all(|party| party.fingerprint.is_none()));
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let good = entry("a:1", Some(1));
        for (text, expected) in [
            (String::new(), "peers.toml: expected 2 to 255 parties, got 0"),
            (good.clone(), "peers.toml: expected 2 to 255 parties, got 1"),
            (format!("format = 2\n{good}[[friend]]\n"), "peers.toml: is of format 2, this Garblet reads format 1"),
            (format!("{good}[[party]]\n"), "peers.toml:4: missing field `address`"),
            (format!("{good}[[party]]\nadress = \"a:2\"\n"), "peers.toml:5: unknown field `adress`"),
            (
                format!("{good}[[party]]\naddress = 3\n"),
                "peers.toml:5: party.address: expected a text in quotes, got 3",
            ),
            (format!("{good}[[party\n"), "peers.toml:4: "),
            (format!("{good}{}", entry("a", Some(2))), "peers.toml:5: party 1: `a` is not an address"),
            (format!("{good}{}", entry(":5", Some(2))), "peers.toml:5: party 1: `:5` is not an address"),
            (format!("{good}{}", entry("a:0", Some(2))), "peers.toml:5: party 1: `a:0` is not an address"),
            (format!("{good}{}", entry("a:1", Some(2))), "peers.toml:4: party 1 has the address a:1 of party 0"),
            (format!("{good}{}", entry("a:2", Some(1))), "peers.toml:4: party 1 has the fingerprint of party 0"),
            (format!("{good}{}", entry("a:2", None)), "peers.toml:4: party 0 has a fingerprint, party 1 has none"),
            (format!("{}{}", entry("a:2", None), good), "peers.toml:3: party 1 has a fingerprint, party 0 has none"),
            (
                format!("{good}[[party]]\naddress = \"a:2\"\nfingerprint = \"00\"\n"),
                "peers.toml:6: party 1: fingerprint has 2 characters",
            ),
        ] {
            let error = parse(&text).expect_err(expected).to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn parties_are_pinned_to_identities_consistent_with_the_file() {
        let known = [1, 2].map(|n| Fingerprint::of(&[n]));
        for text in [[entry("a:1", None), entry("a:2", None)], [entry("a:1", Some(1)), entry("a:2", Some(2))]] {
            let peers = parse(&text.concat()).expect("well formed").pinned(&known).expect("fits");
            assert!(peers.parties().iter().zip(known).all(|(party, known)| party.fingerprint == Some(known)));
        }
        let other = parse(&[entry("a:1", Some(1)), entry("a:2", Some(3))].concat()).expect("well formed");
        assert_eq!(other.pinned(&known).err(), Some(1));
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = PeersFile::open(Path::new("no-such-peers.toml")).expect_err("missing").to_string();
        assert!(error.starts_with("no-such-peers.toml: cannot be read"), "{error}");
    }
}
