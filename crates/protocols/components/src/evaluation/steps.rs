//! The steps that feed instances during evaluation: the plan's feeds in few bytes, four instances at a time, keeping as few labels as
//! possible.
//!
//! A run of small components has nearly as many feeds as gates, so the size of each feed matters.

use std::collections::BTreeMap;
use std::ops::Range;

use garblet_garble as garble;
use garblet_primitives::{Block, QUAD_LANES};

use crate::evaluation::groups::{Group, Groups, Places};
use crate::library::TypeId;
use crate::linking::plan::{Feed, Label, Origin, Plan};
use crate::pieces::material::Material;

/// Stands for no place.
const NOWHERE: u32 = u32::MAX;

/// The most places of labels, so that the place after any row of them has a number.
const MOST_PLACES: u32 = 1 << 30;

/// An input that feeds this many others gets a copy of its label next to those that are read with it.
const READ_BY_MANY: u8 = QUAD_LANES as u8;

/// Labels and link labels that add up to those of an instance's inputs.
#[derive(Clone, Copy)]
struct Step {
    from: Places,
    /// The place of the first link label. The others follow.
    link: Option<u32>,
}

/// Labels of inputs that are kept because they feed further links.
#[derive(Clone, Copy)]
pub(crate) struct Keep {
    step: Step,
    /// The places of the sums.
    to: Places,
}

impl Step {
    /// Adds one more wire, if it continues this step.
    fn and(self, next: &Step) -> Option<Self> {
        let goes_on = self.link.map(|link| link + self.from.len) == next.link;
        Some(Step { from: self.from.and(next.from.first).filter(|_| goes_on)?, ..self })
    }
}

impl Keep {
    /// Adds one more wire, if it continues this step.
    fn and(self, next: &Keep) -> Option<Self> {
        Some(Keep { step: self.step.and(&next.step)?, to: self.to.and(next.to.first)? })
    }

    /// Writes the sums to their places.
    pub(crate) fn run(&self, labels: &mut [Block], links: &[Block]) {
        let Keep { step: Step { from, link }, to } = *self;
        for i in 0..from.len {
            let added = link.map_or(Block::ZERO, |link| links[(link + i) as usize]);
            labels[to.of(i) as usize] = labels[from.of(i) as usize] ^ added;
        }
    }
}

/// Appends to the items from `first` on, or extends the last of them by one.
fn push_or_join<T: Copy>(items: &mut Vec<T>, first: usize, next: T, and: impl Fn(T, &T) -> Option<T>) {
    let joined = items[first..].last().and_then(|last| and(*last, &next));
    match (joined, items.last_mut()) {
        (Some(joined), Some(last)) => *last = joined,
        _ => items.push(next),
    }
}

/// The steps of all groups.
///
/// Labels have places, so that those of four instances that are fed together are adjacent if possible. Labels of
/// the program's inputs have the plan's numbers. Those of outputs follow, see [`Groups::places`]. Then come a zero, which is
/// the label of constants, the kept inputs, and room for reading four at the end. Link labels have the plan's
/// numbers, and zeros follow, as many as the longest feed has wires.
pub(crate) struct Steps {
    groups: Groups,
    keeps: Vec<Keep>,
    feeds: Vec<garble::Gather>,
    /// The kept inputs and the feeds of each group.
    of_groups: Vec<(Range<usize>, Range<usize>)>,
    labels: usize,
}

impl Steps {
    /// The steps of a plan, unless it has more labels than there are places.
    pub(crate) fn new(plan: &Plan, material: &Material) -> Option<Self> {
        let most = plan.labels.max(plan.links).checked_add(plan.longest_feed)?;
        u32::try_from(most).ok().filter(|most| *most < MOST_PLACES)?;
        let groups = Groups::new(plan, material);
        let mut layout = Layout::new(plan, material, &groups);
        let (mut keeps, mut feeds, mut of_groups) = (Vec::new(), Vec::new(), Vec::new());
        let mut of_plan = plan.feeds.iter();
        let (mut of_group, mut ends) = (Vec::new(), Vec::new());
        for Group { tasks, .. } in groups.all() {
            let before = (keeps.len(), feeds.len());
            of_group.clear();
            ends.clear();
            for task in tasks.clone() {
                let own = of_plan.by_ref().take(plan.feed_counts[task]);
                own.for_each(|feed| layout.add(feed, &mut of_group, &mut keeps));
                ends.push(of_group.len());
            }
            let of_instance = |i: usize| &of_group[i.checked_sub(1).map_or(0, |before| ends[before])..ends[i]];
            for first in (0..ends.len()).step_by(QUAD_LANES) {
                let present = (ends.len() - first).min(QUAD_LANES);
                // Lanes without an instance may take any labels.
                let lanes = std::array::from_fn(|lane| of_instance(first + lane.min(present - 1)));
                join((first / QUAD_LANES) as u32, (lanes, present), plan.links as u32, &mut feeds);
            }
            of_groups.push((before.0..keeps.len(), before.1..feeds.len()));
        }
        let labels = layout.next as usize + QUAD_LANES;
        Some(Steps { groups, keeps, feeds, of_groups, labels })
    }

    /// The groups.
    pub(crate) fn groups(&self) -> &Groups {
        &self.groups
    }

    /// The place of the label of an input of the program or of an output.
    pub(crate) fn place(&self, label: Label) -> usize {
        self.groups.places(label).first as usize
    }

    /// The number of places that labels have.
    pub(crate) fn labels(&self) -> usize {
        self.labels
    }

    /// Each group with the labels that are kept before its level runs, and its feeds.
    pub(crate) fn by_group(&self) -> impl Iterator<Item = (&Group, &[Keep], &[garble::Gather])> {
        let of_group = |(group, (keeps, feeds)): (_, &(Range<usize>, Range<usize>))| {
            (group, &self.keeps[keeps.clone()], &self.feeds[feeds.clone()])
        };
        self.groups.all().iter().zip(&self.of_groups).map(of_group)
    }
}

/// Joins the steps of four instances with the same number of wires: each feed is as long as a step of every instance allows.
/// The lanes that are not `present` get the steps of the last one that is.
fn join(quad: u32, (lanes, present): ([&[Step]; QUAD_LANES], usize), no_link: u32, feeds: &mut Vec<garble::Gather>) {
    let mut lanes = lanes;
    let mut done = [0; QUAD_LANES];
    let mut slot = 0;
    while let [[a, ..], [b, ..], [c, ..], [d, ..]] = lanes {
        let steps = [a, b, c, d];
        let len = (0..QUAD_LANES).map(|lane| steps[lane].from.len - done[lane]).min().unwrap_or(0);
        let linked = steps.iter().any(|step| step.link.is_some());
        let link = |lane: usize| steps[lane].link.map_or(no_link, |link| link + done[lane]);
        let from =
            std::array::from_fn(|lane| Places { first: steps[lane].from.of(done[lane]), len, ..steps[lane].from });
        feeds.push(garble::Gather {
            quad,
            slot,
            len,
            from: sources(from, present),
            add: linked.then(|| std::array::from_fn(link)),
        });
        slot += len;
        for lane in 0..QUAD_LANES {
            done[lane] += len;
            if done[lane] == steps[lane].from.len {
                (lanes[lane], done[lane]) = (&lanes[lane][1..], 0);
            }
        }
    }
}

/// The places of the labels of four lanes, some of which are present.
fn sources(from: [Places; QUAD_LANES], present: usize) -> garble::Sources {
    let Places { first, stride, len } = from[0];
    let others = (0..).zip(&from[..present]);
    let apart = |of: fn(u32, u32) -> Option<u32>| {
        let alike = |(lane, places): (u32, &Places)| {
            Some(places.first) == of(first, lane) && (len == 1 || places.stride == stride)
        };
        others.clone().all(alike)
    };
    if apart(u32::checked_add) {
        return garble::Sources::Contiguous { first, stride, reversed: false };
    }
    match first.checked_sub(QUAD_LANES as u32 - 1) {
        Some(first) if apart(u32::checked_sub) => garble::Sources::Contiguous { first, stride, reversed: true },
        _ => garble::Sources::Strided(from.map(|places| places.first), from.map(|places| places.stride)),
    }
}

/// The place of the label of constants.
fn zero_place(plan: &Plan) -> usize {
    plan.first_input
}

/// Assigns places to the kept inputs.
struct Layout<'a> {
    plan: &'a Plan,
    groups: &'a Groups,
    /// The place of each kept input of each instance.
    places: Vec<u32>,
    /// The number of feeds that each input of each instance has.
    readers: Vec<u8>,
    /// A separate place for each input of each instance that [many](READ_BY_MANY) read, next to those of the same input of other
    /// instances of the type.
    shared: Vec<u32>,
    /// The first place of inputs, and the next free one.
    first: u32,
    next: u32,
}

impl<'a> Layout<'a> {
    fn new(plan: &'a Plan, material: &Material, groups: &'a Groups) -> Self {
        let mut readers = vec![0u8; plan.labels - plan.first_input];
        for feed in &plan.feeds {
            if let Some(first) = kept_source(plan, feed) {
                readers[first..][..feed.len].iter_mut().for_each(|count| *count = count.saturating_add(1));
            }
        }
        let first = (zero_place(plan) + 1) as u32;
        let (shared, next) = shared_places(plan, material, &readers, first);
        let places = vec![NOWHERE; readers.len()];
        Layout { plan, groups, places, readers, shared, first, next }
    }

    /// Adds the steps of a feed to those of its instance.
    fn add(&mut self, feed: &Feed, steps: &mut Vec<Step>, keeps: &mut Vec<Keep>) {
        let source = kept_source(self.plan, feed);
        let from = match feed.from {
            Origin::Constant(_) => Places { first: zero_place(self.plan) as u32, stride: 0, len: 1 },
            Origin::Labels(from) if source.is_none() => self.groups.places(from),
            Origin::Labels(_) => Places::one(NOWHERE),
        };
        if source.is_none() && !feed.kept {
            let link = feed.link.map(|link| link as u32);
            return steps.push(Step { from: Places { len: feed.len as u32, ..from }, link });
        }
        let [first_step, first_keep] = [steps.len(), keeps.len()];
        for i in 0..feed.len {
            let source = source.map(|source| source + i);
            let place = source.map_or_else(|| from.of(i as u32), |source| self.places[source]);
            let mut step = Step { from: Places::one(place), link: feed.link.map(|link| (link + i) as u32) };
            if feed.kept {
                let to = self.keep(feed.to + i, source, step);
                if place != to || step.link.is_some() {
                    let keep = Keep { step, to: Places::one(to) };
                    push_or_join(keeps, first_keep, keep, |keep, next| keep.and(next));
                }
                step = Step { from: Places::one(to), link: None };
            }
            push_or_join(steps, first_step, step, |step, next| step.and(next));
        }
    }

    /// Finds a place for an input that this step feeds: its own if many read it, or the current place of its label, or the
    /// place of the input that feeds it, if that feeds nothing else, or a new one.
    fn keep(&mut self, input: Label, source: Option<usize>, step: Step) -> u32 {
        let input = input - self.plan.first_input;
        let Step { from: Places { first: from, .. }, link } = step;
        let place = match source {
            _ if self.shared[input] != NOWHERE => self.shared[input],
            None if link.is_none() => from,
            // Labels that are not only for inputs are not overwritten.
            Some(source) if self.readers[source] == 1 && from >= self.first => from,
            _ => {
                self.next += 1;
                self.next - 1
            }
        };
        self.places[input] = place;
        place
    }
}

/// Places from `next` on for the inputs that many read, and the next free place after them.
fn shared_places(plan: &Plan, material: &Material, readers: &[u8], next: u32) -> (Vec<u32>, u32) {
    let mut shared = vec![NOWHERE; readers.len()];
    let mut by_wire: BTreeMap<(TypeId, usize), Vec<usize>> = BTreeMap::new();
    for (place, inputs, _) in &plan.tasks {
        let (ty, first) = (material.type_at(*place), inputs - plan.first_input);
        let own = readers[first..].iter().take(material.instances(ty).input_count()).enumerate();
        for (wire, _) in own.filter(|(_, readers)| **readers >= READ_BY_MANY) {
            by_wire.entry((ty, wire)).or_default().push(first + wire);
        }
    }
    let mut next = next;
    for input in by_wire.into_values().flatten() {
        shared[input] = next;
        next += 1;
    }
    (shared, next)
}

/// The number, among all instances' inputs, of the first input that a feed reads, if it reads one.
fn kept_source(plan: &Plan, feed: &Feed) -> Option<usize> {
    match feed.from {
        Origin::Labels(from) => from.checked_sub(plan.first_input),
        Origin::Constant(_) => None,
    }
}
