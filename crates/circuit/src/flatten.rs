//! A whole program as one circuit.

use crate::{
    circuit::Circuit,
    component::Component,
    error::CircuitError,
    gate::{Gate, Wire},
    program::{Party, Program},
    walk::Walk,
};

/// Stand-ins for the constants during the walk; no wire has these numbers.
const CONSTANTS: [u32; 2] = [u32::MAX - 1, u32::MAX];

impl Program {
    /// The program as one component with the program's ports.
    ///
    /// *Cost*: the gates of all instances, and one for each constant that a link carries.
    ///
    /// *Errors*: more wires than a circuit may have.
    pub fn flatten(&self) -> Result<Component, CircuitError> {
        let ports = |side: &mut dyn Iterator<Item = &crate::Port>| side.cloned().collect::<Vec<_>>();
        let inputs = ports(&mut self.inputs().iter().map(|i| &i.port));
        let outputs = ports(&mut self.outputs().iter().map(|o| &o.port));
        Component::new(self.name(), inputs, outputs, self.flat_circuit()?)
    }

    /// The program with all its instances joined into one, with the same ports, owners and recipients.
    ///
    /// *Errors*: as [`Program::flatten`].
    pub fn flattened(&self) -> Result<Program, CircuitError> {
        let owners: Vec<Party> = self.inputs().iter().map(|i| i.owner).collect();
        let mut flat = Program::from_component(self.flatten()?, &owners)?;
        for (k, output) in self.outputs().iter().enumerate() {
            flat.set_recipients(k, output.recipients.clone());
        }
        Ok(flat)
    }

    /// The input bits of the program, if one circuit may have its wires.
    ///
    /// *Errors*: as [`Program::flatten`].
    pub(crate) fn check_flat_wires(&self) -> Result<u32, CircuitError> {
        let input_count: u64 = self.inputs().iter().map(|i| u64::from(i.port.width())).sum();
        let ids = (0..self.instance_count()).map(|i| crate::InstanceId(i as u32));
        let gate_count: u64 = ids.map(|id| self.component_of(id).circuit().gate_count() as u64).sum();
        let wires = input_count + gate_count + CONSTANTS.len() as u64;
        if wires > Circuit::MAX_WIRES {
            return Err(CircuitError::TooManyWires { wires, limit: Circuit::MAX_WIRES });
        }
        Ok(input_count as u32)
    }

    fn flat_circuit(&self) -> Result<Circuit, CircuitError> {
        let mut flat = Flat { input_count: self.check_flat_wires()?, gates: Vec::new(), constants: [None; 2] };
        let mut next = 0..flat.input_count;
        let inputs = self.inputs().iter().map(|i| next.by_ref().take(i.port.width() as usize).collect());
        let mut walk = Walk::new(self, inputs.collect(), CONSTANTS);
        let mut map = Vec::new();
        while let Some(id) = walk.next_instance(&mut map) {
            let circuit = self.component_of(id).circuit();
            flat.append(circuit, &mut map);
            let outputs: Vec<u32> = circuit.outputs().iter().map(|w| map[w.index()]).collect();
            walk.finish(id, &outputs);
            map.clear();
        }
        let outputs = walk.into_outputs().iter().flatten().map(|&w| Wire(flat.wire(w))).collect();
        Circuit::new(flat.input_count, flat.gates, outputs)
    }
}

/// The circuit so far.
struct Flat {
    input_count: u32,
    gates: Vec<Gate>,
    constants: [Option<u32>; 2],
}

impl Flat {
    fn push(&mut self, gate: Gate) -> u32 {
        self.gates.push(gate);
        self.input_count + self.gates.len() as u32 - 1
    }

    /// The wire, or the constant's wire if the number stands for a constant.
    fn wire(&mut self, wire: u32) -> u32 {
        let Some(value) = CONSTANTS.iter().position(|&c| c == wire) else { return wire };
        match self.constants[value] {
            Some(wire) => wire,
            None => {
                let wire = self.push(Gate::Constant(value == 1));
                self.constants[value] = Some(wire);
                wire
            }
        }
    }

    /// Appends a circuit whose inputs are the wires in `map`, and appends the wires of its gates to `map`.
    fn append(&mut self, circuit: &Circuit, map: &mut Vec<u32>) {
        map.iter_mut().for_each(|wire| *wire = self.wire(*wire));
        map.reserve_exact(circuit.gates().len());
        for gate in circuit.gates() {
            let at = |wire: Wire| Wire(map[wire.index()]);
            let moved = match *gate {
                Gate::Xor(a, b) => Gate::Xor(at(a), at(b)),
                Gate::And(a, b) => Gate::And(at(a), at(b)),
                Gate::Not(a) => Gate::Not(at(a)),
                Gate::Constant(value) => Gate::Constant(value),
            };
            map.push(self.push(moved));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;
    use crate::{Port, Recipients, Type, evaluate, random};

    proptest! {
        #[test]
        fn flat_programs_compute_the_same(seed: u64) {
            let rng = &mut StdRng::seed_from_u64(seed);
            let program = random::program(rng, 100, 3);
            let flat = program.flattened().unwrap();
            prop_assert_eq!(flat.instance_count(), 1);
            prop_assert_eq!(flat.stats().and, program.stats().and);
            for (a, b) in flat.outputs().iter().zip(program.outputs()) {
                prop_assert_eq!((&a.port, &a.recipients), (&b.port, &b.recipients));
            }
            prop_assert_eq!(flat.inputs(), program.inputs());
            let inputs = random::inputs(rng, &program);
            prop_assert_eq!(evaluate(&flat, &inputs), evaluate(&program, &inputs));
        }
    }

    #[test]
    fn programs_that_are_too_large_for_one_circuit_are_refused() {
        let circuit = Circuit::new(1, vec![Gate::Not(Wire(0)); 1 << 16], vec![]).unwrap();
        let component = Component::new("large", vec![Port::new("a", Type::Bool)], vec![], circuit).unwrap();
        let mut program = Program::new("too large");
        let id = program.add_component(component);
        let input = program.add_input(Port::new("x", Type::Bool), Party(0)).unwrap();
        let link = program.input_link(input);
        for _ in 0..1 << 15 {
            program.add_instance(id, &[link]).unwrap();
        }
        program.add_output(Port::new("y", Type::Bool), Recipients::All, vec![link]).unwrap();
        assert!(matches!(program.flatten(), Err(CircuitError::TooManyWires { .. })));
    }
}
