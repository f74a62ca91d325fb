//! Errors for Python, by who is at fault, with a hint.

use std::fmt::Display;

use garblet::{
    Advice, Class as Cause, Error, Explain, Panicked,
    circuit::diagnostic::{Diagnostic, Diagnostics},
    meet::MeetError,
    net::{IdentityError, MeshError, NetError, PartyError, PeersFileError},
    store::StoreError,
};
use garblet_console::failure::Failure;
use pyo3::{prelude::*, types::PyDict};

pub(crate) use crate::words::Class;
use crate::words::own_words;

/// An error on its way to Python.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    class: Class,
    /// The cause, as receipts have it.
    cause: Cause,
    message: String,
    hint: Option<String>,
    party: Option<u16>,
    /// The number of the receipt that the run has left.
    receipt: Option<u64>,
    diagnostics: Vec<Diagnostic>,
    /// The error before this one, which Python shows with it.
    because: Option<Box<Fault>>,
}

impl Fault {
    /// An error of a class.
    pub(crate) fn new(class: Class, message: impl Display) -> Self {
        Fault {
            class,
            cause: class.cause(),
            message: message.to_string(),
            hint: None,
            party: None,
            receipt: None,
            diagnostics: Vec::new(),
            because: None,
        }
    }

    /// The caller's mistake.
    pub(crate) fn usage(message: impl Display) -> Self {
        Fault::new(Class::UsageError, message)
    }

    /// Mistakes in a source or in another file.
    pub(crate) fn compile(diagnostics: &Diagnostics) -> Self {
        Fault { diagnostics: diagnostics.iter().cloned().collect(), ..Fault::listed(Class::CompileError, diagnostics) }
    }

    /// Values that do not fit, without positions: they would refer to a text that the caller has never seen.
    pub(crate) fn input(diagnostics: &Diagnostics) -> Self {
        let messages: Vec<&str> = diagnostics.iter().map(|diagnostic| &diagnostic.message[..]).collect();
        Fault { message: messages.join("; "), ..Fault::listed(Class::InputError, diagnostics) }
    }

    fn listed(class: Class, diagnostics: &Diagnostics) -> Self {
        let lines: Vec<String> = diagnostics.iter().map(Diagnostic::to_string).collect();
        let hint = diagnostics.iter().find_map(|diagnostic| diagnostic.hint.clone());
        Fault { hint, ..Fault::new(class, lines.join("\n")) }
    }

    /// Adds a hint.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Fault { hint: Some(hint.into()), ..self }
    }

    /// Names the receipt of a run that has failed.
    pub(crate) fn recorded(self, number: u64) -> Self {
        Fault { receipt: Some(number), ..self }
    }

    /// Names the error before this one.
    pub(crate) fn because(self, of: Fault) -> Self {
        Fault { because: Some(Box::new(of)), ..self }
    }

    /// Returns whether a receipt could not be written.
    pub(crate) fn is_unrecorded(&self) -> bool {
        self.class == Class::ReceiptError
    }

    /// A run that ended, and whose receipt could not be written.
    pub(crate) fn unrecorded(failure: Failure) -> Self {
        Fault { class: Class::ReceiptError, ..Fault::from(failure) }
    }

    /// The same for a receipt.
    pub(crate) fn failure(&self) -> Failure {
        Failure::no_result(&self.message).of_class(self.cause)
    }

    /// The message.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The exception.
    pub(crate) fn raise(self, py: Python<'_>) -> PyErr {
        self.exception(py).map_or_else(|error| error, PyErr::from_value)
    }

    /// The exception as a value.
    pub(crate) fn exception<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let diagnostic = |diagnostic: &Diagnostic| {
            let place = diagnostic.place.as_ref().map(|place| (place.line, place.column));
            let Diagnostic { file, message, hint, .. } = diagnostic;
            (file.clone(), place.unwrap_or_default(), message.clone(), hint.clone())
        };
        let more = PyDict::new(py);
        if self.class == Class::CompileError {
            more.set_item("diagnostics", self.diagnostics.iter().map(diagnostic).collect::<Vec<_>>())?;
        }
        if matches!(self.class, Class::PeerError | Class::CheatingError) {
            more.set_item("party", self.party)?;
        }
        let class = py.import("garblet.errors")?.getattr(format!("{:?}", self.class))?;
        let exception = class.call((&self.message, &self.hint), Some(&more))?;
        if let Some(number) = self.receipt {
            exception.setattr("receipt", number)?;
        }
        if let Some(of) = &self.because {
            exception.setattr("__cause__", of.exception(py)?)?;
        }
        Ok(exception)
    }
}

impl Fault {
    /// An error of the library, with what to do about it.
    fn of(class: Class, error: &(impl Explain + Display)) -> Self {
        let words = |advice: Advice| own_words(&advice).unwrap_or_else(|| advice.to_string());
        Fault { cause: error.class(), hint: error.advice().map(words), ..Fault::new(class, error) }
    }
}

/// Advice behind the reason for which somebody who has connected is refused.
pub(crate) fn advice(error: &NetError) -> Option<String> {
    Fault::from(error).hint
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        let Failure { class: cause, message, hint, .. } = failure;
        Fault { cause, hint, ..Fault::new(Class::of_cause(cause), message) }
    }
}

impl From<Panicked> for Fault {
    fn from(error: Panicked) -> Self {
        Fault::of(Class::of(&error), &error)
    }
}

impl From<&Error> for Fault {
    fn from(error: &Error) -> Self {
        match error {
            Error::Peer { party, source } => {
                let inner = Fault::from(&**source);
                Fault { message: format!("party {party}: {}", inner.message), party: Some(party.0), ..inner }
            }
            Error::Library(diagnostics) => Fault::compile(diagnostics),
            _ => Fault::of(Class::of_run(error), error),
        }
    }
}

impl From<&NetError> for Fault {
    fn from(error: &NetError) -> Self {
        Fault::of(Class::of_connection(error), error)
    }
}

impl From<&MeetError> for Fault {
    /// With the argument that is in the way.
    fn from(error: &MeetError) -> Self {
        let argument = match error {
            MeetError::Exposed { .. } => "insecure_plain_tcp: ",
            MeetError::NobodyTrusted | MeetError::SeveralAwaited { .. } | MeetError::SeveralTrusted => "trust: ",
            MeetError::Address(_)
            | MeetError::NoSuchParty { .. }
            | MeetError::OtherIdentity { .. }
            | MeetError::NoFingerprints => "",
        };
        let fault = Fault::of(Class::of(error), error);
        Fault { message: format!("{argument}{}", fault.message), ..fault }
    }
}

impl From<&MeshError> for Fault {
    fn from(error: &MeshError) -> Self {
        match error {
            MeshError::Own(source) => Fault::of(Class::of_connection(source), error),
            MeshError::Party(PartyError { party, source }) => {
                Fault { party: Some(*party), ..Fault::of(Class::of_connection(source), error) }
            }
            MeshError::Missing { .. } => Fault::of(Class::of(error), error),
        }
    }
}

impl From<&StoreError> for Fault {
    fn from(error: &StoreError) -> Self {
        Fault::of(Class::of(error), error)
    }
}

impl From<&IdentityError> for Fault {
    fn from(error: &IdentityError) -> Self {
        Fault::of(Class::of(error), error)
    }
}

impl From<&PeersFileError> for Fault {
    fn from(error: &PeersFileError) -> Self {
        Fault::of(Class::of(error), error)
    }
}
