use garblet_circuit::{Wire, evaluate_circuit, random};
use garblet_primitives::{Block, Prg};
use garblet_synthesis::{
    library,
    tables::{Signal, TableBuilder},
};
use rand_core::Rng;

use super::*;

const SIDES: [Sides; 2] = [Sides::Separated, Sides::AsPublished];

fn configs() -> impl Iterator<Item = PublishedConfig> {
    Method::ALL.iter().flat_map(|&method| SIDES.map(|sides| PublishedConfig { method, sides }))
}

/// The outputs of a circuit, garbled and evaluated.
fn run(circuit: &TableCircuit, config: PublishedConfig, inputs: &InputLabels, values: &[bool]) -> Vec<bool> {
    let garbled = garble(circuit, config, inputs);
    assert_eq!(garbled.tables.len(), config.table_bytes(circuit));
    let active: Vec<Label> = inputs.wires().iter().zip(values).map(|(wire, &value)| wire.of(value)).collect();
    let labels = evaluate(circuit, config, &garbled.tables, &active).unwrap();
    let outputs: Vec<bool> = labels.iter().zip(garbled.decoding()).map(|(label, zero)| label.lsb() ^ zero).collect();
    for ((label, both), &output) in labels.iter().zip(&*garbled.outputs).zip(&outputs) {
        assert!(*label == both[usize::from(output)] && both[0].lsb() != both[1].lsb());
    }
    outputs
}

fn one_gate(arity: usize, table: u8, inverted: usize) -> TableCircuit {
    let mut builder = TableBuilder::new(arity as u32);
    let operand = |i: usize| Signal::of(Wire(i as u32)).invert_if(inverted >> i & 1 == 1);
    let operands: Vec<Signal> = (0..arity).map(operand).collect();
    let output = builder.gate(&operands, table);
    builder.finish(vec![output, output.invert_if(true)])
}

#[test]
fn every_kind_of_gate_is_right_for_all_inputs_inversions_and_permutations() {
    for config in configs() {
        let most = if config.method == Method::Base { 3 } else { 2 };
        for arity in 2..=most {
            let mut permutations = vec![false; 1 << arity];
            for seed in 0..24u64 {
                let inputs = InputLabels::of_seed(config.method, Block::from_halves(seed, 9), arity);
                let permutation =
                    inputs.wires().iter().rev().fold(0, |all, wire| all << 1 | usize::from(wire.permutation));
                if std::mem::replace(&mut permutations[permutation], true) {
                    continue;
                }
                every_kind(config, arity, &inputs);
            }
            assert!(permutations.iter().all(|&seen| seen), "all permutations of {arity} inputs");
        }
    }
}

fn every_kind(config: PublishedConfig, arity: usize, inputs: &InputLabels) {
    for table in 0..=u8::MAX >> if arity == 2 { 4 } else { 0 } {
        for inverted in [0, 1, (1 << arity) - 1] {
            let circuit = one_gate(arity, table, inverted);
            for point in 0..1usize << arity {
                let values: Vec<bool> = (0..arity).map(|i| point >> i & 1 == 1).collect();
                let expected = table >> (point ^ inverted) & 1 == 1;
                let name = config.method.name();
                assert_eq!(run(&circuit, config, inputs, &values), [expected, !expected], "{name} {table:#b} {point}");
            }
        }
    }
}

/// Labels as in protocols: blocks that include the external bit.
fn blocks(method: Method, rng: &mut Prg, count: usize) -> InputLabels {
    let difference = rng.next_block().with_lsb(true);
    let pairs: Vec<[Block; 2]> = (0..count)
        .map(|_| {
            let [zero, other] = [rng.next_block(), rng.next_block()];
            let own = if method.has_free_xor() { difference } else { other.with_lsb(true) };
            [zero, zero ^ own]
        })
        .collect();
    InputLabels::of_pairs(pairs.into_iter(), difference, rng.next_block())
}

fn check(circuit: &Circuit, config: PublishedConfig, seed: u64) {
    let mut rng = Prg::new(Block::from_halves(seed, 1));
    let values: Vec<bool> = (0..circuit.input_count()).map(|_| rng.next_u32() & 1 == 1).collect();
    let lanes: Vec<u64> = values.iter().map(|&value| value.into()).collect();
    let expected: Vec<bool> = evaluate_circuit(circuit, &lanes).iter().map(|lane| lane & 1 == 1).collect();
    let form = config.form(circuit);
    for inputs in [
        InputLabels::of_seed(config.method, rng.next_block(), values.len()),
        blocks(config.method, &mut rng, values.len()),
    ] {
        assert_eq!(run(&form, config, &inputs, &values), expected, "{}", config.method.name());
    }
}

#[test]
fn whole_circuits_agree_with_the_plain_evaluator() {
    let mut rng = Prg::new(Block::ONES);
    for config in configs() {
        for round in 0..20 {
            check(&random::circuit(&mut rng, 1 + round % 9, 4 * round as usize, 5), config, round.into());
        }
        for name in ["compare-and-count(9)", "add(13)", "mul(5)"] {
            check(library::component(name).unwrap().circuit(), config, 77);
        }
    }
}

#[test]
fn aes_is_garbled_by_every_method() {
    let aes = library::find("aes128").unwrap().flatten().unwrap();
    for &method in Method::ALL {
        check(aes.circuit(), PublishedConfig::new(method), 5);
    }
}

#[test]
fn gates_take_as_many_bits_as_published() {
    const T: usize = 128;
    let and = one_gate(2, 0b1000, 0);
    let xor = one_gate(2, 0b0110, 0);
    let bits = |method: Method, circuit: &TableCircuit| {
        let (blocks, bits) = method.sizes(&circuit.gates()[0]);
        T * blocks + bits
    };
    assert_eq!([&and, &xor].map(|c| bits(Method::Base, c)), [4 * (T + 1); 2]);
    assert_eq!(bits(Method::Base, &one_gate(3, 0b1001_0110, 0)), 8 * (T + 1));
    assert_eq!([&and, &xor].map(|c| bits(Method::PrfSs, c)), [2 * T + 4; 2]);
    assert_eq!([&and, &xor].map(|c| bits(Method::Glnp, c)), [2 * T + 4, T]);
    for method in [Method::CorGrr, Method::RomGrr] {
        assert_eq!([&and, &xor].map(|c| bits(method, c)), [3 * (T + 1), 0]);
    }
    // Two ANDs: 8 additional bits are one byte, and 6 take one as well.
    let mut builder = TableBuilder::new(3);
    let [a, b, c] = [0, 1, 2].map(|i| Signal::of(Wire(i)));
    let both = builder.gate(&[a, b], 0b1000);
    let all = builder.gate(&[both, c], 0b1000);
    let two = builder.finish(vec![all]);
    assert_eq!(PublishedConfig::new(Method::PrfSs).table_bytes(&two), 4 * 16 + 1);
    assert_eq!(PublishedConfig::new(Method::CorGrr).table_bytes(&two), 6 * 16 + 1);
}

#[test]
#[should_panic(expected = "prf-ss garbles gates of two inputs")]
fn a_gate_of_three_inputs_is_refused_by_methods_for_two() {
    let circuit = one_gate(3, 0b1000_0000, 0);
    let inputs = InputLabels::of_seed(Method::PrfSs, Block::ZERO, 3);
    garble(&circuit, PublishedConfig::new(Method::PrfSs), &inputs);
}

#[test]
fn tables_of_another_length_are_refused() {
    let circuit = one_gate(2, 0b1000, 0);
    for config in configs() {
        let inputs = InputLabels::of_seed(config.method, Block::ONES, 2);
        let mut tables = garble(&circuit, config, &inputs).tables;
        let active: Vec<Label> = inputs.wires().iter().map(|wire| wire.of(true)).collect();
        tables.push(0);
        assert!(evaluate(&circuit, config, &tables, &active).is_err());
        tables.truncate(tables.len() - 2);
        assert!(evaluate(&circuit, config, &tables, &active).is_err());
    }
}

#[test]
fn a_changed_table_changes_the_result() {
    let circuit = one_gate(2, 0b1000, 0);
    for config in configs() {
        let inputs = InputLabels::of_seed(config.method, Block::ONES, 2);
        let mut tables = garble(&circuit, config, &inputs).tables;
        // The last row, for which every method sends something.
        let active: Vec<Label> = inputs.wires().iter().map(|wire| wire.of(!wire.permutation)).collect();
        let honest = evaluate(&circuit, config, &tables, &active).unwrap();
        // The additional bits are in the last byte.
        *tables.last_mut().unwrap() ^= 0xff;
        assert!(*evaluate(&circuit, config, &tables, &active).unwrap() != *honest, "{}", config.method.name());
    }
}

/// `a AND ((a XOR b) XOR b)`: with free XOR both operands have one label.
fn equal_labels() -> TableCircuit {
    let mut builder = TableBuilder::new(2);
    let [a, b] = [0, 1].map(|i| Signal::of(Wire(i)));
    let sum = builder.gate(&[a, b], 0b0110);
    let again = builder.gate(&[sum, b], 0b0110);
    let and = builder.gate(&[a, again], 0b1000);
    builder.finish(vec![and])
}

/// The block that an evaluator reads from the tables alone: if its pad is zero, the last row is the label of one value in the clear, and the label
/// of the other value is zero.
fn guessed_difference(tables: &[u8]) -> Block {
    Block::from_bytes(*tables[32..].first_chunk().unwrap())
}

#[test]
fn equal_labels_reveal_the_secret_difference_only_as_published() {
    let circuit = equal_labels();
    for config in configs().filter(|config| config.method.has_free_xor()) {
        let inputs = InputLabels::of_seed(config.method, Block::from_u128(6), 2);
        let tables = garble(&circuit, config, &inputs).tables;
        let unsafe_form = config == PublishedConfig { method: Method::CorGrr, sides: Sides::AsPublished };
        assert_eq!(guessed_difference(&tables) == *inputs.difference, unsafe_form);
    }
}

#[test]
fn with_the_difference_the_evaluator_computes_on_inputs_that_nobody_gave() {
    let config = PublishedConfig { method: Method::CorGrr, sides: Sides::AsPublished };
    let circuit = equal_labels();
    let inputs = InputLabels::of_seed(config.method, Block::from_u128(6), 2);
    let garbled = garble(&circuit, config, &inputs);
    // The garbler's input a is 0, so the result is 0.
    let mut active: Vec<Label> = inputs.wires().iter().map(|wire| wire.of(false)).collect();
    let result = |active: &[Label]| {
        evaluate(&circuit, config, &garbled.tables, active).unwrap()[0].lsb() ^ garbled.outputs[0][0].lsb()
    };
    assert!(!result(&active));
    active[0] = active[0] ^ Label { key: guessed_difference(&garbled.tables), external: true };
    assert!(result(&active), "the result for another input of the garbler");
}
