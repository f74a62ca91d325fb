//! Mistakes in comma-separated values that parse all the same: a cell whose quotation mark is never closed would end with the
//! file and contain all rows after it, and an empty line would be skipped.

use std::ops::Range;

/// Quotation marks that are not those around a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Misplaced {
    /// The one that opens a cell which is never closed.
    Open(Range<usize>),
    /// Bytes after the one that closes a cell.
    Behind(Range<usize>),
    /// One with blanks before it, which therefore opens nothing.
    Blank(Range<usize>),
}

enum State {
    Row,
    Cell,
    Blanks,
    Plain,
    Quoted,
    Closed,
}

/// Checks the quotation marks of a text with this separator. Returns the first empty line that has rows before and after it.
///
/// *Errors*: the first that is misplaced.
pub(super) fn check(text: &str, separator: u8) -> Result<Option<Range<usize>>, Misplaced> {
    let (mut state, mut opened, mut before) = (State::Row, 0, 0u8);
    let (mut has_rows, mut empty, mut between) = (false, None, None);
    for (at, byte) in text.bytes().enumerate() {
        state = match (state, byte) {
            (State::Quoted, b'"') => State::Closed,
            (State::Quoted, _) => State::Quoted,
            (State::Row, b'\n') if before == b'\r' => State::Row,
            (State::Row, b'\r' | b'\n') => {
                empty = empty.or(Some(at..at)).filter(|_| has_rows);
                State::Row
            }
            (_, b'\r' | b'\n') => State::Row,
            (state, byte) => {
                has_rows = true;
                between = between.or(empty.take());
                match (state, byte) {
                    (_, byte) if byte == separator => State::Cell,
                    (State::Row | State::Cell, b'"') => {
                        opened = at;
                        State::Quoted
                    }
                    // Doubled, it stands for itself.
                    (State::Closed, b'"') => State::Quoted,
                    (State::Closed, _) => return Err(Misplaced::Behind(opened..at)),
                    (State::Blanks, b'"') => return Err(Misplaced::Blank(at..at + 1)),
                    (State::Row | State::Cell | State::Blanks, b' ' | b'\t') => State::Blanks,
                    _ => State::Plain,
                }
            }
        };
        before = byte;
    }
    match state {
        State::Quoted => Err(Misplaced::Open(opened..opened + 1)),
        _ => Ok(between),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_closed_where_they_are_opened() {
        for text in ["", "a", "a,\"\"\n", "\"a,\n\"\"b\"\"\",c\r\n\"\"", "5\" inch, 6\"", "\"a\"\r\"b\"\n"] {
            assert_eq!(check(text, b','), Ok(None), "{text:?}");
        }
        for (text, expected) in [
            ("a\n\"1", Misplaced::Open(2..3)),
            ("a\n\"1\"\"\n2\n", Misplaced::Open(2..3)),
            ("a\n\"1\"2", Misplaced::Behind(2..5)),
            ("\"a\" ,b", Misplaced::Behind(0..3)),
            ("a, \"b\"", Misplaced::Blank(3..4)),
        ] {
            let tabs: String = text.replace(',', "\t");
            assert_eq!(check(&tabs, b'\t'), Err(expected.clone()), "{tabs:?}");
            assert_eq!(check(text, b','), Err(expected), "{text:?}");
        }
    }

    #[test]
    fn an_empty_line_is_told_between_rows_alone() {
        for text in ["\n\na\n1\n2\n\n\r\n", "a\r\n1\r\n", "a\r1\r\r", "a\n\"\n\n\"\n", "a\n \nb"] {
            assert_eq!(check(text, b','), Ok(None), "{text:?}");
        }
        for (text, at) in [("a\n1\n\n2", 4), ("a\r\n1\r\n\r\n2", 6), ("a\n\n\n1\n\n2", 2), ("a\r\r\n1", 2)] {
            assert_eq!(check(text, b','), Ok(Some(at..at)), "{text:?}");
        }
    }
}
