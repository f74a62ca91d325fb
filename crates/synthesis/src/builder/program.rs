//! Building programs: components linked port by port.

use std::sync::Arc;

use garblet_circuit::{
    CircuitError, Component, ComponentId, Input, Link, Party, Port, Program, Recipients, Source, Type,
    notes::{Limit, Ordered},
};

use super::{Aim, CircuitBuilder};

/// A typed value on wires of a program under construction: an input, an output port of an instance, a part of one,
/// a constant, or a concatenation.
///
/// Wires belong to the builder that made them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wires {
    ty: Type,
    links: Vec<Link>,
}

/// A program under construction.
///
/// ```
/// use garblet_circuit::{Party, Recipients, Type};
/// use garblet_synthesis::{builder::ProgramBuilder, library};
///
/// let mut p = ProgramBuilder::new("two rounds");
/// let round = p.component(library::component("aes-round")?);
/// let state = p.input("block", Type::Bytes(16), Party(0))?;
/// let key = p.input("key", Type::Bytes(16), Party(1))?;
/// let state = p.instance(round, &[&state, &key])?.remove(0);
/// let state = p.instance(round, &[&state, &key])?.remove(0);
/// p.output("state", &state, Recipients::All)?;
/// assert_eq!(p.finish().instance_count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ProgramBuilder {
    program: Program,
    aim: Aim,
}

impl ProgramBuilder {
    /// Begins a program.
    pub fn new(name: impl Into<String>) -> Self {
        Self::with_aim(name, Aim::Size)
    }

    /// Begins a program [whose circuits](ProgramBuilder::circuit) have few of what `aim` says.
    pub fn with_aim(name: impl Into<String>, aim: Aim) -> Self {
        ProgramBuilder { program: Program::new(name), aim }
    }

    /// Begins a circuit with the program's aim, to become [a component](ProgramBuilder::component).
    pub fn circuit(&self, name: impl Into<String>) -> CircuitBuilder {
        CircuitBuilder::with_aim(name, self.aim)
    }

    /// Adds a component type, which may be instantiated any number of times.
    pub fn component(&mut self, component: impl Into<Arc<Component>>) -> ComponentId {
        self.program.add_component(component)
    }

    /// Adds an input that `owner` provides.
    ///
    /// *Errors*: a name that is taken.
    pub fn input(&mut self, name: impl Into<String>, ty: Type, owner: Party) -> Result<Wires, CircuitError> {
        let id = self.program.add_input(Port::new(name, ty.clone()), owner)?;
        Ok(Wires { ty, links: vec![self.program.input_link(id)] })
    }

    /// Records that an input counts as empty if its rows are not in order.
    pub fn note_order(&mut self, ordered: Ordered) {
        let mut notes = self.program.notes().clone();
        notes.ordered.push(ordered);
        self.program.set_notes(notes);
    }

    /// Records that numbers of an input are ignored if they are too large.
    pub fn note_limit(&mut self, limit: Limit) {
        let mut notes = self.program.notes().clone();
        notes.limits.push(limit);
        self.program.set_notes(notes);
    }

    /// Adds an instance with these wires as its input ports, and returns its output ports.
    ///
    /// *Errors*: a wrong number of wires for a port, a wrong number of ports, or a component that does not exist.
    pub fn instance(&mut self, component: ComponentId, inputs: &[&Wires]) -> Result<Vec<Wires>, CircuitError> {
        if let Some(body) = self.program.components().get(component.0 as usize) {
            check_ports(body, inputs)?;
        }
        let links: Vec<Link> = inputs.iter().flat_map(|wires| &wires.links).copied().collect();
        let instance = self.program.add_instance(component, &links)?;
        let mut start = 0;
        let ports = self.program.component_of(instance).outputs().iter();
        Ok(ports
            .map(|port| {
                let link = Link { source: Source::Instance(instance), start, len: port.width() };
                start += port.width();
                Wires { ty: port.ty.clone(), links: vec![link] }
            })
            .collect())
    }

    /// Adds an output.
    ///
    /// *Errors*: a name that is taken.
    pub fn output(
        &mut self,
        name: impl Into<String>,
        wires: &Wires,
        recipients: Recipients,
    ) -> Result<(), CircuitError> {
        self.program.add_output(Port::new(name, wires.ty.clone()), recipients, wires.links.clone())
    }

    /// The inputs so far.
    pub fn inputs(&self) -> &[Input] {
        self.program.inputs()
    }

    /// Finishes the program.
    pub fn finish(self) -> Program {
        self.program
    }
}

impl Wires {
    /// A constant: bit `i` of the type's wires is `bit(i)`.
    pub fn constant(ty: Type, bit: impl Fn(usize) -> bool) -> Wires {
        let mut wires = Wires { links: Vec::new(), ty };
        for i in 0..wires.ty.width() as usize {
            wires.push(Link { source: Source::Constant(bit(i)), start: 0, len: 1 });
        }
        wires
    }

    /// A constant byte string.
    pub fn constant_bytes(bytes: &[u8]) -> Wires {
        Wires::constant(Type::Bytes(bytes.len() as u32), |i| bytes[i / 8] >> (i % 8) & 1 == 1)
    }

    /// Concatenates several values to one of type `ty`.
    ///
    /// # Panics
    /// If the widths do not add up to the width of `ty`.
    pub fn concat<'a>(ty: Type, parts: impl IntoIterator<Item = &'a Wires>) -> Wires {
        let mut wires = Wires { ty, links: Vec::new() };
        parts.into_iter().flat_map(|part| &part.links).for_each(|&link| wires.push(link));
        assert_eq!(wires.width(), wires.ty.width(), "wires of a {}", wires.ty);
        wires
    }

    /// The type of the value.
    pub fn ty(&self) -> &Type {
        &self.ty
    }

    /// The same wires with another type.
    ///
    /// # Panics
    /// If the widths differ.
    pub fn cast(mut self, ty: Type) -> Wires {
        assert_eq!(ty.width(), self.width(), "wires of a {ty}");
        self.ty = ty;
        self
    }

    /// The wires from `start` on, for a value of type `ty`.
    ///
    /// # Panics
    /// If there are too few wires.
    pub fn slice(&self, start: u64, ty: Type) -> Wires {
        let (mut skip, mut rest) = (start, ty.width());
        assert!(start + rest <= self.width(), "wires {start}..{} of {}", start + rest, self.width());
        let mut wires = Wires { ty, links: Vec::new() };
        for link in &self.links {
            let first = skip.min(link.len.into()) as u32;
            let len = rest.min((link.len - first).into()) as u32;
            wires.push(Link { source: link.source, start: link.start + first, len });
            skip -= u64::from(first);
            rest -= u64::from(len);
        }
        wires
    }

    /// Element `k` of an array, or byte `k` of a byte string as an unsigned integer.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn element(&self, k: u32) -> Wires {
        let (element, count) = match &self.ty {
            Type::Array(element, count) => ((**element).clone(), *count),
            Type::Bytes(count) => (Type::Unsigned(8), *count),
            other => panic!("element {k} of a {other}"),
        };
        assert!(k < count, "element {k} of {count}");
        self.slice(u64::from(k) * element.width(), element)
    }

    fn width(&self) -> u64 {
        self.links.iter().map(|link| u64::from(link.len)).sum()
    }

    /// Appends wires; extends the previous link if they continue it.
    fn push(&mut self, link: Link) {
        if link.len == 0 {
            return;
        }
        if let Some(last) = self.links.last_mut() {
            let follows = matches!(link.source, Source::Constant(_)) || last.start + last.len == link.start;
            if last.source == link.source && follows {
                last.len += link.len;
                return;
            }
        }
        self.links.push(link);
    }
}

/// Rejects wires that add up for the component but not port by port.
fn check_ports(component: &Component, inputs: &[&Wires]) -> Result<(), CircuitError> {
    let target = |what: String| format!("`{}`, {what}", component.name());
    if inputs.len() != component.inputs().len() {
        return Err(CircuitError::PortCount {
            component: component.name().into(),
            got: inputs.len(),
            expected: component.inputs().len(),
        });
    }
    for (wires, port) in inputs.iter().zip(component.inputs()) {
        let (got, expected) = (wires.width(), port.ty.width());
        if got != expected {
            return Err(CircuitError::LinkWidth { target: target(format!("port `{}`", port.name)), got, expected });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::{Bytes, CircuitBuilder, simulate};

    fn xor_component() -> Component {
        let mut c = CircuitBuilder::new("xor");
        let a: Bytes = c.input("a", Type::Bytes(2));
        let b: Bytes = c.input("b", Type::Bytes(2));
        let sum = c.xor_words(&a, &b);
        c.output("sum", &sum);
        c.output("a", &a);
        c.finish().unwrap()
    }

    #[test]
    fn parts_and_constants_are_linked() {
        let mut p = ProgramBuilder::new("parts");
        let xor = p.component(xor_component());
        let x = p.input("x", Type::Bytes(3), Party(0)).unwrap();
        let turned = Wires::concat(Type::Bytes(2), [&x.element(2), &x.element(0)]);
        let outputs = p.instance(xor, &[&turned, &Wires::constant_bytes(&[0xf0, 0x0f])]).unwrap();
        let middle = Wires::concat(Type::Bytes(4), &outputs).slice(8, Type::Bytes(2));
        p.output("middle", &middle, Recipients::All).unwrap();
        let program = p.finish();
        // The second byte of one port and the first byte of the next are adjacent, so they form one link.
        assert_eq!(program.outputs()[0].links.len(), 1);
        let out = simulate::program(&program, &[simulate::bytes_to_bits(&[1, 2, 3])]);
        assert_eq!(simulate::bits_to_bytes(&out[0]), [0x0f ^ 1, 3]);
    }

    #[test]
    fn ports_are_checked_one_by_one() {
        let mut p = ProgramBuilder::new("wrong");
        let xor = p.component(xor_component());
        let (short, long) = (Wires::constant_bytes(&[1]), Wires::constant_bytes(&[1, 2, 3]));
        let error = p.instance(xor, &[&short, &long]).unwrap_err();
        assert_eq!(error.to_string(), "`xor`, port `a`: links bring 8 wires, expected 16");
        let error = p.instance(xor, &[&long]).unwrap_err();
        assert_eq!(error.to_string(), "component `xor` takes 2 input ports, got 1");
        let error = p.instance(ComponentId(7), &[]).unwrap_err();
        assert!(matches!(error, CircuitError::NoSuchSource { what: "component", index: 7, .. }));
    }

    #[test]
    #[should_panic(expected = "element 3 of 3")]
    fn elements_end() {
        Wires::constant_bytes(&[1, 2, 3]).element(3);
    }
}
