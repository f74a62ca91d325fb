//! Writers of every format, for the tests of the readers: they share no code with them.

use garblet_circuit::{Circuit, Gate};
use rand::{rngs::StdRng, seq::SliceRandom};
use serde_json::json;

/// A circuit and the names of its input and output bits.
pub(super) struct Named<'a> {
    pub(super) circuit: &'a Circuit,
    pub(super) inputs: Vec<String>,
    pub(super) outputs: Vec<String>,
}

/// A writer and the extension of its files.
pub(super) type Writer = (&'static str, fn(&Named<'_>, &mut StdRng) -> Vec<u8>);

pub(super) const WRITERS: [Writer; 6] =
    [("blif", blif), ("bench", bench), ("json", yosys), ("aag", aag), ("aig", aig), ("aby", aby)];

impl Named<'_> {
    fn wire(&self, wire: u32) -> String {
        self.inputs.get(wire as usize).cloned().unwrap_or_else(|| format!("n{wire}"))
    }

    fn gates(&self) -> impl Iterator<Item = (u32, Gate)> {
        (self.circuit.input_count()..).zip(self.circuit.gates().iter().copied())
    }

    /// The numbers of the input bits in any order.
    fn shuffled_inputs(&self, rng: &mut StdRng) -> Vec<u32> {
        let mut inputs: Vec<u32> = (0..self.circuit.input_count()).collect();
        inputs.shuffle(rng);
        inputs
    }
}

fn blif(named: &Named<'_>, rng: &mut StdRng) -> Vec<u8> {
    let mut functions: Vec<String> = named
        .gates()
        .map(|(wire, gate)| {
            let to = named.wire(wire);
            match gate {
                Gate::And(a, b) => format!(".names {} {} {to}\n11 1\n", named.wire(a.0), named.wire(b.0)),
                Gate::Xor(a, b) => format!(".names {} {} {to}\n00 0\n11 0\n", named.wire(a.0), named.wire(b.0)),
                Gate::Not(a) => format!(".names {} {to}\n0 1\n", named.wire(a.0)),
                Gate::Constant(value) => format!(".names {to}\n{}", if value { "1\n" } else { "" }),
            }
        })
        .collect();
    let outputs = named.outputs.iter().zip(named.circuit.outputs());
    functions.extend(outputs.map(|(to, from)| format!(".names {} {to}\n1 1\n", named.wire(from.0))));
    functions.shuffle(rng);
    let inputs: Vec<String> = named.shuffled_inputs(rng).into_iter().map(|input| named.wire(input)).collect();
    let head = format!(".model m\n.inputs {}\n.outputs {}\n", inputs.join(" \\\n"), named.outputs.join(" "));
    (head + &functions.concat() + ".end\n").into_bytes()
}

fn bench(named: &Named<'_>, rng: &mut StdRng) -> Vec<u8> {
    let mut lines: Vec<String> = named
        .gates()
        .map(|(wire, gate)| {
            let to = named.wire(wire);
            match gate {
                Gate::And(a, b) => format!("{to} = AND({}, {})", named.wire(a.0), named.wire(b.0)),
                Gate::Xor(a, b) => format!("{to} = LUT 0x6 ({}, {})", named.wire(a.0), named.wire(b.0)),
                Gate::Not(a) => format!("{to} = NOT({})", named.wire(a.0)),
                Gate::Constant(value) => format!("{to} = {}", if value { "vdd" } else { "gnd" }),
            }
        })
        .collect();
    let outputs = named.outputs.iter().zip(named.circuit.outputs());
    lines.extend(outputs.map(|(to, from)| format!("{to} = BUFF({})", named.wire(from.0))));
    lines.extend(named.inputs.iter().map(|input| format!("INPUT({input})")));
    lines.extend(named.outputs.iter().map(|output| format!("OUTPUT({output})")));
    lines.shuffle(rng);
    (lines.join("\n") + "\n").into_bytes()
}

fn yosys(named: &Named<'_>, rng: &mut StdRng) -> Vec<u8> {
    // Constants have no cells.
    let gates: Vec<(u32, Gate)> = named.gates().collect();
    let bit = |wire: u32| match gates.iter().find(|(own, _)| *own == wire) {
        Some((_, Gate::Constant(value))) => json!(if *value { "1" } else { "0" }),
        _ => json!(wire + 2),
    };
    let mut cells: Vec<String> = gates
        .iter()
        .filter_map(|(wire, gate)| {
            let to = bit(*wire);
            let cell = match gate {
                Gate::And(a, b) => {
                    json!({"type": "$_AND_", "connections": {"A": [bit(a.0)], "B": [bit(b.0)], "Y": [to]}})
                }
                Gate::Xor(a, b) => {
                    json!({"type": "$_XOR_", "connections": {"A": [bit(a.0)], "B": [bit(b.0)], "Y": [to]}})
                }
                Gate::Not(a) => json!({"type": "$_NOT_", "connections": {"A": [bit(a.0)], "Y": [to]}}),
                Gate::Constant(_) => return None,
            };
            Some(format!("\"$g\\\\{wire}\": {cell}"))
        })
        .collect();
    cells.shuffle(rng);
    let mut ports: Vec<(String, &str, Vec<serde_json::Value>)> = Vec::new();
    let inputs = named.inputs.iter().zip(0..).map(|(name, wire)| (name, "input", wire));
    let outputs = named.outputs.iter().zip(named.circuit.outputs()).map(|(name, wire)| (name, "output", wire.0));
    for (name, direction, wire) in inputs.chain(outputs) {
        let base = name.split('[').next().unwrap().to_string();
        match ports.last_mut() {
            Some((last, _, bits)) if *last == base => bits.push(bit(wire)),
            _ => ports.push((base, direction, vec![bit(wire)])),
        }
    }
    let ports: Vec<String> = ports
        .iter()
        .map(|(name, direction, bits)| format!("\"{name}\": {}", json!({"direction": direction, "bits": bits})))
        .collect();
    let (ports, cells) = (ports.join(", "), cells.join(",\n"));
    format!("{{\"creator\": \"a test\", \"modules\": {{\"m\": {{\"ports\": {{{ports}}}, \"cells\": {{{cells}}}}}}}}}")
        .into_bytes()
}

/// The circuit as AND gates of literals: the literal of every wire, given those of the inputs, and the gates in order.
fn and_inverter(named: &Named<'_>, inputs: &[u32]) -> (Vec<u32>, Vec<[u32; 3]>) {
    let mut literals = vec![0; inputs.len()];
    inputs.iter().zip(1..).for_each(|(input, variable)| literals[*input as usize] = 2 * variable);
    let mut ands: Vec<[u32; 3]> = Vec::new();
    for gate in named.circuit.gates() {
        let mut and = |a: u32, b: u32| {
            let to = 2 * (inputs.len() + ands.len() + 1) as u32;
            ands.push([to, a.max(b), a.min(b)]);
            to
        };
        let literal = match *gate {
            Gate::And(a, b) => and(literals[a.index()], literals[b.index()]),
            Gate::Xor(a, b) => {
                let (a, b) = (literals[a.index()], literals[b.index()]);
                let (left, right) = (and(a, b ^ 1), and(a ^ 1, b));
                and(left ^ 1, right ^ 1) ^ 1
            }
            Gate::Not(a) => literals[a.index()] ^ 1,
            Gate::Constant(value) => u32::from(value),
        };
        literals.push(literal);
    }
    (literals, ands)
}

/// The names of bits as AIGER has them after the gates.
fn symbols(named: &Named<'_>, inputs: &[u32]) -> String {
    let inputs = inputs.iter().enumerate().map(|(place, input)| format!("i{place} {}\n", named.wire(*input)));
    let outputs = named.outputs.iter().enumerate().map(|(place, name)| format!("o{place} {name}\n"));
    inputs.chain(outputs).chain(["c\nmade by a test\n".to_string()]).collect()
}

fn aag(named: &Named<'_>, rng: &mut StdRng) -> Vec<u8> {
    let inputs = named.shuffled_inputs(rng);
    let (literals, mut ands) = and_inverter(named, &inputs);
    ands.shuffle(rng);
    let variables = inputs.len() + ands.len();
    let mut text = format!("aag {variables} {} 0 {} {}\n", inputs.len(), named.outputs.len(), ands.len());
    (1..=inputs.len()).for_each(|variable| text += &format!("{}\n", 2 * variable));
    named.circuit.outputs().iter().for_each(|output| text += &format!("{}\n", literals[output.index()]));
    ands.iter().for_each(|[to, a, b]| text += &format!("{to} {b} {a}\n"));
    (text + &symbols(named, &inputs)).into_bytes()
}

fn aig(named: &Named<'_>, rng: &mut StdRng) -> Vec<u8> {
    let inputs = named.shuffled_inputs(rng);
    let (literals, ands) = and_inverter(named, &inputs);
    let variables = inputs.len() + ands.len();
    let mut text = format!("aig {variables} {} 0 {} {}\n", inputs.len(), named.outputs.len(), ands.len());
    named.circuit.outputs().iter().for_each(|output| text += &format!("{}\n", literals[output.index()]));
    let mut bytes = text.into_bytes();
    for [to, a, b] in ands {
        for mut difference in [to - a, a - b] {
            while difference > 127 {
                bytes.push((difference & 127) as u8 | 128);
                difference >>= 7;
            }
            bytes.push(difference as u8);
        }
    }
    bytes.extend(symbols(named, &inputs).bytes());
    bytes
}

/// Port `a` is the server's, all others are the client's; outputs are in order.
fn aby(named: &Named<'_>, rng: &mut StdRng) -> Vec<u8> {
    let mut lines: Vec<String> = named
        .gates()
        .map(|(to, gate)| match gate {
            Gate::And(a, b) => format!("A {} {} {to}", a.0, b.0),
            Gate::Xor(a, b) => format!("X\t{}\t{}\t{to}", a.0, b.0),
            Gate::Not(a) => format!("I {} {to}", a.0),
            Gate::Constant(value) => format!("{} {to}", u8::from(value)),
        })
        .collect();
    lines.shuffle(rng);
    let inputs = named.inputs.iter().enumerate();
    let inputs: Vec<String> =
        inputs.map(|(wire, name)| format!("{} {wire}", if name.starts_with('a') { "S" } else { "C" })).collect();
    let outputs: Vec<String> = named.circuit.outputs().iter().map(|output| output.0.to_string()).collect();
    format!("#by a test\n{}\n{}\nO {}\n", inputs.join("\n"), lines.join("\n"), outputs.join(" ")).into_bytes()
}
