//! Errors as JavaScript has them.

use std::fmt::Display;

use garblet::{
    Error, LoadError, NotPrepared,
    circuit::diagnostic::{Diagnostic, Diagnostics},
    net::NetError,
};
use js_sys::Reflect;
use wasm_bindgen::JsValue;

/// An `Error` of JavaScript with a `hint`.
pub(crate) type Thrown = JsValue;

/// Advice on bytes that mean nothing.
const OTHER_PROGRAM: &str =
    "the peer is another program, or does not follow the protocol: check what is at its address";

/// The error that JavaScript catches.
pub(crate) fn failed(error: &impl Display, hint: &str) -> Thrown {
    let thrown = js_sys::Error::new(&error.to_string());
    // A new object refuses no property.
    let _ = Reflect::set(&thrown, &"hint".into(), &hint.into());
    thrown.into()
}

/// Mistakes in a source.
pub(crate) fn diagnosed(diagnostics: &Diagnostics) -> Thrown {
    told(diagnostics, Diagnostic::to_string)
}

/// Mistakes in inputs. Their places tell how long the values before them are.
pub(crate) fn refused(diagnostics: &Diagnostics) -> Thrown {
    told(diagnostics, |diagnostic| diagnostic.message.clone())
}

fn told(diagnostics: &Diagnostics, line: impl Fn(&Diagnostic) -> String) -> Thrown {
    let lines: Vec<String> = diagnostics.iter().map(line).collect();
    let hint = diagnostics.iter().find_map(|diagnostic| diagnostic.hint.clone());
    failed(&lines.join("\n"), hint.as_deref().unwrap_or("correct it and try again"))
}

/// A program that cannot be had.
pub(crate) fn unloaded(error: &LoadError) -> Thrown {
    match error {
        LoadError::Wrong(diagnostics) => diagnosed(diagnostics),
        LoadError::NoSource { .. } => failed(error, "constants and panics are for sources"),
    }
}

/// A run without a result.
pub(crate) fn ended(error: &Error) -> Thrown {
    if let Some(net) = error.net() {
        return failed(error, advice(net));
    }
    let evidence =
        "the peer's program did not follow the protocol; no failure of the network does this, so keep the message";
    failed(
        error,
        match error {
            Error::NotPrepared(NotPrepared::UnknownComponent { .. }) => "a page has the standard library alone",
            Error::Ot(_) | Error::Commit(_) if error.is_evidence() => evidence,
            Error::Ot(_) | Error::Commit(_) | Error::Garble(_) | Error::Material { .. } => OTHER_PROGRAM,
            Error::Unsupported { .. } | Error::Input { .. } => "give what is expected",
            _ => "begin again, both parties together; if it happens again, please report it",
        },
    )
}

/// A connection that did not come about.
pub(crate) fn unconnected(error: &NetError) -> Thrown {
    failed(error, advice(error))
}

/// Advice on a connection.
fn advice(error: &NetError) -> &'static str {
    match error {
        NetError::UnknownIdentity { .. } => {
            "if the peer itself, asked by another way, reads this fingerprint to you, give it in `trust`"
        }
        NetError::IdentityRejected { .. } => {
            "read it to the peer by another way, who then trusts it: garblet trust add NAME FINGERPRINT"
        }
        NetError::OtherSession { .. } => "give both parties of a session the same name",
        NetError::Incompatible { .. } => {
            "give both parties the same version, program, protocol and parameters, and each its own party number"
        }
        NetError::TlsMismatch { .. } => "let both sides use identities",
        NetError::Tampered { .. } => "somebody between the two changes what is sent; nothing of it was used",
        NetError::Timeout { .. } | NetError::TooSlow { .. } => {
            "the peer may be stopped, overloaded, or cut off; where it only stalls now and then, raise `timeoutMs`"
        }
        NetError::PeerClosed { .. } | NetError::PeerAborted { .. } => {
            "look at the peer's own messages; one that does not trust us closes the connection too"
        }
        _ => OTHER_PROGRAM,
    }
}
