//! The width of the field, and extension by squares and batches.

use crate::base::BASE_OTS;

/// OTs in a square, the unit of extension.
pub(crate) const SQUARE: usize = 128;

/// Squares in a batch. Odd multiples of 64 bytes between columns spread them over the sets of the cache.
pub(super) const BATCH_SQUARES: usize = 60;

/// Squares in a part of a batch, whose blocks stay in the first cache between two steps of work on them.
pub(super) const PART_SQUARES: usize = 12;

/// OTs in a batch. Extending batch by batch sends the same bytes as one extension by all of them.
pub const BATCH_OTS: usize = BATCH_SQUARES * SQUARE;

/// The width `k` of the field GF(2^k). A wider field needs more work and fewer bytes per OT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Width {
    /// 64 trees of 4 leaves; 63 bits per OT.
    Two,
    /// 32 trees of 16 leaves; 31 bits per OT.
    #[default]
    Four,
    /// 16 trees of 256 leaves; 15 bits per OT.
    Eight,
}

impl Width {
    /// Every width.
    pub const ALL: [Width; 3] = [Width::Two, Width::Four, Width::Eight];

    /// The number `k`.
    pub const fn bits(self) -> usize {
        match self {
            Width::Two => 2,
            Width::Four => 4,
            Width::Eight => 8,
        }
    }

    /// The number of seed trees.
    pub const fn trees(self) -> usize {
        BASE_OTS / self.bits()
    }

    /// The number of leaves of a tree.
    pub const fn leaves(self) -> usize {
        1 << self.bits()
    }

    /// The number of blocks that correct the trees.
    pub(super) const fn corrections(self) -> usize {
        self.trees() * 2 * (self.bits() - 1)
    }
}

impl TryFrom<u8> for Width {
    type Error = String;

    fn try_from(bits: u8) -> Result<Self, String> {
        let width = Width::ALL.into_iter().find(|width| width.bits() == usize::from(bits));
        width.ok_or_else(|| format!("field width k: expected 2, 4 or 8, got {bits}"))
    }
}

/// The sizes of the batches, in squares, of an extension by `n`.
pub(super) fn batches(n: usize) -> impl Iterator<Item = usize> {
    let squares = n.div_ceil(SQUARE);
    (0..squares).step_by(BATCH_SQUARES).map(move |done| (squares - done).min(BATCH_SQUARES))
}
