//! Frames: the wire format of a channel.
//!
//! ```text
//! byte    0      1        2..6                6..6+length
//!         type   kind     length (little-     payload
//!                         endian u32)
//! ```
//!
//! `type` is control (a typed message, whose number is `kind`), bulk (a piece of the bulk stream), abort (empty, or three or
//! five bytes of blame, see [`Blame`](crate::Blame)) or close (empty). `kind` is 0 unless the frame is control. The numbers of
//! the types are far from ASCII and from the first bytes of TLS, so that a peer with another protocol is recognised by
//! its first byte.

use crate::blame::BLAME_BYTES;
use crate::error::NetError;

/// Bytes of a frame's header.
pub(crate) const HEADER_BYTES: usize = 6;

/// The longest payload of one bulk frame; longer pieces are sent as several.
pub(crate) const BULK_FRAME_BYTES_MAX: usize = 1 << 24;

const CONTROL: u8 = 0xC0;
const BULK: u8 = 0xC1;
const ABORT: u8 = 0xC2;
const CLOSE: u8 = 0xC3;

/// A frame's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Header {
    /// A control message with its kind and length.
    Control { kind: u8, bytes: u32 },
    /// A piece of the bulk stream.
    Bulk { bytes: u32 },
    /// The peer gives up, and may say which party it blames.
    Abort { bytes: u32 },
    /// The peer has nothing more to send.
    Close,
}

impl Header {
    /// The encoded header.
    pub(crate) fn encode(self) -> [u8; HEADER_BYTES] {
        let (number, kind, bytes) = match self {
            Header::Control { kind, bytes } => (CONTROL, kind, bytes),
            Header::Bulk { bytes } => (BULK, 0, bytes),
            Header::Abort { bytes } => (ABORT, 0, bytes),
            Header::Close => (CLOSE, 0, 0),
        };
        let [a, b, c, d] = bytes.to_le_bytes();
        [number, kind, a, b, c, d]
    }

    /// Decodes a header. *Errors:* malformed, if no channel sends these bytes.
    pub(crate) fn decode(raw: [u8; HEADER_BYTES]) -> Result<Self, NetError> {
        let [number, kind, a, b, c, d] = raw;
        let bytes = u32::from_le_bytes([a, b, c, d]);
        match (number, kind, bytes) {
            (CONTROL, kind, bytes) => Ok(Header::Control { kind, bytes }),
            (BULK, 0, 1..) if bytes as usize <= BULK_FRAME_BYTES_MAX => Ok(Header::Bulk { bytes }),
            (ABORT, 0, bytes) if bytes == 0 || BLAME_BYTES.contains(&(bytes as usize)) => Ok(Header::Abort { bytes }),
            (CLOSE, 0, 0) => Ok(Header::Close),
            _ => Err(no_header(raw)),
        }
    }
}

/// The first byte of a TLS record of a handshake, and of an alert.
pub(crate) const TLS_HANDSHAKE: u8 = 0x16;
const TLS_ALERT: u8 = 0x15;

/// The error for bytes that no channel sends.
fn no_header(raw: [u8; HEADER_BYTES]) -> NetError {
    let (what, expected, got) = ("frame header", "a frame of this protocol", describe(raw));
    match raw {
        [TLS_HANDSHAKE | TLS_ALERT, 0x03, 0x00..=0x04, ..] => NetError::TlsMismatch { what, expected, got },
        _ => NetError::Malformed { what: what.into(), expected: expected.into(), got },
    }
}

/// The bytes in hexadecimal, and their likely origin.
fn describe(raw: [u8; HEADER_BYTES]) -> String {
    let hex: Vec<String> = raw.iter().map(|byte| format!("{byte:02x}")).collect();
    let looks = match raw {
        [TLS_HANDSHAKE, 0x03, 0x00..=0x04, ..] => ", a TLS handshake: the peer uses TLS, this side does not".into(),
        [TLS_ALERT, 0x03, 0x00..=0x04, ..] => ", a TLS alert: the peer uses TLS, this side does not".into(),
        _ if raw.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace()) => {
            format!(", the text `{}`: the peer is another program", raw.escape_ascii())
        }
        _ => String::new(),
    };
    format!("bytes {}{looks}", hex.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn error_text(raw: &[u8; HEADER_BYTES]) -> String {
        Header::decode(*raw).expect_err("not a frame").to_string()
    }

    #[test]
    fn every_header_reads_back() {
        for header in [
            Header::Control { kind: 0, bytes: 0 },
            Header::Control { kind: 255, bytes: u32::MAX },
            Header::Bulk { bytes: 1 },
            Header::Bulk { bytes: BULK_FRAME_BYTES_MAX as u32 },
            Header::Abort { bytes: 0 },
            Header::Abort { bytes: 3 },
            Header::Abort { bytes: 5 },
            Header::Close,
        ] {
            assert_eq!(Header::decode(header.encode()).expect("well formed"), header);
        }
    }

    #[test]
    fn other_programs_are_named() {
        assert!(error_text(b"GET / ").contains("the text `GET / `"));
        assert!(error_text(&[0x16, 0x03, 0x01, 0x02, 0x00, 0x01]).contains("a TLS handshake"));
        assert!(error_text(&[0; 6]).contains("bytes 00 00 00 00 00 00"));
    }

    #[test]
    fn tls_is_distinguished_from_other_programs() {
        for (raw, tls) in
            [(*b"\x16\x03\x01\x02\x00\x01", true), (*b"\x15\x03\x03\x00\x02\x02", true), (*b"GET / ", false)]
        {
            let error = Header::decode(raw).expect_err("not a frame");
            assert_eq!(matches!(error, NetError::TlsMismatch { .. }), tls, "{error}");
        }
    }

    #[test]
    fn empty_and_oversized_bulk_frames_are_malformed() {
        for bytes in [0, BULK_FRAME_BYTES_MAX as u32 + 1, u32::MAX] {
            assert!(Header::decode(Header::Bulk { bytes }.encode()).is_err(), "{bytes}");
        }
    }

    #[test]
    fn abort_carries_blame_or_nothing_and_close_nothing() {
        for bytes in [1, 4, 6] {
            assert!(Header::decode([ABORT, 0, bytes, 0, 0, 0]).is_err());
        }
        assert!(Header::decode([CLOSE, 1, 0, 0, 0, 0]).is_err());
        assert!(Header::decode([BULK, 1, 1, 0, 0, 0]).is_err());
    }

    proptest! {
        #[test]
        fn decoded_headers_encode_to_the_same_bytes(raw: [u8; HEADER_BYTES], number in 0xBFu8..=0xC4) {
            let mut near = raw;
            near[0] = number;
            for bytes in [raw, near] {
                if let Ok(header) = Header::decode(bytes) {
                    prop_assert_eq!(header.encode(), bytes);
                }
            }
        }
    }
}
