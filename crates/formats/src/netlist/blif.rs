//! BLIF, the Berkeley logic interchange format: one model of logic functions.
//!
//! ```text
//! .model half
//! .inputs a b
//! .outputs carry sum
//! .names a b carry     # carry is 1 where one of the rows applies
//! 11 1
//! .names a b sum
//! 10 1
//! 01 1
//! .end
//! ```
//!
//! *Source*: "Berkeley Logic Interchange Format (BLIF)", University of California, Berkeley, 1992; `.conn` and `.barbuf`, `.attr`, `.param`
//! and `.cname` are of Yosys.

use std::{io::BufRead, path::Path};

use garblet_circuit::{
    Literal, Program,
    diagnostic::{Diagnostic, Diagnostics, clip},
};

use super::{
    Memory,
    graph::{At, Graph},
    named::Named,
    table::{self, MAX_INPUTS},
    text::{Text, Word},
};
use crate::{
    foreign::NETLIST,
    front_end::{FrontEnd, Source},
    whole,
};

/// The front end for BLIF.
pub(crate) struct Blif;

impl FrontEnd for Blif {
    fn name(&self) -> &'static str {
        "BLIF netlist"
    }

    fn is_circuit_file(&self) -> bool {
        true
    }

    fn accepts(&self, file: &Path, beginning: &[u8]) -> bool {
        let first = super::first_line(beginning);
        super::ends_in(file, "blif") || [".model", ".inputs", ".names"].iter().any(|word| first.starts_with(word))
    }

    fn read(&self, source: &Source<'_>, text: &mut dyn BufRead) -> Result<Program, Diagnostics> {
        let text = whole::text(&source.file, text)?;
        let text = Text { file: &source.file, text: &text };
        let mut reader = Reader { text, named: Named::default(), cover: None, memory: Memory::default() };
        reader.read()?;
        reader.memory.check(|at, message| text.error(at, message))?;
        reader.named.program(text, source.stem(), ".outputs y")
    }
}

struct Reader<'a> {
    text: Text<'a>,
    named: Named<'a>,
    /// The function whose rows are being read.
    cover: Option<Cover<'a>>,
    memory: Memory,
}

/// Directives about timing, area and names, which say nothing about values.
const IGNORED: [&str; 14] = [
    ".area",
    ".attr",
    ".cname",
    ".default_input_arrival",
    ".default_input_drive",
    ".default_max_input_load",
    ".default_output_load",
    ".default_output_required",
    ".delay",
    ".input_drive",
    ".output_load",
    ".param",
    ".search_hint",
    ".wire",
];

impl<'a> Reader<'a> {
    fn read(&mut self) -> Result<(), Diagnostic> {
        let mut lines = self.text.lines("");
        let mut words = Vec::new();
        let (mut models, mut ended) = (0, false);
        while lines.next(&mut words) {
            let first = words[0];
            if !first.text.starts_with('.') {
                self.row(&words)?;
                continue;
            }
            self.end_cover()?;
            match first.text {
                ".end" => ended = true,
                ".exdc" => return Ok(()),
                ".model" if models > 0 => {
                    return Err(self.text.error(first.at, "a second model, expected one").hint(super::FLATTEN));
                }
                ".model" => models += 1,
                _ if ended => return Err(self.text.error(first.at, format!("`{}` after .end", clip(first.text)))),
                _ => self.directive(first, &words[1..])?,
            }
        }
        self.end_cover()?;
        Ok(())
    }

    fn directive(&mut self, first: Word<'a>, words: &[Word<'a>]) -> Result<(), Diagnostic> {
        let error = |message: &str| self.text.error(first.at, format!("`{}` {message}", clip(first.text)));
        match (first.text, words) {
            (".inputs", words) => {
                let inputs = words.iter().try_for_each(|word| self.named.input(*word));
                inputs.map_err(|fault| self.text.fault(fault))?;
            }
            (".outputs", words) => words.iter().for_each(|word| self.named.output(*word)),
            (".names", [inputs @ .., output]) => {
                let inputs = inputs.iter().map(|word| self.named.signal(*word)).collect();
                self.cover = Some(Cover::new(inputs, *output));
            }
            (".names", []) => return Err(error("has no output, expected its inputs and its output")),
            (".conn" | ".barbuf", [from, to]) => {
                let from = self.named.signal(*from);
                self.named.set(*to, from).map_err(|fault| self.text.fault(fault))?;
            }
            (".latch" | ".mlatch", _) => self.memory.add("latch", first.at),
            (".clock", _) => return Err(error("declares a clock, but a circuit computes its outputs at once")),
            (".subckt", _) => return Err(error("refers to another model, expected .names").hint(super::FLATTEN)),
            (".gate", _) => return Err(error("is a cell of a library, expected .names").hint(NETLIST)),
            (name, _) if IGNORED.contains(&name) || name.starts_with(".wire_load") => (),
            _ => {
                return Err(error(
                    "is no directive of BLIF that makes a circuit, expected .inputs, .outputs or .names",
                ));
            }
        }
        Ok(())
    }

    /// A row of the function that is being read.
    fn row(&mut self, words: &[Word<'a>]) -> Result<(), Diagnostic> {
        let Some(cover) = &mut self.cover else {
            let message = format!("expected a directive such as .names, got `{}`", clip(words[0].text));
            return Err(self.text.error(words[0].at, message));
        };
        let (pattern, value) = match (words, cover.inputs.len()) {
            ([value], 0) => ("", value),
            ([pattern, value], 1..) => (pattern.text, value),
            (_, inputs) => {
                let message =
                    format!("{} words, expected a row for {inputs} inputs: a pattern and its value", words.len());
                return Err(self.text.error(words[0].at, message));
            }
        };
        if pattern.len() != cover.inputs.len() || !pattern.bytes().all(|byte| b"01-".contains(&byte)) {
            let message = format!("expected {} of `0`, `1` and `-`, got `{}`", cover.inputs.len(), clip(pattern));
            return Err(self.text.error(words[0].at, message));
        }
        let on = match value.text {
            "0" => false,
            "1" => true,
            other => return Err(self.text.error(value.at, format!("expected 0 or 1, got `{}`", clip(other)))),
        };
        match cover.value.replace(on) {
            Some(before) if before != on => {
                let message = format!("the value {}, expected {} as in the rows before", value.text, u8::from(before));
                Err(self.text.error(value.at, message))
            }
            _ => {
                cover.row(&mut self.named.graph, pattern.as_bytes());
                Ok(())
            }
        }
    }

    /// Sets the output of the function whose rows have ended.
    fn end_cover(&mut self) -> Result<(), Diagnostic> {
        let Some(cover) = self.cover.take() else { return Ok(()) };
        let output = cover.output;
        let value = cover.signal(&mut self.named.graph);
        self.named.set(output, value).map_err(|fault| self.text.fault(fault))
    }
}

/// A function as rows, each of which applies to some inputs.
struct Cover<'a> {
    inputs: Vec<Literal>,
    output: Word<'a>,
    /// The value where a row applies; none without rows.
    value: Option<bool>,
    /// The inputs to which a row applies, for few inputs.
    table: u64,
    /// The OR of the rows, for many inputs.
    any: Literal,
}

impl<'a> Cover<'a> {
    fn new(inputs: Vec<Literal>, output: Word<'a>) -> Self {
        Cover { inputs, output, value: None, table: 0, any: Literal::FALSE }
    }

    fn row(&mut self, graph: &mut Graph, pattern: &[u8]) {
        if self.inputs.len() <= MAX_INPUTS {
            let applies = |inputs: &usize| {
                pattern.iter().enumerate().all(|(k, byte)| *byte == b'-' || *byte == b'0' + (inputs >> k & 1) as u8)
            };
            self.table |= (0..1 << self.inputs.len()).filter(applies).fold(0, |table, inputs| table | 1 << inputs);
            return;
        }
        let at: At = self.output.at;
        let literals = self.inputs.iter().zip(pattern).filter(|(_, byte)| **byte != b'-');
        let literals = literals.map(|(input, byte)| input.invert_if(*byte == b'0'));
        let all = literals.reduce(|all, literal| graph.and(all, literal, at)).unwrap_or(Literal::TRUE);
        self.any = match self.any {
            Literal::FALSE => all,
            any => graph.or(any, all, at),
        };
    }

    fn signal(self, graph: &mut Graph) -> Literal {
        let any = match self.inputs.len() <= MAX_INPUTS {
            true => table::signal(graph, &self.inputs, self.table, self.output.at),
            false => self.any,
        };
        any.invert_if(self.value == Some(false))
    }
}
