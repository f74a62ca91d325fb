//! A party's secrets: its part of the labels and permutation bits.

use garblet_circuit::Party;
use garblet_garble::joint::{AndGates, Gate, Quad, walk};
use garblet_ot::BitVec;
use garblet_primitives::{Backend, Bit, Block, Delta, Engine, Prg, QUAD_LANES};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::plan::Plan;

/// One party's inputs to the garbling of one circuit.
///
/// *Source*: Figure 2, steps 1 and 2. *Secret*: all of it; wiped on drop.
/// *Unique*: labels and bits serve one evaluation; the delta is the session's, and no gate number is used twice under it.
#[derive(Clone, ZeroizeOnDrop)]
pub struct Secrets {
    #[zeroize(skip)]
    pub(super) party: Party,
    /// The difference between this party's two labels of a wire.
    pub(super) delta: Delta,
    /// `lambda^i_w` of every base wire.
    pub(super) permutation: BitVec,
    /// `k^i_{w,0}` of every base wire, bit 0 clear, so that bit 0 of an active label is the wire's public value; none of a party that garbles nothing.
    pub(super) labels: Labels,
    /// The seed of all but the delta, if they follow from one.
    pub(super) seed: Option<Block>,
}

/// Blocks that are wiped on drop.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub(super) struct Labels(pub(super) Vec<Block>);

impl Secrets {
    /// Chooses everything. Only the owner chooses the permutation bits of its inputs (Figure 2, step 6, second form).
    pub fn random(plan: &Plan, party: Party, delta: &Delta, rng: &mut Prg) -> Self {
        let mut labels = vec![Block::ZERO; if plan.slot(party).is_some() { plan.base_count() } else { 0 }];
        rng.fill_blocks(&mut labels);
        labels.iter_mut().for_each(|label| *label = label.with_lsb(false));
        let mut bits = Zeroizing::new(vec![Bit::ZERO; plan.input_count()]);
        let own = BitVec::random(plan.input_bits(party), rng);
        plan.inputs_of(party).zip(own.iter()).for_each(|(at, bit)| bits[at] = bit);
        let gates = BitVec::random(plan.and_count(), rng);
        let permutation = bits.iter().copied().chain(gates.iter()).collect();
        Secrets { party, delta: delta.clone(), permutation, labels: Labels(labels), seed: None }
    }

    /// The same from a seed. *Unique*: the seed serves one circuit.
    pub(super) fn of_seed(plan: &Plan, party: Party, delta: &Delta, seed: Block) -> Self {
        let mut secrets = Secrets::random(plan, party, delta, &mut Prg::new(seed));
        secrets.seed = Some(seed);
        secrets
    }

    /// The bits of this party's inputs and of all gates, which it shares with others.
    pub(super) fn shared_bits(&self, plan: &Plan) -> BitVec {
        let own = plan.inputs_of(self.party);
        own.chain(plan.input_count()..plan.base_count()).map(|at| self.permutation.get(at)).collect()
    }

    /// This party's part of the label of base wire `at` for the public value `value`.
    pub(super) fn label(&self, at: usize, value: bool) -> Block {
        self.labels.0[at] ^ self.delta.block() & Block::mask(value)
    }

    /// This party's permutation bits of every slot at the end. `and` gets, gate by gate, the bits of the operands and
    /// whether they are inverted.
    pub(super) fn carried_bits(&self, plan: &Plan, and: impl FnMut([bool; 2], [bool; 2])) -> Zeroizing<Vec<bool>> {
        let inputs = (0..plan.input_count()).map(|at| [Block::mask(self.permutation.get(at)); QUAD_LANES]).collect();
        let mut carried = CarriedBits { bits: &self.permutation, inputs: plan.input_count(), and };
        let slots = walk(Backend::detect(), plan.schedule(), 1, inputs, &mut carried);
        Zeroizing::new(slots.iter().map(|slot| slot[0].lsb()).collect())
    }
}

/// Wires that carry one party's permutation bit.
struct CarriedBits<'a, F> {
    bits: &'a BitVec,
    inputs: usize,
    and: F,
}

impl<F: FnMut([bool; 2], [bool; 2])> AndGates for CarriedBits<'_, F> {
    type State<E: Engine> = ();

    fn begin<E: Engine>(&self, _e: E) {}

    #[inline(always)]
    fn and<E: Engine>(&mut self, _e: E, _state: &mut (), gate: Gate<'_>, out: &mut [Quad]) {
        (self.and)([gate.a[0][0].lsb(), gate.b[0][0].lsb()], gate.inverted);
        out[0] = [Block::mask(self.bits.get(self.inputs + gate.index)); QUAD_LANES];
    }
}
