//! Texts that are read as a whole.

use std::io::{BufRead, Read};

use garblet_circuit::diagnostic::Diagnostic;

/// The bytes that no file of a program reaches.
pub(crate) const MAX_BYTES: u64 = 1 << 30;

/// The most input wires of a component, and of a program. They have no bytes each, so a file's length does not limit them.
pub(crate) const MAX_INPUT_WIRES: u64 = 1 << 26;

/// Advice on too many input wires.
pub(crate) const FEWER_INPUT_WIRES: &str = "let the inputs have fewer bits in all";

/// Checks the number of input wires of `whose` component or program.
///
/// *Errors*: more than [`MAX_INPUT_WIRES`].
pub(crate) fn check_input_wires(whose: &str, wires: u64) -> Result<(), String> {
    match wires <= MAX_INPUT_WIRES {
        true => Ok(()),
        false => Err(format!("{whose} has {wires} input wires, expected {MAX_INPUT_WIRES} at most")),
    }
}

/// The bytes of a file.
///
/// *Errors*: it cannot be read, or has [`MAX_BYTES`] or more.
pub(crate) fn bytes(file: &str, text: &mut dyn BufRead) -> Result<Vec<u8>, Diagnostic> {
    let mut bytes = Vec::new();
    let read = text.take(MAX_BYTES).read_to_end(&mut bytes);
    match read.map_err(|e| Diagnostic::new(file, format!("cannot be read: {e}")))? as u64 {
        MAX_BYTES => Err(Diagnostic::new(file, format!("is longer than {MAX_BYTES} bytes"))),
        _ => Ok(bytes),
    }
}

/// The bytes with which some editors begin a text.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The text of a file, without a byte order mark.
///
/// *Errors*: as [`bytes`], or it is not UTF-8.
pub(crate) fn text(file: &str, text: &mut dyn BufRead) -> Result<String, Diagnostic> {
    let mut text = String::from_utf8(bytes(file, text)?)
        .map_err(|e| Diagnostic::new(file, format!("is not UTF-8 from byte {} on", e.utf8_error().valid_up_to())))?;
    if text.as_bytes().starts_with(BYTE_ORDER_MARK) {
        text.drain(..BYTE_ORDER_MARK.len());
    }
    Ok(text)
}
