//! Writes a binary program of as many gates as wanted, to measure how it is loaded and run:
//! `cargo run --release -p garblet-formats --example large_circuit -- 100000000 large.gbc`.
//!
//! Two parties have 256 bits each. A fifth of the gates are AND; each gate reads wires that were set shortly before, as in a chain of ciphers.

use std::{error::Error, fs::File, io::BufWriter, sync::Arc};

use garblet_circuit::{
    Circuit, Component, Gate, OneComponent, Party, Port, Program, Type, Wire,
    diagnostic::Diagnostic,
    stored::{GateBlocks, Shape, StoredGates},
};
use garblet_formats::Format;

/// Inputs of each party, and outputs.
const WIDTH: u32 = 256;

/// Gates by their numbers.
struct Made(Shape);

impl GateBlocks for Made {
    fn read(&self, block: usize, gates: &mut Vec<Gate>) -> Result<(), Diagnostic> {
        let (first, count) = self.0.block(block);
        gates.extend((first..).take(count as usize).map(gate));
        Ok(())
    }
}

fn gate(own: u32) -> Gate {
    let random = u64::from(own).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let back = |least: u64, number: u64| Wire(own - (least + number) as u32);
    match own % 5 {
        0 => Gate::And(back(64, random % 150), back(214, (random >> 8) % 200)),
        _ => Gate::Xor(back(1, random % 30), back(31, (random >> 8) % 180)),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(count), Some(path)) = (args.next(), args.next()) else {
        return Err("expected a number of gates and a file".into());
    };
    let shape = Shape { input_count: 2 * WIDTH, gate_count: count.parse()?, block_gates: 1 << 18 };
    let ports = |names: &[&str]| names.iter().map(|name| Port::new(*name, Type::Bits(WIDTH))).collect::<Vec<_>>();
    let (inputs, outputs) = (ports(&["a", "b"]), ports(&["y"]));
    let mut encoded = OneComponent::new(&inputs, &outputs, shape.input_count, shape.gate_count);
    let end = shape.input_count + shape.gate_count;
    (shape.input_count..end).for_each(|own| encoded.gate(gate(own)));
    let wanted = (end - WIDTH..end).map(Wire).collect();
    let gates = StoredGates::new(shape, wanted, Arc::new(Made(shape)), encoded)?.ok_or("too few gates")?;
    let component = Component::new("large", inputs, outputs, Circuit::stored(Arc::new(gates)))?;
    let program = Program::from_component(component, &[Party(0), Party(1)])?;
    let mut out = BufWriter::new(File::create(path)?);
    Ok(Format::Binary.write(&program, &mut out)?)
}
