//! Errors as Python has them: by whose fault, with a hint at what to do.

use std::fmt::Display;

use garblet::{
    Error, NotPrepared, Panicked,
    circuit::diagnostic::{Diagnostic, Diagnostics},
    net::{IdentityError, MeshError, NetError, PartyError, PeersFileError},
    store::StoreError,
};
use pyo3::{prelude::*, types::PyDict};

/// The exceptions of `garblet.errors`, by their names there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Nobody's in particular.
    GarbletError,
    UsageError,
    CompileError,
    InputError,
    Panicked,
    PeerError,
    CheatingError,
    NotPreparedError,
    StoreError,
}

/// An error on its way to Python.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    class: Class,
    message: String,
    hint: Option<String>,
    party: Option<u16>,
    diagnostics: Vec<Diagnostic>,
}

impl Fault {
    /// An error of a class.
    pub(crate) fn new(class: Class, message: impl Display) -> Self {
        Fault { class, message: message.to_string(), hint: None, party: None, diagnostics: Vec::new() }
    }

    /// The caller's mistake.
    pub(crate) fn usage(message: impl Display) -> Self {
        Fault::new(Class::UsageError, message)
    }

    /// Mistakes in a source or in another file.
    pub(crate) fn compile(diagnostics: &Diagnostics) -> Self {
        Fault { diagnostics: diagnostics.iter().cloned().collect(), ..Fault::listed(Class::CompileError, diagnostics) }
    }

    /// Values that do not fit. Their places would be those of a text that the caller has never seen.
    pub(crate) fn input(diagnostics: &Diagnostics) -> Self {
        let messages: Vec<&str> = diagnostics.iter().map(|diagnostic| &diagnostic.message[..]).collect();
        Fault { message: messages.join("; "), ..Fault::listed(Class::InputError, diagnostics) }
    }

    fn listed(class: Class, diagnostics: &Diagnostics) -> Self {
        let lines: Vec<String> = diagnostics.iter().map(Diagnostic::to_string).collect();
        let hint = diagnostics.iter().find_map(|diagnostic| diagnostic.hint.clone());
        Fault { hint, ..Fault::new(class, lines.join("\n")) }
    }

    /// Adds what to do about it.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Fault { hint: Some(hint.into()), ..self }
    }

    /// The words.
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
        class.call((&self.message, &self.hint), Some(&more))
    }
}

impl From<Panicked> for Fault {
    fn from(error: Panicked) -> Self {
        Fault::new(Class::Panicked, error).hint("the outputs mean nothing: give other inputs, or use wider types")
    }
}

impl From<&Error> for Fault {
    fn from(error: &Error) -> Self {
        if let Some(error) = error.net() {
            return Fault::from(error);
        }
        match error {
            Error::Peer { party, source } => {
                let inner = Fault::from(&**source);
                Fault { message: format!("party {party}: {}", inner.message), party: Some(party.0), ..inner }
            }
            Error::Store(error) => Fault::from(error),
            Error::Library(diagnostics) => Fault::compile(diagnostics),
            Error::NotPrepared(NotPrepared::UnknownComponent { .. }) => {
                Fault::new(Class::NotPreparedError, error).hint("add it to the library file")
            }
            Error::NotPrepared(_) => Fault::new(Class::NotPreparedError, error)
                .hint("fill the stores together with Session.fill, or let a run make what they lack with top_up=True"),
            Error::Unfinished(_) | Error::Unsettled { .. } | Error::State { .. } => {
                Fault::new(Class::StoreError, error)
            }
            Error::NotGivenUp { .. } => Fault::new(Class::CheatingError, error)
                .hint("remove the store before anything else is done with it, and keep the message"),
            Error::Suspected(_) => {
                Fault::new(Class::PeerError, error).hint("if it happens again, do not run with this peer")
            }
            Error::Corrupted(_)
            | Error::Cheating(_)
            | Error::NoMajority(_)
            | Error::Rejected(_)
            | Error::Refused(_) => cheating(error),
            Error::Ot(_) | Error::Commit(_) if error.is_evidence() => cheating(error),
            Error::Ot(_) | Error::Commit(_) | Error::Garble(_) | Error::Material { .. } => {
                Fault::new(Class::PeerError, error).hint(OTHER_PROGRAM)
            }
            Error::OtherRun { .. } => Fault::new(Class::PeerError, error)
                .hint("one party's program has lost or skipped a run: let all parties begin anew together"),
            Error::Unsupported { .. } | Error::Order { .. } | Error::NoSuchParty { .. } => Fault::usage(error),
            Error::Input { .. } => Fault::new(Class::InputError, error),
            Error::Over => Fault::usage(error).hint("begin another session, all parties together"),
            _ => Fault::new(Class::GarbletError, error),
        }
    }
}

/// Advice on bytes that mean nothing.
const OTHER_PROGRAM: &str =
    "the peer is another program, or does not follow the protocol: check what is at its address";

fn cheating(error: &Error) -> Fault {
    Fault::new(Class::CheatingError, error).hint(
        "the peer's program did not follow the protocol; no failure of the network does this, so keep the message",
    )
}

impl From<&NetError> for Fault {
    fn from(error: &NetError) -> Self {
        let class = match error {
            NetError::NotAnAddress { .. } | NetError::AddressInUse { .. } | NetError::UnknownHost { .. } => {
                Class::UsageError
            }
            NetError::Unsendable { .. } | NetError::CutOff | NetError::Io { .. } => Class::GarbletError,
            _ => Class::PeerError,
        };
        Fault { hint: advice(error).map(String::from), ..Fault::new(class, error) }
    }
}

/// Advice on a connection, where what to do is not plain.
pub(crate) fn advice(error: &NetError) -> Option<&'static str> {
    Some(match error {
        NetError::NotAnAddress { .. } => "for instance 127.0.0.1:7000, or port 0 for any that is free",
        NetError::AddressInUse { .. } => {
            "choose another port, or port 0 for any that is free: Session.address says which"
        }
        NetError::CannotConnect { .. } | NetError::AcceptTimeout { .. } => {
            "start the peer, check the address and that no firewall is between; timeout= says how long to wait"
        }
        NetError::UnknownIdentity { .. } => {
            "if the peer itself, asked by another way, reads this fingerprint to you, give it in trust="
        }
        NetError::IdentityRejected { .. } => "read it to the peer by another way, who then gives it in trust=",
        NetError::OtherSession { .. } => "give all parties of a session the same session=",
        NetError::Incompatible { .. } => {
            "give both parties the same version, program, protocol and params, and each its own party number"
        }
        NetError::TlsMismatch { .. } => "let both sides use identities, or neither: insecure_plain_tcp is for both",
        NetError::Malformed { .. } | NetError::TooLarge { .. } | NetError::Unexpected { .. } => OTHER_PROGRAM,
        NetError::Tampered { .. } => "somebody between the two changes what is sent; nothing of it was used",
        NetError::Timeout { .. } | NetError::TooSlow { .. } => {
            "the peer may be stopped, overloaded, or cut off; where it only stalls now and then, raise timeout="
        }
        NetError::PeerClosed { .. } | NetError::PeerAborted { .. } => "look at the peer's own messages",
        _ => return None,
    })
}

impl From<&MeshError> for Fault {
    fn from(error: &MeshError) -> Self {
        match error {
            MeshError::Own(source) => Fault { message: error.to_string(), ..Fault::from(source) },
            MeshError::Party(PartyError { party, source }) => {
                Fault { message: error.to_string(), party: Some(*party), ..Fault::from(source) }
            }
            MeshError::Missing { .. } => Fault::new(Class::PeerError, error)
                .hint("start the missing parties, check the addresses in the peers file"),
        }
    }
}

impl From<&StoreError> for Fault {
    fn from(error: &StoreError) -> Self {
        let fault = Fault::new(Class::StoreError, error);
        match error {
            StoreError::Missing { .. } => fault.hint("make one with Store(folder, create=True)"),
            StoreError::InUse { .. } => fault.hint("wait until it is done, or give each process a store of its own"),
            StoreError::Exposed { path, expected, .. } => fault.hint(format!("chmod {expected:03o} {}", path.display())),
            StoreError::WrongKey { .. } | StoreError::KeyMissing { .. } => {
                fault.hint("give key=, the key file that the store was made with")
            }
            StoreError::OtherBinding { .. } | StoreError::OtherPeerStore { .. } | StoreError::OtherStore { .. } => {
                fault.hint("name the stores that were filled together, or let all parties begin with new ones")
            }
            StoreError::RolledBack { .. } | StoreError::PeerRolledBack { .. } | StoreError::Restored { .. } => fault
                .hint("a store must not be restored from a backup, as its pieces could be used twice: let all begin with new stores"),
            _ => fault,
        }
    }
}

impl From<&IdentityError> for Fault {
    fn from(error: &IdentityError) -> Self {
        let fault = Fault::usage(error);
        match error {
            IdentityError::Exists { .. } => {
                fault.hint("use it, or move it away first: peers know it by its fingerprint")
            }
            IdentityError::Missing { .. } => fault.hint("make one with Identity.generate(path)"),
            IdentityError::Exposed { path, .. } => fault.hint(format!("chmod 600 {}", path.display())),
            IdentityError::Malformed { .. } => fault.hint("name the file that Identity.generate wrote"),
            IdentityError::Io { .. } => fault,
        }
    }
}

impl From<&PeersFileError> for Fault {
    fn from(error: &PeersFileError) -> Self {
        let form = "one table per party, in order: [[party]] with address = \"HOST:PORT\" and fingerprint = \"...\"";
        Fault::usage(error).hint(form)
    }
}
