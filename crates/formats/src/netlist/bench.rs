//! The `.bench` netlists of the ISCAS benchmarks, with the tables and constants of ABC.
//!
//! ```text
//! # a multiplexer
//! INPUT(s)
//! INPUT(a)
//! INPUT(b)
//! OUTPUT(y)
//! n1 = NOT(s)
//! n2 = AND(n1, a)
//! n3 = LUT 0x8 (s, b)
//! y = OR(n2, n3)
//! ```
//!
//! *Source*: F. Brglez and H. Fujiwara, "A neutral netlist of 10 combinational benchmark circuits", ISCAS 1985; F. Brglez, D. Bryan and
//! K. Kozminski, "Combinational profiles of sequential benchmark circuits", ISCAS 1989.

use std::{io::BufRead, path::Path};

use garblet_circuit::{
    Literal, Program,
    diagnostic::{Diagnostic, Diagnostics, clip},
};

use super::{
    Memory,
    named::Named,
    table::{self, MAX_INPUTS},
    text::{Text, Word},
};
use crate::{
    front_end::{FrontEnd, Source},
    whole,
};

/// The front end for `.bench`.
pub(crate) struct Bench;

impl FrontEnd for Bench {
    fn name(&self) -> &'static str {
        "ISCAS netlist (bench)"
    }

    fn is_circuit_file(&self) -> bool {
        true
    }

    fn accepts(&self, file: &Path, beginning: &[u8]) -> bool {
        let first: String = super::first_line(beginning).split_whitespace().collect();
        let first = first.to_ascii_uppercase();
        super::ends_in(file, "bench") || first.starts_with("INPUT(") || first.starts_with("OUTPUT(")
    }

    fn read(&self, source: &Source<'_>, text: &mut dyn BufRead) -> Result<Program, Diagnostics> {
        let text = whole::text(&source.file, text)?;
        let text = Text { file: &source.file, text: &text };
        let mut reader = Reader { text, named: Named::default(), memory: Memory::default() };
        let (mut lines, mut words) = (text.lines(MARKS), Vec::new());
        while lines.next(&mut words) {
            reader.line(&words)?;
        }
        reader.memory.check(|at, message| text.error(at, message))?;
        reader.named.program(text, source.stem(), "OUTPUT(y)")
    }
}

/// The marks between names.
const MARKS: &str = "(),=";

struct Reader<'a> {
    text: Text<'a>,
    named: Named<'a>,
    memory: Memory,
}

/// The gates of any number of inputs.
const GATES: [&str; 6] = ["AND", "NAND", "OR", "NOR", "XOR", "XNOR"];

impl<'a> Reader<'a> {
    fn line(&mut self, words: &[Word<'a>]) -> Result<(), Diagnostic> {
        let texts: Vec<&str> = words.iter().map(|word| word.text).collect();
        match texts[..] {
            [mark, ..] | [_, "(", mark, ..] if MARKS.contains(mark) => return Err(self.unexpected(words[0])),
            [side, "(", _, ")"] if side.eq_ignore_ascii_case("INPUT") => {
                self.named.input(words[2]).map_err(|fault| self.text.fault(fault))?;
            }
            [side, "(", _, ")"] if side.eq_ignore_ascii_case("OUTPUT") => self.named.output(words[2]),
            [_, "=", constant] if constant.eq_ignore_ascii_case("gnd") => self.set(words[0], Literal::FALSE)?,
            [_, "=", constant] if constant.eq_ignore_ascii_case("vdd") => self.set(words[0], Literal::TRUE)?,
            [_, "=", lut, _, "(", .., ")"] if lut.eq_ignore_ascii_case("LUT") => {
                let operands = self.operands(&words[5..words.len() - 1])?;
                let value = self.table(words[3], &operands, words[0])?;
                self.set(words[0], value)?;
            }
            [_, "=", _, "(", .., ")"] => {
                let operands = self.operands(&words[4..words.len() - 1])?;
                if let Some(value) = self.gate(words[2], &operands, words[0])? {
                    self.set(words[0], value)?;
                }
            }
            _ => return Err(self.unexpected(words[0])),
        }
        Ok(())
    }

    /// A line of no known form, which begins with this word.
    fn unexpected(&self, first: Word<'a>) -> Diagnostic {
        self.text.error(first.at, "expected INPUT(NAME), OUTPUT(NAME) or NAME = GATE(NAME, ..)")
    }

    fn set(&mut self, name: Word<'a>, value: Literal) -> Result<(), Diagnostic> {
        self.named.set(name, value).map_err(|fault| self.text.fault(fault))
    }

    /// The operands of a gate, with commas between.
    fn operands(&mut self, words: &[Word<'a>]) -> Result<Vec<Literal>, Diagnostic> {
        let mut operands = Vec::with_capacity(words.len() / 2 + 1);
        for (k, word) in words.iter().enumerate() {
            match (k % 2, word.text) {
                (1, ",") => (),
                (0, name) if !MARKS.contains(name) => operands.push(self.named.signal(*word)),
                (_, got) => {
                    let expected = ["a name", "a comma"][k % 2];
                    return Err(self.text.error(word.at, format!("expected {expected}, got `{}`", clip(got))));
                }
            }
        }
        match words.last() {
            Some(last) if words.len().is_multiple_of(2) => {
                Err(self.text.error(last.at, "expected a name after the comma"))
            }
            _ => Ok(operands),
        }
    }

    /// The value of a gate; none for a flip-flop.
    fn gate(&mut self, gate: Word<'a>, operands: &[Literal], output: Word<'a>) -> Result<Option<Literal>, Diagnostic> {
        let name = gate.text.to_ascii_uppercase();
        let error = |message: String| Err(self.text.error(gate.at, message));
        if name.contains("DFF") || name.contains("LATCH") {
            self.memory.add(if name.contains("DFF") { "flip-flop" } else { "latch" }, gate.at);
            return Ok(None);
        }
        let (graph, at) = (&mut self.named.graph, output.at);
        let value = match (&name[..], operands) {
            ("NOT" | "INV", [a]) => !*a,
            ("BUF" | "BUFF", [a]) => *a,
            ("NOT" | "INV" | "BUF" | "BUFF", _) => {
                return error(format!("{name} of {} signals, expected 1", operands.len()));
            }
            (name, [first, others @ ..]) if GATES.contains(&name) => {
                let all = others.iter().fold(*first, |all, next| match name {
                    "AND" | "NAND" => graph.and(all, *next, at),
                    "OR" | "NOR" => graph.or(all, *next, at),
                    _ => graph.xor(all, *next, at),
                });
                all.invert_if(["NAND", "NOR", "XNOR"].contains(&name))
            }
            (name, []) if GATES.contains(&name) => return error(format!("{name} of no signals, expected 1 or more")),
            _ => {
                let known = GATES.join(", ");
                return error(format!("unknown gate `{}`, expected one of {known}, NOT, BUF, LUT", clip(gate.text)));
            }
        };
        Ok(Some(value))
    }

    /// The value of a table in hexadecimal digits, whose bit `k` is for operands with the number `k`.
    fn table(&mut self, digits: Word<'a>, operands: &[Literal], output: Word<'a>) -> Result<Literal, Diagnostic> {
        if operands.len() > MAX_INPUTS {
            let message = format!("a table of {} signals, expected {MAX_INPUTS} at most", operands.len());
            return Err(self.text.error(digits.at, message));
        }
        let bits = 1u32 << operands.len();
        let number = digits.text.strip_prefix("0x").filter(|digits| digits.bytes().all(|d| d.is_ascii_hexdigit()));
        let number = number.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let number = number.filter(|number| bits == 64 || number >> bits == 0).ok_or_else(|| {
            let message = format!("expected a table of {bits} bits such as 0x8, got `{}`", clip(digits.text));
            self.text.error(digits.at, message)
        })?;
        Ok(table::signal(&mut self.named.graph, operands, number, output.at))
    }
}
