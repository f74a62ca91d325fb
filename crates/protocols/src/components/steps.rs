//! How evaluation feeds instances: the plan's feeds in few bytes, and with as few labels kept as need be.
//!
//! A run of small components has nearly as many feeds as gates, so that what is said about each counts.

use super::plan::{Feed, Label, Origin, Plan};

/// Stands for no place.
const NOWHERE: u32 = u32::MAX;

/// Labels and link labels that add up to those of an instance's inputs.
#[derive(Clone, Copy)]
pub(super) struct Step {
    /// Place of the first label.
    from: u32,
    /// Place of the first link label.
    link: u32,
    /// Where the sums are kept, if links lead on from there.
    keep: u32,
    /// The first input wire.
    wire: u32,
    len: u32,
}

impl Step {
    pub(super) fn from(&self) -> usize {
        self.from as usize
    }

    pub(super) fn link(&self) -> usize {
        self.link as usize
    }

    pub(super) fn keep(&self) -> Option<usize> {
        (self.keep != NOWHERE).then_some(self.keep as usize)
    }

    pub(super) fn wire(&self) -> usize {
        self.wire as usize
    }

    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether the next wire follows: from there and to there.
    fn goes_on(&self, from: u32, keep: u32) -> bool {
        let kept = if self.keep == NOWHERE { keep == NOWHERE } else { self.keep + self.len == keep };
        kept && self.from + self.len == from
    }
}

/// The steps of all tasks.
///
/// Labels have places: those of the program's inputs and of components' outputs have the plan's numbers. Then come as many
/// zeros as the longest feed has wires, which are the labels of constants, and then the inputs that are kept. Link labels have
/// the plan's numbers, and as many zeros follow.
pub(super) struct Steps {
    steps: Vec<Step>,
    /// How many steps each task has.
    counts: Vec<u32>,
    labels: usize,
}

impl Steps {
    /// The steps of a plan, unless it has more labels than can be named.
    pub(super) fn new(plan: &Plan) -> Option<Self> {
        let most = plan.labels.max(plan.links).checked_add(plan.longest_feed)?;
        u32::try_from(most).ok().filter(|most| *most < NOWHERE)?;
        let mut layout = Layout::new(plan);
        let mut counts = Vec::with_capacity(plan.tasks.len());
        let mut feeds = plan.feeds.iter();
        for ((_, first, _), count) in plan.tasks.iter().zip(&plan.feed_counts) {
            let before = layout.steps.len();
            feeds.by_ref().take(*count).for_each(|feed| layout.add(feed, *first));
            counts.push((layout.steps.len() - before) as u32);
        }
        Some(Steps { steps: layout.steps, counts, labels: layout.next as usize })
    }

    /// How many places labels have.
    pub(super) fn labels(&self) -> usize {
        self.labels
    }

    /// The steps of each task in turn.
    pub(super) fn by_task(&self) -> impl Iterator<Item = &[Step]> {
        let mut rest = &self.steps[..];
        self.counts.iter().map(move |count| {
            let (now, later) = rest.split_at(*count as usize);
            rest = later;
            now
        })
    }
}

/// Gives the inputs that are kept their places.
struct Layout<'a> {
    plan: &'a Plan,
    steps: Vec<Step>,
    /// For each input of each instance, where it is kept.
    places: Vec<u32>,
    /// For each input of each instance, how many feeds lead on from there.
    readers: Vec<u8>,
    /// The next free place.
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
        let steps = Vec::with_capacity(plan.feeds.len());
        let next = (plan.first_input + plan.longest_feed) as u32;
        Layout { plan, steps, places: vec![NOWHERE; inputs], readers, next }
    }

    /// Adds the steps of a feed into a task whose first input has that label.
    fn add(&mut self, feed: &Feed, first: Label) {
        let link = feed.link.unwrap_or(self.plan.links) as u32;
        let wire = (feed.to - first) as u32;
        let source = kept_source(self.plan, feed);
        let from = match feed.from {
            Origin::Labels(from) => from as u32,
            Origin::Constant(_) => self.plan.first_input as u32,
        };
        if source.is_none() && !feed.kept {
            return self.steps.push(Step { from, link, keep: NOWHERE, wire, len: feed.len as u32 });
        }
        let begin = self.steps.len();
        for i in 0..feed.len {
            let from = source.map_or(from + i as u32, |source| self.places[source + i]);
            let keep = if feed.kept { self.keep(feed.to + i, source.map(|source| source + i)) } else { NOWHERE };
            match self.steps[begin..].last_mut().filter(|step| step.goes_on(from, keep)) {
                Some(step) => step.len += 1,
                None => self.steps.push(Step { from, link: link + i as u32, keep, wire: wire + i as u32, len: 1 }),
            }
        }
    }

    /// Finds a place for an input, given the one that it is fed by: the same, if nothing else is fed by that.
    fn keep(&mut self, input: Label, source: Option<usize>) -> u32 {
        let place = match source {
            Some(source) if self.readers[source] == 1 => self.places[source],
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
