//! The check of the trees: a receiver of correlated OTs made leaves that do not depend on which one is missing.
//!
//! *Source*: Roy 2022, section 6. Steps a and b of `malicious`.

use garblet_primitives::Block;
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

/// Proof that the receiver's trees are the same whatever delta is: [`check`] makes it.
pub(super) struct TreesConsistent(());

impl TreesConsistent {
    /// States that these leaves were checked when they were set up.
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

/// Step b. `leaves` stand by their distance from the missing ones, as the sender counts them.
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
        let bits = (0..width.bits()).map(|bit| usize::from(delta.get(tree * width.bits() + bit)) << bit);
        let missing: usize = bits.sum();
        // The tag of the missing leaf is what the others lack of the sum. Tags change places without a branch on delta.
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
    if bool::from(fits) { Ok(TreesConsistent(())) } else { Err(OtError::InconsistentTrees) }
}

/// Moves the tag at `y` to `y ^ missing`.
fn by_number(tags: &mut [[u8; TAG_BYTES]], missing: usize) {
    for bit in 0..tags.len().ilog2() {
        let swap = (missing >> bit & 1) as u8;
        for x in (0..tags.len()).filter(|x| x >> bit & 1 == 0) {
            let (low, high) = tags.split_at_mut(x | 1 << bit);
            for (a, b) in low[x].iter_mut().zip(&mut high[0]) {
                let difference = (*a ^ *b) & swap.wrapping_neg();
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
