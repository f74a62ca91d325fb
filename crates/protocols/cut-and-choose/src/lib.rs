//! `cut-and-choose`: two-party computation against malicious parties, by checking some of many garbled circuits.
//!
//! *Source*: shelat and Shen, *Fast two-party secure computation with minimal assumptions* (CCS 2013): the garbler does not
//! learn which circuits are checked, and its input is bound by a universal hash that the circuits output. The framework is from
//! Lindell and Pinkas, *An efficient protocol for secure two-party computation in the presence of malicious adversaries*
//! (EUROCRYPT 2007), as measured by Pinkas, Schneider, Smart, Williams, *Secure Two-Party Computation is Practical* (ASIACRYPT
//! 2009), section 6. The idea to send only evaluated circuits is from Goyal, Mohassel and Smith, *Efficient two party and multi party
//! computation against covert adversaries* (EUROCRYPT 2008), as used against malicious parties by Kreuter, shelat and Shen,
//! *Billion-gate secure computation with malicious adversaries* (USENIX Security 2012); both toss coins for the split.
//!
//! # Steps
//!
//! Party 0 garbles `s` circuits; party 1 evaluates `e` of them and checks the others. `n0` counts the garbler's input bits, including
//! those of step 3, `h` the rows of the hash, `n1` the evaluator's input bits and `m` the wires that encode them.
//!
//! | phase | step | garbler | evaluator |
//! |---|---|---|---|
//! | setup | 1 | agrees on a session identifier; OT with consistency checks ([`Garbler::setup`]) | [`Evaluator::setup`] |
//! | prepare | 2 | `m + s` random OTs ([`Garbler::prepare`](garblet_protocol::Role::prepare)) | chooses `e` circuits; corrects its last `s` choices so that a one means checking; samples the encoding |
//! | online | 3 | samples a pad and a key for its output, `h` bits that hide the hash, a seed for each circuit | corrects its first `n1` choices, so that all `m` encode its input |
//! | online | 4 | for each circuit: both labels of the `m` wires, its own `n0 + h` labels, the seed, each encrypted with the pad of its OT | decrypts its choices |
//! | online | 5 | sends the hash of its input | sends the matrix of the hash |
//! | online | 6a | garbles every circuit and sends a digest of it: a digest of the labels of the hash, tables, decoding bits | begins to regenerate the circuits to check from their seeds |
//! | online | 6b | aborts unless `e` circuits are to be evaluated | once it has all digests, announces which circuits it checks |
//! | online | 6c | garbles the circuits to evaluate again and sends them | evaluates and hashes them as they arrive |
//! | online | 7 | | aborts unless checked circuits have the digests that follow from their seeds, its labels match them, evaluated circuits have their digests, and the garbler's labels in them add up to the labels of the hash |
//! | online | 8 | | takes the majority of the evaluated circuits |
//! | online | 9 | aborts unless the tag is right; unmasks its output | sends the garbler's masked output with its tag |
//!
//! Where others deal bits to both parties, the parties prove them between steps 4 and 6a, see [`others`].
//!
//! # Symbols
//!
//! | paper | here |
//! |---|---|
//! | Gen, Eval | [`Garbler`], [`Evaluator`] |
//! | sigma or s circuits, check set | [`Config::circuits`], `Split` |
//! | 2-UHF, M | `UniversalHash` |
//! | k-probe-resistant matrix | [`Encoding`](garblet_seeded::encoding::Encoding) |
//!
//! # Deviations
//!
//! - Adding `h` bits of the garbler hides the hash, in place of `2 h + log h` bits that are hashed with the
//!   input: the same collisions, perfect hiding, fewer wires.
//! - Step 4 comes before step 5, so that the garbler's labels, and with them its input, are fixed before the matrix is known, so no
//!   commitments to chosen labels are needed. Nor are commitments to both labels of each wire: the garbler announces the hash, and a digest of the
//!   labels of its `h` bits is in each circuit. Invalid labels would have to add up to those labels, which is as unlikely as another
//!   input with the same hash. Only the evaluator samples the matrix: the matrix protects only the evaluator, and the garbler's
//!   input is hidden whatever the matrix is.
//! - The hash and the encoding are sums of labels outside the circuit, which both parties compute in the same way.
//! - The garbler's output is masked and authenticated inside the circuit, in place of a proof about output labels that takes more
//!   rounds; see `authenticated`.
//! - Digests of all circuits come before the circuits, and only those to evaluate are sent. So the choice is revealed, which the
//!   paper never does; the next section explains why that is safe for both parties.
//! - Until then nothing that the garbler could see depends on the choice: all keys are read and decrypted alike, the digests are one
//!   message, and circuits are made again on threads that nothing waits for, in memory that does not grow with their number.
//! - The evaluator checks only the label that it got by OT. A garbler that spoils the other one is not caught, but learns at most one
//!   bit of the encoding.
//!
//! # Why the choice may be revealed
//!
//! The garbler gains nothing. When it learns the choice, everything is fixed: the seed and the labels of every circuit by step 4, including its
//! own input and both labels of the evaluator's wires, and the circuits by their digests, unless it knows two circuits with one
//! digest. If it sends a circuit that does not match its digest, the evaluator aborts; this depends on the choice and on the garbler, not
//! on the evaluator's input. Stopping where it would be caught is an abort too. So it escapes if and only if it would have escaped had the circuits
//! been sent before.
//!
//! The evaluator gains nothing, whatever it announces, so no proof is needed. For each circuit it has either the seed or the garbler's labels,
//! by one OT, and never both. If all circuits were sent, it would have all tables. Here it has the same digests, whichever circuits
//! it names, and some of the tables: its view is a part of what it could compute then. If it names a circuit whose seed it has, it could have
//! made that circuit itself; if it does not name one whose labels it has, it has nothing to evaluate. It must name exactly `e` circuits so
//! that the cost is what [`communication`] says, and because an honest evaluator does.
//!
//! # Cost
//!
//! [`communication`] states bytes and rounds; a test compares it with the measured counts. Computation, for a circuit garbled in time `g`,
//! evaluated in `v` and hashed by BLAKE3 in `h`: garbler `(s + e) g + s h`, evaluator `e v + (s - e) g + s h`, on all cores. Where AES
//! and vectors are wide, `h` is about as long as `g`.
//!
//! # Adversary and assumptions
//!
//! Malicious, either party. A cheating garbler is caught, except with the probability that [`Plan::security`] computes: that at least half of
//! the evaluated circuits are bad and no bad circuit is checked ([`cut_log2`]), plus all other ways to cheat. The OT hides the
//! evaluator's choice of circuits until all circuits are fixed. Assumes what `yao` assumes, BLAKE3 as a random oracle, and the OT's
//! assumptions.

mod authenticated;
pub mod checks;
mod config;
mod cost;
mod evaluator;
mod examine;
mod field;
mod garbler;
mod lp07;
mod numbers;
pub mod others;
mod plan;
mod protocol;

pub use config::{Config, Form, InputEncoding, MAX_CIRCUITS, MIN_CIRCUITS, Statistical};
pub use cost::communication;
pub use evaluator::{Evaluator, EvaluatorPrepared};
pub use garbler::{Garbler, GarblerPrepared};
pub use numbers::cut_log2;
pub use plan::Plan;
pub use protocol::CutAndChoose;

pub use garblet_protocol::party_io::{EVALUATOR, GARBLER};

/// The protocol's name on the command line and in results.
pub const NAME: &str = "cut-and-choose";

/// The steps that send something, see [`Conduct`](garblet_protocol::conduct::Conduct).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Step {
    /// The evaluator's corrections of the choices of circuits.
    SplitChoices = 1,
    /// The evaluator's corrections of the choices of its input.
    InputChoices,
    /// Both labels of every wire of the evaluator: zero, one, zero, one.
    EvaluatorLabels,
    /// The garbler's labels.
    GarblerLabels,
    /// The seed of a circuit.
    Seed,
    /// The evaluator's matrix.
    Challenge,
    /// Hash seed, commitments, the digest of the labels of the hash.
    Head,
    /// A piece of the tables.
    Tables,
    /// Decoding bits.
    Tail,
    /// The garbler's masked output and its tag.
    Result,
    /// Coins: the evaluator's commitment to its share.
    TossCommitment,
    /// Coins: the garbler's share.
    TossShare,
    /// Coins: the evaluator's share.
    TossOpening,
    /// The sets of a superset: for each wire the values of both indicators, then the values of the labels in both.
    Sets,
    /// A superset of commitments.
    Superset,
    /// The seeds of the checked circuits.
    CheckedSeeds,
    /// The opening of a superset.
    SupersetOpening,
    /// The digest of a circuit.
    CircuitDigest,
    /// The checked circuits.
    ToldSplit,
    /// The hash of the garbler's input.
    InputHash,
}

impl Step {
    fn of_part(part: usize, part_count: usize) -> Step {
        match part {
            0 => Step::Head,
            _ if part + 1 == part_count => Step::Tail,
            _ => Step::Tables,
        }
    }
}

#[cfg(test)]
mod tests;
