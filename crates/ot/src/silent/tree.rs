//! The trees of a round: `2^d` leaves that both parties know, except that the receiver has delta added to one of them.
//!
//! *Source*: Guo and others, "Half-Tree" (EUROCRYPT 2023), section 4. The root's children are a seed and the seed plus delta, and every node is the sum of its
//! children, so each level adds up to delta. The OT of a level gives the receiver the sum of the nodes on the side of its choice, and with it the sibling on the path
//! that takes the *other* side at every level. At the end of the path is the leaf that it lacks. As all leaves add up to delta, the sum of the others is that leaf plus
//! delta.
//!
//! The level of a node is a bit of its number: children of node `x` of `m` are `x` and `m + x`.

use garblet_primitives::{Bit, Block, HalfTreeHash, add_at};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// The trees of a round, of either party.
pub(super) trait Trees {
    /// Fills `leaves` with those of a tree.
    ///
    /// *Shape*: `2^d` blocks. Bit 0 is set in the receiver's noisy leaf only.
    fn fill(&self, tree: usize, leaves: &mut [Block]);
}

/// The sender's trees.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(super) struct SentTrees {
    #[zeroize(skip)]
    key: Block,
    delta: Block,
    seeds: Vec<Block>,
}

/// The receiver's trees.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(super) struct ReceivedTrees {
    #[zeroize(skip)]
    key: Block,
    #[zeroize(skip)]
    depth: usize,
    /// For every level of every tree, the sum of the nodes on the side of the choice.
    sums: Vec<Block>,
    /// The choices of each tree, the first level's in the lowest place.
    sides: Vec<u64>,
}

/// The hashes of a tree. One key serves the last level, and one all others, so that none serves more than 4,096 calls: the best attack on calls under one key gains that
/// factor (see [`crate::PAD_BITS`]).
fn hashes(key: Block, tree: usize) -> [HalfTreeHash; 2] {
    [0, 1].map(|last| HalfTreeHash::new(key ^ Block::from_halves(2 * tree as u64 + last, 0)))
}

/// The sizes of all levels that are grown from the one above, each with the hash for it.
fn levels(hashes: &[HalfTreeHash; 2], leaves: usize) -> impl Iterator<Item = (usize, &HalfTreeHash)> {
    let sizes = std::iter::successors(Some(4), |&size| Some(2 * size)).take_while(move |&size| size <= leaves);
    sizes.map(move |size| (size, &hashes[usize::from(size == leaves)]))
}

/// Clears bit 0 of all blocks.
fn clear_lowest_bits(blocks: &mut [Block]) {
    let others = Block::ONES.with_lsb(false);
    blocks.iter_mut().for_each(|block| *block &= others);
}

impl SentTrees {
    /// Trees with these seeds.
    pub(super) fn new(key: Block, delta: Block, seeds: Vec<Block>) -> Self {
        SentTrees { key, delta, seeds }
    }

    /// Fills `nodes` with the leaves of a tree, and appends to `sums` the sum of the left nodes of every level.
    pub(super) fn expand(&self, tree: usize, nodes: &mut [Block], sums: &mut Vec<Block>) {
        let hashes = hashes(self.key, tree);
        let seed = self.seeds[tree];
        (nodes[0], nodes[1]) = (seed, seed ^ self.delta);
        sums.push(seed);
        for (size, hash) in levels(&hashes, nodes.len()) {
            sums.push(hash.grow(&mut nodes[..size]));
        }
    }
}

impl Trees for SentTrees {
    fn fill(&self, tree: usize, leaves: &mut [Block]) {
        let mut sums = zeroize::Zeroizing::new(Vec::with_capacity(64));
        self.expand(tree, leaves, &mut sums);
        clear_lowest_bits(leaves);
    }
}

impl ReceivedTrees {
    /// The trees for which the OTs `chosen`, whose choices are in bit 0, and the sender's `corrections` are.
    ///
    /// *Shape*: `depth` of each for every tree.
    pub(super) fn new(key: Block, depth: usize, chosen: &[Block], corrections: &[Block]) -> Self {
        let sums = corrections.iter().zip(chosen).map(|(&correction, &chosen)| correction ^ chosen).collect();
        let side = |(level, chosen): (usize, &Block)| u64::from(Bit::lowest_of(chosen.halves()[0]).number()) << level;
        let sides = chosen.chunks_exact(depth).map(|levels| levels.iter().enumerate().map(side).sum()).collect();
        ReceivedTrees { key, depth, sums, sides }
    }

    /// The number of the noisy leaf. *Secret*.
    pub(super) fn noise(&self, tree: usize) -> u64 {
        !self.sides[tree] & ((1 << self.depth) - 1)
    }
}

impl Trees for ReceivedTrees {
    /// The missing node of a level has a wrong value, whatever it is: its descendants on the side of the choice are among the known sums, which mend them.
    fn fill(&self, tree: usize, leaves: &mut [Block]) {
        let hashes = hashes(self.key, tree);
        let sums = &self.sums[tree * self.depth..][..self.depth];
        let side = |level: usize| Bit::lowest_of(self.sides[tree] >> level);
        // The sum of all nodes of the level, wrong ones included.
        let mut total = sums[0];
        (leaves[0], leaves[1]) = (Block::mask(!side(0)) & total, Block::mask(side(0)) & total);
        let mut missing = u64::from((!side(0)).number());
        for (level, (size, hash)) in (1..).zip(levels(&hashes, leaves.len())) {
            let left = hash.grow(&mut leaves[..size]);
            let (side, half) = (side(level), size as u64 / 2);
            let difference = sums[level] ^ left ^ (Block::mask(side) & total);
            add_at(&mut leaves[..size], missing + (side.word() & half), difference);
            total ^= difference;
            missing += (!side).word() & half;
        }
        clear_lowest_bits(leaves);
        add_at(leaves, missing, total.with_lsb(true));
    }
}
