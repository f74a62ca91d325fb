//! Writes a program file.

use std::{
    collections::HashSet,
    io::{self, BufWriter, Write},
};

use garblet_circuit::{Circuit, Component, Gate, InstanceId, Link, Port, Program, Recipients, Source, Type, Wire};
use serde_json::json;

use super::{FORMAT, ORDERS, is_name, key_bits};
use crate::WriteError;

/// Writes a program with all its components inline.
pub(crate) fn write(program: &Program, out: &mut dyn Write) -> Result<(), WriteError> {
    let mut out = BufWriter::new(out);
    let names = Names::new(program)?;
    writeln!(out, "{{\n  \"format\": {FORMAT},\n  \"name\": {},\n  \"components\": {{", json!(program.name()))?;
    let components = program.components().iter().zip(&names.components).zip(&names.outputs);
    entries(&mut out, components, |out, ((component, name), outputs)| write_component(out, component, outputs, name))?;
    writeln!(out, "  }},\n  \"inputs\": {{")?;
    entries(&mut out, program.inputs(), |out, input| {
        let mut body = json!({ "type": input.port.ty.to_string(), "owner": input.owner });
        let ordered = program.notes().ordered(&input.port.name);
        let ordered = ordered.filter(|ordered| ordered.key_bits == key_bits(&input.port.ty));
        if let Some((_, word)) = ORDERS.iter().find(|(order, _)| ordered.is_some_and(|known| known.order == *order)) {
            body["order"] = json!(word);
        }
        let limit = program.notes().limit(&input.port.name);
        if let Some(limit) = limit.filter(|limit| limit.bits == key_bits(&input.port.ty)) {
            body["below"] = json!(limit.below);
        }
        write!(out, "    {}: {body}", json!(input.port.name))
    })?;
    writeln!(out, "  }},\n  \"instances\": {{")?;
    let ids = (0..program.instance_count()).map(|k| InstanceId(k as u32));
    entries(&mut out, ids, |out, id| {
        let component = program.component_of(id);
        let of = &names.components[program.component_id(id).0 as usize];
        write!(out, "    {}: {{\"of\": {}, \"in\": {{", json!(names.instances[id.0 as usize]), json!(of))?;
        let mut rest = program.instance_links(id).collect::<Vec<_>>();
        for (k, port) in component.inputs().iter().enumerate() {
            let links = take(&mut rest, port.width());
            let separator = if k > 0 { ", " } else { "" };
            write!(out, "{separator}{}: {}", json!(port.name), names.sources(program, &links))?;
        }
        write!(out, "}}}}")
    })?;
    writeln!(out, "  }},\n  \"outputs\": {{")?;
    entries(&mut out, program.outputs(), |out, output| {
        let to = match &output.recipients {
            Recipients::All => json!("all"),
            Recipients::Only(parties) => json!(parties),
        };
        let from = names.sources(program, &output.links);
        let body = json!({ "type": output.port.ty.to_string(), "from": from, "to": to });
        write!(out, "    {}: {body}", json!(output.port.name))
    })?;
    writeln!(out, "  }}\n}}")?;
    out.flush()?;
    Ok(())
}

/// One entry a line, with commas between.
fn entries<W: Write, T>(
    out: &mut W,
    items: impl IntoIterator<Item = T>,
    mut each: impl FnMut(&mut W, T) -> io::Result<()>,
) -> io::Result<()> {
    let mut items = items.into_iter().peekable();
    while let Some(item) = items.next() {
        each(out, item)?;
        writeln!(out, "{}", if items.peek().is_some() { "," } else { "" })?;
    }
    Ok(())
}

/// Cuts the first `width` wires off a list of links.
fn take(links: &mut Vec<Link>, width: u32) -> Vec<Link> {
    let mut missing = width;
    let mut taken = Vec::new();
    let mut whole = 0;
    for link in links.iter_mut() {
        if missing == 0 {
            break;
        }
        let len = link.len.min(missing);
        taken.push(Link { len, ..*link });
        missing -= len;
        link.start += len;
        link.len -= len;
        whole += usize::from(link.len == 0);
    }
    links.drain(..whole);
    taken
}

/// Names for components and instances.
struct Names {
    components: Vec<String>,
    /// The outputs of each component, none with the name of an input of it.
    outputs: Vec<Vec<Port>>,
    instances: Vec<String>,
}

impl Names {
    fn new(program: &Program) -> Result<Self, WriteError> {
        let ports = |what, ports: &mut dyn Iterator<Item = &Port>| {
            for port in ports {
                check_name(what, &port.name)?;
                check_fields(&port.ty)?;
            }
            Ok::<(), WriteError>(())
        };
        ports("input", &mut program.inputs().iter().map(|i| &i.port))?;
        ports("output", &mut program.outputs().iter().map(|o| &o.port))?;
        for component in program.components() {
            ports("port", &mut component.inputs().iter().chain(component.outputs()))?;
        }
        let mut taken: HashSet<String> = HashSet::new();
        let mut unique = |wanted: &str| {
            let clean: String = wanted.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
            let clean = clean.trim_end_matches('_');
            let base = if is_name(clean) { clean.into() } else { format!("c{clean}") };
            let numbered = (2u64..).map(|k| format!("{base}_{k}"));
            let name = std::iter::once(base.clone()).chain(numbered).find(|name| !taken.contains(name));
            let name = name.unwrap_or(base);
            taken.insert(name.clone());
            name
        };
        let components: Vec<String> = program.components().iter().map(|c| unique(c.name())).collect();
        // Instances are numbered by component, with a prefix that no input of the program begins with.
        let mut prefix = "at".to_string();
        while program.inputs().iter().any(|i| i.port.name.starts_with(&prefix)) {
            prefix.push('_');
        }
        let instances = (0..program.instance_count()).map(|k| format!("{prefix}{k}")).collect();
        let outputs = program.components().iter().map(|component| outputs(component)).collect();
        Ok(Names { components, outputs, instances })
    }

    /// Links as sources: a single string if one is enough.
    fn sources(&self, program: &Program, links: &[Link]) -> serde_json::Value {
        let mut all = Vec::new();
        for link in links.iter().filter(|l| l.len > 0) {
            match link.source {
                Source::Constant(value) => {
                    let bit = if value { "1" } else { "0" };
                    all.push(json!({ "bits": bit.repeat(link.len as usize) }));
                }
                Source::Input(id) => {
                    let port = &program.inputs()[id.0 as usize].port;
                    all.push(json!(slice(&port.name, port.width(), link.start, link.len)));
                }
                Source::Instance(id) => {
                    let name = &self.instances[id.0 as usize];
                    let outputs = &self.outputs[program.component_id(id).0 as usize];
                    self.instance_sources(name, outputs, link, &mut all);
                }
            }
        }
        if let [one] = &all[..] { one.clone() } else { all.into() }
    }

    /// A link may span several output ports.
    fn instance_sources(&self, name: &str, ports: &[Port], link: &Link, all: &mut Vec<serde_json::Value>) {
        let end = link.start + link.len;
        let mut first = 0;
        for port in ports {
            let (from, to) = (link.start.max(first), end.min(first + port.width()));
            if from < to {
                let full = format!("{name}.{}", port.name);
                all.push(json!(slice(&full, port.width(), from - first, to - from)));
            }
            first += port.width();
        }
    }
}

fn slice(name: &str, width: u32, start: u32, len: u32) -> String {
    match (start, len) {
        (0, len) if len == width => name.into(),
        (start, 1) => format!("{name}[{start}]"),
        (start, len) => format!("{name}[{start}..{}]", start + len),
    }
}

fn check_name(what: &'static str, name: &str) -> Result<(), WriteError> {
    match is_name(name) {
        true => Ok(()),
        false => Err(WriteError::Name { what, name: name.into() }),
    }
}

fn check_fields(ty: &Type) -> Result<(), WriteError> {
    match ty {
        Type::Array(element, _) | Type::List(element, _) => check_fields(element),
        Type::Record(fields) => fields.iter().try_for_each(|(name, ty)| {
            check_name("field", name)?;
            check_fields(ty)
        }),
        Type::Enum(variants) => variants.iter().try_for_each(|(name, types)| {
            check_name("variant", name)?;
            types.iter().try_for_each(check_fields)
        }),
        _ => Ok(()),
    }
}

/// The outputs of a component, renamed where an input or an output already has the name: a file sets them by name.
fn outputs(component: &Component) -> Vec<Port> {
    let mut taken: HashSet<String> = component.inputs().iter().map(|port| port.name.clone()).collect();
    let output = |port: &Port| {
        let mut name = port.name.clone();
        while !taken.insert(name.clone()) {
            name.push_str("_out");
        }
        Port::new(name, port.ty.clone())
    };
    component.outputs().iter().map(output).collect()
}

fn write_component(out: &mut impl Write, component: &Component, outputs: &[Port], name: &str) -> io::Result<()> {
    writeln!(out, "    {}: {{", json!(name))?;
    for (side, ports) in [("inputs", component.inputs()), ("outputs", outputs)] {
        // A JSON map of serde would sort the ports.
        let ports: Vec<String> =
            ports.iter().map(|p| format!("{}: {}", json!(p.name), json!(p.ty.to_string()))).collect();
        writeln!(out, "      \"{side}\": {{{}}},", ports.join(", "))?;
    }
    writeln!(out, "      \"gates\": [")?;
    write_gates(out, component, outputs)?;
    write!(out, "      ]\n    }}")
}

fn write_gates(out: &mut impl Write, component: &Component, outputs: &[Port]) -> io::Result<()> {
    let circuit = component.circuit();
    let inputs = wire_names(component.inputs());
    // Gates' wires get a prefix that no port begins with.
    let mut prefix = "w".to_string();
    while component.inputs().iter().chain(outputs).any(|p| p.name.starts_with(&prefix)) {
        prefix.push('_');
    }
    let outputs = wire_names(outputs);
    let name = |wire: Wire| match inputs.get(wire.index()) {
        Some(name) => name.clone(),
        None => format!("{prefix}{}", wire.0),
    };
    let gates = circuit.gates().iter().enumerate().map(|(g, gate)| (gate_wire(circuit, g), gate));
    let gates = gates.map(|(wire, gate)| match *gate {
        Gate::Xor(a, b) => format!("{} = {} ^ {}", name(wire), name(a), name(b)),
        Gate::And(a, b) => format!("{} = {} & {}", name(wire), name(a), name(b)),
        Gate::Not(a) => format!("{} = !{}", name(wire), name(a)),
        Gate::Constant(value) => format!("{} = {}", name(wire), u8::from(value)),
    });
    let copies = outputs.iter().zip(circuit.outputs()).map(|(output, &wire)| format!("{output} = {}", name(wire)));
    entries(out, gates.chain(copies), |out, statement| write!(out, "        \"{statement}\""))
}

fn gate_wire(circuit: &Circuit, g: usize) -> Wire {
    Wire(circuit.input_count() + g as u32)
}

/// The name of every wire of the ports.
fn wire_names(ports: &[Port]) -> Vec<String> {
    let wires = |port: &Port| match port.width() {
        1 => vec![port.name.clone()],
        width => (0..width).map(|k| format!("{}[{k}]", port.name)).collect(),
    };
    ports.iter().flat_map(wires).collect()
}
