//! Step 10: the committed delta is the one of the OTs.

use crate::checks;
use garblet_circuit::Bits;
use garblet_primitives::{Block, secrets};
use subtle::ConstantTimeEq;

use garblet_protocol::{checks::Cheating, error::ProtocolError};

/// The evaluator has the blocks of the checked OTs for these choices, so they may be opened.
pub(crate) struct DeltaClaimed(Bits);

impl DeltaClaimed {
    /// Compares the claimed blocks with `r_i + b_i delta`.
    ///
    /// *Errors*: [`checks::DELTA_CLAIM`].
    pub(crate) fn verify(
        delta: Block,
        strings: &[Block],
        choices: Bits,
        claimed: &[Block],
    ) -> Result<Self, ProtocolError> {
        let right = strings.iter().zip(choices.iter()).map(|(&string, bit)| string ^ (Block::mask(bit) & delta));
        let wrong = right.zip(claimed).position(|(right, claimed)| {
            !secrets::verdict(right.ct_eq(claimed), "lego: whether the evaluator knows the blocks of its OTs")
        });
        match wrong {
            None => Ok(DeltaClaimed(choices)),
            Some(index) => Err(Cheating::new(checks::DELTA_CLAIM, format!("OT {index}")).into()),
        }
    }

    /// The choices.
    pub(crate) fn choices(&self) -> &Bits {
        &self.0
    }
}

/// Proof that the committed delta is the one of the OTs, so the OTs serve for input keys.
pub(crate) struct DeltaConsistent(());

impl DeltaConsistent {
    /// Compares the opened blocks of the checked OTs with those that came by OT.
    ///
    /// *Errors*: [`checks::COMMITTED_DELTA`].
    pub(crate) fn verify(opened: &[Block], blocks: &[Block]) -> Result<Self, ProtocolError> {
        let fits = |(a, b): (&Block, &Block)| {
            secrets::verdict(a.ct_eq(b), "lego: whether the committed delta matches the OTs")
        };
        match opened.iter().zip(blocks).position(|pair| !fits(pair)) {
            None => Ok(DeltaConsistent(())),
            Some(index) => Err(Cheating::new(checks::COMMITTED_DELTA, format!("OT {index}")).into()),
        }
    }
}
