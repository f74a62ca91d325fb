//! *Single communication, multiple connections*, as published, and why it must not be used.
//!
//! *Source*: Groce, Ledger, Malozemoff, Yerukhimovich, *CompGC: Efficient Offline/Online Semi-honest Two-party Computation*
//! (2016), section 5. Input wire `i` of a block has the zero label `A + H(T + i)` with `A` of the block and one `T` for all;
//! outputs are moved to `B + H(T + i)`; one link label `B + A'` then joins a block of outputs to a block of inputs.
//!
//! # The attack
//!
//! The active labels of two blocks `P`, `Q` are `P_i = A_P + m_i + v_i delta` and `Q_i = A_Q + m_i + u_i delta` with the same mask
//! `m_i = H(T + i)`. Their sum `(A_P + A_Q) + (v_i + u_i) delta` takes two values over `i`, and these differ by delta. `T` is
//! never needed. The proof in section 5.2 samples a mask for each component and overlooks that all blocks share `m_i`.
//!
//! With delta every AND gate can be evaluated on all four combinations of its operands; the odd one out is where both are
//! true, which tells the operands' values. What is linear in between is solved: [`attack()`] recovers the evaluator's state
//! before and after a round of AES, and so the garbler's round key.
//!
//! This module is a demonstration: it serves tests and `garblet-lab compgc --insecure-as-published`.

mod attack;
mod linear;

#[cfg(test)]
pub(crate) use attack::find_delta;
pub use attack::{Learned, attack};

use garblet_circuit::Component;
use garblet_garble::{ComponentGarbling, GarblingConfig, Seeds};
use garblet_primitives::{Block, Delta, Prg};
use rand_core::CryptoRng;

/// A component, with the blocks of wires that links join.
pub struct Blocks<'a> {
    /// The component.
    pub component: &'a Component,
    /// Input wires in blocks of this many.
    pub width: usize,
}

/// The evaluator's view of two linked components, where the second's first block is the first's output.
pub struct View {
    /// The seed of the garbling hash.
    pub hash_seed: Block,
    /// Tables of both components.
    pub tables: [Vec<u8>; 2],
    /// The offsets that move each component's output labels to those of its block.
    pub offsets: [Vec<Block>; 2],
    /// Active input labels of the first component.
    pub first_inputs: Vec<Block>,
    /// The one link label from the first component's outputs to the second's first block.
    pub link: Block,
    /// Active labels of the second component's other inputs.
    pub second_inputs: Vec<Block>,
}

/// `H(T + i)`.
fn mask(t: Block, i: usize) -> Block {
    crate::pieces::keys::one_way("garblet 2026 scmc as published", t ^ Block::from_u128(i as u128))
}

/// Garbles two components as published and links them.
///
/// *Shape*: `first` are the values of the first component's inputs, `second` those of the second's inputs behind its first
/// block. Returns the evaluator's view, and delta for comparison.
pub fn publish(
    blocks: &Blocks<'_>,
    first: &[bool],
    second: &[bool],
    rng: &mut (impl CryptoRng + ?Sized),
) -> (View, Block) {
    let instances = ComponentGarbling::new(blocks.component, GarblingConfig::default());
    let (delta, seeds, t) = (Delta::random(rng), Seeds::random(rng), Block::random(rng));
    let mut bases = Prg::random(rng);
    let (ins, outs, width) = (instances.input_count(), instances.output_count(), blocks.width);
    let mut garble = |k: u64| {
        let of_block: Vec<Block> = (0..ins.div_ceil(width)).map(|_| bases.next_block()).collect();
        let output = bases.next_block();
        let inputs: Vec<Block> = (0..ins).map(|i| of_block[i / width] ^ mask(t, i % width)).collect();
        let (mut tables, mut natural) = (vec![0; instances.table_bytes()], vec![Block::ZERO; outs]);
        instances.garbler(&delta, &seeds, 0).garble(k, 1, &inputs, &mut tables, &mut natural);
        let offsets = natural.iter().enumerate().map(|(i, label)| *label ^ output ^ mask(t, i)).collect();
        (of_block, output, inputs, tables, offsets)
    };
    let (_, output, first_zeros, first_tables, first_offsets) = garble(0);
    let (bases_of_second, _, second_zeros, second_tables, second_offsets) = garble(1);
    let active = |zeros: &[Block], values: &[bool]| -> Vec<Block> {
        zeros.iter().zip(values).map(|(zero, value)| *zero ^ (Block::mask(*value) & delta.block())).collect()
    };
    let view = View {
        hash_seed: seeds.hash,
        tables: [first_tables, second_tables],
        offsets: [first_offsets, second_offsets],
        first_inputs: active(&first_zeros, first),
        link: output ^ bases_of_second[0],
        second_inputs: active(&second_zeros[width..], second),
    };
    (view, delta.block())
}

/// Bytes that the evaluator gets online where links are as published: a label per block, and its inputs.
pub fn online_bytes(input_bits: u64, linked_blocks: u64, output_bits: u64) -> u64 {
    16 * (input_bits + linked_blocks) + output_bits.div_ceil(8)
}
