//! Writes the binary form.

use std::io::Write;

use garblet_circuit::{
    Component, Gate, InstanceId, Link, Port, Program, Recipients, Source, Wire,
    notes::{Notes, Panics},
};

use super::{FORMAT, MAGIC, ORDERS, bytes::MAX_TEXT_BYTES, gate, link, panics};
use crate::WriteError;

/// The bytes that are collected before they are written.
const PART: usize = 1 << 16;

/// Writes a program.
///
/// *Errors*: a file that cannot be written; a batch; a name or a type that the form cannot express.
pub(crate) fn write(program: &Program, out: &mut dyn Write) -> Result<(), WriteError> {
    if let Some(rows) = program.notes().rows {
        return Err(WriteError::Batch { rows });
    }
    let mut out = Out { out, part: Vec::with_capacity(PART + 64), checksum: blake3::Hasher::new() };
    out.part.extend(MAGIC);
    out.part.push(FORMAT as u8);
    out.text("program", program.name())?;
    out.list(program.components(), |out, component| out.component(component))?;
    let notes = program.notes();
    out.list(program.inputs(), |out, input| {
        out.port(&input.port)?;
        out.number(input.owner.0.into())?;
        out.relied_on(notes, &input.port.name)
    })?;
    out.number(program.instance_count() as u64)?;
    for id in (0..program.instance_count() as u32).map(InstanceId) {
        out.number(program.component_id(id).0.into())?;
        let links: Vec<Link> = program.instance_links(id).collect();
        out.list(&links, |out, link| out.link(link, id.0))?;
    }
    out.list(program.outputs(), |out, output| {
        out.port(&output.port)?;
        match &output.recipients {
            Recipients::All => out.number(0)?,
            Recipients::Only(parties) => {
                out.number(parties.len() as u64 + 1)?;
                parties.iter().try_for_each(|party| out.number(party.0.into()))?;
            }
        }
        out.list(&output.links, |out, link| out.link(link, program.instance_count() as u32))
    })?;
    out.panics(notes)?;
    out.part.extend(program.digest());
    out.finish()
}

/// Collects bytes and their checksum.
struct Out<'a> {
    out: &'a mut dyn Write,
    part: Vec<u8>,
    checksum: blake3::Hasher,
}

impl Out<'_> {
    fn flush(&mut self) -> Result<(), WriteError> {
        self.checksum.update(&self.part);
        self.out.write_all(&self.part)?;
        self.part.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<(), WriteError> {
        self.flush()?;
        self.out.write_all(self.checksum.finalize().as_bytes())?;
        Ok(())
    }

    fn number(&mut self, mut number: u64) -> Result<(), WriteError> {
        while number > 127 {
            self.part.push(number as u8 | 128);
            number >>= 7;
        }
        self.part.push(number as u8);
        if self.part.len() >= PART { self.flush() } else { Ok(()) }
    }

    fn text(&mut self, what: &'static str, text: &str) -> Result<(), WriteError> {
        if text.len() > MAX_TEXT_BYTES {
            return Err(WriteError::Length { what, bytes: text.len(), limit: MAX_TEXT_BYTES });
        }
        self.number(text.len() as u64)?;
        self.part.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn list<T>(
        &mut self,
        items: &[T],
        mut each: impl FnMut(&mut Self, &T) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        self.number(items.len() as u64)?;
        items.iter().try_for_each(|item| each(self, item))
    }

    fn port(&mut self, port: &Port) -> Result<(), WriteError> {
        self.text("name of a port", &port.name)?;
        let text = port.ty.to_string();
        match text.parse() {
            Ok(ty) if port.ty == ty => self.text("type", &text),
            _ => Err(WriteError::Type { port: port.name.clone(), ty: text }),
        }
    }

    fn component(&mut self, component: &Component) -> Result<(), WriteError> {
        self.text("name of a component", component.name())?;
        self.list(component.inputs(), Self::port)?;
        self.list(component.outputs(), Self::port)?;
        let circuit = component.circuit();
        self.number(circuit.gate_count() as u64)?;
        let (mut own, mut result) = (circuit.input_count(), Ok(()));
        let read = circuit.for_each_gate(|gate| {
            if result.is_ok() {
                result = self.gate(own, gate);
            }
            own += 1;
        });
        result?;
        read.map_err(std::io::Error::other)?;
        let mut expected = 0;
        for wire in circuit.outputs() {
            let forwards = i64::from(wire.0) - expected;
            self.number(if forwards < 0 { forwards.unsigned_abs() * 2 - 1 } else { forwards as u64 * 2 })?;
            expected = i64::from(wire.0) + 1;
        }
        Ok(())
    }

    /// The gate of wire `own`.
    fn gate(&mut self, own: u32, gate: Gate) -> Result<(), WriteError> {
        let back = |wire: Wire| u64::from(own - wire.0);
        match gate {
            Gate::Xor(a, b) => self.number(back(a) << 2 | gate::XOR).and_then(|()| self.number(back(b))),
            Gate::And(a, b) => self.number(back(a) << 2 | gate::AND).and_then(|()| self.number(back(b))),
            Gate::Not(a) => self.number(back(a) << 2 | gate::NOT),
            Gate::Constant(value) => self.number(u64::from(value) << 2 | gate::CONSTANT),
        }
    }

    /// The order and the limit that an input must have.
    fn relied_on(&mut self, notes: &Notes, input: &str) -> Result<(), WriteError> {
        match notes.ordered(input) {
            None => self.number(0)?,
            Some(ordered) => {
                let place = ORDERS.iter().position(|order| *order == ordered.order).unwrap_or_default();
                self.number(place as u64 + 1)?;
                self.number(ordered.key_bits.into())?;
            }
        }
        match notes.limit(input) {
            None => self.number(0),
            Some(limit) => {
                self.number(limit.bits.into())?;
                self.number(limit.below)?;
                self.text("name of a number", &limit.field)
            }
        }
    }

    /// A link into an instance, or into an output, which comes after all `here` instances.
    fn link(&mut self, link: &Link, here: u32) -> Result<(), WriteError> {
        let wires = u64::from(link.len) << 2;
        let (kind, source) = match link.source {
            Source::Constant(false) => return self.number(wires | link::ZERO),
            Source::Constant(true) => return self.number(wires | link::ONE),
            Source::Input(input) => (link::INPUT, input.0),
            Source::Instance(instance) => (link::INSTANCE, here - instance.0),
        };
        self.number(wires | kind)?;
        self.number(source.into())?;
        self.number(link.start.into())
    }

    fn panics(&mut self, notes: &Notes) -> Result<(), WriteError> {
        match &notes.panics {
            None => self.number(panics::NONE),
            Some(Panics::Off) => self.number(panics::OFF),
            Some(Panics::On { output, places }) => {
                self.number(output.map_or(panics::SILENT, |output| panics::TOLD + output as u64))?;
                self.list(places, |out, place| out.text("place of a check", place))
            }
        }
    }
}
