//! A program beyond every border at which the order of what is sent changes: the transcripts of small ones do not show it.

use std::sync::Arc;

use garblet::{
    Program,
    circuit::{Circuit, Component, Gate, Link, Party, Port, Recipients, Schedule, Source, Type, Windows, Wire},
};
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// OTs that are extended at once.
const OTS_AT_ONCE: u32 = 7680;

/// AND gates of the tables that `yao` sends as one.
const PIECE_ANDS: u64 = 6 * 4096;

/// Instances that are garbled side by side.
const SIDE_BY_SIDE: u32 = 4;

/// A circuit of so many random gates, each of the wire that is `back` wires before it and of one of as many before that; the last 16 are
/// outputs.
fn circuit(rng: &mut StdRng, inputs: u32, gates: u32, back: u32) -> Circuit {
    let gates = (0..gates).map(|gate| {
        let first = inputs + gate - back;
        let [a, b] = [Wire(first), Wire(rng.random_range(first.saturating_sub(back)..first.max(1)))];
        if rng.random_ratio(3, 4) { Gate::And(a, b) } else { Gate::Xor(a, b) }
    });
    let gates: Vec<Gate> = gates.collect();
    let wires = inputs + gates.len() as u32;
    Circuit::new(inputs, gates, (wires - 16..wires).map(Wire).collect()).expect("wires that exist")
}

/// A circuit that adds inputs up, `sums` times, and then so many random AND gates of inputs, each as soon as it is there: in this order few wires
/// are alive, level by level many.
fn sum_of_products(rng: &mut StdRng, inputs: u32, sums: u32, products: u32) -> Circuit {
    let sum = |at: u32| Gate::Xor(Wire((inputs + at).saturating_sub(1)), Wire(at % (inputs - 1)));
    let mut gates: Vec<Gate> = (0..sums).map(sum).collect();
    for product in 0..products {
        let first = inputs + sums + 2 * product;
        let mut input = || Wire(rng.random_range(0..inputs));
        gates.extend([Gate::And(input(), input()), Gate::Xor(Wire(first), Wire(first.saturating_sub(1)))]);
    }
    let wires = inputs + gates.len() as u32;
    Circuit::new(inputs, gates, (wires - 16..wires).map(Wire).collect()).expect("wires that exist")
}

fn component(name: &str, circuit: Circuit) -> Component {
    let inputs = vec![Port::new("in", Type::Bits(circuit.input_count()))];
    Component::new(name, inputs, vec![Port::new("out", Type::Bits(16))], circuit).expect("ports that fit")
}

/// The program: many inputs; components in which narrow windows keep fewer wires alive, of which one has few all the same; a long one in which few
/// are alive anyway; and five instances that do not read one another.
pub(super) fn program() -> Arc<Program> {
    let mut rng = StdRng::seed_from_u64(0x0b0d);
    let many = OTS_AT_ONCE + 100;
    let mut program = Program::new("borders");
    let [wide, sums, few, long, small] = [
        component("wide", circuit(&mut rng, 32 + many, 5_000, 3_000)),
        component("sums", sum_of_products(&mut rng, 16, 0, 10_000)),
        component("few", sum_of_products(&mut rng, 16, 1_200, 2_000)),
        component("long", circuit(&mut rng, 32, 70_000, 30)),
        component("small", circuit(&mut rng, 16, 300, 9)),
    ]
    .map(|component| program.add_component(component));
    let a = program.add_input(Port::new("a", Type::Bits(32)), Party(0)).expect("a new name");
    let b = program.add_input(Port::new("b", Type::Bits(many)), Party(1)).expect("a new name");
    let [a, b] = [a, b].map(|input| program.input_link(input));
    let of = |instance, len| Link { source: Source::Instance(instance), start: 0, len };
    let wide = program.add_instance(wide, &[a, b]).expect("links that fit");
    let sums = program.add_instance(sums, &[of(wide, 16)]).expect("links that fit");
    let few = program.add_instance(few, &[of(sums, 16)]).expect("links that fit");
    let long = program.add_instance(long, &[of(few, 16), Link { len: 16, ..a }]).expect("links that fit");
    let mut outputs = Vec::new();
    for start in 0..=SIDE_BY_SIDE {
        let link = [Link { start, len: 8, ..b }, of(long, 8)];
        outputs.push(of(program.add_instance(small, &link).expect("links that fit"), 16));
    }
    let width = outputs.iter().map(|link| link.len).sum();
    program.add_output(Port::new("out", Type::Bits(width)), Recipients::All, outputs).expect("a new name");
    Arc::new(program)
}

/// A change of any number that decides the order changes it for this program, so that transcripts of its runs are held to each.
#[test]
fn the_program_is_beyond_every_border() {
    let program = program();
    let order = |windows: Windows| -> Vec<_> {
        let of = |component: &Arc<Component>| Schedule::within(component.circuit(), windows).ands().to_vec();
        program.components().iter().map(of).collect()
    };
    let standard = Windows::STANDARD;
    let ordered = order(standard);
    for windows in [
        Windows { gates: standard.gates / 2, ..standard },
        Windows { wide_gates: standard.wide_gates / 2, ..standard },
        Windows { cached_slots: 100, ..standard },
        Windows { cached_slots: 100_000, ..standard },
    ] {
        assert!(order(windows) != ordered, "{windows:?}");
    }
    let ands: Vec<u64> = ordered.iter().map(|ands| ands.len() as u64).collect();
    assert!(ands.iter().sum::<u64>() > PIECE_ANDS, "{ands:?}");
    assert!(program.instance_count() as u32 - 4 > SIDE_BY_SIDE);
}
