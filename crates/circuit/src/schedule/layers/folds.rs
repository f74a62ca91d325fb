//! Instances with inputs that are alike.

use std::collections::HashMap;

use crate::{
    Program,
    deep::Deep,
    depth::{Frame, alone, fresh, pass},
    walk::Walk,
};

/// Instances of one component whose inputs are alike.
pub(super) struct Fold {
    pub(super) component: u32,
    /// The inputs, as if the instance were alone.
    pub(super) near: Vec<Deep>,
    pub(super) outputs: Vec<Deep>,
    /// The number of gates that are not folded away.
    gates: u32,
}

/// An instance's fold, and the number of its shifts.
pub(super) struct Folded {
    pub(super) fold: u32,
    pub(super) shifts: u32,
}

/// What a walk over all instances finds.
pub(super) struct Folds {
    pub(super) folds: Vec<Fold>,
    pub(super) instances: Vec<Folded>,
    pub(super) shifts: Vec<Box<[(u64, u64)]>>,
    /// What to add to the number of a node in an instance's fold.
    pub(super) firsts: Vec<u32>,
    /// The wires of the program's outputs.
    pub(super) outputs: Vec<Deep>,
}

impl Folds {
    pub(super) fn of(program: &Program) -> Self {
        let own_depth = |component: &std::sync::Arc<crate::Component>| alone(component.circuit()).deepest;
        let own_depths: Vec<u64> = program.components().iter().map(own_depth).collect();
        let (mut folds, mut instances, mut shifts, mut firsts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut known, mut known_shifts) = (HashMap::new(), HashMap::new());
        let mut node = 1;
        let inputs = program.inputs().iter().map(|input| {
            let width = u64::from(input.port.width());
            node += width;
            fresh(node - width, width).into_boxed_slice()
        });
        let inputs = inputs.collect();
        let mut walk = Walk::new(program, inputs, [Deep::constant(false), Deep::constant(true)]);
        let mut given = Vec::new();
        while let Some(id) = walk.next_instance(&mut given) {
            let component = program.component_id(id).0;
            let (frame, near) = Frame::new(&given, own_depths[component as usize], node);
            let fold = *known.entry((component, near)).or_insert_with_key(|(_, near)| {
                folds.push(Fold::new(program, component, near.clone()));
                folds.len() as u32 - 1
            });
            let Fold { gates, outputs, .. } = &folds[fold as usize];
            let outputs: Vec<Deep> = outputs.iter().map(|wire| frame.far(*wire)).collect();
            let of_shifts = *known_shifts.entry(frame.into_shifts()).or_insert_with_key(|of: &Vec<_>| {
                shifts.push(of.as_slice().into());
                shifts.len() as u32 - 1
            });
            instances.push(Folded { fold, shifts: of_shifts });
            // In the fold, the first gate comes after the inputs.
            firsts.push((node as u32).wrapping_sub(1 + given.len() as u32));
            node += u64::from(*gates);
            walk.finish(id, &outputs);
            given.clear();
        }
        let outputs = walk.into_outputs().concat();
        Folds { folds, instances, shifts, firsts, outputs }
    }
}

impl Fold {
    fn new(program: &Program, component: u32, near: Vec<Deep>) -> Self {
        let first = 1 + near.len() as u64;
        let passed = pass(program.components()[component as usize].circuit(), near.clone(), first);
        Fold { component, near, outputs: passed.outputs, gates: (passed.end - first) as u32 }
    }

    /// The input that an output equals or is the negation of.
    pub(super) fn passed(&self, output: usize) -> Option<u32> {
        let input = self.outputs[output].literal.number().checked_sub(1)?;
        (input < self.near.len() as u64).then_some(input as u32)
    }
}
