//! Synthetic circuits of a given size and depth, to measure protocols whose rounds follow the depth.

use garblet_circuit::{CircuitError, Component, Party, Type};

use super::member::{Build, Member, Parameter};
use crate::builder::{Bit, BitString, CircuitBuilder};

/// Bits of each input, and of the output.
const INPUT_BITS: u32 = 128;

/// - `layered(depth, ands)`: `ands` AND gates in `depth` layers of equal size; each gate reads the layer before it.
///   The default size matches the circuits of depth 10 to 4,000 in Ben-Efraim, Lindell, Omri (CCS 2016), section 5, whose size
///   is that paper's SHA-256 circuit.
pub(super) const MEMBERS: &[Member] = &[Member {
    name: "layered",
    summary: "`ands` AND gates in `depth` layers, each of which reads the one before, to measure the cost of depth",
    parameters: &[Parameter::new("depth", 100, 1, 1 << 20), Parameter::new("ands", 90_825, 1, 1 << 24)],
    ands: "ands, at least depth",
    and_count: |p| p[1].max(p[0]),
    build: Build::Component { owners: &[Party(0), Party(1)], build: |c, p| layered(c, p[0], p[1]) },
}];

fn layered(mut c: CircuitBuilder, depth: u32, ands: u32) -> Result<Component, CircuitError> {
    let a: BitString = c.input("a", Type::Bits(INPUT_BITS));
    let b: BitString = c.input("b", Type::Bits(INPUT_BITS));
    let inputs: Vec<Bit> = a.0.iter().chain(&b.0).copied().collect();
    let mut outputs = a.0;
    let mut layer = inputs.clone();
    let (depth, ands) = (depth as usize, ands.max(depth) as usize);
    for level in 0..depth {
        let size = ands / depth + usize::from(level < ands % depth);
        layer = (0..size).map(|gate| next(&mut c, &layer, &inputs, level, gate)).collect();
        // Every gate reaches an output, so no gate can be removed.
        for (gate, &bit) in layer.iter().enumerate() {
            let output = &mut outputs[gate % INPUT_BITS as usize];
            *output = c.xor(*output, bit);
        }
    }
    c.output("out", &BitString(outputs));
    c.finish()
}

/// One gate of a layer: reads one wire of the layer before, and the sum of another and an input; the choice differs between gates.
fn next(c: &mut CircuitBuilder, before: &[Bit], inputs: &[Bit], level: usize, gate: usize) -> Bit {
    let turn = gate / before.len();
    let left = before[gate % before.len()];
    let right = before[(gate + 1 + turn) % before.len()];
    let right = c.xor(right, inputs[(gate + 7 * level + 3 * turn) % inputs.len()]);
    c.and(left, right)
}

#[cfg(test)]
mod tests {
    use crate::library::find;

    #[test]
    fn the_depth_is_what_was_asked_for_and_no_gate_is_lost() {
        for (depth, ands) in [(1, 1), (1, 300), (10, 90_825), (100, 90_825), (1000, 90_825), (4000, 90_825), (50, 7)] {
            let stats = find(&format!("layered({depth}, {ands})")).expect("built").stats();
            assert_eq!((stats.and_depth, stats.and), (depth, ands.max(depth)));
        }
    }
}
