//! The outputs of a program's components that nothing reads.

use std::sync::Arc;

use garblet_circuit::{Circuit, Component, Gate, InstanceId, Link, Program, Source};

/// The wires of each component that at least one instance needs.
pub(super) struct Needs {
    outputs: Vec<Vec<bool>>,
    inputs: Vec<Vec<bool>>,
}

impl Needs {
    /// Computes what the program's outputs need, through all links.
    ///
    /// *Cost*: one walk over all links for each round that finds more, at most once for each layer of components.
    pub(super) fn of(program: &Program) -> Self {
        let none = |width: fn(&Component) -> u32| {
            program.components().iter().map(|c| vec![false; width(c) as usize]).collect::<Vec<_>>()
        };
        let mut needs = Needs { outputs: none(Component::output_width), inputs: none(Component::input_width) };
        for output in program.outputs() {
            needs.need(program, output.links.iter().copied(), |_| true);
        }
        loop {
            for (component, (outputs, inputs)) in
                program.components().iter().zip(needs.outputs.iter().zip(&mut needs.inputs))
            {
                *inputs = read_inputs(component.circuit(), outputs);
            }
            let mut more = false;
            for id in (0..program.instance_count()).rev().map(|k| InstanceId(k as u32)) {
                let inputs = std::mem::take(&mut needs.inputs[program.component_id(id).0 as usize]);
                more |= needs.need(program, program.instance_links(id), |wire| inputs[wire]);
                needs.inputs[program.component_id(id).0 as usize] = inputs;
            }
            if !more {
                return needs;
            }
        }
    }

    /// Marks the needed wires that links read as needed; returns whether any was new.
    fn need(
        &mut self,
        program: &Program,
        links: impl Iterator<Item = Link>,
        is_needed: impl Fn(usize) -> bool,
    ) -> bool {
        let mut at = 0;
        let mut more = false;
        for link in links {
            if let Source::Instance(id) = link.source {
                let outputs = &mut self.outputs[program.component_id(id).0 as usize];
                for wire in (0..link.len as usize).filter(|wire| is_needed(at + wire)) {
                    more |= !std::mem::replace(&mut outputs[link.start as usize + wire], true);
                }
            }
            at += link.len as usize;
        }
        more
    }

    /// The component's circuit with the constant false in place of unneeded outputs; none if all outputs are needed.
    pub(super) fn without_dead_outputs(&self, number: usize, component: &Arc<Component>) -> Option<Circuit> {
        let circuit = component.circuit();
        let needed = &self.outputs[number];
        if needed.iter().all(|&needed| needed) {
            return None;
        }
        let mut gates = circuit.gates().to_vec();
        gates.push(Gate::Constant(false));
        let dead = garblet_circuit::Wire(circuit.wire_count() as u32);
        let outputs = circuit.outputs().iter().zip(needed).map(|(&wire, &needed)| if needed { wire } else { dead });
        Circuit::new(circuit.input_count(), gates, outputs.collect()).ok()
    }
}

/// The inputs that some outputs of a circuit depend on.
fn read_inputs(circuit: &Circuit, outputs: &[bool]) -> Vec<bool> {
    let mut live = vec![false; circuit.wire_count()];
    for (wire, _) in circuit.outputs().iter().zip(outputs).filter(|(_, needed)| **needed) {
        live[wire.index()] = true;
    }
    let inputs = circuit.input_count() as usize;
    for (g, gate) in circuit.gates().iter().enumerate().rev() {
        if live[inputs + g] {
            gate.operands().for_each(|wire| live[wire.index()] = true);
        }
    }
    live.truncate(inputs);
    live
}

#[cfg(test)]
mod tests {
    use garblet_circuit::{Bits, Party, Recipients, Type, evaluate};

    use super::*;
    use crate::{
        builder::{CircuitBuilder, ProgramBuilder, Unsigned},
        optimise::{Effort, optimise_program},
    };

    /// Products and sums; a chain uses only the sums.
    fn chain_of_sums() -> Program {
        let mut c = CircuitBuilder::new("both");
        let (a, b): (Unsigned, Unsigned) = (c.input("a", Type::Unsigned(8)), c.input("b", Type::Unsigned(8)));
        let (product, sum) = (c.mul(&a, &b), c.add(&a, &b));
        c.output("product", &product);
        c.output("sum", &sum);
        let mut p = ProgramBuilder::new("chain");
        let component = p.component(c.finish().unwrap());
        let a = p.input("a", Type::Unsigned(8), Party(0)).unwrap();
        let mut b = p.input("b", Type::Unsigned(8), Party(1)).unwrap();
        for _ in 0..3 {
            b = p.instance(component, &[&a, &b]).unwrap().remove(1);
        }
        p.output("out", &b, Recipients::All).unwrap();
        p.finish()
    }

    #[test]
    fn outputs_that_no_instance_is_asked_for_cost_nothing() {
        let program = chain_of_sums();
        let better = optimise_program(&program, Effort::Quick).unwrap();
        assert_eq!(better.stats().and, 3 * 7);
        assert!(program.stats().and >= 3 * 57);
        let inputs = [Bits::from_u128(17, 8), Bits::from_u128(5, 8)];
        assert_eq!(evaluate(&better, &inputs), evaluate(&program, &inputs));
    }

    #[test]
    fn needs_go_back_through_links() {
        let program = chain_of_sums();
        let needs = Needs::of(&program);
        let expected: Vec<bool> = (0..16).map(|wire| wire >= 8).collect();
        assert_eq!(needs.outputs, [expected]);
        assert_eq!(needs.inputs, [vec![true; 16]]);
    }
}
