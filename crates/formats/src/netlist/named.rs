//! Netlists whose signals have names.

use std::collections::HashMap;

use garblet_circuit::{
    Literal, Program,
    diagnostic::{Diagnostic, Diagnostics},
};

use super::{
    graph::{Fault, Graph},
    ports::{Side, component},
    text::{Text, Word},
};

/// Signals by name.
#[derive(Default)]
pub(super) struct Named<'a> {
    pub(super) graph: Graph,
    signals: HashMap<&'a str, Literal>,
    inputs: Vec<&'a str>,
    outputs: Vec<(&'a str, Literal)>,
}

impl<'a> Named<'a> {
    /// The signal with a name.
    pub(super) fn signal(&mut self, name: Word<'a>) -> Literal {
        *self.signals.entry(name.text).or_insert_with(|| self.graph.signal(name.at))
    }

    /// Sets the signal with a name.
    pub(super) fn set(&mut self, name: Word<'a>, value: Literal) -> Result<(), Fault> {
        let signal = self.signal(name);
        self.graph.set(signal, value, name.at)
    }

    /// Makes the signal with a name the next input.
    pub(super) fn input(&mut self, name: Word<'a>) -> Result<(), Fault> {
        let signal = self.signal(name);
        self.inputs.push(name.text);
        self.graph.set_input(signal, name.at)
    }

    /// Makes the signal with a name the next output.
    pub(super) fn output(&mut self, name: Word<'a>) {
        let signal = self.signal(name);
        self.outputs.push((name.text, signal));
    }

    /// The program of all signals; `example` is a line that makes an output.
    ///
    /// *Errors*: no outputs, as if the file were cut off; signals that nothing sets or that are set twice, cycles, too many wires, ports with one name.
    pub(super) fn program(self, text: Text<'a>, name: &str, example: &str) -> Result<Program, Diagnostics> {
        if self.outputs.is_empty() {
            return Err(
                Diagnostic::new(text.file, format!("has no outputs, expected a line such as `{example}`")).into()
            );
        }
        let (names, outputs): (Vec<&str>, Vec<Literal>) = self.outputs.into_iter().unzip();
        let sides = [Side::of_names(&self.inputs, "in0"), Side::of_names(&names, "out0")];
        let circuit = self.graph.circuit(&outputs).map_err(|fault| text.fault(fault))?;
        super::program(text.file, component(name, sides, circuit), &[])
    }
}
