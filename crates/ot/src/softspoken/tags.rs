//! The check of the trees: the receiver of correlated OTs made leaves that do not depend on which leaf is missing.
//!
//! *Source*: Roy 2022, section 6. Steps a and b of `malicious`.

use garblet_primitives::{Bit, Block, secrets};
use subtle::ConstantTimeEq;

use super::width::Width;
use crate::bit_vec::BitVec;
use crate::error::OtError;

/// Bytes of a leaf's tag.
const TAG_BYTES: usize = 32;

/// Bytes of step a.
pub(super) const fn bytes(width: Width) -> usize {
    TAG_BYTES * (width.trees() + 1)
}

/// Proof that the receiver's trees are the same for every delta; [`check`] makes it.
pub(super) struct TreesConsistent(());

impl TreesConsistent {
    /// States that these leaves were checked at set-up.
    pub(super) fn when_set_up() -> Self {
        TreesConsistent(())
    }
}

/// Step a: the sums of the tags of each tree, then the hash of all tags.
pub(super) fn message(width: Width, session: Block, leaves: &[Block]) -> Vec<u8> {
    let mut message = Vec::with_capacity(bytes(width));
    let mut all = hash_of_tags(session);
    for (tree, leaves) in leaves.chunks_exact(width.leaves()).enumerate() {
        let mut sum = [0; TAG_BYTES];
        for (x, &leaf) in leaves.iter().enumerate() {
            let tag = tag(session, tree, x, leaf);
            add(&mut sum, &tag);
            all.update(&tag);
        }
        message.extend_from_slice(&sum);
    }
    message.extend_from_slice(all.finalize().as_bytes());
    message
}

/// Step b. `leaves` are in order of their distance from the missing ones, as on the sender's side.
///
/// *Errors*: [`OtError::InconsistentTrees`].
pub(super) fn check(
    width: Width,
    session: Block,
    delta: &BitVec,
    leaves: &[Block],
    message: &[u8],
) -> Result<TreesConsistent, OtError> {
    let mut all = hash_of_tags(session);
    let (sums, theirs) = message.split_at(message.len().saturating_sub(TAG_BYTES));
    for (tree, (leaves, sum)) in leaves.chunks_exact(width.leaves()).zip(sums.as_chunks::<TAG_BYTES>().0).enumerate() {
        let bits = (0..width.bits()).map(|bit| usize::from(delta.get(tree * width.bits() + bit).number()) << bit);
        let missing: usize = bits.sum();
        // The sum minus the known tags is the tag of the missing leaf. Reorder tags without a branch on delta.
        let mut tags = vec![[0; TAG_BYTES]; width.leaves()];
        tags[0] = *sum;
        for y in 1..width.leaves() {
            tags[y] = tag(session, tree, y ^ missing, leaves[y]);
            let known = tags[y];
            add(&mut tags[0], &known);
        }
        by_number(&mut tags, missing);
        tags.iter().for_each(|tag| _ = all.update(tag));
    }
    let fits = all.finalize().as_bytes().ct_eq(theirs);
    if secrets::verdict(fits, "OT extension: whether the trees match the tags") {
        Ok(TreesConsistent(()))
    } else {
        Err(OtError::InconsistentTrees)
    }
}

/// Moves the tag at `y` to `y ^ missing`.
fn by_number(tags: &mut [[u8; TAG_BYTES]], missing: usize) {
    for bit in 0..tags.len().ilog2() {
        let swap = Bit::lowest_of((missing >> bit) as u64).word() as u8;
        for x in (0..tags.len()).filter(|x| x >> bit & 1 == 0) {
            let (low, high) = tags.split_at_mut(x | 1 << bit);
            for (a, b) in low[x].iter_mut().zip(&mut high[0]) {
                let difference = (*a ^ *b) & swap;
                *a ^= difference;
                *b ^= difference;
            }
        }
    }
}

fn tag(session: Block, tree: usize, x: usize, leaf: Block) -> [u8; TAG_BYTES] {
    let mut input = [0; 40];
    input[..16].copy_from_slice(&session.to_bytes());
    input[16..20].copy_from_slice(&(tree as u32).to_le_bytes());
    input[20..24].copy_from_slice(&(x as u32).to_le_bytes());
    input[24..].copy_from_slice(&leaf.to_bytes());
    blake3::derive_key("garblet OT extension: tag of a leaf, v1", &input)
}

fn hash_of_tags(session: Block) -> blake3::Hasher {
    let mut hash = blake3::Hasher::new_derive_key("garblet OT extension: all tags, v1");
    hash.update(&session.to_bytes());
    hash
}

fn add(sum: &mut [u8; TAG_BYTES], tag: &[u8; TAG_BYTES]) {
    sum.iter_mut().zip(tag).for_each(|(sum, tag)| *sum ^= tag);
}

#[cfg(test)]
mod tests {
    use garblet_primitives::Prg;

    use super::*;

    const SESSION: Block = Block::ONES;

    /// A receiver's leaves by number, a sender's delta, and its leaves by distance from the missing ones.
    struct Trees {
        width: Width,
        all: Vec<Block>,
        delta: BitVec,
        known: Vec<Block>,
    }

    impl Trees {
        fn random(width: Width, rng: &mut Prg) -> Self {
            let leaves = width.leaves();
            let mut all = vec![Block::ZERO; width.trees() * leaves];
            rng.fill_blocks(&mut all);
            let mut trees = Trees { width, all, delta: BitVec::random(128, rng), known: Vec::new() };
            trees.known = (0..trees.all.len()).map(|at| trees.known(at / leaves, at % leaves)).collect();
            trees
        }

        /// The number of the leaf that the sender lacks.
        fn missing(&self, tree: usize) -> usize {
            let bits = self.width.bits();
            (0..bits).map(|bit| usize::from(self.delta.get(tree * bits + bit).number()) << bit).sum()
        }

        fn known(&self, tree: usize, distance: usize) -> Block {
            match distance {
                0 => Block::ZERO,
                _ => self.all[tree * self.width.leaves() + (distance ^ self.missing(tree))],
            }
        }

        fn message(&self) -> Vec<u8> {
            message(self.width, SESSION, &self.all)
        }

        fn passes(&self, message: &[u8]) -> bool {
            check(self.width, SESSION, &self.delta, &self.known, message).is_ok()
        }
    }

    #[test]
    fn an_honest_receiver_passes() {
        let mut rng = Prg::new(Block::ZERO);
        for width in Width::ALL {
            let trees = Trees::random(width, &mut rng);
            assert_eq!(trees.message().len(), bytes(width));
            assert!(trees.passes(&trees.message()), "{width:?}");
            let error = check(width, Block::ZERO, &trees.delta, &trees.known, &trees.message()).err();
            assert!(matches!(error, Some(OtError::InconsistentTrees)), "{width:?}, of another session");
        }
    }

    /// A receiver that makes a different leaf guesses that the sender lacks it.
    #[test]
    fn another_leaf_is_found_unless_it_is_the_missing_one() {
        let mut rng = Prg::new(Block::ONES);
        for width in Width::ALL {
            let trees = Trees::random(width, &mut rng);
            for tree in [0, width.trees() / 2, width.trees() - 1] {
                for leaf in 0..width.leaves().min(16) {
                    let mut other = trees.all.clone();
                    other[tree * width.leaves() + leaf] ^= Block::from_u128(1 << 77);
                    let message = message(width, SESSION, &other);
                    let is_missing = leaf == trees.missing(tree);
                    assert_eq!(trees.passes(&message), is_missing, "{width:?}, tree {tree}, leaf {leaf}");
                }
            }
        }
    }

    #[test]
    fn every_byte_of_the_message_counts_and_so_does_its_length() {
        let trees = Trees::random(Width::Eight, &mut Prg::new(Block::ZERO));
        let mut message = trees.message();
        for at in 0..message.len() {
            message[at] ^= 0x80;
            assert!(!trees.passes(&message), "byte {at}");
            message[at] ^= 0x80;
        }
        for len in [0, 31, 32, message.len() - TAG_BYTES, message.len() - 1] {
            assert!(!trees.passes(&message[..len]), "{len} bytes");
        }
    }
}
