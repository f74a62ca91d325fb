//! Instances garbled by themselves give the plain evaluator's answers, side by side or one by one.

use garblet_circuit::{Circuit, Component, Gate, Port, Type, Wire, evaluate_circuit, random};
use garblet_garble::{
    ComponentGarbling, GarblingConfig, Gather, Group, HashKind, InstanceEvaluator, SchemeKind, Seeds, Sources,
};
use garblet_primitives::{Backend, Block, Delta, Prg};
use garblet_synthesis::library;
use proptest::prelude::*;

const BASE: u64 = 3 << 40;

struct Garbled {
    hash_seed: Block,
    delta: Delta,
    zero_inputs: Vec<Block>,
    tables: Vec<u8>,
    zero_outputs: Vec<Block>,
}

fn garble(kind: &ComponentGarbling, config: GarblingConfig, first: u64, count: usize) -> Garbled {
    let mut rng = Prg::new(Block::from_u128(9));
    let (delta, seeds) = (Delta::random(&mut rng), Seeds::random(&mut rng));
    let zero_inputs: Vec<Block> =
        (0..count * kind.input_count()).map(|_| config.zero_label(rng.next_block())).collect();
    let mut tables = vec![0; count * kind.table_bytes()];
    let mut zero_outputs = vec![Block::ZERO; count * kind.output_count()];
    kind.garbler(&delta, &seeds, BASE).garble(first, count, &zero_inputs, &mut tables, &mut zero_outputs);
    Garbled { hash_seed: seeds.hash, delta, zero_inputs, tables, zero_outputs }
}

/// Evaluates the chosen instances on random inputs and compares with the circuit.
fn check(
    component: &Component,
    kind: &ComponentGarbling,
    config: GarblingConfig,
    garbled: &Garbled,
    first: u64,
    ks: &[u64],
) {
    let (ins, outs, bytes) = (kind.input_count(), kind.output_count(), kind.table_bytes());
    let at = |k: u64| (k - first) as usize;
    let mut rng = Prg::new(Block::from_u128(ks.len() as u128));
    let values: Vec<Vec<bool>> = ks.iter().map(|_| (0..ins).map(|_| rng.next_block().lsb()).collect()).collect();
    let active = |(k, values): (&u64, &Vec<bool>)| -> Vec<Block> {
        let zeros = &garbled.zero_inputs[at(*k) * ins..][..ins];
        zeros.iter().zip(values).map(|(&z, &v)| z ^ (Block::mask(v) & garbled.delta.block())).collect()
    };
    let inputs: Vec<Block> = ks.iter().zip(&values).flat_map(active).collect();
    let tables: Vec<&[u8]> = ks.iter().map(|k| &garbled.tables[at(*k) * bytes..][..bytes]).collect();
    let mut outputs = vec![Block::ZERO; ks.len() * outs];
    InstanceEvaluator::new(garbled.hash_seed).evaluate((kind, BASE), ks, &inputs, &tables, &mut outputs);
    for (i, (k, values)) in ks.iter().zip(&values).enumerate() {
        let zeros = &garbled.zero_outputs[at(*k) * outs..][..outs];
        let labels = &outputs[i * outs..][..outs];
        let words: Vec<u64> = values.iter().map(|&value| u64::from(value)).collect();
        let expected = evaluate_circuit(component.circuit(), &words);
        for (o, expected) in expected.into_iter().enumerate() {
            let label = zeros[o] ^ (Block::mask(expected & 1 == 1) & garbled.delta.block());
            assert!(labels[o] == label, "output {o} of instance {k} with {config:?}");
        }
    }
}

fn configs() -> impl Iterator<Item = GarblingConfig> {
    SchemeKind::ALL.iter().flat_map(|&scheme| HashKind::ALL.iter().map(move |&hash| GarblingConfig { scheme, hash }))
}

#[test]
fn every_configuration_is_right_across_pages_and_gaps() {
    let component = library::component("lib:levenshtein-cell(8)").unwrap();
    for config in configs().filter(|c| c.scheme != SchemeKind::FourRow) {
        let kind = ComponentGarbling::new(&component, config);
        // A page holds 93 cells of 11 gates.
        let garbled = garble(&kind, config, 80, 40);
        let ks: Vec<u64> = (80..89).chain([90, 92]).chain(93..118).collect();
        check(&component, &kind, config, &garbled, 80, &ks);
    }
}

/// A group in a run of several: its instances' values, and the places of their labels.
struct InTurn {
    component: Component,
    kind: ComponentGarbling,
    garbled: Garbled,
    values: Vec<Vec<bool>>,
    tables: Vec<u8>,
    gathers: Vec<Gather>,
    outputs: usize,
}

/// As many instances of a component as run together. Their labels are sums of labels appended to both vectors.
fn in_turn(name: &str, most: u64, config: GarblingConfig, labels: &mut Vec<Block>, added: &mut Vec<Block>) -> InTurn {
    let component = library::component(name).unwrap();
    let kind = ComponentGarbling::new(&component, config);
    let ks: Vec<u64> = (0..most).collect();
    let count = kind.group(&ks);
    let garbled = garble(&kind, config, 0, count);
    let (ins, bytes) = (kind.input_count(), kind.table_bytes());
    let mut rng = Prg::new(Block::from_u128(most.into()));
    let (first, first_added) = (labels.len(), added.len());
    let values: Vec<Vec<bool>> = (0..count).map(|_| (0..ins).map(|_| rng.next_block().lsb()).collect()).collect();
    for (value, zero) in values.iter().flatten().zip(&garbled.zero_inputs) {
        added.push(rng.next_block());
        labels.push(*zero ^ (Block::mask(*value) & garbled.delta.block()) ^ added[added.len() - 1]);
    }
    let outputs = labels.len();
    labels.resize(outputs + count * kind.output_count(), Block::ZERO);
    let mut tables = vec![0; kind.interleaved_bytes(count)];
    (0..count).for_each(|i| kind.interleave_tables(i, count, &garbled.tables[i * bytes..][..bytes], &mut tables));
    let gather = |quad: usize| {
        let place = |first: usize| [0, 1, 2, 3].map(|lane| (first + (4 * quad + lane).min(count - 1) * ins) as u32);
        Gather {
            quad: quad as u32,
            slot: 0,
            len: ins as u32,
            from: Sources::Strided(place(first), [1; 4]),
            add: Some(place(first_added)),
        }
    };
    let gathers = (0..count.div_ceil(4)).map(gather).collect();
    InTurn { component, kind, garbled, values, tables, gathers, outputs }
}

/// Compares output labels, ordered by output and then by instance, with the plain evaluator.
fn check_outputs(
    component: &Component,
    garbled: &Garbled,
    values: &[Vec<bool>],
    labels: &[Block],
    config: GarblingConfig,
) {
    let (mut zeros, count) = (garbled.zero_outputs.iter(), values.len());
    for (instance, values) in values.iter().enumerate() {
        let words: Vec<u64> = values.iter().map(|&value| u64::from(value)).collect();
        for (number, expected) in evaluate_circuit(component.circuit(), &words).into_iter().enumerate() {
            let label = *zeros.next().unwrap() ^ (Block::mask(expected & 1 == 1) & garbled.delta.block());
            assert!(labels[number * count + instance] == label, "{} with {config:?}", component.name());
        }
    }
}

#[test]
fn groups_of_several_components_run_in_turn() {
    for config in configs().filter(|c| c.scheme != SchemeKind::FourRow) {
        let (mut labels, mut added) = (Vec::new(), Vec::new());
        let kinds =
            [("add(8)", 32), ("levenshtein-cell(8)", 5), ("add(2)", 1), ("mul(20)", 1), ("min(9)", 7), ("add(3)", 2)];
        let all = kinds.map(|(name, most)| in_turn(name, most, config, &mut labels, &mut added));
        let groups = all.each_ref().map(|InTurn { kind, values, tables, gathers, outputs, .. }| Group {
            of: kind,
            first_gate: BASE,
            count: values.len(),
            tables,
            gathers,
            outputs: *outputs,
        });
        InstanceEvaluator::new(all[0].garbled.hash_seed).run(&groups, &mut labels, &added);
        for InTurn { component, garbled, values, outputs, .. } in &all {
            check_outputs(component, garbled, values, &labels[*outputs..], config);
        }
    }
}

#[test]
fn small_and_large_components_are_right() {
    let config = GarblingConfig::default();
    for name in ["add(2)", "add(8)", "min(100)", "aes-round", "aes-key-schedule", "mul(48)"] {
        let component = library::component(name).unwrap();
        let kind = ComponentGarbling::new(&component, config);
        let garbled = garble(&kind, config, 5, 9);
        check(&component, &kind, config, &garbled, 5, &[5, 6, 7, 8, 11, 12, 13]);
    }
}

#[test]
fn components_without_and_gates_or_inputs_work_too() {
    let xor = Circuit::new(2, vec![Gate::Xor(Wire(0), Wire(1)), Gate::Constant(true)], vec![Wire(2), Wire(3)]).unwrap();
    let ports = |n| vec![Port::new("a", Type::Bits(n))];
    let xor = Component::new("xor", ports(2), ports(2), xor).unwrap();
    let constant = Circuit::new(0, vec![Gate::Constant(true)], vec![Wire(0)]).unwrap();
    let constant = Component::new("constant", Vec::new(), ports(1), constant).unwrap();
    for component in [xor, constant] {
        let config = GarblingConfig::default();
        let kind = ComponentGarbling::new(&component, config);
        assert_eq!(kind.table_bytes(), 0);
        let garbled = garble(&kind, config, 0, 3);
        check(&component, &kind, config, &garbled, 0, &[0, 2]);
    }
}

#[test]
fn gate_numbers_never_come_twice() {
    for name in ["add(2)", "levenshtein-cell(8)", "min(100)", "aes-round", "mul(48)"] {
        let component = library::component(name).unwrap();
        let kind = ComponentGarbling::new(&component, GarblingConfig::default());
        let (numbering, ands) = (kind.numbering(), kind.and_count());
        let stride = if ands <= 256 { numbering.first_gate(1).max(1024 / ands) } else { 1 };
        let count = 700;
        let numbers = (0..count).flat_map(|k| (0..ands).map(move |g| numbering.first_gate(k) + g * stride));
        let mut numbers: Vec<u64> = numbers.collect();
        assert!(numbers.iter().all(|n| *n < numbering.gates(count)), "{name}");
        numbers.sort_unstable();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{name}");
    }
}

#[test]
fn every_backend_makes_the_same_tables() {
    let component = library::component("lib:levenshtein-cell(5)").unwrap();
    for &scheme in SchemeKind::ALL {
        let config = GarblingConfig { scheme, ..Default::default() };
        let tables =
            |backend| garble(&ComponentGarbling::new(&component, config).with_backend(backend), config, 0, 21).tables;
        let expected = tables(Backend::PORTABLE);
        assert!(Backend::available().into_iter().all(|backend| tables(backend) == expected), "{scheme}");
    }
}

#[test]
#[should_panic(expected = "bytes of an instance's tables")]
fn tables_of_another_length_are_refused() {
    let component = library::component("add(8)").unwrap();
    let kind = ComponentGarbling::new(&component, GarblingConfig::default());
    let mut evaluator = InstanceEvaluator::new(Block::ZERO);
    evaluator.evaluate((&kind, 0), &[0], &[Block::ZERO; 16], &[&[0; 7]], &mut [Block::ZERO; 8]);
}

#[test]
#[should_panic(expected = "bytes of the tables of 3 instances")]
fn interleaved_tables_of_another_group_are_refused() {
    let component = library::component("add(8)").unwrap();
    let kind = ComponentGarbling::new(&component, GarblingConfig::default());
    let tables = vec![0; kind.interleaved_bytes(2) - 1];
    let group = Group { of: &kind, first_gate: 0, count: 3, tables: &tables, gathers: &[], outputs: 0 };
    InstanceEvaluator::new(Block::ZERO).run(&[group], &mut [Block::ZERO; 24], &[]);
}

proptest! {
    #[test]
    fn random_components_are_right(seed: u64, first in 0u64..3000, skip in 1u64..9) {
        use rand_core::SeedableRng;
        let mut rng = Prg::from_seed(u128::from(seed).to_le_bytes());
        let component = random::component(&mut rng, "random", 120);
        let config = GarblingConfig::default();
        let kind = ComponentGarbling::new(&component, config);
        let garbled = garble(&kind, config, first, 30);
        let ks: Vec<u64> = (first..first + 30).filter(|k| k % (skip + 1) != 0).collect();
        check(&component, &kind, config, &garbled, first, &ks);
    }
}
