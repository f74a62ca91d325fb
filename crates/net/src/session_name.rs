//! Names of sessions, which keep different runs apart.

use std::fmt;
use std::str::FromStr;

/// The longest name: the limit of a label in a server name.
const LENGTH_MAX: usize = 63;

/// The name of a session, the same for all its parties.
///
/// It is sent in the clear before the handshake as the server name of TLS, so that a proxy can distinguish sessions without a key, and again in the
/// hello, where both sides compare it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionName(String);

impl SessionName {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for SessionName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let begins = text.starts_with(|c: char| c.is_ascii_lowercase());
        let plain = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        match begins && plain && !text.ends_with('-') && text.len() <= LENGTH_MAX {
            true => Ok(SessionName(text.into())),
            false => Err(format!(
                "expected a letter and then at most {} letters, digits and `-`, all small and no `-` at the end",
                LENGTH_MAX - 1
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::ServerName;

    use super::*;

    #[test]
    fn names_are_valid_tls_server_names() {
        let longest = "x".repeat(LENGTH_MAX);
        for name in ["a", "join-0041", "a1", &longest] {
            let session: SessionName = name.parse().expect("a name");
            assert!(matches!(ServerName::try_from(session.as_str()), Ok(ServerName::DnsName(_))), "{name}");
        }
        let too_long = "x".repeat(LENGTH_MAX + 1);
        for name in ["", "7", "7a", "-a", "a-", "A", "a.b", "a_b", "a b", "ä", &too_long] {
            assert!(name.parse::<SessionName>().is_err(), "{name}");
        }
    }
}
