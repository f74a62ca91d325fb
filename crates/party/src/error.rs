//! Errors as JavaScript has them.

use std::fmt::Display;

use garblet::{
    Error, LoadError,
    circuit::diagnostic::{Diagnostic, Diagnostics},
};
use garblet_console::{failure::Failure, hints::explain};
use js_sys::Reflect;
use wasm_bindgen::JsValue;

use crate::{
    code::{Code, Coded},
    surface::hint,
};

/// An `Error` of JavaScript with a `hint`.
pub(crate) type Thrown = JsValue;

/// The error that JavaScript catches.
pub(crate) fn failed(error: &impl Display, hint: &str) -> Thrown {
    let thrown = js_sys::Error::new(&error.to_string());
    set(&thrown, "hint", &hint.into());
    thrown.into()
}

/// Sets a property. A new object accepts every property.
pub(crate) fn set(object: &JsValue, name: &str, value: &JsValue) {
    let _ = Reflect::set(object, &name.into(), value);
}

/// The same error with a code.
pub(crate) fn coded(thrown: Thrown, code: Code) -> Thrown {
    set(&thrown, "code", &code.name().into());
    thrown
}

/// The error for a failure in words.
pub(crate) fn thrown(failure: &Failure) -> Thrown {
    failed(&failure.message, hint(failure))
}

/// The error for a failure that may have a code.
pub(crate) fn thrown_coded(Coded { failure, code }: &Coded) -> Thrown {
    code.iter().fold(thrown(failure), |thrown, code| coded(thrown, *code))
}

/// The error for mistakes in a source.
pub(crate) fn diagnosed(diagnostics: &Diagnostics) -> Thrown {
    told(diagnostics, Diagnostic::to_string)
}

/// The error for mistakes in inputs. It leaves out positions, which would reveal the lengths of earlier values.
pub(crate) fn refused(diagnostics: &Diagnostics) -> Thrown {
    coded(told(diagnostics, |diagnostic| diagnostic.message.clone()), Code::Inputs)
}

fn told(diagnostics: &Diagnostics, line: impl Fn(&Diagnostic) -> String) -> Thrown {
    let lines: Vec<String> = diagnostics.iter().map(line).collect();
    let hint = diagnostics.iter().find_map(|diagnostic| diagnostic.hint.clone());
    failed(&lines.join("\n"), hint.as_deref().unwrap_or("correct it and try again"))
}

/// The error for a program that cannot be loaded.
pub(crate) fn unloaded(error: &LoadError) -> Thrown {
    match error {
        LoadError::Wrong(diagnostics) => diagnosed(diagnostics),
        LoadError::NoSource { .. } => failed(error, "constants and panics are for sources"),
    }
}

/// The error for a run without a result.
pub(crate) fn ended(error: &Error) -> Thrown {
    thrown(&explain(error))
}
