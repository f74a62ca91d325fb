//! Evaluating linked components.

use garblet_garble::{self as garble, InstanceEvaluator};
use garblet_primitives::Block;

use crate::evaluation::steps::Steps;
use crate::pieces::material::Material;

/// Evaluates all instances of a plan level by level.
///
/// *Shape*: `labels` begins with the active labels of the program's inputs, and has room for the labels of components' outputs and for
/// the inputs that [`Steps`] keeps; `links` are all link labels, and zeros; `tables` are the tables of all groups.
pub(crate) fn evaluate(
    steps: &Steps,
    material: &Material,
    evaluator: &mut InstanceEvaluator,
    links: &[Block],
    tables: &[u8],
    labels: &mut [Block],
) {
    let mut by_group = steps.by_group();
    let mut together = Vec::new();
    for level in steps.groups().all().chunk_by(|a, b| a.level == b.level) {
        together.clear();
        for (group, keeps, feeds) in by_group.by_ref().take(level.len()) {
            keeps.iter().for_each(|keep| keep.run(labels, links));
            together.push(garble::Group {
                of: material.instances(group.ty),
                first_gate: group.first_gate,
                count: group.tasks.len(),
                tables: &tables[group.tables.clone()],
                gathers: feeds,
                outputs: group.outputs,
            });
        }
        evaluator.run(&together, labels, links);
    }
}
