//! `two-garblers`: garbled circuits of three parties, of which at most one is corrupted, without oblivious transfer.
//!
//! *Source*: Mohassel, Rosulek and Zhang, *Fast and Secure Three-party Computation: The Garbled Circuit Approach* (CCS 2015), the protocol with
//! security with abort, with the half gates of Zahur, Rosulek and Evans (EUROCRYPT 2015).
//!
//! Two parties garble the same circuit from the same seed, and the third one evaluates it. If the garblers say the same, one of them is honest, so
//! the circuit is right. The evaluator's input needs no oblivious transfer: each garbler gets a random share of it, which tells nothing, and opens the
//! labels for it.
//!
//! # Steps
//!
//! The evaluator `E` is the first party that learns anything, so that it needs no answer, as in `bmr`; `G1` and `G2` are the others, the lower number first.
//!
//! | phase | step | garblers | evaluator | where |
//! |---|---|---|---|---|
//! | setup | 1 | send nonces, and each other a secret; all compare the name of the session, a hash of the nonces | sends nonces | `meeting` |
//! | build | 2 | derive delta, labels and tables from a seed of their secrets, the session and the run | | `secrets` |
//! | build | 3 | `G1` sends commitments to the labels of all wires that the garblers hold, and `G2` a digest of them | compares | `commitments` |
//! | build, or online after step 6 | 4 | take turns in sending pieces of the tables; each sends a digest of the other's pieces | compares; evaluates them as they arrive, if online | `tables` |
//! | online | 5 | compare the run's number | sends each garbler a share of its input | [`Evaluator`], [`Garbler`] |
//! | online | 6 | open the labels of their own inputs and of their shares | checks them against the commitments | `commitments` |
//! | online | 7 | both send the decoding bits of `E`'s outputs under a mask of two keys, and each one key | evaluates, compares, unmasks, decodes | `decoding` |
//! | online | 8 | | sends each garbler the public values of its outputs, and a digest of their labels | `outputs` |
//! | online | 9 | check the digest, decode | | `outputs` |
//!
//! # Symbols
//!
//! | paper | here |
//! |---|---|
//! | `P1`, `P2` | [`Garbler`], with seat 0 and 1 |
//! | `P3` | [`Evaluator`] |
//! | the PRF seed `r` | the seed of a run in `meeting` |
//! | `x3`, `x4`, with `x3 + x4` the input of `P3` | the two shares of step 5 |
//! | `f'(x1, x2, x3, x4)` | `Plan::labels_by_input`: a label of an input is the sum of the labels of its shares |
//! | `Com`, in the order of `b` | the hashes of `commitments`, in the order of the public value |
//! | `Y`, `De` | the digest of labels, and the decoding of `outputs` |
//!
//! # Deviations
//!
//! - Both garblers contribute to the seed, and all three parties to the session in which it is used. So no seed returns, even if a process is restored from a
//!   backup, and every digest and commitment belongs to one run.
//! - The garblers take turns in sending tables, where the paper has one send all and the other a hash. So each sends half of them, and neither waits
//!   long for an evaluator that is behind.
//! - A commitment is a hash of a label, without further randomness: a label is random. Both labels of every wire have the same sum, so the hash is taken
//!   for a random oracle.
//! - Decoding bits are sent last, even if tables were sent ahead, and nobody can read them before both garblers have a share of the evaluator's input: a
//!   simulator can then choose them after the inputs. A garbler does not wait until the other one has its share, so the evaluator might hold that
//!   back: see `decoding`.
//! - The evaluator's shares derive from its own secret and the session, so none returns either.
//! - A garbler gets the public values of its outputs and one digest of their labels, in place of all labels.
//!
//! # Cost
//!
//! [`communication`] states bytes and rounds of every phase and party; a test compares it with the measured counts. An AND gate costs 32 bytes on all
//! links together.
//!
//! # Adversary and assumptions
//!
//! Malicious, static, at most one of the three parties; secure with abort, without fairness. **Any two parties together see everything**: a garbler
//! knows all labels, and the garblers have both shares of the evaluator's input. Links must be private, and each party must know at each link who is at
//! the other end. Assumes a hash that is circularly correlation robust for naturally derived keys (Choi, Katz, Kumaresan and Zhou, TCC 2012), and that
//! BLAKE3 is a random oracle. The evaluator chooses its shares after it has seen permutation bits, and with `build=ahead` tables. The share that it deals last
//! it chooses after it has also seen the labels and tables of the other garbler. That inputs are chosen after the circuit needs the hash of gates to be that
//! of an ideal cipher, as in `authenticated`, and so does the mask of decoding bits, whose generator is AES.
//!
//! - *A garbler is corrupted.* It sees random shares, and its outputs. What both garblers say is right, since one of them is honest; if they
//!   differ, the evaluator stops. A label that one garbler opens was committed to by both. No check depends on an input of another party, and nothing
//!   leaves the evaluator before all of them passed.
//! - *The evaluator is corrupted.* It has one label of each wire, as an evaluator of `yao`, and decoding bits of its own outputs alone, after it has dealt both shares. The shares that
//!   it deals are its input, whatever they are. To hand over another value of an output it must guess delta.
//!
//! | check | who | names |
//! |---|---|---|
//! | names of the session | all | nobody: one of the two others lies |
//! | digests of commitments and of tables, decoding bits | evaluator | nobody: one of the garblers lies |
//! | opened labels | evaluator | the garbler, since both garblers agree about the commitments |
//! | digest of output labels | garbler | the evaluator |

mod checks;
mod commitments;
mod cost;
mod decoding;
mod evaluator;
mod garbler;
mod meeting;
mod outputs;
mod plan;
mod protocol;
mod secrets;
mod tables;

pub use checks::{COMMITTED_LABELS, EVALUATED_LABELS};
pub use cost::communication;
pub use evaluator::{Evaluator, EvaluatorPrepared};
pub use garbler::{Garbler, GarblerPrepared};
pub use plan::{Build, Config, Plan};
pub use protocol::TwoGarblers;

#[cfg(test)]
mod tests;

/// The protocol's name on the command line and in results.
pub const NAME: &str = "two-garblers";

/// The steps at which a party may deviate, see [`Conduct`](garblet_protocol::conduct::Conduct). The input of a garbler is the bits for which it opens
/// labels: its own ones, and then its share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The nonce for the party with that index; between garblers with the secret.
    Nonce,
    /// The name of the session for the party with that index.
    Name,
    /// The first garbler's commitments.
    Commitments,
    /// The second garbler's digest of them.
    CommitmentsDigest,
    /// A piece of the tables, by its index among all.
    Tables,
    /// The digest of the other garbler's pieces.
    TablesDigest,
    /// The share for the garbler with that index.
    Share,
    /// The labels of a garbler's wires.
    Labels,
    /// The message with the decoding bits of the evaluator's outputs.
    Decoding,
    /// The outputs for the garbler with that index.
    Outputs,
}
