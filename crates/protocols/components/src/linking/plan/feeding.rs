//! The feeds of every input wire of every instance, before labels have numbers.

use garblet_circuit::{InputId, InstanceId, Link, Program, Source};

use crate::library::template::{Common, EdgeSource};
use crate::library::{Side, Wires};
use crate::linking::allocate::{Allocation, Use};
use crate::linking::plan::Label;
use crate::linking::wiring::Wiring;
use crate::pieces::material::{Material, Place};
use crate::pieces::stock::Kind;
use crate::{GARBLER, Linking};

/// A feed before labels have numbers.
pub(crate) struct Raw {
    pub(crate) from: RawFrom,
    pub(crate) start: u32,
    pub(crate) len: u32,
    pub(crate) link: RawLink,
    /// See [`Feed::kept`](crate::linking::plan::Feed::kept).
    pub(crate) kept: bool,
}

impl Raw {
    fn new(from: RawFrom, start: u32, len: u32, link: RawLink) -> Self {
        Raw { from, start, len, link, kept: false }
    }

    fn overlaps(&self, start: u32, len: u32) -> bool {
        self.start < start + len && start < self.start + self.len
    }
}

#[derive(Clone, Copy)]
pub(crate) enum RawFrom {
    Program(Label),
    Constant(bool),
    Wires(Side, InstanceId, u32),
}

#[derive(Clone, Copy)]
pub(crate) enum RawLink {
    /// The labels are the same.
    None,
    Sent,
    Keyed(usize, Place, u32, InstanceId),
    /// Use, and number of the link label among those that it opens.
    Template(usize, usize),
}

/// Finds how every input wire of every instance is fed.
pub(crate) struct Feeding<'a, 'p> {
    wiring: &'a Wiring<'p>,
    material: &'a Material,
    linking: Linking,
    allocation: &'a Allocation,
    /// Labels of the program's inputs.
    inputs: Vec<Label>,
    /// True where a wire of the garbler's inputs has fed something: from the first on, labels are linked.
    fed: Vec<bool>,
    /// The place of every instance, in order of places.
    by_place: Vec<(Place, InstanceId)>,
    /// The links of the template of each instance that feed it.
    template: Vec<Vec<Raw>>,
}

impl<'a, 'p> Feeding<'a, 'p> {
    pub(crate) fn new(
        wiring: &'a Wiring<'p>,
        material: &'a Material,
        linking: Linking,
        allocation: &'a Allocation,
    ) -> Self {
        let inputs = input_labels(wiring.program());
        let fed = vec![false; *inputs.last().unwrap_or(&0)];
        let mut by_place: Vec<_> = wiring.instances().map(|i| (allocation.places[i.0 as usize], i)).collect();
        by_place.sort();
        let mut template: Vec<Vec<Raw>> = wiring.instances().map(|_| Vec::new()).collect();
        for (number, used) in allocation.uses.iter().enumerate() {
            template_feeds(material, number, used, &mut template);
        }
        Feeding { wiring, material, linking, allocation, inputs, fed, by_place, template }
    }

    pub(crate) fn all(mut self) -> Vec<Vec<Raw>> {
        let mut feeds: Vec<Vec<Raw>> = self.wiring.instances().map(|instance| self.of(instance)).collect();
        mark_kept(&mut feeds);
        feeds
    }

    fn of(&mut self, instance: InstanceId) -> Vec<Raw> {
        let mut feeds = std::mem::take(&mut self.template[instance.0 as usize]);
        if self.linking != Linking::Standard {
            self.keyed(instance, &mut feeds);
        }
        feeds.sort_by_key(|feed| feed.start);
        let mut all = Vec::with_capacity(feeds.len() + 1);
        let width = self.wiring.program().component_of(instance).input_width();
        let mut at = 0;
        for feed in feeds {
            self.standard(instance, Wires { start: at, len: feed.start - at }, &mut all);
            at = feed.start + feed.len;
            all.push(feed);
        }
        self.standard(instance, Wires { start: at, len: width - at }, &mut all);
        all
    }

    /// Feeds that keyed links can serve and nothing cheaper does.
    fn keyed(&self, instance: InstanceId, feeds: &mut Vec<Raw>) {
        let place = self.allocation.places[instance.0 as usize];
        let ty = self.wiring.type_of(instance);
        if !matches!(place.kind, Kind::Single(_)) {
            return;
        }
        for (number, keyed) in self.material.library().keyed().iter().enumerate() {
            let target = keyed.target;
            // For a single wire the key is no shorter than the label.
            if keyed.to != ty || target.len < 2 || feeds.iter().any(|raw| raw.overlaps(target.start, target.len)) {
                continue;
            }
            let source = match keyed.side {
                Side::Output => self.wiring.fed_by(instance, target, keyed.from, keyed.source),
                Side::Input => self.twin(instance, place, number),
            };
            let Some(source) = source else { continue };
            let source_place = self.allocation.places[source.0 as usize];
            if !matches!(source_place.kind, Kind::Single(_)) {
                continue;
            }
            if let Some(candidate) = keyed.candidate(source_place.id, place.id) {
                let from = RawFrom::Wires(keyed.side, source, keyed.source.start);
                let link = RawLink::Keyed(number, source_place, candidate, source);
                feeds.push(Raw::new(from, target.start, target.len, link));
            }
        }
    }

    /// An earlier instance that is fed by the same and has a prepared link to this one.
    fn twin(&self, instance: InstanceId, place: Place, number: usize) -> Option<InstanceId> {
        let keyed = &self.material.library().keyed()[number];
        let [from, to] = keyed.every.map(u64::from);
        let twin = |candidate: u32| {
            let turn = place.id.checked_sub(u64::from(keyed.offset) + u64::from(candidate))?;
            let id = turn.is_multiple_of(to).then(|| (turn / to + 1) * from - 1)?;
            let place = Place { kind: Kind::Single(keyed.from), id };
            let at = self.by_place.binary_search_by_key(&place, |(place, _)| *place).ok()?;
            let twin = self.by_place[at].1;
            // Earlier, so that no circle of instances waits for one another.
            let linked = self.wiring.links(twin, Side::Input, keyed.source, instance, keyed.target);
            (twin < instance && linked).then_some(twin)
        };
        (0..keyed.window).find_map(twin)
    }

    /// Feeds by link labels that are sent, or by the garbler's own choice of input labels.
    fn standard(&mut self, instance: InstanceId, wires: Wires, feeds: &mut Vec<Raw>) {
        if wires.len == 0 {
            return;
        }
        let mut start = wires.start;
        for link in self.wiring.feeds(instance, wires) {
            match link.source {
                Source::Constant(value) => {
                    feeds.push(Raw::new(RawFrom::Constant(value), start, link.len, RawLink::Sent));
                }
                Source::Instance(source) => {
                    let from = RawFrom::Wires(Side::Output, source, link.start);
                    feeds.push(Raw::new(from, start, link.len, RawLink::Sent));
                }
                Source::Input(input) => self.input(input, link, start, feeds),
            }
            start += link.len;
        }
    }

    fn input(&mut self, input: InputId, link: Link, start: u32, feeds: &mut Vec<Raw>) {
        let own = self.wiring.program().inputs()[input.0 as usize].owner == GARBLER;
        let first = self.inputs[input.0 as usize] + link.start as usize;
        let mut at = 0;
        while at < link.len {
            let direct = |at: u32| own && !self.fed[first + at as usize];
            let run = (at..link.len).take_while(|other| direct(*other) == direct(at)).count() as u32;
            let kind = if direct(at) { RawLink::None } else { RawLink::Sent };
            let from = RawFrom::Program(first + at as usize);
            feeds.push(Raw::new(from, start + at, run, kind));
            self.fed[first + at as usize..][..run as usize].fill(true);
            at += run;
        }
    }
}

/// The first label of each program input, and the first after them.
pub(crate) fn input_labels(program: &Program) -> Vec<Label> {
    let widths = program.inputs().iter().map(|input| input.port.width() as usize);
    let mut labels = vec![0];
    for width in widths {
        labels.push(labels[labels.len() - 1] + width);
    }
    labels
}

/// The links that the used part of a template opens and the labels that its cells have in common, by the instance that
/// they feed.
fn template_feeds(material: &Material, number: usize, used: &Use, feeds: &mut [Vec<Raw>]) {
    let template = &material.library().templates()[used.template as usize];
    let mut opened = 0;
    for group in template.groups().iter().filter(|group| used.part.opens(group.opens)) {
        for edge in &group.edges {
            let from = match edge.source {
                EdgeSource::Output(cell, start) => used.instance(cell).map(|i| RawFrom::Wires(Side::Output, i, start)),
                EdgeSource::Input(cell, start) => used.instance(cell).map(|i| RawFrom::Wires(Side::Input, i, start)),
                EdgeSource::Constant(value) => Some(RawFrom::Constant(value)),
            };
            if let (Some(from), Some(instance)) = (from, used.instance(edge.cell)) {
                let Wires { start, len } = edge.wires;
                feeds[instance.0 as usize].push(Raw::new(from, start, len, RawLink::Template(number, opened)));
            }
            opened += edge.wires.len as usize;
        }
    }
    for Common { of, cell, wires } in template.common() {
        if let (Some(of), Some(instance)) = (used.instance(*of), used.instance(*cell)) {
            let from = RawFrom::Wires(Side::Input, of, wires.start);
            feeds[instance.0 as usize].push(Raw::new(from, wires.start, wires.len, RawLink::None));
        }
    }
}

/// Marks the feeds of inputs that feed other inputs.
fn mark_kept(feeds: &mut [Vec<Raw>]) {
    for at in 0..feeds.len() {
        for number in 0..feeds[at].len() {
            let Raw { from: RawFrom::Wires(Side::Input, source, start), len, .. } = feeds[at][number] else { continue };
            for raw in feeds[source.0 as usize].iter_mut().filter(|raw| raw.overlaps(start, len)) {
                raw.kept = true;
            }
        }
    }
}

/// The level of each instance: one more than the highest level among the instances that feed it.
pub(crate) fn levels(feeds: &[Vec<Raw>]) -> Vec<u32> {
    let mut levels = vec![0; feeds.len()];
    for at in 0..feeds.len() {
        let of = |raw: &Raw| match raw.from {
            RawFrom::Wires(_, source, _) => levels[source.0 as usize] + 1,
            RawFrom::Program(_) | RawFrom::Constant(_) => 0,
        };
        levels[at] = feeds[at].iter().map(of).max().unwrap_or(0);
    }
    levels
}
