//! Runs circuits and programs on plain values, for the tests of the builder and the library.

use garblet_circuit::{Circuit, Component, Program, evaluate_circuit, evaluate_lanes};

/// Output wires for given input wires.
pub(crate) fn circuit(circuit: &Circuit, inputs: &[bool]) -> Vec<bool> {
    let lanes: Vec<u64> = inputs.iter().map(|&bit| bit.into()).collect();
    evaluate_circuit(circuit, &lanes).into_iter().map(|lanes| lanes & 1 == 1).collect()
}

/// Output ports, at most 128 wires each, for input ports likewise.
pub(crate) fn component(component: &Component, inputs: &[u128]) -> Vec<u128> {
    let ports = component.inputs().iter().zip(inputs);
    let wires: Vec<bool> = ports.flat_map(|(port, &x)| to_bits(x, port.width() as usize)).collect();
    let out = circuit(component.circuit(), &wires);
    let mut rest = &out[..];
    let mut take = |width: usize| {
        let (own, after) = rest.split_at(width);
        rest = after;
        from_bits(own)
    };
    component.outputs().iter().map(|port| take(port.width() as usize)).collect()
}

/// Output ports of a program for given wires of its input ports.
pub(crate) fn program(program: &Program, inputs: &[Vec<bool>]) -> Vec<Vec<bool>> {
    let lanes = inputs.iter().map(|wires| wires.iter().map(|&bit| bit.into()).collect()).collect();
    let outputs = evaluate_lanes(program, lanes);
    outputs.iter().map(|wires| wires.iter().map(|lanes| lanes & 1 == 1).collect()).collect()
}

/// The low `width` bits.
pub(crate) fn to_bits(x: u128, width: usize) -> Vec<bool> {
    (0..width).map(|i| i < 128 && x >> i & 1 == 1).collect()
}

/// The integer of at most 128 bits.
pub(crate) fn from_bits(bits: &[bool]) -> u128 {
    bits.iter().enumerate().fold(0, |x, (i, &b)| x | u128::from(b) << i)
}

/// The bits of a byte string.
pub(crate) fn bytes_to_bits(bytes: &[u8]) -> Vec<bool> {
    bytes.iter().flat_map(|&b| to_bits(b.into(), 8)).collect()
}

/// The byte string of some bits.
pub(crate) fn bits_to_bytes(bits: &[bool]) -> Vec<u8> {
    bits.chunks(8).map(|b| from_bits(b) as u8).collect()
}
