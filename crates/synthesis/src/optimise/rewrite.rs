//! Rewriting of small cuts: replaces a node with a sum of fewer products of the leaves of one of its cuts.

use super::{
    cuts::{Cut, Cuts},
    functions::{VARIABLES, depends_on},
    plan::{Formula, Plan},
    products::{Finder, Products, Reach},
};
use crate::xag::Xag;

/// The cuts to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// The first of the best that save AND nodes.
    Better,
    /// The first of the best that cost no more.
    Equal,
    /// The last of the best that cost no more.
    LastEqual,
}

/// One way to go over a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rewriting {
    /// The most cuts to keep of each node.
    pub(super) cuts: usize,
    /// The functions to look for products of.
    pub(super) reach: Reach,
    /// The cuts to take.
    pub(super) choice: Choice,
}

/// An equivalent graph with no more AND nodes.
///
/// Nodes are visited in order, and each cut of a node is tried. The saving counts nodes that nothing would read without the
/// node's operands. The cost counts nodes that must return because the cut's leaves need them, and the function's products. The
/// best cut is taken if it is a gain, or with [`Choice::Equal`] also if it costs as much: a different structure, in which other
/// passes may find gains. *Source*: Testa, Soeken, Amarù and De Micheli 2019, section 4, with exact counts of
/// readers, so that one gain never cancels another.
pub(super) fn run(old: &Xag, finder: &mut Finder, way: Rewriting, layers: Option<u32>) -> Xag {
    let mut cuts = Cuts::new(old, way.cuts);
    let mut plan = Plan::new(old, layers);
    // Until its turn, a node keeps all its original readers.
    for at in old.leaves().len()..old.len() {
        if plan.readers(at) > 0 {
            improve(&mut plan, at, cuts.add(old, at), finder, way);
        }
        plan.settle(at);
    }
    plan.build()
}

fn improve(plan: &mut Plan, at: usize, cuts: &[Cut], finder: &mut Finder, way: Rewriting) {
    let mut best: Option<(usize, Formula)> = None;
    let alone = !plan.old.node(at).operands().any(|edge| plan.readers(edge.node()) == 1);
    let spare = usize::from(way.choice != Choice::Better);
    let last = usize::from(way.choice == Choice::LastEqual);
    for cut in cuts {
        // If all operands stay, only the node itself is saved, and only for an affine function.
        if alone && !cut.is_affine() {
            continue;
        }
        let gain = gain(plan, at, cut, finder, way.reach, spare);
        if gain == 0 || gain + last <= best.as_ref().map_or(0, |(gain, _)| *gain) {
            continue;
        }
        let Some(products) = finder.products(cut.table, way.reach) else { continue };
        let formula = formula(cut, &products);
        if plan.allows(at, &formula) {
            best = Some((gain, formula));
        }
    }
    if let Some((_, formula)) = best {
        plan.replace(at, formula);
    }
}

/// The number of AND nodes saved by computing a node from a cut, plus `spare`, or zero.
fn gain(plan: &mut Plan, at: usize, cut: &Cut, finder: &mut Finder, reach: Reach, spare: usize) -> usize {
    let back: usize = support(cut).map(|leaf| plan.read(leaf)).sum();
    let saved = plan.and_count(at) + plan.forget_operands(at);
    let room = (saved + spare).saturating_sub(back);
    // A function that is not affine takes at least one product.
    let gain = match room {
        0 => 0,
        1 if !cut.is_affine() => 0,
        _ => finder.count(cut.table, reach, room).map_or(0, |products| room - products),
    };
    plan.read_operands(at);
    support(cut).for_each(|leaf| _ = plan.forget(leaf));
    gain
}

/// The leaves that a cut's function depends on.
fn support(cut: &Cut) -> impl Iterator<Item = u32> {
    let leaves = cut.leaves().iter().enumerate();
    leaves.filter(|(i, _)| depends_on(cut.table, *i)).map(|(_, &leaf)| leaf)
}

/// Products of a cut's variables as a formula of the leaves in use.
fn formula(cut: &Cut, products: &Products) -> Formula {
    let used = products.used();
    let places: Vec<usize> = (0..VARIABLES).filter(|i| used >> i & 1 == 1).collect();
    let mask = |mask: u16| {
        let low = places.iter().enumerate().fold(0, |low, (k, i)| low | u64::from(mask >> i & 1) << k);
        low | u64::from(mask >> VARIABLES) << places.len()
    };
    Formula {
        leaves: places.iter().map(|&i| cut.leaves()[i]).collect(),
        factors: products.factors.iter().map(|&(a, b)| (mask(a), mask(b))).collect(),
        sum: mask(products.sum),
        invert: products.invert,
    }
}
