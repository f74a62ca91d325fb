use std::ops::Range;

use garblet_circuit::{Circuit, Component, OutputWire, Party, Port, Program, Schedule, Type, evaluate_circuit, random};
use garblet_primitives::{Backend, Delta, Engine, Prg, QUAD_LANES};
use rand_core::Rng;
use zeroize::Zeroizing;

use super::*;
use crate::masked::NEGATION;

/// A number of garblers, and what they make.
#[derive(Clone, Copy)]
struct Shape {
    garblers: usize,
    tags: bool,
    /// Tells whether labels of gates are drawn, or come from the tables.
    drawn: bool,
}

impl Shape {
    fn all() -> impl Iterator<Item = Shape> {
        let kinds = [(1, false), (1, true), (2, true), (4, true)];
        kinds.into_iter().flat_map(|(garblers, drawn)| [false, true].map(|tags| Shape { garblers, tags, drawn }))
    }

    fn slots(self) -> usize {
        self.garblers + usize::from(self.tags)
    }
}

/// One party's shares by slot, of inputs, and of results and products of gates.
struct Shares {
    inputs: Vec<Vec<Block>>,
    results: Vec<Vec<Block>>,
    products: Vec<Vec<Block>>,
}

impl Shares {
    fn of_gates(&self) -> Vec<GateShares<'_>> {
        self.results.iter().zip(&self.products).map(|(results, products)| [&results[..], &products[..]]).collect()
    }
}

/// All secrets of all parties.
struct Joint {
    shape: Shape,
    circuit: Circuit,
    schedule: Schedule,
    /// The differences by slot.
    deltas: Vec<Delta>,
    seeds: Vec<Block>,
    /// The masks of inputs, then of gates.
    masks: Vec<bool>,
    /// Every garbler's zero labels of inputs, then of gates.
    labels: Vec<Vec<Block>>,
    /// The garblers' in order, then the evaluator's.
    shares: Vec<Shares>,
}

/// Wires that carry their mask and their value.
struct Plain<'a> {
    /// The masks of gates.
    masks: &'a [bool],
    /// The products of the masks of operands.
    products: Vec<bool>,
    /// The public values of operands, inversion included.
    shown: Vec<[bool; 2]>,
}

impl AndGates for Plain<'_> {
    type State<E: Engine> = ();

    fn begin<E: Engine>(&self, _e: E) {}

    fn and<E: Engine>(&mut self, _e: E, _state: &mut (), gate: Gate<'_>, out: &mut [Quad]) {
        let operands = [(gate.a, gate.inverted[0]), (gate.b, gate.inverted[1])];
        let [(mask_a, a), (mask_b, b)] =
            operands.map(|(wire, inverted)| (wire[0][0].lsb(), wire[0][1].lsb() ^ inverted));
        self.products.push(mask_a & mask_b);
        self.shown.push([mask_a ^ a, mask_b ^ b]);
        out[0][..2].copy_from_slice(&[self.masks[gate.index], a & b].map(Block::mask));
    }
}

/// Wires that carry the zero labels of all garblers.
struct Zeros<'a>(Vec<&'a [Block]>);

impl AndGates for Zeros<'_> {
    type State<E: Engine> = ();

    fn begin<E: Engine>(&self, _e: E) {}

    fn and<E: Engine>(&mut self, _e: E, _state: &mut (), gate: Gate<'_>, out: &mut [Quad]) {
        out.as_flattened_mut().iter_mut().zip(&self.0).for_each(|(out, labels)| *out = labels[gate.index]);
    }
}

/// Shares of bits by party and slot: bit 0 of each is the party's share of the bit.
fn deal(rng: &mut Prg, bits: &[bool], deltas: &[Delta], parties: usize) -> Vec<Vec<Vec<Block>>> {
    let mut dealt = vec![vec![Vec::with_capacity(bits.len()); deltas.len()]; parties];
    for bit in bits {
        let of_others: Vec<bool> = (1..parties).map(|_| rng.next_block().lsb()).collect();
        for (slot, delta) in deltas.iter().enumerate() {
            let mut last = delta.block() & Block::mask(*bit);
            for (party, bit) in of_others.iter().enumerate() {
                let share = rng.next_block().with_lsb(*bit);
                dealt[party][slot].push(share);
                last ^= share;
            }
            dealt[parties - 1][slot].push(last);
        }
    }
    dealt
}

/// Vectors of wires with these columns as lanes.
fn quads(wires: usize, columns: &[&[Block]]) -> Vec<Quad> {
    let width = columns.len().div_ceil(QUAD_LANES);
    let mut quads = vec![[Block::ZERO; QUAD_LANES]; width * wires];
    for (wire, quads) in quads.chunks_exact_mut(width).enumerate() {
        quads.as_flattened_mut().iter_mut().zip(columns).for_each(|(lane, column)| *lane = column[wire]);
    }
    quads
}

impl Joint {
    fn new(shape: Shape, circuit: Circuit, rng: &mut Prg) -> Self {
        let schedule = Schedule::new(&circuit);
        let wires = schedule.input_count() + schedule.ands().len();
        let masks: Vec<bool> = (0..wires).map(|_| rng.next_block().lsb()).collect();
        let deltas: Vec<Delta> = (0..shape.slots()).map(|_| Delta::random(rng)).collect();
        let seeds = (0..shape.garblers).map(|_| rng.next_block()).collect();
        let mut zeros = || (0..wires).map(|_| rng.next_block().with_lsb(false)).collect();
        let labels = (0..shape.garblers).map(|_| zeros()).collect();
        let mut joint = Joint { shape, circuit, schedule, deltas, seeds, masks, labels, shares: Vec::new() };
        let (products, parties) =
            (joint.plain(&vec![false; joint.schedule.input_count()]).1.products, shape.garblers + 1);
        let (of_inputs, of_gates) = joint.masks.split_at(joint.schedule.input_count());
        let [inputs, results, products] =
            [of_inputs, of_gates, &products].map(|bits| deal(rng, bits, &joint.deltas, parties));
        let parties = inputs.into_iter().zip(results).zip(products);
        joint.shares = parties.map(|((inputs, results), products)| Shares { inputs, results, products }).collect();
        joint
    }

    /// The vectors of a wire that is evaluated.
    fn width(&self) -> usize {
        self.shape.slots().div_ceil(QUAD_LANES)
    }

    /// The masks and values of all slots for these inputs, and what was seen at gates.
    fn plain(&self, values: &[bool]) -> (Zeroizing<Vec<Quad>>, Plain<'_>) {
        let (of_inputs, of_gates) = self.masks.split_at(self.schedule.input_count());
        let [masks, values] =
            [of_inputs, values].map(|bits| bits.iter().map(|bit| Block::mask(*bit)).collect::<Vec<_>>());
        let mut plain = Plain { masks: of_gates, products: Vec::new(), shown: Vec::new() };
        let inputs = quads(masks.len(), &[&masks, &values]);
        (walk(Backend::detect(), &self.schedule, 1, inputs, &mut plain), plain)
    }

    /// The zero labels of all slots.
    fn zeros(&self) -> Zeroizing<Vec<Quad>> {
        let inputs = self.schedule.input_count();
        let labels: Vec<&[Block]> = self.labels.iter().map(|labels| &labels[..]).collect();
        let mut zeros = Zeros(labels.iter().map(|labels| &labels[inputs..]).collect());
        let none = vec![Block::ZERO; inputs];
        let columns = [&labels[..], &vec![&none[..]; self.shape.slots() - labels.len()]].concat();
        walk(Backend::detect(), &self.schedule, self.width(), quads(inputs, &columns), &mut zeros)
    }

    /// A garbler's part of the tables.
    fn part(&self, backend: Backend, own: usize) -> Vec<Vec<Block>> {
        let (shares, inputs) = (&self.shares[own], self.schedule.input_count());
        let (of_inputs, of_gates) = self.labels[own].split_at(inputs);
        let columns: Vec<&[Block]> = shares.inputs.iter().map(|shares| &shares[..]).chain([of_inputs]).collect();
        let labels = self.shape.drawn.then_some(of_gates);
        let (hash_seed, delta) = (self.seeds[own], &self.deltas[own]);
        let part = GarblerPart { hash_seed, delta, own, labels, shares: shares.of_gates() };
        garble(backend, &self.schedule, part, quads(inputs, &columns))
    }

    /// The sum of all parts.
    fn sum(&self, backend: Backend) -> Vec<Block> {
        let (slots, gates, own) = (self.shape.slots(), self.schedule.ands().len(), &self.shares[self.shape.garblers]);
        let mut circuit = vec![Block::ZERO; circuit_blocks(slots, gates)];
        let columns: Vec<&[Block]> = own.inputs.iter().map(|shares| &shares[..]).collect();
        let inputs = quads(self.schedule.input_count(), &columns);
        own_shares(backend, &self.schedule, own.of_gates(), inputs, &mut circuit);
        for garbler in 0..self.shape.garblers {
            for (slot, tables) in self.part(backend, garbler).iter().enumerate() {
                for (at, block) in tables.iter().enumerate() {
                    circuit[place(slots, slot, at / TABLE, at % TABLE)] ^= *block;
                }
            }
        }
        circuit
    }

    /// The active labels of inputs of all garblers.
    fn active(&self, values: &[bool]) -> Vec<Block> {
        let active = |at: usize| {
            let shown = Block::mask(values[at] ^ self.masks[at]);
            self.labels.iter().zip(&self.deltas).map(move |(labels, delta)| labels[at] ^ delta.block() & shown)
        };
        (0..values.len()).flat_map(active).collect()
    }

    /// The labels of all slots, and the difference of tags, which are zero if there are none.
    fn evaluate(
        &self,
        backend: Backend,
        values: &[bool],
        circuit: &[Block],
        bytes: usize,
    ) -> (Zeroizing<Vec<Quad>>, Block) {
        let inputs = self.active(values);
        let mut check = self.deltas.get(self.shape.garblers).map(|delta| TagCheck::new(delta.block(), bytes));
        let wires = evaluate(backend, &self.schedule, &self.seeds, &inputs, circuit, check.as_mut(), None);
        (wires, check.map_or(Block::ZERO, |check| check.difference()))
    }

    /// The labels of garblers, zero or active, of the outputs that are wires.
    fn at_outputs(&self, wires: &[Quad]) -> Vec<Block> {
        let (width, garblers) = (self.width(), self.shape.garblers);
        let of_wire = |output: &OutputWire| match output {
            OutputWire::Constant(_) => &[],
            OutputWire::Slot(wire) => &wires[wire.slot() * width..].as_flattened()[..garblers],
        };
        self.schedule.outputs().iter().flat_map(of_wire).copied().collect()
    }

    /// The zero labels that belong to the active labels of outputs, which must show the right values.
    fn zeros_of_outputs(&self, values: &[bool], wires: &[Quad]) -> Vec<Block> {
        let (plain, deltas) = (self.plain(values).0, &self.deltas[..self.shape.garblers]);
        let words: Vec<u64> = values.iter().map(|value| u64::from(*value)).collect();
        let shown = self.schedule.outputs().iter().zip(evaluate_circuit(&self.circuit, &words));
        let shown = shown.filter_map(|(output, expected)| match output {
            OutputWire::Constant(_) => None,
            OutputWire::Slot(wire) => Some((expected & 1 == 1) ^ wire.inverted() ^ plain[wire.slot()][0].lsb()),
        });
        let shown = shown.flat_map(|shown| deltas.iter().map(move |delta| (shown, delta.block())));
        let zero = |(label, (shown, delta)): (Block, (bool, Block))| {
            assert_eq!(label.lsb(), shown);
            label ^ delta & Block::mask(shown)
        };
        self.at_outputs(wires).into_iter().zip(shown).map(zero).collect()
    }
}

/// A circuit that takes more than one period of keys with five slots.
fn joint(shape: Shape, seed: u128) -> (Joint, [Vec<bool>; 2]) {
    let mut rng = Prg::new(Block::from_u128(seed));
    let circuit = random::circuit(&mut rng, 20, 6_000, 600);
    let inputs = [(); 2].map(|()| (0..20).map(|_| rng.next_u32() & 1 == 1).collect());
    (Joint::new(shape, circuit, &mut rng), inputs)
}

#[test]
fn labels_and_public_values_are_those_of_the_plain_circuit() {
    for (shape, seed) in Shape::all().zip(1..) {
        let (joint, inputs) = joint(shape, seed);
        let circuit = joint.sum(Backend::PORTABLE);
        assert!(joint.schedule.ands().len() > 300, "{}", joint.schedule.ands().len());
        let mut zeros = Vec::new();
        for backend in Backend::available() {
            assert!(joint.sum(backend) == circuit, "{backend:?}");
            for values in &inputs {
                let (wires, difference) = joint.evaluate(backend, values, &circuit, 15);
                zeros.push(joint.zeros_of_outputs(values, &wires));
                assert!(difference == Block::ZERO);
                let of_tags = |wire: &[Quad]| wire.as_flattened()[shape.garblers..shape.slots()].to_vec();
                assert!(wires.chunks_exact(joint.width()).flat_map(of_tags).all(|label| label == Block::ZERO));
            }
        }
        if shape.drawn {
            zeros.push(joint.at_outputs(&joint.zeros()));
        }
        assert!(zeros.iter().all(|one| !one.is_empty() && *one == zeros[0]));
    }
}

/// The gates of the next lot: few, one, many, and those that are left.
fn lots(gates: usize) -> Vec<usize> {
    let mut lots = Vec::new();
    let mut left = gates;
    for next in [3, 1, 64, 0, 130].into_iter().cycle() {
        if left == 0 {
            break;
        }
        lots.push(left.min(next));
        left -= left.min(next);
    }
    lots
}

/// A program of one instance of a circuit.
fn program_of(circuit: &Circuit) -> Program {
    let port = |name: &str, bits: u32| Port::new(name, Type::Bits(bits));
    let (inputs, outputs) = (circuit.input_count(), circuit.outputs().len() as u32);
    let ports = (vec![port("x", inputs)], vec![port("z", outputs)]);
    let component = Component::new("test", ports.0, ports.1, circuit.clone()).expect("it fits");
    Program::from_component(component, &[Party(0)]).expect("a component is a program")
}

#[test]
fn lots_give_what_the_whole_circuit_gives() {
    for (shape, seed) in Shape::all().filter(|shape| shape.drawn).zip(80..) {
        let (joint, [values, _]) = joint(shape, seed);
        let program = program_of(&joint.circuit);
        for circuits in [Circuits::flat(&joint.circuit), Circuits::of_components(&program)] {
            joint.check_lots((&program, &circuits), &values);
        }
    }
}

impl Joint {
    /// Garbles and evaluates lot by lot, and compares everything with what the whole circuit gives.
    fn check_lots(&self, program: (&Program, &Circuits), values: &[bool]) {
        let (slots, gates, garblers) = (self.shape.slots(), self.schedule.ands().len(), self.shape.garblers);
        let whole = self.sum(Backend::detect());
        let (expected, difference) = self.evaluate(Backend::detect(), values, &whole, 6);
        let inputs = self.schedule.input_count();
        let start = |inputs: Vec<Quad>, width: usize| {
            Walk::new(Backend::detect(), program, inputs, vec![[Block::ZERO; QUAD_LANES]; width])
        };
        let of_party = |own: usize| {
            let of_inputs = self.shares[own].inputs.iter().map(|shares| &shares[..]);
            let labels = self.labels.get(own).map(|labels| &labels[..inputs]);
            let columns: Vec<&[Block]> = of_inputs.chain(labels).collect();
            start(quads(inputs, &columns), columns.len().div_ceil(QUAD_LANES))
        };
        let mut walks: Vec<Walk<'_>> = (0..=garblers).map(of_party).collect();
        let mut check = self.deltas.get(garblers).map(|delta| TagCheck::new(delta.block(), 6));
        let active = lanes_of_labels((garblers, slots), &self.active(values));
        let mut evaluation = start(active, self.width());
        let mut first = 0;
        for lot in lots(gates) {
            let circuit = self.lot(&mut walks, first..first + lot);
            let at = circuit_blocks(slots, first);
            assert!(circuit == whole[at..at + circuit.len()], "gates from {first} on");
            evaluate_lot(&mut evaluation, lot, &self.seeds, &circuit, check.as_mut(), None);
            first += lot;
        }
        assert_eq!(first, gates);
        assert!(check.map_or(Block::ZERO, |check| check.difference()) == difference);
        let outputs = evaluation.into_outputs();
        let outputs = self.schedule.outputs().iter().zip(outputs.chunks_exact(self.width()));
        let of_wires = outputs.filter(|(output, _)| matches!(output, OutputWire::Slot(_)));
        let labels: Vec<Block> = of_wires.flat_map(|(_, wire)| wire.as_flattened()[..garblers].to_vec()).collect();
        assert!(labels == self.at_outputs(&expected));
    }

    /// The sum of all parties' parts of the next gates.
    fn lot(&self, walks: &mut [Walk<'_>], lot: Range<usize>) -> Vec<Block> {
        let (slots, garblers, inputs) = (self.shape.slots(), self.shape.garblers, self.schedule.input_count());
        let mut circuit = vec![Block::ZERO; circuit_blocks(slots, lot.len())];
        for own in (0..=garblers).rev() {
            let Shares { results, products, .. } = &self.shares[own];
            let gates = results.iter().zip(products);
            let shares = gates.map(|(results, products)| [&results[lot.clone()], &products[lot.clone()]]).collect();
            if own == garblers {
                own_shares_of_lot(&mut walks[own], lot.len(), shares, &mut circuit);
                continue;
            }
            let labels = &self.labels[own][inputs..][lot.clone()];
            let (hash_seed, delta) = (self.seeds[own], &self.deltas[own]);
            let part = GarblerPart { hash_seed, delta, own, labels: Some(labels), shares };
            for (slot, tables) in garble_lot(&mut walks[own], lot.len(), part).iter().enumerate() {
                for (at, block) in tables.iter().enumerate() {
                    circuit[place(slots, slot, at / TABLE, at % TABLE)] ^= *block;
                }
            }
        }
        circuit
    }
}

/// The bits of a tag of so many bytes, and of what is left of the block.
fn ends_of_tag(bytes: usize) -> [Block; 3] {
    let lowest = 1 << (128 - 8 * bytes);
    [1 << 127, lowest, lowest >> 1].map(Block::from_u128)
}

#[test]
fn a_changed_tag_is_found_where_it_is_read() {
    for (shape, seed) in Shape::all().filter(|shape| shape.tags).zip(20..) {
        let (joint, [values, _]) = joint(shape, seed);
        let mut circuit = joint.sum(Backend::detect());
        let shown = joint.plain(&values).1.shown;
        for (gate, [a, b]) in shown.iter().copied().enumerate().step_by(83) {
            for (block, read) in [a, b, true].into_iter().enumerate() {
                let at = place(shape.slots(), shape.garblers, gate, block);
                for (bytes, backend) in [6, 9, 11].into_iter().zip(Backend::available().into_iter().cycle()) {
                    let [highest, lowest, below] = ends_of_tag(bytes);
                    for (change, found) in [(highest, highest), (lowest, lowest), (below, Block::ZERO)] {
                        circuit[at] ^= change;
                        let (wires, difference) = joint.evaluate(backend, &values, &circuit, bytes);
                        assert!(difference == found & Block::mask(read), "gate {gate}, block {block}, {bytes} bytes");
                        joint.zeros_of_outputs(&values, &wires);
                        circuit[at] ^= change;
                    }
                }
            }
        }
    }
}

#[test]
fn a_changed_public_value_is_found() {
    for (shape, seed) in Shape::all().filter(|shape| shape.tags).zip(40..) {
        let (joint, [values, _]) = joint(shape, seed);
        let mut circuit = joint.sum(Backend::detect());
        let shown = joint.plain(&values).1.shown;
        for (gate, [a, b]) in shown.iter().copied().enumerate().step_by(83) {
            for (block, read) in [a, b, true].into_iter().enumerate() {
                let at = place(shape.slots(), 0, gate, block);
                circuit[at] ^= NEGATION;
                for (bytes, backend) in [6, 9, 11].into_iter().zip(Backend::available().into_iter().cycle()) {
                    let difference = joint.evaluate(backend, &values, &circuit, bytes).1;
                    assert_eq!(difference != Block::ZERO, read, "gate {gate}, block {block}, {bytes} bytes");
                }
                circuit[at] ^= NEGATION;
            }
        }
    }
}

#[test]
fn a_changed_share_of_the_evaluator_is_found() {
    for (shape, seed) in Shape::all().filter(|shape| shape.tags).zip(60..) {
        let (mut joint, [values, _]) = joint(shape, seed);
        let change = |joint: &mut Joint, gate: usize, of_product: bool| {
            let Shares { results, products, .. } = joint.shares.last_mut().unwrap();
            let shares = if of_product { products } else { results };
            shares[shape.garblers][gate] ^= ends_of_tag(6)[1];
        };
        for gate in (0..joint.schedule.ands().len()).step_by(101) {
            for of_product in [false, true] {
                change(&mut joint, gate, of_product);
                let circuit = joint.sum(Backend::detect());
                for bytes in [6, 9, 11] {
                    let (wires, difference) = joint.evaluate(Backend::detect(), &values, &circuit, bytes);
                    assert!(difference != Block::ZERO, "gate {gate}, {bytes} bytes");
                    // Only the tags are wrong.
                    joint.zeros_of_outputs(&values, &wires);
                }
                change(&mut joint, gate, of_product);
            }
        }
    }
}

#[test]
#[should_panic(expected = "tags of 16 bytes")]
fn a_tag_leaves_out_bit_zero() {
    let _ = TagCheck::new(Block::ZERO, 16);
}
