//! The plain evaluator: 64 instances of a program in the clear in one pass.
//!
//! It runs the circuits' gate lists directly, without a [`Schedule`](crate::Schedule), so that it can serve as the
//! oracle for everything that uses one.

use crate::{bits::Bits, circuit::Circuit, gate::Gate, program::Program, walk::Walk};

/// The number of instances that [`evaluate_lanes`] runs at once.
pub const LANES: usize = 64;

/// Runs a program once.
///
/// *Shape*: takes one value per program input, each as wide as its port; returns one per output.
///
/// # Panics
/// If the shape is wrong.
pub fn evaluate(program: &Program, inputs: &[Bits]) -> Vec<Bits> {
    let mut outputs = evaluate_many(program, std::slice::from_ref(&inputs));
    outputs.pop().expect("one instance in, one out")
}

/// Runs a program for each element of `instances`, 64 in a pass.
///
/// *Shape*: as [`evaluate`] for each instance.
///
/// # Panics
/// If the shape is wrong.
pub fn evaluate_many<I: AsRef<[Bits]>>(program: &Program, instances: &[I]) -> Vec<Vec<Bits>> {
    let mut results = Vec::with_capacity(instances.len());
    for batch in instances.chunks(LANES) {
        let inputs = (0..program.inputs().len()).map(|k| pack(batch.iter().map(|i| &i.as_ref()[k])));
        let counts_match = batch.iter().all(|i| i.as_ref().len() == program.inputs().len());
        assert!(counts_match, "one value per program input");
        let outputs = evaluate_lanes(program, inputs.collect());
        results.extend((0..batch.len()).map(|lane| outputs.iter().map(|wires| unpack(wires, lane)).collect()));
    }
    results
}

/// Runs 64 instances of a program: bit `k` of every word belongs to instance `k`.
///
/// *Shape*: takes one word per wire of each program input; returns one per wire of each output.
///
/// # Panics
/// If the shape is wrong.
pub fn evaluate_lanes(program: &Program, inputs: Vec<Box<[u64]>>) -> Vec<Box<[u64]>> {
    let mut walk = Walk::new(program, inputs, [0, u64::MAX]);
    let mut wires = Vec::new();
    let mut outputs = Vec::new();
    while let Some(instance) = walk.next_instance(&mut wires) {
        let circuit = program.component_of(instance).circuit();
        run(circuit, &mut wires);
        outputs.extend(circuit.outputs().iter().map(|w| wires[w.index()]));
        walk.finish(instance, &outputs);
        wires.clear();
        outputs.clear();
    }
    walk.into_outputs()
}

/// Runs 64 instances of a circuit: bit `k` of every word belongs to instance `k`.
///
/// *Shape*: takes one word per input wire; returns one per output.
///
/// # Panics
/// If the shape is wrong.
pub fn evaluate_circuit(circuit: &Circuit, inputs: &[u64]) -> Vec<u64> {
    assert_eq!(inputs.len(), circuit.input_count() as usize, "one word per input wire");
    let mut wires = inputs.to_vec();
    run(circuit, &mut wires);
    circuit.outputs().iter().map(|w| wires[w.index()]).collect()
}

/// Appends the gates' values to the input values.
fn run(circuit: &Circuit, wires: &mut Vec<u64>) {
    wires.reserve_exact(circuit.gates().len());
    for gate in circuit.gates() {
        wires.push(match *gate {
            Gate::Xor(a, b) => wires[a.index()] ^ wires[b.index()],
            Gate::And(a, b) => wires[a.index()] & wires[b.index()],
            Gate::Not(a) => !wires[a.index()],
            Gate::Constant(false) => 0,
            Gate::Constant(true) => u64::MAX,
        });
    }
}

/// Transposes one value per lane to one word per wire.
fn pack<'a>(lanes: impl Iterator<Item = &'a Bits>) -> Box<[u64]> {
    let mut wires: Box<[u64]> = Box::default();
    for (lane, bits) in lanes.enumerate() {
        if lane == 0 {
            wires = vec![0; bits.len()].into();
        }
        assert_eq!(bits.len(), wires.len(), "width of instance {lane}");
        for (wire, bit) in wires.iter_mut().zip(bits.iter()) {
            *wire |= u64::from(bit) << lane;
        }
    }
    wires
}

fn unpack(wires: &[u64], lane: usize) -> Bits {
    wires.iter().map(|word| word >> lane & 1 == 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Component, Party, Port, Recipients, Source, Type, Wire, program::Link};

    /// Two inputs; xor, and, not, both constants, an input, and the same wire again.
    fn every_gate() -> Circuit {
        let gates = vec![
            Gate::Xor(Wire(0), Wire(1)),
            Gate::And(Wire(0), Wire(1)),
            Gate::Not(Wire(0)),
            Gate::Constant(false),
            Gate::Constant(true),
        ];
        Circuit::new(2, gates, [2, 3, 4, 5, 6, 1, 1].map(Wire).to_vec()).unwrap()
    }

    #[test]
    fn every_gate_has_its_truth_table() {
        let (a, b) = (0b1010, 0b1100);
        let outputs = evaluate_circuit(&every_gate(), &[a, b]);
        assert_eq!(outputs, [a ^ b, a & b, !a, 0, u64::MAX, b, b]);
    }

    /// Feeds an increment-by-constant through two instances in a chain, with slices and constants in the links.
    fn chained() -> Program {
        // (a, b) -> (a & b, a ^ b), a half adder.
        let gates = vec![Gate::And(Wire(0), Wire(1)), Gate::Xor(Wire(0), Wire(1))];
        let half = Circuit::new(2, gates, vec![Wire(2), Wire(3)]).unwrap();
        let ports = |names: [&str; 2]| names.map(|n| Port::new(n, Type::Bool)).to_vec();
        let half = Component::new("half adder", ports(["a", "b"]), ports(["carry", "sum"]), half).unwrap();
        let mut program = Program::new("increment");
        let half = program.add_component(half);
        let x = program.add_input(Port::new("x", Type::Unsigned(2)), Party(0)).unwrap();
        let bit = |source, start| Link { source, start, len: 1 };
        let low = program.add_instance(half, &[bit(Source::Input(x), 0), bit(Source::Constant(true), 0)]).unwrap();
        let carry = Source::Instance(low);
        let high = program.add_instance(half, &[bit(Source::Input(x), 1), bit(carry, 0)]).unwrap();
        let sum = vec![bit(carry, 1), bit(Source::Instance(high), 1), bit(Source::Instance(high), 0)];
        program.add_output(Port::new("sum", Type::Unsigned(3)), Recipients::All, sum).unwrap();
        program
    }

    #[test]
    fn links_carry_slices_and_constants() {
        for x in 0..4 {
            let outputs = evaluate(&chained(), &[Bits::from_u128(x, 2)]);
            assert_eq!(outputs[0].to_u128(), Some(x + 1));
        }
    }

    #[test]
    fn every_number_of_instances_around_a_pass_gives_one_result_each() {
        for count in [0, 1, 63, 64, 65, 128, 129] {
            let instances: Vec<[Bits; 1]> = (0..count).map(|i| [Bits::from_u128(i as u128 % 4, 2)]).collect();
            let results = evaluate_many(&chained(), &instances);
            assert_eq!(results.len(), count);
            for (i, result) in results.iter().enumerate() {
                assert_eq!(result[0].to_u128(), Some(i as u128 % 4 + 1), "instance {i} of {count}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "one value per program input")]
    fn a_missing_input_is_refused() {
        let two = [Bits::zeros(2), Bits::zeros(2)];
        evaluate(&chained(), &two);
    }

    #[test]
    #[should_panic(expected = "width of input x")]
    fn an_input_of_the_wrong_width_is_refused() {
        evaluate(&chained(), &[Bits::zeros(3)]);
    }

    #[test]
    #[should_panic(expected = "width of instance 1")]
    fn instances_of_different_width_are_refused() {
        evaluate_many(&chained(), &[[Bits::zeros(2)], [Bits::zeros(1)]]);
    }
}
