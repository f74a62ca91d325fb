//! Runs for weak clients: two servers compute on shares that clients deal to them.
//!
//! *Source*: Mood, Gupta, Butler and Feigenbaum, "Reuse It Or Lose It: More Efficient Secure Computation Through Reuse of Encrypted Values" (CCS 2014) defines
//! the parties and their purpose: a *generator*, a *cloud*, and clients that do next to nothing. The construction is ours: its base is
//! [`garblet_authenticated`] or [another](Base), and a client's part is [`garblet_client`].
//!
//! Party 0 is the generator, which garbles; the last party is the cloud, which evaluates; all others are clients. A client deals a share of its input and a
//! pad of its output to each server. The mask of a dealt bit is opened to nobody: each server announces its share plus its own share of the mask, and the sum
//! is the masked value that garbled circuits take.
//!
//! # Steps
//!
//! | phase | step | who | what | where |
//! |---|---|---|---|---|
//! | `setup`, `prepare`, `build` | | servers | as in the base; masks also for pads and hash masks | `server` |
//! | | | servers | compare states, and tell clients the session and the current states | `state`, `server` |
//! | `online` | S0 | clients | a message to each server | `client` |
//! | | S1 | cloud | announces its dealt bits, masked, which fixes them | [`garblet_authenticated::others`] |
//! | | S2 | generator | announces its own; then the challenges for the cloud's | `settle` |
//! | | S3 | cloud | checks that clients committed to them; announces the challenges for the generator's, and proves that its bits have the dealt hashes | `settle` |
//! | | S4 | generator | checks both and proves the same; sends labels only once the cloud has confirmed this proof | `settle` |
//! | | S5 | cloud | checks the proof before it evaluates; keeps the next version of a state as pending; hands over the generator's outputs, including the padded outputs of clients | base, `state` |
//! | | S6 | servers | the generator keeps the version and says so, then the cloud does; both answer each client with its output under both pads | `settle`, `server` |
//! | | S7 | clients | accept if both answers are equal | `client` |
//!
//! These are the steps of `form=shares` over [`Base::Authenticated`]. Over the other bases clients do the same; bits dealt to a server are its inputs of a
//! changed program, in `changed`, which sums the shares and gives padded outputs to both servers. S1 to S6 are then:
//!
//! | step | over `cut-and-choose` | over `yao` | where |
//! |---|---|---|---|
//! | S1 | the cloud corrects its choices | the same | base |
//! | S2 | the generator sends keys of all circuits, with its labels; then the challenges for the cloud's bits | it sends its labels and the circuit | base, `settle::circuits` |
//! | S3 | the cloud announces the challenges for the generator's, and proves its bits by rows of the correlated OT | | `settle::circuits` |
//! | S4 | the generator checks both, and announces the hashes of its bits; every circuit binds its labels to them | | `settle::circuits`, [`garblet_cut_and_choose::others`] |
//! | S5 | the cloud checks the hashes; only then does it have circuits sent, check and evaluate them, and hand over the generator's outputs | it evaluates and hands over likewise | base |
//! | S6 | both answer | the same | `changed` |
//!
//! `form=partialgc` is the published construction, in [`partialgc`].
//!
//! # Adversary and assumptions
//!
//! Malicious, static: any coalition without both servers, clients on either side; over `yao` semi-honest, since nothing is proved there. Secure with abort,
//! without fairness. A linear hash binds a server to its dealt bits, under a challenge that it does not know until these are fixed; further bits hide the hash
//! from the other server. A server that changes a bit is caught before a label leaves, whatever the inputs are, except with probability `2^-h` per client. If
//! a hash is wrong, a client or the other server lies: nobody can tell which.
//!
//! # Reading guide
//!
//! 1. A client's messages are in `garblet_client`, which needs no channel and no protocol, so it can be built for browsers: `deal.rs`
//!    (S0) has the formulas, `open.rs` (S7) opens answers, `visit.rs` does both over connections. Test vectors from independent code:
//!    `vectors/outsourced_client.py`.
//! 2. Announcing shares (S1, S2): `garblet_authenticated::others`. Challenges and proofs (S2 to S5): `settle.rs`. Bytes: `cost.rs`.
//! 3. Roles are `client` and `server`; `plan` says who owns a bit, `dealt` where dealt bits are; `receipts` is a client's memory of its servers.
//! 4. States, the versions of everything that servers keep between runs: `state.rs`, and `meeting.rs` for two servers after a crash. Tests
//!    interrupt servers in `crates/garblet/tests/face/outsourced_states.rs`.
//! 5. Servers that wait for clients: `service.rs` has a table of steps; clients submit and collect at `desk.rs`; the servers talk in `pair.rs`. The command's
//!    side is `crates/cli/src/serve/clients.rs`, `crates/console/src/agreement.rs` and `crates/console/src/visit.rs`. Tests kill servers in
//!    `crates/cli/tests/cli/visits.rs`, and at every write in `crates/garblet/tests/outsourced_service/kill.rs`.
//! 6. Over the other bases, servers run a program that `changed` makes from the parties' program, with `garblet_cut_and_choose::others` and `settle/circuits`.
//! 7. `partialgc.rs` has a table of steps of the published construction and its deviations; `oot.rs` the transfers of clients, `split.rs` the hidden choice of
//!    circuits, `gates.rs` equations (5) to (15), `as_published.rs` the weakness of a literal reading.
//! 8. Deviations of parties and their outcome: `crates/cheat/src/outsourced.rs`, `crates/cheat/tests/cheat/outsourced.rs`.
//!
//! The decisions (`docs/decisions/protocols.md`) say why clients deal shares and take part in no transfers.

// Servers need all of it.
#![cfg_attr(not(feature = "tcp"), allow(dead_code))]

pub mod agreement;
mod changed;
mod client;
mod config;
mod cost;
mod dealt;
#[cfg(test)]
mod padding;
pub mod partialgc;
mod plan;
mod protocol;
mod receipts;
mod server;
#[cfg(feature = "tcp")]
pub mod service;
mod settle;
mod state;
#[cfg(test)]
mod views;

pub use changed::{ChangedServer, Seat};
pub use client::Client;
pub use config::{Base, Config, Form};
pub use plan::{BasePlan, Plan};
pub use protocol::{FormPlan, Outsourced};
pub use receipts::Receipts;
pub use server::ServerRole;
pub use state::Limits;

use garblet_circuit::Party;

/// The protocol's name on the command line and in results.
pub const NAME: &str = "outsourced";

/// The server that garbles.
pub const GENERATOR: Party = Party(0);

/// The servers: the parties of the base.
const SERVERS: u16 = 2;

/// The most parties: two servers and their clients.
pub const PARTIES_MAX: u16 = 10;

/// The steps at which a party may deviate, see [`Conduct`](garblet_protocol::conduct::Conduct). The bits dealt to a server are its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A client's message to a server: to the generator, or with index 1 to the cloud.
    Submission,
    /// A server's challenges for the other's bits.
    Challenges,
    /// A server's proofs.
    Proofs,
    /// A server's verdict on the other one's messages.
    Verdict,
    /// The session and the states, as a server reports them to the client with that index.
    Standings,
    /// The answer to the client with that index.
    Answer,
}
