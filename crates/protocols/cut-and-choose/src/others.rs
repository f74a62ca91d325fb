//! Runs on bits that others deal to both parties: somebody else gave a party some bits of its input, and it proves that it uses them.
//!
//! A dealer who gives bits to one party gives the other a linear hash of them. When both inputs are fixed, the parties tell each other the challenges, and
//! each proves that its bits have the hash that the other holds: the evaluator by its rows of the correlated OT, the garbler by hashes that its labels
//! must have in every circuit, just as its whole input has one. All of this happens before circuits are sent.

use garblet_ot::{BitVec, Rows};
use garblet_primitives::{Block, Delta};
use garblet_protocol::{error::ProtocolError, session::Session};
pub use garblet_seeded::PartHash;
use garblet_seeded::encoding::Encoding;

/// A party's part in a run for others.
pub trait Dealing: Send {
    /// Lets the parties exchange challenges, and the evaluator prove its bits. It is called when the garbler has sent its last key,
    /// which fixes both inputs, and the evaluator has all keys.
    ///
    /// *Errors*: those of the proofs; the connection's.
    fn settle(
        &mut self,
        session: &mut Session,
        rows: InputRows<'_>,
    ) -> impl Future<Output = Result<(), ProtocolError>> + Send;

    /// Lets the garbler send hashes of its bits, and returns them. It is called when the evaluator has sent the challenge for the garbler's whole input.
    ///
    /// *Errors*: at the evaluator, a wrong hash; the connection's.
    fn hashes(&mut self, session: &mut Session) -> impl Future<Output = Result<Vec<PartHash>, ProtocolError>> + Send;

    /// Lets the evaluator confirm that it accepted the hashes. It is called just before the evaluator announces which circuits it checks.
    ///
    /// *Errors*: the evaluator's refusal; the connection's.
    fn agree(&mut self, session: &mut Session) -> impl Future<Output = Result<(), ProtocolError>> + Send;
}

/// The correlated OT rows of the evaluator's input: the garbler has the rows for zeros, the evaluator the rows for its bits. *Secret*.
///
/// A row is linear in the bit, and the evaluator knows only the row of its own bit.
pub struct InputRows<'a> {
    /// A row for each wire of the encoded input.
    wires: Rows,
    encoding: &'a Encoding,
    /// The difference between the rows of both bits, if this party is the garbler.
    delta: Option<&'a Delta>,
}

impl<'a> InputRows<'a> {
    /// The garbler's rows, from those of the evaluator's random choices and its corrections of the first ones.
    pub(crate) fn of_garbler(mut wires: Rows, corrections: &BitVec, delta: &'a Delta, encoding: &'a Encoding) -> Self {
        let corrected = wires.iter_mut().zip(corrections.iter());
        corrected.for_each(|(row, swap)| *row ^= Block::mask(swap) & delta.block());
        InputRows { wires, encoding, delta: Some(delta) }
    }

    /// The evaluator's rows.
    pub(crate) fn of_evaluator(wires: Rows, encoding: &'a Encoding) -> Self {
        InputRows { wires, encoding, delta: None }
    }

    /// A row for each bit of the input.
    pub fn of_bits(&self) -> Rows {
        self.encoding.sums(&self.wires)
    }

    /// The sum of rows that the evaluator must have, if its bits add up to `bit` and the garbler's rows to `row`.
    pub fn chosen(&self, row: Block, bit: bool) -> Block {
        row ^ (Block::mask(bit) & self.delta.map_or(Block::ZERO, Delta::block))
    }
}

/// No dealing: both parties' inputs are their own.
pub(crate) struct Nothing;

impl Dealing for Nothing {
    async fn settle(&mut self, _: &mut Session, _: InputRows<'_>) -> Result<(), ProtocolError> {
        Ok(())
    }

    async fn hashes(&mut self, _: &mut Session) -> Result<Vec<PartHash>, ProtocolError> {
        Ok(Vec::new())
    }

    async fn agree(&mut self, _: &mut Session) -> Result<(), ProtocolError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use garblet_circuit::Bits;
    use garblet_primitives::Prg;
    use zeroize::Zeroizing;

    use super::*;

    #[test]
    fn both_parties_have_rows_of_the_evaluators_input_and_a_flipped_bit_is_noticed() {
        let mut rng = Prg::new(Block::from_u128(12));
        let delta = Delta::random(&mut rng);
        let bits = 40;
        let encoding = Encoding::systematic(bits, 48, Block::ONES);
        let zero: Rows = Zeroizing::new((0..encoding.wires()).map(|_| rng.next_block()).collect());
        let random = BitVec::random(encoding.wires(), &mut rng);
        let input: Bits = (0..bits).map(|_| rng.next_block().lsb()).collect();
        let (_, corrections) = encoding.choose(&input, &random);
        let chosen = zero.iter().zip(random.iter());
        let chosen = chosen.map(|(&row, choice)| row ^ (Block::mask(choice) & delta.block())).collect();
        let garbler = InputRows::of_garbler(zero, &corrections, &delta, &encoding);
        let evaluator = InputRows::of_evaluator(Zeroizing::new(chosen), &encoding).of_bits();
        for ((&row, &own), bit) in garbler.of_bits().iter().zip(evaluator.iter()).zip(input.iter()) {
            assert!(garbler.chosen(row, bit) == own);
            assert!(garbler.chosen(row, !bit) == own ^ delta.block());
        }
    }
}
