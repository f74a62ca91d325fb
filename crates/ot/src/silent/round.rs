//! A round: trees plus sparse sums of the stock.

use garblet_primitives::{Block, SparseCode};
use zeroize::Zeroizing;

use super::coins::RoundKeys;
use super::parameters::LpnSet;
use super::tree::{ReceivedTrees, SentTrees, Trees};
use crate::softspoken::SQUARE;

/// OTs of a stock, with choices in bit 0 of the receiver's blocks. *Secret*.
pub(super) type Stock = Zeroizing<Vec<Block>>;

/// A round of either party. *Secret*.
pub(super) struct Round<T> {
    pub(super) set: LpnSet,
    pub(super) trees: T,
    /// The number of trees.
    pub(super) count: usize,
    table: Stock,
    code: SparseCode,
}

impl<T: Trees> Round<T> {
    /// Step 4: fills `ots` with those of a tree.
    ///
    /// *Shape*: `2^d` blocks.
    pub(super) fn fill(&self, tree: usize, ots: &mut [Block]) {
        self.trees.fill(tree, ots);
        self.code.add_rows((tree * self.set.leaves()) as u64, &self.table, ots);
    }

    /// The OTs of the first trees: the next round's stock.
    pub(super) fn next_stock(&self) -> Stock {
        let leaves = self.set.leaves();
        let mut stock = Zeroizing::new(Vec::with_capacity(self.set.stock_trees() * leaves));
        for tree in 0..self.set.stock_trees() {
            stock.resize((tree + 1) * leaves, Block::ZERO);
            self.fill(tree, &mut stock[tree * leaves..]);
        }
        stock.truncate(self.set.stock());
        stock
    }
}

/// The OTs that mask the check, see step 5. *Secret*.
pub(super) type Masks = Zeroizing<Vec<Block>>;

/// The parts of a stock: the table, the OTs of the trees' levels, and masks.
fn parts(set: LpnSet, mut stock: Stock) -> (Stock, Zeroizing<Vec<Block>>, Masks) {
    let (columns, levels) = (set.columns as usize, set.trees * set.depth);
    let of_levels = Zeroizing::new(stock[columns..][..levels].to_vec());
    let masks = Zeroizing::new(stock[columns + levels..][..SQUARE].to_vec());
    stock.truncate(columns);
    (stock, of_levels, masks)
}

/// Step 2: a round of the sender with these seeds of trees, the corrections, and the masks.
pub(super) fn sent(
    set: LpnSet,
    keys: &RoundKeys,
    delta: Block,
    seeds: Vec<Block>,
    stock: Stock,
) -> (Round<SentTrees>, Vec<Block>, Masks) {
    let (table, of_levels, masks) = parts(set, stock);
    let count = seeds.len();
    let trees = SentTrees::new(keys.hash, delta, seeds);
    let mut corrections = Vec::with_capacity(count * set.depth);
    let mut nodes = Zeroizing::new(vec![Block::ZERO; set.leaves()]);
    for tree in 0..count {
        trees.expand(tree, &mut nodes, &mut corrections);
    }
    corrections.iter_mut().zip(of_levels.iter()).for_each(|(sum, &ot)| *sum ^= ot);
    (Round { set, trees, count, table, code: SparseCode::new(keys.code, set.columns) }, corrections, masks)
}

/// Step 3: a round of the receiver with these corrections, and the masks.
pub(super) fn received(
    set: LpnSet,
    keys: &RoundKeys,
    corrections: &[Block],
    stock: Stock,
) -> (Round<ReceivedTrees>, Masks) {
    let (table, of_levels, masks) = parts(set, stock);
    let trees = ReceivedTrees::new(keys.hash, set.depth, &of_levels[..corrections.len()], corrections);
    let count = corrections.len() / set.depth;
    (Round { set, trees, count, table, code: SparseCode::new(keys.code, set.columns) }, masks)
}
