//! Reads the binary form, in memory for the program and a part of the file; the gates of a large circuit may stay in the file.

use std::{io::BufRead, sync::Arc};

use garblet_circuit::{
    Circuit, Component, ComponentId, Gate, Input, InputId, InstanceId, Link, OneComponent, Output, Party, Port,
    Program, Recipients, Source, Type, Wire,
    diagnostic::{Diagnostic, check_format},
    notes::{Limit, Notes, Ordered, Panics},
};

use super::{FORMAT, MAGIC, ORDERS, blocks::Blocks, bytes::Bytes, gate, link, panics};
use crate::{MAX_PARTY, front_end::Again, whole::check_input_wires};

/// Reads a file to its end.
///
/// *Errors*: the first thing that is wrong, with the byte where it begins.
pub(super) fn read(file: &str, text: &mut dyn BufRead, again: Option<&Again>) -> Result<Program, Diagnostic> {
    let mut bytes = Bytes::new(file, text);
    head(&mut bytes)?;
    let mut program = Program::new(bytes.text("the program's name")?);
    let components = bytes.number("the number of components", u32::MAX.into())?;
    for _ in 0..components {
        program.add_component(component(&mut bytes, again.filter(|_| components == 1))?);
    }
    let (mut notes, mut wires) = (Notes::default(), 0u64);
    for _ in 0..bytes.count("the number of inputs")? {
        let begin = bytes.at();
        let Input { port, owner } = input(&mut bytes, &mut notes)?;
        wires = wires.saturating_add(port.ty.width());
        check_input_wires("the program", wires).map_err(|error| bytes.limit_at(begin, error))?;
        program.add_input(port, owner).map_err(|error| bytes.error_at(begin, error))?;
    }
    for here in 0..bytes.number("the number of instances", u32::MAX.into())? as u32 {
        let begin = bytes.at();
        let component = bytes.number("the component of an instance", u32::MAX.into())? as u32;
        let links = links(&mut bytes, here)?;
        program.add_instance(ComponentId(component), &links).map_err(|error| bytes.error_at(begin, error))?;
    }
    for _ in 0..bytes.count("the number of outputs")? {
        let begin = bytes.at();
        let (port, recipients) = (port(&mut bytes)?, recipients(&mut bytes)?);
        let links = links(&mut bytes, program.instance_count() as u32)?;
        program.add_output(port, recipients, links).map_err(|error| bytes.error_at(begin, error))?;
    }
    notes.panics = panics(&mut bytes, program.outputs())?;
    program.set_notes(notes);
    tail(&mut bytes, &program)?;
    if is_one_circuit(&program) {
        return Ok(program);
    }
    let program = Arc::new(program).whole()?;
    Ok(Arc::unwrap_or_clone(program))
}

/// Returns whether a program is one instance of one component, each of whose inputs is another wire of the program's inputs.
fn is_one_circuit(program: &Program) -> bool {
    if program.components().len() != 1 || program.instance_count() != 1 {
        return false;
    }
    let mut after = (0, 0);
    program.instance_links(InstanceId(0)).all(|link| match link.source {
        Source::Input(InputId(input)) => {
            let begin = (input, link.start);
            let follows = begin >= after;
            after = (input, link.start + link.len);
            follows
        }
        _ => false,
    })
}

fn head(bytes: &mut Bytes<'_>) -> Result<(), Diagnostic> {
    for expected in MAGIC {
        let at = bytes.at();
        let got = bytes.byte("the head of a binary program")?;
        if got != expected {
            let message = format!("is {got:02x}, expected {expected:02x}, as every binary program begins");
            return Err(bytes.error_at(at, message));
        }
    }
    let format = bytes.byte("the format")?;
    check_format(format.into(), FORMAT).map_err(|other| {
        let hint = format!("{}; or make the file again with the garblet convert of this one", other.hint());
        bytes.error_at(bytes.at() - 1, other.to_string()).hint(hint)
    })
}

/// The digest, the checksum, and the end.
fn tail(bytes: &mut Bytes<'_>, program: &Program) -> Result<(), Diagnostic> {
    let hex = |hash: [u8; 32]| hash[..8].iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let begin = bytes.at();
    let digest = bytes.hash("the program's digest")?;
    let (checksum, at) = (bytes.checksum(), bytes.at());
    let written = bytes.hash("the checksum")?;
    if written != checksum {
        let message = format!("the checksum is {}.., expected {}.. for the bytes before", hex(written), hex(checksum));
        return Err(bytes.error_at(at, message));
    }
    let own = program.digest();
    if digest != own {
        let message =
            format!("the program's digest is {}.., expected {}.. for what the file has", hex(digest), hex(own));
        return Err(bytes.error_at(begin, message));
    }
    bytes.end()
}

fn port(bytes: &mut Bytes<'_>) -> Result<Port, Diagnostic> {
    let name = bytes.text("the name of a port")?;
    let begin = bytes.at();
    let text = bytes.text("the type of a port")?;
    let ty: Type = text.parse().map_err(|error| bytes.error_at(begin, format!("the type of a port: {error}")))?;
    match ty.to_string() == text {
        true => Ok(Port { name, ty }),
        false => Err(bytes.error_at(begin, format!("the type of a port is `{text}`, expected it as `{ty}`"))),
    }
}

/// The ports of a side of a component.
fn ports(bytes: &mut Bytes<'_>, what: &str) -> Result<Vec<Port>, Diagnostic> {
    let mut ports = Vec::new();
    for _ in 0..bytes.count(what)? {
        ports.push(port(bytes)?);
    }
    Ok(ports)
}

fn component(bytes: &mut Bytes<'_>, again: Option<&Again>) -> Result<Component, Diagnostic> {
    let begin = bytes.at();
    let name = bytes.text("the name of a component")?;
    let inputs = ports(bytes, "the number of inputs of a component")?;
    let outputs = ports(bytes, "the number of outputs of a component")?;
    let width = |ports: &[Port]| ports.iter().fold(0u64, |sum, port| sum.saturating_add(port.ty.width()));
    let (input_count, output_count) = (width(&inputs), width(&outputs));
    check_input_wires("the component", input_count).map_err(|error| bytes.limit_at(begin, error))?;
    let count = bytes.number("the number of gates", Circuit::MAX_WIRES - input_count)? as u32;
    let circuit = match again.filter(|again| count >= again.storing.least && input_count <= count.into()) {
        Some(again) => {
            let mut encoded = OneComponent::new(&inputs, &outputs, input_count as u32, count);
            let blocks = Blocks::read(bytes, again, (input_count as u32, count), |gate| encoded.gate(gate))?;
            let wanted = wanted(bytes, output_count, input_count + u64::from(count))?;
            blocks.circuit(wanted, encoded)?
        }
        None => {
            let mut gates = Vec::new();
            for own in (input_count as u32..).take(count as usize) {
                gates.push(gate(bytes, own)?);
            }
            let wanted = wanted(bytes, output_count, input_count + u64::from(count))?;
            Circuit::new(input_count as u32, gates, wanted).map_err(|error| bytes.error_at(begin, error))?
        }
    };
    Component::new(name, inputs, outputs, circuit).map_err(|error| bytes.error_at(begin, error))
}

/// The output wires.
fn wanted(bytes: &mut Bytes<'_>, count: u64, wires: u64) -> Result<Vec<Wire>, Diagnostic> {
    let (mut wanted, mut expected) = (Vec::new(), 0i64);
    for _ in 0..count {
        let begin = bytes.at();
        let distance = bytes.number("an output wire", 2 * Circuit::MAX_WIRES)?;
        let steps = distance.div_ceil(2) as i64;
        let wire = if distance % 2 == 0 { expected + steps } else { expected - steps };
        if wire < 0 || wire as u64 >= wires {
            return Err(bytes.error_at(begin, format!("an output wire is {wire}, expected 0 or more, below {wires}")));
        }
        wanted.push(Wire(wire as u32));
        expected = wire + 1;
    }
    Ok(wanted)
}

/// A gate and its wire.
#[inline]
pub(super) fn gate(bytes: &mut Bytes<'_>, own: u32) -> Result<Gate, Diagnostic> {
    let begin = bytes.at();
    let first = bytes.number("a gate", u64::MAX)?;
    let (kind, back) = (first & 3, first >> 2);
    Ok(match kind {
        gate::CONSTANT if back <= 1 => Gate::Constant(back == 1),
        gate::CONSTANT => return Err(bytes.error_at(begin, format!("a constant is {back}, expected 0 or 1"))),
        gate::NOT => Gate::Not(operand(bytes, begin, own, back)?),
        _ => {
            let a = operand(bytes, begin, own, back)?;
            let begin = bytes.at();
            let back = bytes.number("the second operand of a gate", u64::MAX)?;
            let b = operand(bytes, begin, own, back)?;
            if kind == gate::AND { Gate::And(a, b) } else { Gate::Xor(a, b) }
        }
    })
}

/// The wire that is `back` wires before a gate's own.
#[inline]
fn operand(bytes: &Bytes<'_>, begin: u64, own: u32, back: u64) -> Result<Wire, Diagnostic> {
    match back >= 1 && back <= u64::from(own) {
        true => Ok(Wire(own - back as u32)),
        false => {
            let message =
                format!("an operand of the gate of wire {own} is {back} wires before it, expected 1 to {own}");
            Err(bytes.error_at(begin, message))
        }
    }
}

fn input(bytes: &mut Bytes<'_>, notes: &mut Notes) -> Result<Input, Diagnostic> {
    let port = port(bytes)?;
    let owner = Party(bytes.number("the owner of an input", MAX_PARTY)? as u16);
    let begin = bytes.at();
    let order = bytes.number("the order of an input", ORDERS.len() as u64)?;
    if let Some(order) = (order as usize).checked_sub(1) {
        let Type::List(element, _) = &port.ty else {
            let message = format!("input `{}` has an order, expected a list, got the type {}", port.name, port.ty);
            return Err(bytes.error_at(begin, message));
        };
        let key_bits = bytes.number("the bits of a key", element.width())? as u32;
        notes.ordered.push(Ordered { input: port.name.clone(), key_bits, order: ORDERS[order] });
    }
    let begin = bytes.at();
    let (Type::Array(element, _) | Type::List(element, _)) = &port.ty else {
        bytes.number("the limit of an input that has no elements", 0)?;
        return Ok(Input { port, owner });
    };
    let bits = bytes.number("the bits of a limit", element.width().min(64))? as u32;
    if bits > 0 {
        let below = bytes.number("a limit", u64::MAX)?;
        if below == 0 {
            return Err(bytes.error_at(begin, "a limit is 0, expected 1 or more"));
        }
        let field = bytes.text("the name of a number")?;
        notes.limits.push(Limit { input: port.name.clone(), field, bits, below });
    }
    Ok(Input { port, owner })
}

fn links(bytes: &mut Bytes<'_>, here: u32) -> Result<Vec<Link>, Diagnostic> {
    let mut links = Vec::new();
    for _ in 0..bytes.count("the number of links")? {
        let first = bytes.number("a link", u64::from(u32::MAX) << 2 | 3)?;
        let len = (first >> 2) as u32;
        let source = match first & 3 {
            link::ZERO => Source::Constant(false),
            link::ONE => Source::Constant(true),
            link::INPUT => Source::Input(InputId(bytes.number("the input of a link", u32::MAX.into())? as u32)),
            _ => {
                let begin = bytes.at();
                let back = bytes.number("the instance of a link", here.into())? as u32;
                if back == 0 {
                    let message = format!("instance {here} is fed by itself, expected an instance before it");
                    return Err(bytes.error_at(begin, message));
                }
                Source::Instance(InstanceId(here - back))
            }
        };
        let start = match source {
            Source::Constant(_) => 0,
            _ => bytes.number("the first wire of a link", u32::MAX.into())? as u32,
        };
        links.push(Link { source, start, len });
    }
    Ok(links)
}

fn recipients(bytes: &mut Bytes<'_>) -> Result<Recipients, Diagnostic> {
    let Some(count) = bytes.count("the recipients of an output")?.checked_sub(1) else { return Ok(Recipients::All) };
    let mut parties: Vec<Party> = Vec::new();
    for _ in 0..count {
        let begin = bytes.at();
        let party = Party(bytes.number("a recipient", MAX_PARTY)? as u16);
        if let Some(last) = parties.last().filter(|last| **last >= party) {
            let message = format!("recipient {party} after {last}, expected them in ascending order");
            return Err(bytes.error_at(begin, message));
        }
        parties.push(party);
    }
    Ok(Recipients::Only(parties))
}

fn panics(bytes: &mut Bytes<'_>, outputs: &[Output]) -> Result<Option<Panics>, Diagnostic> {
    let (begin, most) = (bytes.at(), panics::SILENT + outputs.len() as u64);
    let output = match bytes.number("the output that tells of failed checks", most)? {
        panics::NONE => return Ok(None),
        panics::OFF => return Ok(Some(Panics::Off)),
        panics::SILENT => None,
        output => Some((output - panics::TOLD) as usize),
    };
    let mut places = Vec::new();
    for _ in 0..bytes.count("the number of places of checks")? {
        places.push(bytes.text("the place of a check")?);
    }
    // A result that counts as the place of a check would not be shown.
    if let Some(Output { port, .. }) = output.and_then(|output: usize| outputs.get(output))
        && !Panics::are_told_by(port, places.len())
    {
        let (name, bits) = (Panics::OUTPUT, usize::BITS - places.len().leading_zeros());
        let message = format!(
            "the output that tells which of {} checks has failed is `{}`, of type {}, expected `{name}`, an unsigned integer of 1 to {bits} bits",
            places.len(),
            port.name,
            port.ty
        );
        return Err(bytes.error_at(begin, message));
    }
    Ok(Some(Panics::On { output, places }))
}
