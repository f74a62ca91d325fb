//! LEGO: malicious security from single gates that are made before the function is known.
//!
//! *Source*: Nielsen, Schneider and Trifiletti, "Constant round maliciously secure 2PC with function-independent preprocessing using
//! LEGO" (NDSS 2017): figures 1 and 2, with the buckets of Frederiksen, Jakobsen, Nielsen and Trifiletti, "TinyLEGO" (2015).
//!
//! Party 0, the *constructor*, garbles AND gates by themselves and commits to the keys of their wires. Party 1, the *evaluator*, checks
//! some at random and throws the others into buckets. A wire is joined to another by opening the sum of their zero keys, a
//! *soldering*: within a bucket, so that its gates all compute from the same keys; between buckets, once the function is known.
//! A bucket gives the right key if not most of its components are bad.
//!
//! # Steps
//!
//! | phase | who | what | where |
//! |---|---|---|---|
//! | `setup` | both | OTs both ways; commitments; the difference, which is committed to | `setup` |
//! | `prepare` 2 | both | correlated OTs `r_i`, `r_i + b_i delta`: one per input bit, and 40 to be checked | `setup::delta_ot` |
//! | 3, 4 | constructor | commits to three wires of every gate, one of every authenticator, all `r_i` and masks `v_j` of outputs; sends gates and authenticators | `generate::constructor`, `generate::gates` |
//! | 5 to 7 | both | VerLeak: the constructor tells the select bits of `r_i` and `v_j`; blinded random combinations of them are opened | `generate::leak` |
//! | 8 to 10 | evaluator | checks that the committed difference is that of 40 OTs, and gates and authenticators by coins | `generate::challenge` |
//! | 11, 12 | both | the others are permuted into buckets, as the evaluator has said in 8; the constructor opens what joins the components of each | `generate::layout`, `generate::shuffle` |
//! | `build` | constructor | opens what joins the buckets to the function, and its inputs, and the outputs that the evaluator does not learn, to input buckets | `build::wiring` |
//! | `online` 1 | evaluator | sends `e = b + y` | `Evaluator::online` |
//! | 2, 3 | constructor | sends its own input keys; opens `r_i + K_i + e_i delta`, and `v_j + K_j` of the evaluator's outputs | `Constructor::online` |
//! | 4, 5 | evaluator | checks all input keys, evaluates bucket by bucket, decodes; hands over the keys of the constructor's outputs | `eval::bucket` |
//!
//! Outputs can be kept: their wires have committed keys like any others, so that inputs of later functions are these wires, see [`SavedOutputs`].
//! Input buckets then serve them too.
//!
//! # Deviations
//!
//! - An output is masked as the sum of committed wires that it is, without an AND gate of its own.
//! - Challenge and permutation are one seed, which the evaluator sends when everything has arrived. So the constructor knows the buckets
//!   before it opens what is checked; but gates, authenticators and commitments are all fixed by then, and what is left to it is to give up.
//! - Components are made, checked and joined in parts, of which neither party keeps more than two in memory: the constructor makes its
//!   wires anew from seeds once it knows what is checked, and what awaits its bucket lies, sealed, beside the store.
//! - Nor is a large function in memory as a whole if its gates come from a store: in lots of some ten thousand, they are read, joined, and put
//!   aside in memory or, what is too much for it, sealed beside the store until inputs come; see `build::ands`. The paper left that open.
//! - Sizes of buckets are computed for the least bytes, those of inputs by themselves; see [`parameters`].
//! - The constructor may learn outputs too: a key of an output is a proof of what it stands for. That costs one message more.
//! - When two keys of a bucket are accepted the evaluator does what the proof says, where the public prototype takes the one with more
//!   votes: it finds the constructor's input and computes in the clear. The proof leaves out that this takes time, and when it is done depends on
//!   the evaluator's input. So it is done in every run, in a way that evaluates no gate of the function again; see `eval::extract`.
//!
//! # Adversary and assumptions
//!
//! Malicious, static. Theorem 2's three bounds are below `2^-40` together; what results state sums them over all orders that were begun. Not in that
//! sum are the checks that a cheat passes with `2^-40` each: told bits and difference in every order, and the OTs of a setup. The hashes of gates and authenticators are as for
//! half gates; commitments and OTs as their crates say. A receiver that guesses bits of the 168 that delta is made of is found out
//! with probability one half for each; one that guesses after it has seen the matrix may so learn a sum of few bits of delta.

mod amounts;
mod build;
pub mod checks;
mod config;
mod constructor;
mod cost;
mod eval;
mod evaluator;
mod generate;
mod order;
pub mod parameters;
mod participant;
mod pipeline;
mod plan;
mod protocol;
mod setup;
mod side;
mod stock;
#[cfg(test)]
mod tests;

pub use amounts::Amounts;
pub use config::{Config, Sizing};
pub use constructor::{Constructor, ConstructorPrepared};
pub use cost::{Checks, communication};
pub use evaluator::{Evaluator, EvaluatorPrepared};
pub use garblet_homcommit::Code;
pub use order::Order;
pub use participant::Participant;
pub use plan::Plan;
pub use protocol::Lego;
pub use side::Prepared;
pub use stock::{
    orders::{allow_unfinished, unfinished},
    saved::{SavedOutputs, SavedWire},
};

use garblet_circuit::Party;

/// The party that makes gates.
pub const CONSTRUCTOR: Party = garblet_protocol::party_io::GARBLER;
/// The party that evaluates.
pub const EVALUATOR: Party = garblet_protocol::party_io::EVALUATOR;

/// The steps at which something is sent that the peer checks, see [`Conduct`](garblet_protocol::conduct::Conduct). What is opened is seen as
/// commitments, of [`SENDER_SHARE_BYTES`] each, that begin with their message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The difference that is committed to.
    Delta,
    /// The corrections that make the commitments to the wires of a part words of the code.
    Corrections,
    /// The OTs' blocks that are committed to, but those that are checked.
    Strings,
    /// The tables of all gates.
    Tables,
    /// The shifts that move each gate's key to the committed one.
    Shifts,
    /// The authenticators.
    Authenticators,
    /// Select bits of the OTs' blocks and of the output masks.
    ClaimedBits,
    /// The combinations by which the told bits are checked, as they are opened.
    LeakCombinations,
    /// The keys that are checked, and the blocks of checked OTs, as they are opened.
    Checked,
    /// The solderings that join the components of buckets, as they are opened.
    Solderings,
    /// The links that join buckets to the function, as they are opened.
    Links,
    /// The constructor's input keys.
    InputKeys,
    /// The openings that give the evaluator its input keys, and then those that decode its outputs.
    Openings,
    /// The rows that the evaluator sends of its choices for a bit of what the difference is made of.
    Rows,
    /// The combinations by which the evaluator's choices are checked.
    Combinations,
    /// The blocks that the evaluator claims to have got by OT.
    Claims,
    /// The keys of the constructor's outputs.
    OutputKeys,
}

/// Bytes of a commitment as a [`Conduct`](garblet_protocol::conduct::Conduct) sees it.
pub const SENDER_SHARE_BYTES: usize = size_of::<garblet_homcommit::SenderShare>();

/// The protocol's name on the command line and in results.
pub const NAME: &str = "lego";
