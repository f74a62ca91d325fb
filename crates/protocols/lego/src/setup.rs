//! Figure 1, `setup`, and step 2 of `generate`: the secrets behind all commitments and OTs of the parties.

pub(crate) mod delta_ot;
pub(crate) mod secrets;
