//! Reads a circuit file line by line.

use std::io::BufRead;

use garblet_circuit::{Circuit, Component, Gate, Port, Type, Wire, diagnostic::Diagnostic};

use super::{head::Head, lines::Lines, wires::WireMap};

/// Reads a circuit file of either kind.
///
/// *Cost*: time and memory in proportion to the text that is there, whatever its head claims.
///
/// *Errors*: the first thing that is wrong, with its place.
pub(super) fn read(file: &str, name: &str, text: &mut dyn BufRead) -> Result<Component, Diagnostic> {
    let mut lines = Lines::new(file, text);
    let head = Head::read(&mut lines)?;
    let inputs = head.input_wires() as u32;
    let mut reader = Reader { map: WireMap::new(inputs), inputs, gates: Vec::new(), wires: head.wires };
    for done in 0..head.gates {
        if !lines.advance()? {
            return Err(lines.error_at(0, format!("the file ends after {done} of {} gates", head.gates)));
        }
        reader.gate(&lines)?;
    }
    if lines.advance()? {
        let message = format!("expected the end of the file after {} gates, got `{}`", head.gates, lines.shown(0));
        return Err(lines.error_at(0, message));
    }
    let mut outputs = Vec::new();
    for number in head.wires - head.output_wires() as u32..head.wires {
        let Some(wire) = reader.map.get(number) else {
            return Err(Diagnostic::new(file, format!("output wire {number} is set by no gate")));
        };
        outputs.push(Wire(wire));
    }
    let ports = |side: &str, widths: &[u32]| {
        let port = |(k, &width)| Port::new(format!("{side}{k}"), Type::Bits(width));
        widths.iter().enumerate().map(port).collect::<Vec<_>>()
    };
    Circuit::new(inputs, reader.gates, outputs)
        .and_then(|circuit| Component::new(name, ports("in", &head.inputs), ports("out", &head.outputs), circuit))
        .map_err(|error| Diagnostic::new(file, error.to_string()))
}

struct Reader {
    map: WireMap,
    inputs: u32,
    gates: Vec<Gate>,
    /// Wires that the head speaks of.
    wires: u32,
}

/// Words of a gate's line before its operands.
const COUNTS: usize = 2;

impl Reader {
    fn gate(&mut self, lines: &Lines<'_>) -> Result<(), Diagnostic> {
        let last = lines.word_count() - 1;
        match lines.word(last) {
            b"XOR" => self.two_operands(lines, Gate::Xor),
            b"AND" => self.two_operands(lines, Gate::And),
            b"INV" | b"NOT" => {
                shape(lines, 1, 1)?;
                let a = self.operand(lines, COUNTS)?;
                self.result(lines, COUNTS + 1, Gate::Not(a))
            }
            b"EQ" => {
                shape(lines, 1, 1)?;
                let value = lines.number(COUNTS, "the constant", 2)?;
                self.result(lines, COUNTS + 1, Gate::Constant(value == 1))
            }
            b"EQW" => {
                shape(lines, 1, 1)?;
                let a = self.operand(lines, COUNTS)?;
                self.copy(lines, COUNTS + 1, a)
            }
            b"MAND" => self.many_ands(lines),
            _ => {
                let message = format!("unknown gate `{}`, expected XOR, AND, INV, EQ, EQW or MAND", lines.shown(last));
                Err(lines.error_at(last, message))
            }
        }
    }

    fn two_operands(&mut self, lines: &Lines<'_>, gate: fn(Wire, Wire) -> Gate) -> Result<(), Diagnostic> {
        shape(lines, 2, 1)?;
        let (a, b) = (self.operand(lines, COUNTS)?, self.operand(lines, COUNTS + 1)?);
        self.result(lines, COUNTS + 2, gate(a, b))
    }

    /// `2m m a.. b.. out..`: all operands are read before any result is set.
    fn many_ands(&mut self, lines: &Lines<'_>) -> Result<(), Diagnostic> {
        let m = lines.number(1, "the number of results", 1 << 31)?;
        shape(lines, m.saturating_mul(2), m)?;
        let m = m as usize;
        let ands: Vec<Gate> = (0..m)
            .map(|k| Ok(Gate::And(self.operand(lines, COUNTS + k)?, self.operand(lines, COUNTS + m + k)?)))
            .collect::<Result<_, Diagnostic>>()?;
        ands.into_iter().enumerate().try_for_each(|(k, and)| self.result(lines, COUNTS + 2 * m + k, and))
    }

    fn operand(&self, lines: &Lines<'_>, k: usize) -> Result<Wire, Diagnostic> {
        let number = lines.number(k, "a wire", self.wires.into())?;
        match self.map.get(number) {
            Some(wire) => Ok(Wire(wire)),
            None => Err(lines.error_at(k, format!("wire {number} is read before any gate sets it"))),
        }
    }

    fn result(&mut self, lines: &Lines<'_>, k: usize, gate: Gate) -> Result<(), Diagnostic> {
        // The head's limit on wires and `copy`, which refuses a second setting, keep this within 32 bits.
        let wire = Wire(self.inputs + self.gates.len() as u32);
        self.copy(lines, k, wire)?;
        self.gates.push(gate);
        Ok(())
    }

    /// Lets the number in word `k` stand for a wire.
    fn copy(&mut self, lines: &Lines<'_>, k: usize, wire: Wire) -> Result<(), Diagnostic> {
        let number = lines.number(k, "a wire", self.wires.into())?;
        if number < self.inputs {
            return Err(lines.error_at(k, format!("wire {number} is an input, a gate cannot set it")));
        }
        match self.map.set(number, wire.0) {
            true => Ok(()),
            false => Err(lines.error_at(k, format!("wire {number} is set twice"))),
        }
    }
}

/// Checks the two counts that begin a gate's line, and that the line has as many wires.
fn shape(lines: &Lines<'_>, operands: u32, results: u32) -> Result<(), Diagnostic> {
    let name = lines.word_count() - 1;
    for (k, what, expected) in [(0, "operands", operands), (1, "results", results)] {
        let got = lines.number(k, &format!("the number of {what}"), 1 << 32)?;
        if got != expected || k == name {
            let message = format!("{} with {got} {what}, expected {expected}", lines.shown(name));
            return Err(lines.error_at(k, message));
        }
    }
    let (expected, got) = (u64::from(operands) + u64::from(results), name as u64 - COUNTS as u64);
    match expected == got {
        true => Ok(()),
        false => Err(lines.error_at(name, format!("{got} wires before {}, expected {expected}", lines.shown(name)))),
    }
}
