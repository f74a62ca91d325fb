//! AND depth of circuits and of whole programs. A program is measured as if it were one circuit, in memory for live wires only.
//!
//! Folding is the same as in a [`Schedule`](crate::Schedule), also across links. The outputs of an instance follow from its
//! component and its inputs: their constants, which of them are equal or opposite, and their depths relative to one another.
//! Instances with equal inputs in this sense are therefore examined once.

use std::collections::HashMap;

use crate::{circuit::Circuit, deep::Deep, gate::GateCounts, literal::Literal, program::Program, walk::Walk};

impl Circuit {
    /// Counts gates and AND depth.
    pub fn stats(&self) -> GateCounts {
        match self.stored_gates() {
            Some(gates) => gates.counts(),
            None => GateCounts { and_depth: deepest(&alone(self).outputs), ..self.counts() },
        }
    }
}

impl Program {
    /// Gate counts of all instances together, and the AND depth of the program as one circuit.
    ///
    /// *Cost*: the gates of an instance are read only if no earlier instance of the component had inputs of the same relative
    /// depths.
    pub fn stats(&self) -> GateCounts {
        GateCounts { and_depth: Search::new(self).run(), ..self.counts() }
    }
}

/// Distinct wires of depth 0.
fn fresh(first: u64, count: u64) -> Vec<Deep> {
    (first..first + count).map(Deep::fresh).collect()
}

/// The wires of a program's inputs, and the number of the first node after them.
pub(crate) fn fresh_inputs(program: &Program) -> (Vec<Box<[Deep]>>, u64) {
    let mut node = 1;
    let inputs = program.inputs().iter().map(|input| {
        let width = u64::from(input.port.width());
        node += width;
        fresh(node - width, width).into_boxed_slice()
    });
    (inputs.collect(), node)
}

fn deepest(wires: &[Deep]) -> u64 {
    wires.iter().map(|wire| wire.depth).max().unwrap_or(0)
}

/// Measures a circuit whose inputs are distinct and of depth 0.
pub(crate) fn alone(circuit: &Circuit) -> Passed {
    let inputs = u64::from(circuit.input_count());
    pass(circuit, fresh(1, inputs), 1 + inputs)
}

/// The outputs of a circuit.
pub(crate) struct Passed {
    pub(crate) outputs: Vec<Deep>,
    /// The greatest depth of all wires.
    pub(crate) deepest: u64,
    /// The number after that of the last node.
    pub(crate) end: u64,
}

/// Walks through a circuit gate by gate, and numbers new nodes from `node` on.
pub(crate) fn pass(circuit: &Circuit, inputs: Vec<Deep>, mut node: u64) -> Passed {
    let mut wires = inputs;
    wires.reserve_exact(circuit.gates().len());
    for gate in circuit.gates() {
        let wire = Deep::of_gate(*gate, |wire| wires[wire.index()], &mut node);
        wires.push(wire);
    }
    let outputs = circuit.outputs().iter().map(|wire| wires[wire.index()]).collect();
    Passed { outputs, deepest: deepest(&wires), end: node }
}

/// The most wires of instances to remember.
const REMEMBERED_WIRES: usize = 1 << 22;

/// A component's instances are remembered if it has more gates per input wire than this; below it, passing gates is faster.
const GATES_PER_INPUT: usize = 16;

/// The outputs of instances, by component and inputs, both within a [`Frame`].
type Remembered = HashMap<(u32, Vec<Deep>), Vec<Deep>>;

/// The search for a program's depth.
struct Search<'p> {
    program: &'p Program,
    /// The depth of each component whose instances are remembered.
    own_depths: Vec<Option<u64>>,
    remembered: Remembered,
    remembered_wires: usize,
    /// The number of instances that were passed gate by gate.
    passed: u64,
}

impl<'p> Search<'p> {
    fn new(program: &'p Program) -> Self {
        let own_depth = |circuit: &Circuit| {
            if let Some(gates) = circuit.stored_gates() {
                return Some(gates.depths().1);
            }
            let (gates, inputs) = (circuit.gates().len(), circuit.input_count() as usize);
            let large = gates > GATES_PER_INPUT * inputs && program.instance_count() > 1;
            large.then(|| alone(circuit).deepest)
        };
        let own_depths = program.components().iter().map(|component| own_depth(component.circuit())).collect();
        Search { program, own_depths, remembered: HashMap::new(), remembered_wires: 0, passed: 0 }
    }

    fn run(&mut self) -> u64 {
        let program = self.program;
        let (inputs, mut node) = fresh_inputs(program);
        let mut walk = Walk::new(program, inputs, [Deep::constant(false), Deep::constant(true)]);
        let mut inputs = Vec::new();
        while let Some(id) = walk.next_instance(&mut inputs) {
            let (component, circuit) = (program.component_id(id).0, program.component_of(id).circuit());
            let given = std::mem::take(&mut inputs);
            let outputs = match self.own_depths[component as usize] {
                Some(own_depth) => self.instance(component, circuit, own_depth, &given, node),
                None => {
                    self.passed += 1;
                    pass(circuit, given, node).outputs
                }
            };
            node += circuit.gate_count() as u64;
            walk.finish(id, &outputs);
        }
        walk.into_outputs().iter().map(|wires| deepest(wires)).max().unwrap_or(0)
    }

    /// The outputs of an instance of a component with inputs of these depths.
    fn instance(&mut self, component: u32, circuit: &Circuit, own_depth: u64, given: &[Deep], node: u64) -> Vec<Deep> {
        let (frame, near) = Frame::new(given, own_depth, node);
        let key = (component, near);
        let far = |outputs: &Vec<Deep>| outputs.iter().map(|wire| frame.far(*wire)).collect();
        if let Some(outputs) = self.remembered.get(&key) {
            return far(outputs);
        }
        self.passed += 1;
        let inputs = 1 + key.1.len() as u64;
        let outputs = match circuit.stored_gates() {
            Some(gates) if key.1 == fresh(1, inputs - 1) => gates.depths().0.to_vec(),
            _ => pass(circuit, key.1.clone(), inputs).outputs,
        };
        let far = far(&outputs);
        let wires = key.1.len() + outputs.len();
        if self.remembered_wires + wires > REMEMBERED_WIRES {
            (self.remembered, self.remembered_wires) = (HashMap::new(), 0);
        }
        self.remembered_wires += wires;
        self.remembered.insert(key, outputs);
        far
    }
}

/// An instance's place in the program.
///
/// Within a frame, equal inputs have the node of the first of them, and the gates' nodes follow the inputs' nodes. Depths begin
/// at 0. Where an input is deeper than the next shallower one by more than the component's own depth, the exact gap does not
/// matter: nothing computed from the shallower input reaches the depth of the deeper one.
pub(crate) struct Frame {
    /// The input nodes in the program, and the first gate's node.
    nodes: Vec<u64>,
    first: u64,
    /// Depths within the frame from which a shift to program depths applies, and the shift, in ascending order.
    shifts: Vec<(u64, u64)>,
}

impl Frame {
    /// The frame of an instance with these inputs, whose first gate has node `first`, and the inputs within the frame.
    pub(crate) fn new(given: &[Deep], own_depth: u64, first: u64) -> (Self, Vec<Deep>) {
        let wires = || given.iter().filter(|wire| !wire.literal.is_constant());
        let mut depths: Vec<u64> = wires().map(|wire| wire.depth).collect();
        depths.sort_unstable();
        depths.dedup();
        let (mut shifts, mut last, mut near_last) = (Vec::new(), 0, 0);
        let near = depths.iter().enumerate().map(|(k, &depth)| {
            let gap = if k == 0 { 0 } else { (depth - last).min(own_depth + 1) };
            let near = near_last + gap;
            if shifts.last().is_none_or(|&(_, shift)| shift != depth - near) {
                shifts.push((near, depth - near));
            }
            (last, near_last) = (depth, near);
            near
        });
        let near: Vec<u64> = near.collect();
        let near_of = |depth| near[depths.partition_point(|of| *of < depth)];
        let first_of = first_of_each(given);
        let within = given.iter().enumerate().map(|(at, wire)| match wire.literal.is_constant() {
            true => *wire,
            false => {
                let node = 1 + first_of.get(at).copied().unwrap_or(at) as u64;
                let literal = Literal::of(node).invert_if(wire.literal.inverted());
                Deep { literal, depth: near_of(wire.depth) }
            }
        });
        let within = within.collect();
        (Frame { nodes: given.iter().map(|wire| wire.literal.number()).collect(), first, shifts }, within)
    }

    /// Depths within the frame from which a shift to program depths applies, and the shift, in ascending order.
    pub(crate) fn into_shifts(self) -> Vec<(u64, u64)> {
        self.shifts
    }

    /// Translates a wire of the instance to the program.
    pub(crate) fn far(&self, wire: Deep) -> Deep {
        if wire.literal.is_constant() {
            return wire;
        }
        let inputs = self.nodes.len() as u64;
        let node = match wire.literal.number() {
            input if input <= inputs => self.nodes[input as usize - 1],
            gate => self.first + gate - inputs - 1,
        };
        let depth = shifted(&self.shifts, wire.depth);
        Deep { literal: Literal::of(node).invert_if(wire.literal.inverted()), depth }
    }
}

/// The place of the first wire of each wire's node; none if every wire is of a node of its own.
fn first_of_each(wires: &[Deep]) -> Vec<usize> {
    let numbers = || wires.iter().map(|wire| wire.literal.number());
    // As wires of one source are, as a rule.
    if numbers().is_sorted_by(|a, b| a < b) {
        return Vec::new();
    }
    let mut order: Vec<(u64, usize)> = numbers().enumerate().map(|(at, number)| (number, at)).collect();
    order.sort_unstable();
    let mut first = vec![0; wires.len()];
    for of_node in order.chunk_by(|a, b| a.0 == b.0) {
        of_node.iter().for_each(|(_, at)| first[*at] = of_node[0].1);
    }
    first
}

/// The depth in the program of a depth within a frame with these shifts.
pub(crate) fn shifted(shifts: &[(u64, u64)], depth: u64) -> u64 {
    let at = shifts.partition_point(|(from, _)| *from <= depth);
    depth + shifts[..at].last().map_or(0, |(_, shift)| *shift)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;
    use crate::{Component, Gate, Party, Port, Recipients, Schedule, Type, Wire, random};

    /// The number of AND layers of the program as one circuit, as `gmw` runs it.
    fn layers(program: &Program) -> u64 {
        let schedule = Schedule::by_depth(program.flatten().expect("small enough").circuit());
        schedule.steps().iter().filter(|step| step.ands > 0).count() as u64
    }

    proptest! {
        #[test]
        fn the_depth_of_a_program_is_that_of_the_one_circuit_that_it_is(seed: u64) {
            let program = random::program(&mut StdRng::seed_from_u64(seed), 100, 3);
            prop_assert_eq!(program.stats().and_depth, layers(&program));
            prop_assert_eq!(program.flattened().expect("small enough").stats().and_depth, layers(&program));
        }
    }

    /// A circuit of two words under construction.
    struct Words {
        width: u32,
        gates: Vec<Gate>,
    }

    impl Words {
        fn gate(&mut self, gate: Gate) -> Wire {
            self.gates.push(gate);
            Wire(2 * self.width + self.gates.len() as u32 - 1)
        }

        /// The ripple-carry sum, without the last carry.
        fn add(&mut self, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
            let mut carry = None;
            let mut digit = |(&a, &b)| {
                let sum = self.gate(Gate::Xor(a, b));
                let Some(before) = carry else {
                    carry = Some(self.gate(Gate::And(a, b)));
                    return sum;
                };
                let (ac, bc) = (self.gate(Gate::Xor(a, before)), self.gate(Gate::Xor(b, before)));
                let both = self.gate(Gate::And(ac, bc));
                carry = Some(self.gate(Gate::Xor(both, before)));
                self.gate(Gate::Xor(sum, before))
            };
            a.iter().zip(b).map(&mut digit).collect()
        }

        /// The low half of the product, row by row.
        fn multiply(&mut self, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
            let mut product: Vec<Wire> = a.iter().map(|&a| self.gate(Gate::And(a, b[0]))).collect();
            for (k, &digit) in b.iter().enumerate().skip(1) {
                let row: Vec<Wire> = a[..a.len() - k].iter().map(|&a| self.gate(Gate::And(a, digit))).collect();
                let high = self.add(&product[k..], &row);
                product.splice(k.., high);
            }
            product
        }
    }

    /// A component that applies `operation` to two words of `width` bits.
    fn of_two(width: u32, operation: fn(&mut Words, &[Wire], &[Wire]) -> Vec<Wire>) -> Component {
        let mut words = Words { width, gates: Vec::new() };
        let wires = |from: u32| (from..from + width).map(Wire).collect::<Vec<_>>();
        let outputs = operation(&mut words, &wires(0), &wires(width));
        let circuit = Circuit::new(2 * width, words.gates, outputs).expect("in order");
        let ports = |names: &[&str]| names.iter().map(|name| Port::new(*name, Type::Unsigned(width))).collect();
        Component::new("of two", ports(&["a", "b"]), ports(&["c"]), circuit).expect("fits")
    }

    #[test]
    fn sums_of_sums_are_as_deep_as_their_wires_and_not_as_their_ports() {
        let mut program = Program::new("sums");
        let id = program.add_component(of_two(32, Words::add));
        let x = program.add_input(Port::new("x", Type::Unsigned(32)), Party(0)).expect("new");
        let mut sum = program.input_link(x);
        for _ in 0..10 {
            let link = program.input_link(x);
            let instance = program.add_instance(id, &[sum, link]).expect("fits");
            sum = program.instance_link(instance);
            sum.len = 32;
        }
        program.add_output(Port::new("y", Type::Unsigned(32)), Recipients::All, vec![sum]).expect("fits");
        assert_eq!(program.stats().and_depth, layers(&program));
        assert!(program.stats().and_depth < 50, "{}", program.stats().and_depth);
    }

    #[test]
    fn a_wire_that_comes_twice_or_a_constant_needs_no_gate() {
        let gates = vec![Gate::And(Wire(0), Wire(1)), Gate::Not(Wire(2)), Gate::And(Wire(3), Wire(0))];
        let circuit = Circuit::new(2, gates, vec![Wire(4), Wire(2)]).expect("in order");
        let port = |name: &str, width| vec![Port::new(name, Type::Bits(width))];
        let component = Component::new("c", port("a", 2), port("b", 2), circuit).expect("fits");
        let mut program = Program::new("p");
        let id = program.add_component(component);
        let x = program.add_input(Port::new("x", Type::Bits(1)), Party(0)).expect("new");
        let link = program.input_link(x);
        let instance = program.add_instance(id, &[link, link]).expect("fits");
        let out = program.instance_link(instance);
        program.add_output(Port::new("y", Type::Bits(2)), Recipients::All, vec![out]).expect("fits");
        assert_eq!((program.stats().and_depth, layers(&program)), (0, 0));
    }

    /// A chain of `count` instances of `link`, each with inputs `x` and the previous output.
    fn chain(link: Component, count: usize) -> Program {
        let [x, width] = [link.inputs()[0].ty.clone(), link.inputs()[1].ty.clone()];
        let mut program = Program::new("chain");
        let id = program.add_component(link);
        let x = program.add_input(Port::new("x", x), Party(0)).expect("new");
        let first = program.add_input(Port::new("y", width.clone()), Party(1)).expect("new");
        let (x, mut y) = (program.input_link(x), program.input_link(first));
        for _ in 0..count {
            let instance = program.add_instance(id, &[x, y]).expect("fits");
            y = program.instance_link(instance);
        }
        program.add_output(Port::new("z", width), Recipients::All, vec![y]).expect("fits");
        program
    }

    #[test]
    fn instances_that_are_given_the_same_are_passed_once() {
        let [short, long] = [3, 10_000].map(|count| chain(of_two(16, Words::multiply), count));
        assert_eq!(short.stats().and_depth, layers(&short));
        let mut search = Search::new(&long);
        let depth = search.run();
        assert!(search.passed <= 20, "{} of 10,000", search.passed);
        assert!(depth >= 10_000, "{depth}");
    }

    #[test]
    fn what_is_remembered_is_what_passing_finds() {
        let program = chain(of_two(16, Words::multiply), 12);
        let mut search = Search::new(&program);
        search.own_depths.fill(None);
        assert_eq!(search.run(), program.stats().and_depth);
        assert_eq!(search.passed, 12);
    }
}
