//! Shares as they are stored.

use std::ops::Range;

use garblet_primitives::Block;

use crate::shares::Shares;

/// The version of the stored data.
pub(crate) const VERSION: u32 = 1;

/// The number of triples in a piece, and of masks: enough to make a store's overhead per piece negligible.
pub(crate) const GROUP: usize = 16;

/// The names of kinds.
pub(crate) const KINDS: [&str; 2] = ["triples", "masks"];

/// Reads stored shares, `count` of each kind, one kind after another.
pub(crate) fn read(bytes: &[u8], count: usize, into: &mut [&mut Shares]) -> Option<()> {
    let blocks = bytes.as_chunks::<16>().0;
    if bytes.len() != 32 * count * into.len() {
        return None;
    }
    for (shares, blocks) in into.iter_mut().zip(blocks.chunks_exact((2 * count).max(1))) {
        let (own, peer) = blocks.split_at(count);
        shares.own.extend(own.iter().map(|&block| Block::from_bytes(block)));
        shares.peer.extend(peer.iter().map(|&block| Block::from_bytes(block)));
    }
    Some(())
}

/// Appends a range of shares as they are stored.
pub(crate) fn append(shares: &Shares, range: Range<usize>, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(bytemuck::cast_slice(&shares.own[range.clone()]));
    bytes.extend_from_slice(bytemuck::cast_slice(&shares.peer[range]));
}
