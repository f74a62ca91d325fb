//! Digests for parties to check that they run the same program, with its gates in the same order.

use std::fmt;

use crate::{
    circuit::Circuit,
    component::Component,
    encoder::{Encoder, PROGRAM},
    literal::Literal,
    notes::Order,
    program::{InstanceId, Link, Program, Recipients, Source},
    schedule::Schedule,
};

/// A BLAKE3 hash of the parts of schedules that parties must share: the operands, order and batches of AND gates, and the tuning
/// numbers. It leaves out slots and the places of XOR gates, since nothing on the wire depends on them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScheduleDigest([u8; 32]);

impl ScheduleDigest {
    /// The digest of several schedules in order, together with numbers that the order depends on.
    pub fn of_all<'s>(schedules: impl IntoIterator<Item = &'s Schedule>, numbers: &[u64]) -> Self {
        ScheduleDigest::of_digests(schedules.into_iter().map(Schedule::digest), numbers)
    }

    /// The same from their digests.
    pub fn of_digests(schedules: impl IntoIterator<Item = ScheduleDigest>, numbers: &[u64]) -> Self {
        let mut hash = Encoder::new("garblet 2026 schedules v1");
        hash.list(numbers, |hash, number| hash.count(*number as usize));
        schedules.into_iter().for_each(|digest| hash.bytes(&digest.0));
        ScheduleDigest(hash.finish())
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Half of the digest, for parties to compare and people to read.
impl fmt::Display for ScheduleDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..16].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Computes the digest while a schedule is made.
pub(crate) struct OrderEncoder(Encoder);

impl OrderEncoder {
    /// Starts with the tuning numbers of the order, so that parties with different numbers notice even on a small program.
    pub(crate) fn new(tuning: &[u64]) -> Self {
        let mut hash = Encoder::new("garblet 2026 schedule v1");
        hash.list(tuning, |hash, number| hash.count(*number as usize));
        OrderEncoder(hash)
    }

    /// Begins a batch of `ands` AND gates that are computed at once.
    pub(crate) fn batch(&mut self, ands: usize) {
        if ands > 0 {
            self.0.count(ands);
        }
    }

    pub(crate) fn and(&mut self, gate: u32, operands: [Literal; 2]) {
        self.0.number(gate);
        operands.into_iter().for_each(|operand| self.0.literal(operand));
    }

    pub(crate) fn finish(mut self, outputs: &[Literal]) -> ScheduleDigest {
        // Batches are never empty, so a zero marks where they end.
        self.0.count(0);
        self.0.list(outputs, |hash, output| hash.literal(*output));
        ScheduleDigest(self.0.finish())
    }
}

impl Program {
    /// A BLAKE3 hash of everything that parties must agree on: components gate by gate, instances, links, ports with
    /// names and types, owners and recipients, and requirements on inputs. It leaves out the names of the program and its components.
    ///
    /// *Cost*: reads every gate of every component in memory once.
    pub fn digest(&self) -> [u8; 32] {
        let encoded = match self.components() {
            [only] => only.circuit().stored_gates().map(|gates| gates.encoded().clone()),
            _ => None,
        };
        let mut hash = encoded.unwrap_or_else(|| {
            let mut hash = Encoder::new(PROGRAM);
            hash.list(self.components(), |hash, component| hash.component(component));
            hash
        });
        hash.list(self.inputs(), |hash, input| {
            hash.port(&input.port);
            hash.number(input.owner.0.into());
        });
        hash.instances(self);
        hash.list(self.outputs(), |hash, output| {
            hash.port(&output.port);
            match &output.recipients {
                Recipients::All => hash.number(0),
                Recipients::Only(parties) => {
                    hash.number(1);
                    hash.list(parties, |hash, party| hash.number(party.0.into()));
                }
            }
            hash.list(&output.links, Encoder::link);
        });
        hash.relied_on(self);
        hash.finish()
    }

    /// A hash of circuits, instances and links only.
    pub(crate) fn circuit_digest(&self) -> [u8; 32] {
        let mut hash = Encoder::new("garblet 2026 program's circuit v1");
        hash.list(self.components(), |hash, component| hash.circuit(component.circuit()));
        hash.instances(self);
        hash.list(self.outputs(), |hash, output| hash.list(&output.links, Encoder::link));
        hash.finish()
    }

    /// A hash of the ports of all components.
    pub(crate) fn inner_ports_digest(&self) -> [u8; 32] {
        let mut hash = Encoder::new("garblet 2026 program's inner ports v1");
        hash.list(self.components(), |hash, component| hash.inner_ports(component));
        hash.finish()
    }
}

impl Component {
    /// A BLAKE3 hash of ports and circuit, without the component's name.
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = Encoder::new("garblet 2026 component v1");
        hash.component(self);
        hash.finish()
    }
}

/// The parts of components and programs.
impl Encoder {
    fn instances(&mut self, program: &Program) {
        self.count(program.instance_count());
        for id in (0..program.instance_count()).map(|i| InstanceId(i as u32)) {
            self.number(program.component_id(id).0);
            let links = program.instance_links(id);
            self.count(links.len());
            links.for_each(|link| self.link(&link));
        }
    }

    /// Ends with the order and the limits that inputs must have; adds nothing if there are none.
    fn relied_on(&mut self, program: &Program) {
        for (at, input) in program.inputs().iter().enumerate() {
            if let Some(ordered) = program.notes().ordered(&input.port.name) {
                let order = match ordered.order {
                    Order::Strict => 0,
                    Order::Ascending => 1,
                    Order::Descending => 2,
                };
                [0, at as u32, ordered.key_bits, order].into_iter().for_each(|n| self.number(n));
            }
            if let Some(limit) = program.notes().limit(&input.port.name) {
                [1, at as u32, limit.bits].into_iter().for_each(|n| self.number(n));
                self.count(limit.below as usize);
            }
        }
    }

    fn component(&mut self, component: &Component) {
        self.inner_ports(component);
        self.circuit(component.circuit());
    }

    fn inner_ports(&mut self, component: &Component) {
        self.list(component.inputs(), Encoder::port);
        self.list(component.outputs(), Encoder::port);
    }

    fn circuit(&mut self, circuit: &Circuit) {
        self.number(circuit.input_count());
        self.count(circuit.gate_count());
        // Gates that cannot be read any more give another digest, which is all that can be said of them.
        let _ = circuit.for_each_gate(|gate| self.gate(gate));
        self.wires(circuit.outputs());
    }

    fn link(&mut self, link: &Link) {
        let (kind, index, start) = match link.source {
            Source::Input(i) => (0, i.0, link.start),
            Source::Instance(i) => (1, i.0, link.start),
            // A link of constants has no meaningful start.
            Source::Constant(value) => (2, value.into(), 0),
        };
        [kind, index, start, link.len].into_iter().for_each(|n| self.number(n));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Gate, Party, Port, Type, Wire,
        notes::{Limit, Notes, Ordered},
    };

    fn program(gate: Gate, names: [&str; 2], ty: Type, owner: Party, recipients: Recipients, from: u32) -> Program {
        let port = |name: &str, ty| Port::new(name, ty);
        let circuit = Circuit::new(2, vec![gate], vec![Wire(2), Wire(1)]).unwrap();
        let body = Component::new(names[0], vec![port("a", ty)], vec![port("b", Type::Bits(2))], circuit).unwrap();
        let mut program = Program::new(names[0]);
        let id = program.add_component(body);
        let input = program.add_input(port(names[1], Type::Bits(2)), owner).unwrap();
        let link = program.input_link(input);
        let instance = program.add_instance(id, &[link]).unwrap();
        let out = Link { source: Source::Instance(instance), start: from, len: 1 };
        program.add_output(port("y", Type::Bool), recipients, vec![out]).unwrap();
        program
    }

    fn plain() -> [u8; 32] {
        program(Gate::And(Wire(0), Wire(1)), ["p", "x"], Type::Bits(2), Party(0), Recipients::All, 0).digest()
    }

    #[test]
    fn everything_that_matters_changes_the_digest() {
        let (and, bits, all) = (Gate::And(Wire(0), Wire(1)), Type::Bits(2), Recipients::All);
        let others = [
            program(Gate::Xor(Wire(0), Wire(1)), ["p", "x"], bits.clone(), Party(0), all.clone(), 0),
            program(Gate::And(Wire(1), Wire(1)), ["p", "x"], bits.clone(), Party(0), all.clone(), 0),
            program(Gate::Constant(true), ["p", "x"], bits.clone(), Party(0), all.clone(), 0),
            program(and, ["p", "z"], bits.clone(), Party(0), all.clone(), 0),
            program(and, ["p", "x"], Type::Unsigned(2), Party(0), all.clone(), 0),
            program(and, ["p", "x"], bits.clone(), Party(1), all.clone(), 0),
            program(and, ["p", "x"], bits.clone(), Party(0), Recipients::Only(vec![Party(0)]), 0),
            program(and, ["p", "x"], bits.clone(), Party(0), Recipients::Only(vec![]), 0),
            program(and, ["p", "x"], bits, Party(0), all, 1),
        ];
        let digests: std::collections::HashSet<_> = others.iter().map(Program::digest).chain([plain()]).collect();
        assert_eq!(digests.len(), others.len() + 1);
    }

    #[test]
    fn what_inputs_must_be_changes_the_digest() {
        let noted = |ordered: Vec<Ordered>, limits: Vec<Limit>| {
            let mut program =
                program(Gate::And(Wire(0), Wire(1)), ["p", "x"], Type::Bits(2), Party(0), Recipients::All, 0);
            program.set_notes(Notes { ordered, limits, ..Notes::default() });
            program
        };
        let ordered = |key_bits, order| vec![Ordered { input: "x".into(), key_bits, order }];
        let limit = |bits, below, field: &str| vec![Limit { input: "x".into(), field: field.into(), bits, below }];
        let programs = [
            noted(vec![], vec![]),
            noted(ordered(1, Order::Strict), vec![]),
            noted(ordered(1, Order::Ascending), vec![]),
            noted(ordered(1, Order::Descending), vec![]),
            noted(ordered(2, Order::Strict), vec![]),
            noted(vec![], limit(1, 1, "f")),
            noted(vec![], limit(1, 2, "f")),
            noted(vec![], limit(2, 1, "f")),
            noted(ordered(1, Order::Strict), limit(1, 1, "f")),
        ];
        let digests: std::collections::HashSet<_> = programs.iter().map(Program::digest).collect();
        assert_eq!(digests.len(), programs.len());
        assert!(digests.contains(&plain()), "a program that relies on nothing has the digest that it had");
        assert_eq!(noted(vec![], limit(1, 1, "g")).digest(), noted(vec![], limit(1, 1, "f")).digest());
        for other in &programs[1..] {
            let (one, other) = (programs[0].parts(), other.parts());
            let more: Vec<&str> = other.iter().filter(|part| !one.contains(part)).map(|(name, _)| &name[..]).collect();
            assert_eq!(more, ["lists"]);
        }
    }

    #[test]
    fn display_names_do_not() {
        let other = program(Gate::And(Wire(0), Wire(1)), ["q", "x"], Type::Bits(2), Party(0), Recipients::All, 0);
        assert_eq!(other.digest(), plain());
        assert_eq!(other.components()[0].digest().len(), 32);
    }

    #[test]
    fn long_circuits_are_hashed_to_the_last_gate() {
        let long = |last| {
            let mut gates = vec![Gate::Not(Wire(0)); 20_000];
            gates.push(last);
            let circuit = Circuit::new(1, gates, vec![Wire(20_001)]).unwrap();
            let port = |name| vec![Port::new(name, Type::Bool)];
            Component::new("long", port("a"), port("b"), circuit).unwrap().digest()
        };
        assert_ne!(long(Gate::Constant(false)), long(Gate::Constant(true)));
    }
}
