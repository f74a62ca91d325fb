//! The OTs of a batch, made tree by tree: step 8.

use std::collections::VecDeque;

use garblet_primitives::Block;
use zeroize::Zeroizing;

use super::round::Round;
use super::tree::Trees;

/// The rest of a batch. *Secret*.
pub(super) struct Supply<T> {
    rounds: VecDeque<Round<T>>,
    /// The next tree of the first round.
    tree: usize,
    /// The OTs that were asked for and not yet drawn.
    left: usize,
    /// A tree of which only a part was drawn: up to `drawn`.
    part: Zeroizing<Vec<Block>>,
    drawn: usize,
}

impl<T: Trees> Supply<T> {
    /// Nothing.
    pub(super) fn empty() -> Self {
        Supply { rounds: VecDeque::new(), tree: 0, left: 0, part: Zeroizing::default(), drawn: 0 }
    }

    /// A batch of `n` OTs.
    pub(super) fn new(rounds: Vec<Round<T>>, n: usize) -> Self {
        let tree = rounds.first().map_or(0, |round| round.set.stock_trees());
        Supply { rounds: rounds.into(), tree, left: n, ..Supply::empty() }
    }

    /// The OTs that are left.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// Appends the next `n` OTs, or as many as are left.
    pub(super) fn draw_onto(&mut self, n: usize, blocks: &mut Vec<Block>) {
        let mut missing = n.min(self.left);
        self.left -= missing;
        while missing > 0 {
            if self.drawn == self.part.len() {
                let Some(round) = self.rounds.front() else { return };
                let leaves = round.set.leaves();
                if missing >= leaves {
                    let start = blocks.len();
                    blocks.resize(start + leaves, Block::ZERO);
                    round.fill(self.tree, &mut blocks[start..]);
                    missing -= leaves;
                } else {
                    self.part.resize(leaves, Block::ZERO);
                    round.fill(self.tree, &mut self.part);
                    self.drawn = 0;
                }
                self.advance();
            } else {
                let taken = missing.min(self.part.len() - self.drawn);
                blocks.extend_from_slice(&self.part[self.drawn..][..taken]);
                self.drawn += taken;
                missing -= taken;
            }
        }
    }

    /// Goes on to the next tree that is not for a stock.
    fn advance(&mut self) {
        self.tree += 1;
        if let Some(round) = self.rounds.front()
            && self.tree == round.count
        {
            self.tree = round.set.stock_trees();
            self.rounds.pop_front();
        }
    }
}
