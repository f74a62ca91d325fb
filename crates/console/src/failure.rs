//! The reason for a command's failure, in words for the user.
//! To find a message in the source, search for its fixed words. The texts are `#[error(...)]` in `error.rs` of `net`, `store`, `ot`, `homcommit` and
//! `protocol`, and in `protocol/src/checks.rs`. The remedy of an error is in `garblet/src/explain.rs` and `garblet/src/meet.rs`; its words are in
//! `garblet/src/advice.rs`, or in `words.rs` here if they name options.

use std::{fmt::Display, path::Path, process::ExitCode};

use garblet::{
    Class,
    circuit::diagnostic::{Diagnostics, OtherFormat, one_line},
};
use serde::{Deserialize, Serialize};
#[cfg(feature = "system")]
use serde_json::{Value, json};

use crate::output::tell_text;

/// The exit status of a command that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// The computation ended without a result.
    NoResult = 1,
    /// The call or its files are wrong.
    WrongCall = 2,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        ExitCode::from(status as u8)
    }
}

/// A command's failure, and advice on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The exit status.
    pub status: Status,
    /// The text of the error: what, where, expected, got; lower case, no full stop.
    pub message: String,
    /// Advice on what to do.
    pub hint: Option<String>,
    /// Set if this is only the effect of another party's failure.
    pub secondary: bool,
    /// Set if nothing may be run any more: a store must not be used but could not be marked so, or a receipt could not be written, or its log is damaged.
    pub forbids_more_runs: bool,
    /// The class.
    pub class: Class,
}

impl Failure {
    /// The call or one of its files is wrong. The message is one line, whatever names it contains.
    pub fn call(message: impl Display) -> Self {
        Failure {
            status: Status::WrongCall,
            message: one_line(&plain(&message.to_string())).into_owned(),
            hint: None,
            secondary: false,
            forbids_more_runs: false,
            class: Class::Call,
        }
    }

    /// The computation ended without a result.
    pub fn no_result(message: impl Display) -> Self {
        Failure { status: Status::NoResult, class: Class::Other, ..Failure::call(message) }
    }

    /// Mistakes in files, each with its place.
    pub fn diagnosed(diagnostics: impl Into<Diagnostics>) -> Self {
        let diagnostics: Diagnostics = diagnostics.into();
        let rendered: Vec<String> = diagnostics.iter().map(|d| d.render().trim_end().to_string()).collect();
        Failure { message: plain(&rendered.join("\nerror: ")), ..Failure::call("") }
    }

    /// A file that cannot be read.
    pub fn unreadable(path: &Path, error: &std::io::Error) -> Self {
        Failure::call(format!("{}: cannot be read: {}", path.display(), reason(error)))
    }

    /// A file that cannot be written.
    pub fn unwritable(path: &Path, error: &std::io::Error) -> Self {
        Failure::no_result(format!("{}: cannot be written: {}", path.display(), reason(error)))
    }

    /// A file of a format that this version does not read.
    pub fn other_format(path: &Path, other: OtherFormat) -> Self {
        Failure::call(format!("{}: {other}", path.display())).hint(other.hint())
    }

    /// Sets the class.
    pub fn of_class(self, class: Class) -> Self {
        Failure { class, ..self }
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Display) -> Self {
        self.hint = Some(one_line(&hint.to_string()).into_owned());
        self
    }

    /// The object of `--json`.
    #[cfg(feature = "system")]
    pub(crate) fn object(&self) -> Value {
        json!({ "error": { "status": self.status as u8, "message": self.message, "hint": self.hint } })
    }

    /// Writes the failure to standard error. A standard error that is closed changes nothing.
    pub fn report(&self) {
        let mut text = format!("error: {}\n", self.message);
        if let Some(hint) = &self.hint {
            text.push_str(&format!("hint: {hint}\n"));
        }
        tell_text(&text);
    }
}

/// Returns the first failure of two steps that were both taken. If both failed, reports the second.
pub fn first_failure(first: Result<(), Failure>, second: Result<(), Failure>) -> Result<(), Failure> {
    match (first, second) {
        (Err(failure), Err(other)) => {
            other.report();
            Err(failure)
        }
        (first, second) => first.and(second),
    }
}

#[cfg(feature = "system")]
impl From<&clap::Error> for Failure {
    /// A malformed call, in one line without the usage text.
    fn from(error: &clap::Error) -> Self {
        let text = error.render().to_string();
        let lines: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
        let message = lines.join(" ");
        Failure::call(message.strip_prefix("error: ").unwrap_or(&message)).hint("see --help")
    }
}

/// The operating system's reason.
pub fn reason(error: &std::io::Error) -> String {
    if error.kind() == std::io::ErrorKind::InvalidData {
        return "not UTF-8 text".into();
    }
    let text = error.to_string();
    match plain(&text) {
        reason if reason != text => reason.to_lowercase(),
        _ => text,
    }
}

/// A message without Rust's `(os error 2)` after the operating system's text.
fn plain(message: &str) -> String {
    let mut parts = message.split(" (os error ");
    let first = parts.next().unwrap_or_default();
    let rest = parts.map(|part| match part.split_once(')') {
        Some((number, rest)) if number.bytes().all(|digit| digit.is_ascii_digit()) => rest.to_string(),
        _ => format!(" (os error {part}"),
    });
    std::iter::once(first.to_string()).chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_a_wrong_call_and_names_file_and_reason() {
        let error = std::io::Error::from_raw_os_error(2);
        let failure = Failure::unreadable(Path::new("a.json"), &error);
        assert_eq!(failure.status, Status::WrongCall);
        assert_eq!(failure.message, "a.json: cannot be read: no such file or directory");
    }

    #[test]
    fn numbers_of_the_operating_system_are_left_out_wherever_they_stand() {
        assert_eq!(plain("party 1: refused (os error 111): no"), "party 1: refused: no");
        assert_eq!(plain("a (os error 2) and b (os error 13)"), "a and b");
        assert_eq!(plain("the text (os error x) of (os error 2"), "the text (os error x) of (os error 2");
        assert_eq!(Failure::call(std::io::Error::from_raw_os_error(2)).message, "No such file or directory");
    }

    #[test]
    fn of_two_failures_the_first_is_returned() {
        let failed = |what: &str| Err(Failure::no_result(what));
        assert_eq!(first_failure(Ok(()), Ok(())), Ok(()));
        assert_eq!(first_failure(failed("one"), Ok(())), failed("one"));
        assert_eq!(first_failure(Ok(()), failed("two")), failed("two"));
        assert_eq!(first_failure(failed("one"), failed("two")), failed("one"));
    }

    #[test]
    fn an_error_without_a_number_keeps_its_text() {
        assert_eq!(reason(&std::io::Error::other("Half of it")), "Half of it");
    }
}
