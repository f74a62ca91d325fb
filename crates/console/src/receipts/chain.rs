//! The lines of a receipt log, each with the digest of the one before it.

use std::{
    fmt,
    io::{BufRead, BufReader, Read},
};

use garblet::circuit::diagnostic::{OtherFormat, check_format};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Receipt, distinct::Distinct};
use crate::{
    failure::Failure,
    hex::to_hex,
    job::JobDigest,
    output::{printable_value, tell},
};

/// Separates digests of receipts from all other uses of BLAKE3.
const CONTEXT: &str = "garblet 2026 receipt v1";

/// The newest format of a line, which states it first. Another one needs another context of digests.
const FORMAT: u32 = 1;

/// The beginning of a line, before its format.
const BEGIN: &str = "{\"format\":";

/// The text between a receipt and its digest.
const MARK: &str = ",\"digest\":\"";

/// The greatest number of a receipt. Everywhere the next number is computed, too.
pub(super) const LAST: u64 = u64::MAX - 1;

/// The longest line: a receipt of a run of 255 parties, with a message and outputs.
pub(super) const LINE_BYTES_MAX: usize = 16 << 20;

/// The end of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The number of the last receipt, from 1; 0 if there is none.
    pub number: u64,
    /// Its digest; zeros if there is none.
    pub digest: [u8; 32],
}

impl Head {
    /// The head of an empty chain.
    pub(super) const NONE: Head = Head { number: 0, digest: [0; 32] };

    /// The beginning of the next line of a format, which does not depend on its receipt.
    fn next_begins(&self, format: u32) -> String {
        format!("{BEGIN}{format},\"number\":{},\"previous\":\"{}\"", self.number + 1, to_hex(&self.digest))
    }
}

/// A receipt with its position in the chain.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Link {
    /// The format of the line.
    pub format: u32,
    /// The number of the receipt, from 1.
    pub number: u64,
    /// The digest of the receipt before it.
    pub previous: String,
    /// The receipt.
    #[serde(flatten)]
    pub receipt: Receipt,
}

/// A line that does not continue a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The number of the line, from 1.
    pub(super) line: u64,
    pub(super) fault: Fault,
}

/// The fault of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is of another format.
    Format(OtherFormat),
    /// It is no receipt, or not the one that belongs there.
    Wrong(String),
}

impl Fault {
    /// The advice on it: `otherwise`, if the line is wrong.
    pub(super) fn hint(&self, otherwise: impl Into<String>) -> String {
        match self {
            Fault::Format(other) => other.hint().into(),
            Fault::Wrong(_) => otherwise.into(),
        }
    }
}

impl From<String> for Fault {
    fn from(what: String) -> Self {
        Fault::Wrong(what)
    }
}

impl From<&str> for Fault {
    fn from(what: &str) -> Self {
        Fault::Wrong(what.into())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Format(other) => write!(f, "{other}"),
            Fault::Wrong(what) => f.write_str(what),
        }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.fault)
    }
}

/// The bytes after the last complete line.
#[derive(Debug)]
pub(super) enum Tail {
    /// No bytes.
    Nothing,
    /// A receipt that lacks only its line end.
    Whole(Box<Link>, [u8; 32]),
    /// The beginning of a receipt.
    Torn,
}

/// The line of the next receipt after a head, without line end, and the new head.
pub(super) fn line_behind(head: Head, receipt: &Receipt) -> serde_json::Result<(String, Head)> {
    let number = head.number + 1;
    let link = Link { format: FORMAT, number, previous: to_hex(&head.digest), receipt: receipt.clone() };
    let (line, digest) = with_digest(&serde_json::to_string(&link)?);
    Ok((line, Head { number, digest }))
}

/// The object with its digest as its last field, over all the text before it.
pub(super) fn with_digest(object: &str) -> (String, [u8; 32]) {
    let content = object.strip_suffix('}').unwrap_or(object);
    let digest = digest_of(content);
    (format!("{content}{MARK}{}\"}}", to_hex(&digest)), digest)
}

fn digest_of(content: &str) -> [u8; 32] {
    blake3::derive_key(CONTEXT, content.as_bytes())
}

/// Checks the format that a line states, before its digest, which another format computes otherwise.
fn check_stated_format(line: &[u8]) -> Result<(), Fault> {
    let Some(stated) = line.strip_prefix(BEGIN.as_bytes()) else { return Ok(()) };
    let digits = stated.iter().take_while(|byte| byte.is_ascii_digit()).count();
    // A line that is torn here has nothing after these.
    if stated.get(digits) != Some(&b',') {
        return Ok(());
    }
    let stated: Option<i64> = str::from_utf8(&stated[..digits]).ok().and_then(|digits| digits.parse().ok());
    let stated = stated.ok_or_else(|| Fault::from("not a receipt: its format is no number"))?;
    check_format(stated, FORMAT).map_err(Fault::Format)
}

/// Reads a single untrusted line; makes its texts printable. Returns the receipt and the digest of its content, which matches.
pub(super) fn read_line(line: &[u8]) -> Result<(Link, [u8; 32]), Fault> {
    check_stated_format(line)?;
    let line = str::from_utf8(line).map_err(|_| "not a receipt: not UTF-8 text")?;
    let (content, said) = line.rsplit_once(MARK).ok_or("not a receipt: no digest at its end")?;
    let said = said.strip_suffix("\"}").filter(|said| said.len() == 64 && said.bytes().all(|b| b.is_ascii_hexdigit()));
    let (said, digest) = (said.ok_or("not a receipt: malformed digest")?, digest_of(content));
    if to_hex(&digest) != said {
        return Err(format!("it was changed: its digest is {said}, but its content has {}", to_hex(&digest)).into());
    }
    let no_receipt = |error: serde_json::Error| format!("not a receipt: {error}");
    let Distinct(value) = serde_json::from_str(line).map_err(no_receipt)?;
    let link: Link = serde_json::from_value(printable_value(value)).map_err(no_receipt)?;
    // One that is stated elsewhere, or twice, is none.
    if !content.starts_with(&format!("{BEGIN}{},", link.format)) {
        return Err("not a receipt: it does not begin with its format".into());
    }
    if link.number > LAST {
        return Err("not a receipt: its number has no next one".into());
    }
    Ok((link, digest))
}

/// Reads the bytes after the last complete line of a chain with this head. They count as torn only if the next receipt can begin like this and its digest
/// is not complete.
pub(super) fn read_tail(tail: &[u8], head: Head) -> Result<Tail, Fault> {
    if tail.is_empty() {
        return Ok(Tail::Nothing);
    }
    check_stated_format(tail)?;
    let is_begun = |format| {
        let begins = head.next_begins(format);
        let known = tail.len().min(begins.len());
        tail[..known] == begins.as_bytes()[..known]
    };
    if !(1..=FORMAT).any(is_begun) {
        return Err(format!("not a receipt after receipt {}, nor the beginning of one", head.number).into());
    }
    // No text in a receipt contains the mark, since its quotes would be escaped.
    let has_digest =
        || str::from_utf8(tail).is_ok_and(|tail| tail.rsplit_once(MARK).is_some_and(|(_, end)| end.len() >= 66));
    match read_line(tail) {
        Ok((link, digest)) => Ok(Tail::Whole(Box::new(link), digest)),
        Err(what) if has_digest() => Err(what),
        Err(_) => Ok(Tail::Torn),
    }
}

/// Reads a chain from the start and passes on each receipt, also a last one without line end. Returns the chain's head and the number of bytes of a torn line
/// after it.
pub fn read(log: impl Read, mut each: impl FnMut(Link, [u8; 32])) -> Result<(Head, u64), Broken> {
    let (mut log, mut head) = (BufReader::new(log), Head::NONE);
    loop {
        let at = head.number + 1;
        let broken = |fault: Fault| Broken { line: at, fault };
        let mut line = Vec::new();
        let read = (&mut log).take(LINE_BYTES_MAX as u64).read_until(b'\n', &mut line);
        read.map_err(|error| broken(format!("cannot be read: {error}").into()))?;
        match line.pop() {
            None => return Ok((head, 0)),
            Some(b'\n') => {}
            Some(_) if line.len() + 1 == LINE_BYTES_MAX => {
                return Err(broken(format!("not a receipt: longer than {LINE_BYTES_MAX} bytes").into()));
            }
            Some(last) => {
                line.push(last);
                return match read_tail(&line, head).map_err(broken)? {
                    Tail::Whole(link, digest) => {
                        let head = Head { number: link.number, digest };
                        each(*link, digest);
                        Ok((head, 0))
                    }
                    Tail::Nothing | Tail::Torn => Ok((head, line.len() as u64)),
                };
            }
        }
        let (link, digest) = read_line(&line).map_err(broken)?;
        check_place(&link, head).map_err(broken)?;
        head = Head { number: link.number, digest };
        each(link, digest);
    }
}

/// A receipt with its digest.
pub type Digested = (Link, [u8; 32]);

/// A receipt as JSON, with its digest.
pub fn object((link, digest): &Digested) -> Value {
    let mut object = json!(link);
    object["digest"] = to_hex(digest).into();
    object
}

/// All receipts of a log, which messages call `place`, and its end. `holds` are digests of receipts that the log had earlier.
///
/// *Errors*: it cannot be read or is not a log; a line was changed, dropped or moved; no receipt has one of the digests.
pub fn read_all(
    place: &impl fmt::Display,
    log: impl Read,
    holds: &[JobDigest],
) -> Result<(Vec<Digested>, Head), Failure> {
    let mut links = Vec::new();
    let head = read_told(place, log, |link, digest| links.push((link, digest)))?;
    let missing = holds.iter().find(|wanted| links.iter().all(|(_, digest)| wanted.0 != *digest));
    if let Some(digest) = missing {
        return Err(Failure::no_result(format!("{place}: no receipt has the digest {digest}"))
            .hint("the log was cut off at the end, or this is another log"));
    }
    Ok((links, head))
}

/// The same as [`read`], and reports a torn line.
pub(super) fn read_told(
    place: &impl fmt::Display,
    log: impl Read,
    each: impl FnMut(Link, [u8; 32]),
) -> Result<Head, Failure> {
    let (head, torn) = read(log, each).map_err(|broken| {
        let intact = "the receipts before this line are intact; keep the file, and compare it with the peer's";
        Failure::no_result(format!("{place}:{broken}")).hint(broken.fault.hint(intact))
    })?;
    if torn > 0 {
        let number = head.number;
        tell(&format!("{place}: {torn} bytes after receipt {number} are an incomplete receipt"));
    }
    Ok(head)
}

/// Checks that a receipt follows a head.
fn check_place(link: &Link, head: Head) -> Result<(), Fault> {
    let (number, previous) = (head.number + 1, to_hex(&head.digest));
    if link.number != number {
        return Err(format!(
            "it is receipt {}, expected {number}: one was dropped, moved or added before it",
            link.number
        )
        .into());
    }
    if link.previous != previous {
        return Err(format!(
            "it follows {}, but here it is after {previous}: the log before it was changed",
            link.previous
        )
        .into());
    }
    Ok(())
}
