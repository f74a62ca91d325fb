//! The gates of authenticated garbling: half gates on wires whose masks are shared between both parties.
//!
//! *Source*: Katz, Ranellucci, Rosulek and Wang 2018 (masks, garbling, the sum that checks a gate); the tags, with which the
//! evaluator checks gates by itself, are Garblet's own.
//!
//! Every wire has a secret mask, of which each party has a share. The evaluator sees masked values: bit 0 of an active
//! label is the masked value, as every zero label has bit 0 zero. A party's share is a block that is linear in the masks:
//! those of the garbler, `S`, and of the evaluator, `M`, add up to `S ^ M = mask * delta`. The protocol makes the shares,
//! and compares the sums of checks.
//!
//! *Symbols*: `a, b` are the operands of AND gate `g`, `c` its result; `L` a zero label, `D` delta, `m` a mask, `v` a masked
//! value; `sigma = m_a m_b`; `H_t` is the hash under tweak `T g + t` with `T = 2`, or 4 with tags.
//!
//! | | |
//! |---|---|
//! | table | `G_0 = H_0(L_a) ^ H_0(L_a ^ D) ^ S[m_b]`, `G_1 = H_1(L_b) ^ H_1(L_b ^ D) ^ L_a ^ S[m_a]` |
//! | result | `L_c ^ s = H_0(L_a) ^ H_1(L_b) ^ S[sigma ^ m_c]`, where `s` is the select bit that clears bit 0 |
//! | evaluation | `H_0(L_a) ^ H_1(L_b) ^ v_a (G_0 ^ M[m_b]) ^ v_b (G_1 ^ L_a ^ M[m_a]) ^ M[sigma ^ m_c] ^ s`, of active labels |
//! | negation | adds `D ^ 1` to a zero label, 1 to an active label, nothing to a mask |
//! | tags | `H_2(L_a) ^ H_2(L_a ^ D)`, `H_3(L_b) ^ H_3(L_b ^ D)`, and the sum that they must complete, `H_2(L_a) ^ H_3(L_b)` |
//!
//! [`MaskedGarbler`], [`MaskedEvaluator`] and [`MaskWalk`] take the gates of a program in the same order, in pieces of any
//! size. A [`MaskWalk`] gives the inputs of the other two for every gate.

mod evaluator;
mod garbler;
mod lanes;
mod walk;

pub use self::{
    evaluator::{CheckMut, MaskedEvaluator},
    garbler::{MaskedGarbler, TagsMut},
    lanes::GateMasks,
    walk::MaskWalk,
};

use garblet_primitives::Block;

/// The block that turns an active label into that of the negated wire; also the block of a select bit.
pub(crate) const NEGATION: Block = Block::from_u128(1);
