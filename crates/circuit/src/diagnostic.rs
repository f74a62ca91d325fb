//! Diagnostics: the faults of a file, with their places.

use std::{fmt, ops::Range};

pub use garblet_text::{OtherFormat, check_format, controls_terminal, one_line};

/// A fault in a file that the user gave.
///
/// `Display` is one line, `file:line:column: message`; [`Diagnostic::render`] shows the place as well.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Diagnostic {
    /// The file as the user named it.
    pub file: String,
    /// The place in the file, if the mistake has one.
    pub place: Option<Box<Place>>,
    /// The mistake: where, what was expected, and what was found.
    pub message: String,
    /// Advice on how to correct it.
    pub hint: Option<String>,
}

/// A place in a text.
#[derive(Clone, PartialEq, Eq)]
pub struct Place {
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1.
    pub column: usize,
    /// The length of the place in characters, at least one.
    pub width: usize,
    /// The line itself, or the part of a long line around the place.
    pub excerpt: String,
    /// Column of the excerpt's first character, from 1.
    pub excerpt_column: usize,
}

/// Leaves out the excerpt, which may come from a file of inputs.
impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { line, column, width, .. } = self;
        f.debug_struct("Place")
            .field("line", line)
            .field("column", column)
            .field("width", width)
            .finish_non_exhaustive()
    }
}

/// The most characters of a line that are shown.
const EXCERPT_CHARS: usize = 100;

impl Place {
    /// The place of bytes `at` in a line.
    pub fn in_line(line: u64, text: &str, at: Range<usize>) -> Self {
        let before = text.get(..at.start).unwrap_or(text).chars().count();
        let within = text.get(at.clone()).map_or(1, |t| t.chars().count()).max(1);
        let first = before.saturating_sub(EXCERPT_CHARS / 2);
        let excerpt: String = text.chars().skip(first).take(EXCERPT_CHARS).collect();
        let room = (first + EXCERPT_CHARS).saturating_sub(before).max(1);
        Place { line, column: before + 1, width: within.min(room), excerpt, excerpt_column: first + 1 }
    }

    /// The place of bytes `at` in a text of several lines. A place that spans lines is shown up to the end of its first line.
    pub fn in_text(text: &str, at: Range<usize>) -> Self {
        let start = (0..=at.start.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_text = text[line_start..].split(['\n', '\r']).next().unwrap_or_default();
        let line = text[..line_start].bytes().filter(|&b| b == b'\n').count() as u64 + 1;
        let end = at.end.saturating_sub(line_start).min(line_text.len());
        Place::in_line(line, line_text, start - line_start..end.max(start - line_start))
    }
}

impl Diagnostic {
    /// A diagnostic about a whole file.
    pub fn new(file: impl Into<String>, message: impl Into<String>) -> Self {
        Diagnostic { file: file.into(), place: None, message: message.into(), hint: None }
    }

    /// Adds the place.
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(Box::new(place));
        self
    }

    /// Adds advice.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds `did you mean` and the name in `known` nearest to `got`, if one is near; otherwise all names, if they are few.
    pub fn suggest<'a>(self, got: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        match nearest(got, &known) {
            Some(near) => self.hint(format!("did you mean `{near}`?")),
            None if known.is_empty() || known.len() > 12 => self,
            None => self.hint(format!("available: {}", known.join(", "))),
        }
    }

    /// Several lines: the message, the line of the file with a caret under the place, and the hint.
    pub fn render(&self) -> String {
        // File names and excerpts in them come from others.
        let [file, message] = [&self.file, &self.message].map(|text| one_line(text));
        let mut text = format!("{message}\n");
        if let Some(place) = &self.place {
            let number = place.line.to_string();
            let margin = " ".repeat(number.len());
            let before = place.excerpt.chars().take(place.column - place.excerpt_column);
            // Keep tabs so that the caret lines up at any tab width.
            let indent: String = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
            text += &format!("{margin}--> {file}:{}:{}\n{margin} |\n", place.line, place.column);
            text +=
                &format!("{number} | {}\n", place.excerpt.replace(|c| controls_terminal(c) && c != '\t', "\u{fffd}"));
            text += &format!("{margin} | {indent}{}\n", "^".repeat(place.width));
        } else {
            text += &format!(" --> {file}\n");
        }
        if let Some(hint) = &self.hint {
            text += &format!("hint: {}\n", one_line(hint));
        }
        text
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{}:{}:{}: {}", self.file, place.line, place.column, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

/// At least one [`Diagnostic`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// `Ok` if there are none.
    pub fn check(found: Vec<Diagnostic>) -> Result<(), Diagnostics> {
        if found.is_empty() { Ok(()) } else { Err(Diagnostics(found)) }
    }

    /// The diagnostics, in order of place.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }

    /// All diagnostics, rendered.
    pub fn render(&self) -> String {
        self.0.iter().map(Diagnostic::render).collect::<Vec<_>>().join("\n")
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(one: Diagnostic) -> Self {
        Diagnostics(vec![one])
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(Diagnostic::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// The name in `known` that is a typing error or two away from `got`.
pub fn nearest<'a>(got: &str, known: &[&'a str]) -> Option<&'a str> {
    // Distance takes quadratic time in the length, and a long name is not a typing error of a short one.
    if got.len() > 64 {
        return None;
    }
    let allowed = got.chars().count().div_ceil(3);
    let candidates = known.iter().filter(|name| name.len() <= 64);
    let lower = got.to_lowercase();
    let (distance, name) = candidates.map(|name| (strsim::levenshtein(&lower, &name.to_lowercase()), *name)).min()?;
    (distance <= allowed).then_some(name)
}

/// A text cut to the length that fits a message.
pub fn clip(text: &str) -> String {
    match text.chars().count() {
        0..=40 => text.into(),
        _ => text.chars().take(37).chain("...".chars()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rendered_diagnostic_points_at_the_place() {
        let text = "{\n\t\"key\": 300\n}\n";
        let at = text.find("300").unwrap();
        let diagnostic = Diagnostic::new("in.json", "expected u8, got 300").at(Place::in_text(text, at..at + 3));
        assert_eq!(diagnostic.to_string(), "in.json:2:9: expected u8, got 300");
        let rendered = diagnostic.hint("the most is 255").render();
        let expected = "expected u8, got 300\n --> in.json:2:9\n  |\n2 | \t\"key\": 300\n  | \t       ^^^\n\
                        hint: the most is 255\n";
        assert_eq!(rendered, expected);
        let debug = format!("{:?}", Diagnostic::new("in.json", "expected u8").at(Place::in_text(text, at..at + 3)));
        assert!(debug.contains("line: 2") && !debug.contains("300"), "{debug}");
    }

    #[test]
    fn places_in_long_lines_show_a_part_of_them() {
        let line = format!("{}X{}", "é".repeat(500), "b".repeat(500));
        let at = line.find('X').unwrap();
        let place = Place::in_line(7, &line, at..line.len());
        assert_eq!((place.column, place.excerpt.chars().count()), (501, EXCERPT_CHARS));
        let lines: Vec<String> = Diagnostic::new("f", "m").at(place).render().lines().map(String::from).collect();
        let caret = lines[4].chars().position(|c| c == '^').unwrap();
        assert_eq!(lines[3].chars().nth(caret), Some('X'));
        assert!(lines[4].chars().count() <= EXCERPT_CHARS + 4);
    }

    #[test]
    fn every_place_of_a_text_can_be_shown() {
        let text = "a\r\nbé\n\n\u{7}x";
        for start in 0..text.len() + 3 {
            for end in start..text.len() + 3 {
                Diagnostic::new("f", "m").at(Place::in_text(text, start..end)).render();
            }
        }
        assert_eq!(Place::in_text(text, text.len()..text.len()).line, 4);
    }

    #[test]
    fn suggestions_are_near_names_or_a_short_list() {
        let known = ["key", "block", "ciphertext"];
        assert_eq!(nearest("kye", &known), None);
        assert_eq!(nearest("keys", &known), Some("key"));
        assert_eq!(nearest("Blok", &known), Some("block"));
        assert_eq!(nearest(&"b".repeat(1000), &known), None);
        let hint = |got| Diagnostic::new("f", "m").suggest(got, known).hint.unwrap();
        assert_eq!(hint("cyphertext"), "did you mean `ciphertext`?");
        assert_eq!(hint("zzz"), "available: key, block, ciphertext");
    }

    #[test]
    fn a_name_that_is_unlike_all_of_many_gets_no_hint() {
        let many: Vec<String> = (0..20).map(|i| format!("port{i}")).collect();
        let diagnostic = Diagnostic::new("f", "m").suggest("zzz", many.iter().map(String::as_str));
        assert_eq!(diagnostic.hint, None);
    }
}
