//! The evaluator's work on linked components.

pub(crate) mod execute;
pub(crate) mod groups;
pub(crate) mod steps;
pub(crate) mod work;
