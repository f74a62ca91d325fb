//! One of the circuits: everything about it follows from its seed.

use garblet_circuit::Bits;
use garblet_garble as garble;
use garblet_primitives::{Block, Delta, Prg};
use zeroize::Zeroizing;

use super::{blueprint::Blueprint, consistency::UniversalHash};
use crate::{binding::Place, encoding::Encoding, interface};

/// What both parties know in common about all circuits of a run.
pub(crate) struct Shared {
    /// Where commitments to labels belong.
    pub(crate) labels: Place,
    /// The encoding of the evaluator's input.
    pub(crate) encoding: Encoding,
    /// The hash of the garbler's input.
    pub(crate) hash: UniversalHash,
}

impl Shared {
    /// *Unique*: commitments to labels are all that is hashed at `labels`.
    pub(crate) fn new(labels: Place, blueprint: &Blueprint, encoding: Encoding, challenge: Block) -> Self {
        let hash = UniversalHash::new(blueprint.hash_rows(), blueprint.garbler_inputs(), challenge);
        Shared { labels, encoding, hash }
    }

    /// The commitment to a label of wire `wire` of those committed to in circuit `circuit`. The label has 128 uniform bits, so it needs
    /// no further randomness to be hidden.
    pub(crate) fn commitment(&self, circuit: usize, wire: usize, label: Block) -> [Block; 2] {
        let digest = self.labels.at((circuit as u64) << 32 | wire as u64).digest(&label.to_bytes());
        bytemuck::cast(digest)
    }
}

/// Delta, seeds and the zero labels of a circuit. *Secret*.
pub(crate) struct Secrets {
    pub(crate) delta: Delta,
    hash_seed: Block,
    secret: Zeroizing<Block>,
    /// Of the garbler's wires: inputs, then what hides the hash.
    pub(crate) garbler: Zeroizing<Vec<Block>>,
    /// Of the evaluator's encoded wires.
    pub(crate) evaluator: Zeroizing<Vec<Block>>,
}

impl Secrets {
    /// What the seed of a circuit stands for.
    pub(crate) fn of_seed(blueprint: &Blueprint, seed: Block) -> Self {
        let mut rng = Prg::new(seed);
        let delta = Delta::random(&mut rng);
        let (hash_seed, secret) = (rng.next_block(), Zeroizing::new(rng.next_block()));
        let mut labels = |count| {
            let mut labels = Zeroizing::new(vec![Block::ZERO; count]);
            rng.fill_blocks(&mut labels);
            labels
        };
        let garbler = labels(blueprint.garbler_wires());
        Secrets { delta, hash_seed, secret, garbler, evaluator: labels(blueprint.evaluator_wires()) }
    }

    /// The garbler's labels for its input.
    pub(crate) fn active(&self, input: &Bits) -> Zeroizing<Vec<Block>> {
        let delta = self.delta.block();
        let active = self.garbler.iter().zip(input.iter()).map(|(&zero, bit)| zero ^ (Block::mask(bit) & delta));
        Zeroizing::new(active.collect())
    }
}

/// A circuit as it is sent, part by part: the head, the tables in pieces, the tail.
///
/// The garbler makes it to send it; the evaluator makes it again from the seed to see whether it is what came.
pub(crate) struct Stream<'p> {
    blueprint: &'p Blueprint,
    head: Option<Vec<Block>>,
    garbling: Option<garble::Garbler<'p>>,
    outputs: Vec<Box<[Block]>>,
    part: usize,
}

impl<'p> Stream<'p> {
    /// The circuit of those secrets.
    pub(crate) fn new(blueprint: &'p Blueprint, shared: &Shared, circuit: usize, secrets: &Secrets) -> Self {
        let own = &secrets.garbler[..blueprint.garbler_inputs()];
        let theirs = Zeroizing::new(shared.encoding.sums(&secrets.evaluator));
        let inputs = interface::labels_by_input(blueprint.program(), own, &theirs);
        let seeds = garble::Seeds::new(secrets.hash_seed, *secrets.secret);
        let config = blueprint.garbling();
        let garbling =
            garble::Garbler::new(blueprint.program(), blueprint.schedules(), config, &secrets.delta, seeds, 0, inputs);
        let head = Some(head(blueprint, shared, circuit, secrets));
        Stream { blueprint, head, garbling: Some(garbling), outputs: Vec::new(), part: 0 }
    }

    /// Puts the next part in place of what is in `blocks`; whether there was one: none comes after the tail.
    pub(crate) fn next_part(&mut self, blocks: &mut Vec<Block>) -> bool {
        let part = self.part;
        self.part += 1;
        if let Some(head) = self.head.take() {
            blocks.clear();
            blocks.extend_from_slice(&head);
            return true;
        }
        match self.blueprint.pieces().nth(part - 1) {
            Some(ands) => {
                blocks.resize(self.blueprint.part_blocks(part), Block::ZERO);
                let bytes: &mut [u8] = bytemuck::cast_slice_mut(blocks);
                let (tables, rest) = bytes.split_at_mut(self.blueprint.piece_bytes(ands));
                self.tables(tables);
                rest.fill(0);
            }
            None => {
                let Some(garbling) = self.garbling.take() else { return false };
                self.outputs = garbling.into_outputs();
                blocks.clear();
                blocks.extend(pack(&self.blueprint.select_bits(&self.outputs)));
            }
        }
        true
    }

    /// The zero labels of all outputs in program order, after the last part. *Secret*.
    pub(crate) fn into_outputs(self) -> Vec<Box<[Block]>> {
        self.outputs
    }

    fn tables(&mut self, mut into: &mut [u8]) {
        let Some(garbling) = &mut self.garbling else { return };
        while !into.is_empty() {
            let (chunk, later) = into.split_at_mut(garbling.next_chunk_bytes());
            garbling.garble_chunk_into(chunk);
            into = later;
        }
    }
}

/// The hash seed; for each wire the commitments to its labels; the decoding bits of the hash.
///
/// The garbler's labels are in the order of their select bits, the evaluator's in that of their values, see [`Committed`](super::Committed).
fn head(blueprint: &Blueprint, shared: &Shared, circuit: usize, secrets: &Secrets) -> Vec<Block> {
    let mut blocks = vec![secrets.hash_seed];
    let committed = blueprint.committed();
    let garbler = secrets.garbler.iter().filter(|_| committed.garbler).map(|&zero| (zero, zero.lsb()));
    let evaluator = secrets.evaluator.iter().filter(|_| committed.evaluator).map(|&zero| (zero, false));
    for (wire, (zero, swapped)) in garbler.chain(evaluator).enumerate() {
        let one = zero ^ secrets.delta.block();
        let [first, second] = if swapped { [one, zero] } else { [zero, one] };
        blocks.extend(shared.commitment(circuit, wire, first));
        blocks.extend(shared.commitment(circuit, wire, second));
    }
    blocks.extend(pack(&select_bits(&shared.hash.sums(&secrets.garbler))));
    blocks
}

/// The select bits of labels.
pub(crate) fn select_bits(labels: &[Block]) -> Bits {
    labels.iter().map(|label| label.lsb()).collect()
}

/// Bits in blocks, the rest of the last one zero.
pub(crate) fn pack(bits: &Bits) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; bits.len().div_ceil(128)];
    let bytes = bits.to_bytes();
    bytemuck::cast_slice_mut::<Block, u8>(&mut blocks)[..bytes.len()].copy_from_slice(&bytes);
    blocks
}

/// The first bits in blocks.
pub(crate) fn unpack(blocks: &[Block], count: usize) -> Bits {
    Bits::from_bytes(bytemuck::cast_slice(blocks)).slice(0, count)
}
