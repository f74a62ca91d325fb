//! Authenticated garbling: a garbled circuit whose masks neither party knows, against malicious parties.
//!
//! *Source*: Katz, Ranellucci, Rosulek and Wang, "Optimizing authenticated garbling for faster secure two-party computation" (CRYPTO 2018), after Wang,
//! Ranellucci and Katz (CCS 2017), with half gates.
//!
//! Every wire has a secret mask. Each party has a share of it, authenticated by a MAC that the other party can check. Party 0, the *garbler*, garbles AND
//! gates by the masked values of their operands. That would need the evaluator's shares, so the garbler leaves their part out, and party 1, the *evaluator*,
//! adds it. So an incorrectly garbled gate gives a wrong result with the same probability for all inputs, and is detected.
//!
//! For each AND gate the parties need shares of the product of two masks. They come from *triples*, which are made before the function is known.
//!
//! # Steps
//!
//! | phase | step | who | what | where |
//! |---|---|---|---|---|
//! | `setup` | | both | differences; OTs in both directions | `secrets` |
//! | `prepare` | P1 | both | correlated OTs, checked: authenticated bits | `prepare::correlated` |
//! | | P2 to P4 | both | leaky triples: products of uniform bits, of which a malicious party may know the first factor | `prepare::leaky` |
//! | | P5 | both | all are products, or a party is caught: digests of sums are compared | `prepare::equality` |
//! | | P6 | both | leaky triples are joined to triples in buckets, by random rotations | `prepare::rotate` |
//! | `build` | B1 | both | open the sums of operands' masks and triples, all gates at once | `build` |
//! | | B2, B4 | garbler | sends gates and tags | `build::garbler` |
//! | | B3 | both | open the masks of the other's inputs to it | `build` |
//! | `online` | O1 | evaluator | sends its masked input | `online::evaluator` |
//! | | O2 | garbler | sends the labels of all masked inputs; with tags, their sum, and the masks of the evaluator's outputs | `online::garbler` |
//! | | O3 | evaluator | evaluates | `build::evaluator` |
//! | | O4 | both | without tags: the evaluator sends all masked values, and the garbler answers with a sum of shares | `online` |
//! | | O5 | evaluator | hands over the garbler's outputs | `online::evaluator` |
//!
//! # Deviations
//!
//! - Differences and sums of leaky triples are never opened: one false bit in `d` would reveal an honest party's difference. Digests are compared, one of them
//!   under a commitment.
//! - Tags, with which the evaluator checks all gates by itself, are ours, see `tags`. The published check is `check=reveal`.
//! - Masks of outputs stay closed until the masked inputs are sent, and those of the garbler's outputs until all gates are checked.
//! - Bit 0 of a label is the masked value. Bit 0 of a share is the party's bit, see `shares`.
//!
//! # Adversary and assumptions
//!
//! Malicious, static. The hash of leaky triples is TMMO in the ideal-cipher model, under a key that is fixed after all OTs. The hash of gates is as for half
//! gates, under a key that the garbler draws after everything that it hashes is fixed. Gates may be sent long before inputs are chosen, which relies on the
//! ideal cipher too. The point at which tags are summed is a hash of all messages. For OTs see [`garblet_ot::softspoken`], and with `ot=silent` also [`garblet_ot::silent`].
//!
//! # Beside the paper
//!
//! Folders are the paper's phases: `prepare` makes triples, `build` joins them to a function, `online` computes it, each with a file for either role. Code that
//! both roles share is `participant`, over `Side`; `ground` has their secrets and all names of hashes and keys. `others` serves `garblet_outsourced`.
//!
//! 1. Authenticated bits: `shares.rs` has the symbols, `prepare/correlated.rs` makes them (P1) of the OTs of `ots.rs`, `opening.rs` opens them.
//! 2. Triples: `prepare/leaky.rs` (P2 to P4), `prepare/equality.rs` (P5) with `stock/unsettled.rs`, `prepare/rotate.rs` (P6). The bound, ours and the
//!    published one, is `parameters.rs`.
//! 3. The function: `build.rs` (B1, B3), `build/garbler.rs` (B2), `online/` (O1 to O5). One gate is in `garblet_garble::masked`, as formulas and as code;
//!    it knows no protocol and takes shares of masks as blocks that are linear in them.
//! 4. The check: `tags.rs` defines a tag. The published check is `check=reveal`: `Judge` in `online/garbler.rs`, `Verdict` in `online/evaluator.rs`.
//!    Nothing that depends on outputs leaves without a `Verified`.
//! 5. Every check is in `checks.rs`, bytes are in `cost.rs`. `stock` is everything that waits on disk, with the check that is not settled.
//!
//! The book has a chapter for users. The decisions (`docs/decisions/protocols.md`) say why shares, labels and checks are as they are.

mod amounts;
mod build;
pub mod checks;
mod coins;
mod config;
mod cost;
mod ground;
pub mod many;
mod online;
mod opening;
pub mod others;
mod ots;
pub mod parameters;
mod participant;
mod place;
mod plan;
mod prepare;
mod protocol;
mod secrets;
mod shares;
mod side;
mod stock;
mod supply;
mod tags;
mod wires;

#[cfg(test)]
mod tests;

pub use amounts::Amounts;
pub use config::{Build, Config, ResultCheck, SILENT_FROM, Statistical};
pub use cost::{communication, communication_for_others};
pub use online::{evaluator::EvaluatorSide, garbler::GarblerSide};
pub use participant::{Drawn, Evaluator, Garbler, Participant, Prepared, Run};
pub use plan::Plan;
pub use protocol::Authenticated;
pub use side::Side;

use garblet_circuit::Party;

/// The party that garbles.
pub const GARBLER: Party = garblet_protocol::party_io::GARBLER;
/// The party that evaluates.
pub const EVALUATOR: Party = garblet_protocol::party_io::EVALUATOR;

/// The protocol's name on the command line and in results.
pub const NAME: &str = "authenticated";

/// The steps with messages that the peer checks, see [`Conduct`](garblet_protocol::conduct::Conduct).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The party's difference, before anything is made with it.
    Difference,
    /// The blocks `u` of leaky triples.
    LeakyBlocks,
    /// The commitment to coins for the equality check.
    CoinCommitments,
    /// The party's bits that correct products, before it commits to them.
    OwnProductBits,
    /// The commitment to the bits that correct products.
    ProductBitsCommitment,
    /// These bits, with the opening.
    ProductBits,
    /// The opening of coins.
    Coins,
    /// The digest that the garbler commits to and opens, besides the one that it compares.
    OwnDigest,
    /// The garbler's commitment to its digest of leaky triples.
    DigestCommitment,
    /// The evaluator's digest.
    Digest,
    /// The opening of the garbler's.
    DigestOpening,
    /// The bits that join leaky triples in buckets.
    BucketBits,
    /// The bits that join triples to the function, and masks of inputs.
    MaskBits,
    /// The seed of the hash of gates.
    HashSeed,
    /// Tables, tags and select bits of a piece; the index is the first gate's.
    Tables,
    /// The number of the run and the evaluator's masked inputs, including bits dealt to it.
    MaskedInputs,
    /// The number of the run and the garbler's masked inputs, including bits dealt to it.
    Told,
    /// The labels of all inputs.
    InputLabels,
    /// The sum of tags or shares.
    Sum,
    /// The masks of outputs.
    OutputMasks,
    /// The masked values of gates, with the point of the sum.
    MaskedValues,
    /// The digest of their labels.
    MaskedValuesDigest,
    /// The masked values of the garbler's outputs.
    MaskedOutputs,
    /// The digest of their labels.
    OutputDigest,
    /// The word that all fits, where the garbler has no outputs and keeps them.
    Confirmation,
}
