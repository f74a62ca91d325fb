//! Instances with inputs that are alike.

use std::collections::HashMap;

use crate::{
    Circuit, Gate, Program,
    deep::Deep,
    depth::{Frame, alone, fresh_inputs, pass},
    walk::Walk,
};

/// Added to the number of an input that no gate reads, so that it is no node of a fold.
const PLAIN: u64 = 1 << 40;

/// Instances of one component whose inputs are alike, as far as gates read them.
pub(super) struct Fold {
    pub(super) component: u32,
    /// The inputs that gates read, as if the instance were alone.
    pub(super) near: Vec<Deep>,
    outputs: Vec<Deep>,
    /// The number of gates that are not folded away.
    gates: u32,
}

/// An instance's fold, and the number of its shifts.
pub(super) struct Folded {
    pub(super) fold: u32,
    pub(super) shifts: u32,
}

/// A component, as far as it is the same for all its instances.
pub(super) struct Body {
    own_depth: u64,
    /// Inputs that gates other than negations read, in ascending order.
    pub(super) used: Vec<u32>,
}

/// The findings of a walk over all instances.
pub(super) struct Folds {
    bodies: Vec<Option<Body>>,
    pub(super) folds: Vec<Fold>,
    pub(super) instances: Vec<Folded>,
    pub(super) shifts: Vec<Box<[(u64, u64)]>>,
    /// The difference between the number of a node in the program and in an instance's fold.
    pub(super) firsts: Vec<u32>,
    /// The wires of the program's outputs.
    pub(super) outputs: Vec<Deep>,
}

impl Folds {
    pub(super) fn of(program: &Program) -> Self {
        let mut bodies: Vec<Option<Body>> = program.components().iter().map(|_| None).collect();
        let (mut folds, mut instances, mut shifts, mut firsts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut known, mut known_shifts) = (HashMap::new(), HashMap::new());
        let (inputs, mut node) = fresh_inputs(program);
        let mut walk = Walk::new(program, inputs, [Deep::constant(false), Deep::constant(true)]);
        let mut given = Vec::new();
        while let Some(id) = walk.next_instance(&mut given) {
            let (component, circuit) = (program.component_id(id).0, program.component_of(id).circuit());
            let body = bodies[component as usize].get_or_insert_with(|| Body::of(circuit));
            let used: Vec<Deep> = body.used.iter().map(|input| given[*input as usize]).collect();
            let (frame, near) = Frame::new(&used, body.own_depth, node);
            let fold = *known.entry((component, near)).or_insert_with_key(|(_, near)| {
                folds.push(Fold::new(component, circuit, body, near.clone()));
                folds.len() as u32 - 1
            });
            let Fold { gates, outputs, .. } = &folds[fold as usize];
            let far = |wire: &Deep| match wire.literal.number().checked_sub(PLAIN) {
                Some(input) => {
                    let given = given[input as usize];
                    Deep { literal: given.literal.invert_if(wire.literal.inverted()), ..given }
                }
                None => frame.far(*wire),
            };
            let outputs: Vec<Deep> = outputs.iter().map(far).collect();
            let of_shifts = *known_shifts.entry(frame.into_shifts()).or_insert_with_key(|of: &Vec<_>| {
                shifts.push(of.as_slice().into());
                shifts.len() as u32 - 1
            });
            instances.push(Folded { fold, shifts: of_shifts });
            // In the fold, the first gate comes after the inputs that gates read.
            firsts.push((node as u32).wrapping_sub(1 + used.len() as u32));
            node += u64::from(*gates);
            walk.finish(id, &outputs);
            given.clear();
        }
        let outputs = walk.into_outputs().concat();
        Folds { bodies, folds, instances, shifts, firsts, outputs }
    }

    /// The input that an output of an instance equals or is the negation of.
    pub(super) fn passed(&self, fold: u32, output: usize) -> Option<u32> {
        let Fold { component, near, outputs, .. } = &self.folds[fold as usize];
        let number = outputs[output].literal.number();
        if let Some(input) = number.checked_sub(PLAIN) {
            return Some(input as u32);
        }
        let used = number.checked_sub(1).filter(|used| *used < near.len() as u64)?;
        Some(self.body(*component).used[used as usize])
    }

    /// A component that has instances.
    pub(super) fn body(&self, component: u32) -> &Body {
        self.bodies[component as usize].as_ref().expect("a component with instances was measured")
    }
}

impl Body {
    fn of(circuit: &Circuit) -> Self {
        // The input that each wire equals or negates.
        let inputs = circuit.input_count();
        let mut input_of: Vec<Option<u32>> = (0..inputs).map(Some).collect();
        let mut is_used = vec![false; inputs as usize];
        for gate in circuit.gates() {
            let of = match *gate {
                Gate::Not(wire) => input_of[wire.index()],
                Gate::Xor(a, b) | Gate::And(a, b) => {
                    [a, b]
                        .into_iter()
                        .filter_map(|wire| input_of[wire.index()])
                        .for_each(|of| is_used[of as usize] = true);
                    None
                }
                Gate::Constant(_) => None,
            };
            input_of.push(of);
        }
        let used = (0..inputs).filter(|input| is_used[*input as usize]).collect();
        Body { own_depth: alone(circuit).deepest, used }
    }
}

impl Fold {
    fn new(component: u32, circuit: &Circuit, body: &Body, near: Vec<Deep>) -> Self {
        let first = 1 + near.len() as u64;
        let mut inputs: Vec<Deep> =
            (0..u64::from(circuit.input_count())).map(|input| Deep::fresh(PLAIN + input)).collect();
        body.used.iter().zip(&near).for_each(|(input, wire)| inputs[*input as usize] = *wire);
        let passed = pass(circuit, inputs, first);
        Fold { component, near, outputs: passed.outputs, gates: (passed.end - first) as u32 }
    }
}
