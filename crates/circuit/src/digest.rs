//! The digest by which parties check that they run the same program.

use crate::{
    circuit::{Circuit, Gate},
    component::Component,
    program::{InstanceId, Link, Program, Recipients, Source},
    types::{Port, Type},
};

impl Program {
    /// A BLAKE3 hash of everything that parties must agree on: components gate by gate, instances, links, ports with
    /// names and types, owners and recipients; but not the names of the program and of its components.
    ///
    /// *Cost*: reads every gate of every component once.
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = Encoder::new("garblet 2026 program v1");
        hash.list(self.components(), |hash, component| hash.component(component));
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
        hash.finish()
    }

    /// A hash of circuits, instances and links alone.
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
    /// A BLAKE3 hash of ports and circuit, but not of the component's name.
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = Encoder::new("garblet 2026 component v1");
        hash.component(self);
        hash.finish()
    }
}

/// Feeds a prefix-free encoding to the hash: every list is preceded by its length, every choice by its number.
struct Encoder {
    hash: blake3::Hasher,
    /// Gates are small; the hash is fast on long runs only.
    pending: Vec<u8>,
}

const FLUSH_BYTES: usize = 1 << 16;

impl Encoder {
    fn new(context: &str) -> Self {
        Encoder { hash: blake3::Hasher::new_derive_key(context), pending: Vec::with_capacity(FLUSH_BYTES + 64) }
    }

    fn finish(mut self) -> [u8; 32] {
        self.hash.update(&self.pending);
        self.hash.finalize().into()
    }

    fn number(&mut self, value: u32) {
        self.pending.extend_from_slice(&value.to_le_bytes());
        if self.pending.len() >= FLUSH_BYTES {
            self.hash.update(&self.pending);
            self.pending.clear();
        }
    }

    fn count(&mut self, count: usize) {
        self.number(count as u32);
        self.number((count as u64 >> 32) as u32);
    }

    fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.count(items.len());
        items.iter().for_each(|item| each(self, item));
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.pending.extend_from_slice(text.as_bytes());
    }

    fn instances(&mut self, program: &Program) {
        self.count(program.instance_count());
        for id in (0..program.instance_count()).map(|i| InstanceId(i as u32)) {
            self.number(program.component_id(id).0);
            let links = program.instance_links(id);
            self.count(links.len());
            links.for_each(|link| self.link(&link));
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
        self.list(circuit.gates(), |hash, gate| {
            let (kind, operands) = match *gate {
                Gate::Xor(a, b) => (0, [Some(a), Some(b)]),
                Gate::And(a, b) => (1, [Some(a), Some(b)]),
                Gate::Not(a) => (2, [Some(a), None]),
                Gate::Constant(value) => (3 + u32::from(value), [None, None]),
            };
            hash.number(kind);
            operands.into_iter().flatten().for_each(|wire| hash.number(wire.0));
        });
        self.list(circuit.outputs(), |hash, wire| hash.number(wire.0));
    }

    fn port(&mut self, port: &Port) {
        self.text(&port.name);
        self.ty(&port.ty);
    }

    fn ty(&mut self, ty: &Type) {
        let mut tagged = |tag, n| {
            self.number(tag);
            self.number(n);
        };
        match ty {
            Type::Bits(n) => tagged(0, *n),
            Type::Bool => tagged(1, 1),
            Type::Unsigned(n) => tagged(2, *n),
            Type::Signed(n) => tagged(3, *n),
            Type::Bytes(n) => tagged(4, *n),
            Type::Array(element, n) => {
                tagged(5, *n);
                self.ty(element);
            }
            Type::Record(fields) => {
                tagged(6, 0);
                self.list(fields, |hash, (name, ty)| {
                    hash.text(name);
                    hash.ty(ty);
                });
            }
            Type::Fixed(integer, fraction) => {
                tagged(8, *integer);
                self.number(*fraction);
            }
            Type::List(element, n) => {
                tagged(9, *n);
                self.ty(element);
            }
            Type::Enum(variants) => {
                tagged(7, 0);
                self.list(variants, |hash, (name, types)| {
                    hash.text(name);
                    hash.list(types, Encoder::ty);
                });
            }
        }
    }

    fn link(&mut self, link: &Link) {
        let (kind, index, start) = match link.source {
            Source::Input(i) => (0, i.0, link.start),
            Source::Instance(i) => (1, i.0, link.start),
            // Where a link of constants starts means nothing.
            Source::Constant(value) => (2, value.into(), 0),
        };
        [kind, index, start, link.len].into_iter().for_each(|n| self.number(n));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Party, Wire};

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
