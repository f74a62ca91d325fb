//! The plan of the online phase, worked out in advance: components, links and their order.

mod feeding;
mod layout;

use std::collections::BTreeSet;
use std::sync::Arc;

use garblet_circuit::{InstanceId, Link, Program, Source};

use self::feeding::Feeding;
use self::layout::Layout;
use crate::GARBLER;
use crate::config::Linking;
use crate::library::TypeId;
use crate::linking::allocate::{Allocation, Use, allocate};
use crate::linking::wiring::Wiring;
use crate::pieces::material::{Material, Place};
use crate::pieces::stock::Stock;
use garblet_protocol::error::{Missing, NotPrepared};

/// A label's number among all labels of a run: the program's inputs, then all instances' outputs, then their inputs.
pub(crate) type Label = usize;

/// The origin of labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Labels(Label),
    Constant(bool),
}

/// Labels become others by the addition of link labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Feed {
    pub(crate) from: Origin,
    pub(crate) to: Label,
    pub(crate) len: usize,
    /// The first link label; `None` if the labels are the same.
    pub(crate) link: Option<usize>,
    /// Set if links lead on from here: the labels are needed after their component has run.
    pub(crate) kept: bool,
}

/// A keyed link that is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyedUse {
    /// Number in the library.
    pub(crate) link: usize,
    pub(crate) source: Place,
    pub(crate) candidate: u32,
    /// The source's place in the order of execution.
    pub(crate) task: usize,
    /// The place of its first label among all link labels.
    pub(crate) first_link: usize,
}

/// A run of one program with components that both stores have.
pub struct Plan {
    pub(crate) program: Arc<Program>,
    /// The first label of each program input.
    pub(crate) inputs: Vec<Label>,
    /// The places of the labels of each program output.
    pub(crate) outputs: Vec<Vec<(Origin, usize)>>,
    /// The tasks in the order of execution: the component, its first input label and its first output label.
    pub(crate) tasks: Vec<(Place, Label, Label)>,
    /// The level of each task: tasks of a level do not feed one another, and are ordered by types.
    pub(crate) levels: Vec<u32>,
    /// The feeds, task after task.
    pub(crate) feeds: Vec<Feed>,
    /// The number of feeds of each task.
    pub(crate) feed_counts: Vec<usize>,
    /// Labels of the longest feed.
    pub(crate) longest_feed: usize,
    pub(crate) keyed: Vec<KeyedUse>,
    /// The numbers of the keyed links, each with the place of its source in the order of execution before it.
    pub(crate) keyed_of_task: BTreeSet<(usize, usize)>,
    pub(crate) uses: Vec<Use>,
    /// The place where the labels of each use begin among all link labels.
    pub(crate) use_links: Vec<usize>,
    pub(crate) broken: Vec<(u32, u64)>,
    pub(crate) labels: usize,
    /// The first label of an instance's input.
    pub(crate) first_input: Label,
    /// The number of link labels that are sent one by one; they come first.
    pub(crate) sent_links: usize,
    /// All link labels.
    pub(crate) links: usize,
    pub(crate) and_count: u64,
    /// The place of each instance of the program in the order of execution.
    #[cfg_attr(not(test), allow(dead_code))]
    pub(crate) task_of: Vec<usize>,
}

/// The reason why a program cannot be planned.
pub(crate) enum Unplanned {
    UnknownComponent { component: String, known: Vec<String> },
    Missing(Vec<(TypeId, Missing)>),
}

impl From<Unplanned> for NotPrepared {
    fn from(unplanned: Unplanned) -> Self {
        match unplanned {
            Unplanned::UnknownComponent { component, known } => NotPrepared::UnknownComponent { component, known },
            Unplanned::Missing(missing) => {
                NotPrepared::Missing(missing.into_iter().map(|(_, missing)| missing).collect())
            }
        }
    }
}

/// A component for every instance, so nothing is missing.
pub(crate) struct Draft<'a> {
    program: &'a Arc<Program>,
    material: &'a Material,
    linking: Linking,
    stock: Stock,
    wiring: Wiring<'a>,
    order: Vec<InstanceId>,
    allocation: Allocation,
}

impl<'a> Draft<'a> {
    /// Chooses the components of a run.
    ///
    /// *Errors*: a component that the library has not, or too few of some type.
    pub(crate) fn new(
        program: &'a Arc<Program>,
        material: &'a Material,
        linking: Linking,
        stock: Stock,
    ) -> Result<Self, Unplanned> {
        let wiring = Wiring::new(program, material.library()).map_err(|component| {
            let component = program.components()[component].name().into();
            let known = material.library().types().iter().map(|t| t.name.clone()).collect();
            Unplanned::UnknownComponent { component, known }
        })?;
        let order = by_data_level(&wiring);
        let allocation = allocate(material, &wiring, linking, stock.clone(), &order).map_err(Unplanned::Missing)?;
        Ok(Draft { program, material, linking, stock, wiring, order, allocation })
    }

    /// Plans the run.
    ///
    /// Where templates leave links that keys might serve, and fewer blocks are sent without templates, they are not used.
    pub(crate) fn plan(self) -> Plan {
        let Draft { material, wiring, order, .. } = &self;
        let plan = self.linked(self.linking, self.allocation.clone());
        if plan.uses.is_empty() || plan.sent_links == plan.first_links() {
            return plan;
        }
        let other = allocate(material, wiring, Linking::Keyed, self.stock.clone(), order);
        match other.map(|allocation| self.linked(Linking::Keyed, allocation)) {
            Ok(other) if other.link_blocks() < plan.link_blocks() => other,
            _ => plan,
        }
    }

    fn linked(&self, linking: Linking, allocation: Allocation) -> Plan {
        let Draft { program, material, wiring, .. } = self;
        let feeds = Feeding::new(wiring, material, linking, &allocation).all();
        Layout::new(program, material, wiring, allocation, feeds).plan(Arc::clone(program))
    }
}

impl Plan {
    /// Blocks that links take online.
    pub(crate) fn link_blocks(&self) -> usize {
        self.sent_links + self.keyed.len() + self.uses.iter().map(|used| used.part.reveal_blocks()).sum::<usize>()
    }

    /// Link labels that must always be sent: those of constants, and the first of each of the evaluator's inputs.
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
