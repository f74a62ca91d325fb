//! Half gates that several parties garble together for one evaluator, who learns no wire's value.
//!
//! *Source*: the garbling of Wang, Ranellucci and Katz (CCS 2017) with the half gates of Yang, Wang and Zhang (CCS 2020). That garblers add up tables
//! for one another, and the tags, are Garblet's own.
//!
//! The evaluator garbles nothing; every other party garbles with a delta of its own. The mask `lambda_w` of a wire is the sum of shares of all parties,
//! the evaluator's too. The evaluator sees public values `x + lambda` and one active label of each garbler. The protocol makes the shares, and
//! carries tables and their sums from one party to another.
//!
//! # Slots
//!
//! Slot `j` belongs to `delta^j` of garbler `j`. There may be one more, the last, for a difference of the evaluator's: its tables are *tags*. To a
//! garbler it is a slot like any other's.
//!
//! # Tables
//!
//! The operands of a gate are `a` and `b`, its result is `c`; `sigma = lambda_a lambda_b`. `S_j[x]` is party `i`'s share of `x delta^j`, `H_{j,0}` and
//! `H_{j,1}` are garbler `i`'s hash under the two tweaks of the gate for slot `j`, and `L` its zero labels. Party `i`'s part of the tables for slot `j` is
//!
//! | | |
//! |---|---|
//! | first | `H_{j,0}(L_a) + H_{j,0}(L_a + delta^i) + S_j[lambda_b]` |
//! | second | `H_{j,1}(L_b) + H_{j,1}(L_b + delta^i) + S_j[lambda_a]`, and `L_a` if `j = i` |
//! | third | `H_{j,0}(L_a) + H_{j,1}(L_b) + S_j[sigma + lambda_c]`, and `L_c` if `j = i` |
//!
//! and the evaluator's is the same without hashes and labels. A circuit is the sum of the parts of all. `L_c` is random with bit 0 clear, so that bit 0
//! of an active label is the public value. An inversion keeps the mask; it adds `delta + 1` to a zero label and 1 to an active label.
//!
//! If there is only one garbler, nothing is added up, and `L_c` may be the third block with bit 0 cleared. That bit then takes the block's place.
//!
//! # Lots
//!
//! A program may be garbled and evaluated lot by lot, in memory for one lot and for the wires that are still read: see [`Walk`]. Lots may end after any gate;
//! the tables are those of the whole.
//!
//! # Tags
//!
//! In the slot of tags the evaluator computes what it computes in all others, with zero for labels. The result is `(v_a v_b + v_c) delta`, where `v_a` and
//! `v_b` are the public values of the operands, and `v_c` is the right one of the result. The evaluator compares that with the value that it has found
//! for the result: see [`TagCheck`]. Whoever makes a sum fit a wrong value has guessed the difference.
//!
//! # Tweaks and keys
//!
//! Every garbler has a hash key of its own for each circuit. With `T` slots in all, hash `t` of gate `g` for slot `j` has tweak `2 (T g + j) + t`, counted
//! from the last change of the key.

mod evaluator;
mod garbler;
mod keys;
mod program;
#[cfg(test)]
mod tests;
mod wires;

pub use self::{
    evaluator::{Seen, TagCheck, evaluate, evaluate_lot, lanes_of_labels, own_shares, own_shares_of_lot},
    garbler::{GarblerPart, garble, garble_lot},
    program::{Circuits, Walk},
    wires::{AndGates, Gate, Layer, Quad, Wires, walk},
};

use garblet_primitives::Block;

/// The number of blocks of a gate for one slot.
pub const TABLE: usize = 3;

/// A party's shares for one slot, of `lambda_c delta` and of `sigma delta`.
///
/// *Shape*: one of each per gate.
pub type GateShares<'a> = [&'a [Block]; 2];

/// The number of blocks of a circuit with this many slots.
pub fn circuit_blocks(slots: usize, gates: usize) -> usize {
    slots * TABLE * gates
}

/// The place in a circuit of a block of a gate's table for one slot. A gate has the first blocks for all slots, the second, and the third.
#[inline(always)]
pub fn place(slots: usize, slot: usize, gate: usize, block: usize) -> usize {
    slots * (TABLE * gate + block) + slot
}
