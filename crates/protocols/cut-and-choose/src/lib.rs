//! `cut-and-choose`: two-party computation against malicious parties, by checking some of many garbled circuits.
//!
//! *Source*: shelat and Shen, *Fast two-party secure computation with minimal assumptions* (CCS 2013): the garbler does not
//! learn which circuits are checked, and its input is bound by a universal hash that the circuits output. The frame is that of
//! Lindell and Pinkas, *An efficient protocol for secure two-party computation in the presence of malicious adversaries*
//! (EUROCRYPT 2007), as measured by Pinkas, Schneider, Smart, Williams, *Secure Two-Party Computation is Practical* (ASIACRYPT
//! 2009), section 6. That only evaluated circuits are sent is from Goyal, Mohassel and Smith, *Efficient two party and multi party
//! computation against covert adversaries* (EUROCRYPT 2008), as used against malicious parties by Kreuter, shelat and Shen,
//! *Billion-gate secure computation with malicious adversaries* (USENIX Security 2012); both toss coins for the split.
//!
//! # Steps
//!
//! Party 0 garbles `s` circuits, party 1 evaluates `e` of them and checks the others. `n0` are the garbler's input bits, those of
//! step 3 included, `h` the rows of the hash, `n1` the evaluator's input bits and `m` the wires that they are encoded to.
//!
//! | phase | step | garbler | evaluator |
//! |---|---|---|---|
//! | setup | 1 | agrees on a session identifier; OT with consistency checks ([`Garbler::setup`]) | [`Evaluator::setup`] |
//! | prepare | 2 | `m + s` random OTs ([`Garbler::prepare`](garblet_protocol::Role::prepare)) | chooses `e` circuits; corrects its last `s` choices so that a one checks; draws the encoding |
//! | online | 3 | draws a pad and a key for its output, `h` bits that hide the hash, a seed for each circuit | corrects its first `n1` choices, so that all `m` encode its input |
//! | online | 4 | for each circuit: both labels of the `m` wires, its own `n0 + h` labels, the seed, each encrypted with the pad of its OT | decrypts what it chose |
//! | online | 5 | sends the hash of its input | sends the matrix of the hash |
//! | online | 6a | garbles every circuit and sends a digest of it: a digest of the labels of the hash, tables, decoding bits | begins to make the circuits that it checks again from their seeds |
//! | online | 6b | aborts unless `e` circuits are to be evaluated | has all digests, and tells which circuits it checks |
//! | online | 6c | garbles the circuits to be evaluated again and sends them | evaluates and hashes them as they come |
//! | online | 7 | | aborts unless checked circuits have the digests of what their seeds give, its labels fit them, evaluated circuits have their digests, and the garbler's labels in them add up to the labels of the hash |
//! | online | 8 | | takes what most evaluated circuits gave |
//! | online | 9 | aborts unless the tag is right; unmasks its output | sends the garbler's masked output with its tag |
//!
//! Where others deal bits to both parties, these prove them between steps 4 and 6a, see [`others`].
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
//! - The hash is hidden by `h` bits of the garbler that are added to it, in place of `2 h + log h` bits that are hashed with the
//!   input: the same collisions, perfect hiding, fewer wires.
//! - Step 4 comes before step 5, so that the garbler's labels, and with them its input, are fixed before the matrix is known, and no
//!   commitments to chosen labels are needed. Nor are commitments to both labels of each wire: the garbler tells the hash, and a digest of the
//!   labels of its `h` bits is in each circuit. Labels that are none would have to add up to those, which has the probability that another
//!   input has its hash. The evaluator alone draws the matrix: it protects the evaluator alone, and the garbler's
//!   input is hidden whatever the matrix is.
//! - The hash and the encoding are sums of labels outside the circuit, made by both parties alike.
//! - The garbler's output is masked and authenticated inside the circuit, in place of a proof about output labels that takes more
//!   rounds; `authenticated` says how.
//! - Digests of all circuits come before the circuits, and only those to be evaluated are sent. So the choice is told, where the
//!   paper never tells it; what follows says why both parties may.
//! - Until then nothing that the garbler could see depends on the choice: all keys are read and decrypted alike, the digests are one
//!   message, and circuits are made again on threads that nothing waits for, in memory that does not grow with their number.
//! - Of the OT, the evaluator checks the label that it got. A garbler that spoils the other one is not found out, but learns no more than a
//!   bit of the encoding.
//!
//! # Why the choice may be told
//!
//! The garbler gains nothing. When it hears the choice, everything is fixed: the seed and the labels of every circuit by step 4, its
//! own input and both labels of the evaluator's wires among them, and the circuits by their digests, unless it knows two circuits with one
//! digest. If a circuit that it sends does not have its digest, the evaluator aborts; whether it does depends on the choice and on the garbler, not
//! on the evaluator's input. To stop where it would be found out is to stop. So it escapes if and only if it would have escaped had the circuits
//! been sent before.
//!
//! The evaluator gains nothing, whatever it tells, so that no proof is asked for. Of a circuit it has the seed or the garbler's labels,
//! by one OT each, and never both. Were all circuits sent it would have all tables. Here it has the same digests, whichever circuits
//! it names, and tables of some: what it sees is a part of what it could compute then. A circuit that it names though it has the seed is one that it
//! could make, and of one that it does not name though it has the labels it has nothing to evaluate. That it names `e` is asked for to
//! keep the cost what [`communication`] says, and because an honest evaluator does.
//!
//! # Cost
//!
//! [`communication`] states bytes and rounds; a test holds it to the measured counts. Computation, for a circuit garbled in time `g`,
//! evaluated in `v` and hashed by BLAKE3 in `h`: garbler `(s + e) g + s h`, evaluator `e v + (s - e) g + s h`, on all cores. Where AES
//! and vectors are wide, `h` is about as long as `g`.
//!
//! # Adversary and assumptions
//!
//! Malicious, either party. A garbler that cheats is found out but for the probability that [`Plan::security`] computes: that the bad
//! circuits are half of the evaluated ones and none is checked ([`cut_log2`]), and all other ways to cheat. Which circuits the
//! evaluator chose is hidden by the OT until all circuits are fixed. Assumes what `yao` assumes, BLAKE3 as a random oracle, and the OT's
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

/// The steps at which something is sent, see [`Conduct`](garblet_protocol::conduct::Conduct).
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
    /// The seeds of the circuits that are checked.
    CheckedSeeds,
    /// The opening of a superset.
    SupersetOpening,
    /// The digest of a circuit.
    CircuitDigest,
    /// The circuits that are checked.
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
