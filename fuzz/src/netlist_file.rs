//! Any bytes as a netlist of each kind, or refused. What is read can be written as Bristol Fashion, and computes the same when read again and with fewer gates.

use garblet_circuit::{Bits, evaluate};
use garblet_formats::{Format, front_end::FrontEnds};

const KINDS: [&str; 6] = ["n.aag", "n.aig", "n.blif", "n.json", "n.bench", "n.aby"];

pub fn run(bytes: &[u8]) {
    let Some((kind, text)) = bytes.split_first() else { return };
    let file = KINDS[*kind as usize % KINDS.len()];
    let program = match FrontEnds::standard().read(file, &mut &*text) {
        Ok(program) => program,
        Err(diagnostics) => return assert!(!diagnostics.render().is_empty()),
    };
    let wires: u64 = program.inputs().iter().map(|input| input.port.ty.width()).sum();
    // A head of AIGER may declare many inputs.
    if wires > 1 << 12 {
        return;
    }
    let mut written = Vec::new();
    Format::BristolFashion.write(&program, &mut written).expect("a circuit can be written");
    let again = FrontEnds::standard().read("again.txt", &mut &written[..]).expect("what was written can be read");
    let bit = |k: u64| text.get(k as usize % text.len().max(1)).is_some_and(|byte| byte >> (k % 8) & 1 == 1);
    let values: Vec<Bits> =
        program.inputs().iter().map(|input| (0..input.port.ty.width()).map(bit).collect()).collect();
    let fewer = FrontEnds::standard().optimising().read(file, &mut &*text).expect("it can be read");
    for other in [again, fewer] {
        assert_eq!(evaluate(&other, &values), evaluate(&program, &values));
    }
}
