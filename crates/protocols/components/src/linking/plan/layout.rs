//! The numbers of labels and link labels, and which instances are evaluated together.

use std::sync::Arc;

use garblet_circuit::{InstanceId, Link, Program, Source};

use crate::library::{Side, TypeId};
use crate::linking::allocate::Allocation;
use crate::linking::plan::feeding::{Raw, RawFrom, RawLink, input_labels, levels};
use crate::linking::plan::{Feed, KeyedUse, Label, Origin, Plan};
use crate::linking::wiring::Wiring;
use crate::pieces::material::Material;

/// Gives labels and link labels their numbers.
pub(crate) struct Layout<'a> {
    material: &'a Material,
    allocation: Allocation,
    feeds: Vec<Vec<Raw>>,
    inputs: Vec<Label>,
    /// Instances in the order of execution, with their levels.
    order: Vec<(u32, InstanceId)>,
    /// The place of each instance in that order, its first input label and its first output label.
    at: Vec<(usize, Label, Label)>,
    labels: usize,
    first_input: Label,
    types: Vec<TypeId>,
}

impl<'a> Layout<'a> {
    pub(crate) fn new(
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
        let widths = |i: InstanceId| {
            let instances = material.instances(wiring.type_of(i));
            [instances.input_count(), instances.output_count()]
        };
        for (task, (_, i)) in order.iter().enumerate() {
            at[i.0 as usize].0 = task;
            at[i.0 as usize].2 = labels;
            labels += widths(*i)[1];
        }
        let first_input = labels;
        for (_, i) in &order {
            at[i.0 as usize].1 = labels;
            labels += widths(*i)[0];
        }
        let types = wiring.instances().map(|i| wiring.type_of(i)).collect();
        Layout { material, allocation, feeds, inputs, order, at, labels, first_input, types }
    }

    pub(crate) fn plan(self, program: Arc<Program>) -> Plan {
        let places = &self.allocation.places;
        let task = |(_, i): &(u32, InstanceId)| {
            let (_, inputs, outputs) = self.at[i.0 as usize];
            (places[i.0 as usize], inputs, outputs)
        };
        let tasks: Vec<_> = self.order.iter().map(task).collect();
        let numbers = LinkNumbers::new(&self);
        let (feeds, feed_counts) = self.number_feeds(&numbers);
        let output = |output: &garblet_circuit::Output| output.links.iter().map(|l| self.output_link(l)).collect();
        let ands = |i: &TypeId| self.material.instances(*i).and_count();
        Plan {
            outputs: program.outputs().iter().map(output).collect(),
            program,
            tasks,
            longest_feed: feeds.iter().map(|feed| feed.len).max().unwrap_or(0),
            levels: self.order.iter().map(|(level, _)| *level).collect(),
            feeds,
            feed_counts,
            use_links: numbers.uses.clone(),
            keyed_of_task: numbers.keyed.iter().enumerate().map(|(number, keyed)| (keyed.task, number)).collect(),
            keyed: numbers.keyed,
            labels: self.labels,
            first_input: self.first_input,
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
}

/// Link labels: first the sent ones, then those opened by keys, then those of templates.
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
