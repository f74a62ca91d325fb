//! Walks a program instance by instance, with memory for live wires only.

use zeroize::Zeroize;

use crate::program::{InstanceId, Link, Program, Source};

/// The state of a walk over a program's instances in order: the values on all wires that will still be read.
///
/// `W` is the representation of a wire: a bit, 64 bits, a label. Values are wiped when their last reader is done.
pub struct Walk<'p, W: Copy + Zeroize> {
    program: &'p Program,
    constants: [W; 2],
    inputs: Vec<Held<W>>,
    /// Per instance: before it is finished, the number of links that will read it; after it, the place of its outputs in `held`.
    instances: Vec<u32>,
    held: Vec<Held<W>>,
    /// Free places in `held`.
    free: Vec<u32>,
    next: u32,
}

/// Wires that are kept until their last reader is done.
struct Held<W: Zeroize> {
    wires: Box<[W]>,
    readers: u32,
}

impl<W: Zeroize> Held<W> {
    /// Removes one reader, and returns whether it was the last.
    fn read(&mut self) -> bool {
        self.readers -= 1;
        if self.readers == 0 {
            self.wires.zeroize();
            self.wires = Box::default();
        }
        self.readers == 0
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
        let mut walk = Walk {
            program,
            constants,
            inputs: inputs.into_iter().map(|wires| Held { wires, readers: 0 }).collect(),
            instances: vec![0; program.instance_count()],
            held: Vec::new(),
            free: Vec::new(),
            next: 0,
        };
        let into_instances = (0..program.instance_count()).flat_map(|i| program.instance_links(InstanceId(i as u32)));
        let into_outputs = program.outputs().iter().flat_map(|o| o.links.iter().copied());
        for link in into_instances.chain(into_outputs) {
            match link.source {
                Source::Input(i) => walk.inputs[i.0 as usize].readers += 1,
                Source::Instance(i) => walk.instances[i.0 as usize] += 1,
                Source::Constant(_) => (),
            }
        }
        walk
    }

    /// The next instance to run, if any.
    pub fn next_id(&self) -> Option<InstanceId> {
        ((self.next as usize) < self.program.instance_count()).then_some(InstanceId(self.next))
    }

    /// The next instance to run, if any; appends its inputs to `inputs`.
    pub fn next_instance(&mut self, inputs: &mut Vec<W>) -> Option<InstanceId> {
        self.read_next(|wires| inputs.extend_from_slice(wires))
    }

    /// The next instance to run, if any; gives its inputs to `put`, one run of wires after another.
    pub fn read_next(&mut self, mut put: impl FnMut(&[W])) -> Option<InstanceId> {
        let id = self.next_id()?;
        self.next += 1;
        for link in self.program.instance_links(id) {
            self.take(link, &mut put);
        }
        Some(id)
    }

    /// Returns whether the next `count` instances are of one component and independent, so that a caller may take the inputs of all
    /// before the first is finished.
    pub fn side_by_side(&self, count: u32) -> bool {
        let (first, end) = (self.next, u64::from(self.next) + u64::from(count));
        if end > self.program.instance_count() as u64 {
            return false;
        }
        let component = self.program.component_id(InstanceId(first));
        (first + 1..end as u32).map(InstanceId).all(|id| {
            let among = |link: Link| matches!(link.source, Source::Instance(source) if source.0 >= first);
            self.program.component_id(id) == component && !self.program.instance_links(id).any(among)
        })
    }

    /// The next instance, if there is one and it reads no instance from `first` on. A caller may then take its inputs before those
    /// instances are finished.
    pub fn next_beside(&self, first: Option<InstanceId>) -> Option<InstanceId> {
        let next = self.next_id()?;
        let first = first.unwrap_or(next).0;
        let among = |link: Link| matches!(link.source, Source::Instance(source) if source.0 >= first);
        (!self.program.instance_links(next).any(among)).then_some(next)
    }

    /// Stores the outputs of an instance that [`Walk::next_instance`] returned.
    pub fn finish(&mut self, instance: InstanceId, outputs: &[W]) {
        self.finish_with(instance, || outputs.into());
    }

    /// The same; `outputs` makes them if anything reads them.
    pub fn finish_with(&mut self, instance: InstanceId, outputs: impl FnOnce() -> Box<[W]>) {
        let state = &mut self.instances[instance.0 as usize];
        let readers = std::mem::replace(state, u32::MAX);
        if readers > 0 {
            let held = Held { wires: outputs(), readers };
            *state = self.free.pop().unwrap_or(self.held.len() as u32);
            match self.held.get_mut(*state as usize) {
                Some(place) => *place = held,
                None => self.held.push(held),
            }
        }
    }

    /// The wires of the program's outputs, one after another, once all instances are finished.
    pub fn into_outputs(mut self) -> Vec<Box<[W]>> {
        let program = self.program;
        let mut wires = Vec::new();
        let mut all = Vec::with_capacity(program.outputs().len());
        for output in program.outputs() {
            output.links.iter().for_each(|&link| self.take(link, |taken| wires.extend_from_slice(taken)));
            all.push(wires.as_slice().into());
            wires.zeroize();
        }
        all
    }

    fn take(&mut self, link: Link, mut put: impl FnMut(&[W])) {
        let range = link.start as usize..link.start as usize + link.len as usize;
        match link.source {
            Source::Constant(value) => {
                range.for_each(|_| put(&self.constants[usize::from(value)..][..1]));
            }
            Source::Input(i) => {
                let held = &mut self.inputs[i.0 as usize];
                put(&held.wires[range]);
                held.read();
            }
            Source::Instance(i) => {
                let place = self.instances[i.0 as usize];
                let held = &mut self.held[place as usize];
                put(&held.wires[range]);
                if held.read() {
                    self.free.push(place);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
