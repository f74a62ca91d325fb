//! A party's stock on disk: triples and masks, secrets, an unsettled check, and kept wires.

pub(crate) mod kept;
pub(crate) mod messages;
pub(crate) mod pieces;
pub(crate) mod saved;
pub(crate) mod store;
pub(crate) mod unsettled;
