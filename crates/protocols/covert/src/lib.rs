//! `covert`: two-party computation against parties that cheat only if they are unlikely to be caught.
//!
//! *Source*: Aumann and Lindell, *Security against covert adversaries: efficient protocols for realistic adversaries* (TCC 2007), for
//! the security notion and the form `al07`, as measured by Pinkas, Schneider, Smart, Williams, *Secure Two-Party Computation
//! is Practical* (ASIACRYPT 2009), section 6. The default form `seeds` is from Hong, Katz, Kolesnikov, Lu, Wang, *Covert
//! security with public verifiability: faster, leaner, and simpler* (EUROCRYPT 2019), without the public verifiability.
//!
//! # Steps
//!
//! Party 0 garbles `l` circuits; party 1 evaluates one of them and checks the others. They have `n0` and `n1` input bits. The form
//! `seeds` (for the other form see `al07`):
//!
//! | phase | step | garbler | evaluator |
//! |---|---|---|---|
//! | setup | 1 | agrees on a session identifier; OT with consistency checks ([`Garbler::setup`]) | [`Evaluator::setup`] |
//! | prepare | 2 | `l` random OTs: for each circuit a witness and a seed | chooses the circuit to evaluate: gets its witness and the seeds of all others |
//! | prepare | 3 | for each circuit `n1` separate random OTs, with its coins from the seed | its coins from its own seed |
//! | build | 4 | garbles all circuits from their seeds, sends a hash of each ([`Garbler::prepare`](garblet_protocol::Role::prepare)) | `corrupted` unless the hashes and the messages of step 3 match the seeds |
//! | online | 5 | | corrects its choices: its input for the circuit to evaluate, zeros for the others |
//! | online | 6 | for each circuit both labels of every wire, each encrypted with the pad of its OT | `corrupted` unless they match the seeds |
//! | online | 7 | stops unless the witness is right | announces which circuit it evaluates, with the witness |
//! | online | 8 | sends its own labels and that circuit: commitments to its labels, tables, decoding bits | evaluates; stops unless the circuit has the hash of step 4 and the garbler committed to its labels |
//! | online | 9 | stops unless the labels are from its circuit; decodes its output | sends the select bits and a hash of the labels of the garbler's output |
//!
//! # Symbols
//!
//! | paper | here |
//! |---|---|
//! | P_A, P_B; in al07 P1, P2 | [`Garbler`], [`Evaluator`] |
//! | lambda; in al07 l | [`Config::circuits`] |
//! | seed_j^A, witness_j | the two pads of an OT of step 2 |
//! | seed_j^B | the seed of the evaluator's coins of step 3 |
//! | trans_j | [`Channel::end_transcript`](garblet_net::Channel::end_transcript) |
//! | j with a hat; in al07 gamma | the evaluated circuit of `Split` |
//! | epsilon | [`Config::deterrence`] |
//! | corrupted | [`Corrupted`] |
//!
//! # Deviations
//!
//! - The seeds and witnesses are the pads of random OTs. A garbler cannot choose them, and an evaluator that chose its own pads would
//!   only spoil circuits that it does not evaluate.
//! - No signatures: the evaluator's finding convinces only the evaluator. So it need not commit to its own seeds either, which in
//!   the paper prevents false accusations.
//! - The coins of step 3 are those of a whole OT extension, base OTs included. So all its messages can be replayed, and the
//!   OTs of the unchecked circuit have nothing in common with those of checked ones.
//! - Steps 2 to 4 come before the inputs are known. The hash of a circuit covers 128 random bits of the circuit, so a
//!   simulator can choose the circuit later, in the random oracle model.
//! - The evaluator hands over a hash of the output labels in place of all labels: a party that does not know them cannot compute it.
//!   With only one evaluated circuit there is no need to authenticate the output inside the circuit.
//! - Misbehaviour of a garbler that always shows, in steps 2 and 8, is [`Cheating`](garblet_protocol::checks::Cheating): it is never
//!   missed, so deterrence does not apply.
//!
//! # Cost
//!
//! [`communication`] states bytes and rounds; a test compares it with the measured counts. Both parties garble `l` circuits, the garbler one
//! of them twice; one is sent and evaluated.
//!
//! # Adversary and assumptions
//!
//! Covert: a cheating garbler is caught with at least the probability that [`Config::deterrence`] states; then the evaluator ends with
//! [`Corrupted`] and evidence. A garbler that is not caught may learn everything. An evaluator cannot cheat. No failure of the
//! connection gives [`Corrupted`]: before step 7 the garbler does not know what is checked, and by then the evaluator has checked
//! it. Assumes what `yao` assumes, BLAKE3 as a random oracle, and the OT's assumptions.

mod al07;
pub mod checks;
mod comparison;
mod config;
mod cost;
mod evaluator;
mod garbler;
mod input_ot;
mod ots;
mod output;
mod plan;
mod protocol;
mod seeds;

pub use comparison::is_shown;
pub use config::{Config, Form, InputEncoding, MAX_CIRCUITS, MIN_CIRCUITS, Ot};
pub use cost::communication;
pub use evaluator::{Evaluator, EvaluatorPrepared};
pub use garbler::{Garbler, GarblerPrepared};
pub use plan::Plan;
pub use protocol::Covert;

pub use garblet_protocol::{
    checks::{Corrupted, Disclosure, Evidence},
    party_io::{EVALUATOR, GARBLER},
};

/// The protocol's name on the command line and in results.
pub const NAME: &str = "covert";

/// The steps that send something, see [`Conduct`](garblet_protocol::conduct::Conduct).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Step {
    /// The evaluator's corrections of the choices of circuits.
    SeedChoices = 1,
    /// The coins of the OTs of a circuit, the garbler's or the evaluator's; not sent.
    OtCoins,
    /// The coins of a circuit; not sent.
    CircuitCoins,
    /// The hash of a circuit.
    Commitment,
    /// The evaluator's corrections of the choices of its input.
    InputChoices,
    /// Both labels of every wire of the evaluator: zero, one, zero, one.
    EvaluatorLabels,
    /// The number of the evaluated circuit, and the witness.
    Chosen,
    /// The garbler's labels.
    GarblerLabels,
    /// Hash seed, commitments.
    Head,
    /// A piece of the tables.
    Tables,
    /// Decoding bits.
    Tail,
    /// The seeds of the checked circuits, in the form `al07`.
    CheckedSeeds,
    /// The select bits of the garbler's output and a hash of its labels.
    Result,
    /// Coins of the reference string: the evaluator's commitment to its share.
    TossCommitment,
    /// Coins of the reference string: the garbler's share.
    TossShare,
    /// Coins of the reference string: the evaluator's share.
    TossOpening,
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
