//! Invitations: what a client needs to talk to a server, on one line that a person can paste.
//!
//! `garblet-invitation:` and, in hexadecimal, `version 1 | server 32 | secret 32 | length 2, server's name | length 2, client's
//! name | check 4`, where the check is the beginning of a BLAKE3 hash of all before it.

use garblet_circuit::diagnostic::clip;
use rand_core::CryptoRng;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::Secret;
use crate::cursor::{Reader, Writer};
use crate::job::Identity;
use crate::malformed::Malformed;
use crate::shown::{NAME_BYTES_MAX, SHOWN, is_name};

/// The beginning of an invitation's text.
const PREFIX: &str = "garblet-invitation:";
/// Separates checks of invitations from all other uses of BLAKE3.
const CHECK_CONTEXT: &str = "garblet 2026 outsourced invitation check v1";
/// The version of invitations.
const VERSION: u8 = 1;
/// Bytes of the check.
const CHECK_BYTES: usize = 4;
/// The longest invitation, in bytes before they are written as text.
const BYTES_MAX: usize = 1 + 64 + 2 * (2 + NAME_BYTES_MAX) + CHECK_BYTES;

/// The invitation of a client by a server. *Secret*: whoever has it can act as the client; wiped on drop, without `Debug`.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Invitation {
    /// The identity by which jobs name the server.
    #[zeroize(skip)]
    pub server: Identity,
    /// The name of the server, for people.
    #[zeroize(skip)]
    pub server_name: String,
    /// The name that the server has for the client.
    #[zeroize(skip)]
    pub client_name: String,
    /// The secret of both.
    pub secret: Secret,
}

/// A text that is not an invitation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvitationError {
    /// It does not begin with the prefix.
    #[error("invitation: expected a text that begins with `{PREFIX}`")]
    Prefix,
    /// A character that no invitation contains. It is not shown: the rest of the text is secret.
    #[error("invitation, character {at}: expected digits and letters from a to f")]
    Character {
        /// Its position after the prefix, from 1.
        at: usize,
    },
    /// Too short, too long, or of an odd number of characters.
    #[error("invitation: expected pairs of characters, at most {most}, got {got} characters")]
    Length {
        /// The most characters.
        most: usize,
        /// The number of characters.
        got: usize,
    },
    /// The check does not fit.
    #[error("invitation: the check at its end does not match the rest")]
    Check,
    /// A name is empty or too long, or has characters that cannot be shown.
    #[error("invitation, {what}: expected 1 to {NAME_BYTES_MAX} bytes with {SHOWN}, got {got}")]
    Name {
        /// The party that the name is of.
        what: &'static str,
        /// The name, escaped and cut; or `nothing`.
        got: String,
    },
    /// The bytes are not an invitation.
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

impl InvitationError {
    /// Advice for a person.
    pub fn hint(&self) -> &'static str {
        match self {
            InvitationError::Malformed(malformed) => malformed.hint(),
            InvitationError::Name { .. } => "choose another name",
            _ => "paste the whole line that the server printed",
        }
    }
}

impl Invitation {
    /// An invitation with a new secret.
    ///
    /// *Errors*: [`InvitationError::Name`].
    pub fn new(
        server: Identity,
        server_name: &str,
        client_name: &str,
        random: &mut (impl CryptoRng + ?Sized),
    ) -> Result<Self, InvitationError> {
        Invitation::with_secret(server, server_name, client_name, Secret::random(random))
    }

    /// An invitation with the secret that the server has for that client.
    ///
    /// *Errors*: [`InvitationError::Name`].
    pub fn with_secret(
        server: Identity,
        server_name: &str,
        client_name: &str,
        secret: Secret,
    ) -> Result<Self, InvitationError> {
        check_names(server_name, client_name)?;
        Ok(Invitation { server, server_name: server_name.into(), client_name: client_name.into(), secret })
    }

    /// The identity by which jobs name the client: the same in the invitations of both servers.
    pub fn identity(&self) -> Identity {
        Identity::of_client(&self.client_name)
    }

    /// The invitation as one line. *Secret*.
    pub fn to_text(&self) -> Zeroizing<String> {
        let mut to = Writer::with_capacity(BYTES_MAX);
        to.u8(VERSION).bytes(&self.server.0).bytes(self.secret.as_bytes());
        to.text(&self.server_name).text(&self.client_name);
        let bytes = to.finish();
        let check = blake3::derive_key(CHECK_CONTEXT, &bytes);
        let mut text = Zeroizing::new(String::with_capacity(PREFIX.len() + 2 * BYTES_MAX));
        text.push_str(PREFIX);
        for byte in bytes.iter().chain(&check[..CHECK_BYTES]) {
            [byte >> 4, byte & 15]
                .into_iter()
                .for_each(|digit| text.push(char::from(b"0123456789abcdef"[usize::from(digit)])));
        }
        text
    }

    /// Reads an invitation; white space in it, as mail programs add it, means nothing.
    ///
    /// *Errors*: anything but the whole line that was printed.
    pub fn from_text(text: &str) -> Result<Self, InvitationError> {
        let rest = text.trim_start().strip_prefix(PREFIX).ok_or(InvitationError::Prefix)?;
        let most = 2 * BYTES_MAX;
        let got = rest.chars().filter(|c| !c.is_whitespace()).count();
        if got > most || !got.is_multiple_of(2) {
            return Err(InvitationError::Length { most, got });
        }
        let mut bytes = Zeroizing::new(vec![0u8; got / 2]);
        for (at, character) in rest.chars().filter(|c| !c.is_whitespace()).enumerate() {
            let digit = character.to_digit(16).ok_or(InvitationError::Character { at: at + 1 })?;
            bytes[at / 2] = bytes[at / 2] << 4 | digit as u8;
        }
        let (body, check) = bytes.split_at(bytes.len().saturating_sub(CHECK_BYTES));
        if blake3::derive_key(CHECK_CONTEXT, body)[..CHECK_BYTES] != *check {
            return Err(InvitationError::Check);
        }
        let mut from = Reader::new("invitation", body);
        from.constant("version", VERSION)?;
        let invitation = Invitation {
            server: Identity(from.array("server")?),
            secret: Secret::from_bytes(from.array("secret")?),
            server_name: from.text("name of the server", NAME_BYTES_MAX)?,
            client_name: from.text("name of the client", NAME_BYTES_MAX)?,
        };
        from.end()?;
        check_names(&invitation.server_name, &invitation.client_name)?;
        Ok(invitation)
    }
}

fn check_names(server: &str, client: &str) -> Result<(), InvitationError> {
    for (what, name) in [("name of the server", server), ("name of the client", client)] {
        if !is_name(name) {
            let got = match name.is_empty() {
                true => "nothing".into(),
                false => format!("`{}`", clip(&name.escape_debug().to_string())),
            };
            return Err(InvitationError::Name { what, got });
        }
    }
    Ok(())
}
