//! The way from a program to the prepared pieces that serve it, all worked out before anything is sent.

pub(crate) mod allocate;
pub(crate) mod matching;
pub(crate) mod plan;
pub(crate) mod wiring;
