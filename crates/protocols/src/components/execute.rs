//! Evaluating linked components.

use garblet_primitives::Block;

use super::material::Material;
use super::plan::{Origin, Plan};

/// Evaluates all instances of a plan in order.
///
/// *Shape*: `labels` begins with the active labels of the program's inputs and takes all others; `links` are all link
/// labels; `tables[k]` are the tables of task `k`.
pub(super) fn evaluate(
    plan: &Plan,
    material: &Material,
    hash_seed: Block,
    links: &[Block],
    tables: &[&[u8]],
    labels: &mut [Block],
) {
    for level in &plan.levels {
        for feed in &plan.feeds[level.feeds.clone()] {
            match (feed.from, feed.link) {
                (Origin::Labels(from), Some(link)) => {
                    let links = &links[link..][..feed.len];
                    for (i, link) in links.iter().enumerate() {
                        labels[feed.to + i] = labels[from + i] ^ *link;
                    }
                }
                (Origin::Labels(from), None) => labels.copy_within(from..from + feed.len, feed.to),
                // The active label of a constant is zero, whatever its value.
                (Origin::Constant(_), Some(link)) => {
                    labels[feed.to..][..feed.len].copy_from_slice(&links[link..][..feed.len]);
                }
                (Origin::Constant(_), None) => labels[feed.to..][..feed.len].fill(Block::ZERO),
            }
        }
        for batch in &level.batches {
            let (inputs, outputs) = labels.split_at_mut(batch.outputs.start.max(batch.inputs.end));
            let outputs = &mut outputs[batch.outputs.start - inputs.len()..][..batch.outputs.len()];
            let mut evaluator = material.instances(batch.ty).evaluator(hash_seed, batch.base);
            evaluator.evaluate(&batch.ks, &inputs[batch.inputs.clone()], &tables[batch.tasks.clone()], outputs);
        }
    }
}
