//! Partial gates: from the labels of a kept value to the labels of an input of the next circuit.
//!
//! *Source*: Mood et al. 2014, phase 4, equations (5) to (15). `POut` are the kept labels, `GIn` those of the input, and
//!
//! ```text
//! temp_b = H(run, circuit, wire; POut_b)      place = a bit in which both differ      PIn_b = temp_b
//! TT[bit `place` of temp_b] = PIn_b + GIn_b
//! ```
//!
//! In place of the transformation value `R` of a circuit, which makes a value that is used twice show differences, the hash is of the run, circuit
//! and wire alone: a value may be read any number of times.

use garblet_primitives::{Block, Prg};
use garblet_protocol::domain::SessionId;

use super::Step;
use crate::GENERATOR;

/// Bytes of a partial gate: both entries, and the place of the bit that says which is which.
pub(crate) const GATE_BYTES: usize = 33;

/// The partial gates of a circuit: for each wire both labels as they were kept, and the zero label that it is to have, with its delta.
///
/// The seed of the circuit draws the places.
pub(crate) fn garble(
    run: &SessionId,
    circuit: usize,
    from: &[[Block; 2]],
    (to, to_delta): (&[Block], Block),
    seed: Block,
) -> Vec<u8> {
    let mut places = run.domain(GENERATOR, Step::PartialGates as u8).at(circuit as u64).stream(seed);
    let mut gates = Vec::with_capacity(GATE_BYTES * from.len());
    for (wire, (&from, &to)) in from.iter().zip(to).enumerate() {
        let hashes = from.map(|label| hash(run, circuit, wire, label));
        let place = place(hashes, &mut places);
        let mut table = [Block::ZERO; 2];
        for (hash, label) in hashes.into_iter().zip([to, to ^ to_delta]) {
            let first = hash ^ label;
            // Both differ in that bit, so each entry is set once.
            let is_second = bit(hash, place);
            table[0] = Block::select(is_second, table[0], first);
            table[1] = Block::select(is_second, first, table[1]);
        }
        gates.push(place);
        table.iter().for_each(|entry| gates.extend_from_slice(&entry.to_bytes()));
    }
    gates
}

/// The labels of the input, from those of the kept value.
pub(crate) fn evaluate(run: &SessionId, circuit: usize, labels: &[Block], gates: &[u8]) -> Vec<Block> {
    let gates = gates.as_chunks::<GATE_BYTES>().0;
    let evaluate = |(wire, (&label, gate)): (usize, (&Block, &[u8; GATE_BYTES]))| {
        let hash = hash(run, circuit, wire, label);
        let (first, second) = (block(&gate[1..17]), block(&gate[17..]));
        hash ^ Block::select(bit(hash, gate[0]), second, first)
    };
    labels.iter().zip(gates).enumerate().map(evaluate).collect()
}

fn hash(run: &SessionId, circuit: usize, wire: usize, label: Block) -> Block {
    run.domain(GENERATOR, Step::PartialGates as u8).branch(1).at((circuit as u64) << 32 | wire as u64).key(label)
}

/// A random bit in which both differ (`setPPBitGen`).
fn place([zero, one]: [Block; 2], rng: &mut Prg) -> u8 {
    let different = (zero ^ one).to_u128();
    // Equal hashes are not found; a bound keeps labels of a liar from holding this up.
    (0..4096).map(|_| rng.next_block().to_bytes()[0] & 127).find(|&at| different >> at & 1 == 1).unwrap_or(0)
}

/// A bit of a block; bits beyond count from the beginning again.
fn bit(block: Block, at: u8) -> bool {
    block.to_u128() >> (at & 127) & 1 == 1
}

fn block(bytes: &[u8]) -> Block {
    Block::from_bytes(bytes.first_chunk().copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_become_those_of_the_same_values() {
        let run = SessionId::new("test", [0; 32], [[0; 32]; 2]);
        let mut rng = Prg::new(Block::ONES);
        let (from_delta, to_delta) = (rng.next_block(), rng.next_block());
        let from: Vec<Block> = (0..50).map(|_| rng.next_block()).collect();
        let to: Vec<Block> = (0..50).map(|_| rng.next_block()).collect();
        let pairs: Vec<[Block; 2]> = from.iter().map(|&zero| [zero, zero ^ from_delta]).collect();
        let gates = garble(&run, 3, &pairs, (&to, to_delta), Block::ZERO);
        assert_eq!(gates.len(), 50 * GATE_BYTES);
        let value = |wire: usize| wire.is_multiple_of(3);
        let active = |zero: &[Block], delta: Block| -> Vec<Block> {
            zero.iter().enumerate().map(|(wire, &zero)| zero ^ (Block::mask(value(wire)) & delta)).collect()
        };
        assert!(evaluate(&run, 3, &active(&from, from_delta), &gates) == active(&to, to_delta));
        assert!(evaluate(&run, 4, &active(&from, from_delta), &gates) != active(&to, to_delta));
        // The same value read again has entries of which nothing adds up.
        let again = garble(&run.run(1), 3, &pairs, (&to, to_delta), Block::ZERO);
        assert_ne!(gates, again);
        // Whatever comes is evaluated.
        assert_eq!(evaluate(&run, 3, &from, &vec![255; 50 * GATE_BYTES]).len(), 50);
    }
}
