//! Prepared pieces: making them, and the contents of the stores.

pub(crate) mod fill;
pub(crate) mod garble;
pub(crate) mod keys;
pub(crate) mod material;
pub(crate) mod meeting;
pub(crate) mod messages;
pub(crate) mod secrets;
pub(crate) mod stock;
