//! Fingerprints of identities, made to be read aloud.

use std::fmt;
use std::str::FromStr;

use subtle::ConstantTimeEq;

/// Bytes of the hash of the public key.
const HASH_BYTES: usize = 20;

/// Characters of the hash and of the whole: 5 bits each, in groups of 4. The last group is a check of the others.
const HASH_CHARS: usize = HASH_BYTES * 8 / 5;
const CHARS: usize = HASH_CHARS + GROUP_CHARS;
const GROUP_CHARS: usize = 4;

/// Digits and letters, without the ambiguous ones: i, l, o and u.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The bytes before an Ed25519 key in a SubjectPublicKeyInfo (RFC 8410, section 4).
const SPKI_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0];

const HASH_CONTEXT: &str = "garblet 2026 identity fingerprint";
const CHECK_CONTEXT: &str = "garblet 2026 identity fingerprint check";

/// The digest that stands for an identity: 160 bits of the BLAKE3 hash of its public key (the DER SubjectPublicKeyInfo).
///
/// It prints as nine groups of four characters, `h2wm-...`, the last of which checks the others. It reads back with or
/// without hyphens and spaces, in any case, and with `o` for `0` and `i` or `l` for `1`. Public, but compared in
/// constant time.
#[derive(Clone, Copy)]
pub struct Fingerprint([u8; HASH_BYTES]);

/// The error for a text that is not a fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FingerprintError {
    /// A character that no fingerprint contains.
    #[error("fingerprint has the character `{0}`, expected digits and letters other than u")]
    Character(char),
    /// Too short or too long.
    #[error("fingerprint has {0} characters, expected {CHARS} in groups of {GROUP_CHARS}")]
    Length(usize),
    /// The last group does not match the others.
    #[error("fingerprint is mistyped or misheard: its last group, a checksum, does not match")]
    Check,
}

impl Fingerprint {
    /// The fingerprint of a public key.
    pub(crate) fn of(public_key: &[u8]) -> Self {
        let mut hash = [0; HASH_BYTES];
        blake3::Hasher::new_derive_key(HASH_CONTEXT).update(public_key).finalize_xof().fill(&mut hash);
        Fingerprint(hash)
    }

    /// The fingerprint of an identity from its bare public key (Ed25519), as in invitations.
    pub fn of_ed25519(public_key: &[u8; 32]) -> Self {
        Fingerprint::of(&[&SPKI_PREFIX[..], public_key].concat())
    }

    fn chars(&self) -> impl Iterator<Item = char> {
        let check = blake3::derive_key(CHECK_CONTEXT, &self.0);
        digits(&self.0).take(HASH_CHARS).chain(digits(&check).take(GROUP_CHARS).collect::<Vec<_>>())
    }
}

/// The bits of the bytes, most significant first, 5 per character.
fn digits(bytes: &[u8]) -> impl Iterator<Item = char> {
    let bit = move |i: usize| bytes[i / 8] >> (7 - i % 8) & 1;
    (0..bytes.len() * 8 / 5).map(move |digit| {
        let value = (0..5).fold(0, |value, i| value << 1 | bit(digit * 5 + i));
        ALPHABET[usize::from(value)].into()
    })
}

/// A character's 5 bits.
fn digit(c: char) -> Option<u8> {
    let c = match c.to_ascii_lowercase() {
        'o' => '0',
        'i' | 'l' => '1',
        c => c,
    };
    ALPHABET.iter().position(|&letter| char::from(letter) == c).map(|value| value as u8)
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, c) in self.chars().enumerate() {
            if i > 0 && i % GROUP_CHARS == 0 {
                f.write_str("-")?;
            }
            write!(f, "{c}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    fn from_str(text: &str) -> Result<Self, FingerprintError> {
        let values: Vec<u8> = text
            .chars()
            .filter(|c| !c.is_whitespace() && *c != '-')
            .map(|c| digit(c).ok_or(FingerprintError::Character(c)))
            .collect::<Result<_, _>>()?;
        if values.len() != CHARS {
            return Err(FingerprintError::Length(values.len()));
        }
        let mut hash = [0; HASH_BYTES];
        for (i, value) in values[..HASH_CHARS].iter().enumerate() {
            for bit in 0..5 {
                let at = i * 5 + bit;
                hash[at / 8] |= (value >> (4 - bit) & 1) << (7 - at % 8);
            }
        }
        let read = Fingerprint(hash);
        let same = read.chars().zip(values).all(|(c, value)| digit(c) == Some(value));
        if same { Ok(read) } else { Err(FingerprintError::Check) }
    }
}

impl PartialEq for Fingerprint {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Fingerprint {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_byte_of_a_fingerprint_is_compared() {
        let ours = Fingerprint([7; HASH_BYTES]);
        assert_eq!(ours, Fingerprint([7; HASH_BYTES]));
        for at in 0..HASH_BYTES {
            let mut other = ours;
            other.0[at] ^= 0x80;
            assert_ne!(ours, other, "byte {at}");
        }
    }

    #[test]
    fn the_form_is_nine_groups_of_four() {
        let text = Fingerprint::of(b"a key").to_string();
        assert_eq!(text.len(), 9 * 4 + 8);
        assert!(text.split('-').all(|group| group.len() == 4), "{text}");
        assert_ne!(text, Fingerprint::of(b"another key").to_string());
    }

    #[test]
    fn the_form_never_changes() {
        // Trust stores contain fingerprints, so neither the hash nor the text may ever change.
        assert_eq!(Fingerprint([0; HASH_BYTES]).to_string()[..39], *"0000-0000-0000-0000-0000-0000-0000-0000");
        assert_eq!(Fingerprint([0xFF; HASH_BYTES]).to_string()[..39], *"zzzz-zzzz-zzzz-zzzz-zzzz-zzzz-zzzz-zzzz");
        assert_eq!(Fingerprint::of(b"a key").to_string(), "m3qh-veqc-e17z-9e7p-zj4a-35z4-y72b-j77x-0hyv");
    }

    #[test]
    fn malformed_fingerprints_are_explained() {
        let parse = |text: &str| text.parse::<Fingerprint>();
        assert_eq!(parse(""), Err(FingerprintError::Length(0)));
        assert_eq!(parse("0000-0000"), Err(FingerprintError::Length(8)));
        assert_eq!(parse("u000"), Err(FingerprintError::Character('u')));
        assert_eq!(parse("000\u{e9}"), Err(FingerprintError::Character('\u{e9}')));
    }

    #[test]
    fn a_wrong_character_anywhere_is_detected() {
        let right: Vec<char> = Fingerprint::of(b"a key").chars().collect();
        for at in 0..CHARS {
            for wrong in ALPHABET.iter().map(|&letter| char::from(letter)).filter(|&c| c != right[at]) {
                let mut said = right.clone();
                said[at] = wrong;
                let result = said.iter().collect::<String>().parse::<Fingerprint>();
                assert_eq!(result, Err(FingerprintError::Check), "{wrong} at {at}");
            }
        }
    }

    proptest! {
        #[test]
        fn spoken_forms_read_back(hash: [u8; HASH_BYTES], upper: bool, spaces: bool) {
            let ours = Fingerprint(hash);
            let mut text = ours.to_string();
            if upper {
                text = text.to_ascii_uppercase().replace('0', "O").replace('1', "l");
            }
            if spaces {
                text = format!(" {} ", text.replace('-', " "));
            }
            prop_assert_eq!(text.parse::<Fingerprint>(), Ok(ours));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,60}") {
            let _ = text.parse::<Fingerprint>();
        }
    }
}
