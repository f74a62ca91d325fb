//! What both parties do online, worked out before: which components, which links, in which order.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use garblet_circuit::{InputId, InstanceId, Link, Program, Source};

use super::allocate::{Allocation, Missing, Use, allocate};
use super::library::{Side, TypeId, Wires};
use super::material::{Material, Numbered, Place};
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
    /// Whether links lead on from here: the labels are needed after their component has run.
    pub(super) kept: bool,
}

/// Instances of one type that are evaluated together.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) ty: TypeId,
    /// The numbers of the first instance's gates; those of the others follow.
    pub(super) first: Numbered,
    /// The instances, by their place in the order of execution.
    pub(super) tasks: Range<usize>,
    pub(super) outputs: Range<Label>,
    /// Where their tables are among all.
    pub(super) tables: Range<usize>,
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
    /// Groups feed later ones only.
    pub(super) groups: Vec<Group>,
    /// Task after task.
    pub(super) feeds: Vec<Feed>,
    /// How many feeds each task has.
    pub(super) feed_counts: Vec<usize>,
    /// Bytes of the tables of all groups.
    pub(super) table_bytes: usize,
    pub(super) keyed: Vec<KeyedUse>,
    /// For each source of keyed links, by its place in the order of execution, their numbers.
    pub(super) keyed_of_task: BTreeSet<(usize, usize)>,
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
    /// See [`Feed::kept`].
    kept: bool,
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
    /// Use, and number of the link label among those that it opens.
    Template(usize, usize),
}

impl Plan {
    /// Plans a run.
    ///
    /// Where templates leave links that keys might serve, and fewer blocks are sent without templates, they are not used.
    ///
    /// *Errors*: a component that the library has not, or too few of some type.
    pub(super) fn new(
        program: Arc<Program>,
        material: &Material,
        linking: Linking,
        stock: Stock,
    ) -> Result<Self, Unplanned> {
        let plan = Plan::linked(program.clone(), material, linking, stock.clone())?;
        if plan.uses.is_empty() || plan.sent_links == plan.first_links() {
            return Ok(plan);
        }
        match Plan::linked(program, material, Linking::Keyed, stock) {
            Ok(other) if other.link_blocks() < plan.link_blocks() => Ok(other),
            _ => Ok(plan),
        }
    }

    /// Blocks that links take online.
    pub(super) fn link_blocks(&self) -> usize {
        self.sent_links + self.keyed.len() + self.uses.iter().map(|used| used.part.reveal_blocks()).sum::<usize>()
    }

    /// Link labels that have to be sent in any case: those of constants, and the first of each of the evaluator's inputs.
    fn first_links(&self) -> usize {
        let mut new = vec![false; *self.inputs.last().unwrap_or(&0)];
        for (input, first) in self.program.inputs().iter().zip(&self.inputs).filter(|(i, _)| i.owner != GARBLER) {
            new[*first..][..input.port.width() as usize].fill(true);
        }
        let sent = self.feeds.iter().filter(|feed| feed.link.is_some_and(|link| link < self.sent_links));
        let of_feed = |feed: &Feed| match feed.from {
            Origin::Constant(_) => feed.len,
            Origin::Labels(from) => {
                let wires = new.iter_mut().skip(from).take(feed.len);
                wires.map(|new| usize::from(std::mem::take(new))).sum()
            }
        };
        sent.map(of_feed).sum()
    }

    fn linked(program: Arc<Program>, material: &Material, linking: Linking, stock: Stock) -> Result<Self, Unplanned> {
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
    /// Where every instance is, in order of places.
    by_place: Vec<(Place, InstanceId)>,
    /// For each instance, the links of its template that feed it.
    template: Vec<Vec<Raw>>,
}

impl<'a, 'p> Feeding<'a, 'p> {
    fn new(wiring: &'a Wiring<'p>, material: &'a Material, linking: Linking, allocation: &'a Allocation) -> Self {
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

    fn all(mut self) -> Vec<Vec<Raw>> {
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
        if !matches!(place.kind, super::stock::Kind::Single(_)) {
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
            if !matches!(source_place.kind, super::stock::Kind::Single(_)) {
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
            let place = Place { kind: super::stock::Kind::Single(keyed.from), id };
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
fn input_labels(program: &Program) -> Vec<Label> {
    let widths = program.inputs().iter().map(|input| input.port.width() as usize);
    let mut labels = vec![0];
    for width in widths {
        labels.push(labels[labels.len() - 1] + width);
    }
    labels
}

/// The links that the used part of a template opens, by the instance that they feed.
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
        let (feeds, feed_counts) = self.number_feeds(&numbers);
        let groups = self.groups(&tasks);
        let output = |output: &garblet_circuit::Output| output.links.iter().map(|l| self.output_link(l)).collect();
        let ands = |i: &TypeId| self.material.instances(*i).and_count();
        Plan {
            outputs: program.outputs().iter().map(output).collect(),
            program,
            tasks,
            table_bytes: groups.last().map_or(0, |group: &Group| group.tables.end),
            groups,
            feeds,
            feed_counts,
            use_links: numbers.uses.clone(),
            keyed_of_task: numbers.keyed.iter().enumerate().map(|(number, keyed)| (keyed.task, number)).collect(),
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

    /// All feeds in the order of execution, and how many each task has.
    fn number_feeds(&self, numbers: &LinkNumbers) -> (Vec<Feed>, Vec<usize>) {
        let (mut feeds, mut counts) = (Vec::new(), Vec::with_capacity(self.order.len()));
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
                    RawLink::Template(used, opened) => Some(numbers.uses[used] + opened),
                };
                let from = match raw.from {
                    RawFrom::Program(label) => Origin::Labels(label),
                    RawFrom::Constant(value) => Origin::Constant(value),
                    RawFrom::Wires(Side::Input, i, wire) => Origin::Labels(self.at[i.0 as usize].1 + wire as usize),
                    RawFrom::Wires(Side::Output, i, wire) => Origin::Labels(self.at[i.0 as usize].2 + wire as usize),
                };
                let (to, len) = (inputs + raw.start as usize, raw.len as usize);
                feeds.push(Feed { from, to, len, link, kept: raw.kept });
            }
            counts.push(self.feeds[instance.0 as usize].len());
        }
        (feeds, counts)
    }

    /// Splits tasks into groups: instances of a level and type that are numbered in one sequence.
    fn groups(&self, tasks: &[(Place, Label, Label)]) -> Vec<Group> {
        let of_task = |task: usize| {
            let (level, instance) = self.order[task];
            let ty = self.types[instance.0 as usize];
            (level, ty, self.material.numbered(tasks[task].0))
        };
        let mut groups = Vec::new();
        let (mut begin, mut ks, mut table_bytes) = (0, Vec::new(), 0);
        while begin < tasks.len() {
            let (level, ty, first) = of_task(begin);
            ks.clear();
            let together = (begin..tasks.len()).map(of_task);
            let together = together.take_while(|other| (other.0, other.1, other.2.base) == (level, ty, first.base));
            ks.extend(together.map(|(_, _, numbered)| numbered.k));
            let of = self.material.instances(ty);
            let mut rest = &ks[..];
            while !rest.is_empty() {
                let count = of.group(rest);
                let end = tasks[begin + count - 1].2 + of.output_count();
                groups.push(Group {
                    ty,
                    first: Numbered { base: first.base, k: rest[0] },
                    tasks: begin..begin + count,
                    outputs: tasks[begin].2..end,
                    tables: table_bytes..table_bytes + of.woven_bytes(count),
                });
                table_bytes += of.woven_bytes(count);
                begin += count;
                rest = &rest[count..];
            }
        }
        groups
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
        let mut uses = Vec::new();
        for used in &layout.allocation.uses {
            uses.push(all);
            let groups = layout.material.library().templates()[used.template as usize].groups().iter();
            all += groups.filter(|group| used.part.opens(group.opens)).map(|group| group.blocks).sum::<usize>();
        }
        LinkNumbers { sent, keyed, uses, all }
    }
}
