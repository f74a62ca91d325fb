//! Reads a circuit file line by line.

use std::{io::BufRead, ops::Range};

use garblet_circuit::{Circuit, CircuitError, Component, Gate, Port, Type, Wire, diagnostic::Diagnostic};

use super::{head::Head, lines::Lines, waiting::Waiting};
use crate::wires::WireMap;

/// Reads a circuit file of either kind. A gate that comes before those that set what it reads waits for them.
///
/// *Cost*: time and memory in proportion to the actual text, whatever its head claims.
///
/// Also returns whether the file is in the older format.
///
/// *Errors*: the first thing that is wrong, with its place.
pub(super) fn read(file: &str, name: &str, text: &mut dyn BufRead) -> Result<(Component, bool), Diagnostic> {
    let mut lines = Lines::new(file, text);
    let head = Head::read(&mut lines)?;
    let inputs = head.input_wires() as u32;
    let (map, waiting) = (WireMap::new(inputs), Waiting::default());
    let mut reader = Reader { map, inputs, gates: Vec::new(), wires: head.wires, set: Vec::new(), waiting };
    for done in 0..head.gates {
        if !lines.advance()? {
            return Err(lines.error_at(0, format!("the file ends after {done} of {} gates", head.gates)));
        }
        reader.line(&mut lines)?;
    }
    if lines.advance()? {
        let message = format!("expected the end of the file after {} gates, got `{}`", head.gates, lines.shown(0));
        return Err(lines.error_at(0, message));
    }
    reader.check_none_waits(&mut lines)?;
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
        .map(|component| (component, head.old))
        .map_err(|error| Diagnostic::new(file, error.to_string()))
}

struct Reader {
    map: WireMap,
    inputs: u32,
    gates: Vec<Gate>,
    /// The number of wires in the head.
    wires: u32,
    /// The numbers that the last line has set.
    set: Vec<u32>,
    waiting: Waiting,
}

/// Words of a gate's line before its operands.
const COUNTS: usize = 2;

/// A kind of gate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Xor,
    Xnor,
    And,
    Nand,
    Or,
    Nor,
    Inv,
    Eq,
    Eqw,
    Mand,
}

/// The names of gates, in any case.
const KINDS: [(&str, Kind); 12] = [
    ("XOR", Kind::Xor),
    ("AND", Kind::And),
    ("INV", Kind::Inv),
    ("NOT", Kind::Inv),
    ("EQ", Kind::Eq),
    ("EQW", Kind::Eqw),
    ("MAND", Kind::Mand),
    ("OR", Kind::Or),
    ("LOR", Kind::Or),
    ("NOR", Kind::Nor),
    ("NAND", Kind::Nand),
    ("XNOR", Kind::Xnor),
];

impl Kind {
    /// The kind of gate at the end of a line.
    fn of(lines: &Lines<'_>) -> Result<Self, Diagnostic> {
        let last = lines.word_count() - 1;
        let found = KINDS.iter().find(|(name, _)| name.as_bytes().eq_ignore_ascii_case(lines.word(last)));
        found.map(|(_, kind)| *kind).ok_or_else(|| {
            let names: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
            lines.error_at(last, format!("unknown gate `{}`, expected one of {}", lines.shown(last), names.join(", ")))
        })
    }

    /// Checks the shape of a line. Returns the words that are operands.
    fn operands(self, lines: &Lines<'_>) -> Result<Range<usize>, Diagnostic> {
        let (operands, results) = match self {
            Kind::Inv | Kind::Eq | Kind::Eqw => (1, 1),
            Kind::Mand => {
                let m = lines.number(1, "the number of results", 1 << 31)?;
                (m.saturating_mul(2), m)
            }
            _ => (2, 1),
        };
        shape(lines, operands, results)?;
        match self {
            // It does not read a wire.
            Kind::Eq => Ok(COUNTS..COUNTS),
            _ => Ok(COUNTS..COUNTS + operands as usize),
        }
    }
}

impl Reader {
    /// Adds the gate of a line, and those that have waited for it.
    fn line(&mut self, lines: &mut Lines<'_>) -> Result<(), Diagnostic> {
        let kind = Kind::of(lines)?;
        let mut missing = Vec::new();
        for k in kind.operands(lines)? {
            let number = self.number(lines, k)?;
            if self.map.get(number).is_none() {
                missing.push(number);
            }
        }
        if !missing.is_empty() {
            self.waiting.add(lines.taken(), &missing);
            return Ok(());
        }
        self.gate(lines, kind)?;
        self.waiting.wake(&mut self.set);
        while let Some(line) = self.waiting.next() {
            lines.replace(&line);
            let kind = Kind::of(lines)?;
            self.gate(lines, kind)?;
            self.waiting.wake(&mut self.set);
        }
        Ok(())
    }

    /// Checks that no gate still waits.
    fn check_none_waits(&self, lines: &mut Lines<'_>) -> Result<(), Diagnostic> {
        let mut set_later = std::collections::HashSet::new();
        let mut first = None;
        for line in self.waiting.rest() {
            lines.replace(line);
            let results = Kind::of(lines)?.operands(lines)?.end..lines.word_count() - 1;
            for k in results {
                set_later.insert(self.number(lines, k)?);
            }
        }
        for line in self.waiting.rest() {
            lines.replace(line);
            for k in Kind::of(lines)?.operands(lines)? {
                let number = self.number(lines, k)?;
                if self.map.get(number).is_some() {
                    continue;
                }
                if !set_later.contains(&number) {
                    return Err(lines.error_at(k, format!("wire {number} is read, but no gate sets it")));
                }
                let circle =
                    || lines.error_at(k, format!("wire {number} depends on itself: gates feed one another in a cycle"));
                first = first.or_else(|| Some(circle()));
            }
        }
        first.map_or(Ok(()), Err)
    }

    /// Adds a gate whose operands are all set.
    fn gate(&mut self, lines: &Lines<'_>, kind: Kind) -> Result<(), Diagnostic> {
        let wire = |k: usize| self.operand(lines, COUNTS + k);
        match kind {
            Kind::Eq => {
                let value = lines.number(COUNTS, "the constant", 2)?;
                self.result(lines, COUNTS + 1, Gate::Constant(value == 1))
            }
            Kind::Inv => {
                let a = wire(0)?;
                self.result(lines, COUNTS + 1, Gate::Not(a))
            }
            Kind::Eqw => {
                let a = wire(0)?;
                self.copy(lines, COUNTS + 1, a)
            }
            Kind::Mand => self.many_ands(lines),
            _ => {
                let (a, b) = (wire(0)?, wire(1)?);
                let gate = match kind {
                    Kind::And => Gate::And(a, b),
                    Kind::Nand => Gate::Not(self.push(lines, Gate::And(a, b))?),
                    Kind::Or => self.or(lines, a, b)?,
                    Kind::Nor => {
                        let or = self.or(lines, a, b)?;
                        Gate::Not(self.push(lines, or)?)
                    }
                    Kind::Xnor => Gate::Not(self.push(lines, Gate::Xor(a, b))?),
                    _ => Gate::Xor(a, b),
                };
                self.result(lines, COUNTS + 2, gate)
            }
        }
    }

    /// `a OR b` with one AND gate, as `(a XOR b) XOR (a AND b)`.
    fn or(&mut self, lines: &Lines<'_>, a: Wire, b: Wire) -> Result<Gate, Diagnostic> {
        let (one, both) = (self.push(lines, Gate::Xor(a, b))?, self.push(lines, Gate::And(a, b))?);
        Ok(Gate::Xor(one, both))
    }

    /// `2m m a.. b.. out..`: all operands are read before any result is set.
    fn many_ands(&mut self, lines: &Lines<'_>) -> Result<(), Diagnostic> {
        let m = lines.number(1, "the number of results", 1 << 31)? as usize;
        let ands: Vec<Gate> = (0..m)
            .map(|k| Ok(Gate::And(self.operand(lines, COUNTS + k)?, self.operand(lines, COUNTS + m + k)?)))
            .collect::<Result<_, Diagnostic>>()?;
        ands.into_iter().enumerate().try_for_each(|(k, and)| self.result(lines, COUNTS + 2 * m + k, and))
    }

    fn number(&self, lines: &Lines<'_>, k: usize) -> Result<u32, Diagnostic> {
        lines.number(k, "a wire", self.wires.into())
    }

    fn operand(&self, lines: &Lines<'_>, k: usize) -> Result<Wire, Diagnostic> {
        let number = self.number(lines, k)?;
        let unset = || lines.error_at(k, format!("wire {number} is read before any gate sets it"));
        self.map.get(number).map(Wire).ok_or_else(unset)
    }

    /// Adds a gate. A line may become several gates, so the head's limit on wires does not bound them.
    fn push(&mut self, lines: &Lines<'_>, gate: Gate) -> Result<Wire, Diagnostic> {
        let wires = u64::from(self.inputs) + self.gates.len() as u64 + 1;
        if wires > Circuit::MAX_WIRES {
            let error = CircuitError::TooManyWires { wires, limit: Circuit::MAX_WIRES };
            return Err(lines.error_at(0, error.to_string()));
        }
        self.gates.push(gate);
        Ok(Wire(wires as u32 - 1))
    }

    fn result(&mut self, lines: &Lines<'_>, k: usize, gate: Gate) -> Result<(), Diagnostic> {
        let wire = self.push(lines, gate)?;
        self.copy(lines, k, wire)
    }

    /// Maps the number in word `k` to a wire.
    fn copy(&mut self, lines: &Lines<'_>, k: usize, wire: Wire) -> Result<(), Diagnostic> {
        let number = self.number(lines, k)?;
        if number < self.inputs {
            return Err(lines.error_at(k, format!("wire {number} is an input, a gate cannot set it")));
        }
        match self.map.set(number, wire.0) {
            true => self.set.push(number),
            false => return Err(lines.error_at(k, format!("wire {number} is set twice"))),
        }
        Ok(())
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
