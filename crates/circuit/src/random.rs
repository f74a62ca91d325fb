//! Random circuits and programs for tests.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use rand::{Rng, RngExt};

use crate::{
    bits::Bits,
    circuit::Circuit,
    component::Component,
    diagnostic::Diagnostic,
    encoder::OneComponent,
    gate::{Gate, Wire},
    program::{Input, InputId, InstanceId, Link, Party, Program, Recipients, Source},
    stored::{GateBlocks, Shape, StoredGates},
    types::{Port, Type},
};

/// A circuit of exactly this shape, with gates of every kind.
///
/// Operands repeat within a gate and between gates, are near or far, inputs or constants; outputs repeat and may be
/// inputs. Without inputs the first gate is a constant.
///
/// # Panics
/// If there are outputs but neither inputs nor gates.
pub fn circuit(rng: &mut (impl Rng + ?Sized), inputs: u32, gates: usize, outputs: usize) -> Circuit {
    let gates: Vec<Gate> = (0..gates as u32).map(|g| gate(rng, inputs + g)).collect();
    let wires = inputs + gates.len() as u32;
    let outputs = (0..outputs).map(|_| any_wire(rng, wires)).collect();
    Circuit::new(inputs, gates, outputs).expect("operands are drawn from the wires set before")
}

/// The same component with its gates outside, in blocks of `block_gates`; `None` as in [`StoredGates::new`].
pub fn stored(component: &Component, block_gates: u32) -> Option<Component> {
    losing(component, block_gates, Arc::new(AtomicUsize::new(usize::MAX)))
}

/// As [`stored`]; the gates are gone as soon as no more reads of a block are `left`.
///
/// # Panics
/// If they are gone at once.
pub fn losing(component: &Component, block_gates: u32, left: Arc<AtomicUsize>) -> Option<Component> {
    let circuit = component.circuit();
    let shape = Shape { input_count: circuit.input_count(), gate_count: circuit.gate_count() as u32, block_gates };
    let (inputs, outputs) = (component.inputs(), component.outputs());
    let mut encoded = OneComponent::new(inputs, outputs, shape.input_count, shape.gate_count);
    circuit.gates().iter().for_each(|gate| encoded.gate(*gate));
    let blocks = Arc::new(Losing { gates: circuit.gates().to_vec(), block_gates: block_gates as usize, left });
    let gates = StoredGates::new(shape, circuit.outputs().to_vec(), blocks, encoded).expect("they are in memory")?;
    let circuit = Circuit::stored(Arc::new(gates));
    Some(Component::new(component.name(), inputs.to_vec(), outputs.to_vec(), circuit).expect("it fits as before"))
}

/// Gates in memory that can be read a number of times.
struct Losing {
    gates: Vec<Gate>,
    block_gates: usize,
    left: Arc<AtomicUsize>,
}

impl GateBlocks for Losing {
    fn read(&self, block: usize, gates: &mut Vec<Gate>) -> Result<(), Diagnostic> {
        let less = |left: usize| left.checked_sub(1);
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err() {
            return Err(Diagnostic::new("gates", "are gone"));
        }
        gates.extend(self.gates.chunks(self.block_gates).nth(block).into_iter().flatten());
        Ok(())
    }
}

/// A component around a [`circuit`] with one to four input and output ports of mixed types and 1 to `most_gates` gates.
pub fn component(rng: &mut (impl Rng + ?Sized), name: &str, most_gates: usize) -> Component {
    let inputs = ports(rng, "in");
    let outputs = ports(rng, "out");
    let width = |ports: &[Port]| ports.iter().map(Port::width).sum::<u32>();
    // Small counts are as likely as large ones.
    let gates = rng.random_range(1..=most_gates.max(1)).min(rng.random_range(1..=most_gates.max(1)));
    let body = circuit(rng, width(&inputs), gates, width(&outputs) as usize);
    Component::new(name, inputs, outputs, body).expect("ports and circuit are made to fit")
}

/// A program of one [`component`], with its inputs dealt to `parties` parties in turn.
pub fn single(rng: &mut (impl Rng + ?Sized), most_gates: usize, parties: u16) -> Program {
    let component = component(rng, "random", most_gates);
    let owners: Vec<Party> = (0..component.inputs().len()).map(|k| Party(k as u16 % parties.max(1))).collect();
    Program::from_component(component, &owners).expect("a component is a program")
}

/// A program of several components and more instances of them.
///
/// Links fan out, take slices of inputs and earlier instances, and carry constants; owners and recipients are
/// drawn from `parties` parties; some instances and inputs are never read.
pub fn program(rng: &mut (impl Rng + ?Sized), most_gates: usize, parties: u16) -> Program {
    let mut program = Program::new("random");
    let parties = parties.max(1);
    let kinds = rng.random_range(1..=4);
    let kinds: Vec<_> = (0..kinds)
        .map(|k| {
            let component = component(rng, &format!("component {k}"), most_gates);
            program.add_component(component)
        })
        .collect();
    for (k, port) in ports(rng, "in").into_iter().enumerate() {
        program.add_input(port, Party(k as u16 % parties)).expect("names are numbered");
    }
    for _ in 0..rng.random_range(1..=12) {
        let kind = kinds[rng.random_range(0..kinds.len())];
        let width = program.components()[kind.0 as usize].input_width();
        let links = links(rng, &program, width);
        program.add_instance(kind, &links).expect("links are made to fit");
    }
    for port in ports(rng, "out") {
        let recipients = match rng.random_range(0..=parties) {
            0 => Recipients::All,
            party => Recipients::Only(vec![Party(party - 1)]),
        };
        let links = links(rng, &program, port.width());
        program.add_output(port, recipients, links).expect("links are made to fit");
    }
    program
}

/// A random value for each input of a program.
pub fn inputs(rng: &mut (impl Rng + ?Sized), program: &Program) -> Vec<Bits> {
    let value = |input: &Input| (0..input.port.width()).map(|_| rng.random()).collect();
    program.inputs().iter().map(value).collect()
}

fn gate(rng: &mut (impl Rng + ?Sized), set: u32) -> Gate {
    if set == 0 {
        return Gate::Constant(rng.random());
    }
    match rng.random_range(0..20) {
        0..8 => Gate::Xor(any_wire(rng, set), any_wire(rng, set)),
        8..16 => Gate::And(any_wire(rng, set), any_wire(rng, set)),
        16..19 => Gate::Not(any_wire(rng, set)),
        _ => Gate::Constant(rng.random()),
    }
}

/// One of the first `set` wires: a recent one half of the time, so that circuits are both deep and wide.
fn any_wire(rng: &mut (impl Rng + ?Sized), set: u32) -> Wire {
    let first = if rng.random() { set.saturating_sub(16) } else { 0 };
    Wire(rng.random_range(first..set))
}

fn ports(rng: &mut (impl Rng + ?Sized), side: &str) -> Vec<Port> {
    let count = rng.random_range(1..=4);
    let mut any = |k: usize| {
        // Occasionally a port without wires.
        let of = if rng.random_range(0..8) == 0 { Type::Array(Box::new(Type::Bool), 0) } else { small_type(rng, 2) };
        Port::new(format!("{side}{k}"), of)
    };
    (0..count).map(&mut any).collect()
}

/// A type of 1 to about 80 wires.
pub fn small_type(rng: &mut (impl Rng + ?Sized), depth: u32) -> Type {
    match rng.random_range(0..if depth == 0 { 5 } else { 8 }) {
        0 => Type::Bits(rng.random_range(1..=9)),
        1 => Type::Bool,
        2 => Type::Unsigned(rng.random_range(1..=17)),
        3 => Type::Signed(rng.random_range(1..=17)),
        4 => Type::Bytes(rng.random_range(1..=3)),
        5 => Type::Array(Box::new(small_type(rng, depth - 1)), rng.random_range(1..=3)),
        6 => {
            let mut fields = || (0..rng.random_range(0..=2)).map(|_| small_type(rng, 0)).collect();
            Type::Enum(["A", "Bc", "D"].map(|name| (name.to_string(), fields())).to_vec())
        }
        _ => {
            let fields = 0..rng.random_range(1..=2);
            Type::Record(fields.map(|f| (format!("field{f}"), small_type(rng, depth - 1))).collect())
        }
    }
}

fn links(rng: &mut (impl Rng + ?Sized), program: &Program, width: u32) -> Vec<Link> {
    let mut links = Vec::new();
    let mut missing = width;
    while missing > 0 {
        let most = rng.random_range(1..=missing);
        let link = link(rng, program, most);
        missing -= link.len;
        links.push(link);
    }
    links
}

fn link(rng: &mut (impl Rng + ?Sized), program: &Program, most: u32) -> Link {
    let inputs = program.inputs().len() as u32;
    let instances = program.instance_count() as u32;
    let pick = rng.random_range(0..=inputs + instances);
    let (source, width) = if pick < inputs {
        let id = InputId(pick);
        (Source::Input(id), program.input_link(id).len)
    } else if pick < inputs + instances {
        let id = InstanceId(pick - inputs);
        (Source::Instance(id), program.instance_link(id).len)
    } else {
        return Link { source: Source::Constant(rng.random()), start: 0, len: most };
    };
    let len = most.min(width);
    Link { source, start: rng.random_range(0..=width - len), len }
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;

    #[test]
    fn the_seed_decides_everything() {
        let make = |seed| program(&mut StdRng::seed_from_u64(seed), 200, 3).digest();
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
    }

    #[test]
    fn circuits_have_the_shape_asked_for_and_gates_of_every_kind() {
        let rng = &mut StdRng::seed_from_u64(3);
        for (inputs, gates, outputs) in [(0, 1, 1), (1, 0, 3), (0, 0, 0), (5, 5000, 70)] {
            let circuit = circuit(rng, inputs, gates, outputs);
            assert_eq!(circuit.input_count(), inputs);
            assert_eq!(circuit.gates().len(), gates);
            assert_eq!(circuit.outputs().len(), outputs);
        }
        let large = circuit(rng, 5, 5000, 70);
        let kinds: std::collections::HashSet<_> = large.gates().iter().map(std::mem::discriminant).collect();
        assert_eq!(kinds.len(), 4);
        assert!(large.gates().iter().any(|g| matches!(g, Gate::And(a, b) if a == b)));
    }

    #[test]
    fn programs_cover_what_links_can_do() {
        let rng = &mut StdRng::seed_from_u64(4);
        let (mut constants, mut slices, mut fan_out, mut unread) = (0, 0, 0, 0);
        for _ in 0..50 {
            let program = program(rng, 50, 2);
            let ids = (0..program.instance_count()).map(|i| InstanceId(i as u32));
            let into_instances = ids.clone().flat_map(|i| program.instance_links(i));
            let all: Vec<Link> =
                into_instances.chain(program.outputs().iter().flat_map(|o| o.links.iter().copied())).collect();
            constants += all.iter().filter(|l| matches!(l.source, Source::Constant(_))).count();
            slices += all.iter().filter(|l| l.start > 0).count();
            for id in ids {
                match all.iter().filter(|l| l.source == Source::Instance(id)).count() {
                    0 => unread += 1,
                    1 => (),
                    _ => fan_out += 1,
                }
            }
        }
        assert!([constants, slices, fan_out, unread].iter().all(|&n| n > 20));
    }

    #[test]
    #[should_panic]
    fn outputs_without_any_wire_are_refused() {
        circuit(&mut StdRng::seed_from_u64(5), 0, 0, 1);
    }
}
