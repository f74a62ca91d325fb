//! `form=partialgc`: outsourced runs by many garbled circuits, as published, with the weaknesses of what was published closed.
//!
//! *Source*: Mood, Gupta, Butler and Feigenbaum, *Reuse It Or Lose It: More Efficient Secure Computation Through Reuse of Encrypted Values*
//! (CCS 2014): partial garbled circuits over the outsourced OT of Carter, Mood, Traynor and Butler (USENIX Security 2013) and the cut-and-choose of
//! shelat and Shen (CCS 2013). It is here to be compared with `form=shares`, which costs a small part of it.
//!
//! # Steps
//!
//! `s` circuits, `N` wires to which all givers' inputs are encoded (the cloud is its own client), with those that hide the hashes of clients' wires,
//! `n` input bits of the generator with those of its key and pad, `h` rows of a hash, `W` bits that are read.
//!
//! | phase | step | who | what | where |
//! |---|---|---|---|---|
//! | setup | 1 | servers | agree on a state; for a new one the cloud draws the split, and gets one of two keys of each circuit by OT | `meet`, [`split`] |
//! | setup | | clients | set up OT with the generator | `client` |
//! | prepare | 2 | givers | random OTs with the generator; tell it seeds of an encoding, and of orders and blinds; the cloud hears the encoding from both | `client` |
//! | online | 3 | givers | correct choices; hand the cloud the pads, the places of labels under blinds, and digests of keys | [`oot`] |
//! | online | 4 | generator | for each circuit labels, commitments, partial gates, and both branches: own labels with keys of blinds; keys of orders | `generator` |
//! | online | 5 | cloud, generator | challenge, hash of the generator's input; for each circuit select bits of the hashes of clients' wires | `cloud`, `generator`, `binding` |
//! | online | 6 | generator | sends all circuits | `circuits` |
//! | online | 7 | cloud | evaluates all of them, with noise where it has no labels; makes those again that it checks; only then compares | `circuits`, `cloud` |
//! | online | 8 | cloud | hands over what more than half of the evaluated circuits gave, or noise: masked outputs with tags | `mac`, `cloud` |
//! | online | 9 | all | verify their tags; servers keep labels | `mac`, [`kept`] |
//!
//! # Deviations
//!
//! - *Keys.* In the paper the next run's keys are hashes of the last, and the client is told hashes. Here keys of a run are hashed by run, circuit and
//!   branch from keys that stay, and clients hear nothing of them. [`as_published`] shows what the literal chain gives away.
//! - *Split.* In the paper clients learn it, and pass blinds on for what is evaluated. Here keys of blinds lie in the evaluation branch, and nobody but the
//!   cloud ever learns the split. [`as_published`] shows what a generator with one client learns otherwise.
//! - *OT.* Checked extension in place of a semi-honest one; blinds and orders from one key for each circuit; labels of givers are committed to in
//!   an order that checks find wrong, so that a generator cannot exchange the labels of both values.
//! - *Clients' inputs.* One OT for all circuits binds a client only while it or the generator is honest, and the paper has nothing else. A generator with one client lets the cloud
//!   point at other values in other circuits, all of which stand every check; from which pad fits it learns on which side most evaluated circuits are, and after some runs the split. Here a
//!   hash of each client's wires must be the same in all evaluated circuits. It is of encoded wires and not of bits, as an encoding in parts would show a guess of a part.
//! - *Majority.* If no more than half of the circuits agree, all receivers get noise.
//! - *Time.* All circuits are treated alike until all has come: nothing that the generator could see depends on the split.
//! - *Partial gates* have tweaks of run, circuit and wire, in place of one transformation value. `reuse=labels` has none: a circuit has one delta in
//!   all runs, and output labels are input labels.
//! - *Seeds.* What a circuit follows from is the key of its checking branch, so that none can be sent that does not fit.
//! - *Failures.* A run that does not end well closes the state for good, whatever the reason: else each refusal would tell something of the split. So
//!   a client that misbehaves can end a state. What fails before a run is prepared takes nothing along: the state stays with its server, and
//!   of two numbers of runs the higher one counts.
//! - States live in memory, with at most [`RUNS_MAX`](kept::RUNS_MAX) runs.
//!
//! # Adversary and assumptions
//!
//! Malicious: any coalition without both servers, clients on either side; secure with abort. Bad circuits win if they are most of the evaluated ones and none is checked: that is
//! [`Circuits::cut_log2`](config::Circuits::cut_log2) for all runs of a state together. All else adds a few times `2^-100` for each giver and run; [`Plan::security`] has it for
//! as many runs as a state may serve. Only the checks of OTs are apart: one for each giver and run, which a cheater passes with `2^-80`. Assumes BLAKE3 as a random oracle, what `yao` assumes of garbling with labels
//! that stay, AES as a pseudo-random function, and the OT's assumptions.
//!
//! Whoever keeps a state sees to what it may be used for: nothing here binds it to the other server's identity, to programs, or to what is read and kept; clients have no receipts, and hear no version.

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
    /// Both labels of the givers' wires of a circuit: zero, one, before they are blinded, encrypted and put in order.
    Labels = 1,
    /// The commitments to them, in order.
    Commitments,
    /// The labels, blinded and encrypted, before they are put in order.
    Ciphertexts,
    /// The keys of orders in a circuit, one for each giver.
    Order,
    /// The keys of blinds in a circuit.
    Blind,
    /// The digests of both keys of a circuit, which a client tells.
    KeyDigests,
    /// The keys of ciphers, which a client tells.
    Ciphers,
    /// The places of labels in a circuit, under blinds, which a client tells.
    MaskedPlaces,
    /// The seed of a client's encoding, as it tells the cloud.
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
    /// The cloud's message to the party of that index.
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
