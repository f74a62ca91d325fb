//! The head of a circuit file.

use garblet_circuit::{Circuit, diagnostic::Diagnostic};

use super::lines::Lines;
use crate::whole::MAX_INPUT_WIRES;

/// The most ports that a head may declare.
pub(super) const MAX_PORTS: u64 = 4096;

/// The content of the head; each number is within its limit, and no memory has been set aside for any of them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) gates: u32,
    pub(super) wires: u32,
    pub(super) inputs: Vec<u32>,
    pub(super) outputs: Vec<u32>,
    /// Set for the older format.
    pub(super) old: bool,
}

impl Head {
    /// Reads the head and leaves the lines at the first gate.
    pub(super) fn read(lines: &mut Lines<'_>) -> Result<Self, Diagnostic> {
        need_line(lines, "the head `GATES WIRES`")?;
        let limit = Circuit::MAX_WIRES + 1;
        let gates = lines.number(0, "the number of gates", limit)?;
        let wires = lines.number(1, "the number of wires", limit)?;
        end_of_line(lines, 2, "the head `GATES WIRES`")?;
        need_line(lines, "the widths of the inputs")?;
        let first: Vec<u32> = widths(lines, 0, wires)?;
        // In Bristol Fashion another line of numbers follows, in the Bristol format a gate, which ends with a word.
        let count_fits = first.first().is_some_and(|&n| n as usize == first.len() - 1);
        let words_before = lines.word_count();
        let second_line = lines.advance()?;
        let numbers = second_line && lines.word(lines.word_count() - 1).iter().all(u8::is_ascii_digit);
        let head = if numbers {
            if !count_fits {
                let message = format!(
                    "the line before, of the inputs, begins with {}, expected the number of its widths, {}",
                    first[0],
                    words_before - 1
                );
                return Err(lines.error_at(0, message));
            }
            let outputs = widths(lines, 0, wires)?;
            if outputs[0] as usize != outputs.len() - 1 {
                let message = format!("{} outputs, but {} widths", outputs[0], outputs.len() - 1);
                return Err(lines.error_at(0, message));
            }
            Head { gates, wires, inputs: first[1..].to_vec(), outputs: outputs[1..].to_vec(), old: false }
        } else {
            if second_line {
                lines.hold();
            }
            let [a, b, out] = first[..] else {
                let message = format!(
                    "expected three widths (Bristol) or a line of output widths next (Bristol Fashion), got {}",
                    first.len()
                );
                return Err(lines.error_at(0, message));
            };
            // A second input without wires means that there is only one input.
            let inputs = if b == 0 { vec![a] } else { vec![a, b] };
            Head { gates, wires, inputs, outputs: vec![out], old: true }
        };
        head.check(lines)?;
        Ok(head)
    }

    /// Wires of all inputs together.
    pub(super) fn input_wires(&self) -> u64 {
        self.inputs.iter().map(|&w| u64::from(w)).sum()
    }

    /// Wires of all outputs together.
    pub(super) fn output_wires(&self) -> u64 {
        self.outputs.iter().map(|&w| u64::from(w)).sum()
    }

    fn check(&self, lines: &Lines<'_>) -> Result<(), Diagnostic> {
        let (inputs, outputs, wires) = (self.input_wires(), self.output_wires(), u64::from(self.wires));
        let message = if inputs > MAX_INPUT_WIRES {
            format!("the inputs have {inputs} wires, the limit is {MAX_INPUT_WIRES}")
        } else if inputs > wires {
            format!("the inputs have {inputs} wires, but the whole circuit only {wires}")
        } else if outputs > wires {
            format!("the outputs have {outputs} wires, but the whole circuit only {wires}")
        } else {
            return Ok(());
        };
        Err(lines.error_at(0, message))
    }
}

/// All numbers of a line.
fn widths(lines: &Lines<'_>, from: usize, wires: u32) -> Result<Vec<u32>, Diagnostic> {
    let count = lines.word_count();
    if count as u64 > MAX_PORTS + 1 {
        return Err(lines.error_at(0, format!("{} ports, the limit is {MAX_PORTS}", count - 1)));
    }
    (from..count).map(|k| lines.number(k, "a width", u64::from(wires).max(MAX_PORTS) + 1)).collect()
}

fn need_line(lines: &mut Lines<'_>, what: &str) -> Result<(), Diagnostic> {
    match lines.advance()? {
        true => Ok(()),
        false => Err(lines.error_at(0, format!("the file ends before {what}"))),
    }
}

fn end_of_line(lines: &Lines<'_>, words: usize, what: &str) -> Result<(), Diagnostic> {
    match lines.word_count() > words {
        true => Err(lines.error_at(words, format!("`{}` after {what}", lines.shown(words)))),
        false => Ok(()),
    }
}
