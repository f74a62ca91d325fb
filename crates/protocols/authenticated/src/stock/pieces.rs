//! Shares as they are stored.

use std::ops::Range;

use garblet_primitives::Block;

use crate::shares::Shares;

/// The version of what is stored.
pub(crate) const VERSION: u32 = 1;

/// Triples of a piece, and masks: enough that what a store adds to a piece hardly counts.
pub(crate) const GROUP: usize = 16;

/// The names of kinds.
pub(crate) const KINDS: [&str; 2] = ["triples", "masks"];

/// Reads shares as they are stored, so many of each: all of one, and then of the next.
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
