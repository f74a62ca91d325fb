//! The bytes of an AIGER file: words of text, and numbers in bytes.

use garblet_circuit::diagnostic::{Diagnostic, Place, clip};

use crate::netlist::graph::{At, Fault};

/// Bytes and how far they are read.
pub(super) struct Bytes<'a> {
    file: &'a str,
    bytes: &'a [u8],
    next: usize,
    /// The beginning of the last word.
    start: usize,
}

impl<'a> Bytes<'a> {
    pub(super) fn new(file: &'a str, bytes: &'a [u8]) -> Self {
        Bytes { file, bytes, next: 0, start: 0 }
    }

    fn skip_while(&mut self, goes_on: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = &self.bytes[self.next..];
        let count = rest.iter().position(|byte| !goes_on(*byte)).unwrap_or(rest.len());
        self.next += count;
        &rest[..count]
    }

    /// The next word of the line; empty at its end.
    pub(super) fn word(&mut self) -> &'a [u8] {
        self.skip_while(is_blank);
        self.start = self.next;
        self.skip_while(|byte| !byte.is_ascii_whitespace())
    }

    /// The rest of the line.
    pub(super) fn rest_of_line(&mut self) -> &'a [u8] {
        self.skip_while(|byte| byte != b'\n').trim_ascii()
    }

    /// The next word as a number of at most `most`.
    pub(super) fn number(&mut self, what: &str, most: u32) -> Result<u32, Diagnostic> {
        let word = self.word();
        if word.is_empty() {
            let end = if self.next == self.bytes.len() { "the file" } else { "the line" };
            return Err(self.error(format!("{end} ends before {what}")));
        }
        if !word.iter().all(u8::is_ascii_digit) {
            return Err(self.error(format!("{what}: expected a number, got `{}`", shown(word))));
        }
        let number = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok()).filter(|number| *number <= most);
        number.ok_or_else(|| self.error(format!("{what} is {}, expected {most} at most", shown(word))))
    }

    pub(super) fn at_end_of_line(&mut self) -> bool {
        self.skip_while(is_blank);
        self.bytes.get(self.next).is_none_or(|byte| *byte == b'\n')
    }

    /// Goes to the next line.
    pub(super) fn end_line(&mut self) -> Result<(), Diagnostic> {
        match self.at_end_of_line() {
            true => {
                self.next = self.bytes.len().min(self.next + 1);
                Ok(())
            }
            false => {
                let word = self.word();
                Err(self.error(format!("expected the end of the line, got `{}`", shown(word))))
            }
        }
    }

    /// Returns whether all bytes are read.
    pub(super) fn ended(&self) -> bool {
        self.next == self.bytes.len()
    }

    /// A number of at most `most` in bytes of seven bits, the lowest first, of which all but the last have the highest bit set.
    pub(super) fn delta(&mut self, what: &str, most: u32) -> Result<u32, Diagnostic> {
        let (begin, mut number) = (self.next, 0u64);
        loop {
            let Some(byte) = self.bytes.get(self.next) else {
                return Err(self.byte_error(self.next, format!("the file ends in {what}")));
            };
            let shift = 7 * (self.next - begin);
            number |= u64::from(byte & 127) << shift;
            self.next += 1;
            if shift > 28 || number > most.into() {
                return Err(self.byte_error(begin, format!("{what} is {number} or more, expected {most} at most")));
            }
            if byte >> 7 == 0 {
                return Ok(number as u32);
            }
        }
    }

    /// The place of the last word.
    pub(super) fn place(&self) -> At {
        (self.start..self.next).into()
    }

    /// A diagnostic about a byte.
    pub(super) fn byte_error(&self, at: usize, message: impl std::fmt::Display) -> Diagnostic {
        Diagnostic::new(self.file, format!("byte {}: {message}", at + 1))
    }

    /// The number of bytes that are read.
    pub(super) fn read(&self) -> usize {
        self.next
    }

    /// A diagnostic about the last word.
    pub(super) fn error(&self, message: impl Into<String>) -> Diagnostic {
        self.error_at(self.place(), message)
    }

    /// A diagnostic about a place.
    pub(super) fn error_at(&self, at: At, message: impl Into<String>) -> Diagnostic {
        let std::ops::Range { start, end } = at.into();
        let begin = self.bytes[..start].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let line = self.bytes[..begin].iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        // Bytes that are not ASCII are shown one by one, so that places stay correct.
        let text = self.bytes[begin..].iter().take_while(|byte| **byte != b'\n');
        let text: String = text.map(|byte| if byte.is_ascii() { *byte as char } else { '?' }).collect();
        Diagnostic::new(self.file, message).at(Place::in_line(line, text.trim_end(), start - begin..end - begin))
    }

    /// A fault of the signals, each of which the file names by a literal.
    pub(super) fn fault(&self, fault: Fault) -> Diagnostic {
        let name = |_, at: At| format!("literal {}", shown(&self.bytes[std::ops::Range::from(at)]));
        match fault.words(name) {
            (Some(at), message) => self.error_at(at, message),
            (None, message) => Diagnostic::new(self.file, message),
        }
    }
}

fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() && byte != b'\n'
}

/// A word for a message.
fn shown(word: &[u8]) -> String {
    clip(&String::from_utf8_lossy(word))
}
