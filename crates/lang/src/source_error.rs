//! The errors of a source, before they are shown in its file.

use std::cell::Cell;

use garblet_circuit::{
    CircuitError,
    diagnostic::{Diagnostic, Place, nearest},
};

use crate::tree::Span;

/// An error at a place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceError {
    pub(crate) span: Option<Span>,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl SourceError {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        SourceError { span: Some(span), message: message.into(), hint: None }
    }

    /// An error without a single place.
    pub(crate) fn general(message: impl Into<String>) -> Self {
        SourceError { span: None, message: message.into(), hint: None }
    }

    /// Something that the type checker should have refused before.
    pub(crate) fn bug(span: Span, what: &str) -> Self {
        let fault = SourceError::new(span, format!("{what} passed the type checker because of a compiler bug"));
        fault.hint("please report the source")
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The error as a diagnostic about `file`, which has that text.
    pub(crate) fn diagnose(self, file: &str, text: &str) -> Diagnostic {
        let mut diagnostic = Diagnostic::new(file, self.message);
        if let Some(span) = self.span {
            diagnostic = diagnostic.at(place(text, span));
        }
        match self.hint {
            Some(hint) => diagnostic.hint(hint),
            None => diagnostic,
        }
    }
}

impl From<CircuitError> for SourceError {
    fn from(error: CircuitError) -> Self {
        SourceError::general(error.to_string())
    }
}

/// Suggests names for misspelt ones.
///
/// *Cost*: each suggestion compares all names, so only the first mistakes of a source get one.
#[derive(Debug, Default)]
pub(crate) struct Suggestions {
    made: Cell<usize>,
}

impl Suggestions {
    /// The most mistakes that get a suggestion.
    const MOST: usize = 16;

    /// The hint that `got` may mean the name that is nearest to it.
    pub(crate) fn hint<'n>(&self, got: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
        self.made.set(self.made.get() + 1);
        if self.made.get() > Self::MOST {
            return None;
        }
        let known: Vec<&str> = known.into_iter().collect();
        nearest(got, &known).map(|near| format!("did you mean `{near}`?"))
    }
}

fn place(text: &str, span: Span) -> Place {
    let line = text.lines().nth(span.line.saturating_sub(1) as usize).unwrap_or_default();
    let byte = |column: u32| {
        let mut starts = line.char_indices().map(|(at, _)| at);
        starts.nth(column.saturating_sub(1) as usize).unwrap_or(line.len())
    };
    let start = byte(span.column);
    let end = if span.end_line == span.line { byte(span.end_column) } else { line.len() };
    Place::in_line(span.line.max(1).into(), line, start..end.max(start))
}
