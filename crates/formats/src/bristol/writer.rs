//! Writes a component as a circuit file.

use std::io::{self, BufWriter, Write};

use garblet_circuit::{Circuit, Component, Gate, Port};

use crate::WriteError;

/// Writes Bristol Fashion.
pub(crate) fn write_fashion(component: &Component, out: &mut dyn Write) -> Result<(), WriteError> {
    let circuit = component.circuit();
    let numbers = Numbers::new(circuit, 0);
    let out = &mut BufWriter::new(out);
    writeln!(out, "{} {}", circuit.gates().len() + numbers.copies.len(), numbers.wires)?;
    for side in [component.inputs(), component.outputs()] {
        write!(out, "{}", side.len())?;
        side.iter().try_for_each(|port| write!(out, " {}", port.width()))?;
        writeln!(out)?;
    }
    writeln!(out)?;
    let constant = |out: &mut BufWriter<_>, value, wire| writeln!(out, "1 1 {} {wire} EQ", u8::from(value));
    write_gates(circuit, &numbers, out, constant)?;
    for &(from, to) in &numbers.copies {
        writeln!(out, "1 1 {from} {to} EQW")?;
    }
    out.flush()?;
    Ok(())
}

/// Writes the older Bristol format, where constants and copies are made of XOR and INV.
pub(crate) fn write_old(component: &Component, out: &mut dyn Write) -> Result<(), WriteError> {
    let circuit = component.circuit();
    let mut inputs: Vec<&Port> = component.inputs().iter().collect();
    inputs.retain(|port| port.width() > 0);
    if inputs.len() > 2 {
        return Err(WriteError::TooManyInputs { inputs: inputs.len() });
    }
    let constants = circuit.gates().iter().any(|g| matches!(g, Gate::Constant(_)));
    let plain = Numbers::new(circuit, 0);
    // One wire is zero: the XOR of an input wire with itself.
    let zero_wire = constants || !plain.copies.is_empty();
    if zero_wire && circuit.input_count() == 0 {
        return Err(WriteError::ConstantWithoutInput);
    }
    let numbers = if zero_wire { Numbers::new(circuit, 1) } else { plain };
    let zero = circuit.input_count();
    let out = &mut BufWriter::new(out);
    let gates = circuit.gates().len() + numbers.copies.len() + usize::from(zero_wire);
    let width = |k: usize| inputs.get(k).map_or(0, |port| port.width());
    writeln!(out, "{gates} {}", numbers.wires)?;
    writeln!(out, "{} {} {}\n", width(0), width(1), circuit.outputs().len())?;
    if zero_wire {
        writeln!(out, "2 1 0 0 {zero} XOR")?;
    }
    let constant = |out: &mut BufWriter<_>, value: bool, wire| match value {
        false => writeln!(out, "2 1 0 0 {wire} XOR"),
        true => writeln!(out, "1 1 {zero} {wire} INV"),
    };
    write_gates(circuit, &numbers, out, constant)?;
    for &(from, to) in &numbers.copies {
        writeln!(out, "2 1 {from} {zero} {to} XOR")?;
    }
    out.flush()?;
    Ok(())
}

fn write_gates<W: Write>(
    circuit: &Circuit,
    numbers: &Numbers,
    out: &mut W,
    constant: impl Fn(&mut W, bool, u32) -> io::Result<()>,
) -> io::Result<()> {
    for (gate, &to) in circuit.gates().iter().zip(&numbers.wire[circuit.input_count() as usize..]) {
        let number = |wire: garblet_circuit::Wire| numbers.wire[wire.index()];
        match *gate {
            Gate::Xor(a, b) => writeln!(out, "2 1 {} {} {to} XOR", number(a), number(b)),
            Gate::And(a, b) => writeln!(out, "2 1 {} {} {to} AND", number(a), number(b)),
            Gate::Not(a) => writeln!(out, "1 1 {} {to} INV", number(a)),
            Gate::Constant(value) => constant(out, value, to),
        }?;
    }
    Ok(())
}

/// Wire numbers for a file, in which the outputs must be the last wires.
struct Numbers {
    wire: Vec<u32>,
    /// Outputs that are inputs or equal another output, as `(from, to)`.
    copies: Vec<(u32, u32)>,
    wires: u64,
}

impl Numbers {
    /// Leaves `spare` numbers unused after the inputs.
    fn new(circuit: &Circuit, spare: u32) -> Self {
        const NONE: u32 = u32::MAX;
        let inputs = circuit.input_count();
        let outputs = circuit.outputs();
        let mut wire = vec![NONE; circuit.wire_count()];
        (0..inputs).for_each(|i| wire[i as usize] = i);
        // First the place among the outputs, whose beginning is known once all others are counted.
        let mut copied = Vec::new();
        for (k, output) in outputs.iter().enumerate() {
            match wire[output.index()] {
                NONE => wire[output.index()] = k as u32,
                _ => copied.push((output.index(), k as u32)),
            }
        }
        let others = circuit.gates().len() - (outputs.len() - copied.len());
        let first_output = inputs + spare + others as u32;
        let mut next = inputs + spare;
        for number in &mut wire[inputs as usize..] {
            if *number == NONE {
                *number = next;
                next += 1;
            } else {
                *number += first_output;
            }
        }
        let copies = copied.into_iter().map(|(from, k)| (wire[from], first_output + k)).collect();
        Numbers { wire, copies, wires: u64::from(first_output) + outputs.len() as u64 }
    }
}
