//! The lines of a log of receipts, each of which has the digest of the one before it.

use std::{
    fmt,
    io::{BufRead, BufReader, Read},
};

use serde::{Deserialize, Serialize};

use super::Receipt;
use crate::hex::{from_hex, to_hex};

/// Separates digests of receipts from all other uses of BLAKE3.
const CONTEXT: &str = "garblet 2026 receipt v1";

/// The text between a receipt and its digest.
const MARK: &str = ",\"digest\":\"";

/// The longest line: a receipt of a run of 255 parties, with a message and outputs.
pub(super) const LINE_BYTES_MAX: usize = 16 << 20;

/// The end of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// The number of the last receipt, from 1; 0 if there is none.
    pub(super) number: u64,
    /// Its digest; zeros if there is none.
    pub(super) digest: [u8; 32],
}

impl Head {
    /// The end of a chain without receipts.
    pub(super) const NONE: Head = Head { number: 0, digest: [0; 32] };
}

/// A receipt with its place in the chain.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Link {
    pub(super) number: u64,
    /// The digest of the receipt before it.
    pub(super) previous: String,
    #[serde(flatten)]
    pub(super) receipt: Receipt,
}

/// A line that does not continue a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Broken {
    /// The number of the line, from 1.
    pub(super) line: u64,
    pub(super) what: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.what)
    }
}

/// The line, without its end, of the receipt that comes behind a head, and the new head.
pub(super) fn line_behind(head: Head, receipt: &Receipt) -> serde_json::Result<(String, Head)> {
    let number = head.number + 1;
    let link = Link { number, previous: to_hex(&head.digest), receipt: receipt.clone() };
    let mut line = serde_json::to_string(&link)?;
    // The digest stands within the object, and is of all that stands before it.
    line.pop();
    let digest = digest_of(&line);
    line.push_str(&format!("{MARK}{}\"}}", to_hex(&digest)));
    Ok((line, Head { number, digest }))
}

fn digest_of(content: &str) -> [u8; 32] {
    blake3::derive_key(CONTEXT, content.as_bytes())
}

/// Reads a line by itself. Returns the receipt and the digest, which is that of its content.
pub(super) fn read_line(line: &str) -> Result<(Link, [u8; 32]), String> {
    let (content, digest) = line.rsplit_once(MARK).ok_or("it is no receipt: it has no digest at its end")?;
    let said = digest.strip_suffix("\"}").and_then(from_hex).and_then(|bytes| bytes.try_into().ok());
    let said: [u8; 32] = said.ok_or("it is no receipt: its digest is none")?;
    let digest = digest_of(content);
    if digest != said {
        return Err(format!("it was changed: its digest is {}, its content has {}", to_hex(&said), to_hex(&digest)));
    }
    let link = serde_json::from_str(&format!("{content}}}")).map_err(|error| format!("it is no receipt: {error}"))?;
    Ok((link, digest))
}

/// Reads a chain from its beginning, and hands out each receipt. Returns its end, and how many bytes of a torn line are behind it.
pub(super) fn read(log: impl Read, mut each: impl FnMut(Link, [u8; 32])) -> Result<(Head, u64), Broken> {
    let (mut log, mut head) = (BufReader::new(log), Head::NONE);
    loop {
        let at = head.number + 1;
        let broken = |what: String| Broken { line: at, what };
        let mut line = Vec::new();
        let read = (&mut log).take(LINE_BYTES_MAX as u64).read_until(b'\n', &mut line);
        read.map_err(|error| broken(format!("cannot be read: {error}")))?;
        match line.pop() {
            None => return Ok((head, 0)),
            Some(b'\n') => {}
            Some(_) if line.len() + 1 == LINE_BYTES_MAX => {
                return Err(broken(format!("it is no receipt: it is longer than {LINE_BYTES_MAX} bytes")));
            }
            Some(_) => return Ok((head, line.len() as u64 + 1)),
        }
        let text = str::from_utf8(&line).map_err(|_| broken("it is no receipt: it is no text in UTF-8".into()))?;
        let (link, digest) = read_line(text).map_err(broken)?;
        check_place(&link, head).map_err(broken)?;
        head = Head { number: link.number, digest };
        each(link, digest);
    }
}

/// Looks whether a receipt comes behind a head.
fn check_place(link: &Link, head: Head) -> Result<(), String> {
    let (number, previous) = (head.number + 1, to_hex(&head.digest));
    if link.number != number {
        return Err(format!(
            "it is receipt {}, expected {number}: one was dropped, moved or added before it",
            link.number
        ));
    }
    if link.previous != previous {
        return Err(format!(
            "it comes behind {}, and behind {previous} here: what is before it was changed",
            link.previous
        ));
    }
    Ok(())
}
