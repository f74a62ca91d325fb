//! How a program's instances feed one another: the questions that allocation and templates ask of its links.

use std::collections::HashMap;

use garblet_circuit::{InstanceId, Link, Program, Source};

use super::library::{Library, Side, TypeId, Wires};
use super::template::Connection;

/// A program's links, made ready to be asked.
pub(super) struct Wiring<'p> {
    program: &'p Program,
    types: Vec<TypeId>,
    /// For each instance, where each of its links begins among its inputs.
    starts: Vec<Vec<u32>>,
}

/// For each instance, the one that it is fed by in a certain way, and those that it feeds so.
pub(super) struct Neighbours {
    before: Vec<Option<InstanceId>>,
    after: HashMap<InstanceId, Vec<InstanceId>>,
}

impl Neighbours {
    /// Which instance feeds this one.
    pub(super) fn before(&self, instance: InstanceId) -> Option<InstanceId> {
        self.before[instance.0 as usize]
    }

    /// Which instances this one feeds, in order.
    pub(super) fn after(&self, instance: InstanceId) -> &[InstanceId] {
        self.after.get(&instance).map_or(&[], |after| after)
    }
}

impl<'p> Wiring<'p> {
    /// The wiring of a program; or the first component that the library has not.
    pub(super) fn new(program: &'p Program, library: &Library) -> Result<Self, usize> {
        let of_component = program.components().iter().map(|c| library.find(c)).collect::<Vec<_>>();
        let mut types = Vec::with_capacity(program.instance_count());
        let mut starts = Vec::with_capacity(program.instance_count());
        for instance in (0..program.instance_count() as u32).map(InstanceId) {
            let component = program.component_id(instance).0 as usize;
            types.push(of_component[component].ok_or(component)?);
            let mut at = 0;
            let begin = |link: Link| {
                let start = at;
                at += link.len;
                start
            };
            starts.push(program.instance_links(instance).map(begin).collect());
        }
        Ok(Wiring { program, types, starts })
    }

    pub(super) fn program(&self) -> &'p Program {
        self.program
    }

    pub(super) fn instances(&self) -> impl DoubleEndedIterator<Item = InstanceId> + use<> {
        (0..self.types.len() as u32).map(InstanceId)
    }

    pub(super) fn type_of(&self, instance: InstanceId) -> TypeId {
        self.types[instance.0 as usize]
    }

    /// What feeds these inputs of an instance, in pieces as long as possible.
    pub(super) fn feeds(&self, instance: InstanceId, wires: Wires) -> Vec<Link> {
        let (links, starts) = (self.program.instance_links(instance), &self.starts[instance.0 as usize]);
        let end = wires.start + wires.len;
        let mut feeds: Vec<Link> = Vec::new();
        let first = starts.partition_point(|start| *start <= wires.start).saturating_sub(1);
        for (link, &begin) in links.zip(starts).skip(first) {
            if begin >= end {
                break;
            }
            let (from, to) = (begin.max(wires.start), (begin + link.len).min(end));
            if from >= to {
                continue;
            }
            let constant = matches!(link.source, Source::Constant(_));
            let start = if constant { 0 } else { link.start + from - begin };
            match feeds.last_mut() {
                Some(last) if last.source == link.source && (constant || last.start + last.len == start) => {
                    last.len += to - from;
                }
                _ => feeds.push(Link { source: link.source, start, len: to - from }),
            }
        }
        feeds
    }

    /// The instance of that type whose outputs feed these inputs, exactly and in order.
    pub(super) fn fed_by(
        &self,
        instance: InstanceId,
        inputs: Wires,
        from: TypeId,
        outputs: Wires,
    ) -> Option<InstanceId> {
        match self.feeds(instance, inputs)[..] {
            [Link { source: Source::Instance(source), start, .. }]
                if start == outputs.start && self.type_of(source) == from =>
            {
                Some(source)
            }
            _ => None,
        }
    }

    /// Whether inputs of two instances are fed by the same.
    pub(super) fn same(&self, one: InstanceId, other: InstanceId, wires: Wires) -> bool {
        self.feeds(one, wires) == self.feeds(other, wires)
    }

    /// Whether inputs are constants of these values.
    pub(super) fn is_constant(&self, instance: InstanceId, wires: Wires, values: &[bool]) -> bool {
        let bits = self.feeds(instance, wires).into_iter().flat_map(|link| {
            let value = if let Source::Constant(value) = link.source { Some(value) } else { None };
            std::iter::repeat_n(value, link.len as usize)
        });
        bits.eq(values.iter().map(|value| Some(*value)))
    }

    /// Who is connected to whom by all of the connections between their types.
    pub(super) fn neighbours(&self, connections: &[Connection]) -> Neighbours {
        let mut neighbours = Neighbours { before: vec![None; self.types.len()], after: HashMap::new() };
        for instance in self.instances() {
            if let Some(source) = self.source_by(instance, connections) {
                neighbours.before[instance.0 as usize] = Some(source);
                neighbours.after.entry(source).or_default().push(instance);
            }
        }
        neighbours
    }

    fn source_by(&self, instance: InstanceId, connections: &[Connection]) -> Option<InstanceId> {
        let to = self.type_of(instance);
        let into = |from: TypeId| connections.iter().filter(move |c| c.to.0 == to && c.from.0 == from);
        connections.iter().filter(|c| c.to.0 == to).find_map(|first| {
            let (from, outputs) = first.from;
            let source = self.fed_by(instance, first.to.1, from, outputs)?;
            into(from).all(|c| self.fed_by(instance, c.to.1, from, c.from.1) == Some(source)).then_some(source)
        })
    }

    /// Whether wires of one instance are what feeds inputs of another: its outputs, or what feeds it itself.
    pub(super) fn links(&self, from: InstanceId, side: Side, source: Wires, to: InstanceId, target: Wires) -> bool {
        match side {
            Side::Output => self.fed_by(to, target, self.type_of(from), source) == Some(from),
            Side::Input => from != to && self.feeds(from, source) == self.feeds(to, target),
        }
    }
}
