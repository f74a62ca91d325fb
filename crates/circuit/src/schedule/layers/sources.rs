//! The places at which the wires that instances read are computed.

use super::{
    Place, UNUSED,
    class::{Class, Output},
};
use crate::{
    Link, Program,
    program::{InputId, InstanceId, Source},
};

/// Wires one after another that are read where they are computed, and not where they are passed on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The place of the first among those that read.
    to: u32,
    len: u32,
    from: Origin,
}

/// A wire of a program's inputs, of which this is the bit, or of an instance, of which this is a kept output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// An instance, or [`INPUT`].
    pub(super) instance: u32,
    pub(super) wire: u32,
}

/// In place of an instance: the program's inputs.
pub(super) const INPUT: u32 = u32::MAX;

/// The sources of all instances and of the program's outputs.
#[derive(Debug, Default)]
pub(super) struct Sources {
    runs: Vec<Run>,
    /// The end of each instance's runs.
    ends: Vec<usize>,
}

impl Sources {
    /// Finds all sources, and counts what is read of each instance.
    ///
    /// `reads` returns the inputs of an instance of a class that gates read or that are passed on, in ascending order.
    pub(super) fn of(
        program: &Program,
        classes: &[Class],
        places: &mut [Place],
        reads: impl Fn(u32, u32) -> Vec<u32>,
    ) -> Self {
        let mut start = 0;
        let starts: Vec<u32> = program
            .inputs()
            .iter()
            .map(|input| {
                start += input.port.width();
                start - input.port.width()
            })
            .collect();
        let mut sources = Sources { runs: Vec::new(), ends: Vec::with_capacity(places.len()) };
        for instance in 0..places.len() {
            if places[instance].class != UNUSED {
                let class = &classes[places[instance].class as usize];
                for_each_linked(
                    program.instance_links(InstanceId(instance as u32)),
                    &reads(instance as u32, places[instance].class),
                    |input, source, wire| {
                        if let Some(from) = sources.origin(&starts, classes, places, source, wire) {
                            sources.push(instance, input, from);
                        }
                    },
                );
                for input in &class.inputs {
                    let from = sources.get(instance, *input);
                    if let Some(place) = from.and_then(|from| places.get_mut(from.instance as usize)) {
                        place.readers += 1;
                    }
                }
            }
            sources.ends.push(sources.runs.len());
        }
        let mut at = 0;
        for link in program.outputs().iter().flat_map(|output| &output.links) {
            for wire in link.start..link.start + link.len {
                if let Some(from) = sources.origin(&starts, classes, places, link.source, wire) {
                    sources.push(places.len(), at, from);
                    if let Some(place) = places.get_mut(from.instance as usize) {
                        place.readers += 1;
                    }
                }
                at += 1;
            }
        }
        sources.ends.push(sources.runs.len());
        sources
    }

    /// The place at which a wire is computed; `None` for constants.
    fn origin(&self, starts: &[u32], classes: &[Class], places: &[Place], source: Source, wire: u32) -> Option<Origin> {
        match source {
            Source::Constant(_) => None,
            Source::Input(InputId(id)) => Some(Origin { instance: INPUT, wire: starts[id as usize] + wire }),
            Source::Instance(InstanceId(id)) => {
                match classes.get(places[id as usize].class as usize)?.outputs[wire as usize] {
                    Output::None => None,
                    Output::Kept(wire) => Some(Origin { instance: id, wire }),
                    Output::Passed(input) => self.get(id as usize, input),
                }
            }
        }
    }

    /// Adds a wire to the last instance's.
    fn push(&mut self, instance: usize, to: u32, from: Origin) {
        let begin = self.begin(instance);
        let continued = |run: &&mut Run| {
            let end = Origin { wire: run.from.wire + run.len, ..run.from };
            run.to + run.len == to && (end.instance, end.wire) == (from.instance, from.wire)
        };
        match self.runs[begin..].last_mut().filter(continued) {
            Some(run) => run.len += 1,
            None => self.runs.push(Run { to, len: 1, from }),
        }
    }

    fn begin(&self, instance: usize) -> usize {
        instance.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    fn of_instance(&self, instance: usize) -> &[Run] {
        let end = self.ends.get(instance).copied().unwrap_or(self.runs.len());
        &self.runs[self.begin(instance)..end]
    }

    /// The place at which a wire that an instance reads is computed; for the outputs of the program, the instance is the number of instances.
    pub(super) fn get(&self, instance: usize, to: u32) -> Option<Origin> {
        let runs = self.of_instance(instance);
        let run = runs[..runs.partition_point(|run| run.to <= to)].last()?;
        let at = to - run.to;
        (at < run.len).then_some(Origin { wire: run.from.wire + at, ..run.from })
    }

    /// Calls a function for each of these inputs of an instance, which are in ascending order and not constant, with its place among them.
    pub(super) fn for_each(&self, instance: u32, inputs: &[u32], mut each: impl FnMut(usize, Origin)) {
        let (mut runs, mut at) = (self.of_instance(instance as usize), 0);
        while let Some(first) = inputs.get(at) {
            runs = &runs[runs.partition_point(|run| run.to + run.len <= *first)..];
            let Some(Run { to, len, from }) = runs.first() else { return };
            let end = at + inputs[at..].partition_point(|input| *input < to + len);
            (at..end).for_each(|k| each(k, Origin { wire: from.wire + inputs[k] - to, ..*from }));
            at = end;
        }
    }
}

/// Calls a function for each of these inputs of an instance, which are in ascending order, with the wire that is linked to it.
pub(super) fn for_each_linked(
    links: impl Iterator<Item = Link>,
    inputs: &[u32],
    mut each: impl FnMut(u32, Source, u32),
) {
    let (mut inputs, mut at) = (inputs, 0);
    for Link { source, start, len } in links {
        let (now, later) = inputs.split_at(inputs.partition_point(|input| *input < at + len));
        now.iter().for_each(|input| each(*input, source, start + input - at));
        (inputs, at) = (later, at + len);
        if inputs.is_empty() {
            return;
        }
    }
}
