//! What the evaluator does with a difference that the constructor has given away: it finds the constructor's input, computes in
//! the clear, and does on the wire what it would have done.
//!
//! *Source*: Frederiksen et al. 2015, section 5: with both keys of a wire an AND gate is evaluated for all four inputs, of which
//! the one that differs is that of two ones.

use garblet_circuit::{Bits, evaluate};
use garblet_primitives::Block;

use super::{
    EVALUATOR,
    bucket::{Material, accepting},
    plan::Plan,
    wiring::Wiring,
};
use crate::error::ProtocolError;

/// A wire whose keys are both known.
#[derive(Clone, Copy, Default, zeroize::Zeroize)]
struct Known {
    zero: Block,
}

impl std::ops::BitXor for Known {
    type Output = Known;

    fn bitxor(self, other: Known) -> Known {
        Known { zero: self.zero ^ other.zero }
    }
}

/// What the function gives, and the keys of all outputs.
pub(super) struct Extracted {
    pub(super) outputs: Vec<Bits>,
    pub(super) keys: Vec<Block>,
}

/// Computes with the difference.
///
/// *Shape*: `keys` are those of all input bits, `own` the evaluator's input, `joins` the solderings of the constructor's
/// inputs, and those that are read, to the input buckets.
///
/// *Errors*: the disk's.
pub(super) fn extract(
    plan: &Plan,
    material: &mut Material,
    delta: Block,
    keys: &[Block],
    own: &Bits,
    joins: &[Block],
) -> Result<Extracted, ProtocolError> {
    let owners = plan.owners();
    let of_constructor: Vec<Block> =
        keys.iter().zip(&owners).filter(|(_, owner)| **owner != EVALUATOR).map(|(&key, _)| key).collect();
    let mut theirs = constructor_input(material, delta, &of_constructor, joins)?.into_iter();
    let mut ours = own.iter();
    let bit = |owner| if owner == &EVALUATOR { ours.next() } else { theirs.next() };
    let bits: Vec<bool> = owners.iter().map(bit).map(Option::unwrap_or_default).collect();
    let values: Vec<Bits> = plan.by_port(&bits).iter().map(|port| port.iter().copied().collect()).collect();
    let zeros: Vec<Known> =
        keys.iter().zip(&bits).map(|(&key, &bit)| Known { zero: key ^ (Block::mask(bit) & delta) }).collect();
    let mut wiring = Wiring::new(plan, &zeros, Known { zero: delta });
    let (components, gates) = (&material.components, material.components.single_gates());
    material.ands.visit(plan, 1, |range, buckets| {
        let mut numbers = 0..range.len();
        wiring.run(range.len(), |left, right| {
            let (of_bucket, authenticators) = match numbers.next() {
                Some(number) => (buckets.gates(number), buckets.authenticators(number)),
                None => Default::default(),
            };
            let given = |a: Block, b: Block| gates.each(of_bucket, [left.zero ^ a, right.zero ^ b]);
            Known { zero: zero_key(delta, given, |key| accepting(components, authenticators, key)) }
        });
    })?;
    let outputs = evaluate(plan.program(), &values);
    let bits = outputs.iter().flat_map(Bits::iter);
    let keys =
        wiring.into_outputs().iter().zip(bits).map(|(known, bit)| known.zero ^ (Block::mask(bit) & delta)).collect();
    Ok(Extracted { outputs, keys })
}

/// The key that most gates of a bucket give for three of the four inputs, of those that as many components vouch for as when one input is
/// evaluated: gates alone may be bad in most.
///
/// In a bucket that is not bad, only both keys of the wire are vouched for. The wrong one is taken if as many gates give it as give the right
/// one; then fewer authenticators are bad than that, so that the bucket shows the difference for every input, and that it does tells nothing.
fn zero_key(delta: Block, given: impl Fn(Block, Block) -> Vec<Block>, accepting: impl Fn(Block) -> usize) -> Block {
    let zero = Block::ZERO;
    let [none, right, left, both] =
        [(zero, zero), (zero, delta), (delta, zero), (delta, delta)].map(|(a, b)| given(a, b));
    let sound = (0..none.len())
        .filter(|&gate| none[gate] == right[gate] && none[gate] == left[gate] && both[gate] == none[gate] ^ delta);
    let candidates: Vec<Block> = sound.map(|gate| none[gate]).collect();
    let votes = |key: Block| candidates.iter().filter(|&&other| other == key).count();
    let accepted = candidates.iter().copied().filter(|&key| votes(key) + accepting(key) >= none.len());
    accepted.max_by_key(|&key| votes(key)).unwrap_or(none[0])
}

/// The constructor's input: which of the four inputs of its input buckets stands for two ones.
fn constructor_input(
    material: &mut Material,
    delta: Block,
    keys: &[Block],
    joins: &[Block],
) -> Result<Vec<bool>, ProtocolError> {
    let (gates, buckets) = (material.components.single_gates(), material.input_gates.get()?);
    let mut bits = Vec::with_capacity(keys.len());
    for (bucket, (keys, joins)) in keys.chunks(2).zip(joins.chunks(2)).enumerate() {
        // A last input without a partner is joined to both ends.
        let end = |i: usize| keys[i % keys.len()] ^ joins[i];
        let combinations = [(false, false), (false, true), (true, false), (true, true)];
        let given = combinations.map(|(a, b)| {
            let flip = |bit| Block::mask(bit) & delta;
            gates.each(buckets.gates(bucket), [end(0) ^ flip(a), end(1) ^ flip(b)])
        });
        let mut votes = [0; 4];
        let of_gate = |gate: usize| given.each_ref().map(|keys| keys[gate]);
        for keys in (0..given[0].len()).map(of_gate) {
            let odd = (0..4).find(|&i| keys.iter().filter(|&&key| key == keys[i]).count() == 1);
            odd.into_iter().for_each(|odd| votes[odd] += 1);
        }
        let both_ones = (0..4).max_by_key(|&i| votes[i]).unwrap_or(0);
        let (left, right) = combinations[both_ones];
        bits.extend([!left, !right].into_iter().take(keys.len()));
    }
    Ok(bits)
}
