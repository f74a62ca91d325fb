//! Leaves to columns: stretching and folding.
//!
//! *Source*: Roy 2022, section 4. A tree's leaves are folded like a binary counter: leaf `x` merges with the sum that
//! waits at level 0, the result with the one at level 1, and so on for every trailing one of `x`. Each merge at level `b` adds
//! the upper half to column `b`. So every leaf is read once, and only `2 k + 2` rows are alive, which stay in the cache.

use garblet_primitives::{Aes128, Backend, Block, Engine, Kernel};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::width::{BATCH_SQUARES, PART_SQUARES, SQUARE, Width};

/// The streams of the leaves of all trees, and the position in them.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(super) struct Streams {
    #[zeroize(skip)]
    width: Width,
    #[zeroize(skip)]
    backend: Backend,
    leaves: Vec<Aes128>,
    /// Set if the first leaf of every tree is missing; it counts as a stream of zeros.
    punctured: bool,
    position: u64,
}

/// The columns of one batch.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(super) struct Columns {
    squares: usize,
    /// 128 columns of `squares` blocks: `v`, or `w`.
    values: Vec<Block>,
    /// One column per tree: `u`. Meaningless for punctured trees.
    sums: Vec<Block>,
    /// The row that waits at each level, and the row that is being merged.
    rows: Vec<Block>,
}

impl Columns {
    /// Allocates room for the largest batch.
    pub(super) fn new(width: Width) -> Self {
        let room = |rows: usize| vec![Block::ZERO; rows * BATCH_SQUARES];
        Columns { squares: 0, values: room(SQUARE), sums: room(width.trees()), rows: room(width.bits() + 1) }
    }

    /// The sums `u`, tree by tree.
    pub(super) fn sums(&mut self, width: Width) -> &mut [Block] {
        &mut self.sums[..width.trees() * self.squares]
    }

    /// The column of each bit of a block.
    pub(super) fn values(&mut self) -> std::slice::ChunksExactMut<'_, Block> {
        self.values[..SQUARE * self.squares].chunks_exact_mut(self.squares)
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        SQUARE * self.squares
    }

    /// The first square of each part, and the part's number of squares.
    pub(super) fn parts(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let squares = self.squares;
        (0..squares).step_by(PART_SQUARES).map(move |first| (first, PART_SQUARES.min(squares - first)))
    }

    /// Writes the rows of the matrix of columns that begin at square `first`, as many as `blocks`.
    pub(super) fn transpose(&self, first: usize, blocks: &mut [Block]) {
        let columns = bytemuck::cast_slice(&self.values[..SQUARE * self.squares]);
        garblet_primitives::transpose_part(columns, SQUARE * first, blocks);
    }

    /// Appends the columns square after square, 128 blocks each, which [`transpose_squares`](garblet_primitives::transpose_squares) turns into
    /// rows.
    pub(super) fn gather_onto(&self, blocks: &mut Vec<Block>) {
        let values = &self.values[..SQUARE * self.squares];
        for square in 0..self.squares {
            blocks.extend(values[square..].iter().step_by(self.squares));
        }
    }

    /// Appends the first `n` rows of the matrix of columns to `blocks`, part after part as `change` leaves them.
    pub(super) fn transpose_onto(&self, blocks: &mut Vec<Block>, n: usize, mut change: impl FnMut(&mut [Block])) {
        let end = blocks.len() + n;
        for (first, squares) in self.parts() {
            let start = blocks.len();
            blocks.resize(start + SQUARE * squares, Block::ZERO);
            self.transpose(first, &mut blocks[start..]);
            blocks.truncate(end);
            change(&mut blocks[start..]);
        }
    }
}

impl Streams {
    /// Expands the keys of the leaves, which are in the order of the trees.
    pub(super) fn new(width: Width, leaves: &[Block], punctured: bool) -> Self {
        Streams { width, backend: Backend::detect(), leaves: Aes128::many(leaves), punctured, position: 0 }
    }

    /// Stretches every leaf by `squares` blocks and folds them to columns.
    pub(super) fn expand(&mut self, squares: usize, columns: &mut Columns) {
        let bits = self.width.bits();
        columns.squares = squares;
        let values = columns.values[..SQUARE * squares].chunks_exact_mut(bits * squares);
        let sums = columns.sums.chunks_exact_mut(squares);
        let trees = self.leaves.chunks_exact(self.width.leaves());
        for ((leaves, values), sum) in trees.zip(values).zip(sums) {
            values.fill(Block::ZERO);
            let mut counter = Counter { squares, waiting: &mut columns.rows, values, backend: self.backend };
            for (x, leaf) in leaves.iter().enumerate() {
                let row = counter.row_of(x);
                if x == 0 && self.punctured {
                    row.fill(Block::ZERO);
                } else {
                    leaf.keystream(self.position, row);
                }
                counter.merge(x);
            }
            sum.copy_from_slice(&counter.waiting[bits * squares..][..squares]);
        }
        self.position += squares as u64;
    }
}

/// The counter that folds the leaves of one tree.
struct Counter<'a> {
    squares: usize,
    /// Row `b` waits at level `b`.
    waiting: &'a mut [Block],
    values: &'a mut [Block],
    backend: Backend,
}

impl Counter<'_> {
    /// The row to write leaf `x` to: it ends up at the level of its trailing ones, and is merged on the way there.
    fn row_of(&mut self, x: usize) -> &mut [Block] {
        &mut self.waiting[x.trailing_ones() as usize * self.squares..][..self.squares]
    }

    /// Merges leaf `x` with the rows that wait at the levels of its trailing ones.
    fn merge(&mut self, x: usize) {
        let level = x.trailing_ones() as usize;
        if level == 0 {
            return;
        }
        let (waiting, row) = self.waiting.split_at_mut(level * self.squares);
        self.backend.run(Merge { waiting, row: &mut row[..self.squares], values: self.values });
    }
}

/// For every level `b`: adds the row to column `b`, then adds the row that waits at level `b` to the row.
struct Merge<'a> {
    waiting: &'a [Block],
    row: &'a mut [Block],
    values: &'a mut [Block],
}

impl Kernel for Merge<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, _engine: E) {
        let squares = self.row.len();
        for (waiting, values) in self.waiting.chunks_exact(squares).zip(self.values.chunks_exact_mut(squares)) {
            for ((waiting, value), row) in waiting.iter().zip(values).zip(self.row.iter_mut()) {
                *value ^= *row;
                *row ^= *waiting;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use garblet_primitives::Prg;

    use super::*;

    /// The definition: `u` is the sum of all leaves, column `b` the sum of the leaves whose number has bit `b`.
    #[test]
    fn folding_is_the_sum_of_the_definition() {
        for width in Width::ALL {
            let mut rng = Prg::new(Block::from_u128(5));
            let leaves: Vec<Block> = (0..width.trees() * width.leaves()).map(|_| rng.next_block()).collect();
            for punctured in [false, true] {
                let mut streams = Streams::new(width, &leaves, punctured);
                let mut columns = Columns::new(width);
                for (squares, position) in [(1, 0), (3, 1), (BATCH_SQUARES, 4)] {
                    streams.expand(squares, &mut columns);
                    check(width, &leaves, punctured, squares, position, &mut columns);
                }
            }
        }
    }

    fn check(width: Width, leaves: &[Block], punctured: bool, squares: usize, position: u64, columns: &mut Columns) {
        let mut values = vec![Block::ZERO; SQUARE * squares];
        let mut sums = vec![Block::ZERO; width.trees() * squares];
        for (number, &leaf) in leaves.iter().enumerate() {
            let (tree, x) = (number / width.leaves(), number % width.leaves());
            let mut stream = Prg::new(leaf);
            stream.seek(position);
            for square in 0..squares {
                let block = if punctured && x == 0 { Block::ZERO } else { stream.next_block() };
                sums[tree * squares + square] ^= block;
                for bit in (0..width.bits()).filter(|bit| x >> bit & 1 == 1) {
                    values[(tree * width.bits() + bit) * squares + square] ^= block;
                }
            }
        }
        assert!(columns.sums(width) == sums);
        assert!(columns.values().flatten().map(|&mut block| block).eq(values));
    }
}
