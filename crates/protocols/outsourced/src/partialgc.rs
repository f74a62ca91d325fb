//! `form=partialgc`: outsourced runs by many garbled circuits, as published, with the published weaknesses fixed.
//!
//! *Source*: Mood, Gupta, Butler and Feigenbaum, *Reuse It Or Lose It: More Efficient Secure Computation Through Reuse of Encrypted Values*
//! (CCS 2014): partial garbled circuits over the outsourced OT of Carter, Mood, Traynor and Butler (USENIX Security 2013) and the cut-and-choose of
//! shelat and Shen (CCS 2013). It is here for comparison with `form=shares`, which costs a fraction of it.
//!
//! # Steps
//!
//! There are `s` circuits, `N` wires that encode all givers' inputs (the cloud is its own client), including those that hide the hashes of clients' wires,
//! `n` input bits of the generator including its key and pad, `h` rows of a hash, and `W` bits to read.
//!
//! | phase | step | who | what | where |
//! |---|---|---|---|---|
//! | setup | 1 | servers | agree on a state; for a new one the cloud samples the split, and gets one of two keys of each circuit by OT | `meet`, [`split`] |
//! | setup | | clients | set up OT with the generator | `client` |
//! | prepare | 2 | givers | random OTs with the generator; send it seeds of an encoding, and of orders and blinds; the cloud gets the encoding from both | `client` |
//! | online | 3 | givers | correct choices; hand the cloud the pads, the places of labels under blinds, and digests of keys | [`oot`] |
//! | online | 4 | generator | for each circuit labels, commitments, partial gates, and both branches: own labels with keys of blinds; keys of orders | `generator` |
//! | online | 5 | cloud, generator | challenge, hash of the generator's input; for each circuit select bits of the hashes of clients' wires | `cloud`, `generator`, `binding` |
//! | online | 6 | generator | sends all circuits | `circuits` |
//! | online | 7 | cloud | evaluates all of them, with noise where it has no labels; regenerates those that it checks; only then compares | `circuits`, `cloud` |
//! | online | 8 | cloud | hands over the result of more than half of the evaluated circuits, or noise: masked outputs with tags | `mac`, `cloud` |
//! | online | 9 | all | verify their tags; servers keep labels | `mac`, [`kept`] |
//!
//! # Deviations
//!
//! - *Keys.* In the paper the next run's keys are hashes of the last ones, and the client gets hashes. Here a run's keys are hashes, by run, circuit and
//!   branch, of keys that stay, and clients get nothing derived from them. [`as_published`] shows what the literal chain leaks.
//! - *Split.* In the paper clients learn it, and pass on the blinds of evaluated circuits. Here keys of blinds are in the evaluation branch, and only the
//!   cloud ever learns the split. [`as_published`] shows what a generator with one client learns otherwise.
//! - *OT.* Checked extension in place of a semi-honest one; blinds and orders from one key for each circuit; commitments to givers' labels are in
//!   an order that is checked, so a generator cannot swap the labels of both values.
//! - *Clients' inputs.* One OT for all circuits binds a client only while it or the generator is honest, and the paper has nothing else. A generator with one
//!   client can make the cloud use different values in different circuits, all of which pass every check; the pad that fits shows on which side most evaluated
//!   circuits are, and after some runs the split. Here a hash of each client's wires must be the same in all evaluated circuits. It covers encoded wires and
//!   not bits, as with an encoding in parts it would confirm a guess of a part.
//! - *Majority.* If no more than half of the circuits agree, all receivers get noise.
//! - *Time.* All circuits are treated alike until everything has arrived: nothing that the generator could see depends on the split.
//! - *Partial gates* have tweaks of run, circuit and wire, in place of one transformation value. `reuse=labels` has none: a circuit has one delta in
//!   all runs, and output labels are input labels.
//! - *Seeds.* A circuit is derived from the key of its checking branch, so a mismatched seed cannot be sent.
//! - *Failures.* A run that fails closes the state for good, whatever the reason: otherwise each refusal would reveal something about the split. So
//!   a misbehaving client can end a state. A failure before a run is prepared costs nothing: the state stays with its server, and
//!   of two run numbers the higher one counts.
//! - States live in memory, with at most [`RUNS_MAX`](kept::RUNS_MAX) runs.
//!
//! # Adversary and assumptions
//!
//! Malicious: any coalition without both servers, clients on either side; secure with abort. Bad circuits win if they are most of the evaluated ones and none
//! is checked; the probability is [`Circuits::cut_log2`](config::Circuits::cut_log2) for all runs of a state together. Everything else adds a few times
//! `2^-100` for each giver and run; [`Plan::security`] includes it for as many runs as a state may serve. Only the OT checks are separate: one for each giver
//! and run, which a cheater passes with probability `2^-80`. Assumes BLAKE3 as a random oracle, what `yao` assumes of garbling with persistent labels, AES as
//! a pseudo-random function, and the OT's assumptions.
//!
//! The keeper of a state decides what it may be used for: nothing here binds it to the other server's identity, to programs, or to the values read and kept;
//! clients have no receipts and see no version.

pub mod as_published;
mod binding;
pub mod checks;
mod circuits;
mod client;
mod cloud;
mod config;
mod cost;
mod gates;
mod generator;
pub mod kept;
mod mac;
mod meet;
pub mod oot;
mod plan;
pub mod split;

pub use client::{Client, ClientPrepared};
pub use cloud::{Cloud, CloudPrepared};
pub use config::{Circuits, Config, Reuse};
pub use cost::{communication, one_way};
pub use generator::{Generator, GeneratorPrepared};
pub use kept::{CloudState, GeneratorState};
pub use plan::Plan;

/// The steps at which a party may deviate, and the domains of hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Step {
    /// Both labels of the givers' wires of a circuit: zero, one, before blinding, encryption and ordering.
    Labels = 1,
    /// The commitments to them, in order.
    Commitments,
    /// The labels, blinded and encrypted, before ordering.
    Ciphertexts,
    /// The keys of orders in a circuit, one for each giver.
    Order,
    /// The keys of blinds in a circuit.
    Blind,
    /// The digests of both keys of a circuit, as a client sends them.
    KeyDigests,
    /// The cipher keys, as a client sends them.
    Ciphers,
    /// The places of labels in a circuit, under blinds, as a client sends them.
    MaskedPlaces,
    /// The seed of a client's encoding, as it sends it to the cloud.
    EncodingSeed,
    /// The partial gates of a circuit.
    PartialGates,
    /// The generator's labels.
    GeneratorLabels,
    /// Both branches of a circuit.
    Branches,
    /// The seed of a circuit.
    Seed,
    /// The delta of a circuit.
    Delta,
    /// The cloud's matrix.
    Challenge,
    /// The hash of the generator's input.
    InputHash,
    /// The select bits of the hashes of clients' wires in a circuit.
    ClientHashes,
    /// The labels of that hash.
    HashLabels,
    /// The digest of a circuit.
    CircuitDigest,
    /// The digest of commitments.
    CommitmentsDigest,
    /// Hash seed and the digest of the labels of the hash.
    Head,
    /// A piece of the tables.
    Tables,
    /// Decoding bits.
    Tail,
    /// The cloud's message to the party with that index.
    Answer,
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
