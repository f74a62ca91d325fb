//! One of the circuits, derived entirely from its seed.

use garblet_circuit::Bits;
use garblet_garble::{self as garble, Workspace, published::Garbled};
use garblet_ot::BitVec;
use garblet_primitives::{Bit, Block, Delta, Prg};
use zeroize::Zeroizing;

use super::{blueprint::Blueprint, buffers::Pool, consistency::InputHash, published::Published};
use crate::encoding::Encoding;
use garblet_protocol::{domain::Domain, party_io};

/// The data that both parties share about all circuits of a run.
pub struct Shared {
    /// The domain of commitments to labels. *Unique*: only these and digests of labels are hashed in it.
    pub labels: Domain,
    /// The encoding of the evaluator's input.
    pub encoding: Encoding,
    /// The hash of the garbler's input.
    pub hash: InputHash,
    /// Memory for circuits garbled or evaluated one after another. *Secret*.
    pub(super) workspaces: Pool<Workspace>,
}

impl Shared {
    /// The shared data for circuits whose labels are committed to in the domain `labels`.
    pub fn new(labels: Domain, encoding: Encoding, hash: InputHash) -> Self {
        Shared { labels, encoding, hash, workspaces: Pool::default() }
    }

    /// The digest of the labels that the hash of the garbler's input has in circuit `circuit`.
    pub(crate) fn hash_digest(&self, circuit: usize, sums: &[Block]) -> [Block; 2] {
        bytemuck::cast(self.labels.at(circuit as u64).branch(1).digest(bytemuck::cast_slice(sums)))
    }

    /// The commitment to a label of committed wire `wire` in circuit `circuit`. The label has 128 uniform bits, so hiding it takes
    /// no further randomness.
    pub fn commitment(&self, circuit: usize, wire: usize, label: Block) -> [Block; 2] {
        let digest = self.labels.at((circuit as u64) << 32 | wire as u64).digest(&label.to_bytes());
        bytemuck::cast(digest)
    }
}

/// Delta, seeds and the labels of a circuit. *Secret*.
pub struct Secrets {
    /// The offset between the labels of a wire.
    pub delta: Delta,
    hash_seed: Block,
    secret: Zeroizing<Block>,
    /// The zero labels of the garbler's wires: inputs, then the wires that hide the hash.
    pub garbler: Zeroizing<Vec<Block>>,
    /// The zero labels of the evaluator's encoded wires.
    pub evaluator: Zeroizing<Vec<Block>>,
    /// The label difference of each of the garbler's and then of the evaluator's wires, unless it is delta for all.
    differences: Option<Zeroizing<Vec<Block>>>,
}

impl Secrets {
    /// The secrets derived from a circuit's seed.
    pub fn of_seed(blueprint: &Blueprint, seed: Block) -> Self {
        let mut rng = Prg::new(seed);
        let delta = Delta::random(&mut rng);
        let (hash_seed, secret) = (rng.next_block(), Zeroizing::new(rng.next_block()));
        let mut labels = |count| {
            let mut labels = Zeroizing::new(vec![Block::ZERO; count]);
            rng.fill_blocks(&mut labels);
            labels
        };
        let (garbler, evaluator) = (labels(blueprint.garbler_wires()), labels(blueprint.evaluator_wires()));
        let own = blueprint.as_published().is_some_and(|published| !published.has_free_xor());
        let differences = own.then(|| {
            let mut differences = labels(garbler.len() + evaluator.len());
            differences.iter_mut().for_each(|difference| *difference = difference.with_lsb(true));
            differences
        });
        Secrets { delta, hash_seed, secret, garbler, evaluator, differences }
    }

    /// The label of one of the garbler's wires.
    pub fn garbler_label(&self, wire: usize, value: bool) -> Block {
        self.garbler[wire] ^ (Block::mask(value) & self.difference(wire))
    }

    /// The label of one of the evaluator's wires.
    pub(crate) fn evaluator_label(&self, wire: usize, value: impl Into<Bit>) -> Block {
        self.evaluator[wire] ^ (Block::mask(value) & self.difference(self.garbler.len() + wire))
    }

    /// The garbler's labels for its input.
    pub fn active(&self, input: &Bits) -> Zeroizing<Vec<Block>> {
        let wires = 0..self.garbler.len();
        Zeroizing::new(wires.zip(input.iter()).map(|(wire, bit)| self.garbler_label(wire, bit)).collect())
    }

    /// The labels of the evaluator's wires for its choices.
    pub fn chosen(&self, choices: &BitVec) -> Zeroizing<Vec<Block>> {
        let wires = 0..self.evaluator.len();
        Zeroizing::new(wires.zip(choices.iter()).map(|(wire, choice)| self.evaluator_label(wire, choice)).collect())
    }

    /// Both labels of every wire, the garbler's first.
    pub fn pairs(&self) -> impl Iterator<Item = [Block; 2]> + '_ {
        self.garbler_pairs().chain(self.evaluator_pairs())
    }

    /// Both labels of every wire of the garbler.
    fn garbler_pairs(&self) -> impl Iterator<Item = [Block; 2]> + '_ {
        (0..self.garbler.len()).map(|wire| [false, true].map(|value| self.garbler_label(wire, value)))
    }

    /// Both labels of every wire of the evaluator.
    pub(crate) fn evaluator_pairs(&self) -> impl Iterator<Item = [Block; 2]> + '_ {
        (0..self.evaluator.len()).map(|wire| [false, true].map(|value| self.evaluator_label(wire, value)))
    }

    fn difference(&self, wire: usize) -> Block {
        self.differences.as_ref().map_or(self.delta.block(), |own| own[wire])
    }
}

/// Both labels of all outputs, in program order. *Secret*.
pub struct OutputLabels {
    /// The labels of zeros, output by output.
    pub zero: Zeroizing<Vec<Box<[Block]>>>,
    /// The labels of ones.
    pub one: Zeroizing<Vec<Box<[Block]>>>,
}

impl OutputLabels {
    fn none() -> Self {
        OutputLabels { zero: Zeroizing::default(), one: Zeroizing::default() }
    }
}

/// A circuit as it is sent, part by part: the head, the tables in pieces, the tail.
///
/// The garbler makes it to send it; the evaluator regenerates it from the seed to compare it with the received circuit.
pub struct Stream<'p> {
    blueprint: &'p Blueprint,
    workspaces: &'p Pool<Workspace>,
    head: Option<Vec<Block>>,
    tables: Tables<'p>,
    part: usize,
}

/// The maker of a circuit's tables; after the last, the labels of its outputs.
enum Tables<'p> {
    Streamed { garbler: Box<garble::Garbler<'p>>, delta: Delta },
    Published { garbled: Garbled, of: &'p Published },
    Done(OutputLabels),
}

impl<'p> Stream<'p> {
    /// The circuit for these secrets.
    pub fn new(blueprint: &'p Blueprint, shared: &'p Shared, circuit: usize, secrets: &Secrets) -> Self {
        let head = Some(head(blueprint, shared, circuit, secrets));
        let tables = match blueprint.as_published() {
            Some(of) => {
                Tables::Published { garbled: of.garble(secrets.pairs(), secrets.delta.block(), *secrets.secret), of }
            }
            None => {
                let garbler = Box::new(garbler(blueprint, shared, secrets));
                Tables::Streamed { garbler, delta: secrets.delta.clone() }
            }
        };
        Stream { blueprint, workspaces: &shared.workspaces, head, tables, part: 0 }
    }

    /// The next part, at the beginning of `buffer`, see [`Blueprint::room_for`]; `None` after the tail.
    pub fn next_part<'b>(&mut self, buffer: &'b mut Vec<Block>) -> Option<&'b mut [Block]> {
        let part = self.part;
        if part == self.blueprint.part_count() {
            return None;
        }
        self.part += 1;
        let blocks = self.blueprint.room_for(part, buffer);
        match (self.head.take(), self.blueprint.table_bytes(part)) {
            (Some(head), _) => blocks.copy_from_slice(&head),
            (None, Some(bytes)) => {
                let (tables, rest) = bytemuck::cast_slice_mut(blocks).split_at_mut(bytes);
                self.tables.fill(tables);
                rest.fill(0);
            }
            (None, None) => {
                let tables = std::mem::replace(&mut self.tables, Tables::Done(OutputLabels::none()));
                let outputs = tables.outputs(self.workspaces);
                blocks.copy_from_slice(&pack(&self.blueprint.select_bits(&outputs.zero)));
                self.tables = Tables::Done(outputs);
            }
        }
        Some(blocks)
    }

    /// The labels of all outputs, after the last part.
    pub fn into_outputs(self) -> OutputLabels {
        self.tables.outputs(self.workspaces)
    }
}

impl Tables<'_> {
    /// Makes the next piece of the tables.
    fn fill(&mut self, into: &mut [u8]) {
        match self {
            Tables::Streamed { garbler, .. } => _ = garbler.garble_chunk_into(into),
            Tables::Published { garbled, .. } => into.copy_from_slice(&garbled.tables),
            Tables::Done(_) => into.fill(0),
        }
    }

    /// The labels of all outputs, after all tables. Gives its memory back.
    fn outputs(self, workspaces: &Pool<Workspace>) -> OutputLabels {
        match self {
            Tables::Streamed { garbler, delta } => {
                let (zero, workspace) = garbler.into_outputs_and_workspace();
                workspaces.give_back(workspace);
                let zero = Zeroizing::new(zero);
                let one = zero.iter().map(|labels| labels.iter().map(|&label| label ^ delta.block()).collect());
                OutputLabels { one: Zeroizing::new(one.collect()), zero }
            }
            Tables::Published { garbled, of } => {
                let both = |value: usize| of.dealt(garbled.outputs.iter().map(|labels| labels[value]));
                OutputLabels { zero: Zeroizing::new(both(0)), one: Zeroizing::new(both(1)) }
            }
            Tables::Done(outputs) => outputs,
        }
    }
}

/// The garbler with free XOR, chunk by chunk: the encoding is taken on labels.
fn garbler<'p>(blueprint: &'p Blueprint, shared: &Shared, secrets: &Secrets) -> garble::Garbler<'p> {
    let own = &secrets.garbler[..blueprint.garbler_inputs()];
    let theirs = shared.encoding.sums(&secrets.evaluator);
    let inputs = party_io::labels_by_input(blueprint.program(), own, &theirs);
    let seeds = garble::Seeds::new(secrets.hash_seed, *secrets.secret);
    let (program, schedules, config) = (blueprint.program(), blueprint.schedules(), blueprint.garbling());
    garble::Garbler::new(program, schedules, config, &secrets.delta, seeds, 0, inputs)
        .in_workspace(shared.workspaces.take())
}

/// The hash seed, if there is one; for each wire the commitments to its labels; the digest of the labels of the hash, if it has any.
///
/// The garbler's labels are in the order of their select bits, the evaluator's in the order of their values, see [`Committed`](super::Committed).
fn head(blueprint: &Blueprint, shared: &Shared, circuit: usize, secrets: &Secrets) -> Vec<Block> {
    let mut blocks = vec![secrets.hash_seed; blueprint.hash_seed_blocks()];
    let committed = blueprint.committed();
    let garbler = secrets.garbler_pairs().filter(|_| committed.garbler).map(|[zero, one]| {
        let swap = Block::mask(zero.lsb()) & (zero ^ one);
        [zero ^ swap, one ^ swap]
    });
    let evaluator = secrets.evaluator_pairs().filter(|_| committed.evaluator);
    for (wire, labels) in garbler.chain(evaluator).enumerate() {
        blocks.extend(labels.map(|label| shared.commitment(circuit, wire, label)).as_flattened());
    }
    if blueprint.hash_rows() > 0 {
        blocks.extend(shared.hash_digest(circuit, &shared.hash.expected(&secrets.garbler, &secrets.delta)));
    }
    blocks
}

/// Packs bits into blocks, padding the last one with zeros.
pub(crate) fn pack(bits: &Bits) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; bits.len().div_ceil(128)];
    let bytes = bits.to_bytes();
    bytemuck::cast_slice_mut::<Block, u8>(&mut blocks)[..bytes.len()].copy_from_slice(&bytes);
    blocks
}

/// The first bits of blocks.
pub(crate) fn unpack(blocks: &[Block], count: usize) -> Bits {
    Bits::from_bytes(bytemuck::cast_slice(blocks)).slice(0, count)
}
