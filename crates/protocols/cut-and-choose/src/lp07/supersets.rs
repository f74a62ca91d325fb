//! Supersets of commitments to the garbler's labels.
//!
//! Superset `j` has for each wire `i` of the garbler two sets in a random order: one for each value `b`, with a commitment to the
//! indicator `b` and one to the label of `b` in each circuit. In a checked superset, the indicators and the labels of checked
//! circuits are opened, which shows that a set for `b` holds labels for `b`; in an unchecked one, the labels of evaluated circuits in the
//! set of the garbler's value are opened, which shows that they are for one value in all circuits. Opening a position in both ways would
//! reveal the value, and never happens.

use crate::checks;
use garblet_circuit::Bits;
use garblet_primitives::{Block, Prg};
use zeroize::Zeroizing;

use garblet_protocol::{checks::Cheating, domain::Domain};
use garblet_seeded::{Secrets, Split};

/// Bytes of a commitment.
const COMMITMENT_BYTES: usize = 32;
/// Bytes of an opened indicator: the value, and the randomness.
const INDICATOR_BYTES: usize = 1 + 32;
/// Bytes of an opened label: the label, and the randomness.
const LABEL_BYTES: usize = 16 + 32;

/// The sizes of all supersets, and where their commitments belong.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) domain: Domain,
    pub(super) wires: usize,
    pub(super) circuits: usize,
}

impl Shape {
    /// Bytes of a superset's commitments: wire by wire, set by set, the indicator and then circuit by circuit.
    pub(super) fn commitment_bytes(&self) -> usize {
        2 * self.wires * (1 + self.circuits) * COMMITMENT_BYTES
    }

    /// Bytes of the opening of a superset.
    pub(super) fn opening_bytes(&self, is_checked: bool, circuits: &Split) -> usize {
        let opened = if is_checked { circuits.checked().count() } else { circuits.evaluated().count() };
        match is_checked {
            true => self.wires * 2 * (INDICATOR_BYTES + opened * LABEL_BYTES),
            false => self.wires * (1 + opened * LABEL_BYTES),
        }
    }

    /// The commitment in set `set` of wire `wire` of superset `superset`, at position 0 for the indicator and `1 + r` for the label
    /// of circuit `r`.
    fn commitment(&self, at: At, message: &[u8], randomness: &[u8]) -> [u8; COMMITMENT_BYTES] {
        let mut bytes = [0; LABEL_BYTES];
        bytes[..message.len()].copy_from_slice(message);
        let end = message.len() + 32;
        bytes[message.len()..end].copy_from_slice(randomness);
        self.domain
            .at(((at.superset * self.row_count() + at.row()) * (1 + self.circuits) + at.position) as u64)
            .digest(&bytes[..end])
    }

    fn row_count(&self) -> usize {
        2 * self.wires
    }

    /// The position of a commitment in its superset.
    fn offset(&self, at: At) -> usize {
        (at.row() * (1 + self.circuits) + at.position) * COMMITMENT_BYTES
    }
}

/// The indices of a commitment.
#[derive(Clone, Copy)]
struct At {
    superset: usize,
    wire: usize,
    set: usize,
    position: usize,
}

impl At {
    fn row(&self) -> usize {
        2 * self.wire + self.set
    }
}

/// The garbler's generator of supersets. *Secret*.
pub(super) struct Maker {
    pub(super) shape: Shape,
    /// The secrets of all circuits.
    pub(super) secrets: Vec<Secrets>,
    /// The garbler's input, for each superset.
    pub(super) inputs: Vec<Bits>,
    /// The seed of each superset.
    pub(super) seeds: Zeroizing<Vec<Block>>,
    /// The sets of each superset, wire by wire.
    pub(super) sets: Vec<Zeroizing<Vec<Sets>>>,
}

/// The two sets of a wire: the value of each indicator, and the value whose labels each holds.
#[derive(Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable, zeroize::Zeroize)]
#[repr(C)]
pub(super) struct Sets {
    indicators: [u8; 2],
    labels: [u8; 2],
}

impl Sets {
    /// Sets in a random order, for each of `wires` wires.
    pub(super) fn random(wires: usize, rng: &mut Prg) -> Vec<Sets> {
        let mut bits = Zeroizing::new(vec![0; wires.div_ceil(8)]);
        rng.fill_bytes(&mut bits);
        let of = |first: u8| Sets { indicators: [first, 1 - first], labels: [first, 1 - first] };
        (0..wires).map(|wire| of(bits[wire / 8] >> (wire % 8) & 1)).collect()
    }

    /// The set for a value.
    fn of_value(&self, value: bool) -> usize {
        usize::from(self.indicators[0] != u8::from(value))
    }
}

impl Maker {
    /// All commitments of a superset.
    pub(super) fn commit(&self, superset: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.shape.commitment_bytes());
        for (wire, sets) in self.sets[superset].iter().enumerate() {
            for set in 0..2 {
                let randomness = self.randomness(superset, wire, set);
                let at = |position| At { superset, wire, set, position };
                bytes.extend(self.shape.commitment(at(0), &[sets.indicators[set]], &randomness[0]));
                for (circuit, randomness) in randomness[1..].iter().enumerate() {
                    let label = self.label(circuit, wire, sets.labels[set] == 1).to_bytes();
                    bytes.extend(self.shape.commitment(at(1 + circuit), &label, randomness));
                }
            }
        }
        bytes
    }

    /// The opening of a superset.
    pub(super) fn open(&self, superset: usize, is_checked: bool, circuits: &Split) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.shape.opening_bytes(is_checked, circuits));
        for (wire, sets) in self.sets[superset].iter().enumerate() {
            match is_checked {
                true => (0..2).for_each(|set| self.open_checked(superset, wire, set, circuits, &mut bytes)),
                false => {
                    let set = sets.of_value(self.inputs[superset].get(wire));
                    bytes.push(set as u8);
                    let randomness = self.randomness(superset, wire, set);
                    for circuit in circuits.evaluated() {
                        bytes.extend(self.label(circuit, wire, sets.labels[set] == 1).to_bytes());
                        bytes.extend(randomness[1 + circuit]);
                    }
                }
            }
        }
        bytes
    }

    /// Opens the indicator of a set and its labels of checked circuits.
    fn open_checked(&self, superset: usize, wire: usize, set: usize, circuits: &Split, bytes: &mut Vec<u8>) {
        let sets = self.sets[superset][wire];
        let randomness = self.randomness(superset, wire, set);
        bytes.push(sets.indicators[set]);
        bytes.extend(randomness[0]);
        for circuit in circuits.checked() {
            bytes.extend(self.label(circuit, wire, sets.labels[set] == 1).to_bytes());
            bytes.extend(randomness[1 + circuit]);
        }
    }

    fn label(&self, circuit: usize, wire: usize, value: bool) -> Block {
        self.secrets[circuit].garbler_label(wire, value)
    }

    /// The randomness of the commitments of a set.
    fn randomness(&self, superset: usize, wire: usize, set: usize) -> Vec<[u8; 32]> {
        let count = 1 + self.shape.circuits;
        let mut rng = Prg::new(self.seeds[superset]);
        rng.seek(((2 * wire + set) * 2 * count) as u64);
        let mut all = vec![[0; 32]; count];
        rng.fill_bytes(all.as_flattened_mut());
        all
    }
}

/// The evaluator's check of a checked superset: indicators and labels match the commitments, the two sets of a wire are for the two
/// values, and the labels are those of the checked circuits.
///
/// *Errors*: [`checks::SUPERSET_OPENING`], [`checks::SUPERSET_INDICATORS`], [`checks::SUPERSET_LABEL`].
pub(super) fn check(
    shape: &Shape,
    superset: usize,
    commitments: &[u8],
    opening: &[u8],
    checked: &[(usize, Secrets)],
) -> Result<(), Cheating> {
    let cheating = |check, wire| Cheating::new(check, format!("superset {superset}, wire {wire}"));
    let mut opening = Openings { shape, superset, commitments, bytes: opening };
    for wire in 0..shape.wires {
        let mut values = [0; 2];
        for (set, indicator) in values.iter_mut().enumerate() {
            let fits = || cheating(checks::SUPERSET_OPENING, wire);
            let [value] = opening.take::<1>(At { superset, wire, set, position: 0 }).ok_or_else(fits)?;
            *indicator = value;
            for (circuit, secrets) in checked {
                let at = At { superset, wire, set, position: 1 + circuit };
                let label = Block::from_bytes(opening.take::<16>(at).ok_or_else(fits)?);
                if label != secrets.garbler_label(wire, value == 1) {
                    return Err(cheating(checks::SUPERSET_LABEL, wire));
                }
            }
        }
        if values != [0, 1] && values != [1, 0] {
            return Err(cheating(checks::SUPERSET_INDICATORS, wire));
        }
    }
    Ok(())
}

/// The evaluator's check of an unchecked superset: the garbler's labels in evaluated circuits match the commitments of one set.
/// Returns them, wire by wire.
///
/// *Errors*: [`checks::SUPERSET_OPENING`].
pub(super) fn input_labels(
    shape: &Shape,
    superset: usize,
    commitments: &[u8],
    opening: &[u8],
    circuits: &Split,
) -> Result<Zeroizing<Vec<Block>>, Cheating> {
    let mut opening = Openings { shape, superset, commitments, bytes: opening };
    let mut labels = Zeroizing::new(Vec::with_capacity(shape.wires * circuits.evaluated().count()));
    for wire in 0..shape.wires {
        let refuse = || Cheating::new(checks::SUPERSET_OPENING, format!("superset {superset}, wire {wire}"));
        let set = usize::from(opening.set().filter(|&set| set < 2).ok_or_else(refuse)?);
        for circuit in circuits.evaluated() {
            let at = At { superset, wire, set, position: 1 + circuit };
            labels.push(Block::from_bytes(opening.take::<16>(at).ok_or_else(refuse)?));
        }
    }
    Ok(labels)
}

/// A reader of a superset's opening.
struct Openings<'a> {
    shape: &'a Shape,
    superset: usize,
    commitments: &'a [u8],
    bytes: &'a [u8],
}

impl Openings<'_> {
    /// The next byte, which names a set.
    fn set(&mut self) -> Option<u8> {
        let (&set, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(set)
    }

    /// The next message of `N` bytes, if it matches the commitment with the randomness after it.
    fn take<const N: usize>(&mut self, at: At) -> Option<[u8; N]> {
        let (message, rest) = self.bytes.split_first_chunk::<N>()?;
        let (randomness, rest) = rest.split_first_chunk::<32>()?;
        self.bytes = rest;
        let start = self.shape.offset(At { superset: self.superset, ..at });
        let committed = self.commitments.get(start..start + COMMITMENT_BYTES)?;
        (self.shape.commitment(at, message, randomness) == *committed).then_some(*message)
    }
}
