use proptest::prelude::*;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::*;
use crate::{evaluate::evaluate_circuit, gate::Wire, random};

/// Runs a schedule on 64 instances, as a garbler would run it on labels.
fn execute(schedule: &Schedule, inputs: &[u64]) -> Vec<u64> {
    let mut slots = vec![0u64; schedule.slot_count()];
    slots[..inputs.len()].copy_from_slice(inputs);
    let read = |slots: &[u64], o: Operand| slots[o.slot()] ^ if o.inverted() { u64::MAX } else { 0 };
    let (mut xors, mut ands) = (schedule.xors().iter(), schedule.ands().iter());
    for step in schedule.steps() {
        for op in xors.by_ref().take(step.xors as usize) {
            slots[op.out as usize] = slots[op.a as usize] ^ slots[op.b as usize];
        }
        for op in ands.by_ref().take(step.ands as usize) {
            slots[op.out as usize] = read(&slots, op.a) & read(&slots, op.b);
        }
    }
    assert!(xors.next().is_none() && ands.next().is_none(), "the steps cover all operations");
    let output = |o: &OutputWire| match *o {
        OutputWire::Slot(operand) => read(&slots, operand),
        OutputWire::Constant(value) => 0u64.wrapping_sub(value.into()),
    };
    schedule.outputs().iter().map(output).collect()
}

fn check(circuit: &Circuit, rng: &mut StdRng) {
    let schedule = Schedule::new(circuit);
    let inputs: Vec<u64> = (0..circuit.input_count()).map(|_| rng.random()).collect();
    assert_eq!(execute(&schedule, &inputs), evaluate_circuit(circuit, &inputs));
    check_slots(&schedule);
    assert!(schedule.and_count() <= circuit.stats().and);
    let by_depth = Schedule::by_depth(circuit);
    assert_eq!(execute(&by_depth, &inputs), evaluate_circuit(circuit, &inputs));
    check_slots(&by_depth);
    assert_eq!(by_depth.and_count(), schedule.and_count());
    let layers = by_depth.steps().iter().filter(|step| step.ands > 0).count() as u64;
    assert!(layers <= circuit.stats().and_depth, "no more steps than layers");
    let again = Schedule::new(circuit);
    assert_eq!((schedule.xors(), schedule.ands()), (again.xors(), again.ands()), "the same for both parties");
    assert_eq!((schedule.steps(), schedule.outputs()), (again.steps(), again.outputs()));
}

/// Slots are in range and set before they are read; no AND of a batch writes a slot that the batch reads or writes.
fn check_slots(schedule: &Schedule) {
    let mut set = vec![false; schedule.slot_count()];
    set[..schedule.input_count()].fill(true);
    let (mut x, mut a) = (0, 0);
    for step in schedule.steps() {
        for op in &schedule.xors()[x..x + step.xors as usize] {
            assert!(set[op.a as usize] && set[op.b as usize]);
            set[op.out as usize] = true;
        }
        let batch = &schedule.ands()[a..a + step.ands as usize];
        let mut written = std::collections::HashSet::new();
        for op in batch {
            assert!(set[op.a.slot()] && set[op.b.slot()]);
            assert!(written.insert(op.out as usize), "two results in one slot");
        }
        for op in batch {
            assert!(!written.contains(&op.a.slot()) && !written.contains(&op.b.slot()), "not independent");
            set[op.out as usize] = true;
        }
        x += step.xors as usize;
        a += step.ands as usize;
    }
    for output in schedule.outputs() {
        assert!(matches!(output, OutputWire::Constant(_)) || matches!(output, OutputWire::Slot(o) if set[o.slot()]));
    }
}

/// The most wires that are alive at once when gates run in the circuit's order.
fn most_live_wires(circuit: &Circuit) -> usize {
    let inputs = circuit.input_count() as usize;
    let mut last_read: Vec<usize> = (0..circuit.wire_count()).collect();
    for (g, gate) in circuit.gates().iter().enumerate() {
        gate.operands().for_each(|w| last_read[w.index()] = inputs + g);
    }
    circuit.outputs().iter().for_each(|w| last_read[w.index()] = circuit.wire_count());
    let mut change = vec![0i64; circuit.wire_count() + 2];
    for (wire, &last) in last_read.iter().enumerate() {
        change[wire.max(inputs.saturating_sub(1))] += 1;
        change[last.max(inputs) + 1] -= 1;
    }
    let mut live = 0;
    change.iter().fold(0, |most, c| {
        live += c;
        most.max(live)
    }) as usize
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn schedules_compute_what_the_gates_say(seed: u64, inputs in 0u32..40, gates in 1usize..600, outputs in 0usize..40) {
        let rng = &mut StdRng::seed_from_u64(seed);
        let circuit = random::circuit(rng, inputs, gates, outputs);
        check(&circuit, rng);
    }

    #[test]
    fn sorting_by_one_number_and_then_by_another_is_sorting_by_both(numbers: Vec<[u8; 2]>, offset: u32) {
        let numbered = numbers.iter().zip(0..);
        let gates: Vec<_> = numbered.map(|(&[a, b], g)| [(offset >> 1) + u32::from(a), u32::from(b), g]).collect();
        let mut expected = gates.clone();
        expected.sort();
        prop_assert_eq!(sorted_by(sorted_by(gates, |gate| gate[1]), |gate| gate[0]), expected);
    }

    #[test]
    fn slots_grow_with_live_wires(seed: u64, inputs in 1u32..40, gates in 1usize..3000) {
        let circuit = random::circuit(&mut StdRng::seed_from_u64(seed), inputs, gates, 5);
        let live = most_live_wires(&circuit);
        let slots = Schedule::new(&circuit).slot_count();
        prop_assert!(slots <= inputs as usize + live + Windows::STANDARD.gates, "{slots} slots for {live} live wires");
    }
}

#[test]
fn circuits_around_the_window_are_right() {
    let rng = &mut StdRng::seed_from_u64(7);
    for gates in [
        1,
        2,
        Windows::STANDARD.gates - 1,
        Windows::STANDARD.gates,
        Windows::STANDARD.gates + 1,
        2 * Windows::STANDARD.gates + 1,
        5000,
        20_000,
    ] {
        let circuit = random::circuit(rng, 70, gates, 300);
        check(&circuit, rng);
    }
}

/// `gates` rounds of `(x, y) -> (x ^ y, x & y)` on `lanes` independent pairs.
fn rounds(lanes: u32, gates: u32) -> Circuit {
    let mut state: Vec<Wire> = (0..2 * lanes).map(Wire).collect();
    let mut list = Vec::new();
    while (list.len() as u32) < gates {
        for pair in state.chunks_mut(2) {
            let (x, y) = (pair[0], pair[1]);
            let first = 2 * lanes + list.len() as u32;
            list.extend([Gate::Xor(x, y), Gate::And(x, y)]);
            pair.copy_from_slice(&[Wire(first), Wire(first + 1)]);
        }
    }
    Circuit::new(2 * lanes, list, state).unwrap()
}

#[test]
fn a_long_narrow_circuit_needs_few_slots() {
    assert!(Schedule::new(&rounds(1, 300_000)).slot_count() <= 6);
}

#[test]
fn a_long_wide_circuit_needs_slots_for_its_width_and_batches_it() {
    let schedule = Schedule::new(&rounds(500, 300_000));
    assert!(schedule.slot_count() <= 2 * 1000 + Windows::STANDARD.gates, "{} slots", schedule.slot_count());
    let batches = schedule.steps().iter().filter(|s| s.ands > 0).count();
    assert!(schedule.ands().len() / batches >= 200, "{batches} batches");
}

#[test]
fn constants_and_dead_gates_cost_nothing() {
    let gates = vec![
        Gate::Constant(true),
        Gate::And(Wire(0), Wire(2)), // = input 0
        Gate::And(Wire(0), Wire(1)), // nobody reads it
        Gate::Xor(Wire(3), Wire(3)), // = false
        Gate::Not(Wire(5)),          // = true
    ];
    let circuit = Circuit::new(2, gates, vec![Wire(3), Wire(5), Wire(6)]).unwrap();
    let schedule = Schedule::new(&circuit);
    assert_eq!((schedule.and_count(), schedule.xors().len(), schedule.slot_count()), (0, 0, 2));
    assert_eq!(schedule.outputs()[1..], [OutputWire::Constant(false), OutputWire::Constant(true)]);
    assert_eq!(execute(&schedule, &[5, 9]), [5, 0, u64::MAX]);
}

/// Another tuning gives another digest even where the schedule is the same; another order gives another digest under one tuning.
#[test]
fn the_digest_covers_tuning_and_order_and_nothing_else() {
    let chain = |gates: &[Gate], outputs: &[u32]| {
        Circuit::new(3, gates.to_vec(), outputs.iter().map(|&wire| Wire(wire)).collect()).unwrap()
    };
    let digest = |circuit: &Circuit| Schedule::new(circuit).digest();
    let and = |a, b| Gate::And(Wire(a), Wire(b));
    let xor = |a, b| Gate::Xor(Wire(a), Wire(b));
    let circuit = chain(&[and(0, 1), and(1, 2), xor(3, 4), and(5, 0)], &[6]);
    for change in [
        |w: Windows| Windows { gates: w.gates + 1, ..w },
        |w: Windows| Windows { wide_gates: w.wide_gates + 1, ..w },
        |w: Windows| Windows { cached_slots: w.cached_slots + 1, ..w },
    ] {
        assert_ne!(Schedule::within(&circuit, change(Windows::STANDARD)).digest(), digest(&circuit));
    }
    let others = [
        chain(&[and(1, 2), and(0, 1), xor(3, 4), and(5, 0)], &[6]),
        chain(&[and(0, 1), and(2, 1), xor(3, 4), and(5, 0)], &[6]),
        chain(&[and(0, 1), and(1, 2), xor(3, 4), and(5, 1)], &[6]),
        chain(&[and(0, 1), and(1, 2), xor(3, 4), and(5, 0)], &[5]),
        chain(&[and(0, 1), and(1, 2), xor(3, 4), and(5, 0)], &[6, 6]),
        chain(&[and(0, 1), and(1, 2), Gate::Not(Wire(4)), and(5, 0)], &[6]),
        chain(&[and(0, 1), and(1, 2), and(3, 4), and(5, 0)], &[6]),
    ];
    let all: std::collections::HashSet<_> = others.iter().chain([&circuit]).map(|c| *digest(c).as_bytes()).collect();
    assert_eq!(all.len(), others.len() + 1);
    // A gate without effect and a constant gate are left out.
    let more = chain(&[and(0, 1), and(1, 2), xor(3, 4), and(5, 0), and(0, 2)], &[6]);
    assert_eq!(digest(&more), digest(&circuit));
    assert_ne!(Schedule::by_depth(&circuit).digest(), digest(&circuit));
}
