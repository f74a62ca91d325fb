use proptest::prelude::*;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::*;
use crate::{Bits, Component, Party, Port, Recipients, Schedule, Type, evaluate, random};

/// The outputs of a program, one bit after another, as a party would compute its shares.
fn walked(layers: &Layers, inputs: &[Bits]) -> Vec<bool> {
    let bits = inputs.iter().flat_map(|value| value.iter().map(u8::from)).collect();
    let mut walk = LayerWalk::new(layers, bits);
    let mut results = Vec::new();
    let read = |(value, inverted): (u8, bool)| value ^ u8::from(inverted);
    while walk.next_layer(|a, b, _| a ^ b, |a, b, _| results.push(read(a) & read(b))) {
        let mut left = results.drain(..);
        walk.finish_layer(|| left.next().expect("a result for every gate"));
        assert_eq!(left.count(), 0, "a gate for every result");
    }
    assert!(walk.slot_count() <= layers.slot_count);
    let output = |output| match output {
        Carried::Wire(value, inverted) => read((value, inverted)) == 1,
        Carried::Constant(value) => value,
    };
    walk.outputs().map(output).collect()
}

/// The layers equal those of the program as one circuit, and compute the same.
fn check(program: &Program, rng: &mut StdRng) -> Layers {
    let layers = Layers::new(program).expect("small enough");
    let flat = Schedule::by_depth(program.flatten().expect("small enough").circuit());
    let counts: Vec<usize> = flat.steps().iter().map(|step| step.ands as usize).filter(|ands| *ands > 0).collect();
    assert_eq!(layers.counts(), counts);
    assert_eq!(layers.and_count(), flat.ands().len());
    assert_eq!(layers.digest(), flat.digest());
    let inputs = random::inputs(rng, program);
    let expected: Vec<bool> = evaluate(program, &inputs).iter().flat_map(|value| value.iter()).collect();
    assert_eq!(walked(&layers, &inputs), expected);
    layers
}

proptest! {
    #[test]
    fn layers_are_those_of_the_program_as_one_circuit(seed: u64) {
        let rng = &mut StdRng::seed_from_u64(seed);
        let program = random::program(rng, 100, 3);
        check(&program, rng);
    }
}

/// A program of many instances of few components, each linked to those just before it, as a rule.
fn of_many(rng: &mut StdRng, instances: usize) -> Program {
    let mut program = Program::new("of many");
    let ids: Vec<_> = (0..3).map(|k| program.add_component(random::component(rng, &format!("c{k}"), 40))).collect();
    let width = 40;
    let x = program.add_input(Port::new("x", Type::Bits(width)), Party(0)).expect("new");
    let mut links = vec![program.input_link(x)];
    for _ in 0..instances {
        let id = ids[rng.random_range(0..ids.len())];
        let needed = program.components()[id.0 as usize].input_width();
        let mut given = Vec::new();
        let mut left = needed;
        while left > 0 {
            let near = links.len().saturating_sub(if rng.random_bool(0.9) { 4 } else { 40 });
            let from = links[rng.random_range(near..links.len())];
            if from.len == 0 {
                continue;
            }
            let len = rng.random_range(1..=from.len.min(left));
            let start = from.start + rng.random_range(0..=from.len - len);
            given.push(crate::Link { source: from.source, start, len });
            left -= len;
        }
        let instance = program.add_instance(id, &given).expect("fits");
        links.push(program.instance_link(instance));
    }
    for (k, link) in links.iter().rev().filter(|link| link.len > 0).take(5).enumerate() {
        let port = Port::new(format!("y{k}"), Type::Bits(link.len));
        program.add_output(port, Recipients::All, vec![*link]).expect("fits");
    }
    program
}

#[test]
fn long_programs_have_the_layers_of_one_circuit() {
    for seed in 0..20 {
        let rng = &mut StdRng::seed_from_u64(seed);
        let program = of_many(rng, 300);
        check(&program, rng);
    }
}

#[test]
fn instances_that_are_alike_have_one_class() {
    let rng = &mut StdRng::seed_from_u64(1);
    // x, y -> (x AND y) XOR x, y: each as deep as the one before and one more.
    let gates =
        vec![crate::Gate::And(crate::Wire(0), crate::Wire(1)), crate::Gate::Xor(crate::Wire(2), crate::Wire(0))];
    let circuit = crate::Circuit::new(2, gates, vec![crate::Wire(3), crate::Wire(1)]).expect("in order");
    let port = |name: &str| vec![Port::new(name, Type::Bits(2))];
    let component = Component::new("c", port("a"), port("b"), circuit).expect("fits");
    let mut program = Program::new("chain");
    let id = program.add_component(component);
    let x = program.add_input(Port::new("x", Type::Bits(2)), Party(0)).expect("new");
    let mut link = program.input_link(x);
    for _ in 0..1000 {
        let instance = program.add_instance(id, &[link]).expect("fits");
        link = program.instance_link(instance);
    }
    program.add_output(Port::new("y", Type::Bits(2)), Recipients::All, vec![link]).expect("fits");
    let layers = check(&program, rng);
    assert_eq!(layers.counts(), vec![1; 1000]);
    // The first has inputs of one depth; the others, one that is deeper. The last that takes part has both outputs read.
    assert!(layers.classes.len() <= 3, "{}", layers.classes.len());
    // An instance's slots serve the next but one.
    assert!(layers.slot_count <= 16, "{}", layers.slot_count);
}

#[test]
fn wires_that_are_passed_on_take_no_slots() {
    let rng = &mut StdRng::seed_from_u64(2);
    // An array that moves on by one place, where the AND of the first two comes in at the end.
    let width = 100;
    let outputs = (1..width).chain([width]).map(crate::Wire).collect();
    let circuit = crate::Circuit::new(width, vec![crate::Gate::And(crate::Wire(0), crate::Wire(1))], outputs);
    let port = |name: &str| vec![Port::new(name, Type::Bits(width))];
    let component = Component::new("c", port("a"), port("b"), circuit.expect("in order")).expect("fits");
    let mut program = Program::new("round");
    let id = program.add_component(component);
    let x = program.add_input(Port::new("x", Type::Bits(width)), Party(0)).expect("new");
    let mut link = program.input_link(x);
    for _ in 0..250 {
        let instance = program.add_instance(id, &[link]).expect("fits");
        link = program.instance_link(instance);
    }
    program.add_output(Port::new("y", Type::Bits(width)), Recipients::All, vec![link]).expect("fits");
    let layers = check(&program, rng);
    assert!(layers.classes.len() <= 5, "{}", layers.classes.len());
    assert!(layers.slot_count <= 5 * width as usize, "{}", layers.slot_count);
}

#[test]
fn programs_too_large_for_one_circuit_are_refused_as_before() {
    let circuit = crate::Circuit::new(1, vec![crate::Gate::Not(crate::Wire(0)); 1 << 16], vec![]).expect("in order");
    let component = Component::new("large", vec![Port::new("a", Type::Bool)], vec![], circuit).expect("fits");
    let mut program = Program::new("too large");
    let id = program.add_component(component);
    let input = program.add_input(Port::new("x", Type::Bool), Party(0)).expect("new");
    let link = program.input_link(input);
    (0..1 << 15).for_each(|_| {
        program.add_instance(id, &[link]).expect("fits");
    });
    assert_eq!(Layers::new(&program).err(), program.flatten().err());
}
