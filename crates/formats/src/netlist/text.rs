//! A netlist's text, and faults in it.

use std::ops::Range;

use garblet_circuit::diagnostic::{Diagnostic, Place, clip};

use super::graph::{At, Fault};

/// The text of a file, and its name.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

/// A word and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) at: At,
}

impl<'a> Text<'a> {
    /// The text at a place.
    fn part(self, at: At) -> &'a str {
        self.text.get(Range::from(at)).unwrap_or_default()
    }

    /// A diagnostic about a place.
    pub(super) fn error(self, at: At, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.file, message).at(Place::in_text(self.text, at.into()))
    }

    /// A fault of the signals, which the text names.
    pub(super) fn fault(self, fault: Fault) -> Diagnostic {
        match fault.words(|_, at| format!("`{}`", clip(self.part(at)))) {
            (Some(at), message) => self.error(at, message),
            (None, message) => Diagnostic::new(self.file, message),
        }
    }

    /// Lines that are not blank, as words. What follows `#` is a comment. Each of `marks` is a word of its own.
    pub(super) fn lines(self, marks: &'static str) -> Lines<'a> {
        Lines { text: self.text, at: 0, marks }
    }
}

/// The lines of a text.
pub(super) struct Lines<'a> {
    text: &'a str,
    at: usize,
    marks: &'static str,
}

impl<'a> Lines<'a> {
    /// Puts the words of the next line that has any into `words`; false at the end. A line that ends in `\` continues in the next one.
    pub(super) fn next(&mut self, words: &mut Vec<Word<'a>>) -> bool {
        words.clear();
        while self.at < self.text.len() {
            let rest = &self.text[self.at..];
            let line = rest.split('\n').next().unwrap_or_default();
            let begin = self.at;
            self.at += line.len() + 1;
            let line = line.split('#').next().unwrap_or_default().trim_end();
            let (line, continues) = line.strip_suffix('\\').map_or((line, false), |line| (line, true));
            self.split(begin, line, words);
            if !continues && !words.is_empty() {
                return true;
            }
        }
        !words.is_empty()
    }

    fn split(&self, begin: usize, line: &'a str, words: &mut Vec<Word<'a>>) {
        let mut word = |range: Range<usize>| {
            let text = &line[range.clone()];
            if !text.is_empty() {
                words.push(Word { text, at: (begin + range.start..begin + range.end).into() });
            }
        };
        let mut start = 0;
        for (place, char) in line.char_indices() {
            if char.is_whitespace() || self.marks.contains(char) {
                word(start..place);
                start = place + char.len_utf8();
                if !char.is_whitespace() {
                    word(place..start);
                }
            }
        }
        word(start..line.len());
    }
}
