//! The bytes of a file, a part at a time, and the numbers and texts in them.

use std::io::BufRead;

use garblet_circuit::diagnostic::Diagnostic;

use crate::whole::FEWER_INPUT_WIRES;

/// The bytes that are in memory at once.
const PART: usize = 1 << 16;

/// The longest text.
pub(super) const MAX_TEXT_BYTES: usize = 1 << 20;

/// Bytes and how far they are read.
pub(super) struct Bytes<'a> {
    file: &'a str,
    text: &'a mut dyn BufRead,
    part: Vec<u8>,
    /// The next byte of the part.
    next: usize,
    /// The bytes before the part, all of them in the checksum.
    before: u64,
    checksum: blake3::Hasher,
    /// The hash of the present section, and its first byte of the part.
    section: (blake3::Hasher, usize),
}

impl<'a> Bytes<'a> {
    pub(super) fn new(file: &'a str, text: &'a mut dyn BufRead) -> Self {
        let (checksum, section) = (blake3::Hasher::new(), (blake3::Hasher::new(), 0));
        Bytes { file, text, part: Vec::with_capacity(PART), next: 0, before: 0, checksum, section }
    }

    /// The number of bytes that are read.
    pub(super) fn at(&self) -> u64 {
        self.before + self.next as u64
    }

    /// A diagnostic about a byte from which on inputs have more wires than a program may have.
    pub(super) fn limit_at(&self, at: u64, message: impl std::fmt::Display) -> Diagnostic {
        self.at_byte(at, message).hint(FEWER_INPUT_WIRES)
    }

    /// A diagnostic about a byte.
    pub(super) fn error_at(&self, at: u64, message: impl std::fmt::Display) -> Diagnostic {
        self.at_byte(at, message)
            .hint("the file is damaged or incomplete: fetch it again, or make it again with garblet convert")
    }

    fn at_byte(&self, at: u64, message: impl std::fmt::Display) -> Diagnostic {
        Diagnostic::new(self.file, format!("byte {}: {message}", at + 1))
    }

    /// The next byte; none at the end of the file.
    fn next_byte(&mut self) -> Result<Option<u8>, Diagnostic> {
        if self.next == self.part.len() {
            self.refill()?;
        }
        let byte = self.part.get(self.next).copied();
        self.next += usize::from(byte.is_some());
        Ok(byte)
    }

    /// Replaces the part, all of which is read, with the next one; it is empty at the end of the file.
    #[cold]
    fn refill(&mut self) -> Result<(), Diagnostic> {
        self.checksum.update(&self.part);
        let (section, begin) = &mut self.section;
        section.update(&self.part[std::mem::take(begin)..]);
        self.before += self.part.len() as u64;
        self.part.clear();
        self.next = 0;
        let mut limited = std::io::Read::take(&mut *self.text, PART as u64);
        let read = std::io::Read::read_to_end(&mut limited, &mut self.part);
        read.map(|_| ()).map_err(|error| Diagnostic::new(self.file, format!("cannot be read: {error}")))
    }

    /// The next byte.
    ///
    /// *Errors*: the file ends.
    pub(super) fn byte(&mut self, what: &str) -> Result<u8, Diagnostic> {
        self.next_byte()?.ok_or_else(|| self.error_at(self.at(), format!("the file ends, expected {what}")))
    }

    /// The next number.
    ///
    /// *Errors*: the file ends; more than `most`; more bytes than the number needs.
    #[inline]
    pub(super) fn number(&mut self, what: &str, most: u64) -> Result<u64, Diagnostic> {
        // Nearly all numbers have one byte or two.
        let short = match self.part[self.next..] {
            [low, ..] if low < 128 => Some((1, u64::from(low))),
            [low, high @ 1..128, ..] => Some((2, u64::from(high) << 7 | u64::from(low & 127))),
            _ => None,
        };
        match short.filter(|(_, number)| *number <= most) {
            Some((bytes, number)) => {
                self.next += bytes;
                Ok(number)
            }
            None => self.any_number(what, most),
        }
    }

    fn any_number(&mut self, what: &str, most: u64) -> Result<u64, Diagnostic> {
        let begin = self.at();
        let (mut number, mut shift) = (0u64, 0);
        loop {
            let byte = self.byte(what)?;
            let bits = u64::from(byte & 127);
            if shift == 63 && byte > 1 {
                return Err(self.error_at(begin, format!("{what} has more than 64 bits, expected at most {most}")));
            }
            number |= bits << shift;
            if byte >> 7 == 0 {
                if byte == 0 && shift > 0 {
                    let message =
                        format!("{what} is {number} in {} bytes, expected no zeros at its end", shift / 7 + 1);
                    return Err(self.error_at(begin, message));
                }
                break;
            }
            shift += 7;
        }
        match number <= most {
            true => Ok(number),
            false => Err(self.error_at(begin, format!("{what} is {number}, expected at most {most}"))),
        }
    }

    /// The number of items of a list. Each item has a byte at least, so the file's length limits it too.
    pub(super) fn count(&mut self, what: &str) -> Result<u64, Diagnostic> {
        self.number(what, u64::MAX)
    }

    /// The next text.
    ///
    /// *Errors*: as [`Bytes::number`]; a text of more than [`MAX_TEXT_BYTES`]; not UTF-8.
    pub(super) fn text(&mut self, what: &str) -> Result<String, Diagnostic> {
        let bytes = self.number(what, MAX_TEXT_BYTES as u64)?;
        let begin = self.at();
        let mut text = Vec::new();
        for _ in 0..bytes {
            text.push(self.byte(what)?);
        }
        String::from_utf8(text).map_err(|error| {
            self.error_at(begin + error.utf8_error().valid_up_to() as u64, format!("{what} is not UTF-8"))
        })
    }

    /// A hash.
    pub(super) fn hash(&mut self, what: &str) -> Result<[u8; 32], Diagnostic> {
        let mut hash = [0; 32];
        for byte in &mut hash {
            *byte = self.byte(what)?;
        }
        Ok(hash)
    }

    /// BLAKE3 of all bytes so far.
    pub(super) fn checksum(&self) -> [u8; 32] {
        self.checksum.clone().update(&self.part[..self.next]).finalize().into()
    }

    /// Begins a section here, and returns BLAKE3 of the one before.
    pub(super) fn section(&mut self) -> [u8; 32] {
        let (mut section, begin) = std::mem::replace(&mut self.section, (blake3::Hasher::new(), self.next));
        section.update(&self.part[begin..self.next]).finalize().into()
    }

    /// Checks that all bytes are read.
    pub(super) fn end(&mut self) -> Result<(), Diagnostic> {
        let at = self.at();
        match self.next_byte()? {
            None => Ok(()),
            Some(_) => Err(self.error_at(at, "the file goes on, expected its end after the checksum")),
        }
    }
}
