//! Evaluating linked components.

use garblet_garble::{self as garble, GroupEvaluation, InstanceEvaluator};
use garblet_primitives::Block;

use super::material::Material;
use super::plan::{Feed, Group, Origin, Plan};

/// Evaluates all instances of a plan in order.
///
/// *Shape*: `labels` begins with the active labels of the program's inputs and takes those of the outputs, and of inputs that
/// links lead on from; `links` are all link labels; `tables` are the tables of all groups.
pub(super) fn evaluate(
    plan: &Plan,
    material: &Material,
    hash_seed: Block,
    links: &[Block],
    tables: &[u8],
    labels: &mut [Block],
) {
    let mut evaluator = InstanceEvaluator::new(hash_seed);
    let zeros = vec![Block::ZERO; plan.feeds.iter().map(|feed| feed.len).max().unwrap_or(0)];
    let mut feeds = &plan.feeds[..];
    for Group { ty, first, tasks, outputs, tables: own } in &plan.groups {
        let mut group = evaluator.begin(garble::Group {
            of: material.instances(*ty),
            base: first.base,
            first: first.k,
            count: tasks.len(),
            tables: &tables[own.clone()],
        });
        for (instance, task) in tasks.clone().enumerate() {
            let (now, later) = feeds.split_at(plan.feed_counts[task]);
            feeds = later;
            for feed in now {
                let wire = feed.to - plan.tasks[task].1;
                let links = feed.link.map_or(&zeros[..feed.len], |link| &links[link..][..feed.len]);
                if feed.kept {
                    put_kept(&mut group, instance, wire, feed, links, labels);
                } else {
                    let from = match feed.from {
                        Origin::Labels(from) => &labels[from..][..feed.len],
                        // The active label of a constant is zero, whatever its value.
                        Origin::Constant(_) => &zeros[..feed.len],
                    };
                    group.put(instance, wire, from.iter().zip(links).map(|(from, link)| *from ^ *link));
                }
            }
        }
        group.run(&mut labels[outputs.clone()]);
    }
}

/// Sets inputs that links lead on from: their labels are kept besides.
fn put_kept(
    group: &mut GroupEvaluation<'_, '_>,
    instance: usize,
    wire: usize,
    feed: &Feed,
    links: &[Block],
    labels: &mut [Block],
) {
    let to = feed.to..feed.to + feed.len;
    let Origin::Labels(from) = feed.from else {
        labels[to].copy_from_slice(links);
        return group.put(instance, wire, links.iter().copied());
    };
    let Ok([from, to]) = labels.get_disjoint_mut([from..from + feed.len, to]) else { return };
    let kept = to.iter_mut().zip(&*from).zip(links).map(|((to, from), link)| {
        *to = *from ^ *link;
        *to
    });
    group.put(instance, wire, kept);
}
