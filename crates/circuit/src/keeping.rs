//! Programs of runs that keep outputs. Kept state stays unchanged if the computation panics, so all parties must learn whether it
//! panicked.

use std::iter::once;

use crate::{
    Circuit, CircuitError, Component, Gate, Link, Port, Program, Recipients, Type, Wire,
    notes::{Notes, Panics},
};

/// The name of the output that says whether the computation panicked.
const NAME: &str = "panicked";

impl Program {
    /// Adds an output `panicked`, which tells all parties whether the computation panicked. If it did, all public outputs are zero,
    /// except the one that says where it panicked, whose recipients stay the same. A program without checks is returned unchanged,
    /// as is one that has this output already.
    ///
    /// *Cost*: one AND gate for each bit of a public output, and one less than the bits of the output that says where it panicked.
    ///
    /// *Errors*: too many wires, instances or links.
    pub fn telling_panics(&self) -> Result<Program, CircuitError> {
        let Notes { panics: Some(Panics::On { output: Some(code), .. }), panicked: None, .. } = self.notes() else {
            return Ok(self.clone());
        };
        let mut program = self.clone();
        let at = &self.outputs()[*code];
        let any = program.add_component(any(at.port.width())?);
        let any = program.add_instance(any, &at.links)?;
        let panicked = program.instance_link(any);
        for (number, output) in self.outputs().iter().enumerate() {
            let is_secret = matches!(&output.recipients, Recipients::Only(parties) if parties.is_empty());
            if number == *code || is_secret || output.port.width() == 0 {
                continue;
            }
            let result = program.add_component(unless(output.port.width())?);
            let links: Vec<Link> = once(panicked).chain(output.links.iter().copied()).collect();
            let result = program.add_instance(result, &links)?;
            program.relink(number, program.instance_link(result));
        }
        let mut name = NAME.to_string();
        while self.outputs().iter().any(|output| output.port.name == name) {
            name.push('\'');
        }
        program.add_output(Port::new(name, Type::Bool), Recipients::All, vec![panicked])?;
        program.set_notes(Notes { panicked: Some(self.outputs().len()), ..self.notes().clone() });
        Ok(program)
    }
}

/// Returns whether any of `bits` bits is set.
fn any(bits: u32) -> Result<Component, CircuitError> {
    let mut gates: Vec<Gate> = (0..bits).map(|bit| Gate::Not(Wire(bit))).collect();
    let mut none = Wire(bits);
    for bit in 1..bits {
        gates.push(Gate::And(none, Wire(bits + bit)));
        none = Wire(bits + gates.len() as u32 - 1);
    }
    gates.push(Gate::Not(none));
    let circuit = Circuit::new(bits, gates, vec![Wire(2 * bits + bits.saturating_sub(1))])?;
    Component::new("panicked", vec![Port::new("code", Type::Bits(bits))], vec![Port::new(NAME, Type::Bool)], circuit)
}

/// Passes on `bits` bits, or zeros if the bit before them is set.
fn unless(bits: u32) -> Result<Component, CircuitError> {
    let inputs = bits + 1;
    let gates = once(Gate::Not(Wire(0))).chain((1..inputs).map(|bit| Gate::And(Wire(inputs), Wire(bit)))).collect();
    let circuit = Circuit::new(inputs, gates, (1..inputs).map(|bit| Wire(inputs + bit)).collect())?;
    let port = |name: &str| Port::new(name, Type::Bits(bits));
    Component::new(
        "result unless panicked",
        vec![Port::new(NAME, Type::Bool), port("value")],
        vec![port("result")],
        circuit,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bits, Party, evaluate};

    /// A value of three bits and a panic code of `code` bits go to outputs of the same names; a secret goes to nobody.
    fn program(code: u32) -> Program {
        let mut program = Program::new("test");
        for (name, bits) in [("value", 3), ("secret", 2), ("panic", code)] {
            let input = program.add_input(Port::new(name, Type::Bits(bits)), Party(0)).expect("a name of its own");
            let to = if name == "secret" { Vec::new() } else { vec![Party(1)] };
            let links = vec![program.input_link(input)];
            program.add_output(Port::new(name, Type::Bits(bits)), Recipients::Only(to), links).expect("it fits");
        }
        let panics = Panics::On { output: Some(2), places: vec!["a:1:1: x".into(); (1 << code) - 1] };
        program.set_notes(Notes { panics: Some(panics), ..Notes::default() });
        program
    }

    #[test]
    fn everybody_learns_that_it_panicked_and_nobody_a_result() {
        for code in 1..=4 {
            let before = program(code);
            let told = before.telling_panics().expect("it is small");
            assert_eq!(told.counts().and, u64::from(3 + code - 1));
            assert_eq!(told.outputs()[3].recipients, Recipients::All);
            assert_eq!(told.notes().panicked, Some(3));
            for number in 0..1 << (5 + code) {
                let [value, secret, panic] = [(0, 3), (3, 2), (5, code)]
                    .map(|(start, bits)| Bits::from_u128(number >> start & ((1 << bits) - 1), bits as usize));
                let outputs = evaluate(&told, &[value.clone(), secret.clone(), panic.clone()]);
                let panicked = number >> 5 != 0;
                let result = if panicked { Bits::zeros(3) } else { value };
                assert_eq!(outputs, [result, secret, panic, Bits::from_u128(panicked.into(), 1)], "{number:b}");
            }
        }
    }

    #[test]
    fn it_is_told_once_and_only_of_what_can_panic() {
        let told = program(2).telling_panics().expect("it is small");
        assert_eq!(told.telling_panics().expect("as it is").digest(), told.digest());
        for panics in [None, Some(Panics::Off), Some(Panics::On { output: None, places: Vec::new() })] {
            let mut quiet = program(2);
            quiet.set_notes(Notes { panics, ..Notes::default() });
            assert_eq!(quiet.telling_panics().expect("as it is").digest(), quiet.digest());
        }
    }

    #[test]
    fn a_row_of_a_batch_that_panics_leaves_none_a_result() {
        let told = program(1).batch(2).expect("it is small").telling_panics().expect("it is small");
        let bits = |value: u128, width: usize| Bits::from_u128(value, width);
        let outputs = evaluate(&told, &[bits(0b101_110, 6), bits(0, 4), bits(0b10, 2)]);
        assert_eq!(outputs[0], bits(0, 6));
        assert_eq!(outputs[3], bits(1, 1));
    }
}
