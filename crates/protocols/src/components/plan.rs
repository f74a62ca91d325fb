//! What both parties do online, worked out before: which components, which links, in which order.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use garblet_circuit::{InputId, InstanceId, Link, Program, Source};

use super::allocate::{Allocation, Missing, Use, allocate};
use super::library::{Side, TypeId, Wires};
use super::material::{Material, Place};
use super::stock::Stock;
use super::template::EdgeSource;
use super::wiring::Wiring;
use super::{GARBLER, Linking, NotPrepared};

/// A label's number among all of a run: those of the program's inputs, then of every instance's inputs and outputs.
pub(super) type Label = usize;

/// Where labels come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Labels(Label),
    Constant(bool),
}

/// Labels become others by the addition of link labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Feed {
    pub(super) from: Origin,
    pub(super) to: Label,
    pub(super) len: usize,
    /// The first link label; none if the labels are the same.
    pub(super) link: Option<usize>,
}

/// Instances of one type that are numbered in one sequence and run together.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    pub(super) ty: TypeId,
    pub(super) base: u64,
    pub(super) ks: Vec<u64>,
    /// The instances, by their place in the order of execution.
    pub(super) tasks: Range<usize>,
    pub(super) inputs: Range<Label>,
    pub(super) outputs: Range<Label>,
}

/// Batches that depend only on earlier levels.
#[derive(Clone, Debug, Default)]
pub(super) struct Level {
    pub(super) feeds: Range<usize>,
    pub(super) batches: Vec<Batch>,
}

/// A keyed link that is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyedUse {
    /// Number in the library.
    pub(super) link: usize,
    pub(super) source: Place,
    pub(super) candidate: u32,
    /// The source's place in the order of execution.
    pub(super) task: usize,
    /// Where its labels are among all link labels.
    pub(super) first_link: usize,
}

/// A run of one program with components that both stores have.
pub(super) struct Plan {
    pub(super) program: Arc<Program>,
    /// For each program input, its first label.
    pub(super) inputs: Vec<Label>,
    /// For each program output, where its labels are.
    pub(super) outputs: Vec<Vec<(Origin, usize)>>,
    /// In the order of execution: the component, its first input label and its first output label.
    pub(super) tasks: Vec<(Place, Label, Label)>,
    pub(super) levels: Vec<Level>,
    pub(super) feeds: Vec<Feed>,
    pub(super) keyed: Vec<KeyedUse>,
    pub(super) uses: Vec<Use>,
    /// For each use, where its labels are among all link labels.
    pub(super) use_links: Vec<usize>,
    pub(super) broken: Vec<(u32, u64)>,
    pub(super) labels: usize,
    /// Link labels that are sent one by one; they come first.
    pub(super) sent_links: usize,
    /// All link labels.
    pub(super) links: usize,
    pub(super) and_count: u64,
    /// For each instance of the program, its place in the order of execution.
    #[cfg_attr(not(test), allow(dead_code))]
    pub(super) task_of: Vec<usize>,
}

/// What keeps a program from being planned.
pub(super) enum Unplanned {
    UnknownType(NotPrepared),
    Missing(Vec<(TypeId, Missing)>),
}

/// A feed before labels have numbers.
struct Raw {
    from: RawFrom,
    start: u32,
    len: u32,
    link: RawLink,
}

#[derive(Clone, Copy)]
enum RawFrom {
    Program(Label),
    Constant(bool),
    Wires(Side, InstanceId, u32),
}

#[derive(Clone, Copy)]
enum RawLink {
    None,
    Sent,
    Keyed(usize, Place, u32, InstanceId),
    /// Use, and block of the template.
    Template(usize, usize),
}

impl Plan {
    /// Plans a run.
    ///
    /// *Errors*: a component that the library has not, or too few of some type.
    pub(super) fn new(
        program: Arc<Program>,
        material: &Material,
        linking: Linking,
        stock: Stock,
    ) -> Result<Self, Unplanned> {
        let wiring = Wiring::new(&program, material.library()).map_err(|component| {
            let component = program.components()[component].name().into();
            let known = material.library().types().iter().map(|t| t.name.clone()).collect();
            Unplanned::UnknownType(NotPrepared::UnknownType { component, known })
        })?;
        let order = by_data_level(&wiring);
        let allocation = allocate(material, &wiring, linking, stock, &order).map_err(Unplanned::Missing)?;
        let feeds = Feeding::new(&wiring, material, linking, &allocation).all();
        Ok(Layout::new(&program, material, &wiring, allocation, feeds).plan(program.clone()))
    }
}

/// Instances level by level, as data flows.
fn by_data_level(wiring: &Wiring<'_>) -> Vec<InstanceId> {
    let program = wiring.program();
    let mut levels: Vec<u32> = Vec::with_capacity(program.instance_count());
    for instance in wiring.instances() {
        let of = |link: &Link| match link.source {
            Source::Instance(source) => levels[source.0 as usize] + 1,
            _ => 0,
        };
        levels.push(program.instance_links(instance).map(|link| of(&link)).max().unwrap_or(0));
    }
    let mut order: Vec<InstanceId> = wiring.instances().collect();
    order.sort_by_key(|i| (levels[i.0 as usize], wiring.type_of(*i)));
    order
}

/// Finds how every input wire of every instance is fed.
struct Feeding<'a, 'p> {
    wiring: &'a Wiring<'p>,
    material: &'a Material,
    linking: Linking,
    allocation: &'a Allocation,
    /// Labels of the program's inputs.
    inputs: Vec<Label>,
    /// Whether a wire of the garbler's inputs has fed something: from the first on, labels are linked.
    fed: Vec<bool>,
    by_place: HashMap<Place, InstanceId>,
    /// For each instance, the links of its template that feed it.
    template: HashMap<InstanceId, Vec<Raw>>,
}

impl<'a, 'p> Feeding<'a, 'p> {
    fn new(wiring: &'a Wiring<'p>, material: &'a Material, linking: Linking, allocation: &'a Allocation) -> Self {
        let inputs = input_labels(wiring.program());
        let fed = vec![false; *inputs.last().unwrap_or(&0)];
        let by_place = wiring.instances().map(|i| (allocation.places[i.0 as usize], i)).collect();
        let mut template: HashMap<InstanceId, Vec<Raw>> = HashMap::new();
        for (number, used) in allocation.uses.iter().enumerate() {
            template_feeds(material, number, used, &mut template);
        }
        Feeding { wiring, material, linking, allocation, inputs, fed, by_place, template }
    }

    fn all(mut self) -> Vec<Vec<Raw>> {
        self.wiring.instances().map(|instance| self.of(instance)).collect()
    }

    fn of(&mut self, instance: InstanceId) -> Vec<Raw> {
        let mut feeds = self.template.remove(&instance).unwrap_or_default();
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
        if !matches!(place.kind, super::stock::Kind::Single(_)) {
            return;
        }
        for (number, keyed) in self.material.library().keyed().iter().enumerate() {
            let target = keyed.target;
            let overlaps = |raw: &Raw| raw.start < target.start + target.len && target.start < raw.start + raw.len;
            // For a single wire the key is no shorter than the label.
            if keyed.to != ty || target.len < 2 || feeds.iter().any(overlaps) {
                continue;
            }
            let source = match keyed.side {
                Side::Output => self.wiring.fed_by(instance, target, keyed.from, keyed.source),
                Side::Input => self.twin(instance, place, number),
            };
            let Some(source) = source else { continue };
            let source_place = self.allocation.places[source.0 as usize];
            if !matches!(source_place.kind, super::stock::Kind::Single(_)) {
                continue;
            }
            if let Some(candidate) = keyed.candidate(source_place.id, place.id) {
                feeds.push(Raw {
                    from: RawFrom::Wires(keyed.side, source, keyed.source.start),
                    start: target.start,
                    len: target.len,
                    link: RawLink::Keyed(number, source_place, candidate, source),
                });
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
            let place = Place { kind: super::stock::Kind::Single(keyed.from), id };
            let twin = *self.by_place.get(&place)?;
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
                    feeds.push(Raw { from: RawFrom::Constant(value), start, len: link.len, link: RawLink::Sent })
                }
                Source::Instance(source) => feeds.push(Raw {
                    from: RawFrom::Wires(Side::Output, source, link.start),
                    start,
                    len: link.len,
                    link: RawLink::Sent,
                }),
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
            feeds.push(Raw { from, start: start + at, len: run, link: kind });
            self.fed[first + at as usize..][..run as usize].fill(true);
            at += run;
        }
    }
}

/// The first label of each program input, and the first after them.
fn input_labels(program: &Program) -> Vec<Label> {
    let widths = program.inputs().iter().map(|input| input.port.width() as usize);
    let mut labels = vec![0];
    for width in widths {
        labels.push(labels[labels.len() - 1] + width);
    }
    labels
}

/// The links that the used part of a template opens, by the instance that they feed.
fn template_feeds(material: &Material, number: usize, used: &Use, feeds: &mut HashMap<InstanceId, Vec<Raw>>) {
    let template = &material.library().templates()[used.template as usize];
    for group in template.groups().iter().filter(|group| used.part.opens(group.opens)) {
        let mut block = group.first_block;
        for edge in &group.edges {
            let from = match edge.source {
                EdgeSource::Output(cell, start) => used.instance(cell).map(|i| RawFrom::Wires(Side::Output, i, start)),
                EdgeSource::Input(cell, start) => used.instance(cell).map(|i| RawFrom::Wires(Side::Input, i, start)),
                EdgeSource::Constant(value) => Some(RawFrom::Constant(value)),
            };
            if let (Some(from), Some(instance)) = (from, used.instance(edge.cell)) {
                let link = RawLink::Template(number, block);
                let Wires { start, len } = edge.wires;
                feeds.entry(instance).or_default().push(Raw { from, start, len, link });
            }
            block += edge.wires.len as usize;
        }
    }
}

/// Gives labels and link labels their numbers.
struct Layout<'a> {
    material: &'a Material,
    allocation: Allocation,
    feeds: Vec<Vec<Raw>>,
    inputs: Vec<Label>,
    /// Instances in the order of execution, with their levels.
    order: Vec<(u32, InstanceId)>,
    /// For each instance, its place in that order, its first input label and its first output label.
    at: Vec<(usize, Label, Label)>,
    labels: usize,
    types: Vec<TypeId>,
}

impl<'a> Layout<'a> {
    fn new(
        program: &Program,
        material: &'a Material,
        wiring: &Wiring<'_>,
        allocation: Allocation,
        feeds: Vec<Vec<Raw>>,
    ) -> Self {
        let levels = levels(&feeds);
        let mut order: Vec<(u32, InstanceId)> = wiring.instances().map(|i| (levels[i.0 as usize], i)).collect();
        order.sort_by_cached_key(|(level, i)| {
            (*level, wiring.type_of(*i), material.numbered(allocation.places[i.0 as usize]))
        });
        let inputs = input_labels(program);
        let mut labels = *inputs.last().unwrap_or(&0);
        let mut at = vec![(0, 0, 0); order.len()];
        // Batch by batch, first all inputs and then all outputs, would need a second pass: two regions do as well.
        let widths = |i: InstanceId| {
            let instances = material.instances(wiring.type_of(i));
            [instances.input_count(), instances.output_count()]
        };
        for (task, (_, i)) in order.iter().enumerate() {
            at[i.0 as usize].0 = task;
            at[i.0 as usize].1 = labels;
            labels += widths(*i)[0];
        }
        for (_, i) in &order {
            at[i.0 as usize].2 = labels;
            labels += widths(*i)[1];
        }
        let types = wiring.instances().map(|i| wiring.type_of(i)).collect();
        Layout { material, allocation, feeds, inputs, order, at, labels, types }
    }

    fn plan(self, program: Arc<Program>) -> Plan {
        let places = &self.allocation.places;
        let task = |(_, i): &(u32, InstanceId)| {
            let (_, inputs, outputs) = self.at[i.0 as usize];
            (places[i.0 as usize], inputs, outputs)
        };
        let tasks: Vec<_> = self.order.iter().map(task).collect();
        let numbers = LinkNumbers::new(&self);
        let (feeds, ends) = self.number_feeds(&numbers);
        let levels = self.levels(&tasks, &ends);
        let output = |output: &garblet_circuit::Output| output.links.iter().map(|l| self.output_link(l)).collect();
        let ands = |i: &TypeId| self.material.instances(*i).and_count();
        Plan {
            outputs: program.outputs().iter().map(output).collect(),
            program,
            tasks,
            levels,
            feeds,
            use_links: numbers.uses.clone(),
            keyed: numbers.keyed,
            labels: self.labels,
            sent_links: numbers.sent,
            links: numbers.all,
            and_count: self.types.iter().map(ands).sum(),
            task_of: self.at.iter().map(|at| at.0).collect(),
            inputs: self.inputs,
            uses: self.allocation.uses,
            broken: self.allocation.broken,
        }
    }

    fn output_link(&self, link: &Link) -> (Origin, usize) {
        let from = match link.source {
            Source::Constant(value) => Origin::Constant(value),
            Source::Input(input) => Origin::Labels(self.inputs[input.0 as usize] + link.start as usize),
            Source::Instance(i) => Origin::Labels(self.at[i.0 as usize].2 + link.start as usize),
        };
        (from, link.len as usize)
    }

    /// All feeds in the order of execution, and where those of each task end.
    fn number_feeds(&self, numbers: &LinkNumbers) -> (Vec<Feed>, Vec<usize>) {
        let (mut feeds, mut ends) = (Vec::new(), Vec::with_capacity(self.order.len()));
        let (mut sent, mut keyed) = (0, 0);
        for (_, instance) in &self.order {
            let inputs = self.at[instance.0 as usize].1;
            for raw in &self.feeds[instance.0 as usize] {
                let link = match raw.link {
                    RawLink::None => None,
                    RawLink::Sent => {
                        sent += raw.len as usize;
                        Some(sent - raw.len as usize)
                    }
                    RawLink::Keyed(..) => {
                        keyed += 1;
                        Some(numbers.keyed[keyed - 1].first_link)
                    }
                    RawLink::Template(used, block) => numbers.of_block(used, block),
                };
                let from = match raw.from {
                    RawFrom::Program(label) => Origin::Labels(label),
                    RawFrom::Constant(value) => Origin::Constant(value),
                    RawFrom::Wires(Side::Input, i, wire) => Origin::Labels(self.at[i.0 as usize].1 + wire as usize),
                    RawFrom::Wires(Side::Output, i, wire) => Origin::Labels(self.at[i.0 as usize].2 + wire as usize),
                };
                feeds.push(Feed { from, to: inputs + raw.start as usize, len: raw.len as usize, link });
            }
            ends.push(feeds.len());
        }
        (feeds, ends)
    }

    fn levels(&self, tasks: &[(Place, Label, Label)], feed_ends: &[usize]) -> Vec<Level> {
        let mut levels: Vec<Level> = Vec::new();
        let mut begin_feeds = 0;
        for (task, (level, instance)) in self.order.iter().enumerate() {
            if levels.len() <= *level as usize {
                levels.push(Level { feeds: begin_feeds..begin_feeds, batches: Vec::new() });
            }
            let ty = self.types[instance.0 as usize];
            let (place, input, output) = tasks[task];
            let numbered = self.material.numbered(place);
            let kind = self.material.instances(ty);
            let (input_end, output_end) = (input + kind.input_count(), output + kind.output_count());
            let Some(now) = levels.last_mut() else { continue };
            now.feeds.end = feed_ends[task];
            match now.batches.last_mut() {
                Some(batch) if batch.ty == ty && batch.base == numbered.base => {
                    batch.ks.push(numbered.k);
                    (batch.tasks.end, batch.inputs.end, batch.outputs.end) = (task + 1, input_end, output_end);
                }
                _ => now.batches.push(Batch {
                    ty,
                    base: numbered.base,
                    ks: vec![numbered.k],
                    tasks: task..task + 1,
                    inputs: input..input_end,
                    outputs: output..output_end,
                }),
            }
            begin_feeds = feed_ends[task];
        }
        levels
    }
}

/// The level of each instance: one more than those that it is fed by.
fn levels(feeds: &[Vec<Raw>]) -> Vec<u32> {
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

/// Link labels: those that are sent, then those that keys open, then those of templates.
struct LinkNumbers {
    sent: usize,
    keyed: Vec<KeyedUse>,
    uses: Vec<usize>,
    /// For each use, the first block of each opened link within the template, ascending, and its link label.
    blocks: Vec<Vec<(usize, usize)>>,
    all: usize,
}

impl LinkNumbers {
    fn new(layout: &Layout<'_>) -> Self {
        let in_order = || layout.order.iter().flat_map(|(_, i)| &layout.feeds[i.0 as usize]);
        let sent = in_order().filter(|raw| matches!(raw.link, RawLink::Sent)).map(|raw| raw.len as usize).sum();
        let mut all = sent;
        let mut keyed = Vec::new();
        for raw in in_order() {
            if let RawLink::Keyed(link, source, candidate, instance) = raw.link {
                let task = layout.at[instance.0 as usize].0;
                keyed.push(KeyedUse { link, source, candidate, task, first_link: all });
                all += raw.len as usize;
            }
        }
        let (mut uses, mut blocks) = (Vec::new(), Vec::new());
        for used in &layout.allocation.uses {
            uses.push(all);
            let template = &layout.material.library().templates()[used.template as usize];
            let mut of_use = Vec::new();
            for group in template.groups().iter().filter(|group| used.part.opens(group.opens)) {
                let mut block = group.first_block;
                for edge in &group.edges {
                    of_use.push((block, all));
                    block += edge.wires.len as usize;
                    all += edge.wires.len as usize;
                }
            }
            blocks.push(of_use);
        }
        LinkNumbers { sent, keyed, uses, blocks, all }
    }

    /// The link label of a template's block that is the first of a link.
    fn of_block(&self, used: usize, block: usize) -> Option<usize> {
        let blocks = &self.blocks[used];
        blocks.binary_search_by_key(&block, |(block, _)| *block).ok().map(|at| blocks[at].1)
    }
}
