//! Evaluating linked components.

use garblet_garble::{self as garble, InstanceEvaluator};
use garblet_primitives::Block;

use super::material::Material;
use super::plan::Plan;
use super::steps::Steps;

/// Evaluates all instances of a plan level by level.
///
/// *Shape*: `labels` begins with the active labels of the program's inputs, takes those of components' outputs and has
/// room for what [`Steps`] keeps; `links` are all link labels, and zeros; `tables` are the tables of all groups.
pub(super) fn evaluate(
    plan: &Plan,
    steps: &Steps,
    material: &Material,
    evaluator: &mut InstanceEvaluator,
    links: &[Block],
    tables: &[u8],
    labels: &mut [Block],
) {
    let mut steps = steps.by_group();
    let mut groups = Vec::new();
    for level in plan.groups.chunk_by(|a, b| a.level == b.level) {
        groups.clear();
        for (group, (keeps, feeds)) in level.iter().zip(steps.by_ref()) {
            keeps.iter().for_each(|keep| keep.run(labels, links));
            groups.push(garble::Group {
                of: material.instances(group.ty),
                base: group.first.base,
                first: group.first.k,
                count: group.tasks.len(),
                tables: &tables[group.tables.clone()],
                feeds,
                outputs: group.outputs.start,
            });
        }
        evaluator.run(&groups, labels, links);
    }
}
