//! The stock of a party, which waits on disk: triples and masks, secrets, a check that is not settled, and wires that were kept.

pub(crate) mod messages;
pub(crate) mod pieces;
pub(crate) mod saved;
pub(crate) mod store;
pub(crate) mod unsettled;
