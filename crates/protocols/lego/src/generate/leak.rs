//! Revealing select bits verifiably (the paper's VerLeak).

use crate::checks;
use std::ops::BitXor;

use garblet_circuit::Bits;
use garblet_primitives::{Block, Prg, secrets};
use rand_core::Rng;

use crate::order::CHECK_BITS;
use garblet_protocol::{checks::Cheating, error::ProtocolError};

/// Random combinations of difference, OT blocks and output masks. Each is blinded by its own mask, which follows the outputs' masks.
///
/// *Source*: Nielsen, Schneider and Trifiletti 2017, figure 1, VerLeak. The combination of the claimed bits is the same sum over
/// one-bit values, with one for the difference.
pub(crate) fn combinations<W>(seed: Block, delta: W, strings: &[W], masks: &[W]) -> Vec<W>
where
    W: Copy + Default + BitXor<Output = W>,
{
    let mut rng = Prg::new(secrets::public(seed, "lego: which bits are combined, from a seed that both parties know"));
    let (masks, blinds) = masks.split_at(masks.len() - CHECK_BITS as usize);
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

/// Select bits of OT blocks and output masks that match their commitments.
pub(crate) struct LsbLeakVerified {
    /// The select bits of the OT blocks.
    pub(crate) strings: Vec<bool>,
    /// The select bits of the output masks, without the blinds.
    pub(crate) masks: Vec<bool>,
}

impl LsbLeakVerified {
    /// Compares the opened combinations of a seed with those of the claimed bits, which are first for OT blocks and then for masks.
    ///
    /// *Errors*: [`checks::TOLD_BITS`].
    pub(crate) fn verify(seed: Block, claimed: &Bits, strings: usize, opened: &[Block]) -> Result<Self, ProtocolError> {
        let bits: Vec<bool> = claimed.iter().collect();
        let (of_strings, of_masks) = bits.split_at(strings);
        let expected = combinations(seed, true, of_strings, of_masks);
        if let Some(index) = opened.iter().zip(expected).position(|(&opened, expected)| {
            secrets::public(select_bit(opened) != expected, "lego: whether sent bits match the commitments")
        }) {
            return Err(Cheating::new(checks::TOLD_BITS, format!("combination {index}")).into());
        }
        let (masks, _) = of_masks.split_at(of_masks.len() - CHECK_BITS as usize);
        Ok(LsbLeakVerified { strings: of_strings.to_vec(), masks: masks.to_vec() })
    }
}

/// The select bit of a key.
pub(crate) fn select_bit(key: Block) -> bool {
    key.to_u128() & 1 == 1
}
