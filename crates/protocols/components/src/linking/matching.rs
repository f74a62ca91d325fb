//! Finding templates in a program: which of its instances are the cells of a chain, a tree or a grid.
//!
//! Both parties search the same program in the same order, so that nothing about the result is sent.

use garblet_circuit::InstanceId;

use crate::library::Wires;
use crate::library::template::{Border, Chain, Connection, Foot, Grid, Part, Shape, Template, Tree};
use crate::linking::wiring::{Neighbours, Wiring};

/// A part of a template found in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) part: Part,
    /// Cells of the template, and the instances that they become.
    pub(crate) cells: Vec<(u32, InstanceId)>,
}

/// Instances that are cells already.
pub(crate) struct Cells(Vec<bool>);

impl Cells {
    /// None of a program's.
    pub(crate) fn none(wiring: &Wiring<'_>) -> Self {
        Cells(vec![false; wiring.instances().len()])
    }

    fn contains(&self, instance: InstanceId) -> bool {
        self.0[instance.0 as usize]
    }

    /// Adds an instance; says whether it was not there.
    fn insert(&mut self, instance: InstanceId) -> bool {
        !std::mem::replace(&mut self.0[instance.0 as usize], true)
    }

    fn remove<'i>(&mut self, instances: impl IntoIterator<Item = &'i InstanceId>) {
        instances.into_iter().for_each(|instance| self.0[instance.0 as usize] = false);
    }
}

/// Finds parts of a template among the instances that are not `taken`, from the first instance on. Stops where `accept`
/// refuses one.
pub(crate) fn find_all(
    wiring: &Wiring<'_>,
    template: &Template,
    taken: &mut Cells,
    mut accept: impl FnMut(&Found) -> bool,
) {
    let finder = Finder::new(wiring, template.shape());
    let starts: Vec<InstanceId> = match template.shape() {
        // Roots come after the instances that feed them.
        Shape::Tree(_) => wiring.instances().rev().collect(),
        Shape::Chain(_) | Shape::Grid(_) => wiring.instances().collect(),
    };
    for start in starts {
        let Some(found) = finder.grow(start, taken) else { continue };
        if !accept(&found) {
            return taken.remove(found.cells.iter().map(|(_, instance)| instance));
        }
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

    /// The largest part of the shape that begins at an instance, if it has any link; its cells are taken.
    fn grow(&self, start: InstanceId, taken: &mut Cells) -> Option<Found> {
        if taken.contains(start) {
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
    taken: &mut Cells,
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
            !taken.contains(**instance) && wiring.type_of(**instance) == ty && shares(**instance)
        };
        match next.after(cells[cells.len() - 1]).iter().find(fits) {
            Some(instance) => cells.push(*instance),
            None => break,
        }
    }
    if cells.len() < 2 {
        return None;
    }
    cells.iter().for_each(|cell| _ = taken.insert(*cell));
    Some(Found { part: Part::Levels(cells.len() as u32), cells: (0..).zip(cells).collect() })
}

fn grow_tree(wiring: &Wiring<'_>, tree: &Tree, root: InstanceId, taken: &mut Cells) -> Option<Found> {
    if wiring.type_of(root) != tree.cell {
        return None;
    }
    taken.insert(root);
    let mut cells = vec![root];
    let mut parents = vec![root];
    let mut levels = 1;
    while levels < tree.levels {
        let arity = tree.children.len();
        let child = |at: usize, parent: InstanceId| {
            let connection = &tree.children[at];
            wiring.fed_by(parent, connection.to.1, tree.cell, connection.from.1)
        };
        let all = parents.iter().flat_map(|parent| (0..arity).map(|at| child(at, *parent)));
        let Some(children) = all.collect::<Option<Vec<_>>>() else { break };
        // A level counts only if it is complete and no instance is in the tree twice.
        let new = children.iter().take_while(|child| taken.insert(**child)).count();
        if new < children.len() {
            taken.remove(&children[..new]);
            break;
        }
        cells.extend_from_slice(&children);
        parents = children;
        levels += 1;
    }
    if levels < 2 {
        taken.remove(&cells);
        return None;
    }
    Some(Found { part: Part::Levels(levels), cells: (0..).zip(cells).collect() })
}

impl GridFinder<'_, '_> {
    fn grow(&self, start: InstanceId, taken: &mut Cells) -> Option<Found> {
        let grid = self.grid;
        let [rows, columns] = grid.size;
        if self.wiring.type_of(start) != grid.cell
            || !self.on_border(start, &grid.left_border)
            || !self.on_border(start, &grid.top_border)
        {
            return None;
        }
        let mut table = vec![self.first_row(start, columns as usize, taken)];
        while table.len() < rows as usize {
            match self.row_below(&table[table.len() - 1], taken) {
                Some(row) => table.push(row),
                None => break,
            }
        }
        let (a, b) = (table.len() as u32, table[0].len() as u32);
        let foot = self.foot_below(&table[a as usize - 1], taken);
        if a * b < 2 && foot.is_none() {
            taken.remove(&[start]);
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

    /// The first row, which begins with `start`; its cells are taken.
    fn first_row(&self, start: InstanceId, columns: usize, taken: &mut Cells) -> Vec<InstanceId> {
        let grid = self.grid;
        taken.insert(start);
        let mut row = vec![start];
        while row.len() < columns {
            let left = row[row.len() - 1];
            let fits = |i: &&InstanceId| {
                !taken.contains(**i)
                    && self.wiring.type_of(**i) == grid.cell
                    && self.same(left, **i, &grid.row_shared)
                    && self.on_border(**i, &grid.top_border)
            };
            let Some(cell) = self.right.after(left).iter().find(fits) else { break };
            taken.insert(*cell);
            row.push(*cell);
        }
        row
    }

    /// The row under another one, if it is complete; takes its cells.
    fn row_below(&self, above: &[InstanceId], taken: &mut Cells) -> Option<Vec<InstanceId>> {
        let (wiring, grid) = (self.wiring, self.grid);
        let row = |taken: &Cells, row: &[InstanceId]| {
            let top = above[row.len()];
            let left = row.last().copied();
            let fits = |cell: &&InstanceId| {
                let cell = **cell;
                let diagonal = |left: usize| {
                    let from = |c: &Connection| wiring.fed_by(cell, c.to.1, grid.cell, c.from.1);
                    grid.diagonal.iter().all(|c| from(c) == Some(above[left]))
                };
                let beside = match left {
                    Some(left) => {
                        self.right_of(left, cell) && self.same(left, cell, &grid.row_shared) && diagonal(row.len() - 1)
                    }
                    None => self.on_border(cell, &grid.left_border),
                };
                let free = !taken.contains(cell) && wiring.type_of(cell) == grid.cell;
                free && beside && self.same(top, cell, &grid.column_shared)
            };
            self.down.after(top).iter().find(fits).copied()
        };
        all_or_none(above.len(), taken, row)
    }

    /// The foot under a row, if it is complete; takes its cells.
    fn foot_below(&self, last: &[InstanceId], taken: &mut Cells) -> Option<Vec<InstanceId>> {
        let (foot, down, right) = self.foot.as_ref()?;
        all_or_none(last.len(), taken, |taken, cells| {
            let fits = |cell: &&InstanceId| {
                let beside = cells.last().is_none_or(|left| right.before(**cell) == Some(*left));
                !taken.contains(**cell) && self.wiring.type_of(**cell) == foot.cell && beside
            };
            down.after(last[cells.len()]).iter().find(fits).copied()
        })
    }

    fn right_of(&self, left: InstanceId, cell: InstanceId) -> bool {
        self.grid.right.is_empty() || self.right.before(cell) == Some(left)
    }

    fn on_border(&self, cell: InstanceId, borders: &[Border]) -> bool {
        borders.iter().all(|border| self.wiring.is_constant(cell, border.wires, &border.values))
    }

    fn same(&self, one: InstanceId, other: InstanceId, shared: &[Wires]) -> bool {
        shared.iter().all(|wires| self.wiring.same(one, other, *wires))
    }
}

/// This many cells, which `next` finds one after another; takes them if all exist.
fn all_or_none(
    count: usize,
    taken: &mut Cells,
    next: impl Fn(&Cells, &[InstanceId]) -> Option<InstanceId>,
) -> Option<Vec<InstanceId>> {
    let mut cells = Vec::with_capacity(count);
    while cells.len() < count {
        let Some(cell) = next(taken, &cells) else {
            taken.remove(&cells);
            return None;
        };
        taken.insert(cell);
        cells.push(cell);
    }
    Some(cells)
}
