//! Partial gates: from the labels of a kept value to the labels of an input of the next circuit.
//!
//! *Source*: Mood et al. 2014, phase 4, equations (5) to (15). `POut` are the kept labels, `GIn` the labels of the input, and
//!
//! ```text
//! PIn_b, pointer_b = H(run, circuit, wire; POut_b)      place = the lowest bit in which the pointers differ
//! TT[bit `place` of pointer_b] = PIn_b + GIn_b
//! ```
//!
//! Equations (6) to (8) take the bit out of `PIn` itself. Then `TT[0] + TT[1] = PIn_0 + PIn_1 + GIn_0 + GIn_1` has a one at `place` where the delta
//! of the circuit has none: each gate would show the evaluator a bit of delta, and some hundred gates all of it. So pointers have separate bits.
//!
//! A circuit's transformation value `R` would make a value that is used twice show differences. Here the hash depends only on the run, circuit
//! and wire: a value may be read any number of times.

use garblet_primitives::Block;
use garblet_protocol::domain::SessionId;
use zeroize::Zeroizing;

use super::Step;
use crate::GENERATOR;

/// Bytes of a partial gate: both entries, and the place of the bit that distinguishes them.
pub(crate) const GATE_BYTES: usize = 33;

/// The partial gates of a circuit: for each wire both kept labels, and the new zero label with its delta.
pub(crate) fn garble(
    run: &SessionId,
    circuit: usize,
    from: &[[Block; 2]],
    (to, to_delta): (&[Block], Block),
) -> Vec<u8> {
    let mut gates = Vec::with_capacity(GATE_BYTES * from.len());
    for (wire, (&from, &to)) in from.iter().zip(to).enumerate() {
        let hashes = from.map(|label| hash(run, circuit, wire, label));
        let place = place(hashes.map(|[_, pointer]| pointer));
        let mut table = [Block::ZERO; 2];
        for ([mask, pointer], label) in hashes.into_iter().zip([to, to ^ to_delta]) {
            let first = mask ^ label;
            // Both differ in that bit, so each entry is set once.
            let is_second = bit(pointer, place);
            table[0] = Block::select(is_second, table[0], first);
            table[1] = Block::select(is_second, first, table[1]);
        }
        gates.push(place);
        table.iter().for_each(|entry| gates.extend_from_slice(&entry.to_bytes()));
    }
    gates
}

/// The labels of the input, from the labels of the kept value.
pub(crate) fn evaluate(run: &SessionId, circuit: usize, labels: &[Block], gates: &[u8]) -> Vec<Block> {
    let gates = gates.as_chunks::<GATE_BYTES>().0;
    let evaluate = |(wire, (&label, gate)): (usize, (&Block, &[u8; GATE_BYTES]))| {
        let [mask, pointer] = hash(run, circuit, wire, label);
        let (first, second) = (block(&gate[1..17]), block(&gate[17..]));
        mask ^ Block::select(bit(pointer, gate[0]), second, first)
    };
    labels.iter().zip(gates).enumerate().map(evaluate).collect()
}

/// The mask of a label, and the pointer.
fn hash(run: &SessionId, circuit: usize, wire: usize, label: Block) -> [Block; 2] {
    let here = run.domain(GENERATOR, Step::PartialGates as u8).at((circuit as u64) << 32 | wire as u64);
    let digest = Zeroizing::new(here.digest(&label.to_bytes()));
    [block(&digest[..16]), block(&digest[16..])]
}

/// A bit in which both differ (`setPPBitGen`): the lowest one, found in constant time.
fn place([zero, one]: [Block; 2]) -> u8 {
    // Equal pointers do not occur in practice.
    (zero ^ one).to_u128().trailing_zeros() as u8 & 127
}

/// A bit of a block; positions wrap around.
fn bit(block: Block, at: u8) -> bool {
    block.to_u128() >> (at & 127) & 1 == 1
}

fn block(bytes: &[u8]) -> Block {
    Block::from_bytes(bytes.first_chunk().copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use garblet_primitives::Prg;

    use super::*;

    #[test]
    fn labels_translate_to_labels_of_the_same_values() {
        let run = SessionId::new("test", [0; 32], [[0; 32]; 2]);
        let mut rng = Prg::new(Block::ONES);
        let (from_delta, to_delta) = (rng.next_block(), rng.next_block());
        let from: Vec<Block> = (0..50).map(|_| rng.next_block()).collect();
        let to: Vec<Block> = (0..50).map(|_| rng.next_block()).collect();
        let pairs: Vec<[Block; 2]> = from.iter().map(|&zero| [zero, zero ^ from_delta]).collect();
        let gates = garble(&run, 3, &pairs, (&to, to_delta));
        assert_eq!(gates.len(), 50 * GATE_BYTES);
        let value = |wire: usize| wire.is_multiple_of(3);
        let active = |zero: &[Block], delta: Block| -> Vec<Block> {
            zero.iter().enumerate().map(|(wire, &zero)| zero ^ (Block::mask(value(wire)) & delta)).collect()
        };
        assert!(evaluate(&run, 3, &active(&from, from_delta), &gates) == active(&to, to_delta));
        assert!(evaluate(&run, 4, &active(&from, from_delta), &gates) != active(&to, to_delta));
        // Reading the same value again gives other entries.
        let again = garble(&run.run(1), 3, &pairs, (&to, to_delta));
        assert_ne!(gates, again);
        // Any bytes are evaluated.
        assert_eq!(evaluate(&run, 3, &from, &vec![255; 50 * GATE_BYTES]).len(), 50);
    }

    #[test]
    fn entries_reveal_nothing_about_delta() {
        const GATES: usize = 1 << 14;
        let run = SessionId::new("test", [0; 32], [[0; 32]; 2]);
        let mut rng = Prg::new(Block::ONES);
        let mut blocks = |count: usize| -> Vec<Block> { (0..count).map(|_| rng.next_block()).collect() };
        let deltas = blocks(2);
        let (from, to) = (blocks(GATES), blocks(GATES));
        let pairs: Vec<[Block; 2]> = from.iter().map(|&zero| [zero, zero ^ deltas[0]]).collect();
        let gates = garble(&run, 3, &pairs, (&to, deltas[1]));
        // Counts where the sum of both entries agrees with delta, by the distance from the place.
        let mut equal = [0u32; 128];
        for gate in gates.as_chunks::<GATE_BYTES>().0 {
            let sum = block(&gate[1..17]) ^ block(&gate[17..]) ^ deltas[1];
            (0..128).for_each(|at| equal[usize::from(at)] += u32::from(!bit(sum, gate[0] + at)));
        }
        // Within ten standard deviations of a half.
        let half = GATES as u32 / 2;
        assert!(equal.iter().all(|&count| count.abs_diff(half) < 640), "{equal:?}");
    }
}
