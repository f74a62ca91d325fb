//! Moves marked rows to the front, in order, without comparisons.
//!
//! Each row moves by the number of unmarked rows before it, in powers of two from the least up, so no two rows collide.
//! Unmarked rows must be zero, so a place that a row leaves becomes zero unless another row arrives.
//!
//! *Source*: Goodrich 2011, for compaction by a butterfly network.

use garblet_circuit::{CircuitError, Component, Type};

use super::lists::count_bits;
use crate::builder::{Bit, BitString, Integer, ProgramBuilder, Unsigned, Wires};

/// The marked rows, compacted.
pub(super) struct Compact {
    /// The first rows; zero beyond the last marked one.
    pub(super) rows: Vec<Wires>,
    /// The number of unmarked rows.
    pub(super) gaps: Wires,
}

/// The AND gates of [`compact`] for this many rows of this many bits, keeping at most `most` rows: per row, two for each bit of a
/// distance; and per step and row, the row and the rest of its distance.
pub(super) fn compact_ands(rows: u64, most: u64, width: u64) -> u64 {
    let steps = count_bits(rows - 1);
    let counting = rows * (count_bits(rows) - 1 + steps);
    let moving = plan(rows as usize, most as usize).map(|step| {
        let moving = step.arriving_from - (1usize << step.number).min(step.arriving_from);
        moving as u64 * (steps - step.number as u64 - 1 + width)
    });
    counting + moving.sum::<u64>()
}

/// A step: the distance that rows move, the number of places to examine, and the number to keep.
struct Step {
    number: usize,
    arriving_from: usize,
    kept: usize,
}

fn plan(rows: usize, most: usize) -> impl Iterator<Item = Step> {
    let steps = count_bits(rows as u64 - 1) as usize;
    let mut left = rows;
    (0..steps).map(move |number| {
        // No later step brings rows beyond this to a place below `most`.
        let kept = left.min(most + (1 << steps) - (2 << number));
        let arriving_from = left.min(kept + (1 << number));
        left = kept;
        Step { number, arriving_from, kept }
    })
}

/// Moves marked rows to the front, in order, and keeps `most`. All rows have one type; unmarked rows are
/// zero. *Cost*: [`compact_ands`].
pub(super) fn compact(p: &mut ProgramBuilder, rows: Vec<(Wires, Wires)>, most: u32) -> Result<Compact, CircuitError> {
    let count = rows.len();
    let width = rows[0].1.ty().width() as u32;
    let distance = count_bits(count as u64 - 1) as u32;
    let (mut items, gaps) = with_distances(p, rows, distance)?;
    for step in plan(count, most as usize) {
        let by = 1 << step.number;
        let rest = distance - step.number as u32 - 1;
        let [moves, stays] = [p.component(moves(p, rest + width)?), p.component(stays(p, rest + width)?)];
        let none = Wires::constant(Type::Bits(rest + width), |_| false);
        // A row that arrives at a place was at one further back.
        let mut coming: Vec<Wires> = vec![none; step.arriving_from];
        for place in (0..step.arriving_from).rev() {
            if place >= by {
                let moved = p.instance(moves, &[&items[place], &coming[place]])?;
                let [stayed, moved]: [Wires; 2] = moved.try_into().expect("what stays and what moves");
                (items[place], coming[place - by]) = (stayed, moved);
            } else {
                items[place] = p.instance(stays, &[&items[place], &coming[place]])?.remove(0);
            }
        }
        items.truncate(step.kept);
    }
    items.truncate(most as usize);
    Ok(Compact { rows: items, gaps })
}

/// Prefixes each row with the distance that it moves, and counts the unmarked rows.
fn with_distances(
    p: &mut ProgramBuilder,
    rows: Vec<(Wires, Wires)>,
    distance: u32,
) -> Result<(Vec<Wires>, Wires), CircuitError> {
    let bits = count_bits(rows.len() as u64) as u32;
    let next = p.component(next_distance(p, bits, distance)?);
    let mut gaps = Wires::constant(Type::Unsigned(bits), |_| false);
    let mut items = Vec::with_capacity(rows.len());
    for (marked, row) in rows {
        let outputs = p.instance(next, &[&gaps, &marked])?;
        let ty = Type::Bits(distance + row.ty().width() as u32);
        items.push(Wires::concat(ty, [&outputs[1], &row]));
        gaps = outputs.into_iter().next().expect("the number of gaps");
    }
    Ok((items, gaps))
}

/// Counts one more gap if the row is unmarked, and gives the row's distance if it is marked.
fn next_distance(p: &ProgramBuilder, bits: u32, distance: u32) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("distance({bits})"));
    let gaps: Unsigned = c.input("gaps", Type::Unsigned(bits));
    let marked: Bit = c.input("marked", Type::Bool);
    let next = c.add(&gaps, &Unsigned::new(vec![!marked]));
    let moves = c.mask(marked, &gaps.resize(distance as usize));
    c.output("gaps", &next);
    c.output("distance", &moves);
    c.finish()
}

/// A place whose row leaves if the lowest bit of its distance is set, and at which another may arrive.
fn moves(p: &ProgramBuilder, width: u32) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("move({width})"));
    let own: BitString = c.input("own", Type::Bits(width + 1));
    let coming: BitString = c.input("coming", Type::Bits(width));
    let row = BitString(own.0[1..].to_vec());
    let moved = c.mask(own.0[0], &row);
    let stayed = c.xor_words(&row, &moved);
    let stayed = c.xor_words(&stayed, &coming);
    c.output("stayed", &stayed);
    c.output("moved", &moved);
    c.finish()
}

/// A place that no row leaves, because it is too close to the front.
fn stays(p: &ProgramBuilder, width: u32) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("stay({width})"));
    let own: BitString = c.input("own", Type::Bits(width + 1));
    let coming: BitString = c.input("coming", Type::Bits(width));
    let stayed = c.xor_words(&BitString(own.0[1..].to_vec()), &coming);
    c.output("stayed", &stayed);
    c.finish()
}

#[cfg(test)]
mod tests {
    use garblet_circuit::{Party, Recipients};
    use proptest::prelude::*;

    use super::*;
    use crate::builder::simulate;

    /// Compacts rows of 8 bits by dropping the zero ones.
    fn run(rows: &[u8], most: u32) -> (u64, Vec<u8>, u128) {
        let mut p = ProgramBuilder::new("compact");
        let n = rows.len();
        let input = p.input("rows", Type::Bytes(n as u32), Party(0)).unwrap();
        let marks = p.input("marks", Type::Bits(n as u32), Party(0)).unwrap();
        let pairs = (0..n as u64).map(|k| (marks.slice(k, Type::Bool), input.slice(8 * k, Type::Bits(8))));
        let kept = compact(&mut p, pairs.collect(), most).unwrap();
        let ty = Type::Bytes(kept.rows.len() as u32);
        p.output("rows", &Wires::concat(ty, &kept.rows), Recipients::All).unwrap();
        p.output("gaps", &kept.gaps, Recipients::All).unwrap();
        let program = p.finish();
        let marks = rows.iter().map(|&row| row != 0).collect();
        let out = simulate::program(&program, &[simulate::bytes_to_bits(rows), marks]);
        (program.stats().and, simulate::bits_to_bytes(&out[0]), simulate::from_bits(&out[1]))
    }

    proptest! {
        #[test]
        fn what_counts_is_in_front(rows in proptest::collection::vec(prop_oneof![Just(0u8), any::<u8>()], 1..40), most in 1u32..40) {
            let most = most.min(rows.len() as u32);
            let (ands, kept, gaps) = run(&rows, most);
            let mut expected: Vec<u8> = rows.iter().copied().filter(|&row| row != 0).collect();
            prop_assert_eq!(gaps, (rows.len() - expected.len()) as u128);
            expected.resize(most as usize, 0);
            prop_assert_eq!(kept, expected);
            prop_assert_eq!(ands, compact_ands(rows.len() as u64, most.into(), 8));
        }
    }
}
