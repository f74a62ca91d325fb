//! Evaluating linked components.

use garblet_garble::{self as garble, InstanceEvaluator};
use garblet_primitives::Block;

use super::material::Material;
use super::plan::{Group, Plan};
use super::steps::Steps;

/// Evaluates all instances of a plan in order.
///
/// *Shape*: `labels` begins with the active labels of the program's inputs, takes those of components' outputs and has
/// room for what [`Steps`] keeps; `links` are all link labels, and zeros; `tables` are the tables of all groups.
pub(super) fn evaluate(
    plan: &Plan,
    steps: &Steps,
    material: &Material,
    hash_seed: Block,
    links: &[Block],
    tables: &[u8],
    labels: &mut [Block],
) {
    let mut evaluator = InstanceEvaluator::new(hash_seed);
    let mut of_tasks = steps.by_task();
    for Group { ty, first, tasks, outputs, tables: own } in &plan.groups {
        let mut group = evaluator.begin(garble::Group {
            of: material.instances(*ty),
            base: first.base,
            first: first.k,
            count: tasks.len(),
            tables: &tables[own.clone()],
        });
        for (instance, steps) in of_tasks.by_ref().take(tasks.len()).enumerate() {
            for step in steps {
                let links = &links[step.link()..][..step.len()];
                let from = step.from()..step.from() + step.len();
                let Some(keep) = step.keep() else {
                    group.put(instance, step.wire(), labels[from].iter().zip(links).map(|(from, link)| *from ^ *link));
                    continue;
                };
                if keep != from.start {
                    labels.copy_within(from, keep);
                }
                let kept = labels[keep..][..step.len()].iter_mut().zip(links);
                group.put(
                    instance,
                    step.wire(),
                    kept.map(|(label, link)| {
                        *label ^= *link;
                        *label
                    }),
                );
            }
        }
        group.run(&mut labels[outputs.clone()]);
    }
}
