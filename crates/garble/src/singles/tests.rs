use garblet_circuit::{self as circuit, Circuit, Gate, Port, Type, Wire};
use garblet_primitives::{Delta, Prg};

use super::*;
use crate::{ComponentGarbling, GarblingConfig, Seeds};

/// Gates by number: the zero labels of both inputs, the table, and the zero label of the output.
pub(crate) struct Garbled {
    zeros: Vec<Block>,
    tables: Vec<u8>,
    given: Vec<Block>,
}

impl Garbled {
    pub(crate) fn new(rng: &mut Prg, delta: &Delta, seeds: &Seeds, count: usize) -> Self {
        let bit = |name: &str| Port::new(name, Type::Bool);
        let and = Circuit::new(2, vec![Gate::And(Wire(0), Wire(1))], vec![Wire(2)]).expect("a gate");
        let and = circuit::Component::new("and", vec![bit("a"), bit("b")], vec![bit("c")], and).expect("named");
        let zeros: Vec<Block> = (0..2 * count).map(|_| rng.next_block()).collect();
        let (mut tables, mut given) = (vec![0; 32 * count], vec![Block::ZERO; count]);
        let instances = ComponentGarbling::new(&and, GarblingConfig::default());
        instances.garbler(delta, seeds, 0).garble(0, count, &zeros, &mut tables, &mut given);
        Garbled { zeros, tables, given }
    }

    /// A gate, joined to wires with these zero labels.
    pub(crate) fn gate(&self, number: usize, [left, right, output]: [Block; 3]) -> SolderedGate {
        let table = bytemuck::pod_read_unaligned(&self.tables[32 * number..][..32]);
        let mut gate = SolderedGate::new(number as u64, table);
        gate.left = left ^ self.zeros[2 * number];
        gate.right = right ^ self.zeros[2 * number + 1];
        gate.output = output ^ self.given[number];
        gate
    }
}

#[test]
fn a_bucket_by_itself_agrees_with_each_of_its_gates() {
    let mut rng = Prg::new(Block::from_u128(4));
    let (delta, seeds) = (Delta::random(&mut rng), Seeds::new(rng.next_block(), rng.next_block()));
    let garbled = Garbled::new(&mut rng, &delta, &seeds, 3000);
    let wires: [Block; 3] = std::array::from_fn(|_| rng.next_block());
    let gates: Vec<SolderedGate> = (0..3000).step_by(333).map(|number| garbled.gate(number, wires)).collect();
    for backend in Backend::available() {
        let evaluator = SolderedGates::with_backend(backend, seeds.hash);
        for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
            let [left, right, output] = [a, b, a && b].map(|bit| Block::mask(bit) & delta.block());
            let given = evaluator.each(&gates, [wires[0] ^ left, wires[1] ^ right]);
            assert!(given.len() == gates.len() && given.iter().all(|&key| key == wires[2] ^ output), "{backend}");
        }
    }
}
