//! AIGER, in text (`aag`) and in bytes (`aig`): AND gates and negations.
//!
//! ```text
//! aag 3 2 0 1 1        at most variable 3; 2 inputs, no latch, 1 output, 1 AND gate
//! 2                    an input is variable 1
//! 4
//! 7                    the output is the negation of variable 3
//! 6 2 5                variable 3 = variable 1 AND NOT variable 2
//! i0 a                 names, for as many inputs and outputs as one likes
//! ```
//!
//! A literal is twice a variable, plus one for its negation; 0 and 1 are constants. In bytes, variables are numbered in order, inputs have no
//! lines, and a gate is the differences between its three literals, seven bits a byte, the lowest first. If all bits of a side have names,
//! they make its [ports](super::ports::Side); otherwise the side is one port, `in0` or `out0`.
//!
//! AIGER has no XOR: it takes three gates, of which `convert --optimise` leaves none.
//!
//! *Source*: A. Biere, "The AIGER And-Inverter Graph (AIG) Format", 2007; A. Biere, K. Heljanko and S. Wieringa, "AIGER 1.9 And Beyond", 2011.

mod bytes;

use std::{borrow::Cow, collections::HashMap, io::BufRead, path::Path};

use garblet_circuit::{
    Circuit, Literal, Program,
    diagnostic::{Diagnostic, Diagnostics},
};

use self::bytes::Bytes;
use super::{
    graph::{Graph, Wiring},
    ports::{Side, component},
};
use crate::{
    front_end::{FrontEnd, Source},
    whole::{self, check_input_wires},
    wires::WireMap,
};

/// The front end for AIGER.
pub(crate) struct Aiger;

impl FrontEnd for Aiger {
    fn name(&self) -> &'static str {
        "AIGER netlist"
    }

    fn is_circuit_file(&self) -> bool {
        true
    }

    fn accepts(&self, file: &Path, beginning: &[u8]) -> bool {
        let begins = beginning.starts_with(b"aag ") || beginning.starts_with(b"aig ");
        begins || super::ends_in(file, "aag") || super::ends_in(file, "aig")
    }

    fn read(&self, source: &Source<'_>, text: &mut dyn BufRead) -> Result<Program, Diagnostics> {
        let bytes = whole::bytes(&source.file, text)?;
        let mut bytes = Bytes::new(&source.file, &bytes);
        let head = Head::read(&mut bytes)?;
        let circuit = match head.binary {
            true => binary(&mut bytes, &head)?,
            false => ascii(&mut bytes, &head)?,
        };
        let sides = sides(&mut bytes, &head)?;
        super::program(&source.file, component(source.stem(), sides, circuit), &[])
    }
}

/// The first line. No memory is set aside for any of its numbers.
struct Head {
    binary: bool,
    /// The greatest variable.
    most: u32,
    inputs: u32,
    outputs: u32,
    ands: u32,
}

impl Head {
    fn read(bytes: &mut Bytes<'_>) -> Result<Self, Diagnostic> {
        let binary = match bytes.word() {
            b"aag" => false,
            b"aig" => true,
            _ => return Err(bytes.error("expected `aag` or `aig` and the numbers of a head, as in `aag 3 2 0 1 1`")),
        };
        let limit = (Circuit::MAX_WIRES - 1) as u32;
        let most = bytes.number("the greatest variable", limit)?;
        let inputs = bytes.number("the number of inputs", limit)?;
        check_input_wires("the file", inputs.into()).map_err(|what| bytes.error(what))?;
        let latches = bytes.number("the number of latches", limit)?;
        if latches > 0 {
            return Err(bytes.error(super::has_memory(latches.into(), "latch")).hint(super::UNROLL));
        }
        let outputs = bytes.number("the number of outputs", limit)?;
        let ands = bytes.number("the number of AND gates", limit)?;
        for what in ["bad state", "constraint", "justice property", "fairness constraint"] {
            if !bytes.at_end_of_line() && bytes.number(what, limit)? > 0 {
                return Err(bytes.error(format!("declares a {what}, which is no output of a circuit")));
            }
        }
        bytes.end_line()?;
        let sum = u64::from(inputs) + u64::from(ands);
        let fits = if binary { sum == u64::from(most) } else { sum <= u64::from(most) };
        if !fits {
            let expected = if binary { "" } else { " at least" };
            let message = format!(
                "the greatest variable is {most}, expected{expected} {sum}, for {inputs} inputs and {ands} gates"
            );
            return Err(bytes.error(message));
        }
        Ok(Head { binary, most, inputs, outputs, ands })
    }

    /// A literal of the file.
    fn literal(&self, bytes: &mut Bytes<'_>, what: &str) -> Result<u32, Diagnostic> {
        bytes.number(what, 2 * self.most + 1)
    }
}

/// The rest of a file in text, whose gates may come in any order.
fn ascii(bytes: &mut Bytes<'_>, head: &Head) -> Result<Circuit, Diagnostic> {
    let mut signals = Signals { graph: Graph::default(), variables: WireMap::new(0) };
    for _ in 0..head.inputs {
        let input = signals.positive(head, bytes, "an input")?;
        signals.graph.set_input(input, bytes.place()).map_err(|fault| bytes.fault(fault))?;
        bytes.end_line()?;
    }
    let mut outputs = Vec::new();
    for _ in 0..head.outputs {
        outputs.push(signals.literal(head, bytes, "an output")?);
        bytes.end_line()?;
    }
    for _ in 0..head.ands {
        let (result, at) = (signals.positive(head, bytes, "the result of a gate")?, bytes.place());
        let (a, b) = (signals.literal(head, bytes, "an operand")?, signals.literal(head, bytes, "an operand")?);
        let and = signals.graph.and(a, b, at);
        signals.graph.set(result, and, at).map_err(|fault| bytes.fault(fault))?;
        bytes.end_line()?;
    }
    signals.graph.circuit(&outputs).map_err(|fault| bytes.fault(fault))
}

/// The signals of a file in text, by variable.
struct Signals {
    graph: Graph,
    variables: WireMap,
}

impl Signals {
    fn literal(&mut self, head: &Head, bytes: &mut Bytes<'_>, what: &str) -> Result<Literal, Diagnostic> {
        let literal = head.literal(bytes, what)?;
        let variable = match literal / 2 {
            0 => return Ok(Literal::constant(literal == 1)),
            variable => variable,
        };
        let signal = match self.variables.get(variable) {
            Some(node) => Literal::of(node),
            None => {
                let signal = self.graph.signal(bytes.place());
                self.variables.set(variable, signal.number());
                signal
            }
        };
        Ok(signal.invert_if(literal % 2 == 1))
    }

    /// A literal that is a variable.
    fn positive(&mut self, head: &Head, bytes: &mut Bytes<'_>, what: &str) -> Result<Literal, Diagnostic> {
        let literal = self.literal(head, bytes, what)?;
        match literal.is_constant() || literal.inverted() {
            true => Err(bytes.error(format!("{what} is a constant or a negation, expected an even number from 2 on"))),
            false => Ok(literal),
        }
    }
}

/// The rest of a file in bytes, whose gates come in order.
fn binary(bytes: &mut Bytes<'_>, head: &Head) -> Result<Circuit, Diagnostic> {
    let mut written = Vec::new();
    for _ in 0..head.outputs {
        written.push(head.literal(bytes, "an output")?);
        bytes.end_line()?;
    }
    let mut wiring = Wiring::new(head.inputs);
    let mut ands: Vec<Literal> = Vec::new();
    let literal = |ands: &[Literal], literal: u32| {
        let wire = match (literal / 2).checked_sub(1) {
            None => Literal::FALSE,
            Some(input) if input < head.inputs => Wiring::input(input),
            Some(gate) => ands[(gate - head.inputs) as usize],
        };
        wire.invert_if(literal % 2 == 1)
    };
    for gate in 0..head.ands {
        let result = 2 * (head.inputs + gate + 1);
        let begin = bytes.read();
        let left = result - bytes.delta("a gate", result)?;
        let right = left - bytes.delta("a gate", left)?;
        if left == result {
            return Err(bytes.byte_error(begin, format!("gate {result} reads itself, expected a lesser literal")));
        }
        let and = wiring.and(literal(&ands, left), literal(&ands, right));
        ands.push(and);
    }
    let outputs: Vec<Literal> = written.iter().map(|output| literal(&ands, *output)).collect();
    wiring.finish(&outputs).map_err(|error| bytes.byte_error(bytes.read(), error))
}

/// The ports of both sides, from the names after the gates. What follows a line `c` is a comment.
fn sides(bytes: &mut Bytes<'_>, head: &Head) -> Result<[Side; 2], Diagnostic> {
    let mut names = [(b'i', head.inputs, HashMap::new()), (b'o', head.outputs, HashMap::new())];
    while !bytes.ended() {
        let word = bytes.word();
        let Some((kind, digits)) = word.split_first() else {
            bytes.end_line()?;
            continue;
        };
        if word == b"c" {
            break;
        }
        let side = names.iter_mut().find(|(letter, ..)| letter == kind);
        let place = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<u32>().ok());
        let Some(((_, count, names), place)) = side.zip(place) else {
            return Err(bytes.error("expected a name such as `i0 a` or `o0 y`, or `c` and a comment"));
        };
        if place >= *count {
            return Err(bytes.error(format!("a name of number {place}, expected one below {count}")));
        }
        let at = bytes.place();
        if names.insert(place, String::from_utf8_lossy(bytes.rest_of_line())).is_some() {
            return Err(bytes.error_at(at, format!("number {place} has a name already")));
        }
        bytes.end_line()?;
    }
    let [inputs, outputs] = names;
    let side = |(_, count, names): (u8, u32, HashMap<u32, Cow<'_, str>>), whole| match names.len() == count as usize {
        false => Side::whole(whole, count as usize),
        true => {
            let names: Vec<&str> = (0..count).map(|place| &*names[&place]).collect();
            Side::of_names(&names, whole)
        }
    };
    Ok([side(inputs, "in0"), side(outputs, "out0")])
}
