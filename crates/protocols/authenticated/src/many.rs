//! `authenticated-bmr`: a garbled circuit whose masks nobody knows, among three parties and more of which any number may be malicious.
//!
//! *Source*: authenticated triples and garbling for many parties by Katz, Ranellucci, Rosulek and Wang, with the half gates of Yang, Wang and Zhang (CCS 2020),
//! whose proof is for the published protocol. *Deviations* lists the steps that differ from it.
//!
//! One party, the *evaluator*, evaluates; all others garble, each for a difference of its own. The mask of a wire is a sum of shares of all, each authenticated
//! towards all others. So a gate that somebody garbles wrongly gives a wrong result with the same probability for all inputs, and is detected.
//!
//! # Steps
//!
//! | phase | step | what | where |
//! |---|---|---|---|
//! | `setup` | S0 | the name of the session, from nonces of all | `setup` |
//! | | S1, S2 | OTs of all pairs; the proof that every party has one difference | `setup` |
//! | `prepare` | P1 | authenticated bits, the same towards all | `bits`, `ots` |
//! | | P2 to P4 | leaky triples: products of uniform bits | `leaky` |
//! | | P5 | all are products, or somebody is caught | `zero` |
//! | | P6 | leaky triples are joined to triples in buckets | `prepare` |
//! | `build` | B1 | open the sums of operands' masks and triples, and the masks of inputs to their owners | `build`, `open` |
//! | | B2 | garblers add up their tables for one another, and send the sums to the evaluator | `build` |
//! | `online` | O1, O2 | masked inputs; labels, masks of outputs | `online` |
//! | | O3 | the evaluator evaluates and checks | `online`, [`garblet_garble::joint`] |
//! | | O4 | with `check=reveal`: the evaluator tells all masked values, and the garblers answer with sums of shares | `reveal` |
//! | | O5 | the evaluator hands over the garblers' outputs | `online` |
//!
//! With `build=stream`, B1 opens the masks of inputs alone. All gates go through B1, B2 and O3 online, after O2, lot by lot, in memory for one lot: triples come from a
//! store or from `supply`, and wires from a walk along the program's instances. Nothing that depends on gates leaves before the last of them is checked.
//!
//! With stores, `setup` is a meeting: all tell what their stores have, settle the last test of step P5 if somebody does not know its outcome, and go on with the
//! secrets of steps S1 and S2 that they have (`meeting`, `stock`, `settle`). Wires of outputs may stay for later programs (`saved`).
//!
//! # Deviations
//!
//! - A party keeps the sum of its keys of a bit, not each of them. What is opened is checked as a whole, and a failure names nobody.
//! - All checks of OTs are at one point, see `bits`. A party's bits are the same towards all because the hashes in its answers are.
//! - In S2 the sum `y` of a party's choices towards party `k` goes to party `k` alone, which is the only one to use it. Published: to all.
//! - The proof of opened bits is at a point that hashes the totals as its sender heard them, see `open`: it is also the echo that all heard the same.
//! - Leaky triples are tested blindly, see `zero`: a failed test tells no difference, so any number of batches may be made with one.
//! - Garblers add up tables, see `build`: the evaluator receives `48 (n - 1)` bytes for a gate, and not `16 (n - 1) (3 n - 4)`.
//! - Tags, which are garbled for the evaluator's difference, let it check every gate by itself, see [`garblet_garble::joint`]. The published check is
//!   `check=reveal`.
//! - Labels come under locks, see `online`, where the published protocol broadcasts masked inputs.
//! - Every hash, commitment and coin belongs to its sender; shares of coins are hashed in order.
//!
//! None of these has a published proof. The arguments are in `docs/decisions/protocols.md`.
//!
//! # Adversary and assumptions
//!
//! Malicious, static, any number of the parties; security with abort, without fairness. The outputs of honest parties are right, or they have none;
//! some may have theirs when others do not. Links must be private and authentic. Assumptions are those of [`crate`]; with `ot=silent` every link has a code and noise of its own.
//!
//! A check of one link names the party at its other end. All other checks are of sums over all parties, and name nobody: see [`checks`].

pub mod checks;

mod bits;
mod build;
mod config;
mod cost;
mod ground;
mod leaky;
mod meeting;
mod messages;
mod online;
mod open;
mod ots;
mod party;
mod place;
mod plan;
mod prepare;
mod protocol;
mod reveal;
mod saved;
mod secrets;
mod settle;
mod setup;
mod shares;
mod stock;
mod supply;
mod wires;
mod zero;

pub use config::Config;
pub use cost::communication;
pub use party::{Drawing, Drawn, Member, Prepared};
pub use plan::Plan;
pub use protocol::AuthenticatedBmr;

#[cfg(test)]
mod tests;

/// The protocol's name on the command line and in results.
pub const NAME: &str = "authenticated-bmr";

/// The steps with messages that the others check, see [`Conduct`](garblet_protocol::conduct::Conduct). The index is the party that the message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The nonce of a session.
    Nonce,
    /// The digest of all nonces.
    Name,
    /// The party's difference, if the index is its own number; otherwise the one in its OTs with another.
    Difference,
    /// The sum of choices, from which the other party proves its difference.
    DifferenceSums,
    /// The party's proofs of all differences, before it commits to them.
    OwnDifferenceProofs,
    /// The commitment to them.
    DifferenceCommitment,
    /// The proofs, with the opening.
    DifferenceProofs,
    /// The commitment to a share of coins.
    CoinCommitments,
    /// The opening of a share of coins.
    Coins,
    /// The party's bits in its OTs with another.
    Bits,
    /// The answer to the check of OTs, with the digest of what was heard.
    Answers,
    /// The digest of the hashes of all bits, where no blocks follow.
    BitsEcho,
    /// The same digest, commitments to coins, and the blocks `u` of leaky triples.
    LeakyBlocks,
    /// The party's bits that correct products, before it commits to them.
    OwnProductBits,
    /// The commitment to them.
    ProductBitsCommitment,
    /// These bits, with the opening.
    ProductBits,
    /// The first message of the test of leaky triples.
    ZeroBlocks,
    /// The party's product in the test, before it commits to it.
    OwnProduct,
    /// The commitment to it.
    ProductCommitment,
    /// The product, with the opening.
    Product,
    /// The bits that join leaky triples in buckets.
    BucketBits,
    /// Their proof.
    BucketProof,
    /// The bits that join triples to the function, and masks of inputs.
    GateBits,
    /// Their proof.
    GateProof,
    /// A garbler's part of the tables for another, and of the tags that the other collects.
    TableParts,
    /// The seed of a garbler's hash key, and the sums of tables and tags.
    Tables,
    /// The masked inputs.
    MaskedInputs,
    /// The labels of all inputs, the digest of masked inputs, keys of locks, and shares of masks of outputs; to other garblers these shares alone. Without the
    /// shares if gates are streamed or revealed.
    InputLabels,
    /// The masked values of gates, the digest of their labels unless these are streamed, and the point of their sum.
    RevealedGates,
    /// The digest of the labels of all gates, where these are streamed.
    RevealedLabels,
    /// The sum of a garbler's shares, and shares of masks of outputs; to other garblers these shares alone.
    RevealedSums,
    /// Shares of masks of outputs, if gates are streamed and have tags.
    OutputMasks,
    /// Masked outputs, the digest of their labels, and shares of their masks.
    HandedOver,
    /// With stores: the marks of values that the party keeps.
    KeptMarks,
    /// The digest of the marks of all.
    KeptEcho,
    /// The word whether the party has its part of the outputs of a run.
    Kept,
}
