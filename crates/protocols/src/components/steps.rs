//! How evaluation feeds instances: the plan's feeds in few bytes, four instances at a time, and with as few labels kept as
//! need be.
//!
//! A run of small components has nearly as many feeds as gates, so that what is said about each counts.

use std::ops::Range;

use garblet_garble as garble;
use garblet_primitives::{Block, LANES};

use super::plan::{Feed, Group, Label, Origin, Plan};

/// Stands for no place.
const NOWHERE: u32 = u32::MAX;

/// Labels and link labels that add up to those of an instance's inputs.
#[derive(Clone, Copy)]
struct Step {
    /// Place of the first label.
    from: u32,
    /// Place of the first link label.
    link: Option<u32>,
    len: u32,
}

/// Labels of inputs that are kept, because links lead on from there.
pub(super) struct Keep {
    step: Step,
    /// Where the first sum is kept.
    to: u32,
}

impl Step {
    /// Whether the other goes on where this one ends.
    fn goes_on(&self, next: &Step) -> bool {
        self.from + self.len == next.from && self.link.map(|link| link + self.len) == next.link
    }
}

impl Keep {
    /// Whether the other goes on where this one ends.
    fn goes_on(&self, next: &Keep) -> bool {
        self.step.goes_on(&next.step) && self.to + self.step.len == next.to
    }

    /// Puts the sums where they are kept.
    pub(super) fn run(&self, labels: &mut [Block], links: &[Block]) {
        let Keep { step: Step { from, link, len }, to } = *self;
        let (from, to, len) = (from as usize, to as usize, len as usize);
        labels.copy_within(from..from + len, to);
        if let Some(link) = link {
            let links = &links[link as usize..][..len];
            labels[to..][..len].iter_mut().zip(links).for_each(|(label, link)| *label ^= *link);
        }
    }
}

/// The steps of all groups.
///
/// Labels have places: those of the program's inputs and of components' outputs have the plan's numbers. Then come as many
/// zeros as the longest feed has wires, which are the labels of constants, and then the inputs that are kept. Link labels have
/// the plan's numbers, and as many zeros follow.
pub(super) struct Steps {
    keeps: Vec<Keep>,
    feeds: Vec<garble::Feed>,
    /// Where those of each group are.
    groups: Vec<(Range<usize>, Range<usize>)>,
    labels: usize,
}

impl Steps {
    /// The steps of a plan, unless it has more labels than can be named.
    pub(super) fn new(plan: &Plan) -> Option<Self> {
        let most = plan.labels.max(plan.links).checked_add(plan.longest_feed)?;
        u32::try_from(most).ok().filter(|most| *most < NOWHERE)?;
        let mut layout = Layout::new(plan);
        let mut steps = Steps { keeps: Vec::new(), feeds: Vec::new(), groups: Vec::new(), labels: 0 };
        let mut feeds = plan.feeds.iter();
        let (mut of_group, mut ends) = (Vec::new(), Vec::new());
        for Group { tasks, .. } in &plan.groups {
            let before = (steps.keeps.len(), steps.feeds.len());
            of_group.clear();
            ends.clear();
            for task in tasks.clone() {
                let own = feeds.by_ref().take(plan.feed_counts[task]);
                let begin = of_group.len();
                own.for_each(|feed| layout.add(feed, begin, &mut of_group, &mut steps.keeps));
                ends.push(of_group.len());
            }
            let of_instance = |i: usize| &of_group[i.checked_sub(1).map_or(0, |before| ends[before])..ends[i]];
            for first in (0..ends.len()).step_by(LANES) {
                // Lanes without an instance take the labels of the last.
                let lanes = std::array::from_fn(|lane| of_instance((first + lane).min(ends.len() - 1)));
                join((first / LANES) as u32, lanes, plan.links as u32, &mut steps.feeds);
            }
            steps.groups.push((before.0..steps.keeps.len(), before.1..steps.feeds.len()));
        }
        steps.labels = layout.next as usize;
        Some(steps)
    }

    /// How many places labels have.
    pub(super) fn labels(&self) -> usize {
        self.labels
    }

    /// For each group, the labels that are kept before its level runs, and its feeds.
    pub(super) fn by_group(&self) -> impl Iterator<Item = (&[Keep], &[garble::Feed])> {
        self.groups.iter().map(|(keeps, feeds)| (&self.keeps[keeps.clone()], &self.feeds[feeds.clone()]))
    }
}

/// Joins the steps of four instances, which have as many wires: each feed goes as far as a step of every instance does.
fn join(quad: u32, mut lanes: [&[Step]; LANES], no_link: u32, feeds: &mut Vec<garble::Feed>) {
    let mut done = [0; LANES];
    let mut slot = 0;
    while let [[a, ..], [b, ..], [c, ..], [d, ..]] = lanes {
        let steps = [a, b, c, d];
        let len = (0..LANES).map(|lane| steps[lane].len - done[lane]).min().unwrap_or(0);
        let linked = steps.iter().any(|step| step.link.is_some());
        let link = |lane: usize| steps[lane].link.map_or(no_link, |link| link + done[lane]);
        feeds.push(garble::Feed {
            quad,
            slot,
            len,
            from: std::array::from_fn(|lane| steps[lane].from + done[lane]),
            add: linked.then(|| std::array::from_fn(link)),
        });
        slot += len;
        for lane in 0..LANES {
            done[lane] += len;
            if done[lane] == steps[lane].len {
                (lanes[lane], done[lane]) = (&lanes[lane][1..], 0);
            }
        }
    }
}

/// Gives the inputs that are kept their places.
struct Layout<'a> {
    plan: &'a Plan,
    /// For each input of each instance, where it is kept.
    places: Vec<u32>,
    /// For each input of each instance, how many feeds lead on from there.
    readers: Vec<u8>,
    /// The first place that is for inputs, and the next that is free.
    first: u32,
    next: u32,
}

impl<'a> Layout<'a> {
    fn new(plan: &'a Plan) -> Self {
        let inputs = plan.labels - plan.first_input;
        let mut readers = vec![0u8; inputs];
        for feed in &plan.feeds {
            if let Some(first) = kept_source(plan, feed) {
                readers[first..][..feed.len].iter_mut().for_each(|count| *count = count.saturating_add(1));
            }
        }
        let first = (plan.first_input + plan.longest_feed) as u32;
        Layout { plan, places: vec![NOWHERE; inputs], readers, first, next: first }
    }

    /// Adds the steps of a feed to those of its instance, which are from `begin` on.
    fn add(&mut self, feed: &Feed, begin: usize, steps: &mut Vec<Step>, keeps: &mut Vec<Keep>) {
        let source = kept_source(self.plan, feed);
        let first = match feed.from {
            Origin::Labels(from) => from as u32,
            Origin::Constant(_) => self.plan.first_input as u32,
        };
        if source.is_none() && !feed.kept {
            let link = feed.link.map(|link| link as u32);
            return steps.push(Step { from: first, link, len: feed.len as u32 });
        }
        let kept_from = keeps.len();
        for i in 0..feed.len {
            let source = source.map(|source| source + i);
            let from = source.map_or(first + i as u32, |source| self.places[source]);
            let mut step = Step { from, link: feed.link.map(|link| (link + i) as u32), len: 1 };
            if feed.kept {
                let to = self.keep(feed.to + i, source, step);
                let moved = Keep { step, to };
                if from != to || step.link.is_some() {
                    match keeps[kept_from..].last_mut().filter(|keep| keep.goes_on(&moved)) {
                        Some(keep) => keep.step.len += 1,
                        None => keeps.push(moved),
                    }
                }
                step = Step { from: to, link: None, len: 1 };
            }
            match steps[begin..].last_mut().filter(|before| before.goes_on(&step)) {
                Some(before) => before.len += 1,
                None => steps.push(step),
            }
        }
    }

    /// Finds a place for an input that is fed by that step: where its label is already, or the place of the input that it
    /// is fed by, if nothing else is fed by that, or a new one.
    fn keep(&mut self, input: Label, source: Option<usize>, step: Step) -> u32 {
        let place = match source {
            None if step.link.is_none() => step.from,
            // Labels that are not only for inputs are not overwritten.
            Some(source) if self.readers[source] == 1 && step.from >= self.first => step.from,
            _ => {
                self.next += 1;
                self.next - 1
            }
        };
        self.places[input - self.plan.first_input] = place;
        place
    }
}

/// The number among all instances' inputs of the first that a feed leads on from, if it does.
fn kept_source(plan: &Plan, feed: &Feed) -> Option<usize> {
    match feed.from {
        Origin::Labels(from) => from.checked_sub(plan.first_input),
        Origin::Constant(_) => None,
    }
}
