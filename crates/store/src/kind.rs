//! The kinds of pieces.

use std::fmt;

use garblet_text::controls_terminal;
use serde::{Deserialize, Serialize};

/// The longest name of a kind.
pub(crate) const KIND_NAME_BYTES_MAX: usize = 64;

/// The word between the unit and their number in a name.
const BY: &str = " by ";

/// The kind of a piece: a name, for instance `component aes-round`, and everything in which pieces of the same name may differ.
///
/// Both parties name the same kind alike, because they reconcile kind by kind. Displayed as the name and the first
/// bytes of the parameters' hash.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Kind {
    name: String,
    digest: [u8; 32],
}

/// A received kind, not yet checked.
#[derive(Deserialize)]
struct Unchecked {
    name: String,
    digest: [u8; 32],
}

impl Kind {
    /// The kind with this name and these parameters, of any length: a circuit's digest, a garbling scheme, a width.
    ///
    /// A name that is longer than 64 bytes, or has characters that control a terminal, is printed differently, but remains distinct.
    pub fn new(name: &str, parameters: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("garblet-store 1 kind parameters");
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes()).update(parameters);
        let mut end = name.len().min(KIND_NAME_BYTES_MAX);
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        let name = name[..end].replace(controls_terminal, "?");
        Kind { name, digest: hasher.finalize().into() }
    }

    /// The kind whose pieces contain this number of units each. The unit is one word: `triples by 16`.
    pub fn in_groups(unit: &str, units: u32, parameters: &[u8]) -> Self {
        Kind::new(&format!("{unit}{BY}{units}"), parameters)
    }

    /// The unit of a piece and the number of units in it; one of the kind's name, unless [`Kind::in_groups`] made it.
    pub fn unit(&self) -> (&str, u64) {
        let grouped = self.name.split_once(BY).filter(|(unit, _)| !unit.contains(' '));
        grouped.and_then(|(unit, units)| Some((unit, units.parse().ok()?))).unwrap_or((&self.name, 1))
    }

    /// The printed name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The digest that distinguishes this kind from all others, even of the same name.
    pub fn digest(&self) -> KindDigest {
        KindDigest(self.digest)
    }
}

impl TryFrom<Unchecked> for Kind {
    type Error = &'static str;

    fn try_from(kind: Unchecked) -> Result<Self, Self::Error> {
        match kind.name.len() <= KIND_NAME_BYTES_MAX && !kind.name.contains(controls_terminal) {
            true => Ok(Kind { name: kind.name, digest: kind.digest }),
            false => Err("a kind of pieces has a name that is too long or contains terminal controls"),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.digest())
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The hash of a kind's name and parameters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct KindDigest(pub(crate) [u8; 32]);

impl fmt::Display for KindDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..4].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KindDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_and_parameters_distinguish_kinds() {
        let kind = Kind::new("component", b"aes");
        assert_eq!(kind, Kind::new("component", b"aes"));
        assert_ne!(kind.digest(), Kind::new("component", b"sha").digest());
        assert_ne!(kind.digest(), Kind::new("componenta", b"es").digest());
    }

    #[test]
    fn a_kind_knows_the_number_of_units_per_piece() {
        let kind = Kind::in_groups("triples", 16, b"p");
        assert_eq!((kind.unit(), &kind), (("triples", 16), &Kind::new("triples by 16", b"p")));
        for name in ["gates", "component a by 3", "triples by sixteen", "triples by"] {
            assert_eq!(Kind::new(name, b"").unit(), (name, 1));
        }
    }

    #[test]
    fn a_long_name_is_cut_between_characters_and_stays_distinct() {
        let long = "é".repeat(40);
        let (a, b) = (Kind::new(&long, b""), Kind::new(&format!("{long}x"), b""));
        assert_eq!(a.name(), "é".repeat(32));
        assert_eq!(a.name(), b.name());
        assert_ne!(a.digest(), b.digest());
    }

    #[test]
    fn a_name_with_terminal_controls_is_refused() {
        assert_eq!(Kind::new("a\x1b[2J", b"").name(), "a?[2J");
        assert_eq!(Kind::new("a\u{202e}b\u{2028}", b"").name(), "a?b?");
        for name in ["a\x1b[2J".to_string(), "a\u{2067}".into(), "x".repeat(KIND_NAME_BYTES_MAX + 1)] {
            let bytes = postcard::to_stdvec(&(name, [0u8; 32])).expect("encodes");
            assert!(postcard::from_bytes::<Kind>(&bytes).is_err());
        }
    }
}
