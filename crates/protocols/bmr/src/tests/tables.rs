//! The tables of half gates, written as they stand in [`half_gates`](super::super::half_gates), gate by gate, with no regard to time.

use garblet_circuit::{Operand, random};
use garblet_primitives::{Aes128, Backend};
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::{
    super::{half_gates, secrets::Secrets},
    *,
};

/// All secrets of a wire: its mask, and the zero label of every garbler.
#[derive(Clone, Default)]
struct Wire {
    mask: bool,
    labels: Vec<Block>,
}

impl Wire {
    fn random(garblers: usize, rng: &mut StdRng) -> Self {
        Wire { mask: rng.random(), labels: (0..garblers).map(|_| random_block(rng).with_lsb(false)).collect() }
    }

    /// The active labels for a value.
    fn active(&self, garblers: &[Garbler], value: bool) -> Vec<Block> {
        let public = Block::mask(value ^ self.mask);
        self.labels.iter().zip(garblers).map(|(label, garbler)| *label ^ garbler.delta & public).collect()
    }

    fn inverted(&self, garblers: &[Garbler], inverted: bool) -> Self {
        let all = self.labels.iter().zip(garblers);
        let negated = |(label, garbler): (&Block, &Garbler)| *label ^ (garbler.delta ^ ONE) & Block::mask(inverted);
        Wire { mask: self.mask, labels: all.map(negated).collect() }
    }
}

pub(super) const ONE: Block = Block::from_u128(1);

fn random_block(rng: &mut StdRng) -> Block {
    Block::from_u128(rng.random())
}

/// The delta and the seed of hash keys of a garbler.
#[derive(Clone, Copy)]
pub(super) struct Garbler {
    pub(super) delta: Block,
    pub(super) seed: Block,
}

impl Garbler {
    /// AES-128 of `sigma(x) + tweak`, and that added, under a key for at most 4096 calls: four for each delta of a gate.
    pub(super) fn hash(self, slots: usize, (gate, slot, half): (usize, usize, usize), x: Block) -> Block {
        let period = 1 << (1024 / slots).ilog2();
        let tweak = 2 * (slots * (gate % period) + slot) + half;
        let [low, high] = x.halves();
        let input = Block::from_halves(high ^ tweak as u64, high ^ low);
        Aes128::with_backend(Backend::PORTABLE, self.seed ^ Block::from_halves((gate / period) as u64, 0))
            .encrypt(input)
            ^ input
    }
}

/// The sums of all parts of a gate's tables, by delta: what a party's share is for all parties adds up to the bit times delta.
fn sums(garblers: &[Garbler], gate: usize, [a, b]: [&Wire; 2], c: &Wire) -> Vec<[Block; 3]> {
    let hash = |i: usize, place, x| garblers[i].hash(garblers.len(), place, x);
    let of_delta = |j: usize| {
        let bit = |bit: bool| garblers[j].delta & Block::mask(bit);
        let mut sums = [bit(b.mask), a.labels[j] ^ bit(a.mask), c.labels[j] ^ bit(a.mask & b.mask ^ c.mask)];
        for (i, garbler) in garblers.iter().enumerate() {
            let [first, second] = [((gate, j, 0), a.labels[i]), ((gate, j, 1), b.labels[i])];
            let [zero_a, zero_b] = [first, second].map(|(place, label)| hash(i, place, label));
            let [one_a, one_b] = [first, second].map(|(place, label)| hash(i, place, label ^ garbler.delta));
            [sums[0], sums[1], sums[2]] =
                [sums[0] ^ zero_a ^ one_a, sums[1] ^ zero_b ^ one_b, sums[2] ^ zero_a ^ zero_b];
        }
        sums
    };
    (0..garblers.len()).map(of_delta).collect()
}

/// The active labels of a gate's result.
fn evaluate_gate(garblers: &[Garbler], gate: usize, [a, b]: [&[Block]; 2], tables: &[[Block; 3]]) -> Vec<Block> {
    let of_delta = |(j, [first, second, third]): (usize, &[Block; 3])| {
        let mut label = *third ^ *first & Block::mask(a[0].lsb()) ^ (*second ^ a[j]) & Block::mask(b[0].lsb());
        for (i, garbler) in garblers.iter().enumerate() {
            label ^=
                garbler.hash(garblers.len(), (gate, j, 0), a[i]) ^ garbler.hash(garblers.len(), (gate, j, 1), b[i]);
        }
        label
    };
    tables.iter().enumerate().map(of_delta).collect()
}

#[test]
fn a_gate_has_its_truth_table() {
    let mut rng = StdRng::seed_from_u64(1);
    for count in 1..=4 {
        let garbler = |_| Garbler { delta: random_block(&mut rng).with_lsb(true), seed: random_block(&mut rng) };
        let garblers: Vec<Garbler> = (0..count).map(garbler).collect();
        for case in 0..32 {
            let (gate, bits) = (77 * case, [0, 1, 2, 3, 4].map(|k| case >> k & 1 == 1));
            let [mut a, mut b, mut c] = [(); 3].map(|()| Wire::random(count, &mut rng));
            (a.mask, b.mask, c.mask) = (bits[0], bits[1], bits[2]);
            let (x, y) = (bits[3], bits[4]);
            let tables = sums(&garblers, gate, [&a, &b], &c);
            let got = evaluate_gate(&garblers, gate, [&a.active(&garblers, x), &b.active(&garblers, y)], &tables);
            assert!(got == c.active(&garblers, x & y), "{count} garblers, case {case}");
            // Inversions.
            for inverted in [[false, true], [true, false], [true, true]] {
                let [na, nb] = [(&a, inverted[0]), (&b, inverted[1])].map(|(wire, by)| wire.inverted(&garblers, by));
                let tables = sums(&garblers, gate, [&na, &nb], &c);
                let active = [(&a, x, inverted[0]), (&b, y, inverted[1])].map(|(wire, value, by)| {
                    wire.active(&garblers, value).iter().map(|label| *label ^ ONE & Block::mask(by)).collect::<Vec<_>>()
                });
                let got = evaluate_gate(&garblers, gate, [&active[0], &active[1]], &tables);
                assert!(
                    got == c.active(&garblers, (x ^ inverted[0]) & (y ^ inverted[1])),
                    "{count} garblers, case {case}"
                );
            }
        }
    }
}

/// Holds the evaluator's circuit to all parties' secrets.
fn assert_circuit(plan: &Plan, secrets: &[&Secrets], circuit: &[Block]) {
    let slots = plan.slots();
    let of_slot = |slot| secrets.iter().find(|secrets| plan.slot(secrets.party) == Some(slot)).expect("a garbler");
    let garbler = |slot| Garbler { delta: of_slot(slot).delta.block(), seed: circuit[slot] };
    let garblers: Vec<Garbler> = (0..slots).map(garbler).collect();
    let base = |at: usize| Wire {
        mask: secrets.iter().fold(false, |sum, secrets| sum ^ secrets.permutation.get(at).public("a test")),
        labels: (0..slots).map(|slot| of_slot(slot).labels.0[at]).collect(),
    };
    let schedule = plan.schedule();
    let mut wires: Vec<Wire> = (0..plan.input_count()).map(base).collect();
    wires.resize(schedule.slot_count().max(plan.input_count()), Wire::default());
    let (mut xors, mut ands) = (schedule.xors().iter(), schedule.ands().iter().enumerate());
    for step in schedule.steps() {
        for op in xors.by_ref().take(step.xors as usize) {
            let [a, b] = [&wires[op.a as usize], &wires[op.b as usize]];
            let labels = a.labels.iter().zip(&b.labels).map(|(a, b)| *a ^ *b).collect();
            wires[op.out as usize] = Wire { mask: a.mask ^ b.mask, labels };
        }
        for (gate, op) in ands.by_ref().take(step.ands as usize) {
            let operand = |operand: Operand| wires[operand.slot()].inverted(&garblers, operand.inverted());
            let [a, b] = [op.a, op.b].map(operand);
            let table = |slot: usize| [0, 1, 2].map(|block| circuit[slots * (1 + 3 * gate + block) + slot]);
            let mut c = base(plan.input_count() + gate);
            if slots == 1 {
                // The label is what the third block says.
                c.labels = vec![Block::ZERO];
                c.labels[0] = sums(&garblers, gate, [&a, &b], &c)[0][2] ^ table(0)[2];
                assert!(!c.labels[0].lsb(), "gate {gate}");
            }
            for (slot, sums) in sums(&garblers, gate, [&a, &b], &c).into_iter().enumerate() {
                assert!(sums == table(slot), "gate {gate} for delta {slot}");
            }
            wires[op.out as usize] = c;
        }
    }
}

#[test]
fn the_evaluators_circuit_follows_from_all_secrets() {
    let mut rng = StdRng::seed_from_u64(2);
    for parties in [2, 3, 4, 5, 6, 9] {
        // Beyond one period of keys.
        let gates = if parties == 4 { 3_000 } else { 300 };
        let program = random::program(&mut rng, gates, parties);
        let plan = plan(&program, parties, config(HALF_GATES, Hash::Rekeyed)).unwrap();
        for garbled in [garble(&plan, 3), garble(&plan, 4)] {
            let secrets: Vec<&Secrets> = garbled.iter().map(|party| &party.prepared.secrets).collect();
            for (party, garbled) in (0..parties).map(Party).zip(&garbled) {
                let circuit = &garbled.prepared.circuit;
                if party == plan.evaluator() {
                    assert_circuit(&plan, &secrets, circuit);
                }
                let blocks = if party == plan.evaluator() { half_gates::circuit_blocks(&plan) } else { 0 };
                assert_eq!(circuit.len(), blocks, "party {}", party.0);
            }
        }
    }
}
