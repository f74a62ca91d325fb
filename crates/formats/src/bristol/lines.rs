//! Lines of a circuit file, and the numbers in them. What follows `#` or `//` in a line is a comment.

use std::{io::BufRead, ops::Range};

use garblet_circuit::diagnostic::{Diagnostic, Place, clip};

use crate::whole::BYTE_ORDER_MARK;

/// The longest line that is read. A line longer than this is not from a circuit file, or not from an honest one.
const MAX_LINE_BYTES: u64 = 1 << 24;

/// A line that was taken out of the file.
#[derive(Clone)]
pub(super) struct Line {
    text: Box<[u8]>,
    number: u64,
}

/// The part of a line before any comment.
pub(super) fn without_comment(line: &[u8]) -> &[u8] {
    let begins = |at: &usize| line[*at] == b'#' || line[*at..].starts_with(b"//");
    &line[..(0..line.len()).find(begins).unwrap_or(line.len())]
}

/// Lines that are not blank, one at a time.
pub(super) struct Lines<'a> {
    file: &'a str,
    text: &'a mut dyn BufRead,
    line: Vec<u8>,
    words: Vec<Range<usize>>,
    /// The number of the line.
    number: u64,
    /// The lines that were read.
    read: u64,
    /// Set if the line is to be returned once more.
    held: bool,
    ended: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(file: &'a str, text: &'a mut dyn BufRead) -> Self {
        Lines { file, text, line: Vec::new(), words: Vec::new(), number: 0, read: 0, held: false, ended: false }
    }

    /// Goes to the next line that is not blank; false at the end of the file.
    pub(super) fn advance(&mut self) -> Result<bool, Diagnostic> {
        if std::mem::take(&mut self.held) {
            return Ok(true);
        }
        while !self.ended {
            self.line.clear();
            self.read += 1;
            self.number = self.read;
            let mut limited = std::io::Read::take(&mut *self.text, MAX_LINE_BYTES);
            let read = limited.read_until(b'\n', &mut self.line);
            let read = read.map_err(|e| Diagnostic::new(self.file, format!("cannot be read: {e}")))?;
            if read as u64 == MAX_LINE_BYTES {
                return Err(self.error(0..1, format!("the line is longer than {MAX_LINE_BYTES} bytes")));
            }
            if self.read == 1 && self.line.starts_with(BYTE_ORDER_MARK) {
                self.line.drain(..BYTE_ORDER_MARK.len());
            }
            self.split();
            self.ended = read == 0;
            if !self.words.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the line once more on the next [`Lines::advance`].
    pub(super) fn hold(&mut self) {
        self.held = true;
    }

    /// A copy of the line, to be read later.
    pub(super) fn taken(&self) -> Line {
        Line { text: self.line[..].into(), number: self.number }
    }

    /// Goes back to a line that was taken, until the next [`Lines::advance`].
    pub(super) fn replace(&mut self, line: &Line) {
        self.line.clear();
        self.line.extend_from_slice(&line.text);
        self.number = line.number;
        self.split();
    }

    fn split(&mut self) {
        self.words.clear();
        let mut start = None;
        let words = without_comment(&self.line);
        for (i, byte) in words.iter().enumerate() {
            match (byte.is_ascii_whitespace(), start) {
                (false, None) => start = Some(i),
                (true, Some(s)) => {
                    self.words.push(s..i);
                    start = None;
                }
                _ => (),
            }
        }
        self.words.extend(start.map(|s| s..words.len()));
    }

    /// The number of words that the line has.
    pub(super) fn word_count(&self) -> usize {
        self.words.len()
    }

    /// Word `k` of the line; empty if there is none.
    pub(super) fn word(&self, k: usize) -> &[u8] {
        self.words.get(k).map_or(&[], |word| &self.line[word.clone()])
    }

    /// Word `k` as a number below `limit`.
    pub(super) fn number(&self, k: usize, what: &str, limit: u64) -> Result<u32, Diagnostic> {
        debug_assert!(limit <= 1 << 32);
        let word = self.word(k);
        let mut value = 0u64;
        for &byte in word {
            if !byte.is_ascii_digit() {
                return Err(self.error_at(k, format!("{what}: expected a number, got `{}`", self.shown(k))));
            }
            value = value.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
        }
        match word.is_empty() {
            true => Err(self.error_at_end(format!("{what} is missing"))),
            false if value >= limit => {
                Err(self.error_at(k, format!("{what} is {}, expected less than {limit}", self.shown(k))))
            }
            false => Ok(value as u32),
        }
    }

    /// Word `k` for a message.
    pub(super) fn shown(&self, k: usize) -> String {
        clip(&String::from_utf8_lossy(self.word(k)))
    }

    /// A diagnostic about word `k` of the line.
    pub(super) fn error_at(&self, k: usize, message: impl Into<String>) -> Diagnostic {
        self.error(self.words.get(k).cloned().unwrap_or(0..0), message)
    }

    /// A diagnostic about what is missing at the end of the line.
    pub(super) fn error_at_end(&self, message: impl Into<String>) -> Diagnostic {
        let end = self.words.last().map_or(0, |w| w.end);
        self.error(end..end, message)
    }

    fn error(&self, at: Range<usize>, message: impl Into<String>) -> Diagnostic {
        // Bytes that are not UTF-8 are shown one by one, so that places stay correct.
        let near = at.start.saturating_sub(200);
        let part = &self.line[near..self.line.len().min(at.start + 400)];
        let text: String = part.iter().map(|&b| if b.is_ascii() { b as char } else { '?' }).collect();
        let mut place = Place::in_line(self.number, text.trim_end(), at.start - near..at.end.max(at.start) - near);
        place.column += near;
        place.excerpt_column += near;
        Diagnostic::new(self.file, message).at(place)
    }
}
