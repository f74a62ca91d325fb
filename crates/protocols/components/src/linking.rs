//! Linking: which prepared pieces serve a program, worked out before anything is sent.

pub(crate) mod allocate;
pub(crate) mod matching;
pub(crate) mod plan;
pub(crate) mod wiring;
