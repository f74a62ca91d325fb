//! A log of receipts as a text, for a front end that keeps it elsewhere than in a file.

use super::{
    Receipt,
    chain::{self, Digested, Head},
};
use crate::failure::Failure;

/// A whole log, to which receipts are added.
pub struct LogText {
    text: String,
    head: Head,
}

impl LogText {
    /// The log with this text, empty for a new one, which messages call `place`. Leaves out an incomplete receipt at its end.
    ///
    /// *Errors*: the text is no log; a line was changed, dropped or moved.
    pub fn read(place: &str, text: &str) -> Result<Self, Failure> {
        let head = chain::read_told(&place, text.as_bytes(), |_, _| ())?;
        let ended = text.rfind('\n').map_or(0, |at| at + 1);
        let (lines, rest) = text.split_at(ended);
        // The last line may lack only its end.
        let whole = match chain::read_line(rest.as_bytes()) {
            Ok(_) => format!("{text}\n"),
            Err(_) => lines.into(),
        };
        Ok(LogText { text: whole, head })
    }

    /// Adds a receipt, and returns it as it stands in the log.
    ///
    /// *Errors*: a receipt that JSON cannot represent.
    pub fn add(&mut self, receipt: &Receipt) -> Result<Digested, Failure> {
        let unwritable = |what: String| Failure::no_result(format!("the receipt cannot be written: {what}"));
        let (line, head) = chain::line_behind(self.head, receipt).map_err(|error| unwritable(error.to_string()))?;
        let added = chain::read_line(line.as_bytes()).map_err(|fault| unwritable(fault.to_string()))?;
        self.text += &line;
        self.text.push('\n');
        self.head = head;
        Ok(added)
    }

    /// The text: a line for each receipt.
    pub fn text(&self) -> &str {
        &self.text
    }
}
