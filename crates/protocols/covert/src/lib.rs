//! `covert`: two-party computation against parties that cheat only if they are not likely to be found out.
//!
//! *Source*: Aumann and Lindell, *Security against covert adversaries: efficient protocols for realistic adversaries* (TCC 2007), for
//! what is promised and for the form `al07`, as measured by Pinkas, Schneider, Smart, Williams, *Secure Two-Party Computation
//! is Practical* (ASIACRYPT 2009), section 6. The standard form `seeds` is that of Hong, Katz, Kolesnikov, Lu, Wang, *Covert
//! security with public verifiability: faster, leaner, and simpler* (EUROCRYPT 2019), without the public verifiability.
//!
//! # Steps
//!
//! Party 0 garbles `l` circuits, party 1 evaluates one of them and checks the others. `n0`, `n1` are their input bits. In the form
//! `seeds`; for the other see `al07`:
//!
//! | phase | step | garbler | evaluator |
//! |---|---|---|---|
//! | setup | 1 | agrees on a session identifier; OT with consistency checks ([`Garbler::setup`]) | [`Evaluator::setup`] |
//! | prepare | 2 | `l` random OTs: for each circuit a witness and a seed | chooses the circuit to evaluate: gets its witness and the seeds of all others |
//! | prepare | 3 | for each circuit `n1` random OTs of their own, its coins from the seed | its coins from a seed of its own |
//! | build | 4 | garbles all circuits from their seeds, sends a hash of each ([`Garbler::prepare`](garblet_protocol::Role::prepare)) | `corrupted` unless hashes and messages of step 3 are what the seeds give |
//! | online | 5 | | corrects its choices: its input for the circuit to evaluate, zeros for the others |
//! | online | 6 | for each circuit both labels of every wire, each encrypted with the pad of its OT | `corrupted` unless they are what the seeds give |
//! | online | 7 | stops unless the witness is right | says which circuit it evaluates, and the witness |
//! | online | 8 | sends its own labels and that circuit: commitments to its labels, tables, decoding bits | evaluates; stops unless the circuit has the hash of step 4 and the labels are committed ones |
//! | online | 9 | stops unless the labels are those of its circuit; decodes its output | sends the select bits and a hash of the labels of the garbler's output |
//!
//! # Symbols
//!
//! | paper | here |
//! |---|---|
//! | P_A, P_B; in al07 P1, P2 | [`Garbler`], [`Evaluator`] |
//! | lambda; in al07 l | [`Config::circuits`] |
//! | seed_j^A, witness_j | the two pads of an OT of step 2 |
//! | seed_j^B | what the coins of step 3 are from |
//! | trans_j | [`Channel::end_transcript`](garblet_net::Channel::end_transcript) |
//! | j with a hat; in al07 gamma | the evaluated circuit of `Split` |
//! | epsilon | [`Config::deterrence`] |
//! | corrupted | [`Corrupted`] |
//!
//! # Deviations
//!
//! - The seeds and witnesses are the pads of random OTs. A garbler cannot choose them, and an evaluator that chose its own pads would
//!   only spoil circuits that it does not evaluate.
//! - No signatures: what the evaluator finds convinces the evaluator alone. So it need not commit to its own seeds either, which in
//!   the paper keeps it from accusing a garbler falsely.
//! - The coins of step 3 are those of a whole OT extension, base OTs included. So all its messages can be made again, and the
//!   OTs of a circuit that is not checked have nothing in common with those that are.
//! - Steps 2 to 4 come before the inputs are known. The hash of a circuit has 128 random bits of the circuit in it, so that a
//!   simulator can choose the circuit later, in the random oracle model.
//! - The evaluator hands over a hash of the output labels in place of all labels: a party that does not know them cannot make it.
//!   With one circuit evaluated there is no need to authenticate the output inside the circuit.
//! - What a garbler does wrong where everything shows, in steps 2 and 8, is [`Cheating`](garblet_protocol::checks::Cheating): it is never
//!   missed, so deterrence has no part in it.
//!
//! # Cost
//!
//! [`communication`] states bytes and rounds; a test holds it to the measured counts. Both parties garble `l` circuits, the garbler one
//! of them twice; one is sent and evaluated.
//!
//! # Adversary and assumptions
//!
//! Covert: a garbler that cheats is found out with the probability that [`Config::deterrence`] says; then the evaluator ends with
//! [`Corrupted`] and with evidence. If it is not found out it may learn everything. An evaluator cannot cheat. Nothing that happens to
//! the connection gives [`Corrupted`]: before step 7 the garbler does not know what is checked, and the evaluator has checked it
//! then. Assumes what `yao` assumes, BLAKE3 as a random oracle, and the OT's assumptions.

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

/// The steps at which something is sent, see [`Conduct`](garblet_protocol::conduct::Conduct).
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
    /// The seeds of the circuits that are checked, in the form `al07`.
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
