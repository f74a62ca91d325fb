//! Errors as JavaScript has them.

use std::fmt::Display;

use js_sys::{Error, Reflect};
use wasm_bindgen::JsValue;

/// An `Error` of JavaScript with a `hint`.
pub(crate) type Thrown = JsValue;

/// The error that JavaScript catches.
pub(crate) fn failed(error: &impl Display, hint: &str) -> Thrown {
    let thrown = Error::new(&error.to_string());
    set(&thrown, "hint", &hint.into());
    thrown.into()
}

/// The error of a caller that gave something else than it should.
pub(crate) fn wrong(what: &str, hint: &str) -> Thrown {
    failed(&what, hint)
}

/// Sets a property. A new object refuses none.
pub(crate) fn set(object: &JsValue, name: &str, value: &JsValue) {
    let _ = Reflect::set(object, &name.into(), value);
}
