//! Fields in a fixed order: reading them from untrusted bytes, and writing them.

use garblet_circuit::{Bits, diagnostic::clip};
use garblet_primitives::Block;
use zeroize::Zeroizing;

use crate::malformed::Malformed;
use crate::shown::{SHOWN, is_shown};

/// Reads fields one after another. It allocates no more than the received bytes justify.
pub(crate) struct Reader<'a> {
    what: &'static str,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(what: &'static str, bytes: &'a [u8]) -> Self {
        Reader { what, bytes, at: 0 }
    }

    /// The fault of the field that begins `back` bytes before the place.
    pub(crate) fn fault(
        &self,
        field: &'static str,
        back: usize,
        expected: impl Into<String>,
        got: impl Into<String>,
    ) -> Malformed {
        let at = self.at.saturating_sub(back);
        Malformed { what: self.what, field, at, expected: expected.into(), got: got.into() }
    }

    pub(crate) fn bytes(&mut self, field: &'static str, len: usize) -> Result<&'a [u8], Malformed> {
        let rest = &self.bytes[self.at..];
        let Some((bytes, _)) = rest.split_at_checked(len) else {
            return Err(self.fault(field, 0, format!("{len} bytes"), format!("{} until the end", rest.len())));
        };
        self.at += len;
        Ok(bytes)
    }

    pub(crate) fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], Malformed> {
        self.bytes(field, N).map(|bytes| bytes.first_chunk().copied().unwrap_or([0; N]))
    }

    pub(crate) fn u8(&mut self, field: &'static str) -> Result<u8, Malformed> {
        self.array(field).map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self, field: &'static str) -> Result<u16, Malformed> {
        self.array(field).map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self, field: &'static str) -> Result<u32, Malformed> {
        self.array(field).map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self, field: &'static str) -> Result<u64, Malformed> {
        self.array(field).map(u64::from_le_bytes)
    }

    /// A byte for false or true.
    pub(crate) fn flag(&mut self, field: &'static str) -> Result<bool, Malformed> {
        match self.u8(field)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.fault(field, 1, "0 or 1", other.to_string())),
        }
    }

    /// All bytes that are left.
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        self.at = self.bytes.len();
        rest
    }

    pub(crate) fn block(&mut self, field: &'static str) -> Result<Block, Malformed> {
        self.array(field).map(Block::from_bytes)
    }

    /// A byte that can have one value only.
    pub(crate) fn constant(&mut self, field: &'static str, expected: u8) -> Result<(), Malformed> {
        match self.u8(field)? {
            got if got == expected => Ok(()),
            got => Err(self.fault(field, 1, expected.to_string(), got.to_string())),
        }
    }

    /// A digest that can have one value only.
    pub(crate) fn digest(&mut self, field: &'static str, expected: &[u8; 32]) -> Result<(), Malformed> {
        match self.array::<32>(field)? {
            got if got == *expected => Ok(()),
            got => Err(self.fault(field, 32, beginning(expected), beginning(&got))),
        }
    }

    /// Text after its length, safe to show to people.
    pub(crate) fn text(&mut self, field: &'static str, longest: usize) -> Result<String, Malformed> {
        let len = usize::from(self.u16(field)?);
        if len > longest {
            return Err(self.fault(field, 2, format!("at most {longest} bytes"), len.to_string()));
        }
        match std::str::from_utf8(self.bytes(field, len)?) {
            Ok(text) if is_shown(text) => Ok(text.into()),
            Ok(text) => Err(self.fault(field, len, SHOWN, clip(&text.escape_default().to_string()))),
            Err(error) => Err(self.fault(field, len, "text in UTF-8", error.to_string())),
        }
    }

    /// A list after its length.
    pub(crate) fn list<T>(
        &mut self,
        field: &'static str,
        longest: usize,
        mut each: impl FnMut(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let len = usize::from(self.u16(field)?);
        if len > longest {
            return Err(self.fault(field, 2, format!("at most {longest}"), len.to_string()));
        }
        // Nothing is reserved ahead: items may be missing.
        (0..len).map(|_| each(self)).collect()
    }

    /// This many bits; the spare bits of the last byte are zero.
    pub(crate) fn bits(&mut self, field: &'static str, len: usize) -> Result<Bits, Malformed> {
        let bytes = self.bytes(field, len.div_ceil(8))?;
        let spare = bytes.last().is_some_and(|last| !len.is_multiple_of(8) && last >> (len % 8) != 0);
        match spare {
            true => Err(self.fault(field, 1, format!("zeros after bit {len}"), "ones")),
            false => Ok(cut(bytes, len)),
        }
    }

    /// The end of the bytes.
    pub(crate) fn end(self) -> Result<(), Malformed> {
        match self.bytes.len() - self.at {
            0 => Ok(()),
            more => Err(self.fault("end", 0, "no more bytes", more.to_string())),
        }
    }
}

/// Writes fields into memory that is wiped, and that must have room for all of them if they are secret.
pub(crate) struct Writer(Zeroizing<Vec<u8>>);

impl Writer {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Writer(Zeroizing::new(Vec::with_capacity(bytes)))
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    pub(crate) fn u8(&mut self, value: u8) -> &mut Self {
        self.bytes(&[value])
    }

    pub(crate) fn u16(&mut self, value: u16) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    pub(crate) fn bits(&mut self, bits: &Bits) -> &mut Self {
        self.bytes(&Zeroizing::new(bits.to_bytes()))
    }

    /// Text of less than 2^16 bytes.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.u16(text.len() as u16).bytes(text.as_bytes())
    }

    /// A list of less than 2^16 items.
    pub(crate) fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) -> &mut Self {
        self.u16(items.len() as u16);
        items.iter().for_each(|item| each(self, item));
        self
    }

    pub(crate) fn finish(self) -> Zeroizing<Vec<u8>> {
        self.0
    }
}

/// The first bits of bytes.
pub(crate) fn cut(bytes: &[u8], len: usize) -> Bits {
    Bits::from_bytes(bytes).iter().take(len).collect()
}

/// The sum modulo 2, bit by bit.
pub(crate) fn sum(a: &Bits, b: &Bits) -> Bits {
    a.iter().zip(b.iter()).map(|(a, b)| a ^ b).collect()
}

/// The part of a digest that a person compares.
pub(crate) fn beginning(digest: &[u8; 32]) -> String {
    let bytes: String = digest[..6].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{bytes}...")
}
