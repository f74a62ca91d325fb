//! LEGO: malicious security from single gates that are made before the function is known.
//!
//! *Source*: Nielsen, Schneider and Trifiletti, "Constant round maliciously secure 2PC with function-independent preprocessing using
//! LEGO" (NDSS 2017): figures 1 and 2, with the buckets of Frederiksen, Jakobsen, Nielsen and Trifiletti, "TinyLEGO" (2015).
//!
//! Party 0, the *constructor*, garbles AND gates by themselves and commits to the keys of their wires. Party 1, the *evaluator*, checks
//! some at random and throws the others into buckets. A wire is joined to another by opening the sum of their zero keys, a
//! *soldering*: within a bucket, so that its gates all compute from the same keys; between buckets, once the function is known.
//! A bucket gives the right key unless most of its components are bad.
//!
//! # Steps
//!
//! | phase | who | what | where |
//! |---|---|---|---|
//! | `setup` | both | OTs in both directions; commitments; the difference and a commitment to it | `setup` |
//! | `prepare` 2 | both | correlated OTs `r_i`, `r_i + b_i delta`: one per input bit, and 48 to be checked | `setup::delta_ot` |
//! | 3, 4 | constructor | commits to three wires of every gate, one of every authenticator, all `r_i` and masks `v_j` of outputs; sends gates and authenticators | `generate::constructor`, `generate::gates` |
//! | 5 to 7 | both | VerLeak: the constructor sends the select bits of `r_i` and `v_j`; blinded random combinations of them are opened | `generate::leak` |
//! | 8 to 10 | evaluator | checks the committed difference with 48 OTs, and checks gates and authenticators by coins | `generate::challenge` |
//! | 11, 12 | both | the others are permuted into buckets by the evaluator's seed of step 8; the constructor opens the solderings of each bucket | `generate::layout`, `generate::shuffle` |
//! | `build` | constructor | opens the solderings of the buckets to the function, and of its inputs and the outputs that the evaluator does not learn to input buckets | `build::wiring` |
//! | `online` 1 | evaluator | sends `e = b + y` | `Evaluator::online` |
//! | 2, 3 | constructor | sends its own input keys; opens `r_i + K_i + e_i delta`, and `v_j + K_j` of the evaluator's outputs | `Constructor::online` |
//! | 4, 5 | evaluator | checks all input keys, evaluates bucket by bucket, decodes; hands over the keys of the constructor's outputs | `eval::bucket` |
//!
//! Outputs can be kept: their wires have committed keys like any others, so inputs of later functions can be these wires, see `stock::saved`.
//! Input buckets then serve them too.
//!
//! # Deviations
//!
//! - An output is a sum of committed wires and is masked as such, without its own AND gate.
//! - Challenge and permutation are one seed, which the evaluator sends when everything has arrived. So the constructor knows the buckets
//!   before it opens the checked components. But gates, authenticators and commitments are all fixed by then, and it can only abort.
//! - Components are made, checked and joined in parts, and neither party has more than two in memory: the constructor makes its
//!   wires again from seeds once it knows which are checked, and components that wait for their bucket are encrypted beside the store.
//! - A large function whose gates come from a store is not in memory as a whole either: gates are read and joined in lots of some ten thousand, and wait for
//!   inputs in memory or, if they are too many, encrypted beside the store; see `build::ands`. The paper leaves that open.
//! - Bucket sizes are computed for the fewest bytes, separately for inputs; see [`parameters`].
//! - The constructor may learn outputs too: a key of an output proves its value. That costs one more message.
//! - If two keys of a bucket are accepted, the evaluator follows the proof: it finds the constructor's input and computes in the clear. The public prototype
//!   takes the key with more votes instead. The proof ignores that this takes time, and that the time depends on the evaluator's input. So it is done in every
//!   run, without evaluating a gate of the function again; see `eval::extract`.
//!
//! # Adversary and assumptions
//!
//! Malicious, static. Theorem 2's three bounds are below `2^-40` together. Results state their sum over all orders that were begun, plus `2^-48` for each
//! check of told bits and of the difference in every order, plus, once, the binding of commitments and the bad gates that dummy votes cover. The checks of a
//! setup's OTs have 128 bits. The hashes of gates and authenticators are as for half gates; commitments and OTs as their crates say. A receiver that guesses
//! some of the 168 bits from which delta is made is caught with probability one half for each. One that guesses after it has seen the matrix may learn a sum
//! of a few bits of delta.
//!
//! # Beside the paper
//!
//! Paths begin in `src` unless they name a crate.
//!
//! 1. Figure 1: `setup/` (secrets, `delta_ot` with step 2), then `generate/`, where `constructor` and `evaluator` go through steps 2 to 12: `gates` has gates
//!    and authenticators, `leak` VerLeak, `delta` step 10, `cut_and_choose` and `challenge` the checks, `layout` and `shuffle` the permutation into buckets.
//! 2. Figure 2: `build/wiring`, `build/constructor` and `build/evaluator` (solderings of the function), `eval/bucket` (votes), `eval/extract` (the proof's
//!    step for two accepted keys).
//! 3. Commitments are in `garblet_homcommit`, its code in `code/`. OT is `garblet_ot::softspoken`, against malicious parties in `malicious/`.
//! 4. Theorem 2 is `parameters.rs`; the contents of an order, and the bounds of all orders, are `order.rs` and `stock/orders.rs`. Bytes are in `cost.rs`.
//! 5. Every check is in `checks.rs`. The parties that trip it are in `crates/cheat/src/lego.rs` and `crates/cheat/tests/cheat/lego.rs`; rates of escape
//!    are in `tests/rates.rs`, the work of the evaluator in `tests/work.rs`.
//! 6. `stock` is everything that waits on disk.
//!
//! The book has a chapter for users. Two decisions (`docs/decisions/protocols.md`) say why the protocol goes in parts and lots.

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
pub use stock::orders::{allow_unfinished, unfinished};

use garblet_circuit::Party;

/// The party that makes gates.
pub const CONSTRUCTOR: Party = garblet_protocol::party_io::GARBLER;
/// The party that evaluates.
pub const EVALUATOR: Party = garblet_protocol::party_io::EVALUATOR;

/// The steps with messages that the peer checks, see [`Conduct`](garblet_protocol::conduct::Conduct). A conduct sees openings as
/// commitments of [`SENDER_SHARE_BYTES`] each, which begin with their message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The committed difference.
    Delta,
    /// The corrections that make the commitments to the wires of a part words of the code.
    Corrections,
    /// The committed blocks of OTs, except the checked ones.
    Strings,
    /// The tables of all gates.
    Tables,
    /// The shifts that move each gate's key to the committed one.
    Shifts,
    /// The authenticators.
    Authenticators,
    /// Select bits of the OTs' blocks and of the output masks.
    ClaimedBits,
    /// The opened combinations that check the told bits.
    LeakCombinations,
    /// The opened keys of checked components, and the opened blocks of checked OTs.
    Checked,
    /// The opened solderings that join the components of buckets.
    Solderings,
    /// The opened solderings that join buckets to the function.
    Links,
    /// The constructor's input keys.
    InputKeys,
    /// The openings of the evaluator's input keys, and then those that decode its outputs.
    Openings,
    /// The evaluator's rows of choices for one of the bits that the difference is made of.
    Rows,
    /// The combinations that check the evaluator's choices.
    Combinations,
    /// The blocks that the evaluator claims from its OTs.
    Claims,
    /// The keys of the constructor's outputs.
    OutputKeys,
}

/// Bytes of a commitment as a [`Conduct`](garblet_protocol::conduct::Conduct) sees it.
pub const SENDER_SHARE_BYTES: usize = size_of::<garblet_homcommit::SenderShare>();

/// The protocol's name on the command line and in results.
pub const NAME: &str = "lego";
