//! The feeding of a program's instances by one another: the questions that allocation and templates ask of its links.

use garblet_circuit::{InstanceId, Link, Program, Source};

use crate::library::template::Connection;
use crate::library::{Library, Side, TypeId, Wires};

/// A program's links, made ready to be asked.
pub(crate) struct Wiring<'p> {
    program: &'p Program,
    types: Vec<TypeId>,
    /// The links of all instances, each with its position among the instance's inputs.
    links: Vec<(u32, Link)>,
    /// The place where the links of each instance end.
    ends: Vec<usize>,
}

/// The instance that feeds each instance in a certain way, and the instances that it feeds so.
pub(crate) struct Neighbours {
    before: Vec<Option<InstanceId>>,
    /// The fed instances, in the order of those that feed them.
    after: Vec<InstanceId>,
    /// The end of each feeding instance's part of that list.
    ends: Vec<usize>,
}

impl Neighbours {
    fn new(before: Vec<Option<InstanceId>>) -> Self {
        let mut pairs: Vec<(InstanceId, InstanceId)> =
            (0..).map(InstanceId).zip(&before).filter_map(|(to, from)| Some(((*from)?, to))).collect();
        pairs.sort_unstable();
        let mut ends = vec![0; before.len()];
        pairs.iter().for_each(|(from, _)| ends[from.0 as usize] += 1);
        let mut end = 0;
        for count in &mut ends {
            end += *count;
            *count = end;
        }
        Neighbours { before, after: pairs.into_iter().map(|(_, to)| to).collect(), ends }
    }

    /// The instance that feeds this one.
    pub(crate) fn before(&self, instance: InstanceId) -> Option<InstanceId> {
        self.before[instance.0 as usize]
    }

    /// The instances that this one feeds, in order.
    pub(crate) fn after(&self, instance: InstanceId) -> &[InstanceId] {
        &self.after[range_of(&self.ends, instance)]
    }
}

/// The range of an instance in data kept for all instances, given the end of each.
fn range_of(ends: &[usize], instance: InstanceId) -> std::ops::Range<usize> {
    let at = instance.0 as usize;
    at.checked_sub(1).map_or(0, |before| ends[before])..ends[at]
}

impl<'p> Wiring<'p> {
    /// The wiring of a program; or the first component that the library has not.
    pub(crate) fn new(program: &'p Program, library: &Library) -> Result<Self, usize> {
        let of_component = program.components().iter().map(|c| library.find(c)).collect::<Vec<_>>();
        let mut types = Vec::with_capacity(program.instance_count());
        let (mut links, mut ends) = (Vec::new(), Vec::with_capacity(program.instance_count()));
        for instance in (0..program.instance_count() as u32).map(InstanceId) {
            let component = program.component_id(instance).0 as usize;
            types.push(of_component[component].ok_or(component)?);
            let mut at = 0;
            for link in program.instance_links(instance) {
                links.push((at, link));
                at += link.len;
            }
            ends.push(links.len());
        }
        Ok(Wiring { program, types, links, ends })
    }

    pub(crate) fn program(&self) -> &'p Program {
        self.program
    }

    pub(crate) fn instances(&self) -> impl DoubleEndedIterator<Item = InstanceId> + ExactSizeIterator + use<> {
        (0..self.types.len() as u32).map(InstanceId)
    }

    pub(crate) fn type_of(&self, instance: InstanceId) -> TypeId {
        self.types[instance.0 as usize]
    }

    /// The links that feed these inputs of an instance, in pieces as long as possible.
    pub(crate) fn feeds(&self, instance: InstanceId, wires: Wires) -> impl Iterator<Item = Link> + '_ {
        let links = &self.links[range_of(&self.ends, instance)];
        let end = wires.start + wires.len;
        let first = links.partition_point(|(start, link)| start + link.len <= wires.start);
        let mut pieces = links[first..].iter().take_while(move |(start, _)| *start < end).map(move |(start, link)| {
            let (from, to) = ((*start).max(wires.start), (start + link.len).min(end));
            let is_constant = matches!(link.source, Source::Constant(_));
            let start = if is_constant { 0 } else { link.start + from - start };
            (is_constant, Link { source: link.source, start, len: to - from })
        });
        let mut last: Option<Link> = None;
        std::iter::from_fn(move || {
            for (is_constant, piece) in pieces.by_ref() {
                match &mut last {
                    Some(last)
                        if last.source == piece.source && (is_constant || last.start + last.len == piece.start) =>
                    {
                        last.len += piece.len;
                    }
                    _ => {
                        if let Some(whole) = last.replace(piece) {
                            return Some(whole);
                        }
                    }
                }
            }
            last.take()
        })
    }

    /// The instance of this type whose outputs feed these inputs, exactly and in order.
    pub(crate) fn fed_by(
        &self,
        instance: InstanceId,
        inputs: Wires,
        from: TypeId,
        outputs: Wires,
    ) -> Option<InstanceId> {
        let mut feeds = self.feeds(instance, inputs);
        match (feeds.next()?, feeds.next()) {
            (Link { source: Source::Instance(source), start, .. }, None)
                if start == outputs.start && self.type_of(source) == from =>
            {
                Some(source)
            }
            _ => None,
        }
    }

    /// Tells whether inputs of two instances are fed by the same.
    pub(crate) fn same(&self, one: InstanceId, other: InstanceId, wires: Wires) -> bool {
        self.feeds(one, wires).eq(self.feeds(other, wires))
    }

    /// Tells whether inputs are constants of these values.
    pub(crate) fn is_constant(&self, instance: InstanceId, wires: Wires, values: &[bool]) -> bool {
        let bits = self.feeds(instance, wires).flat_map(|link| {
            let value = if let Source::Constant(value) = link.source { Some(value) } else { None };
            std::iter::repeat_n(value, link.len as usize)
        });
        bits.eq(values.iter().map(|value| Some(*value)))
    }

    /// The neighbours of each instance, by all of the connections between their types.
    pub(crate) fn neighbours(&self, connections: &[Connection]) -> Neighbours {
        Neighbours::new(self.instances().map(|instance| self.source_by(instance, connections)).collect())
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

    /// Tells whether wires of one instance feed inputs of another: its outputs, or the wires that feed it.
    pub(crate) fn links(&self, from: InstanceId, side: Side, source: Wires, to: InstanceId, target: Wires) -> bool {
        match side {
            Side::Output => self.fed_by(to, target, self.type_of(from), source) == Some(from),
            Side::Input => from != to && self.feeds(from, source).eq(self.feeds(to, target)),
        }
    }
}
