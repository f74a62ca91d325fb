//! Programs garbled with shared masks give the plain evaluator's answers under the masks, and their checks fit, whatever
//! processor and cut. An ideal dealer shares the masks.

use garblet_circuit::{
    Bits, Circuit, Component, Gate, Link, Party, Port, Program, Recipients, Source, Type, Wire, random,
};
use garblet_garble::{
    Schedules,
    masked::{CheckMut, GateMasks, MaskWalk, MaskedEvaluator, MaskedGarbler, TagsMut},
};
use garblet_primitives::{Aes128, Backend, Block, Delta, Prg};
use proptest::prelude::*;
use rand_core::Rng;

/// Values of the wires of every program input or output.
type Wires = Vec<Box<[Block]>>;

/// Values of every AND gate.
type PerGate = Vec<Block>;

/// Two shares of the same masks: together they are `mask * delta`.
struct Shares<T>([T; 2]);

/// The values of left operand, right operand and result.
struct Gates([PerGate; 3]);

impl Gates {
    fn masks(&self, gates: std::ops::Range<usize>) -> GateMasks<'_> {
        let [left, right, result] = self.0.each_ref().map(|of| &of[gates.clone()]);
        GateMasks { left, right, result }
    }
}

/// What an ideal dealer gives to both parties.
struct Dealt {
    delta: Delta,
    check_delta: Block,
    hash_seed: Block,
    zero_labels: Wires,
    active_labels: Wires,
    /// The masks of the outputs.
    output_masks: Wires,
    /// For garbling: of the garbler, and of the evaluator.
    shares: Shares<Gates>,
    /// For the checks, under the other delta.
    checks: Shares<Gates>,
}

/// Cuts into pieces of these sizes, over and over.
struct Pieces<'a> {
    sizes: &'a [usize],
    left: usize,
    done: usize,
    next: usize,
}

impl<'a> Pieces<'a> {
    fn new(total: u64, sizes: &'a [usize]) -> Self {
        Pieces { sizes, left: total as usize, done: 0, next: 0 }
    }
}

impl Iterator for Pieces<'_> {
    type Item = std::ops::Range<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        let size = self.sizes[self.next % self.sizes.len()].min(self.left);
        self.next += 1;
        self.left -= size;
        self.done += size;
        Some(self.done - size..self.done)
    }
}

/// The whole in one piece.
const WHOLE: &[usize] = &[usize::MAX];

/// Walks values through a program: those of operands and of outputs.
fn walk(
    program: &Program,
    inputs: &Wires,
    results: &[Block],
    negation: Block,
    backend: Backend,
    sizes: &[usize],
) -> ([PerGate; 2], Wires) {
    let schedules = Schedules::new(program);
    let mut walk = MaskWalk::new(program, &schedules, inputs.clone(), negation).with_backend(backend);
    assert_eq!(walk.remaining(), results.len() as u64);
    let [mut left, mut right] = [(); 2].map(|()| vec![Block::ONES; results.len()]);
    for gates in Pieces::new(results.len() as u64, sizes) {
        walk.advance(&results[gates.clone()], [&mut left[gates.clone()], &mut right[gates]]);
    }
    assert_eq!(walk.remaining(), 0);
    ([left, right], walk.into_outputs())
}

fn walk_masks(program: &Program, inputs: &Wires, results: &[Block]) -> ([PerGate; 2], Wires) {
    walk(program, inputs, results, Block::ZERO, Backend::detect(), WHOLE)
}

fn bit(rng: &mut Prg) -> Block {
    Block::from_u128(u128::from(rng.next_u32() & 1))
}

/// Shares of a bit under a delta.
fn share(rng: &mut Prg, delta: Block, bit: Block) -> Shares<Block> {
    let first = rng.next_block();
    Shares([first, first ^ Block::mask(bit.lsb()) & delta])
}

fn share_all<'a>(rng: &mut Prg, delta: Block, bits: impl IntoIterator<Item = &'a Block>) -> [PerGate; 2] {
    let shares = bits.into_iter().map(|&bit| share(rng, delta, bit).0);
    shares.map(|[first, second]| (first, second)).unzip::<_, _, PerGate, PerGate>().into()
}

fn sum(a: &[Block], b: &[Block]) -> PerGate {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(&a, &b)| a ^ b).collect()
}

/// Deals shares under a delta of the masks of all gates.
fn deal_shares(
    program: &Program,
    rng: &mut Prg,
    delta: Block,
    inputs: &Wires,
    results: &[Block],
    products: &[Block],
) -> Shares<Gates> {
    let (mut first_inputs, mut second_inputs) = (Vec::new(), Vec::new());
    for input in inputs {
        let [first, second] = share_all(rng, delta, input.iter());
        first_inputs.push(first.into_boxed_slice());
        second_inputs.push(second.into_boxed_slice());
    }
    let [first_results, second_results] = share_all(rng, delta, results);
    let [first_products, second_products] = share_all(rng, delta, products);
    let of_party = |inputs: Wires, results: PerGate, products: PerGate| {
        let ([left, right], _) = walk_masks(program, &inputs, &results);
        Gates([left, right, sum(&results, &products)])
    };
    Shares([
        of_party(first_inputs, first_results, first_products),
        of_party(second_inputs, second_results, second_products),
    ])
}

fn deal(program: &Program, inputs: &[Bits], seed: u128) -> Dealt {
    let mut rng = Prg::new(Block::from_u128(seed));
    let [delta, check_delta] = [(); 2].map(|()| rng.next_block());
    let (delta, check_delta) = (Delta::new(delta), check_delta.with_lsb(false));
    let and_count = Schedules::new(program).and_count() as usize;
    let widths = program.inputs().iter().map(|input| input.port.width());
    let input_masks: Wires = widths.clone().map(|width| (0..width).map(|_| bit(&mut rng)).collect()).collect();
    let results: PerGate = (0..and_count).map(|_| bit(&mut rng)).collect();
    let ([left, right], output_masks) = walk_masks(program, &input_masks, &results);
    let products: PerGate = left.iter().zip(&right).map(|(&a, &b)| a & b).collect();
    let shares = deal_shares(program, &mut rng, delta.block(), &input_masks, &results, &products);
    let checks = deal_shares(program, &mut rng, check_delta, &input_masks, &results, &products);
    let zero_labels: Wires =
        widths.map(|width| (0..width).map(|_| rng.next_block().with_lsb(false)).collect()).collect();
    let active = |input: usize| {
        let masked = inputs[input].iter().zip(&input_masks[input]).map(|(bit, mask)| bit ^ mask.lsb());
        let labels = zero_labels[input].iter().zip(masked);
        labels.map(|(&zero, masked)| zero ^ Block::mask(masked) & delta.block()).collect()
    };
    let active_labels = (0..inputs.len()).map(active).collect();
    let hash_seed = rng.next_block();
    Dealt { delta, check_delta, hash_seed, zero_labels, active_labels, output_masks, shares, checks }
}

/// What a garbler makes.
#[derive(Clone, PartialEq)]
struct Garbled {
    tables: Vec<u8>,
    selects: Vec<u8>,
    labels: PerGate,
    /// Of left operand, right operand and the sum; the garbler's shares for the checks without tags.
    tags: [PerGate; 3],
    outputs: Wires,
}

fn garble(program: &Program, dealt: &Dealt, with_tags: bool, backend: Backend, sizes: &[usize]) -> Garbled {
    let schedules = Schedules::new(program);
    let ands = schedules.and_count() as usize;
    let zero_labels = dealt.zero_labels.clone();
    let mut garbler = MaskedGarbler::new(program, &schedules, &dealt.delta, dealt.hash_seed, with_tags, zero_labels)
        .with_backend(backend);
    assert_eq!(garbler.remaining(), ands as u64);
    let Shares([masks, _]) = &dealt.shares;
    let Shares([Gates([of_left, of_right, of_result]), _]) = &dealt.checks;
    // The tag of an operand has the other's mask.
    let mut tags = [of_right.clone(), of_left.clone(), of_result.clone()];
    let (mut tables, mut selects, mut labels) = (vec![0xff; 32 * ands], vec![0xff; ands], vec![Block::ONES; ands]);
    for gates in Pieces::new(ands as u64, sizes) {
        let [left, right, sum] = tags.each_mut().map(|tags| &mut tags[gates.clone()]);
        garbler.garble(
            masks.masks(gates.clone()),
            &mut tables[32 * gates.start..32 * gates.end],
            &mut selects[gates.clone()],
            // Labels are not always asked for.
            (gates.len() != 3).then_some(&mut labels[gates.clone()]),
            with_tags.then_some(TagsMut { left, right, sum }),
        );
    }
    assert_eq!(garbler.remaining(), 0);
    Garbled { tables, selects, labels, tags, outputs: garbler.into_outputs() }
}

/// What an evaluator makes.
#[derive(Clone, PartialEq)]
struct Evaluated {
    labels: PerGate,
    /// Zero where the check fits: with what the garbler says added.
    checks: PerGate,
    outputs: Wires,
}

fn evaluate(
    program: &Program,
    dealt: &Dealt,
    garbled: &Garbled,
    with_tags: bool,
    backend: Backend,
    sizes: &[usize],
) -> Evaluated {
    let schedules = Schedules::new(program);
    let ands = schedules.and_count() as usize;
    let (active_labels, check_delta) = (dealt.active_labels.clone(), dealt.check_delta);
    let mut evaluator =
        MaskedEvaluator::new(program, &schedules, dealt.hash_seed, check_delta, with_tags, active_labels)
            .with_backend(backend);
    assert_eq!(evaluator.remaining(), ands as u64);
    let Shares([_, masks]) = &dealt.shares;
    let Shares([_, Gates([of_left, of_right, of_result])]) = &dealt.checks;
    let [left_tags, right_tags, _] = &garbled.tags;
    let [left, right] = match with_tags {
        // The tags have the garbler's shares in them.
        true => [sum(of_right, left_tags), sum(of_left, right_tags)],
        false => [of_right.clone(), of_left.clone()],
    };
    let mut checks = of_result.clone();
    let mut labels = vec![Block::ONES; ands];
    for gates in Pieces::new(ands as u64, sizes) {
        evaluator.evaluate(
            masks.masks(gates.clone()),
            &garbled.tables[32 * gates.start..32 * gates.end],
            &garbled.selects[gates.clone()],
            (gates.len() != 3).then_some(&mut labels[gates.clone()]),
            CheckMut { left: &left[gates.clone()], right: &right[gates.clone()], values: &mut checks[gates.clone()] },
        );
    }
    assert_eq!(evaluator.remaining(), 0);
    let outputs = evaluator.into_outputs();
    let checks = sum(&checks, &garblers_part(program, dealt, garbled, &labels, with_tags));
    Evaluated { labels, checks, outputs }
}

/// What the garbler adds to the checks: with tags, what it knows before; else what follows from the masked values that it is told.
fn garblers_part(
    program: &Program,
    dealt: &Dealt,
    garbled: &Garbled,
    active_labels: &[Block],
    with_tags: bool,
) -> PerGate {
    let [_, _, of_sum] = &garbled.tags;
    if with_tags {
        return of_sum.clone();
    }
    let Shares([Gates([of_left, of_right, of_result]), _]) = &dealt.checks;
    let select = |label: &Block| Block::from_u128(u128::from(label.lsb()));
    let inputs = dealt.active_labels.iter().map(|labels| labels.iter().map(select).collect()).collect();
    let results: PerGate = active_labels.iter().map(select).collect();
    let one = Block::from_u128(1);
    let ([left, right], _) = walk(program, &inputs, &results, one, Backend::detect(), WHOLE);
    let part = |gate: usize| {
        let [of_left, of_right, of_result] = [of_left, of_right, of_result].map(|of| of[gate]);
        Block::mask(left[gate].lsb()) & of_right ^ Block::mask(right[gate].lsb()) & of_left ^ of_result
    };
    (0..results.len()).map(part).collect()
}

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

/// Labels are those of the whole, but in pieces of three gates, of which they are not asked for.
fn check_pieces(labels: &[Block], expected: &[Block], sizes: &[usize]) {
    for gates in Pieces::new(labels.len() as u64, sizes) {
        match gates.len() {
            3 => assert!(labels[gates].iter().all(|label| *label == Block::ONES)),
            _ => assert!(labels[gates.clone()] == expected[gates]),
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

/// A circuit whose AND gates are all independent, and have operands that are inverted in every way.
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

fn random_component(rng: &mut Prg, gates: usize) -> Component {
    let port = |name| vec![Port::new(name, Type::Bits(5))];
    Component::new("step", port("in"), port("out"), random::circuit(rng, 5, gates, 5)).unwrap()
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

#[test]
fn instances_side_by_side() {
    let mut rng = Prg::new(Block::from_u128(9));
    for (gates, width, length) in [(60, 4, 20), (40, 9, 30), (99, 7, 12)] {
        let program = side_by_side(random_component(&mut rng, gates), width, length);
        let inputs = random::inputs(&mut rng, &program);
        check(&program, &inputs, 5, &[1, 2, 3, 4, 5, 1000, 6, 7, 9]);
    }
}

#[test]
fn gates_of_many_hash_keys() {
    let mut rng = Prg::new(Block::from_u128(8));
    for (inputs, gates) in [(64, 12_000), (3, 7_000)] {
        let program = single(random::circuit(&mut rng, inputs, gates, 200));
        let values = random::inputs(&mut rng, &program);
        check(&program, &values, 6, &[511, 1, 700]);
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
fn values_walk_with_what_a_negation_adds() {
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
            // A gate at a time: its operands are known only after all before it, so each is done twice.
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
fn every_gate_is_as_the_formulas_say() {
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

/// A row that is wrong shows in the gate's own check where it is used, and then only if the masked value of the result is wrong.
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
            // The select bit is used always.
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
            // Any other bit of a row makes a label that is none of the wire's, which the tags of gates that read it show.
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
fn gates_that_are_not_there_are_refused() {
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
