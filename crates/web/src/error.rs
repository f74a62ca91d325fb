//! Errors as JavaScript has them.

use std::fmt::Display;

use js_sys::{Error, Reflect};
use wasm_bindgen::JsValue;

/// An `Error` of JavaScript with a `hint`.
pub(crate) type Thrown = JsValue;

/// Makes the error that JavaScript catches.
pub(crate) fn failed(error: &impl Display, hint: &str) -> Thrown {
    let thrown = Error::new(&error.to_string());
    set(&thrown, "hint", &hint.into());
    thrown.into()
}

/// The error for a wrong argument.
pub(crate) fn wrong(what: &str, hint: &str) -> Thrown {
    failed(&what, hint)
}

/// Sets a property. A new object accepts every property.
pub(crate) fn set(object: &JsValue, name: &str, value: &JsValue) {
    let _ = Reflect::set(object, &name.into(), value);
}
