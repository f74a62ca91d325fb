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

#[test]
fn a_gate_of_each_scheme_and_hash_is_held() {
    let pairs = SchemeKind::ALL.iter().flat_map(|&scheme| HashKind::ALL.iter().map(move |&hash| (scheme, hash)));
    let gates: Vec<Value> = pairs.map(|(scheme, hash)| gate(scheme, hash)).collect();
    hold("garbling.json", &json!({ "circuit": "c = !a & b", "gates": gates }));
}
