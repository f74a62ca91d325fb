//! Telling select bits in a way that can be checked (the paper's VerLeak).

use std::ops::BitXor;

use garblet_primitives::{Block, Prg};
use rand_core::Rng;

use super::plan::STATISTICAL;

/// Random combinations of difference, OT blocks and output masks, each blinded by a mask of its own: those behind the outputs'.
///
/// *Source*: Nielsen, Schneider and Trifiletti 2017, figure 1, VerLeak. In place of one-bit values the combination of the
/// told bits is the same sum, with one for the difference.
pub(super) fn combinations<W>(seed: Block, delta: W, strings: &[W], masks: &[W]) -> Vec<W>
where
    W: Copy + Default + BitXor<Output = W>,
{
    let mut rng = Prg::new(seed);
    let (masks, blinds) = masks.split_at(masks.len() - STATISTICAL as usize);
    let one = |&blind: &W| {
        let terms = std::iter::once(&delta).chain(strings).chain(masks);
        let mut word = (0, 0);
        terms.fold(blind, |sum, &term| {
            if word.1 == 0 {
                word = (rng.next_u64(), 64);
            }
            let take = word.0 & 1 == 1;
            word = (word.0 >> 1, word.1 - 1);
            if take { sum ^ term } else { sum }
        })
    };
    blinds.iter().map(one).collect()
}
