//! Pieces that lie in a store until a function is known, and values that stay there after a run.

mod messages;
pub(crate) mod orders;
pub(crate) mod pieces;
pub(crate) mod saved;
pub(crate) mod store;
