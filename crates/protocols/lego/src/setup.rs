//! Figure 1, `setup`, and step 2 of `generate`: the secrets that all commitments and OTs of the parties come from.

pub(crate) mod delta_ot;
pub(crate) mod secrets;
