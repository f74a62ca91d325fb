//! File 9: a gate of each scheme under each hash.

use garblet::{
    Bits, GarblingConfig, HashKind, Party, Program, SchemeKind,
    circuit::{Circuit, Component, Gate, Port, Type, Wire, evaluate},
};
use garblet_garble::{Evaluator, Garbler, Schedules, Seeds};
use garblet_primitives::{Block, Delta, Prg};
use serde_json::{Value, json};

use super::{block, blocks, hex, hold};

/// A gate number beyond the first key of every scheme.
const GATE: u64 = 5000;

/// `!a & b`: the garbler's operand is negated.
fn program() -> Program {
    let gates = vec![Gate::Not(Wire(0)), Gate::And(Wire(2), Wire(1))];
    let port = |name: &str| Port::new(name, Type::Bool);
    let circuit = Circuit::new(2, gates, vec![Wire(3)]).expect("a circuit");
    let component = Component::new("gate", vec![port("a"), port("b")], vec![port("c")], circuit).expect("a component");
    Program::from_component(component, &[Party(0), Party(1)]).expect("a program")
}

fn gate(scheme: SchemeKind, hash: HashKind) -> Value {
    let (program, config) = (program(), GarblingConfig { scheme, hash });
    let schedules = Schedules::new(&program);
    let mut stream = Prg::new(Block::from_u128(9));
    let delta = Delta::new(stream.next_block());
    let zero = [stream.next_block(), stream.next_block()].map(|label| config.zero_label(label));
    let (seed, secret) = (stream.next_block(), stream.next_block());
    let inputs = |labels: [Block; 2]| labels.map(|label| vec![label].into_boxed_slice()).to_vec();
    let mut garbler = Garbler::new(&program, &schedules, config, &delta, Seeds::new(seed, secret), GATE, inputs(zero));
    let mut table = Vec::new();
    garbler.garble_chunk(&mut table);
    let result = garbler.into_outputs()[0][0];
    let active = [[false, false], [false, true], [true, false], [true, true]].map(|values| {
        let of = |at: usize| zero[at] ^ (Block::mask(values[at]) & delta.block());
        let mut evaluator = Evaluator::new(&program, &schedules, config, seed, GATE, inputs([of(0), of(1)]));
        evaluator.evaluate_chunk(&table).expect("a chunk");
        let active = evaluator.into_outputs()[0][0];
        let plain = evaluate(&program, &values.map(|value| Bits::from_u128(value.into(), 1)));
        let value = plain[0].get(0);
        assert!(active == result ^ (Block::mask(value) & delta.block()), "{scheme} {hash}");
        json!({ "values": values.map(u8::from), "labels": [block(of(0)), block(of(1))], "result": block(active) })
    });
    json!({
        "scheme": scheme.name(), "hash": hash.name(), "gate": GATE, "delta": block(delta.block()), "hash_seed": block(seed),
        "zero_labels": blocks(&zero), "table": hex(table), "result_zero_label": block(result), "active": active,
    })
}

/// A component with five inputs and three outputs that is shorter as a table.
fn small() -> Program {
    let mut gates = Vec::new();
    for i in 0..20u32 {
        let wires = 5 + 2 * i;
        gates.extend([
            Gate::And(Wire(wires - 1), Wire(7 * i % wires)),
            Gate::Xor(Wire(wires), Wire((3 * i + 1) % wires)),
        ]);
    }
    let circuit = Circuit::new(5, gates, vec![Wire(44), Wire(43), Wire(42)]).expect("a circuit");
    let port = |name: &str, width| vec![Port::new(name, Type::Bits(width))];
    let component = Component::new("small", port("a", 5), port("o", 3), circuit).expect("a component");
    Program::from_component(component, &[Party(0)]).expect("a program")
}

fn table(config: GarblingConfig) -> Value {
    let program = small();
    let plain = Schedules::new(&program);
    let schedules = plain.with_tables(&program, config).expect("in memory");
    assert!(schedules.and_count() < plain.and_count());
    let mut stream = Prg::new(Block::from_u128(10));
    let delta = Delta::new(stream.next_block());
    let zero: Vec<Block> = (0..5).map(|_| stream.next_block()).collect();
    let (seed, secret) = (stream.next_block(), stream.next_block());
    let inputs = |labels: &[Block]| vec![labels.to_vec().into_boxed_slice()];
    let seeds = Seeds::new(seed, secret);
    let mut garbler = Garbler::new(&program, &schedules, config, &delta, seeds, GATE, inputs(&zero));
    let mut table = Vec::new();
    garbler.garble_chunk(&mut table);
    let results = garbler.into_outputs();
    let row = |x: u128| evaluate(&program, &[Bits::from_u128(x, 5)])[0].to_u128().expect("three bits");
    let active = [0, 13, 31].map(|x: u128| {
        let of = |zero: &[Block], value: u128| -> Vec<Block> {
            let label = |(k, &zero): (usize, &Block)| zero ^ Block::mask(value >> k & 1 == 1) & delta.block();
            zero.iter().enumerate().map(label).collect()
        };
        let labels = of(&zero, x);
        let mut evaluator = Evaluator::new(&program, &schedules, config, seed, GATE, inputs(&labels));
        evaluator.evaluate_chunk(&table).expect("a chunk");
        let found = evaluator.into_outputs();
        assert!(found[0][..] == of(&results[0], row(x))[..], "{} {}", config.scheme, config.hash);
        json!({ "labels": blocks(&labels), "results": blocks(&found[0]) })
    });
    json!({
        "scheme": config.scheme.name(), "hash": config.hash.name(), "gate": GATE, "delta": block(delta.block()),
        "hash_seed": block(seed), "rows": (0..32).map(|x| row(x) as u64).collect::<Vec<u64>>(), "outputs": 3,
        "zero_labels": blocks(&zero), "table": hex(table), "result_zero_labels": blocks(&results[0]), "active": active,
    })
}

#[test]
fn a_gate_of_each_scheme_and_hash_is_held() {
    let pairs = SchemeKind::ALL.iter().flat_map(|&scheme| HashKind::ALL.iter().map(move |&hash| (scheme, hash)));
    let gates: Vec<Value> = pairs.clone().map(|(scheme, hash)| gate(scheme, hash)).collect();
    let configs = pairs.map(|(scheme, hash)| GarblingConfig { scheme, hash });
    let tables: Vec<Value> = configs.filter(|config| config.garbles_tables()).map(table).collect();
    hold("garbling.json", &json!({ "circuit": "c = !a & b", "gates": gates, "tables": tables }));
}
