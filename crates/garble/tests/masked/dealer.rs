//! An ideal dealer of mask shares, and a run of each party with them.

use std::ops::Range;

use garblet_circuit::{Bits, Program};
use garblet_garble::{
    Schedules,
    masked::{CheckMut, GateMasks, MaskWalk, MaskedEvaluator, MaskedGarbler, TagsMut},
};
use garblet_primitives::{Backend, Block, Delta, Prg};
use rand_core::Rng;

/// Values of the wires of every program input or output.
pub(crate) type Wires = Vec<Box<[Block]>>;

/// Values of every AND gate.
pub(crate) type PerGate = Vec<Block>;

/// Two shares of the same masks: together they are `mask * delta`.
pub(crate) struct Shares<T>(pub(crate) [T; 2]);

/// The values of left operand, right operand and result.
pub(crate) struct Gates(pub(crate) [PerGate; 3]);

impl Gates {
    fn masks(&self, gates: Range<usize>) -> GateMasks<'_> {
        let [left, right, result] = self.0.each_ref().map(|of| &of[gates.clone()]);
        GateMasks { left, right, result }
    }
}

/// The shares and labels that an ideal dealer gives to both parties.
pub(crate) struct Dealt {
    pub(crate) delta: Delta,
    pub(crate) check_delta: Block,
    pub(crate) hash_seed: Block,
    pub(crate) zero_labels: Wires,
    pub(crate) active_labels: Wires,
    /// The masks of the outputs.
    pub(crate) output_masks: Wires,
    /// For garbling: the garbler's and the evaluator's shares.
    pub(crate) shares: Shares<Gates>,
    /// For the checks, under the other delta.
    pub(crate) checks: Shares<Gates>,
}

/// Cuts into pieces of these sizes, repeating them.
pub(crate) struct Pieces<'a> {
    sizes: &'a [usize],
    left: usize,
    done: usize,
    next: usize,
}

impl<'a> Pieces<'a> {
    pub(crate) fn new(total: u64, sizes: &'a [usize]) -> Self {
        Pieces { sizes, left: total as usize, done: 0, next: 0 }
    }
}

impl Iterator for Pieces<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        let size = self.sizes[self.next % self.sizes.len()].min(self.left);
        self.next += 1;
        self.left -= size;
        self.done += size;
        Some(self.done - size..self.done)
    }
}

/// Tells whether to request the labels of a piece: not for pieces of three gates, unless that is the whole.
pub(crate) fn asks_for_labels(piece: &Range<usize>, all: usize) -> bool {
    piece.len() != 3 || piece.len() == all
}

/// The whole in one piece.
pub(crate) const WHOLE: &[usize] = &[usize::MAX];

/// Walks values through a program; returns those of operands and of outputs.
pub(crate) fn walk(
    program: &Program,
    inputs: &Wires,
    results: &[Block],
    negation: Block,
    backend: Backend,
    sizes: &[usize],
) -> ([PerGate; 2], Wires) {
    let schedules = Schedules::new(program);
    let mut walk = MaskWalk::new(program, &schedules, inputs.clone(), negation).with_backend(backend);
    assert_eq!(walk.remaining(), results.len() as u64);
    let [mut left, mut right] = [(); 2].map(|()| vec![Block::ONES; results.len()]);
    for gates in Pieces::new(results.len() as u64, sizes) {
        walk.advance(&results[gates.clone()], [&mut left[gates.clone()], &mut right[gates]]);
    }
    assert_eq!(walk.remaining(), 0);
    ([left, right], walk.into_outputs())
}

fn walk_masks(program: &Program, inputs: &Wires, results: &[Block]) -> ([PerGate; 2], Wires) {
    walk(program, inputs, results, Block::ZERO, Backend::detect(), WHOLE)
}

fn bit(rng: &mut Prg) -> Block {
    Block::from_u128(u128::from(rng.next_u32() & 1))
}

/// Shares of a bit under a delta.
fn share(rng: &mut Prg, delta: Block, bit: Block) -> Shares<Block> {
    let first = rng.next_block();
    Shares([first, first ^ Block::mask(bit.lsb()) & delta])
}

fn share_all<'a>(rng: &mut Prg, delta: Block, bits: impl IntoIterator<Item = &'a Block>) -> [PerGate; 2] {
    let shares = bits.into_iter().map(|&bit| share(rng, delta, bit).0);
    shares.map(|[first, second]| (first, second)).unzip::<_, _, PerGate, PerGate>().into()
}

fn sum(a: &[Block], b: &[Block]) -> PerGate {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(&a, &b)| a ^ b).collect()
}

/// Deals shares under a delta of the masks of all gates.
fn deal_shares(
    program: &Program,
    rng: &mut Prg,
    delta: Block,
    inputs: &Wires,
    results: &[Block],
    products: &[Block],
) -> Shares<Gates> {
    let (mut first_inputs, mut second_inputs) = (Vec::new(), Vec::new());
    for input in inputs {
        let [first, second] = share_all(rng, delta, input.iter());
        first_inputs.push(first.into_boxed_slice());
        second_inputs.push(second.into_boxed_slice());
    }
    let [first_results, second_results] = share_all(rng, delta, results);
    let [first_products, second_products] = share_all(rng, delta, products);
    let of_party = |inputs: Wires, results: PerGate, products: PerGate| {
        let ([left, right], _) = walk_masks(program, &inputs, &results);
        Gates([left, right, sum(&results, &products)])
    };
    Shares([
        of_party(first_inputs, first_results, first_products),
        of_party(second_inputs, second_results, second_products),
    ])
}

pub(crate) fn deal(program: &Program, inputs: &[Bits], seed: u128) -> Dealt {
    let mut rng = Prg::new(Block::from_u128(seed));
    let [delta, check_delta] = [(); 2].map(|()| rng.next_block());
    let (delta, check_delta) = (Delta::new(delta), check_delta.with_lsb(false));
    let and_count = Schedules::new(program).and_count() as usize;
    let widths = program.inputs().iter().map(|input| input.port.width());
    let input_masks: Wires = widths.clone().map(|width| (0..width).map(|_| bit(&mut rng)).collect()).collect();
    let results: PerGate = (0..and_count).map(|_| bit(&mut rng)).collect();
    let ([left, right], output_masks) = walk_masks(program, &input_masks, &results);
    let products: PerGate = left.iter().zip(&right).map(|(&a, &b)| a & b).collect();
    let shares = deal_shares(program, &mut rng, delta.block(), &input_masks, &results, &products);
    let checks = deal_shares(program, &mut rng, check_delta, &input_masks, &results, &products);
    let zero_labels: Wires =
        widths.map(|width| (0..width).map(|_| rng.next_block().with_lsb(false)).collect()).collect();
    let active = |input: usize| {
        let masked = inputs[input].iter().zip(&input_masks[input]).map(|(bit, mask)| bit ^ mask.lsb());
        let labels = zero_labels[input].iter().zip(masked);
        labels.map(|(&zero, masked)| zero ^ Block::mask(masked) & delta.block()).collect()
    };
    let active_labels = (0..inputs.len()).map(active).collect();
    let hash_seed = rng.next_block();
    Dealt { delta, check_delta, hash_seed, zero_labels, active_labels, output_masks, shares, checks }
}

/// The results of a garbler.
#[derive(Clone, PartialEq)]
pub(crate) struct Garbled {
    pub(crate) tables: Vec<u8>,
    pub(crate) selects: Vec<u8>,
    pub(crate) labels: PerGate,
    /// The tags of the left operand, the right operand and the sum; without tags, the garbler's shares for the checks.
    pub(crate) tags: [PerGate; 3],
    pub(crate) outputs: Wires,
}

pub(crate) fn garble(program: &Program, dealt: &Dealt, with_tags: bool, backend: Backend, sizes: &[usize]) -> Garbled {
    let schedules = Schedules::new(program);
    let ands = schedules.and_count() as usize;
    let zero_labels = dealt.zero_labels.clone();
    let mut garbler = MaskedGarbler::new(program, &schedules, &dealt.delta, dealt.hash_seed, with_tags, zero_labels)
        .with_backend(backend);
    assert_eq!(garbler.remaining(), ands as u64);
    let Shares([masks, _]) = &dealt.shares;
    let Shares([Gates([of_left, of_right, of_result]), _]) = &dealt.checks;
    // The tag of an operand includes the other operand's mask.
    let mut tags = [of_right.clone(), of_left.clone(), of_result.clone()];
    let (mut tables, mut selects, mut labels) = (vec![0xff; 32 * ands], vec![0xff; ands], vec![Block::ONES; ands]);
    for gates in Pieces::new(ands as u64, sizes) {
        let [left, right, sum] = tags.each_mut().map(|tags| &mut tags[gates.clone()]);
        garbler.garble(
            masks.masks(gates.clone()),
            &mut tables[32 * gates.start..32 * gates.end],
            &mut selects[gates.clone()],
            // Labels are not always requested.
            asks_for_labels(&gates, ands).then_some(&mut labels[gates.clone()]),
            with_tags.then_some(TagsMut { left, right, sum }),
        );
    }
    assert_eq!(garbler.remaining(), 0);
    Garbled { tables, selects, labels, tags, outputs: garbler.into_outputs() }
}

/// The results of an evaluator.
#[derive(Clone, PartialEq)]
pub(crate) struct Evaluated {
    pub(crate) labels: PerGate,
    /// The checks, with the garbler's part added: zero if right.
    pub(crate) checks: PerGate,
    pub(crate) outputs: Wires,
}

pub(crate) fn evaluate(
    program: &Program,
    dealt: &Dealt,
    garbled: &Garbled,
    with_tags: bool,
    backend: Backend,
    sizes: &[usize],
) -> Evaluated {
    let schedules = Schedules::new(program);
    let ands = schedules.and_count() as usize;
    let (active_labels, check_delta) = (dealt.active_labels.clone(), dealt.check_delta);
    let mut evaluator =
        MaskedEvaluator::new(program, &schedules, dealt.hash_seed, check_delta, with_tags, active_labels)
            .with_backend(backend);
    assert_eq!(evaluator.remaining(), ands as u64);
    let Shares([_, masks]) = &dealt.shares;
    let Shares([_, Gates([of_left, of_right, of_result])]) = &dealt.checks;
    let [left_tags, right_tags, _] = &garbled.tags;
    let [left, right] = match with_tags {
        // The tags include the garbler's shares.
        true => [sum(of_right, left_tags), sum(of_left, right_tags)],
        false => [of_right.clone(), of_left.clone()],
    };
    let mut checks = of_result.clone();
    let mut labels = vec![Block::ONES; ands];
    for gates in Pieces::new(ands as u64, sizes) {
        evaluator.evaluate(
            masks.masks(gates.clone()),
            &garbled.tables[32 * gates.start..32 * gates.end],
            &garbled.selects[gates.clone()],
            asks_for_labels(&gates, ands).then_some(&mut labels[gates.clone()]),
            CheckMut { left: &left[gates.clone()], right: &right[gates.clone()], values: &mut checks[gates.clone()] },
        );
    }
    assert_eq!(evaluator.remaining(), 0);
    let outputs = evaluator.into_outputs();
    let checks = sum(&checks, &garblers_part(program, dealt, garbled, &labels, with_tags));
    Evaluated { labels, checks, outputs }
}

/// The garbler's part of the checks: with tags, known in advance; otherwise computed from the masked values that it
/// receives.
fn garblers_part(
    program: &Program,
    dealt: &Dealt,
    garbled: &Garbled,
    active_labels: &[Block],
    with_tags: bool,
) -> PerGate {
    let [_, _, of_sum] = &garbled.tags;
    if with_tags {
        return of_sum.clone();
    }
    let Shares([Gates([of_left, of_right, of_result]), _]) = &dealt.checks;
    let select = |label: &Block| Block::from_u128(u128::from(label.lsb()));
    let inputs = dealt.active_labels.iter().map(|labels| labels.iter().map(select).collect()).collect();
    let results: PerGate = active_labels.iter().map(select).collect();
    let one = Block::from_u128(1);
    let ([left, right], _) = walk(program, &inputs, &results, one, Backend::detect(), WHOLE);
    let part = |gate: usize| {
        let [of_left, of_right, of_result] = [of_left, of_right, of_result].map(|of| of[gate]);
        Block::mask(left[gate].lsb()) & of_right ^ Block::mask(right[gate].lsb()) & of_left ^ of_result
    };
    (0..results.len()).map(part).collect()
}
