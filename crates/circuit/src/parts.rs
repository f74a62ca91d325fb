//! Parts of a program by name, so that parties with different programs can see where they differ.

use crate::{
    diagnostic::controls_terminal,
    notes::{FileGates, Limit, Ordered, Panics},
    program::{Party, Program, Recipients},
};

/// The longest part that is stated as it is; a longer one is stated as a digest.
const TEXT_BYTES_MAX: usize = 100;

impl Program {
    /// The parts that parties must agree on, by name: the source, its constants and checks if there is a source; the rows of a batch;
    /// ports, owners, recipients, and the order and limits of inputs, if any; whether the gates are those of the circuit file, if there is one;
    /// the circuit, and the ports of its components. A long part is stated as a digest. If all parts are equal, so are the programs' digests.
    ///
    /// *Cost*: as [`Program::digest`].
    pub fn parts(&self) -> Vec<(String, String)> {
        let mut parts = Vec::new();
        let mut part = |name: &str, text: String| parts.push((name.to_string(), short(text)));
        let notes = self.notes();
        if let Some(source) = notes.source {
            part("source", digest(&source));
            part("constants", or_none(notes.constants.join(", ")));
        }
        if let Some(panics) = &notes.panics {
            part("panics", if *panics == Panics::Off { "off" } else { "on" }.into());
        }
        if let Some(rows) = notes.rows {
            part("rows", rows.to_string());
        }
        let inputs = || self.inputs().iter();
        let ins = inputs().map(|input| format!("{}: {}", input.port.name, input.port.ty));
        let outs = self.outputs().iter().map(|output| format!("{}: {}", output.port.name, output.port.ty));
        part("ports", format!("({}) to ({})", list(ins), list(outs)));
        part("owners", or_none(list(inputs().map(|input| format!("{} of {}", input.port.name, input.owner)))));
        let recipients = self.outputs().iter().map(|output| {
            let to = match &output.recipients {
                Recipients::All => "all".into(),
                Recipients::Only(parties) => or_none(list(parties.iter().map(Party::to_string)).replace(", ", "+")),
            };
            format!("{} to {to}", output.port.name)
        });
        part("recipients", or_none(list(recipients)));
        let relied_on: Vec<String> = inputs().flat_map(|input| self.relied_on(&input.port.name)).collect();
        if !relied_on.is_empty() {
            part("lists", relied_on.join(", "));
        }
        if let Some(file) = notes.file {
            let gates = match file {
                FileGates::AsItIs => "as in the file",
                FileGates::Optimised(_) => "optimised",
            };
            part("gates", gates.into());
        }
        part("circuit", digest(&self.circuit_digest()));
        part("inner ports", digest(&self.inner_ports_digest()));
        parts
    }

    /// The order and the limit that an input must have, with the number of bits compared.
    fn relied_on(&self, input: &str) -> Vec<String> {
        let order = self
            .notes()
            .ordered(input)
            .map(|Ordered { key_bits, order, .. }| format!("{input} in {order} by {key_bits} bits"));
        let limit =
            self.notes().limit(input).map(|Limit { bits, below, .. }| format!("{input} below {below} in {bits} bits"));
        order.into_iter().chain(limit).collect()
    }
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

fn or_none(text: String) -> String {
    if text.is_empty() { "none".into() } else { text }
}

/// The text, if a message can carry it; otherwise a digest.
fn short(text: String) -> String {
    match text.len() <= TEXT_BYTES_MAX && !text.contains(controls_terminal) {
        true => text,
        false => digest(blake3::hash(text.as_bytes()).as_bytes()),
    }
}

fn digest(bytes: &[u8; 32]) -> String {
    bytes[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Circuit, Component, Gate, GateCounts, InputId, Port, Type, Wire, notes::Notes};

    /// One gate for each bit of two integers, owned by party 0 and party 1.
    fn bitwise(width: u32, gate: fn(Wire, Wire) -> Gate) -> Program {
        let gates = (0..width).map(|k| gate(Wire(k), Wire(width + k))).collect();
        let circuit = Circuit::new(2 * width, gates, (2 * width..3 * width).map(Wire).collect()).expect("in order");
        let ports = |names: &[&str]| names.iter().map(|name| Port::new(*name, Type::Unsigned(width))).collect();
        let component = Component::new("bitwise", ports(&["a", "b"]), ports(&["c"]), circuit).expect("fits");
        Program::from_component(component, &[Party(0), Party(1)]).expect("fits")
    }

    fn names(one: &Program, other: &Program) -> Vec<String> {
        let differing = one.parts().into_iter().zip(other.parts()).filter(|(one, other)| one != other);
        differing.map(|((name, _), _)| name).collect()
    }

    #[test]
    fn what_is_changed_is_the_part_that_differs() {
        let program = bitwise(8, Gate::And);
        assert_eq!(names(&program, &program), [""; 0]);
        let mut other = program.clone();
        other.set_owner(InputId(0), Party(1));
        assert_eq!(names(&program, &other), ["owners"]);
        let mut other = program.clone();
        other.set_recipients(0, Recipients::Only(vec![Party(0), Party(1)]));
        assert_eq!(names(&program, &other), ["recipients"]);
        assert!(other.parts().iter().any(|(_, text)| text.ends_with(" to 0+1")), "{:?}", other.parts());
        let wider = bitwise(9, Gate::And);
        assert_eq!(names(&program, &wider), ["ports", "circuit", "inner ports"]);
        let unlike = bitwise(8, Gate::Xor);
        assert_eq!(names(&program, &unlike), ["circuit"]);
    }

    #[test]
    fn a_source_its_constants_and_checks_are_parts() {
        let noted = |text: &str, constants: &[&str], panics| {
            let mut program = bitwise(8, Gate::And);
            let notes = Notes { panics: Some(panics), ..Notes::default() };
            program.set_notes(notes.of_source(text, constants.iter().map(|c| c.to_string()).collect()));
            program
        };
        let on = || Panics::On { output: None, places: Vec::new() };
        let program = noted("fn main", &["N=8"], on());
        assert_eq!(names(&program, &noted("fn main ", &["N=8"], on())), ["source"]);
        assert_eq!(names(&program, &noted("fn main", &["N=9"], on())), ["constants"]);
        assert_eq!(names(&program, &noted("fn main", &["N=8"], Panics::Off)), ["panics"]);
    }

    #[test]
    fn the_gates_of_a_circuit_file_are_told_from_fewer() {
        let of_file = |file| {
            let mut program = bitwise(8, Gate::And);
            program.set_notes(Notes { file: Some(file), ..Notes::default() });
            program
        };
        let [own, fewer] = [FileGates::AsItIs, FileGates::Optimised(GateCounts::default())].map(of_file);
        assert_eq!(names(&own, &fewer), ["gates"]);
        assert!(own.parts().contains(&("gates".into(), "as in the file".into())));
        assert_eq!(own.digest(), bitwise(8, Gate::And).digest());
    }

    #[test]
    fn what_is_long_or_not_printable_is_a_digest() {
        assert_eq!(short("a".repeat(100)), "a".repeat(100));
        for text in ["a".repeat(101), "\u{1b}[2J".into(), "a\u{202e}b".into(), "a\u{2028}b".into()] {
            assert_eq!(short(text).len(), 16);
        }
    }
}
