//! More effort: fewer AND gates, the same function, the same circuit on every machine.

use batsat::{BasicSolver, Lit, SolverInterface, lbool};
use garblet_circuit::Literal;

use super::*;
use crate::library;

/// A circuit of AND and NOT alone: three ANDs for each XOR.
fn without_xor(circuit: &Circuit) -> Circuit {
    let inputs = circuit.input_count();
    let mut gates = Vec::new();
    let mut wires: Vec<Wire> = (0..inputs).map(Wire).collect();
    let mut push = |gate: Gate| {
        gates.push(gate);
        Wire(inputs + gates.len() as u32 - 1)
    };
    for gate in circuit.gates() {
        let at = |wire: Wire| wires[wire.index()];
        let wire = match *gate {
            Gate::Xor(a, b) => {
                let (a, b) = (at(a), at(b));
                let [not_a, not_b] = [a, b].map(|wire| push(Gate::Not(wire)));
                let [left, right] = [(a, not_b), (not_a, b)].map(|(a, b)| push(Gate::And(a, b)));
                let [left, right] = [left, right].map(|wire| push(Gate::Not(wire)));
                let neither = push(Gate::And(left, right));
                push(Gate::Not(neither))
            }
            Gate::And(a, b) => push(Gate::And(at(a), at(b))),
            Gate::Not(a) => push(Gate::Not(at(a))),
            Gate::Constant(value) => push(Gate::Constant(value)),
        };
        wires.push(wire);
    }
    let outputs = circuit.outputs().iter().map(|wire| wires[wire.index()]).collect();
    Circuit::new(inputs, gates, outputs).unwrap()
}

fn of_library(name: &str) -> Circuit {
    library::find(name).unwrap().flatten().unwrap().circuit().clone()
}

/// Variables for the wires of a circuit whose inputs have these.
fn wires(solver: &mut BasicSolver, inputs: &[Lit], circuit: &Circuit) -> Vec<Lit> {
    let mut wires = inputs.to_vec();
    for gate in circuit.gates() {
        let z = Lit::new(solver.new_var_default(), true);
        let at = |wire: Wire| wires[wire.index()];
        let clauses = match *gate {
            Gate::Xor(a, b) => {
                let (a, b) = (at(a), at(b));
                vec![vec![!z, a, b], vec![!z, !a, !b], vec![z, !a, b], vec![z, a, !b]]
            }
            Gate::And(a, b) => vec![vec![!z, at(a)], vec![!z, at(b)], vec![z, !at(a), !at(b)]],
            Gate::Not(a) => vec![vec![z, at(a)], vec![!z, !at(a)]],
            Gate::Constant(value) => vec![vec![if value { z } else { !z }]],
        };
        for mut clause in clauses {
            solver.add_clause_reuse(&mut clause);
        }
        wires.push(z);
    }
    wires
}

/// Returns whether two circuits are equal, by a solver.
fn are_equal(one: &Circuit, other: &Circuit) -> bool {
    let mut solver = BasicSolver::default();
    let inputs: Vec<Lit> = (0..one.input_count()).map(|_| Lit::new(solver.new_var_default(), true)).collect();
    let [left, right] = [one, other].map(|circuit| wires(&mut solver, &inputs, circuit));
    one.outputs().iter().zip(other.outputs()).all(|(a, b)| {
        let (a, b) = (left[a.index()], right[b.index()]);
        solver.solve_limited(&[a, !b]) == lbool::FALSE && solver.solve_limited(&[!a, b]) == lbool::FALSE
    })
}

/// The AND gates of a library circuit, of the same without XOR, and of that with each effort, all proved equal.
fn counts(name: &str) -> [u64; 5] {
    let made = of_library(name);
    let plain = without_xor(&made);
    let better = Effort::NAMED.map(|(_, effort)| optimise(&plain, effort));
    for circuit in &better {
        assert!(are_equal(circuit, &made), "{name}");
    }
    let [quick, usual, thorough] = better.map(|circuit| circuit.stats().and);
    [made.stats().and, plain.stats().and, quick, usual, thorough]
}

#[test]
fn the_solver_tells_circuits_apart() {
    let one = built(2, &[and(0, 1)]);
    assert!(are_equal(&one, &one));
    assert!(!are_equal(&one, &built(2, &[xor(0, 1)])));
}

#[test]
fn circuits_without_xor_become_as_small_as_the_library_makes_them() {
    // AND gates: made by the library, without XOR, and of that with each effort.
    let expected = [
        ("add(16)", [15, 192, 15, 15, 15]),
        ("mul(6)", [31, 142, 31, 31, 31]),
        ("div(6)", [30, 342, 31, 30, 30]),
        ("max(8)", [16, 127, 16, 16, 16]),
    ];
    assert_eq!(expected.map(|(name, _)| (name, counts(name))), expected);
}

/// A function of six variables, as a sum of the products of all its points.
fn of_points(table: u64) -> Circuit {
    let mut graph = Xag::with_inputs(6);
    let inputs = graph.leaves();
    let mut sum = Literal::FALSE;
    for x in (0..64).filter(|x| table >> x & 1 == 1) {
        let point = (0..6).fold(Literal::TRUE, |point, i| graph.and(point, inputs[i + 1].invert_if(x >> i & 1 == 0)));
        sum = graph.xor(sum, point);
    }
    graph.outputs = vec![sum];
    graph.into_circuit().unwrap()
}

#[test]
fn functions_of_few_variables_become_small() {
    let [a, b, c, d, e, f] = functions::VARIABLE;
    let majority = (0..64u64).filter(|x: &u64| (x & 31).count_ones() > 2).fold(0, |table, x| table | 1 << x);
    let functions = [majority, a & b & c ^ d & e & f ^ a & d, a & b & c & d & e & f, (a ^ b & c) & (d ^ e & f)];
    let counts = functions.map(|table| {
        let circuit = of_points(table);
        let better = Effort::NAMED.map(|(_, effort)| optimise(&circuit, effort));
        assert!(better.iter().all(|better| evaluate_circuit(better, &functions::VARIABLE) == [table]));
        // Other structures with as many ANDs are dropped if they have more XORs.
        assert!(better.is_sorted_by_key(|circuit| std::cmp::Reverse(circuit.stats().xor)));
        better.map(|circuit| circuit.stats().and)
    });
    assert_eq!(counts, [[3; 3], [4; 3], [5; 3], [3; 3]]);
}

#[test]
fn small_circuits_are_right_with_every_effort() {
    let rng = &mut StdRng::seed_from_u64(11);
    for _ in 0..40 {
        let circuit = random::circuit(rng, 6, 60, 4);
        let inputs: Vec<u64> = (0..6).map(|i| (0..64).fold(0, |table, x: u64| table | (x >> i & 1) << x)).collect();
        let better = Effort::NAMED.map(|(_, effort)| optimise(&circuit, effort));
        for circuit_now in &better {
            assert_eq!(evaluate_circuit(circuit_now, &inputs), evaluate_circuit(&circuit, &inputs));
        }
        assert!(better.is_sorted_by_key(|circuit| std::cmp::Reverse(circuit.stats().and)));
    }
}

#[test]
fn the_same_circuit_becomes_the_same_circuit() {
    let plain = without_xor(&of_library("add(16)"));
    let [one, two] = [(); 2].map(|()| optimise(&plain, Effort::Usual));
    assert!(one.gates() == two.gates() && one.outputs() == two.outputs());
}

/// The bounds for a circuit file that is run.
const SHALLOW: Goal = Goal { effort: Effort::Usual, keeps_layers: true, most_work: Some(400_000) };

#[test]
fn layers_are_kept_where_that_is_asked_for() {
    let rng = &mut StdRng::seed_from_u64(12);
    let (mut kept_fewer, mut free_deeper) = (0, 0);
    for _ in 0..60 {
        let circuit = random::circuit(rng, 8, 120, 6);
        let kept = optimise(&circuit, SHALLOW);
        let free = optimise(&circuit, Effort::Usual);
        assert!(are_equal(&kept, &circuit));
        assert!(kept.stats().and_depth <= circuit.stats().and_depth);
        assert!(kept.stats().and <= circuit.stats().and);
        kept_fewer += usize::from(kept.stats().and < circuit.stats().and);
        free_deeper += usize::from(free.stats().and_depth > circuit.stats().and_depth);
    }
    assert!(kept_fewer > 50 && free_deeper > 0, "{kept_fewer} {free_deeper}");
}

#[test]
fn shallow_circuits_are_proved_equal() {
    for name in ["add(16)@depth", "mul(6)@depth", "max(8)@depth", "div(6)"] {
        let made = of_library(name);
        let plain = without_xor(&made);
        let better = optimise(&plain, SHALLOW);
        assert!(are_equal(&better, &made), "{name}");
        assert!(better.stats().and_depth <= plain.stats().and_depth && 2 * better.stats().and < plain.stats().and);
    }
}

#[test]
fn no_pass_begins_beyond_the_work() {
    let plain = without_xor(&of_library("div(6)"));
    let of_work = |work| optimise(&plain, Goal { most_work: Some(work), ..SHALLOW }).stats().and;
    assert_eq!([0, 10_000].map(of_work), [32, 30]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 20 } else { 200 }))]

    #[test]
    fn random_circuits_keep_their_function(seed: u64, inputs in 1u32..14, gates in 1usize..200, outputs in 1usize..12) {
        let rng = &mut StdRng::seed_from_u64(seed);
        let circuit = random::circuit(rng, inputs, gates, outputs);
        let words: Vec<u64> = (0..inputs).map(|_| rng.random()).collect();
        let mut ands = circuit.stats().and;
        for (name, effort) in Effort::NAMED {
            let better = optimise(&circuit, effort);
            prop_assert_eq!(evaluate_circuit(&better, &words), evaluate_circuit(&circuit, &words), "{}", name);
            prop_assert!(better.stats().and <= ands, "{}", name);
            ands = better.stats().and;
        }
        let shallow = optimise(&circuit, SHALLOW);
        prop_assert_eq!(evaluate_circuit(&shallow, &words), evaluate_circuit(&circuit, &words));
        prop_assert!(shallow.stats().and_depth <= circuit.stats().and_depth);
    }
}
