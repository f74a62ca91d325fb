//! The evaluator's use of a difference that the constructor has revealed: it finds the constructor's input, computes in
//! the clear, and sends the same messages as in any other run.
//!
//! *Source*: Frederiksen et al. 2015, section 5: with both keys of a wire an AND gate is evaluated for all four inputs, of which
//! the one that differs is that of two ones.
//!
//! Whether gates reveal the difference depends on the input, so neither messages nor time may show it. So all of this is done in every run, with a
//! dummy difference if there is none. That is affordable because no gate of the function is evaluated again. If both keys of a wire are accepted, the
//! evaluation continues with either, and gives one of the two keys of every output. The evaluator has the select bits of the outputs that it learns. The
//! others are joined to input buckets like the constructor's inputs. So it knows the bit of every key that it has, and adds the difference if that is not
//! the right bit.
//!
//! *Deviation*: the source evaluates every gate of the function for all four inputs, to know which of its keys is which. Half of a
//! bucket's gates may then make the wrong one likelier, which an output's bucket of gates alone, most of which are good, cannot.

use garblet_circuit::{Bits, evaluate};
use garblet_primitives::Block;
use zeroize::Zeroizing;

use super::bucket::Material;
use crate::{
    EVALUATOR,
    build::wiring::sought,
    plan::{Owner, Plan},
};
use garblet_protocol::error::ProtocolError;

/// Bits of all outputs.
pub(crate) struct Extracted {
    /// The function's.
    pub(crate) outputs: Zeroizing<Vec<bool>>,
    /// The bits that the evaluator's keys stand for.
    pub(crate) held: Zeroizing<Vec<bool>>,
}

/// Finds the bits that the evaluator does not know, and computes.
///
/// *Shape*: `keys` are those of all inputs, and of all outputs; `own` the evaluator's input, `decoded` the bits of the outputs that it learns.
///
/// *Cost*: the same for all values.
///
/// *Errors*: the disk's.
pub(crate) fn extract(
    plan: &Plan,
    material: &mut Material,
    delta: Block,
    (keys, of_outputs): (&[Block], &[Block]),
    own: &Bits,
    decoded: &[bool],
) -> Result<Extracted, ProtocolError> {
    let found = find(material, delta, &sought(plan, keys, of_outputs))?;
    let mut found = found.iter().copied();
    let mut ours = own.iter();
    let bit = |owner| if owner == Owner::Evaluator { ours.next() } else { found.next() };
    let mut bits = Zeroizing::new(Vec::with_capacity(keys.len()));
    bits.extend(plan.owners().into_iter().map(bit).map(Option::unwrap_or_default));
    let values: Vec<Bits> = plan.by_port(&bits).iter().map(|port| port.iter().copied().collect()).collect();
    let [mut outputs, mut held] = [(); 2].map(|()| Zeroizing::new(Vec::with_capacity(decoded.len())));
    outputs.extend(evaluate(plan.program(), &values).iter().flat_map(Bits::iter));
    let known = decoded.iter().zip(plan.learned(EVALUATOR));
    let known = known.map(|(&decoded, learned)| if learned { Some(decoded) } else { found.next() });
    held.extend(known.map(Option::unwrap_or_default));
    Ok(Extracted { outputs, held })
}

/// The bits that keys stand for, from the one of four inputs of their input buckets that is two ones.
fn find(material: &mut Material, delta: Block, keys: &[Block]) -> Result<Zeroizing<Vec<bool>>, ProtocolError> {
    let Material { components, input_gates, joins, .. } = material;
    let buckets = input_gates.get()?;
    let mut bits = Zeroizing::new(Vec::with_capacity(keys.len()));
    for (bucket, (keys, joins)) in keys.chunks(2).zip(joins.chunks(2)).enumerate() {
        // A last one without a partner is joined to both ends.
        let end = |i: usize| keys[i % keys.len()] ^ joins[i];
        let given = COMBINATIONS.map(|flips| {
            let [a, b] = flips.map(|flip| Block::mask(flip) & delta);
            Zeroizing::new(components.each(buckets.gates(bucket), [end(0) ^ a, end(1) ^ b]))
        });
        let [left, right] = both_ones(given.each_ref().map(|given| given.as_slice()));
        bits.extend([!left, !right].into_iter().take(keys.len()));
    }
    Ok(bits)
}

/// The combinations of a pair of keys: true where a key is replaced by the other one of its wire.
const COMBINATIONS: [[bool; 2]; 4] = [[false, false], [false, true], [true, false], [true, true]];

/// The combination for which most gates give a different key than for the three others.
fn both_ones(given: [&[Block]; 4]) -> [bool; 2] {
    let mut votes = [0; 4];
    for gate in 0..given[0].len() {
        let keys = given.map(|keys| keys[gate]);
        for (odd, votes) in votes.iter_mut().enumerate() {
            let others: [Block; 3] = std::array::from_fn(|other| keys[(odd + 1 + other) % 4]);
            let same = (others[0] == others[1]) & (others[1] == others[2]);
            *votes += usize::from(same & (others[0] != keys[odd]));
        }
    }
    let most = (0..4).max_by_key(|&combination| votes[combination]);
    COMBINATIONS[most.unwrap_or_default()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Buckets of the sizes in use have up to five gates. The bad ones give anything for the four inputs.
    #[test]
    fn most_gates_of_an_input_bucket_reveal_the_keys_for_one() {
        let delta = Block::from_u128(0x5555);
        let zero = Block::from_u128(0x100);
        let keys = [zero, zero ^ delta, Block::from_u128(7), Block::from_u128(8)];
        let table = |number: usize| [0, 2, 4, 6].map(|shift| keys[number >> shift & 3]);
        for (right, combination) in COMBINATIONS.into_iter().enumerate() {
            let good = std::array::from_fn(|input| if input == right { zero ^ delta } else { zero });
            let expect = |tables: &[[Block; 4]]| {
                let given: [Vec<Block>; 4] = std::array::from_fn(|input| tables.iter().map(|of| of[input]).collect());
                assert_eq!(both_ones(given.each_ref().map(Vec::as_slice)), combination);
            };
            for first in 0..256 {
                expect(&[table(first), good, good]);
                for second in 0..256 {
                    expect(&[table(first), good, good, table(second), good]);
                }
            }
        }
    }
}
