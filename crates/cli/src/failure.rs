//! Why a command ends without having done its work, in words for the user.

use std::{fmt::Display, io::Write, path::Path, process::ExitCode};

use garblet_circuit::diagnostic::Diagnostics;
use garblet_net::{MeshError, NetError, PartyError};
use serde::{Deserialize, Serialize};

/// The exit status of a command that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Status {
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

/// What went wrong, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    /// The exit status.
    pub(crate) status: Status,
    /// What, where, expected, got; lower case, no full stop.
    pub(crate) message: String,
    /// What to do.
    pub(crate) hint: Option<String>,
    /// Whether this is only what another party's failure looks like from here.
    pub(crate) secondary: bool,
}

impl Failure {
    /// The call or one of its files is wrong.
    pub(crate) fn call(message: impl Display) -> Self {
        Failure { status: Status::WrongCall, message: message.to_string(), hint: None, secondary: false }
    }

    /// The computation ended without a result.
    pub(crate) fn no_result(message: impl Display) -> Self {
        Failure { status: Status::NoResult, message: message.to_string(), hint: None, secondary: false }
    }

    /// Files in which something is wrong, each with its place.
    pub(crate) fn diagnosed(diagnostics: impl Into<Diagnostics>) -> Self {
        let diagnostics: Diagnostics = diagnostics.into();
        let rendered: Vec<String> = diagnostics.iter().map(|d| d.render().trim_end().to_string()).collect();
        Failure::call(rendered.join("\nerror: "))
    }

    /// A connection that cannot be made or has failed.
    pub(crate) fn net(error: &NetError) -> Self {
        let failure = match error {
            NetError::NotAnAddress { .. } | NetError::AddressInUse { .. } | NetError::UnknownHost { .. } => {
                Failure::call(error)
            }
            _ => Failure::no_result(error),
        };
        let secondary = matches!(
            error,
            NetError::PeerClosed { .. }
                | NetError::PeerAborted { .. }
                | NetError::PeerBlames { .. }
                | NetError::PeerBlamesUs { .. }
        );
        Failure { hint: error.hint(), secondary, ..failure }
    }

    /// Parties that do not come together.
    pub(crate) fn mesh(error: &MeshError) -> Self {
        let failure = match error {
            MeshError::Own(error) | MeshError::Party(PartyError { source: error, .. }) => Failure::net(error),
            MeshError::Missing { .. } => Failure::no_result(error),
        };
        Failure { message: error.to_string(), hint: error.hint(), ..failure }
    }

    /// A file that cannot be read.
    pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> Self {
        Failure::call(format!("{}: cannot be read: {}", path.display(), reason(error)))
    }

    /// A file that cannot be written.
    pub(crate) fn unwritable(path: &Path, error: &std::io::Error) -> Self {
        Failure::no_result(format!("{}: cannot be written: {}", path.display(), reason(error)))
    }

    /// Adds what to do about it.
    pub(crate) fn hint(mut self, hint: impl Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// Writes the failure to standard error. A standard error that is closed changes nothing.
    pub(crate) fn report(&self) {
        let mut text = format!("error: {}\n", self.message);
        if let Some(hint) = &self.hint {
            text.push_str(&format!("hint: {hint}\n"));
        }
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

/// The operating system's reason without Rust's `(os error 2)`.
pub(crate) fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
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
    fn an_error_without_a_number_keeps_its_text() {
        assert_eq!(reason(&std::io::Error::other("Half of it")), "Half of it");
    }
}
