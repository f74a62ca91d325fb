//! Circuits written as statements.

use std::collections::HashMap;

use garblet_circuit::{Circuit, Gate, Port, Wire, diagnostic::clip};

use super::{is_name, reference::Reference};

/// A circuit that grows statement by statement.
pub(super) struct Statements<'a> {
    inputs: HashMap<&'a str, (u32, u32)>,
    outputs: HashMap<&'a str, (u32, u32)>,
    locals: HashMap<&'a str, Wire>,
    input_count: u32,
    gates: Vec<Gate>,
    results: Vec<Option<Wire>>,
}

impl<'a> Statements<'a> {
    /// Begins a circuit with those ports; their widths are within the limits of [`Circuit`].
    pub(super) fn new(inputs: &'a [Port], outputs: &'a [Port]) -> Self {
        let (inputs, input_count) = places(inputs);
        let (outputs, output_count) = places(outputs);
        Statements {
            inputs,
            outputs,
            locals: HashMap::new(),
            input_count,
            gates: Vec::new(),
            results: vec![None; output_count as usize],
        }
    }

    /// Appends `target = operand`, `target = operand & operand` or `target = operand ^ operand`.
    pub(super) fn add(&mut self, statement: &'a str) -> Result<(), String> {
        let Some((target, value)) = statement.split_once('=') else {
            return Err(format!("expected `name = ..`, got `{}`", clip(statement)));
        };
        let wire = match value.split_once(['&', '^']) {
            None => self.operand(value)?,
            Some((left, right)) => {
                let (a, b) = (self.operand(left)?, self.operand(right)?);
                self.push(if value.as_bytes()[left.len()] == b'&' { Gate::And(a, b) } else { Gate::Xor(a, b) })
            }
        };
        self.set(target.trim(), wire)
    }

    /// The circuit, once every output is set.
    pub(super) fn finish(self) -> Result<Circuit, String> {
        let unset = self.results.iter().position(Option::is_none);
        if let Some(at) = unset {
            let port = self.outputs.iter().find(|(_, (start, width))| (*start..start + width).contains(&(at as u32)));
            let (name, start) = port.map_or(("", 0), |(name, (start, _))| (name, *start));
            return Err(format!("wire {} of output `{name}` is set by no gate", at as u32 - start));
        }
        let outputs = self.results.into_iter().flatten().collect();
        Circuit::new(self.input_count, self.gates, outputs).map_err(|e| e.to_string())
    }

    fn push(&mut self, gate: Gate) -> Wire {
        self.gates.push(gate);
        Wire(self.input_count + self.gates.len() as u32 - 1)
    }

    fn operand(&mut self, text: &'a str) -> Result<Wire, String> {
        let text = text.trim();
        if let Some(rest) = text.strip_prefix('!') {
            // More than one negation would only invite very long statements.
            let rest = rest.trim_start();
            if rest.starts_with('!') {
                return Err("expected one `!` at most".into());
            }
            let operand = self.operand(rest)?;
            return Ok(self.push(Gate::Not(operand)));
        }
        match text {
            "0" | "1" => return Ok(self.push(Gate::Constant(text == "1"))),
            _ if text.contains(['&', '^']) => return Err("expected at most one `&` or `^`".into()),
            _ => (),
        }
        if let Some(&wire) = self.locals.get(text) {
            return Ok(wire);
        }
        let reference = Reference::parse(text, None)?;
        if let Some(&place) = self.inputs.get(reference.name) {
            return wire_of(&reference, place).map(Wire);
        }
        if let Some(&place) = self.outputs.get(reference.name) {
            let wire = wire_of(&reference, place)? as usize;
            return self.results[wire].ok_or_else(|| format!("`{}` is read before it is set", clip(text)));
        }
        Err(format!("`{}` is read before it is set", clip(text)))
    }

    fn set(&mut self, target: &'a str, wire: Wire) -> Result<(), String> {
        let reference = Reference::parse(target, None)?;
        if self.inputs.contains_key(reference.name) {
            return Err(format!("`{}` is an input, it cannot be set", reference.name));
        }
        let twice = || format!("`{}` is set twice", clip(target));
        if let Some(&place) = self.outputs.get(reference.name) {
            let result = &mut self.results[wire_of(&reference, place)? as usize];
            return result.replace(wire).map_or(Ok(()), |_| Err(twice()));
        }
        if !is_name(target) {
            return Err(format!("there is no output `{}`", clip(reference.name)));
        }
        self.locals.insert(target, wire).map_or(Ok(()), |_| Err(twice()))
    }
}

fn places(ports: &[Port]) -> (HashMap<&str, (u32, u32)>, u32) {
    let mut start = 0;
    let place = |port: &'_ Port| {
        start += port.width();
        (start - port.width(), port.width())
    };
    let all = ports.iter().map(|p| p.name.as_str()).zip(ports.iter().map(place).collect::<Vec<_>>()).collect();
    (all, start)
}

/// The one wire of a reference to a port at `(start, width)`.
fn wire_of(reference: &Reference<'_>, (start, width): (u32, u32)) -> Result<u32, String> {
    let name = reference.name;
    match &reference.wires {
        _ if reference.port.is_some() => Err(format!("`{name}` has no ports")),
        None if width == 1 => Ok(start),
        None => Err(format!("`{name}` has {width} wires, expected one of them, as in `{name}[0]`")),
        Some(range) if range.end - range.start != 1 => Err(format!("expected one wire of `{name}`, got {range:?}")),
        Some(range) if range.start >= width.into() => {
            Err(format!("`{name}` has {width} wires, got `[{}]`", range.start))
        }
        Some(range) => Ok(start + range.start as u32),
    }
}

#[cfg(test)]
mod tests {
    use garblet_circuit::{Type, evaluate_circuit};

    use super::*;

    fn build(statements: &[&str]) -> Result<Circuit, String> {
        let inputs = [Port::new("a", Type::Bits(2)), Port::new("b", Type::Bool)];
        let outputs = [Port::new("x", Type::Bool), Port::new("y", Type::Bits(2))];
        let mut circuit = Statements::new(&inputs, &outputs);
        statements.iter().try_for_each(|s| circuit.add(s))?;
        circuit.finish()
    }

    #[test]
    fn statements_make_a_circuit() {
        let circuit = build(&["t = a[0] & !b", " x=t^a[1] ", "y[1] = 1", "y[0] = !x"]).unwrap();
        let (a0, a1, b) = (0b1010_1010, 0b1100_1100, 0b1111_0000);
        let x = (a0 & !b) ^ a1;
        assert_eq!(evaluate_circuit(&circuit, &[a0, a1, b]), [x, !x, u64::MAX]);
    }

    #[test]
    fn wrong_statements_say_what_is_wrong() {
        for (statement, expected) in [
            ("x", "expected `name = ..`, got `x`"),
            ("x = a", "`a` has 2 wires, expected one of them, as in `a[0]`"),
            ("x = a[2]", "`a` has 2 wires, got `[2]`"),
            ("x = a[0..2]", "expected one wire of `a`, got 0..2"),
            ("x = c", "`c` is read before it is set"),
            ("x = y[0]", "`y[0]` is read before it is set"),
            ("x = b & b & b", "expected at most one `&` or `^`"),
            ("x = !!b", "expected one `!` at most"),
            ("x = ", "expected a name, got ``"),
            ("b = 1", "`b` is an input, it cannot be set"),
            ("z[0] = b", "there is no output `z`"),
            ("y = b", "`y` has 2 wires, expected one of them, as in `y[0]`"),
            ("x = b", "wire 0 of output `y` is set by no gate"),
            ("x = b.c", "`b` has no ports"),
        ] {
            assert_eq!(build(&[statement]), Err(expected.into()), "{statement}");
        }
        assert_eq!(build(&["x = b", "x = b"]), Err("`x` is set twice".into()));
        assert_eq!(build(&["t = b", "t = b"]), Err("`t` is set twice".into()));
    }
}
