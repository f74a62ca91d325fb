use garblet_circuit::{Gate, Type, Wire, evaluate, random};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::*;
use crate::builder::{Bit, CircuitBuilder, Integer, Unsigned};

mod efforts;

/// Optimises and checks: the same function on random inputs, no more ANDs, no dead gates, and no gain in a second run.
fn check(circuit: &Circuit, rng: &mut StdRng) -> Circuit {
    let better = optimise(circuit, Effort::Quick);
    assert_eq!(better.input_count(), circuit.input_count());
    for _ in 0..4 {
        let inputs: Vec<u64> = (0..circuit.input_count()).map(|_| rng.random()).collect();
        assert_eq!(evaluate_circuit(&better, &inputs), evaluate_circuit(circuit, &inputs));
    }
    assert!(better.stats().and <= circuit.stats().and);
    let mut read = vec![false; better.wire_count()];
    better.outputs().iter().for_each(|w| read[w.index()] = true);
    better.gates().iter().flat_map(|g| g.operands()).for_each(|w| read[w.index()] = true);
    assert!(read[better.input_count() as usize..].iter().all(|&r| r), "no dead gates");
    assert!(optimise(&better, Effort::Quick).stats().and <= better.stats().and);
    better
}

fn built(input_count: u32, gates: &[Gate]) -> Circuit {
    let last = Wire(input_count + gates.len() as u32 - 1);
    Circuit::new(input_count, gates.to_vec(), vec![last]).unwrap()
}

/// AND gates that remain of the last gate of a list.
fn ands(input_count: u32, gates: &[Gate]) -> u64 {
    check(&built(input_count, gates), &mut StdRng::seed_from_u64(1)).stats().and
}

fn and(a: u32, b: u32) -> Gate {
    Gate::And(Wire(a), Wire(b))
}

fn xor(a: u32, b: u32) -> Gate {
    Gate::Xor(Wire(a), Wire(b))
}

fn not(a: u32) -> Gate {
    Gate::Not(Wire(a))
}

#[test]
fn circuits_that_differ_do_not_agree() {
    let (one, other) = (built(2, &[and(0, 1)]), built(2, &[xor(0, 1)]));
    assert!(agree(&one, &one) && !agree(&one, &other));
}

#[test]
fn products_with_a_common_factor_are_one() {
    assert_eq!(ands(3, &[and(0, 1), and(0, 2), xor(3, 4)]), 1);
    // ab ^ d ^ ac ^ ae through a longer sum.
    assert_eq!(ands(5, &[and(0, 1), xor(5, 3), and(2, 0), xor(6, 7), and(4, 0), xor(8, 9)]), 1);
}

#[test]
fn selections_cost_one_and() {
    // s ? b : c, with XOR and with OR.
    assert_eq!(ands(3, &[not(0), and(0, 1), and(3, 2), xor(4, 5)]), 1);
    assert_eq!(ands(3, &[not(0), and(0, 1), and(3, 2), not(4), not(5), and(6, 7), not(8)]), 1);
}

#[test]
fn majorities_cost_one_and() {
    assert_eq!(ands(3, &[and(0, 1), and(0, 2), and(1, 2), xor(3, 4), xor(6, 5)]), 1);
    // The carry of a full adder, ab | c(a ^ b).
    assert_eq!(ands(3, &[and(0, 1), xor(0, 1), and(4, 2), not(3), not(5), and(6, 7), not(8)]), 1);
    assert_eq!(ands(3, &[and(0, 1), xor(0, 1), not(4), and(5, 2), xor(3, 6)]), 1);
}

#[test]
fn adders_of_and_or_and_not_are_recognised() {
    // ab | c(a | b)
    let carry = [not(0), not(1), and(0, 1), and(3, 4), not(6), and(7, 2), not(5), not(8), and(9, 10), not(11)];
    assert_eq!(ands(3, &carry), 1);
    // a ^ b = !(ab) & !(!a & !b)
    assert_eq!(ands(2, &[not(0), not(1), and(0, 1), and(2, 3), not(4), not(5), and(6, 7)]), 0);
    // ab is an output as well: two ANDs, not three.
    let mut gates = carry.to_vec();
    gates.push(xor(12, 5));
    let circuit = Circuit::new(3, gates, [5, 12].map(Wire).to_vec()).unwrap();
    assert!(check(&circuit, &mut StdRng::seed_from_u64(1)).stats().and <= 2);
}

#[test]
fn what_something_else_reads_is_not_rewritten() {
    // ab and ac are outputs as well: merging would need a third AND.
    let gates = vec![and(0, 1), and(0, 2), xor(3, 4)];
    let circuit = Circuit::new(3, gates, [3, 4, 5].map(Wire).to_vec()).unwrap();
    assert_eq!(check(&circuit, &mut StdRng::seed_from_u64(1)).stats().and, 2);
}

#[test]
fn trivial_gates_fold_away() {
    assert_eq!(ands(2, &[and(0, 1), and(1, 0), xor(2, 3)]), 0);
    assert_eq!(ands(2, &[xor(0, 1), not(2), not(3), and(4, 4)]), 0);
    assert_eq!(ands(2, &[Gate::Constant(true), and(0, 2), xor(3, 1)]), 0);
    assert_eq!(ands(2, &[not(0), and(0, 2)]), 0);
    // x & (x & y), x & !(!x & y), x & (x ^ y) & y
    assert_eq!(ands(2, &[and(0, 1), and(0, 2)]), 1);
    assert_eq!(ands(2, &[not(0), and(2, 1), not(3), and(0, 4)]), 0);
    assert_eq!(ands(2, &[xor(0, 1), and(0, 2), and(3, 1)]), 0);
}

#[test]
fn negations_move_out_of_sums() {
    let circuit = built(3, &[not(0), not(1), xor(3, 4), not(5), xor(6, 2)]);
    let better = check(&circuit, &mut StdRng::seed_from_u64(1));
    assert_eq!(better.gates().iter().filter(|g| matches!(g, Gate::Not(_))).count(), 1);
    assert_eq!(better.gates().len(), 3);
}

#[test]
fn edge_cases_keep_their_shape() {
    let rng = &mut StdRng::seed_from_u64(2);
    for (inputs, gates, outputs) in
        [(0, vec![], vec![]), (3, vec![], vec![2, 2, 0]), (0, vec![Gate::Constant(true)], vec![0, 0])]
    {
        let circuit = Circuit::new(inputs, gates, outputs.into_iter().map(Wire).collect()).unwrap();
        assert_eq!(check(&circuit, rng).outputs().len(), circuit.outputs().len());
    }
}

#[test]
fn ripple_carry_adders_written_naively_get_one_and_per_bit() {
    // sum and carry of 32 bits with carry = ab ^ ac ^ bc.
    let mut gates = vec![Gate::Constant(false)];
    let mut carry = 64;
    let mut outputs = Vec::new();
    for k in 0..32 {
        let at = 64 + gates.len() as u32;
        gates.extend([and(k, k + 32), and(k, carry), and(k + 32, carry), xor(at, at + 1), xor(at + 3, at + 2)]);
        gates.extend([xor(k, k + 32), xor(at + 5, carry)]);
        outputs.push(Wire(at + 6));
        carry = at + 4;
    }
    let circuit = Circuit::new(64, gates, outputs).unwrap();
    assert_eq!(check(&circuit, &mut StdRng::seed_from_u64(3)).stats().and, 31);
}

#[test]
fn comparisons_written_naively_get_one_and_per_bit() {
    // less = !a b | less !(a ^ b), from the lowest bit: three ANDs a bit.
    let mut gates = vec![Gate::Constant(false)];
    let mut less = 64;
    for k in 0..32 {
        let at = 64 + gates.len() as u32;
        gates.extend([not(k), and(at, k + 32), xor(k, k + 32), not(at + 2), and(at + 3, less)]);
        gates.extend([not(at + 1), not(at + 4), and(at + 5, at + 6), not(at + 7)]);
        less = at + 8;
    }
    assert_eq!(ands(64, &gates), 32);
}

#[test]
fn an_alu_shares_its_adder() {
    // One bit of an ALU: a + b, a - b, ab and a | b computed apart and selected by two bits.
    let mut c = CircuitBuilder::new("alu");
    let (a, b): (Unsigned, Unsigned) = (c.input("a", Type::Unsigned(8)), c.input("b", Type::Unsigned(8)));
    let (s, t): (Bit, Bit) = (c.input("s", Type::Bool), c.input("t", Type::Bool));
    let (sum, difference) = (c.add(&a, &b), c.sub(&a, &b));
    let (both, either) = (c.and_words(&a, &b), c.or_words(&a, &b));
    let (arithmetic, logic) = (c.select(s, &sum, &difference), c.select(s, &both, &either));
    let out = c.select(t, &arithmetic, &logic);
    c.output("out", &out);
    let component = c.finish().unwrap();
    let better = check(component.circuit(), &mut StdRng::seed_from_u64(5));
    assert_eq!((component.stats().and, better.stats().and), (52, 36));
}

#[test]
fn tables_as_sums_of_minterms_shrink() {
    // The inverse in GF(2^4) with all 16 products of four literals. Five ANDs would suffice.
    let inverse = [0u8, 1, 9, 14, 13, 11, 7, 6, 15, 2, 12, 5, 10, 4, 3, 8];
    let mut c = CircuitBuilder::new("inverse");
    let x: Unsigned = c.input("x", Type::Unsigned(4));
    let mut out = vec![Bit::FALSE; 4];
    for (value, inverse) in inverse.iter().enumerate() {
        let literals: Vec<Bit> = (0..4).map(|i| x.bit(i).invert_if(value >> i & 1 == 0)).collect();
        let minterm = c.all(&literals);
        for (i, bit) in out.iter_mut().enumerate() {
            let term = if inverse >> i & 1 == 1 { minterm } else { Bit::FALSE };
            *bit = c.or(*bit, term);
        }
    }
    c.output("out", &Unsigned::new(out));
    let component = c.finish().unwrap();
    let better = check(component.circuit(), &mut StdRng::seed_from_u64(6));
    assert_eq!((component.stats().and, better.stats().and), (51, 8));
}

#[test]
fn small_circuits_are_right_for_every_input() {
    let rng = &mut StdRng::seed_from_u64(7);
    for _ in 0..500 {
        let circuit = random::circuit(rng, 6, 40, 3);
        let better = check(&circuit, rng);
        let inputs: Vec<u64> = (0..6).map(|i| (0..64).fold(0, |table, x: u64| table | (x >> i & 1) << x)).collect();
        assert_eq!(evaluate_circuit(&better, &inputs), evaluate_circuit(&circuit, &inputs));
        // A function of at most six variables takes at most six ANDs (Çalık, Sönmez Turan and Peralta 2019), three functions 18.
        assert!(better.stats().and <= 18);
    }
}

#[test]
fn long_sums_and_chains_take_linear_time() {
    let chain = |gate: fn(u32, u32) -> Gate| {
        let gates: Vec<Gate> = (0..300_000).map(|g| gate(g % 64, if g == 0 { 1 } else { 63 + g })).collect();
        Circuit::new(64, gates, vec![Wire(300_063)]).unwrap()
    };
    assert_eq!(optimise(&chain(xor), Effort::Quick).stats().and, 0);
    assert!(optimise(&chain(and), Effort::Quick).stats().and <= 300_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_function_stays_and_ands_do_not_grow(seed: u64, inputs in 0u32..12, gates in 1usize..300, outputs in 0usize..12) {
        let rng = &mut StdRng::seed_from_u64(seed);
        check(&random::circuit(rng, inputs, gates, outputs), rng);
    }

    #[test]
    fn programs_keep_ports_links_and_results(seed: u64) {
        let rng = &mut StdRng::seed_from_u64(seed);
        let program = random::program(rng, 80, 3);
        let better = optimise_program(&program, Effort::Quick).unwrap();
        prop_assert_eq!(better.inputs(), program.inputs());
        prop_assert_eq!(better.outputs(), program.outputs());
        prop_assert!(better.stats().and <= program.stats().and);
        let inputs = random::inputs(rng, &program);
        prop_assert_eq!(evaluate(&better, &inputs), evaluate(&program, &inputs));
    }
}

#[test]
fn large_random_circuits_stay_right() {
    let rng = &mut StdRng::seed_from_u64(9);
    for gates in [5000, 30_000] {
        check(&random::circuit(rng, 200, gates, 500), rng);
    }
}
