//! What keys, solderings and commitments have in common: XOR and NOT are sums, and AND gates come one after another.

use std::ops::BitXor;

use garblet_circuit::{Gate, Program, Walk};
use zeroize::Zeroize;

use super::{EVALUATOR, plan::Plan};

/// Goes through a program: `and` makes the output of every AND gate from its inputs, in an order that is the program's.
///
/// *Shape*: `inputs` as the program's; `one` stands for the constant true, and is what NOT adds. One value per wire of each
/// output comes back.
pub(super) fn walk<W>(program: &Program, inputs: Vec<Box<[W]>>, one: W, mut and: impl FnMut(W, W) -> W) -> Vec<Box<[W]>>
where
    W: Copy + Default + Zeroize + BitXor<Output = W>,
{
    let mut walk = Walk::new(program, inputs, [W::default(), one]);
    let (mut wires, mut outputs) = (Vec::new(), Vec::new());
    while let Some(instance) = walk.next_instance(&mut wires) {
        let circuit = program.component_of(instance).circuit();
        for gate in circuit.gates() {
            wires.push(match *gate {
                Gate::Xor(a, b) => wires[a.index()] ^ wires[b.index()],
                Gate::And(a, b) => and(wires[a.index()], wires[b.index()]),
                Gate::Not(a) => wires[a.index()] ^ one,
                Gate::Constant(false) => W::default(),
                Gate::Constant(true) => one,
            });
        }
        outputs.extend(circuit.outputs().iter().map(|wire| wires[wire.index()]));
        walk.finish(instance, &outputs);
        wires.zeroize();
        outputs.zeroize();
    }
    walk.into_outputs()
}

/// What joins the constructor's inputs, and those that are read, two by two to the input buckets.
pub(super) fn input_solderings<W>(plan: &Plan, inputs: &[W], buckets: &[[W; 2]]) -> Vec<W>
where
    W: Copy + BitXor<Output = W>,
{
    let owners = plan.owners();
    let own: Vec<W> = inputs.iter().zip(&owners).filter(|(_, owner)| **owner != EVALUATOR).map(|(&w, _)| w).collect();
    let join = |(pair, bucket): (&[W], &[W; 2])| {
        let ends = pair.iter().zip(bucket).map(|(&input, &end)| input ^ end);
        ends.collect::<Vec<W>>()
    };
    own.chunks(2).zip(buckets).flat_map(join).collect()
}
