//! Walking a program instance by instance with memory for live wires only.

use zeroize::Zeroize;

use crate::program::{InstanceId, Link, Program, Source};

/// The state of a walk over a program's instances in order: the values on all wires that will still be read.
///
/// `W` is whatever stands for a wire: a bit, 64 bits, a label. Values are wiped when their last reader is done.
pub struct Walk<'p, W: Copy + Zeroize> {
    program: &'p Program,
    constants: [W; 2],
    inputs: Vec<Held<W>>,
    instances: Vec<Held<W>>,
    next: u32,
}

/// Wires that are kept until their last reader is done.
struct Held<W: Zeroize> {
    wires: Box<[W]>,
    readers: u32,
}

impl<W: Zeroize> Held<W> {
    fn read(&mut self) {
        self.readers -= 1;
        if self.readers == 0 {
            self.wires.zeroize();
            self.wires = Box::default();
        }
    }
}

impl<W: Zeroize> Drop for Held<W> {
    fn drop(&mut self) {
        self.wires.zeroize();
    }
}

impl<'p, W: Copy + Zeroize> Walk<'p, W> {
    /// Begins a walk.
    ///
    /// *Shape*: `inputs[k]` has the width of program input `k`. `constants` stand for false and true.
    ///
    /// # Panics
    /// If the shape is wrong.
    pub fn new(program: &'p Program, inputs: Vec<Box<[W]>>, constants: [W; 2]) -> Self {
        assert_eq!(inputs.len(), program.inputs().len(), "one value per program input");
        for (value, input) in inputs.iter().zip(program.inputs()) {
            assert_eq!(value.len(), input.port.width() as usize, "width of input {}", input.port.name);
        }
        let hold = |wires| Held { wires, readers: 0 };
        let mut walk = Walk {
            program,
            constants,
            inputs: inputs.into_iter().map(hold).collect(),
            instances: (0..program.instance_count()).map(|_| hold(Box::default())).collect(),
            next: 0,
        };
        let into_instances = (0..program.instance_count()).map(|i| program.instance_links(InstanceId(i as u32)));
        let into_outputs = program.outputs().iter().map(|o| &o.links[..]);
        for link in into_instances.chain(into_outputs).flatten() {
            if let Some(held) = walk.held(link.source) {
                held.readers += 1;
            }
        }
        walk
    }

    /// The next instance to run, if any; its inputs are appended to `inputs`.
    pub fn next_instance(&mut self, inputs: &mut Vec<W>) -> Option<InstanceId> {
        if self.next as usize == self.program.instance_count() {
            return None;
        }
        let id = InstanceId(self.next);
        self.next += 1;
        let program = self.program;
        self.take(program.instance_links(id), inputs);
        Some(id)
    }

    /// Gives the walk the outputs of an instance that [`Walk::next_instance`] named.
    pub fn finish(&mut self, instance: InstanceId, outputs: &[W]) {
        let held = &mut self.instances[instance.0 as usize];
        if held.readers > 0 {
            held.wires = outputs.into();
        }
    }

    /// The wires of the program's outputs, one after another, once no instance is left.
    pub fn into_outputs(mut self) -> Vec<Box<[W]>> {
        let program = self.program;
        let mut wires = Vec::new();
        let mut all = Vec::with_capacity(program.outputs().len());
        for output in program.outputs() {
            self.take(&output.links, &mut wires);
            all.push(wires.as_slice().into());
            wires.zeroize();
        }
        all
    }

    fn take(&mut self, links: &[Link], into: &mut Vec<W>) {
        for link in links {
            if let Source::Constant(value) = link.source {
                into.extend(std::iter::repeat_n(self.constants[usize::from(value)], link.len as usize));
            } else if let Some(held) = self.held(link.source) {
                into.extend_from_slice(&held.wires[link.start as usize..][..link.len as usize]);
                held.read();
            }
        }
    }

    fn held(&mut self, source: Source) -> Option<&mut Held<W>> {
        match source {
            Source::Input(i) => Some(&mut self.inputs[i.0 as usize]),
            Source::Instance(i) => Some(&mut self.instances[i.0 as usize]),
            Source::Constant(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
