//! Figure 1, `generate`: gates and authenticators are made, checked, and soldered into buckets.

pub(crate) mod buckets;
pub(crate) mod challenge;
mod constructor;
mod cut_and_choose;
mod delta;
mod evaluator;
pub(crate) mod gates;
pub(crate) mod layout;
pub(crate) mod leak;
mod made;
pub(crate) mod shuffle;
mod unchecked;
