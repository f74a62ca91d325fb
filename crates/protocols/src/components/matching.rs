//! Finding templates in a program: which of its instances are the cells of a chain, a tree or a grid.
//!
//! Both parties search the same program in the same order, so that nothing about the result is sent.

use std::collections::HashSet;

use garblet_circuit::InstanceId;

use super::library::Wires;
use super::template::{Border, Chain, Foot, Grid, Part, Shape, Template, Tree};
use super::wiring::{Neighbours, Wiring};

/// A part of a template found in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) part: Part,
    /// Cells of the template, and the instances that they become.
    pub(super) cells: Vec<(u32, InstanceId)>,
}

/// Finds parts of a template among the instances that are not `taken`, from the first instance on. Stops where `accept`
/// refuses one.
pub(super) fn find_all(
    wiring: &Wiring<'_>,
    template: &Template,
    taken: &mut HashSet<InstanceId>,
    mut accept: impl FnMut(&Found) -> bool,
) {
    let finder = Finder::new(wiring, template.shape());
    let starts: Vec<InstanceId> = match template.shape() {
        // Roots come after what feeds them.
        Shape::Tree(_) => wiring.instances().rev().collect(),
        Shape::Chain(_) | Shape::Grid(_) => wiring.instances().collect(),
    };
    for start in starts {
        let Some(found) = finder.grow(start, taken) else { continue };
        if !accept(&found) {
            return;
        }
        taken.extend(found.cells.iter().map(|(_, instance)| *instance));
    }
}

/// A shape and the program's neighbours in its directions.
enum Finder<'a, 'p> {
    Chain { wiring: &'a Wiring<'p>, chain: &'a Chain, next: Neighbours },
    Tree { wiring: &'a Wiring<'p>, tree: &'a Tree },
    Grid(Box<GridFinder<'a, 'p>>),
}

struct GridFinder<'a, 'p> {
    wiring: &'a Wiring<'p>,
    grid: &'a Grid,
    right: Neighbours,
    down: Neighbours,
    foot: Option<(&'a Foot, Neighbours, Neighbours)>,
}

impl<'a, 'p> Finder<'a, 'p> {
    fn new(wiring: &'a Wiring<'p>, shape: &'a Shape) -> Self {
        match shape {
            Shape::Chain(chain) => Finder::Chain { wiring, chain, next: wiring.neighbours(&chain.next) },
            Shape::Tree(tree) => Finder::Tree { wiring, tree },
            Shape::Grid(grid) => {
                let foot = grid.foot.as_ref();
                Finder::Grid(Box::new(GridFinder {
                    wiring,
                    grid,
                    right: wiring.neighbours(&grid.right),
                    down: wiring.neighbours(&grid.down),
                    foot: foot.map(|foot| (foot, wiring.neighbours(&foot.down), wiring.neighbours(&foot.right))),
                }))
            }
        }
    }

    /// The largest part of the shape that begins at an instance, if it has any link.
    fn grow(&self, start: InstanceId, taken: &HashSet<InstanceId>) -> Option<Found> {
        if taken.contains(&start) {
            return None;
        }
        match self {
            Finder::Chain { wiring, chain, next } => grow_chain(wiring, chain, next, start, taken),
            Finder::Tree { wiring, tree } => grow_tree(wiring, tree, start, taken),
            Finder::Grid(finder) => finder.grow(start, taken),
        }
    }
}

fn grow_chain(
    wiring: &Wiring<'_>,
    chain: &Chain,
    next: &Neighbours,
    start: InstanceId,
    taken: &HashSet<InstanceId>,
) -> Option<Found> {
    let period = chain.pattern.len();
    if wiring.type_of(start) != chain.pattern[0] {
        return None;
    }
    let mut cells = vec![start];
    while cells.len() < chain.length as usize {
        let ty = chain.pattern[cells.len() % period];
        let shares = |instance: InstanceId| match cells.len().checked_sub(period) {
            Some(earlier) => {
                let mut shared = chain.shared.iter().filter(|(of, _)| *of == ty);
                shared.all(|(_, wires)| wiring.same(cells[earlier], instance, *wires))
            }
            None => true,
        };
        let fits = |instance: &&InstanceId| {
            !taken.contains(instance) && wiring.type_of(**instance) == ty && shares(**instance)
        };
        match next.after(cells[cells.len() - 1]).iter().find(fits) {
            Some(instance) => cells.push(*instance),
            None => break,
        }
    }
    let part = Part::Levels(cells.len() as u32);
    (cells.len() > 1).then(|| Found { part, cells: (0..).zip(cells).collect() })
}

fn grow_tree(wiring: &Wiring<'_>, tree: &Tree, root: InstanceId, taken: &HashSet<InstanceId>) -> Option<Found> {
    if wiring.type_of(root) != tree.cell {
        return None;
    }
    let mut own = HashSet::from([root]);
    let mut cells = vec![root];
    let mut parents = vec![root];
    let mut levels = 1;
    while levels < tree.levels {
        let child = |parent: InstanceId, at: usize| {
            let connection = &tree.children[at];
            let child = wiring.fed_by(parent, connection.to.1, tree.cell, connection.from.1)?;
            (!taken.contains(&child)).then_some(child)
        };
        let arity = tree.children.len();
        let all = parents.iter().flat_map(|parent| (0..arity).map(|at| child(*parent, at)));
        let Some(children) = all.collect::<Option<Vec<_>>>() else { break };
        // A level counts only if no instance is twice in the tree.
        if !children.iter().all(|child| own.insert(*child)) {
            break;
        }
        cells.extend_from_slice(&children);
        parents = children;
        levels += 1;
    }
    (levels > 1).then(|| Found { part: Part::Levels(levels), cells: (0..).zip(cells).collect() })
}

impl GridFinder<'_, '_> {
    fn grow(&self, start: InstanceId, taken: &HashSet<InstanceId>) -> Option<Found> {
        let (wiring, grid) = (self.wiring, self.grid);
        let [rows, columns] = grid.size;
        let free = |i: InstanceId| !taken.contains(&i) && wiring.type_of(i) == grid.cell;
        if !free(start) || !self.on_border(start, &grid.left_border) || !self.on_border(start, &grid.top_border) {
            return None;
        }
        let mut table = vec![vec![start]];
        while table[0].len() < columns as usize {
            let left = table[0][table[0].len() - 1];
            let fits = |i: &&InstanceId| {
                free(**i) && self.same(left, **i, &grid.row_shared) && self.on_border(**i, &grid.top_border)
            };
            match self.right.after(left).iter().find(fits) {
                Some(cell) => table[0].push(*cell),
                None => break,
            }
        }
        let mut own: HashSet<InstanceId> = table[0].iter().copied().collect();
        while table.len() < rows as usize {
            let above = &table[table.len() - 1];
            match self.row_below(above, &|i| free(i) && !own.contains(&i)) {
                Some(row) => {
                    own.extend(&row);
                    table.push(row);
                }
                None => break,
            }
        }
        let (a, b) = (table.len() as u32, table[0].len() as u32);
        let foot = self.foot_below(&table[a as usize - 1], &|i| !taken.contains(&i) && !own.contains(&i));
        if a * b < 2 && foot.is_none() {
            return None;
        }
        let mut cells = Vec::with_capacity((a * b) as usize);
        for (i, row) in (1..).zip(&table) {
            cells.extend((1..).zip(row).map(|(j, cell)| (grid.cell_at(i, j), *cell)));
        }
        let part = Part::Rectangle(a, b, foot.is_some());
        cells.extend((1..).zip(foot.unwrap_or_default()).map(|(j, cell)| (grid.foot_at(j), cell)));
        Some(Found { part, cells })
    }

    /// The row under another, if all of it is there.
    fn row_below(&self, above: &[InstanceId], free: &impl Fn(InstanceId) -> bool) -> Option<Vec<InstanceId>> {
        let (wiring, grid) = (self.wiring, self.grid);
        let mut row: Vec<InstanceId> = Vec::with_capacity(above.len());
        for (j, &top) in above.iter().enumerate() {
            let left = row.last().copied();
            let fits = |cell: &&InstanceId| {
                let cell = **cell;
                let beside = match left {
                    Some(left) => {
                        self.right_of(left, cell)
                            && self.same(left, cell, &grid.row_shared)
                            && grid
                                .diagonal
                                .iter()
                                .all(|c| wiring.fed_by(cell, c.to.1, grid.cell, c.from.1) == Some(above[j - 1]))
                    }
                    None => self.on_border(cell, &grid.left_border),
                };
                free(cell) && !row.contains(&cell) && beside && self.same(top, cell, &grid.column_shared)
            };
            row.push(*self.down.after(top).iter().find(fits)?);
        }
        Some(row)
    }

    fn right_of(&self, left: InstanceId, cell: InstanceId) -> bool {
        self.grid.right.is_empty() || self.right.before(cell) == Some(left)
    }

    fn foot_below(&self, last: &[InstanceId], free: &impl Fn(InstanceId) -> bool) -> Option<Vec<InstanceId>> {
        let (foot, down, right) = self.foot.as_ref()?;
        let mut cells: Vec<InstanceId> = Vec::with_capacity(last.len());
        for above in last {
            let fits = |cell: &&InstanceId| {
                let beside = cells.last().is_none_or(|left| right.before(**cell) == Some(*left));
                free(**cell) && !cells.contains(cell) && self.wiring.type_of(**cell) == foot.cell && beside
            };
            cells.push(*down.after(*above).iter().find(fits)?);
        }
        Some(cells)
    }

    fn on_border(&self, cell: InstanceId, borders: &[Border]) -> bool {
        borders.iter().all(|border| self.wiring.is_constant(cell, border.wires, &border.values))
    }

    fn same(&self, one: InstanceId, other: InstanceId, shared: &[Wires]) -> bool {
        shared.iter().all(|wires| self.wiring.same(one, other, *wires))
    }
}
