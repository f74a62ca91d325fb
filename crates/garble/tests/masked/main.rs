//! Programs garbled with shared masks give the plain evaluator's answers under the masks, and their checks pass, for every
//! processor and cut. An ideal dealer shares the masks.

mod dealer;

use garblet_circuit::{
    Bits, Circuit, Component, Gate, Link, Party, Port, Program, Recipients, Source, Type, Wire, random,
};
use garblet_garble::{
    Schedules,
    masked::{CheckMut, GateMasks, MaskWalk, MaskedEvaluator, MaskedGarbler},
};
use garblet_primitives::{Aes128, Backend, Block, Delta, Prg};
use proptest::prelude::*;

use crate::dealer::{
    Dealt, Evaluated, Garbled, Gates, PerGate, Pieces, Shares, WHOLE, Wires, asks_for_labels, deal, evaluate, garble,
    walk,
};

fn is_zero(blocks: &[Block]) -> bool {
    blocks.iter().all(|block| *block == Block::ZERO)
}

/// Garbles and evaluates on every backend, and compares with the plain evaluator.
fn check(program: &Program, inputs: &[Bits], seed: u128, sizes: &[usize]) {
    let dealt = deal(program, inputs, seed);
    let plain = garblet_circuit::evaluate(program, inputs);
    for with_tags in [false, true] {
        let expected = garble(program, &dealt, with_tags, Backend::PORTABLE, WHOLE);
        let evaluated = evaluate(program, &dealt, &expected, with_tags, Backend::PORTABLE, WHOLE);
        assert!(is_zero(&evaluated.checks), "checks");
        check_outputs(&dealt, &expected.outputs, &evaluated.outputs, &plain);
        for backend in Backend::available() {
            assert!(garble(program, &dealt, with_tags, backend, WHOLE) == expected, "garbled on {backend}");
            let again = evaluate(program, &dealt, &expected, with_tags, backend, WHOLE);
            assert!(again == evaluated, "evaluated on {backend}");
            let in_pieces = garble(program, &dealt, with_tags, backend, sizes);
            check_pieces(&in_pieces.labels, &expected.labels, sizes);
            assert!(Garbled { labels: expected.labels.clone(), ..in_pieces } == expected, "pieces on {backend}");
            if with_tags {
                let in_pieces = evaluate(program, &dealt, &expected, with_tags, backend, sizes);
                check_pieces(&in_pieces.labels, &evaluated.labels, sizes);
                assert!(
                    Evaluated { labels: evaluated.labels.clone(), ..in_pieces } == evaluated,
                    "pieces on {backend}"
                );
            }
        }
    }
}

/// Labels equal those of the whole, except in pieces whose labels are not requested.
fn check_pieces(labels: &[Block], expected: &[Block], sizes: &[usize]) {
    for gates in Pieces::new(labels.len() as u64, sizes) {
        match asks_for_labels(&gates, labels.len()) {
            true => assert!(labels[gates.clone()] == expected[gates]),
            false => assert!(labels[gates].iter().all(|label| *label == Block::ONES)),
        }
    }
}

fn check_outputs(dealt: &Dealt, zero_labels: &Wires, active_labels: &Wires, plain: &[Bits]) {
    assert_eq!([zero_labels.len(), active_labels.len(), dealt.output_masks.len()], [plain.len(); 3]);
    for (output, plain) in plain.iter().enumerate() {
        let [zero, active, masks] = [zero_labels, active_labels, &dealt.output_masks].map(|of| &of[output]);
        assert_eq!([zero.len(), active.len(), masks.len()], [plain.len(); 3]);
        for (wire, value) in plain.iter().enumerate() {
            let masked = value ^ masks[wire].lsb();
            assert!(!zero[wire].lsb() && active[wire].lsb() == masked, "bit {wire} of output {output}");
            assert!(active[wire] == zero[wire] ^ Block::mask(masked) & dealt.delta.block(), "label of wire {wire}");
        }
    }
}

/// The program of one component.
fn single(circuit: Circuit) -> Program {
    let port = |name, width: usize| vec![Port::new(name, Type::Bits(width as u32))];
    let (inputs, outputs) = (port("in", circuit.input_count() as usize), port("out", circuit.outputs().len()));
    Program::from_component(Component::new("test", inputs, outputs, circuit).unwrap(), &[Party(0)]).unwrap()
}

/// A circuit whose AND gates are all independent, with operands inverted in every way.
fn wide(ands: u32) -> Circuit {
    let mut gates = Vec::new();
    let mut outputs = Vec::new();
    for g in 0..ands {
        let mut operand = |wire: u32, inverted: bool| {
            if !inverted {
                return Wire(wire);
            }
            gates.push(Gate::Not(Wire(wire)));
            Wire(2 * ands + gates.len() as u32 - 1)
        };
        let operands = [operand(2 * g, g & 1 == 1), operand(2 * g + 1, g & 2 == 2)];
        gates.push(Gate::And(operands[0], operands[1]));
        outputs.push(Wire(2 * ands + gates.len() as u32 - 1));
    }
    Circuit::new(2 * ands, gates, outputs).unwrap()
}

/// A circuit with five inputs and this many AND gates: each of the previous wire and of one halfway back, and negated, so
/// values do not become constant.
fn and_chain(ands: usize) -> Circuit {
    let pair = |g: u32| {
        let last = 4 + 2 * g;
        [Gate::And(Wire(last), Wire(last.saturating_sub(3) / 2)), Gate::Not(Wire(last + 1))]
    };
    let gates: Vec<Gate> = (0..ands as u32).flat_map(pair).collect();
    let last = 4 + gates.len() as u32;
    Circuit::new(5, gates, vec![Wire(last), Wire(last - 3), Wire(2)]).unwrap()
}

/// `width` chains side by side, `length` instances of a component of five inputs each.
fn side_by_side(component: Component, width: u32, length: usize) -> Program {
    let each = component.output_width();
    let mut program = Program::new("side by side");
    let component = program.add_component(component);
    let input = program.add_input(Port::new("in", Type::Bits(5 * width)), Party(0)).unwrap();
    let of_chain = |k| Link { source: Source::Input(input), start: 5 * k, len: 5 };
    let mut chains: Vec<Vec<Link>> = (0..width).map(|k| vec![of_chain(k)]).collect();
    for _ in 0..length {
        for chain in &mut chains {
            let instance = program.add_instance(component, chain).unwrap();
            let link = |start| Link { source: Source::Instance(instance), start, len: 1 };
            *chain = (0..5).map(|wire| link(wire % each)).collect();
        }
    }
    let truth = Link { source: Source::Constant(true), start: 0, len: 1 };
    let links: Vec<Link> = chains.concat().into_iter().chain([truth, of_chain(0)]).collect();
    program.add_output(Port::new("out", Type::Bits(5 * width + 6)), Recipients::All, links).unwrap();
    program
}

fn step(circuit: Circuit) -> Component {
    let port = |name, width| vec![Port::new(name, Type::Bits(width))];
    let outputs = circuit.outputs().len() as u32;
    Component::new("step", port("in", 5), port("out", outputs), circuit).unwrap()
}

#[test]
fn one_gate_with_every_input_and_inversion() {
    for flips in 0..8 {
        let flip = |bit: u32, wire: u32| {
            if flips >> bit & 1 == 1 { Gate::Not(Wire(wire)) } else { Gate::Xor(Wire(wire), Wire(2)) }
        };
        // Wire 2 is false.
        let gates = vec![Gate::Constant(false), flip(0, 0), flip(1, 1), Gate::And(Wire(3), Wire(4)), flip(2, 5)];
        let program = single(Circuit::new(2, gates, vec![Wire(6), Wire(5), Wire(0), Wire(3)]).unwrap());
        for values in 0..4 {
            for seed in 0..8 {
                check(&program, &[Bits::from_u128(values, 2)], seed, &[1]);
            }
        }
    }
}

/// The number of gates in a piece whose labels are not requested.
#[test]
fn three_gates() {
    let and = |x, y| Gate::And(Wire(x), Wire(y));
    let program = single(Circuit::new(2, vec![and(0, 1), and(2, 0), and(3, 1)], vec![Wire(4), Wire(2)]).unwrap());
    for values in 0..4 {
        for sizes in [&[1][..], &[2], &[3], &[40]] {
            check(&program, &[Bits::from_u128(values, 2)], 7, sizes);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn random_programs(seed: u128, sizes in prop::collection::vec(1usize..40, 1..5)) {
        let mut rng = Prg::new(Block::from_u128(seed));
        let program = random::program(&mut rng, 300, 2);
        let inputs = random::inputs(&mut rng, &program);
        check(&program, &inputs, seed, &sizes);
    }
}

/// Keys change after 1024 gates, with tags after 512.
fn check_many_keys(program: &Program, rng: &mut Prg) {
    assert!(Schedules::new(program).and_count() > 1500);
    let inputs = random::inputs(rng, program);
    check(program, &inputs, 5, &[1, 2, 3, 4, 5, 1000, 6, 7, 9, 511]);
}

#[test]
fn instances_side_by_side() {
    let mut rng = Prg::new(Block::from_u128(9));
    // Three of seven, with 34 AND gates each, run alone, so hash keys change within the four copies of a gate after them.
    for (circuit, width, length) in [(and_chain(33), 4, 13), (and_chain(34), 7, 11)] {
        check_many_keys(&side_by_side(step(circuit), width, length), &mut rng);
    }
    let program = side_by_side(step(random::circuit(&mut rng, 5, 60, 5)), 9, 60);
    let inputs = random::inputs(&mut rng, &program);
    check(&program, &inputs, 5, &[3, 2]);
}

#[test]
fn gates_of_many_hash_keys() {
    let mut rng = Prg::new(Block::from_u128(8));
    let random = random::circuit(&mut rng, 64, 40_000, 200);
    for circuit in [random, and_chain(2100), wide(1600)] {
        check_many_keys(&single(circuit), &mut rng);
    }
}

#[test]
fn programs_without_and_gates() {
    let gates = vec![Gate::Xor(Wire(0), Wire(1)), Gate::Not(Wire(2)), Gate::Constant(true), Gate::Constant(false)];
    let outputs = [3, 4, 5, 0, 0].map(Wire).to_vec();
    let program = single(Circuit::new(2, gates, outputs).unwrap());
    check(&program, &[Bits::from_u128(2, 2)], 1, &[1]);
}

#[test]
fn walked_values_include_the_negation() {
    let mut rng = Prg::new(Block::from_u128(3));
    let one = Block::from_u128(1);
    for _ in 0..8 {
        let program = random::program(&mut rng, 100, 2);
        let inputs = random::inputs(&mut rng, &program);
        let value = |bit: bool| Block::from_u128(u128::from(bit));
        let wires: Wires = inputs.iter().map(|bits| bits.iter().map(value).collect()).collect();
        let plain = garblet_circuit::evaluate(&program, &inputs);
        let schedules = Schedules::new(&program);
        for backend in Backend::available() {
            // One gate at a time: its operands are known only after all gates before it, so each is done twice.
            let mut results: PerGate = Vec::new();
            while (results.len() as u64) < schedules.and_count() {
                let mut walk = MaskWalk::new(&program, &schedules, wires.clone(), one).with_backend(backend);
                results.push(Block::ZERO);
                let [mut left, mut right] = [(); 2].map(|()| results.clone());
                walk.advance(&results, [&mut left, &mut right]);
                let gate = results.len() - 1;
                results[gate] = left[gate] & right[gate];
            }
            let (_, outputs) = walk(&program, &wires, &results, one, backend, &[1, 5]);
            for (plain, output) in plain.iter().zip(&outputs) {
                assert!(plain.iter().map(value).eq(output.iter().copied()), "on {backend}");
            }
        }
    }
}

/// The hash of one block under the key of its gate, see `Rekeyed`.
fn hash(seed: Block, gate: u64, tweak: u64, tweaks: u64, x: Block) -> Block {
    let period = 2048 / tweaks;
    let key = Aes128::with_backend(Backend::PORTABLE, seed ^ Block::from_halves(gate / period, 0));
    let [low, high] = x.halves();
    let u = Block::from_halves(high, high ^ low) ^ Block::from_halves(tweaks * (gate % period) + tweak, 0);
    key.encrypt(u) ^ u
}

#[test]
fn every_gate_agrees_with_the_formulas() {
    let program = single(wide(1100));
    let mut rng = Prg::new(Block::from_u128(12));
    let inputs = random::inputs(&mut rng, &program);
    let dealt = deal(&program, &inputs, 13);
    let delta = dealt.delta.block();
    for (with_tags, tweaks) in [(false, 2), (true, 4)] {
        let garbled = garble(&program, &dealt, with_tags, Backend::detect(), &[50, 1, 333]);
        let whole = garble(&program, &dealt, with_tags, Backend::detect(), WHOLE);
        let negation = delta ^ Block::from_u128(1);
        let ([left, right], _) = walk(&program, &dealt.zero_labels, &whole.labels, negation, Backend::PORTABLE, &[77]);
        let Shares([Gates(masks), _]) = &dealt.shares;
        let Shares([Gates(checks), _]) = &dealt.checks;
        for gate in 0..1100 {
            let [a, b] = [left[gate], right[gate]];
            let [left, right, result] = masks.each_ref().map(|of| of[gate]);
            let h = |tweak, x| hash(dealt.hash_seed, gate as u64, tweak, tweaks, x);
            let first = h(0, a) ^ h(0, a ^ delta) ^ right;
            let second = h(1, b) ^ h(1, b ^ delta) ^ a ^ left;
            let label = h(0, a) ^ h(1, b) ^ result;
            assert_eq!(garbled.tables[32 * gate..][..32], [first.to_bytes(), second.to_bytes()].concat());
            assert_eq!(garbled.selects[gate], u8::from(label.lsb()));
            assert!(whole.labels[gate] == label.with_lsb(false));
            if with_tags {
                let [left, right, result] = checks.each_ref().map(|of| of[gate]);
                let expected =
                    [right ^ h(2, a) ^ h(2, a ^ delta), left ^ h(3, b) ^ h(3, b ^ delta), result ^ h(2, a) ^ h(3, b)];
                assert!(garbled.tags.each_ref().map(|of| of[gate]) == expected, "tags of gate {gate}");
            }
        }
    }
}

/// A wrong row shows in the gate's own check only if it is used and makes the masked value of the result
/// wrong.
#[test]
fn a_wrong_table_does_not_pass_the_checks() {
    let mut rng = Prg::new(Block::from_u128(21));
    let program = single(random::circuit(&mut rng, 20, 300, 20));
    let inputs = random::inputs(&mut rng, &program);
    let dealt = deal(&program, &inputs, 22);
    for with_tags in [false, true] {
        let honest = garble(&program, &dealt, with_tags, Backend::detect(), WHOLE);
        let evaluate = |garbled: &Garbled| evaluate(&program, &dealt, garbled, with_tags, Backend::detect(), WHOLE);
        assert!(is_zero(&evaluate(&honest).checks));
        let ands = honest.selects.len();
        let mut found = [0; 2];
        for gate in (0..ands).step_by(3) {
            // The select bit is always used.
            let mut wrong = honest.clone();
            wrong.selects[gate] ^= 1;
            let evaluated = evaluate(&wrong);
            assert!(evaluated.checks[gate] == dealt.check_delta, "select bit of gate {gate}");
            assert!(is_zero(&evaluated.checks[..gate]));
            // A row is used for half of the masked values.
            for (row, found) in found.iter_mut().enumerate() {
                let mut wrong = honest.clone();
                wrong.tables[32 * gate + 16 * row] ^= 1;
                let evaluated = evaluate(&wrong);
                assert!(is_zero(&evaluated.checks[..gate]));
                *found += usize::from(evaluated.checks[gate] == dealt.check_delta);
                assert_eq!(evaluated.checks[gate] != Block::ZERO, !is_zero(&evaluated.checks));
                assert!(!is_zero(&evaluated.checks) || evaluated.labels == evaluate(&honest).labels);
            }
        }
        assert!(found.iter().all(|found| (ands / 12..ands / 4).contains(found)), "{found:?} of {ands}");
        if with_tags {
            // Any other bit of a row makes an invalid label, which shows in the tags of gates that read it.
            let used = (0..ands).filter(|gate| {
                let mut wrong = honest.clone();
                wrong.tables[32 * gate + 5] ^= 4;
                wrong.tables[32 * gate + 16 + 5] ^= 2;
                !is_zero(&evaluate(&wrong).checks)
            });
            assert!(used.count() > ands / 2);
        }
    }
}

#[test]
#[should_panic(expected = "AND gates are not done")]
fn outputs_come_after_all_gates() {
    let program = single(wide(2));
    let schedules = Schedules::new(&program);
    let inputs = vec![vec![Block::ZERO; 4].into_boxed_slice()];
    MaskedGarbler::new(&program, &schedules, &Delta::new(Block::ZERO), Block::ZERO, true, inputs).into_outputs();
}

#[test]
#[should_panic(expected = "3 AND gates of 2")]
fn gates_beyond_the_last_are_refused() {
    let program = single(wide(2));
    let schedules = Schedules::new(&program);
    let mut walk = MaskWalk::new(&program, &schedules, vec![vec![Block::ZERO; 4].into_boxed_slice()], Block::ZERO);
    walk.advance(&[Block::ZERO; 3], [&mut [Block::ZERO; 3], &mut [Block::ZERO; 3]]);
}

#[test]
#[should_panic(expected = "tables and select bits")]
fn tables_of_another_length_are_refused() {
    let program = single(wide(2));
    let schedules = Schedules::new(&program);
    let inputs = vec![vec![Block::ZERO; 4].into_boxed_slice()];
    let mut evaluator = MaskedEvaluator::new(&program, &schedules, Block::ZERO, Block::ZERO, false, inputs);
    let two = [Block::ZERO; 2];
    let check = CheckMut { left: &two, right: &two, values: &mut [Block::ZERO; 2] };
    evaluator.evaluate(GateMasks { left: &two, right: &two, result: &two }, &[0; 63], &[0; 2], None, check);
}

#[test]
#[should_panic(expected = "tags")]
fn announced_tags_are_required() {
    let program = single(wide(2));
    let schedules = Schedules::new(&program);
    let inputs = vec![vec![Block::ZERO; 4].into_boxed_slice()];
    let mut garbler = MaskedGarbler::new(&program, &schedules, &Delta::new(Block::ZERO), Block::ZERO, true, inputs);
    let two = [Block::ZERO; 2];
    let masks = GateMasks { left: &two, right: &two, result: &two };
    garbler.garble(masks, &mut [0; 64], &mut [0; 2], None, None);
}
