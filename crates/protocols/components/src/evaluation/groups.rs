//! The instances that the evaluator runs together, and the places of their labels.

use std::ops::Range;

use crate::library::TypeId;
use crate::linking::plan::{Label, Plan};
use crate::pieces::material::Material;

/// Places of labels, equally far apart.
#[derive(Clone, Copy)]
pub(crate) struct Places {
    pub(crate) first: u32,
    pub(crate) stride: u32,
    pub(crate) len: u32,
}

impl Places {
    /// One place.
    pub(crate) fn one(place: u32) -> Self {
        Places { first: place, stride: 1, len: 1 }
    }

    /// Place number `i`.
    pub(crate) fn of(&self, i: u32) -> u32 {
        self.first + i * self.stride
    }

    /// Adds one more place, if its distance is the same.
    pub(crate) fn and(self, place: u32) -> Option<Self> {
        let stride = if self.len == 1 { place.checked_sub(self.first)? } else { self.stride };
        let more = Places { stride, len: self.len + 1, ..self };
        (more.of(self.len) == place).then_some(more)
    }
}

/// Instances of one type that are evaluated together.
pub(crate) struct Group {
    pub(crate) ty: TypeId,
    /// The level. Groups of a level do not feed one another.
    pub(crate) level: u32,
    /// The number of the first instance's first gate; those of the others follow.
    pub(crate) first_gate: u64,
    /// The instances, by their place in the order of execution.
    pub(crate) tasks: Range<usize>,
    /// The place where the labels of the outputs begin: output after output, each for all instances.
    pub(crate) outputs: usize,
    /// The range of the tables among all.
    pub(crate) tables: Range<usize>,
}

/// All groups of a plan, in the order of execution.
pub(crate) struct Groups {
    all: Vec<Group>,
    /// The place of each label of a program's input or of an output, and the distance to the next label of its instance.
    places: Vec<[u32; 2]>,
    table_bytes: usize,
}

impl Groups {
    /// Splits a plan's tasks: instances of a level and type that are numbered in one sequence run together.
    ///
    /// *Shape*: labels are counted in 32 bits.
    pub(crate) fn new(plan: &Plan, material: &Material) -> Self {
        let places = (0..plan.first_input as u32).map(|label| [label, 1]).collect();
        let mut groups = Groups { all: Vec::new(), places, table_bytes: 0 };
        let of_task = |task: usize| {
            let place = plan.tasks[task].0;
            (plan.levels[task], material.type_at(place), material.numbered(place))
        };
        let (mut begin, mut ks) = (0, Vec::new());
        while begin < plan.tasks.len() {
            let (level, ty, first) = of_task(begin);
            ks.clear();
            let together = (begin..plan.tasks.len()).map(of_task);
            let together = together.take_while(|other| (other.0, other.1, other.2.base) == (level, ty, first.base));
            ks.extend(together.map(|(_, _, numbered)| numbered.k));
            let mut rest = &ks[..];
            while let [k, ..] = rest {
                let count = material.instances(ty).group(rest);
                let first_gate = first.base + material.instances(ty).numbering().first_gate(*k);
                groups.push(plan, material, (ty, level, first_gate), begin..begin + count);
                begin += count;
                rest = &rest[count..];
            }
        }
        groups
    }

    fn push(&mut self, plan: &Plan, material: &Material, of: (TypeId, u32, u64), tasks: Range<usize>) {
        let (ty, level, first_gate) = of;
        let instances = material.instances(ty);
        let (count, outputs) = (tasks.len(), plan.tasks[tasks.start].2);
        let tables = self.table_bytes..self.table_bytes + instances.interleaved_bytes(count);
        self.table_bytes = tables.end;
        for output in 0..instances.output_count() {
            for instance in 0..count {
                let place = [outputs + output * count + instance, count].map(|n| n as u32);
                self.places[outputs + instance * instances.output_count() + output] = place;
            }
        }
        self.all.push(Group { ty, level, first_gate, tasks, outputs, tables });
    }

    /// The groups in the order of execution.
    pub(crate) fn all(&self) -> &[Group] {
        &self.all
    }

    /// The group of a task.
    pub(crate) fn of_task(&self, task: usize) -> &Group {
        &self.all[self.all.partition_point(|group| group.tasks.end <= task)]
    }

    /// The place of the label of an input of the program or of an output, and the distance to the next labels of the same instance.
    pub(crate) fn places(&self, label: Label) -> Places {
        let [first, stride] = self.places[label];
        Places { first, stride, len: 1 }
    }

    /// Bytes of the tables of all groups.
    pub(crate) fn table_bytes(&self) -> usize {
        self.table_bytes
    }
}
