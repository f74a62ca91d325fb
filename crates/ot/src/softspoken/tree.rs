//! Seed trees (Goldreich, Goldwasser and Micali 1986): `2^k` leaves from `k` OTs, all except one of them for the peer.
//!
//! *Source*: Roy 2022, section 3 (the punctured PRF of small-field VOLE). A node's children are the encryptions of 0 and 1
//! under the node. The pads of one base OT form the first level. Every other level costs two blocks: for side `b`, the sum of
//! the level's nodes on that side, masked with the pad of the *other* branch. So the peer, whose choice is a bit of
//! delta, learns the sum on the side away from its missing node.

use garblet_primitives::{Bit, Block, encrypt_each};
use zeroize::Zeroizing;

use super::width::Width;
use crate::bit_vec::BitVec;

/// The leaves of every tree, tree by tree, and the corrections for the peer, level by level within a tree.
///
/// *Shape*: `pads` are the 128 pairs of the base OTs; bit `i` of a leaf's number belongs to OT `k j + i`.
pub(super) fn expand(width: Width, pads: &[[Block; 2]]) -> (Zeroizing<Vec<Block>>, Vec<Block>) {
    let mut leaves = Zeroizing::new(Vec::with_capacity(width.trees() * width.leaves()));
    let mut corrections = Vec::with_capacity(width.corrections());
    for pads in pads.chunks_exact(width.bits()) {
        // The top level branches by the highest bit, so nodes are in numeric order.
        let (levels, top) = pads.split_at(width.bits() - 1);
        let mut nodes = Zeroizing::new(vec![top[0][1], top[0][0]]);
        for pads in levels.iter().rev() {
            nodes = grow(&nodes);
            for side in [0, 1] {
                let sum = nodes.iter().skip(side).step_by(2).fold(Block::ZERO, |sum, &node| sum ^ node);
                corrections.push(sum ^ pads[1 - side]);
            }
        }
        leaves.extend_from_slice(&nodes);
    }
    (leaves, corrections)
}

/// The leaves that the party with delta knows: tree by tree, by distance from the missing leaf, which is zero.
///
/// Only values depend on delta, never branches or addresses.
///
/// *Shape*: `pads` are the 128 chosen pads of the base OTs, `choices` the bits of delta.
pub(super) fn puncture(width: Width, choices: &BitVec, pads: &[Block], corrections: &[Block]) -> Zeroizing<Vec<Block>> {
    let mut leaves = Zeroizing::new(Vec::with_capacity(width.trees() * width.leaves()));
    let mut corrections = corrections.as_chunks::<2>().0.iter();
    for (tree, pads) in pads.chunks_exact(width.bits()).enumerate() {
        let (levels, top) = pads.split_at(width.bits() - 1);
        let mut nodes = Zeroizing::new(vec![Block::ZERO, top[0]]);
        for (level, &pad) in levels.iter().enumerate().rev() {
            let choice = choices.get(tree * width.bits() + level);
            let [zero, one] = corrections.next().copied().unwrap_or_default();
            nodes = grow(&nodes);
            swap_sides(&mut nodes, choice);
            let known = nodes.iter().skip(3).step_by(2).fold(Block::ZERO, |sum, &node| sum ^ node);
            nodes[0] = Block::ZERO;
            nodes[1] = Block::select(choice, zero, one) ^ pad ^ known;
        }
        leaves.extend_from_slice(&nodes);
    }
    leaves
}

/// The next level: the children of every node side by side.
fn grow(nodes: &[Block]) -> Zeroizing<Vec<Block>> {
    let mut children = Zeroizing::new(Vec::with_capacity(2 * nodes.len()));
    let mut keys = Zeroizing::new(Vec::with_capacity(2 * nodes.len()));
    for &node in nodes {
        keys.extend([node, node]);
        children.extend([Block::ZERO, Block::from_u128(1)]);
    }
    encrypt_each(&keys, &mut children);
    children
}

/// Exchanges the children of every node if `swap`.
fn swap_sides(children: &mut [Block], swap: Bit) {
    let swap = Block::mask(swap);
    for [left, right] in children.as_chunks_mut::<2>().0 {
        let difference = swap & (*left ^ *right);
        *left ^= difference;
        *right ^= difference;
    }
}

#[cfg(test)]
mod tests {
    use garblet_primitives::Prg;

    use super::*;
    use crate::base::BASE_OTS;

    #[test]
    fn the_peer_gets_every_leaf_but_the_one_at_delta() {
        for width in Width::ALL {
            let mut rng = Prg::new(Block::from_u128(width.bits() as u128));
            let pads: Vec<[Block; 2]> = (0..BASE_OTS).map(|_| [rng.next_block(), rng.next_block()]).collect();
            let choices = BitVec::random(BASE_OTS, &mut rng);
            let chosen: Vec<Block> =
                pads.iter().zip(choices.iter()).map(|(pair, c)| pair[usize::from(c.number())]).collect();
            let (all, corrections) = expand(width, &pads);
            assert_eq!(corrections.len(), width.corrections());
            let known = puncture(width, &choices, &chosen, &corrections);
            for tree in 0..width.trees() {
                let missing = (0..width.bits())
                    .map(|i| usize::from(choices.get(tree * width.bits() + i).number()) << i)
                    .sum::<usize>();
                let start = tree * width.leaves();
                assert!(known[start] == Block::ZERO);
                assert!((1..width.leaves()).all(|y| known[start + y] == all[start + (y ^ missing)]));
            }
        }
    }

    #[test]
    fn a_wrong_correction_spoils_the_leaves() {
        let pads = [[Block::ZERO, Block::ONES]; BASE_OTS];
        let choices = BitVec::zeros(BASE_OTS);
        let (all, mut corrections) = expand(Width::Four, &pads);
        corrections[1] ^= Block::from_u128(1);
        let known = puncture(Width::Four, &choices, &[Block::ZERO; BASE_OTS], &corrections);
        assert!((1..16).any(|y| known[y] != all[y]));
    }
}
