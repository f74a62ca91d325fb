//! The circuits of ABY.
//!
//! ```text
//! S 0 1          input wires 0 and 1: the port `server`, of party 0
//! C 2            input wire 2: the port `client`, of party 1
//! 0 -2           wire -2 is the constant 0, and 1 -3 the constant 1
//! A 0 1 3        wire 3 = wire 0 AND wire 1; X is XOR, V is OR
//! I 3 4          wire 4 = NOT wire 3
//! M 2 3 1 5      wire 5 = wire 3 if wire 1 is 1, else wire 2
//! O 4 5          the output wires: the port `out0`
//! ```
//!
//! Lines that begin with anything else are ignored, as the format demands. Gates may come in any order.
//!
//! *Source*: `bin/circ/circuitformat.md` and `BooleanCircuit::PutGateFromFile` of ABY, 2017.

use std::{collections::HashMap, io::BufRead, path::Path};

use garblet_circuit::{
    Literal, Party, Port, Program, Type,
    diagnostic::{Diagnostic, Diagnostics, clip},
};

use super::{
    Memory,
    graph::Graph,
    ports::{Side, component},
    text::{Text, Word},
};
use crate::{
    front_end::{FrontEnd, Source},
    whole,
};

/// The front end for circuits of ABY.
pub(crate) struct Aby;

impl FrontEnd for Aby {
    fn name(&self) -> &'static str {
        "circuit of ABY"
    }

    fn is_circuit_file(&self) -> bool {
        true
    }

    fn accepts(&self, file: &Path, beginning: &[u8]) -> bool {
        let first = super::first_line(beginning);
        let inputs = first.strip_prefix(['S', 'C']).filter(|rest| rest.starts_with(char::is_whitespace));
        super::ends_in(file, "aby")
            || inputs.is_some_and(|rest| rest.split_whitespace().all(|id| id.parse::<i64>().is_ok()))
    }

    fn read(&self, source: &Source<'_>, text: &mut dyn BufRead) -> Result<Program, Diagnostics> {
        let text = whole::text(&source.file, text)?;
        let text = Text { file: &source.file, text: &text };
        let mut reader = Reader {
            text,
            graph: Graph::default(),
            wires: HashMap::new(),
            inputs: Vec::new(),
            outputs: None,
            memory: Memory::default(),
        };
        let (mut lines, mut words) = (text.lines(""), Vec::new());
        while lines.next(&mut words) {
            reader.line(&words)?;
        }
        reader.memory.check(|at, message| text.error(at, message))?;
        reader.program(source.stem())
    }
}

struct Reader<'a> {
    text: Text<'a>,
    graph: Graph,
    wires: HashMap<i64, Literal>,
    /// The owner of each input bit.
    inputs: Vec<Party>,
    outputs: Option<Vec<Literal>>,
    memory: Memory,
}

/// The ports of both parties.
const PARTIES: [&str; 2] = ["server", "client"];

impl<'a> Reader<'a> {
    fn line(&mut self, words: &[Word<'a>]) -> Result<(), Diagnostic> {
        let (first, wires) = (words[0], &words[1..]);
        match (first.text, wires) {
            ("S" | "C", wires) => {
                for wire in wires {
                    let signal = self.wire(*wire)?;
                    self.graph.set_input(signal, wire.at).map_err(|fault| self.text.fault(fault))?;
                    self.inputs.push(Party(u16::from(first.text == "C")));
                }
                Ok(())
            }
            ("O", wires) => {
                for wire in wires {
                    let wire = self.wire(*wire)?;
                    self.outputs.get_or_insert_default().push(wire);
                }
                Ok(())
            }
            ("0", [to]) => self.set(*to, Literal::FALSE),
            ("1", [to]) => self.set(*to, Literal::TRUE),
            ("A" | "X" | "V", [a, b, to]) => {
                let (a, b, at) = (self.wire(*a)?, self.wire(*b)?, to.at);
                let value = match first.text {
                    "A" => self.graph.and(a, b, at),
                    "X" => self.graph.xor(a, b, at),
                    _ => self.graph.or(a, b, at),
                };
                self.set(*to, value)
            }
            ("I", [a, to]) => {
                let value = !self.wire(*a)?;
                self.set(*to, value)
            }
            ("M", [no, yes, choice, to]) => {
                let (no, yes, choice) = (self.wire(*no)?, self.wire(*yes)?, self.wire(*choice)?);
                let value = self.graph.mux(choice, [no, yes], to.at);
                self.set(*to, value)
            }
            ("0" | "1" | "A" | "X" | "V" | "I" | "M", _) => {
                let expected = match first.text {
                    "0" | "1" => 1,
                    "I" => 2,
                    "M" => 4,
                    _ => 3,
                };
                let message = format!("{} with {} wires, expected {expected}", first.text, wires.len());
                Err(self.text.error(first.at, message))
            }
            ("U" | "Y", _) => {
                let message =
                    format!("{} belongs to a universal circuit, whose function is in another file", first.text);
                Err(self.text.error(first.at, message).hint("take the circuit of the function itself"))
            }
            ("D", [_, ..]) => {
                self.memory.add("flip-flop", first.at);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn wire(&mut self, word: Word<'a>) -> Result<Literal, Diagnostic> {
        let wire = word.text.parse::<i64>().map_err(|_| {
            self.text.error(word.at, format!("expected the number of a wire, got `{}`", clip(word.text)))
        })?;
        Ok(*self.wires.entry(wire).or_insert_with(|| self.graph.signal(word.at)))
    }

    fn set(&mut self, to: Word<'a>, value: Literal) -> Result<(), Diagnostic> {
        let signal = self.wire(to)?;
        self.graph.set(signal, value, to.at).map_err(|fault| self.text.fault(fault))
    }

    fn program(self, name: &str) -> Result<Program, Diagnostics> {
        let Some(outputs) = self.outputs else {
            return Err(Diagnostic::new(self.text.file, "has no outputs, expected a line such as `O 2`").into());
        };
        let circuit = self.graph.circuit(&outputs).map_err(|fault| self.text.fault(fault))?;
        let bits =
            |party: u16| self.inputs.iter().zip(0..).filter(move |(own, _)| **own == Party(party)).map(|(_, bit)| bit);
        let sizes = [0, 1].map(|party| bits(party).count());
        let named = PARTIES.iter().zip(sizes).zip(0..).filter(|((_, size), _)| *size > 0);
        let (ports, owners): (Vec<Port>, Vec<Party>) =
            named.map(|((name, size), party)| (Port::new(*name, Type::Bits(size as u32)), Party(party))).unzip();
        let inputs = Side::in_order(ports, bits(0).chain(bits(1)).collect());
        let sides = [inputs, Side::whole("out0", outputs.len())];
        super::program(self.text.file, component(name, sides, circuit), &owners)
    }
}
