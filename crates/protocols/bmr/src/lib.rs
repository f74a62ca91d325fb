//! `bmr` and `bmr-bgw`: any number of parties garble a circuit together, in a constant number of rounds.
//!
//! *Source*: Ben-Efraim, Lindell and Omri, *Optimizing Semi-Honest Secure Multiparty Computation for the Internet* (CCS 2016),
//! after Beaver, Micali and Rogaway (STOC 1990). Steps that are cheaper here are listed under deviations.
//!
//! # Steps
//!
//! | phase | step | what | paper | where |
//! |---|---|---|---|---|
//! | setup | 1 | deltas; base OTs between every pair, or shares of the deltas; seeds | figure 2, step 1 | [`BmrParty::setup`](garblet_runs::joint::JointParty::setup) |
//! | prepare | 2 | permutation bits and labels of base wires; OTs with the bits as choices, or shares of the bits | figure 2, steps 2 and 3 | [`BmrParty::prepare`](garblet_runs::joint::JointParty::prepare) |
//! | build | 3 | each party's shares of `delta^j ((lambda_u + alpha)(lambda_v + beta) + lambda_w)` for every gate, row and slot | steps 1 to 3 of protocol 3.1; section 3.2 | the `source`: `linear`, `published`, `bgw` or `bgw_published` |
//! | build | 4 | each adds its masks and, in its own slot, its label of the output | step 4; figure 1 | `rows` |
//! | build | 5 | the shares are added up for everybody | step 4 | `open` |
//! | online | 6 | everybody announces the run's number, which must be the same, and input owners announce public values | figure 3, step 1 (a) | [`BmrParty::online`](garblet_runs::joint::JointParty::online) |
//! | online | 7 | everybody sends the recipients its labels of all inputs, and its shares of the outputs' permutation bits with shares of zero added | figure 3, step 1 (b); figure 2, step 5 | `zeros` |
//! | online | 8 | recipients evaluate and decode locally | figure 3, steps 2 and 3 | `evaluate` |
//!
//! # Symbols
//!
//! | paper | here |
//! |---|---|
//! | `n`, `P_i` | [`Plan::parties`], a [`Party`](garblet_circuit::Party) |
//! | `R^i`, `lambda^i_w`, `k^i_{w,0}` | `delta^i`, permutation and labels of [`Secrets`] |
//! | `alpha`, public value | bit 0 of any active label |
//! | `F^2` | [`garblet_primitives::JointHash`] |
//! | the functionality `F_GC` | step 3 to 5; `ideal` in tests |
//! | superseed | the active labels of all parties, one after another |
//!
//! # Deviations
//!
//! - Bit 0 of a label shows the public value, so no party compares labels with its own, and all parties' labels
//!   must agree on an output. Labels have 127 secret bits.
//! - The masks' tweaks include the row, not only the gate and slot: with free XOR and a fixed key, the keys of two rows
//!   are related.
//! - Permutation bits of an input are the owner's own (figure 2, step 6, second form), and every party contributes to every
//!   label, including those of others' inputs. FairplayMP's mistake is to let owners choose whole labels, which shows them
//!   the outputs for any other input of theirs.
//! - Every party adds shares of zero to its shares of output bits, see `zeros`. The paper omits them: with free XOR the
//!   share of a bit that is a sum of inputs depends only on that party's inputs and their public values, so a
//!   recipient of `a + b` learns `a` and `b`.
//! - Shares of output bits are sent online, beside the labels, where they cost no round: a simulator of the garbled circuit
//!   can then choose them after the inputs.
//! - `form=half-gates`, the default of `bmr`, makes another circuit, for one evaluator, with a third of the bytes: see the module `half_gates`. The
//!   evaluator then tells the other recipients the public values of their outputs.
//! - `form=linear`, the default of the others, makes the same circuit with fewer bytes: see the modules `linear`, `bgw` and `open`. With `n` parties,
//!   a gate costs each of them about `144 (n - 1)` bytes in place of `64 n (n - 1)` and more.
//!
//! - Of a run of many gates, [`Config::ot`] may make the OTs of `bmr` by silent OT. Bit 0 of its blocks is zero or the choice; each pair adds a stream that it has in
//!   common, so that it is as random to others as with the extension.
//!
//! # Cost
//!
//! [`communication`] states bytes and rounds of every phase and party; a test compares it with the measured counts. Evaluating takes `n^2`
//! hash calls per AND gate, garbling `4 n` per party; with half gates `2 (n - 1)^2`, and `4 (n - 1)` per garbler.
//!
//! # Adversary and assumptions
//!
//! Semi-honest. `bmr`: any number of corrupted parties. `bmr-bgw4`, `bmr-bgw3`: fewer than half, `bmr-bgw2`: fewer than a third.
//! Assumes a double-key hash that is circularly correlation robust (Choi, Katz, Kumaresan and Zhou 2012), the OT's assumptions for
//! `bmr`, and private channels between the parties for all: the seeds of shares of zero and the shares of BGW are sent
//! over them unmasked. The key of a pair's hash, which comes with their base OTs, need not be secret: in `linear`, where a gate's operand is the
//! input of a third party, the pair's rows for it are zero, but the bits that one sends the other stay under a hash of its own delta.
//!
//! With half gates a garbler sees parts of tables under hashes of both labels of a wire, of which it has none unless it works with the
//! evaluator, and the evaluator sees sums of them. Both together have what they would have if all parts went to the evaluator. Hash keys
//! of gates are fresh for every garbler and circuit.
//!
//! # Modules
//!
//! The program is flattened, and vectors go along its wires ([`joint`](garblet_garble::joint)): labels of all parties, OT rows, shares. Protocols
//! differ in the `source` of the row shares: `linear` and `published` by OT, `bgw` and `bgw_published` by sharing. `half_gates` has tables in place of
//! rows, and its own way to evaluate them; it has `products` and `shares` in common with `linear`. Masking (`rows`), opening (`open`), evaluating
//! (`evaluate`) and the online phase (`party`) are the same for all.

mod bgw;
mod bgw_published;
mod config;
mod cost;
mod evaluate;
mod half_gates;
mod linear;
mod open;
mod pairs;
mod party;
mod plan;
mod products;
mod protocol;
mod published;
mod rehearsal;
mod rows;
mod secrets;
mod shamir;
mod shares;
mod source;
mod stored;
mod zeros;

pub use config::{Config, Form, Garbling, Hash, Optimisations, SILENT_FROM};
pub use cost::communication;
pub use party::{BmrParty, Prepared};
pub use plan::Plan;
pub use protocol::{Bmr, BmrBgw2, BmrBgw3, BmrBgw4};
pub use rehearsal::Rehearsal;
pub use secrets::Secrets;

#[cfg(test)]
mod tests;
