//! The wires of components, and the sums that join those of a bucket.

use std::ops::BitXor;

/// The three wires of a gate: left and right input, and output.
pub(crate) type GateWires<W> = [W; 3];

/// The keys of a gate for these inputs, which are opened if it is checked.
pub(crate) fn gate_keys<W>(delta: W, [left, right, output]: GateWires<W>, [a, b]: [bool; 2]) -> [W; 3]
where
    W: Copy + Default + BitXor<Output = W>,
{
    [key(delta, left, a), key(delta, right, b), key(delta, output, a && b)]
}

/// The key of a wire for a bit.
pub(crate) fn key<W: Copy + Default + BitXor<Output = W>>(delta: W, zero: W, bit: bool) -> W {
    zero ^ if bit { delta } else { W::default() }
}

/// The sums that are opened to join the components of a bucket: of every wire with that of the first gate, and of authenticators
/// with its output or, in a bucket without gates, with the first authenticator. For the constructor these are
/// commitments, for the evaluator its watched parts of them.
pub(crate) fn solderings<W: Copy + BitXor<Output = W>>(
    mut gates: impl Iterator<Item = GateWires<W>>,
    mut authenticators: impl Iterator<Item = W>,
    sums: &mut Vec<W>,
) {
    let first = match gates.next() {
        Some(head) => {
            gates.for_each(|gate| sums.extend([0, 1, 2].map(|wire| head[wire] ^ gate[wire])));
            Some(head[2])
        }
        None => authenticators.next(),
    };
    if let Some(first) = first {
        sums.extend(authenticators.map(|authenticator| first ^ authenticator));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_component_of_a_bucket_is_joined_to_the_first() {
        let mut sums = Vec::new();
        solderings([[1, 2, 4], [8, 16, 32]].into_iter(), [64, 128].into_iter(), &mut sums);
        assert_eq!(sums, [9, 18, 36, 68, 132]);
        sums.clear();
        solderings::<u32>(std::iter::empty(), [1, 2, 4].into_iter(), &mut sums);
        assert_eq!(sums, [3, 5]);
        assert_eq!(gate_keys(64, [1, 2, 4], [true, false]), [65, 2, 4]);
        assert_eq!(gate_keys(64, [1, 2, 4], [true, true]), [65, 66, 68]);
    }
}
