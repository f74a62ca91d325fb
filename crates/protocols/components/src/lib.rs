//! `components`: garbled before the function is known, linked when it is.
//!
//! *Source*: Groce, Ledger, Malozemoff, Yerukhimovich, *CompGC: Efficient Offline/Online Semi-honest Two-party Computation*
//! (2016), sections 4 and 6. Transfers prepared ahead: Beaver (CRYPTO 1995). Links by templates are ours.
//!
//! # Steps
//!
//! Party 0 garbles, party 1 evaluates. Each has a store; both have the same library, which lists what to prepare.
//!
//! | phase | step | garbler | evaluator |
//! |---|---|---|---|
//! | setup | 1 | both report the contents of their stores and discard pieces that only one has; the garbler sends its hash seed ([`Garbler::setup`]) | [`Evaluator::setup`] |
//! | prepare | 2 | garbles components and links of templates, keeps output labels ([`Garbler::prepare`]); correlated OTs | keeps tables and encrypted links ([`Evaluator::prepare`]) |
//! | build | 3 | now the program is known: chooses components and links, and takes them ([`Garbler::build`]) | the same, on its own ([`Evaluator::build`]) |
//! | online | 4 | | sends `d = x + c` |
//! | online | 5 | one message: keys of prepared links, link labels, labels of its inputs, decoding bits | opens links |
//! | online | 6 | | evaluates level by level, decodes; sends the select bits of the garbler's outputs |
//! | online | 7 | decodes | |
//!
//! Which component becomes which instance is a function of program, library and stores, so that nothing about it is sent.
//! Pieces are durably gone from both stores after step 3, before the first byte that depends on them leaves. Where the
//! inputs come with the program, the evaluator takes the transfers as soon as it sees that no component is missing, sends `d`,
//! and works out links and takes components while that is on its way ([`Evaluator::run`]).
//!
//! # Symbols
//!
//! | paper | here |
//! |---|---|
//! | component c, garbled component GC_c | [`ComponentType`]; tables of an instance ([`garblet_garble::ComponentGarbling`]) |
//! | R | delta, one for the life of a store |
//! | link label W_ij = W_i^0 + W_j^0 | `link label`, of an output or input wire and the input wire that it feeds |
//! | GARBLE, LINK, EVAL | steps 2, 5, 6 |
//!
//! # Links
//!
//! Three ways, the same results; each wire is fed by the cheapest that the stores can serve ([`Linking`]).
//!
//! - *standard*: the label itself, 16 bytes per wire.
//! - *keyed* ([`KeyedLink`]): step 2 sends the labels to likely partners, each block encrypted under a key of its own; step
//!   5 sends the 16-byte key.
//! - *template* ([`Template`]): the labels of a chain, tree or grid of the largest size are encrypted under keys that form
//!   hash chains; 16 to 64 bytes open any beginning of it. It is used once; cells that are left over serve alone. What
//!   the cells of a grid's row or column share has one label and no links; there, cells that are left over are dropped.
//!
//! The first component that a garbler's input wire feeds needs no link: the garbler sends the label of that input.
//!
//! # Deviations
//!
//! - Half gates (or [`GRR3`](garblet_garble::SchemeKind), which the paper uses): GRR3 evaluates with one hash call instead of two and its tables are half
//!   as large again. Tables are not sent online, so GRR3 is the faster where evaluation counts and the disk does not; half
//!   gates prepare faster and fill stores less.
//! - The paper's links by one label per block (SCMC) reveal delta; they are in [`scmc`] with the attack, for demonstration.
//! - An evaluator's input bit takes one block instead of two: the OTs' correlation is delta. Decoding bits instead of
//!   encrypted outputs; no instructions, as both parties work them out.
//! - Components may be of any size; small ones of a level are evaluated side by side.
//! - Cells of a grid have the labels of inputs that they share along rows and columns in common. A cell of the edit distance
//!   of 8-bit symbols then has 4 links instead of 20 and takes 416 bytes of the evaluator's store instead of 672, but
//!   serves only in its grid. Chains link what they share: a cell that is left over, of kilobytes of tables, is worth more.
//!
//! # Cost
//!
//! [`communication`] states the online bytes and rounds; a test holds it to the measured counts. With `w` linked wires, `k`
//! keyed blocks, `r` blocks of reveals, `n0`, `n1` input and `m0`, `m1` output bits:
//!
//! | phase | garbler to evaluator | evaluator to garbler |
//! |---|---|---|
//! | online | 16 (w + k + r + n0) + m1/8 | n1/8, then m0/8 |
//!
//! One round trip for any program. `w` counts `n1` (each of the evaluator's inputs is linked), and constants.
//!
//! # Adversary and assumptions
//!
//! Semi-honest, as `yao`. Three arguments beyond its own:
//!
//! **Which differences the evaluator knows.** An opened link tells the sum of two wires' zero labels, and thereby, from their
//! active labels, whether both carry the same value. The *invariant* is that the wires which opened links connect carry the
//! same value in the executed program anyway, and that none of them is ever active elsewhere. Then the view is that of one
//! garbled circuit, the executed program, some of whose wires have another name at each end. Standard and keyed links join
//! what the program joins, and a component serves once. A template's reveal opens links between cells of the used part only,
//! which the program joins as the template does (this is how the part was found); links into other cells stay encrypted
//! forever, because their keys need a preimage of what was revealed and a template is revealed once. A test walks what
//! the evaluator can open in many runs and checks just this.
//!
//! Labels that cells of a grid have in common are those of a wire that feeds them all: the part that is used is found by
//! this. Cells beside that part, whose other inputs have no active labels, are further gates on this wire of which nothing is
//! decoded; the view is part of that of a circuit that has them, with any inputs. Were one of them used in another run, a
//! wire could be active with both values, which gives delta away. Hence they serve only with their template, which goes
//! once; the same test holds that no label is active in two runs, and finds such a cell.
//!
//! **Encrypted links** are one-time pads stretched from 128-bit keys that are used once, uniform in the random oracle (ideal
//! cipher) model until the key is revealed.
//!
//! **Garbling before function and inputs are known** needs adaptive security: decoding bits are sent last, so that a simulator
//! garbles for any input and chooses them, and programs the oracle at the keys of links, once the output is known.
//!
//! **One delta and one hash seed serve a store for its life.** A component's labels and gate numbers follow from a seed and
//! its identifier, which never comes twice, so that no two gates share a number, and a component that is garbled again
//! after a crash is the same bit by bit. The default hash re-keys by gate numbers, so that its bound does not decay.
//! # Modules
//!
//! `library` says which components are prepared, `pieces` makes them and keeps them in stores, `linking` finds them in a program (`wiring`, `matching`) and
//! decides which are used (`allocate`, `plan`), `evaluation` is the evaluator's work on them. `garbler`, `evaluator` and their common part, `participant`, are
//! the roles.

mod config;
mod cost;
mod evaluation;
mod evaluator;
mod garbler;
mod library;
mod linking;
mod participant;
mod pieces;
mod protocol;
mod rehearsal;
mod run;
pub mod scmc;
#[cfg(test)]
mod tests;

pub use config::{Config, Linking};
pub use cost::communication;
pub use evaluator::{Evaluator, EvaluatorPrepared, EvaluatorSide};
pub use garbler::{Garbler, GarblerPrepared, GarblerSide};
pub use library::template::{Border, Chain, Connection, Foot, Grid, Shape, Template, Tree};
pub use library::{ComponentType, KeyedLink, Library, Side, TypeId, Wires};
pub use participant::Participant;
pub use pieces::material::Material;
pub use pieces::stock::Kind;
pub use protocol::Components;
pub use rehearsal::Rehearsal;

pub use garblet_protocol::party_io::{EVALUATOR, GARBLER};

/// The protocol's name on the command line and in results.
pub const NAME: &str = "components";
/// The name for ordering input bits of the evaluator.
pub const INPUTS: &str = "inputs";
/// The version of the contents of stores.
pub const VERSION: u32 = 1;
