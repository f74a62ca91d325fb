//! Runs for weak clients: two servers compute on shares that clients deal to them.
//!
//! *Source*: Mood, Gupta, Butler and Feigenbaum, "Reuse It Or Lose It: More Efficient Secure Computation Through Reuse of Encrypted Values" (CCS 2014) has the parties and what they are for: a
//! *generator*, a *cloud*, and clients that do next to nothing. The construction is ours: its base is [`garblet_authenticated`] or [another](Base), a client's part [`garblet_client`].
//!
//! Party 0 is the generator, which garbles; the last party is the cloud, which evaluates; all others are clients. A client deals a share of its input and a pad of its output to each server. The mask of a
//! dealt bit is opened to nobody: both servers tell their shares with their own shares of the mask added, and the sum is the masked value that garbled circuits take.
//!
//! # Steps
//!
//! | phase | step | who | what | where |
//! |---|---|---|---|---|
//! | `setup`, `prepare`, `build` | | servers | those of the base; masks also for pads and for what hides hashes | `server` |
//! | | | servers | compare states, and tell clients the session and the states as they stand | `state`, `server` |
//! | `online` | S0 | clients | a message to each server | `client` |
//! | | S1 | cloud | tells its dealt bits, masked: they are fixed | [`garblet_authenticated::others`] |
//! | | S2 | generator | tells its own; then the challenges for the cloud's | `settle` |
//! | | S3 | cloud | checks that clients committed to them; tells the challenges for the generator's, and proves that its bits have the dealt hashes | `settle` |
//! | | S4 | generator | checks both and proves the same; labels leave only when the cloud has said that this fits, too | `settle` |
//! | | S5 | cloud | checks the proof before it evaluates; keeps the next version of a state as pending; hands over what the generator learns, the padded outputs of clients included | base, `state` |
//! | | S6 | servers | the generator keeps the version and says so, the cloud does; both answer each client: its output with both pads | `settle`, `server` |
//! | | S7 | clients | accept if both answers are equal | `client` |
//!
//! These are the steps of `form=shares` over [`Base::Authenticated`]. Over the other bases clients do the same; what is dealt to a server is its input of a changed program, in `changed`, in which sums of shares are inputs and
//! padded outputs are outputs of both servers. S1 to S6 are then:
//!
//! | step | over `cut-and-choose` | over `yao` | where |
//! |---|---|---|---|
//! | S1 | the cloud corrects its choices | the same | base |
//! | S2 | the generator sends keys of all circuits, with its labels; then the challenges for the cloud's bits | it sends its labels and the circuit | base, `settle::circuits` |
//! | S3 | the cloud tells the challenges for the generator's, and proves its bits by rows of the correlated OT | | `settle::circuits` |
//! | S4 | the generator checks both, and tells the hashes of its bits, which every circuit binds its labels to | | `settle::circuits`, [`garblet_cut_and_choose::others`] |
//! | S5 | the cloud checks the hashes; only then it has circuits sent, checks and evaluates, and hands over what the generator learns | it evaluates, and the same | base |
//! | S6 | both answer | the same | `changed` |
//!
//! `form=partialgc` is the published construction, in [`partialgc`].
//!
//! # Adversary and assumptions
//!
//! Malicious, static: any coalition without both servers, clients on either side; over `yao` semi-honest, since nothing is proved there. Secure with abort, without fairness. What a server was dealt is bound by a linear hash under a challenge that it does not know until its bits
//! are fixed; the hash is hidden by bits of its own, so that it says nothing to the other server. Whoever changes a bit is found out but for `2^-h` a client, before a label leaves, whatever
//! the inputs are. If a hash does not fit, a client or the other server lies: nobody can tell which.
//! # Where to read what
//!
//! 1. A client's messages are not here but in `garblet_client`, which has no channel and no protocol below it, so that it can be built for browsers: `deal.rs`
//!    (S0) has the formulas, `open.rs` (S7) opens answers, `visit.rs` is both over connections. Known answers by other code: `vectors/outsourced_client.py`.
//! 2. Telling shares (S1, S2): `garblet_authenticated::others`. Challenges and proofs (S2 to S5): `settle.rs`. Bytes: `cost.rs`.
//! 3. Roles are `client` and `server`; `plan` says whose a bit is, `dealt` where dealt bits are; `receipts` is a client's memory of its servers.
//! 4. States, the versions of everything that stays with servers between runs: `state.rs`, and `meeting.rs` for two servers after a crash. Tests cut
//!    servers off in `crates/garblet/tests/face/outsourced_states.rs`.
//! 5. Servers that wait for clients: `service.rs` has a table of steps; clients leave and fetch at `desk.rs`; the servers talk in `pair.rs`. The command's side is
//!    `crates/cli/src/serve/clients.rs`, `crates/cli/src/agreement.rs` and `crates/cli/src/visit.rs`. Tests kill servers in `crates/cli/tests/cli/visits.rs`,
//!    and at every write in `crates/garblet/tests/outsourced_service/kill.rs`.
//! 6. Over the other bases servers run a program that `changed` makes of the parties' one, with `garblet_cut_and_choose::others` and `settle/circuits`.
//! 7. `partialgc.rs` has a table of steps of the published construction and its deviations; `oot.rs` the transfers of clients, `split.rs` the hidden choice of
//!    circuits, `gates.rs` equations (5) to (15), `as_published.rs` the weakness of a literal reading.
//! 8. Deviations of parties and their outcome: `crates/cheat/src/outsourced.rs`, `crates/cheat/tests/cheat/outsourced.rs`.
//!
//! The decisions (`docs/decisions/protocols.md`) say why clients deal shares and take part in no transfers.

mod changed;
mod client;
mod config;
mod cost;
mod dealt;
pub mod partialgc;
mod plan;
mod protocol;
mod receipts;
mod server;
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

/// The servers, which are the parties of the base.
const SERVERS: u16 = 2;

/// The most parties: two servers and their clients.
pub const PARTIES_MAX: u16 = 10;

/// The steps at which a party may deviate, see [`Conduct`](garblet_protocol::conduct::Conduct). The bits that a server was dealt are its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A client's message to a server: to the generator, or with index 1 to the cloud.
    Submission,
    /// A server's challenges for the other's bits.
    Challenges,
    /// A server's proofs.
    Proofs,
    /// A server's verdict on what the other one told.
    Verdict,
    /// The session and the states, as a server tells them to the client of that index.
    Standings,
    /// The answer to the client of that index.
    Answer,
}
