use proptest::prelude::*;
use rand::{SeedableRng, rngs::StdRng};

use super::*;
use crate::{Component, Port, Type, circuit::Circuit, random};

/// All operations of a schedule, joined.
fn joined(schedule: &StoredSchedule) -> Schedule {
    let mut all = schedule.frame();
    let mut parts = schedule.parts();
    while let Some(part) = parts.next_part().expect("memory can be read") {
        assert_eq!(part.slot_count(), all.slot_count());
        all.steps.extend(part.steps);
        all.xors.extend(part.xors);
        all.ands.extend(part.ands);
    }
    all
}

/// Compares with the schedule of the circuit in memory; returns whether the circuit may be elsewhere.
fn compare(circuit: &Circuit, block_gates: u32, windows: Windows) -> bool {
    let port = |name: &str, bits| vec![Port::new(name, Type::Bits(bits))];
    let (inputs, outputs) = (port("x", circuit.input_count()), port("y", circuit.outputs().len() as u32));
    let component = Component::new("c", inputs, outputs, circuit.clone()).expect("it fits");
    let Some(stored) = random::stored(&component, block_gates) else { return false };
    let gates = stored.circuit().stored_gates().expect("they are outside").clone();
    let here = Schedule::within(circuit, windows);
    assert_eq!(gates.garbled_ands(), here.and_count());
    let stored = StoredSchedule::within(gates, windows).expect("memory can be read");
    assert_eq!((stored.and_count(), stored.digest()), (here.and_count(), here.digest()));
    let all = joined(&stored);
    assert_eq!((all.slot_count(), all.outputs()), (here.slot_count(), here.outputs()));
    assert_eq!((all.xors(), all.ands()), (here.xors(), here.ands()));
    // A window that ends with XOR operations ends a step.
    let batches = |schedule: &Schedule| {
        let batches = schedule.steps().iter().map(|step| step.ands).filter(|ands| *ands > 0);
        batches.collect::<Vec<_>>()
    };
    assert_eq!(batches(&all), batches(&here));
    for schedule in [&all, &here] {
        assert_eq!(schedule.steps().iter().map(|step| step.xors as usize).sum::<usize>(), here.xors().len());
    }
    true
}

/// Gates that compute nothing constant: as random ones, but without gates that do.
fn plain(seed: u64, inputs: u32, gates: usize, outputs: usize, reach: u32) -> Circuit {
    use rand::RngExt;
    let rng = &mut StdRng::seed_from_u64(seed);
    let mut list = Vec::new();
    for set in (inputs..).take(gates) {
        let mut wire = |far: bool| match far {
            true => Wire(rng.random_range(0..set)),
            false => Wire(rng.random_range(set.saturating_sub(reach)..set)),
        };
        let (near, far) = (wire(false), wire(true));
        let kind = rng.random_range(0..10);
        list.push(match kind {
            _ if near == far => Gate::Not(near),
            0..4 => Gate::Xor(near, far),
            4..8 => Gate::And(far, near),
            8 => Gate::Not(near),
            _ => Gate::Not(far),
        });
    }
    let outputs = (0..outputs).map(|_| Wire(rng.random_range(0..inputs + gates as u32))).collect();
    Circuit::new(inputs, list, outputs).expect("in order")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn schedules_do_not_depend_on_the_place_of_gates(
        seed: u64, inputs in 2u32..40, gates in 1usize..600, outputs in 1usize..40, block in 1u32..200,
        window in 1usize..50, wide in 1usize..300, cached in 0u32..60,
    ) {
        let windows = Windows { gates: window, wide_gates: wide, cached_slots: cached };
        compare(&random::circuit(&mut StdRng::seed_from_u64(seed), inputs, gates, outputs), block, windows);
        compare(&plain(seed, inputs, gates, outputs, 8), block, windows);
        compare(&plain(seed, inputs, gates, outputs, 10_000), block, Windows::STANDARD);
    }
}

#[test]
fn long_circuits_are_cut_into_parts() {
    let mut compared = 0;
    for seed in 0..8 {
        let circuit = plain(seed, 100, 200_000, 300, 1000);
        for block in [1 << 12, 50_001] {
            compared += usize::from(compare(&circuit, block, Windows::STANDARD));
        }
    }
    assert!(compared >= 4, "{compared} compared");
}
