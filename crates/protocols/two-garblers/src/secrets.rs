//! The garblers' common secrets of a run: delta, seeds and labels, which both derive from one seed.

use garblet_circuit::{Bits, Party};
use garblet_garble as garble;
use garblet_primitives::{Block, Delta, Prg};
use zeroize::Zeroizing;

use super::plan::{Plan, garbling};

/// Delta, the seeds of the garbling, and the zero labels of the wires that garblers hold.
///
/// *Secret*: from the evaluator, which gets one label of each wire and the hash seed. *Unique*: a seed serves one run.
pub(super) struct Secrets {
    delta: Delta,
    /// The seed of hash keys, which the evaluator gets.
    pub(super) hash_seed: Block,
    scheme_seed: Zeroizing<Block>,
    /// The zero labels, garbler by garbler.
    pub(super) held: [Zeroizing<Vec<Block>>; 2],
    /// The keys of the decoding bits' mask, of which each garbler opens its own.
    pub(super) keys: [Zeroizing<Block>; 2],
}

impl Secrets {
    /// Step 2: derives everything from the seed of the run.
    pub(super) fn derive(plan: &Plan, seed: Block) -> Self {
        let mut prg = Prg::new(seed);
        let delta = Delta::random(&mut prg);
        let (hash_seed, scheme_seed) = (prg.next_block(), Zeroizing::new(prg.next_block()));
        let keys = [(); 2].map(|()| Zeroizing::new(prg.next_block()));
        let held = [0, 1].map(|seat| {
            let mut labels = Zeroizing::new(vec![Block::ZERO; plan.held_bits(seat)]);
            prg.fill_blocks(&mut labels);
            labels
        });
        Secrets { delta, hash_seed, scheme_seed, held, keys }
    }

    /// The labels of a wire for the public values 0 and 1, from its zero label.
    pub(super) fn by_public_value(&self, zero: Block) -> [Block; 2] {
        let of_zero = zero ^ (self.delta.block() & Block::mask(zero.lsb()));
        [of_zero, of_zero ^ self.delta.block()]
    }

    /// The labels of wires that carry these bits, from their zero labels.
    pub(super) fn active<'a>(
        &'a self,
        zeros: impl Iterator<Item = Block> + 'a,
        bits: &'a Bits,
    ) -> impl Iterator<Item = Block> + 'a {
        zeros.zip(bits.iter()).map(|(zero, bit)| zero ^ (self.delta.block() & Block::mask(bit)))
    }

    /// The select bits of the zero labels of a garbler's share.
    pub(super) fn permutation(&self, plan: &Plan, seat: usize) -> impl Iterator<Item = bool> {
        self.held[seat][plan.own_bits(seat)..].iter().map(|zero| zero.lsb())
    }

    /// Begins to garble the program. All runs number their gates from 0, since each has its own delta.
    pub(super) fn garbler<'p>(&self, plan: &'p Plan) -> garble::Garbler<'p> {
        let seeds = garble::Seeds::new(self.hash_seed, *self.scheme_seed);
        let inputs = plan.labels_by_input([&self.held[0], &self.held[1]]);
        garble::Garbler::new(plan.program(), plan.schedules(), garbling(), &self.delta, seeds, 0, inputs)
    }
}

/// The zero labels of all outputs, at garblers, or the active labels, at the evaluator.
pub(super) struct OutputLabels(pub(super) Zeroizing<Vec<Box<[Block]>>>);

impl OutputLabels {
    /// The select bits of the labels that a party learns.
    pub(super) fn select_bits(&self, plan: &Plan, party: Party) -> Bits {
        plan.select_bits(party, &self.0)
    }

    /// The labels that a party learns.
    pub(super) fn of<'a>(&'a self, plan: &'a Plan, party: Party) -> impl Iterator<Item = Block> + 'a {
        plan.learned(party, &self.0)
    }
}
